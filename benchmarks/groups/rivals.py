"""Ratios of our times to those of the other libraries, and what to say under a table."""

from __future__ import annotations

from collections.abc import Mapping

from ..measure import Timing
from ..peers import OURS, PEERS
from ..report import GroupResult, Ratio, Table, fastest, geometric_mean, ratio, smallest

RIVALS: dict[str, tuple[str, ...]] = {
    "scikit-learn": ("sklearn",),
    "intelex": ("intelex", "intelex32"),
    "libsvm": ("libsvm",),
    "LinearSVC": ("liblinear",),
}
ABSENT = Timing(status="unavailable", reason="not asked for")


def rival_ratios(timings: Mapping[str, Timing], rivals: list[str]) -> dict[str, Ratio | None]:
    """Return how many times as long each rival library took, in its fastest form."""
    ours = timings.get(OURS, ABSENT)
    return {
        rival: ratio(ours, fastest(timings[key] for key in RIVALS[rival] if key in timings))
        for rival in rivals
    }


def summarise(result: GroupResult, rivals: list[str]) -> None:
    """Put the smallest ratio and the geometric mean of each rival under the first table."""
    for rival in rivals:
        ratios = [record["ratios"][rival] for record in result.records if "ratios" in record]
        mean, least = geometric_mean(ratios), smallest(ratios)
        result.summary[rival] = {"geometric mean": mean, "smallest": least}
        if mean is not None:
            result.tables[0].notes.append(
                f"{rival} took, as a multiple of {OURS}'s time: geometric mean {mean}, "
                f"smallest {least}, over {sum(each is not None for each in ratios)} rows"
            )


def note_reasons(table: Table, timings: Mapping[str, Timing]) -> None:
    """Say once under the table why a solver has no time."""
    for peer, timing in timings.items():
        note = f"{PEERS[peer].label} {timing.status}: {timing.reason}"
        if timing.status in ("unavailable", "failed", "missed") and note not in table.notes:
            table.notes.append(note)


def timing_records(timings: Mapping[str, Timing]) -> dict[str, dict[str, object]]:
    """Return all that was timed, for the records."""
    return {peer: vars(timing) for peer, timing in timings.items()}
