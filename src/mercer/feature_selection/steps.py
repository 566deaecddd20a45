"""How many features to drop in a round of an elimination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.feature_selection.stop_condition import optimal_size

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoundState:
    """What a step may look at.

    Parameters
    ----------
    n_left : int
        Features (or groups of features) that are left.
    n_total : int
        Those at the beginning.
    n_round : int
        Number of the round, from 0.
    importances : ndarray or None, default=None
        Of those that are left; only for steps with ``needs_importances``.
    accuracy : float or None, default=None
        Of the machine with these features on its training rows.
    chance : float or None, default=None
        Share of the largest class.
    """

    n_left: int
    n_total: int
    n_round: int
    importances: Floats | None = None
    accuracy: float | None = None
    chance: float | None = None


class Step:
    """Base of the steps: a callable from a `RoundState` to the number of features to drop.

    Any such callable serves as a step. Whatever it returns, at least one feature is dropped, and
    never so many that fewer than those asked for are left.
    """

    needs_importances = False

    def __call__(self, state: RoundState) -> int:
        """Return how many features to drop."""
        raise TypeError(f"{type(self).__name__} does not say how many features to drop.")


@dataclass(frozen=True)
class constant(Step):  # noqa: N801 - read as functions, like scikit-learn's scorers
    """Drop the same number in every round.

    Parameters
    ----------
    count : int, default=1

    Examples
    --------
    >>> from mercer.feature_selection import constant, step_sizes
    >>> step_sizes(constant(4), 10)
    [10, 6, 2, 1]
    """

    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"constant drops at least one feature a round; got {self.count}.")

    def __call__(self, state: RoundState) -> int:
        """Return the count."""
        return self.count


@dataclass(frozen=True)
class percent(Step):  # noqa: N801
    r"""Drop a share of the features that are left.

    .. math:: t = p \, |s|

    so that m features take about :math:`\ln m / p` rounds, and all of them together cost no more
    than 1/p times the first.

    Parameters
    ----------
    share : float, default=0.1
        p, above 0 and below 1.

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    algorithm 2.

    Examples
    --------
    >>> from mercer.feature_selection import percent, step_sizes
    >>> step_sizes(percent(0.5), 100)
    [100, 50, 25, 13, 7, 4, 2, 1]
    """

    share: float = 0.1

    def __post_init__(self) -> None:
        _check_share("percent", self.share)

    def __call__(self, state: RoundState) -> int:
        """Return the share of the features left, rounded down."""
        return int(self.share * state.n_left)


@dataclass(frozen=True)
class square_root(Step):  # noqa: N801
    r"""Drop :math:`\sqrt{|s|}` of the features that are left (SQRT-RFE).

    References
    ----------
    Y. Ding, D. Wilkins, "Improving the performance of SVM-RFE to select genes in microarray data",
    BMC Bioinformatics 7 (2006).

    Examples
    --------
    >>> from mercer.feature_selection import square_root, step_sizes
    >>> step_sizes(square_root(), 30)
    [30, 25, 20, 16, 12, 9, 6, 4, 2, 1]
    """

    def __call__(self, state: RoundState) -> int:
        """Return the square root of the features left, rounded down."""
        return isqrt(state.n_left)


@dataclass(frozen=True)
class annealing(Step):  # noqa: N801
    r"""Drop :math:`|s| / (i + 1)` features in round i = 1, 2, ... (RFE-Annealing).

    Half of them, then a third, a quarter: after i rounds the share 1/(i + 1) is left.

    References
    ----------
    Y. Ding, D. Wilkins, "Improving the performance of SVM-RFE to select genes in microarray data",
    BMC Bioinformatics 7 (2006).

    Examples
    --------
    >>> from mercer.feature_selection import annealing, step_sizes
    >>> step_sizes(annealing(), 60, least=10)
    [60, 30, 20, 15, 12, 10]
    """

    def __call__(self, state: RoundState) -> int:
        """Return the features left over the number of the round, counted from 2."""
        return state.n_left // (state.n_round + 2)


@dataclass(frozen=True)
class halving(Step):  # noqa: N801
    """Go down to the next power of two, then drop half in every round.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using
    support vector machines", Machine Learning 46 (2002).

    Examples
    --------
    >>> from mercer.feature_selection import halving, step_sizes
    >>> step_sizes(halving(), 100)
    [100, 64, 32, 16, 8, 4, 2, 1]
    """

    def __call__(self, state: RoundState) -> int:
        """Return what is above the largest power of two below the features left."""
        return state.n_left - (1 << (state.n_left - 1).bit_length() - 1) if state.n_left > 1 else 1


@dataclass(frozen=True)
class around(Step):  # noqa: N801
    r"""Drop a share of the distance to a size that matters: large steps far away, small ones near.

    .. math:: t = \max(p \, |c - |s||, t_\min)

    Below c the steps grow again, as on a mirror.

    Parameters
    ----------
    target : int or None, default=None
        c. None estimates it anew in every round from the importances, as `optimal_size` does.
    share : float, default=0.1
        p, above 0 and below 1.
    minimum : int, default=1
        Smallest step.
    trade_off : tuple of two floats, default=(0.8, 0.2)
        Costs of errors and of features in the estimate.

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    equation (5.2).

    Examples
    --------
    >>> from mercer.feature_selection import around, step_sizes
    >>> step_sizes(around(20, 0.5, 3), 100)
    [100, 60, 40, 30, 25, 22, 19, 16, 13, 10, 5, 1]
    """

    target: int | None = None
    share: float = 0.1
    minimum: int = 1
    trade_off: tuple[float, float] = (0.8, 0.2)

    def __post_init__(self) -> None:
        _check_share("around", self.share)
        if self.minimum < 1:
            raise ValueError(f"The smallest step of around is at least 1; got {self.minimum}.")

    @property
    def needs_importances(self) -> bool:  # type: ignore[override]
        """Whether the target is estimated."""
        return self.target is None

    def __call__(self, state: RoundState) -> int:
        """Return a share of the distance to the target."""
        target = self._estimate(state) if self.target is None else self.target
        return max(int(self.share * abs(target - state.n_left)), self.minimum)

    def _estimate(self, state: RoundState) -> int:
        if state.importances is None:
            raise ValueError("around needs a target, or importances to estimate it from.")
        return optimal_size(
            np.sort(state.importances)[::-1],
            lowest=0.5 if state.chance is None else state.chance,
            highest=1.0 if state.accuracy is None else state.accuracy,
            trade_off=self.trade_off,
            n_total=state.n_total,
        )


@dataclass(frozen=True)
class entropy(Step):  # noqa: N801
    r"""Drop as many as the distribution of the importances suggests (E-RFE).

    The importances, scaled to [0, 1], are counted in :math:`\sqrt{|s|}` bins. With their entropy H
    above half its maximum and a mean above ``mean`` they are well spread, and those in the lowest
    bin go. Otherwise nearly all are small and the lowest bin holds too many: then the range of
    their logarithms is halved until it holds no more than half of that bin. Few features go one by
    one.

    Parameters
    ----------
    few : int, default=100
        From so many features on, one is dropped in a round.
    mean : float, default=0.2

    References
    ----------
    C. Furlanello, M. Serafini, S. Merler, G. Jurman, "Entropy-based gene ranking without selection
    bias for the predictive classification of microarray data", BMC Bioinformatics 4 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import entropy
    >>> from mercer.feature_selection.steps import RoundState
    >>> many_small = np.r_[np.linspace(0.001, 0.02, 380), np.linspace(0.5, 1, 20)]
    >>> entropy()(RoundState(400, 400, 0, many_small))
    75
    """

    few: int = 100
    mean: float = 0.2

    needs_importances = True

    def __call__(self, state: RoundState) -> int:
        """Return the number of features that the lowest bin holds, or half of it."""
        if state.n_left <= self.few or state.importances is None:
            return 1
        values = state.importances - state.importances.min()
        values = values / (values.max() or 1.0)
        n_bins = isqrt(state.n_left)
        shares = np.histogram(values, n_bins, (0.0, 1.0))[0] / state.n_left
        uncertainty = -float((shares[shares > 0] * np.log2(shares[shares > 0])).sum())
        lowest = int((values <= 1.0 / n_bins).sum())
        if uncertainty > 0.5 * np.log2(n_bins) and values.mean() > self.mean:
            return lowest
        return _halved(values, lowest // 2)


def _halved(values: Floats, most: int) -> int:
    """Return how many values lie in the lower part of the logarithms' range, at most ``most``."""
    logs = np.log(values + np.finfo(np.float64).tiny ** 0.5)
    low, level = float(np.quantile(logs, 0.01)), float(logs.mean())
    for _ in range(60):
        count = int((logs <= level).sum())
        if count <= most:
            break
        level = 0.5 * (low + level)
    return min(count, most)


