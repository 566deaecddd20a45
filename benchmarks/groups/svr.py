"""Regression with the epsilon-insensitive loss: time, true gap, objective."""

from __future__ import annotations

from .. import catalogue
from ..report import GroupResult
from .fits import run_fits
from .options import Options


def run(options: Options) -> GroupResult:
    """Fit the regression problems with every peer that has a support vector regression."""
    return run_fits("svr", catalogue.regression, options)
