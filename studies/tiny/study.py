"""A study that takes no time: a check of the runner itself, and an example to write one's own."""

from __future__ import annotations

import math

import numpy as np

from mercer.studies import Configuration, Printed, Study


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Draw normal numbers, and return how far their mean or median lies from the truth."""
    draws = np.random.default_rng(seed).normal(size=configuration.parameters["n"])
    middle = np.mean(draws) if method == "mean" else np.median(draws)
    return {"error": abs(float(middle)), "largest": float(draws.max())}


def _configuration(n: int) -> Configuration:
    """The mean of n normal numbers errs by √(2 / πn) on average, with variance (1 − 2/π) / n."""
    exact = Printed(math.sqrt(2 / (math.pi * n)), math.sqrt((1 - 2 / math.pi) / n))
    return Configuration(f"{n} draws", {"n": n}, {"mean": exact})


STUDY = Study(
    name="tiny",
    title="Mean and median of normal draws",
    description="How far the mean and the median of normal numbers lie from the truth; the error "
    "of the mean is known exactly and stands as the printed value.",
    citation="Any text on statistics.",
    configurations=(_configuration(10), _configuration(40)),
    methods={"mean": {}, "median": {}},
    run=run,
    duration="1 s",
    repetitions=200,
)