def as_step(step: Any, n_total: int) -> Callable[[RoundState], int]:
    """Return a step from what a user gives: a number as in scikit-learn's ``RFE``, or a callable.

    A number of at least 1 is dropped in every round; below 1 it is a share of all features.
    """
    if callable(step):
        return step
    if isinstance(step, (bool, np.bool_)) or not step > 0:
        raise ValueError(f"step must be above 0 or a function of the round; got {step!r}.")
    return constant(max(1, int(step if step >= 1 else step * n_total)))


def step_sizes(step: Any, n_features: int, least: int = 1) -> list[int]:
    """Return the sizes that an elimination passes through.

    Parameters
    ----------
    step : number or callable
        One that does not look at importances.
    n_features : int
        Where it begins.
    least : int, default=1
        Where it ends.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from mercer.feature_selection import step_sizes
    >>> step_sizes(0.3, 10)
    [10, 7, 4, 1]
    """
    step = as_step(step, n_features)
    if isinstance(step, constant):
        return [*range(n_features, least, -step.count), least]
    sizes = [n_features]
    while sizes[-1] > least:
        state = RoundState(sizes[-1], n_features, len(sizes) - 1)
        sizes.append(sizes[-1] - n_dropped(step, state, least))
    return sizes


def n_dropped(step: Callable[[RoundState], int], state: RoundState, least: int) -> int:
    """Return how many to drop: what the step says, at least one and never below the least."""
    return max(1, min(int(step(state)), state.n_left - least))


def _check_share(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise ValueError(f"The share of {name} must lie between 0 and 1; got {share}.")
