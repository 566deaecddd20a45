"""One page on all studies: every printed number beside ours, from what is stored."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mercer._files import write_text_whole

from .catalogue import NOT_YET, Entry, read_catalogue
from .registry import find_studies, get_study, studies_folder
from .stored import STORED_FILE, stored_comparisons
from .study import Study
from .verdicts import AVERAGE, CLOSE, FEWEST, VERDICTS, Comparison, Moments, closeness
from .z_scores import draw_z_scores

PAGE, PICTURE = "README.md", "z_scores.png"
WORDS = (*VERDICTS, "not run")
"""Verdicts, and what is said of a printed number of which nothing is stored."""

Numbers = dict[str, list[Comparison]]
"""Every printed number by study."""


def write_summary() -> list[Path]:
    """Write the page and its picture into the folder of the studies, from what is stored there."""
    folder, numbers = studies_folder(), printed_numbers()
    write_text_whole(folder / PAGE, summary_text(numbers))
    figure = draw_z_scores({name: some for name, some in numbers.items() if some})
    figure.savefig(folder / PICTURE, dpi=110)
    return [folder / PAGE, folder / PICTURE]


def printed_numbers() -> Numbers:
    """Return every printed number beside ours, by the names of the studies with a source."""
    studies = [get_study(name) for name in find_studies()]
    return {study.name: stored_comparisons(study) for study in studies if study.source}


def summary_text(numbers: Numbers) -> str:
    """Return the page as Markdown."""
    entries = read_catalogue()
    parts = [
        INTRODUCTION,
        _counts(numbers, entries),
        f"![z of every printed number, study by study]({PICTURE})",
        EXPLANATION.format(
            close=CLOSE,
            most=closeness(FEWEST - 1),
            fewest=FEWEST,
            freedom=FEWEST - 1,
            average=AVERAGE,
        ),
        "## The studies",
        _studies(),
        "## Every table and figure",
        *_catalogue(entries, numbers),
        "## Every printed number",
        *(_numbers(get_study(name), some) for name, some in numbers.items() if some),
    ]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = f"""# Studies: published experiments and ours

Written by `mercer study summary` from the tables `{STORED_FILE}` in the folders of the studies, not
by hand. After `mercer study run NAME --out FOLDER`, `mercer study summary --add FOLDER` stores what
was found and writes the page anew. Nothing here is part of the installed package; it needs a clone
of the repository, with `pip install -e ".[app,data,networks]"` in it. Data sets are downloaded, or
read from the folder that `MERCER_DATA` names.

## What holds"""

EXPLANATION = """z is the difference between ours and the printed number in standard errors of that
difference, in which the uncertainty of the printed mean and that of ours count once each; a
deviation that is not printed is taken to be ours. "Reproduced" is |z| at most {close:g}, or, where
the error is known from few draws, the quantile of Student's distribution that is exceeded as
rarely: {most:.1f} with {freedom} degrees of freedom, 3.3 with 30 (Welch and Satterthwaite's where
both sides have deviations). What lies further away is better or worse (fewer features, vectors and
trainings are better), or not reproducible where a reason is known, which stands above the table.
There is no verdict below {fewest} repetitions, and times on another machine count as not
reproducible. Where the source did everything once, its number is as uncertain
as one repetition, and many of ours would help little: what must be known is the deviation.
Configurations that vary alike then share one, and there is a verdict if it has {freedom} degrees of
freedom or more, in brackets behind n. Where a number is compared with several of our methods, one
of them counts, and the others stand in brackets. A deviation that is printed beside a mean goes
into z and has no verdict of its own; standard errors over the folds of one draw, in `rfe`, do not
go into z, since draws of all folds differ less. Numbers of features in `rfe` come from a list of
sizes, and their deviation counts as that of rounding to it where draws differ less. A line
"{average}" has the means over all configurations."""

RUN = """With `study.py`: `mercer study run NAME` runs one, prints its table beside the printed one
and writes tables, pictures and a report into `study-NAME`. It can be stopped at any time; the same
command goes on."""

OTHERS = """With `__main__.py`: `python -m studies.NAME`, in the main folder of the clone, writes
the page anew.

{table}

To add one, make a folder with a page and a `study.py` that has a `STUDY`;
[tiny/study.py](tiny/study.py) is the smallest. Studies use public names of mercer only."""


def _word(comparison: Comparison) -> str:
    return comparison.verdict if comparison.ours.mean is not None else "not run"


def _tally(comparisons: Iterable[Comparison]) -> Counter[str]:
    """Count the verdicts; each printed number counts once."""
    return Counter(_word(one) for one in comparisons if not one.again)


