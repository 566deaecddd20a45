"""What the curves come to: claims of Planas beside ours, and a table."""

from __future__ import annotations

from typing import Any

from mercer.studies import StudyResults
from studies.rfe.study import TRADE_OFF

from .study import ALGORITHMS, PRICED, PRICES, PROBLEMS, SAMPLED, STEPS

CLOSE = 0.01
"""Accuracies and costs that differ by less are equal."""


def report(results: StudyResults) -> str:
    """Return claims and tables as Markdown."""
    rows = {(row["configuration"], row["method"]): row for row in results.table()}
    parts = []
    for claim in CLAIMS:
        try:
            parts.append(claim(rows))
        except KeyError:  # a curve that it needs has not been run
            continue
    lines = [("section", "claim", "verdict", "ours"), *parts]
    return "\n\n".join([_markdown(lines), _markdown(_table(rows))]) + "\n"


def _table(rows: Any) -> list[Any]:
    lines = [("problem", "ranking", "mean accuracy", "least cost", "with features")]
    for (name, method), row in rows.items():
        if name != PRICED:
            cost = f"{row['cost']:.3f}"
            lines.append((name, method, f"{row['mean']:.3f}", cost, f"{row['features']:.0f}"))
    return lines


def _markdown(lines: list[Any]) -> str:
    rule = ["---"] * len(lines[0])
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:]))


def _verdict(gain: float) -> str:
    return "holds" if gain > CLOSE else "no difference" if gain > -CLOSE else "does not hold"


def _random_is_worst(rows: Any) -> tuple[str, ...]:
    gains = {}
    for name in PROBLEMS:
        others = [row["mean"] for (n, m), row in rows.items() if n == name and m != "random"]
        gains[name] = min(others) - rows[name, "random"]["mean"]
    worst = min(gains, key=gains.__getitem__)
    held = sum(gain > CLOSE for gain in gains.values())
    text = f"in {held} of {len(gains)} problems; least gain {gains[worst]:+.3f} ({worst})"
    verdict = "holds" if held == len(gains) else "holds in part" if held else "does not hold"
    return "4.4.3", "A random ranking is worse than any other (figures 4.7, 5.3)", verdict, text


def _more_rounds(rows: Any) -> tuple[str, ...]:
    means = [rows["300 features, 50 matter", name]["mean"] for name in STEPS]
    text = ", ".join(f"{mean:.3f} with {name}" for mean, name in zip(means, STEPS))
    return "4.4.3", "More rounds are better (figure 4.7)", _verdict(means[-1] - means[0]), text


def _better_than_filter(rows: Any) -> tuple[str, ...]:
    one, other = (rows["steps", m]["cost"] for m in ("elimination", "filter"))
    claim = "Elimination does better than a filter (figure 5.3)"
    return "5.2.3", claim, _verdict(other - one), f"cost {one:.3f}, filter {other:.3f}"


def _poor_at_any_price(rows: Any) -> tuple[str, ...]:
    found = [rows[PRICED, f"C {C:g}"]["mean"] for C in PRICES]
    kernel = rows["MADELON, judged by degree 7", "kernel elimination"]
    best = 1 - (kernel["cost"] - TRADE_OFF[1] * kernel["features"] / 500) / TRADE_OFF[0]
    text = f"{min(found):.3f} to {max(found):.3f} with C of {PRICES[0]:g} to {PRICES[-1]:g}"
    claim = "MADELON: a linear machine is poor at any C (figures 5.5, 5.6)"
    return "5.2.3", claim, _verdict(best - max(found)), f"{text}; {best:.3f} with a kernel"


def _kernel_that_judges(rows: Any) -> tuple[str, ...]:
    line, kernel = (
        rows[f"MADELON, judged {by}", "elimination"]["cost"] for by in ("linearly", "by degree 7")
    )
    claim = "MADELON: a kernel that judges a linear ranking helps (figure 5.8)"
    text = f"cost {kernel:.3f}, judged linearly {line:.3f}"
    return "5.2.3", claim, _verdict(line - kernel), text


def _same_as_filter(rows: Any) -> tuple[str, ...]:
    one, other = (rows["MADELON, judged by degree 7", m]["cost"] for m in ("elimination", "filter"))
    verdict = "holds" if abs(one - other) < CLOSE else "does not hold"
    claim = "but elimination is then no better than a filter (figure 5.8)"
    return "5.2.3", claim, verdict, f"cost {one:.3f}, filter {other:.3f}"


def _kernel_that_ranks(rows: Any) -> tuple[str, ...]:
    kernel, line = (
        rows["MADELON, judged by degree 7", m]["cost"]
        for m in ("kernel elimination", "elimination")
    )
    claim = "MADELON: a kernel in the ranking does better than one that judges only (figure 5.19)"
    return "5.6.3", claim, _verdict(line - kernel), f"cost {kernel:.3f}, judging only {line:.3f}"


def _sampling(rows: Any) -> tuple[str, ...]:
    costs = {name: rows[SAMPLED, name]["cost"] for name in ALGORITHMS}
    gains = [costs[f"B{number}"] - costs[f"C{number}"] for number in (1, 2, 3)]
    text = ", ".join(f"{name} {cost:.3f}" for name, cost in costs.items())
    claim = "Rows drawn in every round (C) do better than rows drawn once (B; figure 5.9)"
    return "5.3.3", claim, _verdict(min(gains)), f"costs {text}"


CLAIMS = (
    _random_is_worst,
    _more_rounds,
    _better_than_filter,
    _poor_at_any_price,
    _kernel_that_judges,
    _same_as_filter,
    _kernel_that_ranks,
    _sampling,
)
