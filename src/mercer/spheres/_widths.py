"""Ways to choose the width of a description without examples of what lies outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from mercer.kernels import median_gamma, squared_distances
from mercer.spheres.artificial_outliers import artificial_outliers

Floats = NDArray[np.float64]
Fit = Callable[..., Any]
"""Fits the description to some rows: ``fit(X, gamma=..., nu=...)``."""

Report = Callable[[dict[str, Any]], None]
"""Is told about each description that was tried."""

LEAST_WIDTH = 1e-3
"""The narrowest width, as a share of the largest distance, whatever the nearest rows are."""

LEVEL = 0.01
"""A fall of the number of support vectors by less than this share of the rows is none."""


@dataclass(frozen=True)
class WidthChoice:
    """What a strategy has tried, which of it is best, and why.

    Parameters
    ----------
    tried : list of dict
        One record for each description.
    best : int
        Place of the chosen one.
    reason : str
        A sentence.
    """

    tried: list[dict[str, Any]]
    best: int
    reason: str


def widths_between_rows(X: Floats, n_widths: int) -> Floats:
    """Return widths from the smallest distance of two different rows to the largest, evenly spaced.

    Rows that are all equal have the single width 1.
    """
    squared = squared_distances(X)[np.triu_indices(len(X), k=1)]
    different = squared[squared > 1e-14 * squared.max(initial=0.0)]
    if different.size == 0:
        return np.ones(1)
    largest = float(np.sqrt(different.max()))
    smallest = max(float(np.sqrt(different.min())), LEAST_WIDTH * largest)
    return np.geomspace(smallest, largest, n_widths) if smallest < largest else np.array([largest])


def by_support_fraction(
    X: Floats, widths: Floats, fit: Fit, nu: float | None, target: float, report: Report
) -> WidthChoice:
    """Raise the width until the share of support vectors falls to the target error."""
    tried = []
    for sigma in widths:
        tried.append(_record(X, sigma, nu, fit, report))
        if tried[-1]["support_fraction"] <= target:
            reason = (
                f"the narrowest width whose share of support vectors, "
                f"{tried[-1]['support_fraction']:.3g}, has fallen to {target:.3g}"
            )
            return WidthChoice(tried, len(tried) - 1, reason)
    last = tried[-1]["support_fraction"]
    reason = (
        f"the largest distance of two rows, because the share of support vectors, {last:.3g}, "
        f"never falls to {target:.3g}"
    )
    return WidthChoice(tried, len(tried) - 1, reason)


def by_support_plateau(
    X: Floats, widths: Floats, fit: Fit, nu: float | None, report: Report
) -> WidthChoice:
    """Raise the width until the number of support vectors stops falling.

    While a kernel is too narrow to tell the rows' neighbours, all rows are support vectors and
    their number does not fall either: the plateau is looked for after the steepest fall.
    """
    tried = [_record(X, sigma, nu, fit, report) for sigma in widths]
    shares = np.array([record["support_fraction"] for record in tried])
    falls = -np.diff(shares)
    if falls.size == 0 or falls.max() <= LEVEL:
        return WidthChoice(tried, 0, "the narrowest width, because the number never falls")
    steepest = int(falls.argmax())
    level = np.flatnonzero(falls[steepest + 1 :] <= LEVEL)
    if level.size:
        best = steepest + 1 + int(level[0])
        reason = (
            f"beyond it the number of support vectors, {tried[best]['n_support']} of {len(X)}, "
            "stops falling"
        )
        return WidthChoice(tried, best, reason)
    return WidthChoice(tried, len(tried) - 1, "the widest, because the number falls to the end")


def by_artificial_outliers(
    X: Floats,
    widths: Floats,
    fit: Fit,
    nus: Sequence[float],
    *,
    region: str,
    n_outliers: int,
    mix: float,
    folds: KFold,
    random: np.random.RandomState,
    report: Report,
) -> WidthChoice:
    r"""Minimise a mix of the error on targets and the volume that is accepted.

    Both are estimated by cross-validation. Where the volume cannot be seen, as in many dimensions,
    every wide description looks equally good; among those whose criterion lies within one standard
    error of the least, the tightest is taken. Widths are tried from the widest on, until the error
    on targets alone is so large that no narrower one can be best.
    """
    outliers = artificial_outliers(X, n_outliers, region=region, random_state=random)
    splits = list(folds.split(X))
    tried: list[dict[str, Any]] = []
    for nu in nus:
        for sigma in widths[::-1]:
            tried.append(_judge(X, outliers, splits, mix, fit, float(sigma), nu))
            report(tried[-1])
            leader = min(tried, key=lambda record: record["criterion"])
            hopeless = leader["criterion"] + 3.0 * tried[-1]["standard_error"]
            if mix * tried[-1]["target_error"] > hopeless:
                break
    criteria = np.array([record["criterion"] for record in tried])
    least = int(criteria.argmin())
    near = criteria <= criteria[least] + tried[least]["standard_error"]
    order = [
        (record["accepted_volume"], -record["gamma"], -record["nu"]) if is_near else (np.inf,)
        for record, is_near in zip(tried, near)
    ]
    best = min(range(len(tried)), key=lambda place: order[place])
    reason = (
        f"the tightest of {near.sum()} descriptions whose criterion lies within one standard error "
        f"({tried[least]['standard_error']:.2g}) of the least, {criteria[least]:.3g}"
    )
    return WidthChoice(tried, best, reason)


def by_rule(X: Floats, rule: str, fit: Fit, nu: float | None, report: Report) -> WidthChoice:
    r"""Take the width that a rule of thumb gives.

    With s the root of the mean variance of the columns: Scott's
    :math:`\sigma = s\,n^{-1/(d+4)}`; Silverman's :math:`\sigma = s\,(n (d+2)/4)^{-1/(d+4)}`;
    "median" the width at which :math:`\gamma` is one over the median squared distance.
    """
    n, d = X.shape
    spread = float(np.sqrt(X.var(axis=0).mean())) or 1.0
    widths = {
        "scott": lambda: spread * n ** (-1.0 / (d + 4)),
        "silverman": lambda: spread * (n * (d + 2) / 4.0) ** (-1.0 / (d + 4)),
        "median": lambda: (2.0 * median_gamma(X)) ** -0.5,
    }
    reasons = {
        "scott": f"Scott's rule for {n} rows and {d} features",
        "silverman": f"Silverman's rule for {n} rows and {d} features",
        "median": "one over gamma is the median squared distance of two rows",
    }
    tried = [_record(X, float(widths[rule]()), nu, fit, report)]
    return WidthChoice(tried, 0, reasons[rule])


def gamma_of(sigma: float) -> float:
    """Return gamma of the Gaussian kernel exp(-|x - y|^2 / (2 sigma^2))."""
    return 1.0 / (2.0 * sigma**2)


def _record(X: Floats, sigma: float, nu: float | None, fit: Fit, report: Report) -> dict[str, Any]:
    gamma = gamma_of(float(sigma))
    n_support = len(fit(X, gamma=gamma, nu=nu).support_)
    record = {
        "sigma": float(sigma),
        "gamma": gamma,
        "nu": nu,
        "n_support": n_support,
        "support_fraction": n_support / len(X),
    }
    report(record)
    return record


def _judge(
    X: Floats, outliers: Floats, splits: Any, mix: float, fit: Fit, sigma: float, nu: float
) -> dict[str, Any]:
    """Return errors of a description on rows left out and on made-up outliers."""
    gamma = gamma_of(sigma)
    rejected = np.zeros(len(X))
    accepted = np.zeros(len(splits))
    support = 0.0
    for number, (rest, left_out) in enumerate(splits):
        model = fit(X[rest], gamma=gamma, nu=nu)
        rejected[left_out] = model.predict(X[left_out]) < 0
        accepted[number] = (model.predict(outliers) > 0).mean()
        support += len(model.support_) / len(rest) / len(splits)
    error, volume = float(rejected.mean()), float(accepted.mean())
    variance = mix**2 * error * (1 - error) / len(X)
    variance += (1 - mix) ** 2 * volume * (1 - volume) / len(outliers)
    return {
        "sigma": sigma,
        "gamma": gamma,
        "nu": nu,
        "support_fraction": support,
        "target_error": error,
        "accepted_volume": volume,
        "criterion": mix * error + (1 - mix) * volume,
        "standard_error": float(np.sqrt(variance)),
    }
