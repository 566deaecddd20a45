"""Two populations that differ in location or in dispersion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

N_FEATURES = 7
READINGS = ("reproducing", "stated")
SHIFT = {"normal": 0.6, "lognormal": 1.0}
SPREAD = 4.0


class Population(NamedTuple):
    """A row of table 5.3: distribution, sizes of the classes, difference and correlation."""

    distribution: str
    sizes: tuple[int, int]
    difference: str
    correlation: float


POPULATIONS = {
    number: Population(distribution, sizes, difference, correlation)
    for number, (distribution, sizes, difference, correlation) in enumerate(
        (
            (distribution, sizes, difference, correlation)
            for distribution in ("normal", "lognormal")
            for sizes in ((50, 50), (25, 75))
            for difference in ("location", "dispersion")
            for correlation in (0.0, 0.7)
        ),
        start=1,
    )
}
"""The 16 configurations by number."""


def make_simulation(
    configuration: int,
    n_samples: tuple[int, int] | None = None,
    *,
    reading: str = "reproducing",
    random_state: Any = None,
) -> tuple[Any, Any]:
    r"""Draw a sample of one of the 16 configurations of a simulation study of classifiers.

    Seven features. Normal data are :math:`N(0, R)`; lognormal data are standardised,

    .. math:: L = \lambda e^Z + \epsilon, \quad \lambda = 1/\sqrt{e(e-1)}, \quad
              \epsilon = -1/\sqrt{e-1}, \quad Z \sim N(0, R'),

    where :math:`R'` has :math:`\log(\rho(e-1)+1)` off its diagonal, so that L has mean 0, variance
    1 and correlation :math:`\rho`. The second class is shifted by 0.6 (normal) or 1 (lognormal) in
    every feature, or is four times as wide.

    Parameters
    ----------
    configuration : int
        1 to 16, as in table 5.3: 1 to 8 normal, 9 to 16 lognormal; in each half first equal class
        sizes (50 and 50), then unequal (25 and 75); then location before dispersion; then
        correlation 0 before 0.7.
    n_samples : pair of int, default=None
        Rows of each class; those of the learning sample if None.
    reading : {"reproducing", "stated"}, default="reproducing"
        "stated" is what the text says. "reproducing" draws normal data without correlation in every
        row: this, and not the text, gives the printed errors of rows 2, 4 and 6. Rows 7 and 8 are
        reproduced by no reading.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n, 7)
    y : ndarray of shape (n,)
        -1 for the first class, then +1 for the second.

    References
    ----------
    .. [1] S. van der Westhuizen, thesis, Stellenbosch University, 2014, tables 5.1 to 5.5.

    Examples
    --------
    >>> from mercer.datasets import make_simulation
    >>> X, y = make_simulation(13, random_state=0)
    >>> X.shape, int((y == 1).sum())
    ((100, 7), 75)
    """
    if configuration not in POPULATIONS:
        raise ValueError(f"configuration must be an integer from 1 to 16; got {configuration!r}.")
    if reading not in READINGS:
        raise ValueError(f"reading must be one of {', '.join(READINGS)}; got {reading!r}.")
    population = POPULATIONS[configuration]
    rng = check_random_state(random_state)
    n_first, n_second = n_samples or population.sizes
    X = _draw(population, n_first + n_second, reading, rng)
    if population.difference == "location":
        X[n_first:] += SHIFT[population.distribution]
    else:
        X[n_first:] *= SPREAD
    return X, np.repeat([-1, 1], [n_first, n_second])


def _draw(population: Population, n_rows: int, reading: str, rng: Any) -> Any:
    correlation = population.correlation
    if population.distribution == "normal":
        return _correlated(n_rows, 0.0 if reading == "reproducing" else correlation, rng)
    e = np.e
    Z = _correlated(n_rows, np.log(correlation * (e - 1) + 1), rng)
    return np.exp(Z) / np.sqrt(e * (e - 1)) - 1 / np.sqrt(e - 1)


def _correlated(n_rows: int, correlation: float, rng: Any) -> Any:
    """Return standard normal rows with equal correlations, which one common number gives."""
    own = rng.normal(size=(n_rows, N_FEATURES))
    common = rng.normal(size=(n_rows, 1))
    return np.sqrt(1 - correlation) * own + np.sqrt(correlation) * common
