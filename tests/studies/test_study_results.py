"""The table: means, standard scores and verdicts."""

import csv
import json
import math

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

from mercer.studies import Printed, StudyResults, run_study
from mercer.studies.pictures import draw_boxes, draw_overview
from mercer.studies.results import verdict_on, z_score

COLUMNS = "configuration method printed_mean printed_sd mean sd repetitions z verdict".split()


def test_z_is_the_statistic_of_welch():
    z = z_score(Printed(0.3, 0.05), 0.32, 0.02, 40, 100)
    welch = ttest_ind_from_stats(0.32, 0.02, 40, 0.3, 0.05, 100, equal_var=False).statistic
    assert z == pytest.approx(welch)


@pytest.mark.parametrize(
    ("printed", "mean", "sd", "n", "n_printed", "expected"),
    [
        (None, 0.3, 0.1, 10, 10, None),
        (Printed(0.3), 0.3, None, 1, 10, None),
        (Printed(0.3), None, None, 0, 10, None),
        (Printed(0.2), 0.3, 0.1, 25, None, 5.0),
        (Printed(0.2), 0.3, 0.1, 50, 50, 5.0),
        (Printed(0.2, 0.1), 0.3, None, 1, None, 1.0),
        (Printed(0.2, 0.0), 0.2, 0.0, 5, 5, 0.0),
        (Printed(0.2, 0.0), 0.1, 0.0, 5, 5, -math.inf),
    ],
)
def test_z_where_something_is_missing(printed, mean, sd, n, n_printed, expected):
    z = z_score(printed, mean, sd, n, n_printed)
    assert z == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("z", "lower", "word"),
    [
        (3.0, True, "reproduced"),
        (-3.0, False, "reproduced"),
        (3.1, True, "worse"),
        (-3.1, True, "better"),
        (3.1, False, "better"),
        (-3.1, False, "worse"),
        (None, True, "undecided"),
    ],
)
def test_verdicts(z, lower, word):
    assert verdict_on(Printed(0.2), z, lower) == word


def test_table_against_direct_computation(make_study, tmp_path):
    results = run_study(make_study(), out=tmp_path)
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[: len(COLUMNS)] == COLUMNS
    assert [(r["configuration"], r["method"]) for r in rows] == [
        ("one", "good"),
        ("one", "worse"),
        ("two", "good"),
        ("two", "worse"),
    ]
    written = json.loads((tmp_path / "results.json").read_text())
    for row in rows:
        values = [
            cell["values"]["error"]
            for cell in written["cells"]
            if (cell["configuration"], cell["method"]) == (row["configuration"], row["method"])
        ]
        assert len(values) == int(row["repetitions"]) == 4
        assert float(row["mean"]) == pytest.approx(np.mean(values))
        assert float(row["sd"]) == pytest.approx(np.std(values, ddof=1))
        assert float(row["n_fits"]) == 3
    assert [row["verdict"] for row in rows] == ["reproduced", "not printed", "worse", "not printed"]
    assert rows[0]["printed_n_fits"] == "4"
    assert rows[1]["printed_mean"] == rows[1]["z"] == rows[1]["printed_n_fits"] == ""
    assert rows[2]["note"] == "a remark"
    first = written["cells"][0]
    assert set(first) == {
        "configuration", "method", "repetition", "seed", "seconds", "values", "definition",
    }  # fmt: skip
    assert first["seed"] == results.study.seed("one", 0)
    assert first["seconds"] >= 0


def test_numbers_that_json_does_not_know(make_study, tmp_path):
    record = {"configuration": "one", "method": "good", "repetition": 0, "seed": 0}
    record |= {"seconds": 1.0, "values": {"error": math.nan}, "definition": ""}
    StudyResults(make_study(), [record]).write(tmp_path)
    text = (tmp_path / "results.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["cells"][0]["values"]["error"] is None


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_pictures(make_study, tmp_path, style):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    results = run_study(make_study())
    with pyplot.style.context(style):
        overview = draw_overview(results)
        assert [ax.get_title() for ax in overview.axes] == ["good", "worse"]
        ours = [
            line.get_xdata()[0]
            for line in overview.axes[0].get_lines()
            if line.get_marker() in "ov^s"
        ]
        means = [row["mean"] for row in results.table() if row["method"] == "good"]
        np.testing.assert_allclose(sorted(x for x in ours), sorted(means))
        overview.savefig(tmp_path / "overview.png")
        boxes = draw_boxes(results, ["two"])
        assert [ax.get_title() for ax in boxes.axes] == ["configuration two"]
        medians = [np.median(results.values("two", m)) for m in ("good", "worse")]
        drawn = [
            line.get_ydata()[0] for line in boxes.axes[0].get_lines() if line.get_linewidth() == 2
        ]
        np.testing.assert_allclose(drawn, medians)
        boxes.savefig(tmp_path / "boxes.png")