def _counts(numbers: Numbers, entries: Sequence[Entry]) -> str:
    """Return a line for each document: printed numbers by verdict, tables and figures by status."""
    sources = {name: get_study(name).source for name in numbers}
    documents = list(dict.fromkeys([e.document for e in entries] + list(sources.values())))
    head = ["document", "printed numbers", *WORDS, "tables and figures", "in a study", NOT_YET]
    rows: list[list[Any]] = []
    for document in documents:
        some = [one for name in numbers if sources[name] == document for one in numbers[name]]
        tally, own = _tally(some), [e for e in entries if e.document == document]
        if not tally and not own:
            continue
        whole = {entry.whole: entry.status for entry in own}
        status, shown = Counter(whole.values()), [tally[word] for word in WORDS]
        rows.append([document, sum(shown), *shown, len(whole), status["study"], status[NOT_YET]])
    totals = ["all", *(sum(row[k] for row in rows) for k in range(1, len(head)))]
    return _markdown([head, *rows, totals], numeric_from=1)


def _studies() -> str:
    head = ["study", "about", "source", "data", "duration"]
    rows = [head]
    for name in find_studies():
        study = get_study(name)
        page = f"[{name}]({name.replace('-', '_')}/README.md)"
        data = ", ".join(dict.fromkeys(d.partition("/")[0] for d in study.data)) or "drawn"
        rows.append([page, study.title, study.source, data, study.duration])
    others = [["study", "about"]]
    for file in sorted(studies_folder().glob("*/__main__.py")):
        title = (file.parent / PAGE).read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        others.append([f"[{file.parent.name}]({file.parent.name}/README.md)", title])
    return "\n\n".join([RUN, _markdown(rows), OTHERS.format(table=_markdown(others))])


def _catalogue(entries: Sequence[Entry], numbers: Numbers) -> Iterable[str]:
    for document in dict.fromkeys(entry.document for entry in entries):
        rows: list[list[object]] = [["place", "about", "what holds", "command"]]
        for entry in entries:
            if entry.document == document:
                command = f"`{entry.command}`" if entry.command else ""
                rows.append([entry.place, entry.about, _outcome(entry, numbers), command])
        yield f"### {document}\n\n{_markdown(rows)}"


def _outcome(entry: Entry, numbers: Numbers) -> str:
    """Say what became of a table or figure."""
    if entry.status != "study":
        waits = f"{NOT_YET}: `{entry.study}`" if entry.study else ""
        return "; ".join(part for part in (waits, entry.reason) if part)
    tally = _tally(one for one in numbers.get(entry.study, []) if entry.covers(one))
    counted = [f"{tally[word]} {word}" for word in WORDS if tally[word]]
    # A picture has no numbers of its own: those of the same cells stand in other entries.
    return entry.reason or ", ".join(counted) or "nothing is printed"


def _numbers(study: Study, comparisons: Sequence[Comparison]) -> str:
    head = ["configuration", "method", "number", "printed", "ours", "n", "error", "z", "verdict"]
    rows = [[*head]]
    for one in comparisons:
        cells = [
            one.configuration,
            one.method,
            one.quantity.replace("_", " "),
            _with_deviation(one.printed, one.printed_sd),
            _with_deviation(one.ours.mean, one.ours.sd),
            _repetitions(one.ours),
            "" if one.standard_error is None else f"{one.standard_error:.2g}",
            _z(one.z),
            f"({_word(one)})" if one.again else _word(one),
        ]
        rows.append(cells)
    reasons = {one.reason: _word(one) for one in comparisons if one.reason}
    because = [f"- {word}: {reason}" for reason, word in reasons.items()]
    tally = _tally(comparisons)
    counted = ", ".join(f"{tally[word]} {word}" for word in WORDS if tally[word])
    return "\n\n".join(
        part
        for part in (
            f"### {study.name}",
            f"`mercer study run {study.name}`; one line: "
            f'`mercer study run {study.name} --only "CONFIGURATION/METHOD" --repetitions n`. '
            f"{study.citation}",
            f"{counted}." if counted else "",
            "\n".join(because),
            f"<details><summary>{len(rows) - 1} numbers</summary>",
            _markdown(rows, numeric_from=3, words_from=8),
            "</details>",
        )
        if part
    )


def _markdown(
    rows: Sequence[Sequence[object]], numeric_from: int = 99, words_from: int = 99
) -> str:
    """Return a table; columns between two places are set to the right."""
    places = range(len(rows[0]))
    rule = ["---:" if numeric_from <= k < words_from else "---" for k in places]
    lines = [rows[0], rule, *rows[1:]]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _with_deviation(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:.4g}" if sd is None else f"{mean:.4g} ± {sd:.2g}"


def _repetitions(ours: Moments) -> str:
    shared = "" if ours.freedom is None else f" ({ours.freedom})"
    return f"{ours.repetitions or ''}{shared}"


def _z(z: float | None) -> str:
    if z is None:
        return ""
    if math.isinf(z):
        return "∞" if z > 0 else "-∞"
    return f"{round(z, 1) + 0.0:.1f}"
