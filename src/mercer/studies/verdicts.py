"""Our number beside the printed one: standard error, z and a word for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from scipy.stats import norm, t

from .study import Configuration, Printed, Study

CLOSE = 3.0
"""Standard errors within which a printed number counts as reproduced, if they are well known."""

FEWEST = 10
"""Repetitions from which on there is a verdict; a deviation over fewer says too little.

One that several configurations share says as much where it has as many degrees of freedom."""

VERDICTS = ("reproduced", "better", "worse", "not reproducible", "undecided")
"""What can be said of a printed number."""

AVERAGE = "mean of all"
"""Name of the line of means over all configurations."""

ANOTHER_MACHINE = "a time on another machine"


class Moments(NamedTuple):
    """Mean and deviation over repetitions.

    `freedom` are the degrees of freedom of a deviation that several configurations share.
    """

    mean: float | None
    sd: float | None
    repetitions: int
    freedom: int | None = None


def share_deviation(some: Sequence[Moments]) -> list[Moments]:
    r"""Give configurations that vary alike the deviation that all of them together have.

    .. math:: s^2 = \sum_i (n_i - 1) s_i^2 / \sum_i (n_i - 1)

    A published experiment that was done once is as uncertain as one repetition, however often ours
    is repeated: what a judgement needs is the deviation, and for that many configurations with few
    repetitions do as well as one with many. Those that have enough repetitions keep their own;
    nothing changes where all together have too few.

    Examples
    --------
    >>> from mercer.studies.verdicts import Moments, share_deviation
    >>> share_deviation([Moments(float(k), 2.0, 2) for k in range(9)])[0]
    Moments(mean=0.0, sd=2.0, repetitions=2, freedom=9)
    """
    known = [(m.repetitions - 1, m.sd) for m in some if m.sd is not None]
    freedom = sum(n for n, _ in known)
    if freedom < FEWEST - 1:
        return list(some)
    sd = math.sqrt(sum(n * sd**2 for n, sd in known) / freedom)
    return [
        m if m.mean is None or m.repetitions >= FEWEST else m._replace(sd=sd, freedom=freedom)
        for m in some
    ]


def share_deviations(
    study: Study, moments: Mapping[tuple[str, str, str], Moments]
) -> dict[tuple[str, str, str], Moments]:
    """Share deviations among the configurations that the study says to vary alike.

    Parameters
    ----------
    study : Study
    moments : mapping
        By configuration, method and the name of a number.
    """
    alike = {c.name: c.alike for c in study.configurations if c.alike}
    groups: dict[tuple[str, str, str], list[tuple[str, str, str]]] = {}
    for key in moments:
        if key[0] in alike:
            groups.setdefault((alike[key[0]], *key[1:]), []).append(key)
    shared = dict(moments)
    for keys in groups.values():
        shared |= zip(keys, share_deviation([moments[key] for key in keys]))
    return shared


@dataclass(frozen=True)
class Comparison:
    """A number of ours, beside what was printed if anything was.

    Attributes
    ----------
    configuration, method, quantity : str
    printed, printed_sd : float or None
    ours : Moments
    standard_error, z : float or None
        Of the difference between ours and the printed number, and the difference in such errors.
    freedom : float
        Degrees of freedom of the standard error.
    verdict : str
        One of `VERDICTS`, or "not printed".
    reason : str
        Why it is not reproducible or undecided.
    again : bool
        Whether the printed number has another comparison that counts.
    """

    configuration: str
    method: str
    quantity: str
    printed: float | None
    printed_sd: float | None
    ours: Moments
    standard_error: float | None
    z: float | None
    freedom: float
    verdict: str
    reason: str
    again: bool


def compare(
    study: Study, configuration: Configuration, method: str, quantity: str, ours: Moments
) -> Comparison:
    r"""Compare a number of ours with the printed one.

    .. math:: z = (m - m_0) / \sqrt{s^2 / n + s_0^2 / n_0}

    with the printed mean and deviation :math:`m_0, s_0` over :math:`n_0` repetitions: both means
    are uncertain, and each of them counts once. See `standard_error` for what is not printed,
    `closeness` for how large a z is still no difference, and `verdict_on` for the words.

    Parameters
    ----------
    study : Study
    configuration : Configuration
    method, quantity : str
    ours : Moments

    Returns
    -------
    Comparison
    """
    printed = _printed(study, configuration, method, quantity)
    error = z = None
    freedom = math.inf
    if printed is not None and printed.mean is not None and ours.mean is not None:
        theirs = _printed_repetitions(study, configuration, method, quantity)
        if quantity in study.shares:
            error = _error_of_shares(printed.mean, ours, theirs)
        else:
            rounded = _at_least(ours, study.floors.get(quantity, 0.0))
            error = standard_error(printed.sd, rounded, theirs, configuration.independent)
            freedom = degrees_of_freedom(printed.sd, rounded, theirs)
        z = None if error is None else _ratio(ours.mean - printed.mean, error)
    verdict, reason = _judge(study, configuration, method, quantity, z, freedom, ours)
    return Comparison(
        configuration.name,
        method,
        quantity,
        printed.mean if printed else None,
        printed.sd if printed else None,
        ours,
        error,
        z,
        freedom,
        verdict,
        reason,
        study.is_again(configuration.name, method, quantity),
    )


def compare_averages(study: Study, comparisons: Sequence[Comparison]) -> list[Comparison]:
    r"""Compare the means over all configurations with those that are printed.

    .. math:: z = (\bar m - \bar m_0) / \sqrt{\sum_i e_i^2 / k^2}

    with the standard errors :math:`e_i` of the differences of k configurations.

    Parameters
    ----------
    study : Study
    comparisons : sequence of Comparison
        Of the configurations.

    Returns
    -------
    list of Comparison
    """
    whole = Configuration(AVERAGE, printed=study.averages)
    found = []
    for method, about in study.averages.items():
        for quantity in (study.measure, *about.extra):
            printed = _printed(study, whole, method, quantity)
            if printed is None or printed.mean is None:
                continue
            some = [c for c in comparisons if (c.method, c.quantity) == (method, quantity)]
            means = [c.ours.mean for c in some if c.ours.mean is not None]
            errors = [c.standard_error for c in some if c.standard_error is not None]
            ours, error, z, freedom = Moments(None, None, 0), None, None, math.inf
            if len(means) == len(some) > 0:
                ours = Moments(sum(means) / len(means), None, min(c.ours.repetitions for c in some))
            if ours.mean is not None and len(errors) == len(some):
                error = math.sqrt(sum(e**2 for e in errors)) / len(errors)
                z = _ratio(ours.mean - printed.mean, error)
                freedom = _welch((e**2, c.freedom) for e, c in zip(errors, some))
            verdict, reason = _judge(study, whole, method, quantity, z, freedom, ours)
            row = (printed.mean, None, ours, error, z, freedom, verdict, reason)
            found.append(Comparison(AVERAGE, method, quantity, *row, again=False))
    return found


def standard_error(
    printed_sd: float | None,
    ours: Moments,
    printed_repetitions: int | None = None,
    independent: float = 1.0,
) -> float | None:
    """Return the standard error of the difference between our mean and the printed one.

    A deviation that is not known is taken to be the other's; where it is not known over how many
    repetitions the printed mean was taken, that mean counts as exact. None where there is no
    deviation at all. Repetitions that are not all different are worth less than 1 each.

    Examples
    --------
    >>> from mercer.studies.verdicts import Moments, standard_error
    >>> round(standard_error(0.03, Moments(0.21, 0.04, 100), 100), 6)
    0.005
    """
    sd = printed_sd if ours.sd is None else ours.sd
    theirs = ours.sd if printed_sd is None else printed_sd
    if sd is None or theirs is None:
        return None
    variance = sd**2 / ours.repetitions
    if printed_repetitions:
        variance += theirs**2 / printed_repetitions
    return math.sqrt(variance / independent)


def degrees_of_freedom(
    printed_sd: float | None, ours: Moments, printed_repetitions: int | None = None
) -> float:
    """Return over how many degrees of freedom a `standard_error` is known.

    Where both sides have deviations these are Welch and Satterthwaite's. Infinite where it is not
    known over how many repetitions a printed deviation was taken.

    Examples
    --------
    >>> from mercer.studies.verdicts import Moments, degrees_of_freedom
    >>> degrees_of_freedom(None, Moments(0.21, 0.04, 10), 100)
    9.0
    >>> degrees_of_freedom(0.04, Moments(0.21, 0.04, 10), 10)
    18.0
    """
    own = ours.repetitions - 1 if ours.freedom is None else ours.freedom
    printed = printed_repetitions - 1 if printed_repetitions else math.inf
    if ours.sd is None or printed_sd is None:
        return float(printed if ours.sd is None else own)
    parts = [(ours.sd**2 / ours.repetitions, float(own))]
    if printed_repetitions:
        parts.append((printed_sd**2 / printed_repetitions, printed))
    return _welch(parts)


@lru_cache(maxsize=1024)
def closeness(freedom: float) -> float:
    """Return how many standard errors are no difference, where these are known so well.

    With few degrees of freedom more is needed than `CLOSE`: the quantile of Student's distribution
    at which its tail is as thin as that of the normal distribution there.

    Examples
    --------
    >>> from mercer.studies.verdicts import closeness
    >>> [round(closeness(freedom), 2) for freedom in (9, 30, 198, float("inf"))]
    [4.09, 3.27, 3.04, 3.0]
    """
    return CLOSE if math.isinf(freedom) else float(t.isf(norm.sf(CLOSE), freedom))


def verdict_on(
    z: float | None, repetitions: int, lower_is_better: bool = True, freedom: float = math.inf
) -> str:
    """Return the word for a distance from the printed number in standard errors.

    Examples
    --------
    >>> verdict_on(-4.0, 20), verdict_on(2.9, 20), verdict_on(-6.3, 3)
    ('better', 'reproduced', 'undecided')
    >>> verdict_on(-4.0, 10, freedom=9)
    'reproduced'
    """
    if z is None or repetitions < FEWEST:
        return "undecided"
    if abs(z) <= closeness(freedom):
        return "reproduced"
    return "better" if (z < 0) == lower_is_better else "worse"


def _judge(
    study: Study,
    configuration: Configuration,
    method: str,
    quantity: str,
    z: float | None,
    freedom: float,
    ours: Moments,
) -> tuple[str, str]:
    """Return the verdict, and the reason where it needs one."""
    if _printed(study, configuration, method, quantity) is None:
        return "not printed", ""
    if quantity.endswith("seconds"):
        return "not reproducible", ANOTHER_MACHINE
    fewer = study.lower_is_better if quantity == study.measure else quantity not in study.gains
    known = ours.repetitions if ours.freedom is None else ours.freedom + 1
    verdict = verdict_on(z, known, fewer, freedom)
    if verdict == "undecided":
        few = known < FEWEST
        return verdict, f"fewer than {FEWEST} repetitions" if few else "no deviation is known"
    reason = configuration.printed[method].reasons.get(quantity, configuration.unexplained)
    if verdict != "reproduced" and reason:
        return "not reproducible", reason
    return verdict, ""


def _printed(
    study: Study, configuration: Configuration, method: str, quantity: str
) -> Printed | None:
    """Return what was printed of a quantity; further ones have no deviation."""
    printed = configuration.printed.get(method)
    if printed is None or quantity == study.measure:
        return None if printed is None or printed.mean is None else printed
    return Printed(printed.extra[quantity]) if quantity in printed.extra else None


def _at_least(ours: Moments, floor: float) -> Moments:
    """Return the moments with a deviation that is not less than rounding leaves open."""
    return ours if ours.sd is None else ours._replace(sd=max(ours.sd, floor))


def _printed_repetitions(
    study: Study, configuration: Configuration, method: str, quantity: str
) -> int | None:
    if quantity in configuration.printed[method].single:
        return 1
    if configuration.printed_repetitions:
        return configuration.printed_repetitions
    known = study.printed_repetitions
    return known and min(known, configuration.repetitions or known)


def _error_of_shares(printed: float, ours: Moments, theirs: int | None) -> float:
    """Return the standard error between two shares of yes, taken to be the same share."""
    n, n_printed = ours.repetitions, theirs or 0
    share = (n * (ours.mean or 0.0) + n_printed * printed) / (n + n_printed)
    pairs = 1 / n + (1 / n_printed if n_printed else 0.0)
    return math.sqrt(share * (1 - share) * pairs)


def _welch(parts: Iterable[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a sum of variances, each with its own."""
    known = [(variance, freedom) for variance, freedom in parts if variance]
    small = sum(variance**2 / freedom for variance, freedom in known)
    return sum(variance for variance, _ in known) ** 2 / small if small else math.inf


def _ratio(difference: float, error: float) -> float:
    if error == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / error
