"""What the conclusions of Planas say, and what our cells of the same tables say to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from studies.rfe import study as rfe
from studies.rfe_times.study import elimination_seconds, every_matrix

Cells = dict[Any, dict[str, Any]]
"""By table, C and value: what was printed and what we found."""

Stops = list[dict[str, Any]]
"""The rows of table 5.12: what was printed and what we found."""

Judged = tuple[str, str]
"""Verdict and numbers."""

CLOSE = 0.01
"""Costs that differ by less are equal."""

FASTER = 1.2
"""A speed-up, or another factor, below this is none."""

OFF = 30
"""A tenth of the features, by which an estimated size may be off."""


def claims(cells: Cells, stop: Stops) -> list[tuple[str, str, str, str]]:
    """Return section, claim, verdict and numbers of every claim."""
    found = []
    for section, text, judge in CLAIMS:
        try:
            verdict, numbers = judge(cells, stop)
        except (ValueError, KeyError):  # a cell that it needs has not been run
            verdict, numbers = "not run", ""
        found.append((section, text, verdict, numbers))
    return found


# ---- reading the cells -----------------------------------------------------------------------


def _some(cells: Cells, table: str, *values: str) -> Iterator[dict[str, Any]]:
    for (where, _, value), record in cells.items():
        if where == table and (value in values or (not values and "printed_cost" in record)):
            yield record


def _least(cells: Cells, table: str, *values: str) -> float:
    return min(record["cost"] for record in _some(cells, table, *values))


def _at_the_same_prices(cells: Cells, *tables: str) -> Cells:
    """Leave out values of C that one of the tables lacks."""
    prices = [{C for where, C, _ in cells if where == table} for table in tables]
    shared = set.intersection(*prices)
    return {key: record for key, record in cells.items() if key[1] in shared}


def _pairs(cells: Cells, one: tuple[str, str], other: tuple[str, str]) -> list[tuple[Any, Any]]:
    """Return the records of two columns (table and value) that have the same C."""
    prices = sorted(C for table, C, value in cells if (table, value) == one)
    keys = [((one[0], C, one[1]), (other[0], C, other[1])) for C in prices]
    found = [(cells[a], cells[b]) for a, b in keys if b in cells]
    if not found:
        raise ValueError("nothing to compare")
    return found


def _mean(pairs: list[tuple[Any, Any]], name: str) -> tuple[float, float]:
    first, second = ([record[name] for record in column] for column in zip(*pairs))
    return float(np.mean(first)), float(np.mean(second))


def _speed_up(cells: Cells, slow: tuple[str, str], fast: tuple[str, str]) -> float:
    before, after = _mean(_pairs(cells, slow, fast), "ranking_seconds")
    return before / after


def _verdict(yes: bool, no: bool = True) -> str:
    return "confirmed" if yes else "not confirmed" if no else "no difference"


def _lower(better: float, worse: float) -> str:
    """Say whether a cost is lower than another, as claimed."""
    return _verdict(better < worse - CLOSE, better > worse + CLOSE)


# ---- one function for each claim -------------------------------------------------------------


def _given(_: Cells, __: Stops) -> Judged:
    return "by construction", ""


def _small_steps(cells: Cells, _: Stops) -> Judged:
    small, large = _mean(_pairs(cells, ("5.2", "2"), ("5.2", "50")), "cost")
    numbers = f"mean cost {small:.3f} with step 2, {large:.3f} with step 50 (printed 0.127, 0.137)"
    return _lower(small, large), numbers


def _dynamic_cost(cells: Cells, _: Stops) -> Judged:
    cells = _at_the_same_prices(cells, "5.2", "5.4")
    constant, dynamic = _least(cells, "5.2"), _least(cells, "5.4")
    numbers = f"least cost {dynamic:.3f} with a share, {constant:.3f} with a constant step"
    return _lower(dynamic, constant), numbers + " (printed 0.103, 0.107)"


def _dynamic_time(cells: Cells, _: Stops) -> Judged:
    times = _speed_up(cells, ("5.2", "2"), ("5.4", "0.04"))
    numbers = f"4 % of those left {times:.1f} times as fast as step 2 (printed 3.4)"
    return _verdict(times > FASTER, times < 1), numbers


def _dynamic_size(cells: Cells, _: Stops) -> Judged:
    cells = _at_the_same_prices(cells, "5.2", "5.4")
    sizes = [np.mean([r["features"] for r in _some(cells, table)]) for table in ("5.4", "5.2")]
    numbers = "{:.0f} features on average, {:.0f} with a constant step (printed 58, 67)"
    verdict = _verdict(bool(sizes[1] > FASTER * sizes[0]), bool(sizes[1] < sizes[0]))
    return verdict, numbers.format(*sizes)


def _bias(cells: Cells, _: Stops) -> Judged:
    some = [r for t in ("5.2", "5.4") for r in _some(cells, t) if "biased_cost" in r]
    if not some:
        raise ValueError("nothing to compare")
    names = ("printed_cost", "biased_cost", "cost")
    printed, biased, honest = (float(np.mean([r[name] for r in some])) for name in names)
    nearer = "with" if abs(biased - printed) < abs(honest - printed) else "without"
    return f"nearer to {nearer}", (
        f"mean cost in tables 5.2 and 5.4: printed {printed:.3f}, ours ranked with all rows "
        f"{biased:.3f}, ranked without those judged {honest:.3f}"
    )


def _sampling_faster(cells: Cells, _: Stops) -> Judged:
    none = [_speed_up(cells, ("5.8", "1.0"), ("5.10", share)) for share in ("0.5", "0.2", "0.1")]
    once = [_speed_up(cells, ("5.10", share), ("5.8", share)) for share in ("0.5", "0.2")]
    numbers = (
        "{:.1f}, {:.1f} and {:.1f} times as fast as all rows with 50, 20 and 10 %; rows drawn once "
        "{:.1f} and {:.1f} times as fast as that"
    )
    text = numbers.format(*none, *once)
    shown, slower = [], False
    for letter, what in (("A", "all rows"), ("B", "drawn once"), ("C", "drawn anew")):
        table = [cells["5.6", 10.0, f"{letter}{number}"] for number in (1, 2, 3)]
        ours, printed = (
            ", ".join(f"{record[name]:.1f}" for record in table)
            for name in ("ranking_seconds", "printed_ranking_seconds")
        )
        shown.append(f"{what} {ours} s (printed {printed})")
    text += "; table 5.6, 8000 rows with 10, 10 and 50 % drawn: " + ", ".join(shown)
    for number in (1, 2, 3):
        one = [cells["5.6", 10.0, f"{letter}{number}"]["ranking_seconds"] for letter in "BCA"]
        slower |= one != sorted(one)
    if min(*none, *once) > 1 and slower:
        return "confirmed in tables 5.8 and 5.10, not in 5.6", text
    return _verdict(min(*none, *once) > 1), text


def _sampling_better(cells: Cells, _: Stops) -> Judged:
    means = [_mean(_pairs(cells, ("5.10", s), ("5.8", s)), "cost") for s in ("0.5", "0.2")]
    anew, once = np.mean(means, axis=0)
    numbers = f"mean cost {anew:.3f} drawn anew in every round, {once:.3f} drawn once"
    return _lower(anew, once), numbers + " (printed 0.121, 0.163)"


def _sampling_best(cells: Cells, _: Stops) -> Judged:
    cells = _at_the_same_prices(cells, "5.8", "5.10")
    anew, whole = _least(cells, "5.10"), _least(cells, "5.8", "1.0")
    numbers = f"least cost {anew:.3f} with sampling, {whole:.3f} with all rows"
    return _lower(anew, whole), numbers + " (printed 0.102, 0.109)"


def _sampling_rounds(cells: Cells, _: Stops) -> Judged:
    few, many = (cells["5.6", 10.0, value]["cost"] for value in ("C1", "C2"))
    numbers = f"cost {few:.3f} in 15 rounds, {many:.3f} in 60 (printed 0.221, 0.193)"
    return _lower(many, few), numbers


def _near(stop: Stops, steps: tuple[int, ...]) -> tuple[int, int, int]:
    """Return how many sizes are estimated well, by us and as printed, and how many there are."""
    some = [row for row in stop if row["step"] in steps]
    if not some:
        raise ValueError("nothing to compare")
    ours, printed = (
        sum(row[name] < OFF for row in some) for name in ("difference", "printed_difference")
    )
    return ours, printed, len(some)


def _stop_early(_: Cells, stop: Stops) -> Judged:
    ours, printed, n = _near(stop, (300, 150))
    return _verdict(2 * ours >= n), f"{ours} of {n} within 10 % of the features (printed {printed})"


def _stop_later(_: Cells, stop: Stops) -> Judged:
    ours, printed, n = _near(stop, (60,))
    return _verdict(ours < n), f"{n - ours} of {n} are off by more (printed {n - printed})"


def _stop_time(_: Cells, stop: Stops) -> Judged:
    if not stop:
        raise ValueError("nothing to compare")
    ours, printed = (
        np.mean([row[f"{which}estimate_seconds"] / row[f"{which}ranking_seconds"] for row in stop])
        for which in ("", "printed_")
    )
    numbers = f"{100 * ours:.0f} % of an elimination ten by ten (printed {100 * printed:.0f} %)"
    return _verdict(bool(ours < 0.1)), numbers


def _sum_works(cells: Cells, _: Stops) -> Judged:
    best = max(r["accuracy"] for r in _some(cells, "5.16", "1.0"))
    numbers = f"digits: {100 * best:.1f} % at the best trade-off, chance 10 % (printed 94.5)"
    return _verdict(best > 0.9), numbers


def _joint(name: str) -> Callable[[Cells, Stops], Judged]:
    def judge(cells: Cells, _: Stops) -> Judged:
        texts, worse = [], []
        for table, data in (("5.15", "ten classes"), ("5.16", "digits")):
            pairs = _pairs(cells, (table, name), (table, "1.0"))
            worse += [a["cost"] > b["cost"] + CLOSE for a, b in pairs]
            other, plain = _mean(pairs, "cost")
            texts.append(f"{data}: mean cost {other:.3f}, {plain:.3f} with the sum")
        return _verdict(all(worse)), "; ".join(texts)

    return judge


def _power(cells: Cells, _: Stops) -> Judged:
    pairs = _pairs(cells, ("5.15", "0.3"), ("5.15", "1.0"))
    other, plain = _mean([pair for pair in pairs if pair[0]["C"] >= 0.5], "cost")
    numbers = f"C of 0.5 and more, ten classes: mean cost {other:.3f} with 0.3, {plain:.3f} with 1"
    return _lower(other, plain), numbers + " (printed 0.341, 0.364)"


def _kernels(cells: Cells, _: Stops) -> Judged:
    texts, yes = [], []
    for table, degree, name in (("5.18", "2", "make_classification"), ("5.25", "7", "MADELON")):
        linear = max(r["accuracy"] for r in _some(cells, table, "1"))
        other = max(r["accuracy"] for r in _some(cells, table, degree))
        yes.append(other > linear + 0.02)
        texts.append(f"{name}: {100 * linear:.1f} % linear, {100 * other:.1f} % degree {degree}")
    return _verdict(all(yes)), "; ".join(texts) + " (printed 82.4, 87.8; 59.0, 88.3)"


def _criterion_share(_: Cells, __: Stops) -> Judged:
    """See how much of an elimination of table 5.18 the naive criterion takes, and the kept sums."""
    naive, kept = (
        100 * spent / total
        for total, spent in (_elimination_times(True), _elimination_times(False))
    )
    numbers = (
        f"degree 2, every matrix computed anew: {naive:.0f} % of the time (printed about 90 %)"
    )
    return _verdict(naive > 50), f"{numbers}; with sums kept from feature to feature {kept:.0f} %"


def _criterion_speed(_: Cells, __: Stops) -> Judged:
    """Time whole eliminations of table 5.18 with the naive criterion and with the kept sums."""
    times = _elimination_times(True)[0] / _elimination_times(False)[0]
    numbers = f"{times:.0f} times as fast as with every matrix computed anew, degree 2, whole runs"
    return _verdict(times > FASTER), numbers + " (printed 3)"


@lru_cache
def _elimination_times(naive: bool) -> tuple[float, float]:
    """Return the seconds of an elimination of table 5.18, and those of its criterion.

    Naive is to compute the matrix without each feature, one after the other.
    """
    how = (every_matrix,) if naive else ()
    selector = rfe.experiment("5.18", 0.01, "2")[0]
    return elimination_seconds(selector, *rfe.load_data("5.18"), *how)


def _compiled(cells: Cells, _: Stops) -> Judged:
    some = list(_some(cells, "5.18"))
    if not some:
        raise ValueError("nothing to compare")
    ours, printed = (
        np.mean([r[name] for r in some]) for name in ("ranking_seconds", "printed_ranking_seconds")
    )
    numbers = f"table 5.18: {ours:.2f} s a ranking, printed {printed:.1f} s"
    return _verdict(bool(ours < printed / 3)), numbers


def _combined_time(cells: Cells, _: Stops) -> Judged:
    first = _speed_up(cells, ("5.18", "2"), ("5.22", "2"))
    second = _speed_up(cells, ("5.20", "7"), ("5.25", "7"))
    least = min(first, second)
    numbers = f"make_classification {first:.1f} times (printed 2), MADELON {second:.1f} (printed 6)"
    return _verdict(least > FASTER, least < 1), numbers


def _combined_cost(cells: Cells, _: Stops) -> Judged:
    same = _at_the_same_prices(cells, "5.18", "5.22")
    first = _least(same, "5.22"), _least(same, "5.18")
    columns = zip(*_pairs(cells, ("5.25", "7"), ("5.20", "7")))
    second = tuple(min(r["cost"] for r in column) for column in columns)
    numbers = (
        "least cost combined and alone: {:.3f}, {:.3f} (printed 0.147, 0.154); MADELON, degree 7: "
        "{:.3f}, {:.3f} (printed 0.098, 0.100)"
    )
    no_loss = all(combined < alone + CLOSE for combined, alone in (first, second))
    return _verdict(no_loss), numbers.format(*first, *second)


def _without(way: str) -> Callable[[Cells, Stops], Judged]:
    def judge(cells: Cells, _: Stops) -> Judged:
        whole, less = cells["5.25", 0.6, "7"], cells["5.25", 0.6, f"7, {way}"]
        numbers = "cost {cost:.3f} in {ranking_seconds:.1f} s a ranking"
        text = f"{numbers.format(**less)} instead of {numbers.format(**whole)}"
        return _lower(whole["cost"], less["cost"]), text

    return judge


def _insensitive(cells: Cells, _: Stops) -> Judged:
    base = cells["5.25", 0.6, "7"]["cost"]
    changed = {value.partition(", ")[2]: cells[t, C, value]["cost"] for t, C, value in rfe.CLAIMED}
    costs = ", ".join(f"{cost:.3f} with {what}" for what, cost in changed.items())
    numbers = f"MADELON, degree 7: cost {base:.3f} with rows 0.2, share 0.08, around 20; {costs}"
    return _verdict(max(changed.values()) < base + 2 * CLOSE), numbers


def _rbf(cells: Cells, _: Stops) -> Judged:
    first = _least(cells, "5.22"), _least(cells, "5.24")
    second = _least(cells, "5.25"), _least(cells, "5.27")
    numbers = (
        "least cost of polynomial and RBF: {:.3f}, {:.3f} (printed 0.147, 0.172); MADELON {:.3f}, "
        "{:.3f} (printed 0.098, 0.137)"
    )
    yes = all(polynomial < rbf for polynomial, rbf in (first, second))
    return _verdict(yes), numbers.format(*first, *second)


CLAIMS: tuple[tuple[str, str, Callable[[Cells, Stops], Judged]], ...] = (
    ("4.4.3", "The smaller the step, the better the ranking", _small_steps),
    ("5.2.4", "A share of the features left may do better than a constant step", _dynamic_cost),
    ("5.2.4", "and is faster", _dynamic_time),
    ("5.2.3", "and selects fewer features", _dynamic_size),
    ("5.2.4", "and needs no further parameter, since it replaces the step", _given),
    ("5.2", "(Are the printed rankings made with or without the rows judged?)", _bias),
    (
        "5.3.4",
        "Rows drawn anew in every round: faster than all rows, slower than rows drawn once",
        _sampling_faster,
    ),
    ("5.3.4", "much better than rows drawn once", _sampling_better),
    ("5.3.4", "and may even improve on all rows", _sampling_best),
    ("5.3.4", "the more so the more rounds there are", _sampling_rounds),
    ("5.3.4", "and with one round the same as rows drawn once", _given),
    ("5.4.4", "The best size can often be told after one or two rounds", _stop_early),
    ("5.4.4", "but not always, even after five", _stop_later),
    ("5.4.4", "in about 1/20 of the time", _stop_time),
    ("5.5.4", "Many classes can be had by a sum", _sum_works),
    ("5.5.4", "The coefficient of variation is consistently worse", _joint("variation")),
    ("5.5.4", "The maximum is worse", _joint("max")),
    ("5.5.4", "A power other than 1 may help when C is large", _power),
    ("5.6.4", "Where classes are not linearly separable, kernels help much", _kernels),
    ("5.6.4", "but the criterion becomes the bottleneck", _criterion_share),
    ("5.6.4", "which sums kept from feature to feature relieve", _criterion_speed),
    ("5.6.4", "and compiled code could do so more", _compiled),
    ("5.7.3", "All extensions together are much faster", _combined_time),
    ("5.7.3", "at no loss", _combined_cost),
    ("5.7.3", "Their parameters are not very sensitive", _insensitive),
    ("5.7.2", "On MADELON they are worse without sampling", _without("all rows")),
    ("5.7.2", "or with a constant step that is small", _without("step 5")),
    ("5.7.2", "or large", _without("step 50")),
    ("5.7.2", "RBF kernels do not reach polynomials", _rbf),
)
"""Section, claim, and the function that judges it."""
