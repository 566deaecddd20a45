"""Published results of feature selection beside ours.

``python -m studies.feature_selection`` writes the page and the tables beside this file from the
results that are stored of the studies ``rfe``, ``rfe-stop``, ``artificial`` and ``genes`` (``mercer
study summary --add FOLDER`` stores those of a run). The sources are R. Planas, *Analysis of the
SVM-RFE algorithm for feature selection*, UPC Barcelona 2021, and K. Smets, thesis, University of
Antwerp, 2006.
"""

from __future__ import annotations

import csv
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelRFE
from mercer.datasets import load_madelon
from mercer.feature_selection import around
from mercer.studies import get_study
from mercer.studies.stored import stored_table
from studies.genes.study import SIZES, best_genes
from studies.rfe.printed import PRINTED_CELLS
from studies.rfe.study import TITLES

from .claims import Cells, claims

HERE = Path(__file__).parent
TABLES = HERE / "tables"
FIELDS = ("cost", "accuracy", "features", "ranking_seconds")


def main() -> None:
    """Write the page and the tables."""
    names = ("rfe", "rfe-stop", "artificial", "genes")
    found = {name: stored_table(get_study(name)) for name in names}
    TABLES.mkdir(exist_ok=True)
    lines = [
        "# Choosing features: published results and ours",
        "",
        "Made by `python -m studies.feature_selection` from the studies `rfe`, `rfe-stop`, "
        "`artificial` and `genes` (`mercer study run NAME`), whose descriptions say what was "
        "chosen where the sources are silent. Speed beside that of other libraries: "
        "`python -m benchmarks features`.",
        *_madelon(),
        *_artificial(found["artificial"]),
        *_genes(found["genes"]),
        *_tables(found["rfe"], found["rfe-stop"]),
        *_claims(found["rfe"], found["rfe-stop"]),
    ]
    (HERE / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


# ---- MADELON ---------------------------------------------------------------------------------


def _madelon() -> list[str]:
    """Rank in each of seven folds with all extensions, and validate."""
    X, y = load_madelon(subset="train", return_X_y=True)
    V, v = load_madelon(subset="test", return_X_y=True)
    scaler = StandardScaler().fit(X)
    X, V = scaler.transform(X), scaler.transform(V)
    ranker = KernelRFE(
        SVC(kernel="poly", degree=7, coef0=1.0, gamma="auto", C=0.1),
        n_features_to_select=1,
        step=around(20, 0.08, 1),
        subsample=0.2,
        subsample_until=20,
        random_state=0,
    )
    machine = SVC(kernel="poly", degree=9, coef0=1.0, gamma="auto", C=0.1)
    sizes = (5, 10, 16, 20)
    right, seconds = np.zeros(len(sizes)), []
    folds = StratifiedKFold(7, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        start = time.process_time()
        order = ranker.fit(0.5 * X[train], y[train]).order_
        seconds.append(time.process_time() - start)
        for k, size in enumerate(sizes):
            best = order[:size]
            fitted = machine.fit(X[train][:, best], y[train])
            right[k] += (fitted.predict(X[test][:, best]) == y[test]).sum()
    order = ranker.fit(0.5 * X, y).order_
    lines = [
        "",
        "## MADELON",
        "",
        "2000 rows, 500 features of which 20 matter. Ranked in each of 7 folds by a polynomial of "
        "degree 7 (C = 0.1, features of standard deviation 1/2), with a fifth of the rows drawn "
        "anew in every round, steps of 8 % of the distance from 20 features, and all rows below; "
        "judged by a polynomial of degree 9. Degrees and C were chosen by the same folds, as in "
        "the source. The last column has rows that were not used for any choice.",
        "",
        "| features | accuracy on 7 folds | on the 600 validation rows |",
        "|---|---|---|",
    ]
    for k, size in enumerate(sizes):
        best = order[:size]
        other = machine.fit(X[:, best], y).score(V[:, best], v)
        lines.append(f"| {size} | {right[k] / len(y):.4f} | {other:.4f} |")
    lines += [
        "",
        "Printed: 0.8825 with 16 features; 21.8 seconds a fold on one core for the ranking, here "
        f"{np.mean(seconds):.1f} (processor time).",
    ]
    return lines


# ---- the other studies -----------------------------------------------------------------------


def _artificial(rows: list[dict[str, Any]]) -> list[str]:
    methods = ("Fisher", "SVM-RFE", "SVM-RFE bound", "R2W2", "zero norm")
    counts = sorted({row["repetitions"] for row in rows})
    done = " or ".join(map(str, counts)) or "0"
    lines = [
        "",
        "## Features that matter among noise (Smets, table 5.5)",
        "",
        f"How often in ten trials the two features kept are among those that matter; ours over "
        f"{done} trials. `printed / ours`; in brackets z, the difference of the two shares in "
        "standard errors, bold where it is more than 3. Verdicts: " + _tally(rows) + ".",
        "",
        "| problem, training rows | " + " | ".join(methods) + " |",
        "|---" * (len(methods) + 1) + "|",
    ]
    by_name: dict[str, dict[str, Any]] = {}
    for row in rows:
        by_name.setdefault(row["configuration"], {})[row["method"]] = row
    for name, some in by_name.items():
        cells = [_count(some[method]) if method in some else "-" for method in methods]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "With ten training rows the second problem is a matter of luck for every method: the "
        "single hit in ten trials that the source has for the Fisher score, which compares means "
        "that are equal, is one.",
    ]
    return lines


def _tally(rows: list[dict[str, Any]]) -> str:
    """Count the verdicts, method by method."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        if row["printed_mean"] is not None:
            counts.setdefault(row["method"], Counter())[row["verdict"]] += 1
    return "; ".join(
        f"{method} " + ", ".join(f"{n} {word}" for word, n in some.most_common())
        for method, some in counts.items()
    )


def _count(row: dict[str, Any]) -> str:
    ours = f"{10 * row['mean']:.1f}"
    if row["printed_mean"] is None:
        return ours
    z = f"{round(row['z'], 1) + 0.0:.1f}"
    away = z if row["verdict"] == "reproduced" else f"**{z}**"
    return f"{10 * row['printed_mean']:.0f} / {ours} ({away})"


def _genes(rows: list[dict[str, Any]]) -> list[str]:
    kinds = {"Golub, 34 test rows": 34, "Golub, leave one out": 72, "colon, leave one out": 62}
    errors = {
        (row["configuration"], row["method"]): round(
            row["mean"] * kinds[row["configuration"].rsplit(",", 1)[0]]
        )
        for row in rows
    }
    heads = [f"{kind}, {method}" for kind in kinds for method in ("honest", "biased")]
    lines = [
        "",
        "## Genes, with and without selection bias",
        "",
        "Errors with the best genes of an elimination one by one (linear machine, C = 1). `honest` "
        "ranks without the rows that are judged, `biased` with them: the machine is then still "
        "trained without them, but its genes were chosen to suit them. Leukaemia (Golub) has 72 "
        "rows, 38 of them for training; colon has 62.",
        "",
        "| genes | " + " | ".join(heads) + " |",
        "|---" * (len(heads) + 1) + "|",
    ]
    for size in SIZES:
        names = [f"{kind}, {size} gene{'s' * (size > 1)}" for kind in kinds]
        cells = [errors.get((n, m), "-") for n in names for m in ("honest", "biased")]
        lines.append(f"| {size} | {' | '.join(map(str, cells))} |")
    lines += [
        "",
        "With four genes and more, the biased ranking promises no error on the test rows of "
        "Golub; without their help there are some. The genes that all rows leave last:",
        "",
        f"- Golub: {', '.join(best_genes('golub'))}",
        f"- colon: {', '.join(best_genes('colon'))}",
    ]
    return lines


# ---- the tables of Planas --------------------------------------------------------------------


def _tables(rows: list[dict[str, Any]], stop: list[dict[str, Any]]) -> list[str]:
    """Write a CSV for each table, and say of each how near it came."""
    study = get_study("rfe")
    done = {(row["configuration"], row["method"]): row for row in rows}
    lines = [
        "",
        "## Tables of Planas",
        "",
        "Printed and ours, cell by cell, in one CSV for each table (times of tables 5.3, 5.5, 5.7, "
        "5.9, 5.11, 5.19, 5.21, 5.23 and 5.26 stand beside the costs they belong to). Ours ranks "
        "without the rows judged; for tables 5.2 and 5.4 the columns `biased` rank with all rows. "
        "Least costs and differences are over the cells done, and seconds are means over them, on "
        "different machines.",
        "",
        "| table | about | cells done | draws of the folds | cost: mean difference "
        "| least cost printed | ours | seconds of a ranking, printed | ours |",
        "|---" * 9 + "|",
    ]
    for table, title in TITLES.items():
        cells = [c for c in study.configurations if c.parameters["table"] == table]
        records = [_record(c, done) for c in cells]
        _write_csv(table, records)
        both = [r for r in records if "cost" in r and "printed_cost" in r]
        wanted = [(r, "cost" in r) for c, r in zip(cells, records) if c.printed]
        n_done, n_printed = sum(is_done for _, is_done in wanted), len(wanted)
        printed_cells = PRINTED_CELLS.get(table, n_printed)
        if not both:
            lines.append(f"| {table} | {title} | 0 of {printed_cells} | | | | | | |")
            continue
        away = np.mean([r["cost"] - r["printed_cost"] for r in both])
        theirs = min(both, key=lambda r: r["printed_cost"])
        ours = min(both, key=lambda r: r["cost"])
        lines.append(
            f"| [{table}](tables/table_{table}.csv) | {title} "
            f"| {n_done} of {printed_cells} | {min(r['draws'] for r in both)} | {away:+.3f} "
            f"| {_cell(theirs, 'printed_')} | {_cell(ours, '')} "
            f"| {_seconds(both, 'printed_')} | {_seconds(both, '')} |"
        )
    if stop:
        _write_csv("5.12", [_stop_record(row) for row in stop])
        lines += [
            "",
            "Tables 5.12 to 5.14, the size estimated from importances alone, are in "
            "[table_5.12.csv](tables/table_5.12.csv). Table 5.17 compares "
            "LIBLINEAR with LIBSVM ([rfe-times](../rfe_times/README.md)); table 5.1 describes the "
            "data. Of algorithms A and B of table 5.6 costs are not legible, of the 60 cells of "
            "table 5.27 51 are there.",
        ]
    return lines


def _record(configuration: Any, done: dict[Any, Any]) -> dict[str, Any]:
    about = configuration.parameters
    record: dict[str, Any] = {"C": about["C"], "value": about["value"]}
    printed = configuration.printed.get("honest")
    if printed is not None:
        numbers = {"cost": printed.mean, **printed.extra}
        record |= {f"printed_{name}": v for name, v in numbers.items() if v is not None}
    for method, prefix in (("honest", ""), ("biased", "biased_")):
        row = done.get((configuration.name, method))
        if row is not None:
            numbers = {"cost": row["mean"], **{name: row.get(name) for name in FIELDS[1:]}}
            record |= {prefix + name: v for name, v in numbers.items() if v is not None}
            record["draws"] = row["repetitions"]
    return record


def _stop_record(row: dict[str, Any]) -> dict[str, Any]:
    about = get_study("rfe-stop").configuration(row["configuration"]).parameters
    record: dict[str, Any] = {"C": about["C"], "step": about["step"]}
    for name in ("best", "estimate", "estimate_seconds", "ranking_seconds"):
        record |= {f"printed_{name}": row[f"printed_{name}"], name: row[name]}
    return record | {"printed_difference": row["printed_mean"], "difference": row["mean"]}


def _write_csv(table: str, records: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for record in records for name in record))
    with (TABLES / f"table_{table}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=names, lineterminator="\n")
        writer.writeheader()
        for record in records:
            short = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in record.items()}
            writer.writerow(short)


def _cell(record: dict[str, Any], prefix: str) -> str:
    cost, accuracy, size = (record[prefix + name] for name in FIELDS[:3])
    return f"{cost:.3f} ({100 * accuracy:.1f} % with {size:.0f})"


def _seconds(records: list[dict[str, Any]], prefix: str) -> str:
    name = f"{prefix}ranking_seconds"
    values = [record[name] for record in records if record.get(name) is not None]
    return f"{np.mean(values):.2f}" if values else ""


def _claims(rows: list[dict[str, Any]], stop: list[dict[str, Any]]) -> list[str]:
    study = get_study("rfe")
    done = {(row["configuration"], row["method"]): row for row in rows}
    cells: Cells = {
        tuple(c.parameters[name] for name in ("table", "C", "value")): _record(c, done)
        for c in study.configurations
        if (c.name, "honest") in done
    }
    lines = [
        "",
        "## Claims of Planas",
        "",
        "From the conclusions of sections 5.2 to 5.7, judged by the cells done. Costs that differ "
        "by less than 0.01 count as equal.",
        "",
        "| section | claim | verdict | numbers |",
        "|---|---|---|---|",
    ]
    for claim in claims(cells, [_stop_record(row) for row in stop]):
        lines.append("| " + " | ".join(claim) + " |")
    return lines


if __name__ == "__main__":
    main()
