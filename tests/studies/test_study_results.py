"""The table: means, standard scores and verdicts."""

import csv
import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t, ttest_ind_from_stats

from mercer.studies import Configuration, Printed, Study, StudyResults, run_study
from mercer.studies.pictures import draw_boxes, draw_overview, draw_pictures
from mercer.studies.verdicts import (
    Moments,
    compare,
    compare_averages,
    share_deviation,
    verdict_on,
)

COLUMNS = "configuration method printed_mean printed_sd mean sd repetitions z verdict".split()


def compared(printed, ours, n_printed=None, independent=1.0, **options):
    """Compare one number in a study of its own."""
    configuration = Configuration("one", {}, {"x": printed}, independent=independent)
    configurations = (configuration,)
    study = Study("", "", "", "", configurations, {"x": {}}, None, "error", **options)
    study = replace(study, printed_repetitions=n_printed)
    return compare(study, configuration, "x", "error", ours)


def test_z_is_the_statistic_of_welch():
    found = compared(Printed(0.3, 0.05), Moments(0.32, 0.02, 40), 100)
    welch = ttest_ind_from_stats(0.32, 0.02, 40, 0.3, 0.05, 100, equal_var=False).statistic
    assert found.z == pytest.approx(welch)
    assert found.standard_error == pytest.approx(0.02 / welch)


@pytest.mark.parametrize(
    ("printed", "ours", "n_printed", "expected"),
    [
        (Printed(0.3), Moments(0.3, None, 1), 10, None),
        (Printed(0.3), Moments(None, None, 0), 10, None),
        (Printed(0.2), Moments(0.3, 0.1, 25), None, 5.0),
        (Printed(0.2), Moments(0.3, 0.1, 50), 50, 5.0),
        (Printed(0.2, 0.1), Moments(0.3, None, 1), None, 1.0),
        (Printed(0.2, 0.0), Moments(0.2, 0.0, 5), 5, 0.0),
        (Printed(0.2, 0.0), Moments(0.1, 0.0, 5), 5, -math.inf),
    ],
)
def test_z_where_something_is_missing(printed, ours, n_printed, expected):
    z = compared(printed, ours, n_printed).z
    assert z == (None if expected is None else pytest.approx(expected))


def test_equal_repetitions_count_for_less():
    """Of 100 numbers 20 come twice: the mean of simulated ones varies as it is said to."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4000, 80))
    means = np.hstack([draws, draws[:, :20]]).mean(axis=1)
    whole = compared(Printed(0.0), Moments(0.0, 1.0, 100), independent=100 / 140)
    assert means.std() == pytest.approx(whole.standard_error, rel=0.05)


def test_shares_are_compared_as_shares():
    """None of ten and 31 of 100 may well be the same share; a deviation of 0 says otherwise."""
    found = compared(Printed(0.0, 0.0), Moments(0.31, 0.465, 100), 10, shares=("error",))
    share = 31 / 110
    assert found.standard_error == pytest.approx(
        math.sqrt(share * (1 - share) * (1 / 10 + 1 / 100))
    )
    assert found.verdict == "reproduced"


def test_a_shared_deviation_is_that_of_all_draws():
    """Means apart, deviations alike: as if the mean of each group had been taken off."""
    rng = np.random.default_rng(0)
    groups = [rng.normal(10 * k, 2, size) for k, size in enumerate((2, 3, 1, 5, 4))]
    some = [Moments(g.mean(), g.std(ddof=1) if g.size > 1 else None, g.size) for g in groups]
    shared = share_deviation(some)
    residuals = np.concatenate([g - g.mean() for g in groups])
    assert {m.freedom for m in shared} == {10}
    for before, after in zip(some, shared):
        assert after.sd == pytest.approx(math.sqrt((residuals**2).sum() / 10))
        assert after[::2] == before[::2]
    assert share_deviation(some[:3]) == some[:3]  # three degrees of freedom say too little
    many = Moments(0.0, 9.0, 10)
    assert share_deviation([*some, many])[-1] == many


def test_one_repetition_beside_one_is_judged_by_a_shared_deviation():
    alone = compared(Printed(0.3), Moments(0.4, None, 1), 1)
    shared = compared(Printed(0.3), Moments(0.4, 0.02, 1, freedom=9), 1)
    assert (alone.z, alone.verdict) == (None, "undecided")
    assert shared.z == pytest.approx(0.1 / (0.02 * math.sqrt(2)))
    assert shared.verdict == "reproduced"  # beyond 3, but not beyond what 9 degrees can tell
    assert compared(Printed(0.3), Moments(0.42, 0.02, 1, freedom=9), 1).verdict == "worse"
    assert compared(Printed(0.3), Moments(0.42, 0.02, 1, freedom=8), 1).verdict == "undecided"


def test_agreeing_numbers_are_called_apart_as_rarely_with_few_draws():
    """Of 10,000 equal ones 27 should be; with three standard errors as the bound 150 would be."""
    rng = np.random.default_rng(0)
    wrong = near = 0
    for _ in range(10_000):
        sd = float(np.std(rng.normal(size=10), ddof=1))
        printed, ours = rng.normal(size=2).tolist()
        found = compared(Printed(printed), Moments(ours, sd, 1, freedom=9), 1)
        wrong += found.verdict != "reproduced"
        near += abs(found.z) <= 3
    assert 27 - 4 * math.sqrt(27) < wrong < 27 + 4 * math.sqrt(27)
    assert near < 10_000 - 100


@pytest.mark.parametrize(("sd", "printed_sd"), [(0.02, 0.05), (0.05, 0.02), (0.03, 0.03)])
def test_degrees_of_freedom_are_those_of_welch(sd, printed_sd):
    found = compared(Printed(0.3, printed_sd), Moments(0.32, sd, 12), 25)
    welch = ttest_ind_from_stats(0.32, sd, 12, 0.3, printed_sd, 25, equal_var=False)
    assert 2 * t.sf(abs(found.z), found.freedom) == pytest.approx(welch.pvalue)


@pytest.mark.parametrize(
    ("printed", "ours", "n_printed", "expected"),
    [
        (Printed(0.2), Moments(0.3, 0.1, 25), 50, 24),
        (Printed(0.2), Moments(0.3, 0.1, 2, freedom=14), 1, 14),
        (Printed(0.2, 0.1), Moments(0.3, 0.1, 25), None, 24),
        (Printed(0.2, 0.1), Moments(0.3, None, 25), 30, 29),
        (Printed(0.2, 0.1), Moments(0.3, None, 25), None, math.inf),
        (Printed(0.2, 0.0), Moments(0.2, 0.0, 25), 30, math.inf),
    ],
)
def test_degrees_of_freedom_where_something_is_missing(printed, ours, n_printed, expected):
    assert compared(printed, ours, n_printed).freedom == pytest.approx(expected)


def test_a_number_printed_of_one_draw_is_as_uncertain_as_one():
    once = compared(Printed(0.3, single=("error",)), Moments(0.4, 0.05, 25), 100)
    assert once.standard_error == pytest.approx(0.05 * math.sqrt(1 + 1 / 25))
    often = compared(Printed(0.3), Moments(0.4, 0.05, 25), 100)
    assert often.standard_error == pytest.approx(0.05 * math.sqrt(1 / 100 + 1 / 25))


def test_means_over_all_configurations():
    """The mean of sets that vary apart is judged by the errors of all of them."""
    rng = np.random.default_rng(1)
    sds, sizes = (0.5, 1.0, 2.0), (15, 12, 30)
    draws = [[rng.normal(k, sd, n) for k, (sd, n) in enumerate(zip(sds, sizes))] for _ in range(2)]
    ours, theirs = ([(float(x.mean()), float(x.std(ddof=1))) for x in some] for some in draws)
    configurations = tuple(
        Configuration(name, {}, {"x": Printed(*one)}) for name, one in zip("abc", theirs)
    )
    average = float(np.mean([mean for mean, _ in theirs]))
    averages = {"x": Printed(average, extra={"never": 1.0})}
    study = Study("", "", "", "", configurations, {"x": {}}, None, averages=averages)
    study = replace(study, printed_repetitions=20)
    moments = [Moments(*one, n) for one, n in zip(ours, sizes)]
    some = [
        compare(study, c, "x", "error", m) for c, m in zip(configurations, moments, strict=True)
    ]
    found, absent = compare_averages(study, some)
    assert (found.printed, found.ours.mean) == pytest.approx((average, np.mean(ours, axis=0)[0]))
    variances = [s**2 / n for (_, s), n in zip(ours, sizes)] + [s**2 / 20 for _, s in theirs]
    assert found.standard_error == pytest.approx(math.sqrt(sum(variances)) / 3)
    freedoms = [n - 1 for n in sizes] + [19] * 3
    welch = sum(variances) ** 2 / sum(v**2 / f for v, f in zip(variances, freedoms))
    assert found.freedom == pytest.approx(welch)
    assert found.verdict == "reproduced"
    assert (absent.ours.mean, absent.verdict) == (None, "undecided")
    (whole, _) = compare_averages(study, [*some[:2], replace(some[2], standard_error=None)])
    assert (whole.z, whole.verdict) == (None, "undecided")


def test_what_counts_again_may_be_one_number_of_a_cell():
    printed = {"x": Printed(1.0, extra={"n_fits": 3.0})}
    configurations = (Configuration("one", {}, printed), Configuration("two", {}, printed))
    study = Study("", "", "", "", configurations, {"x": {}}, None, again=("one", "two/x:error"))
    again = {(c, q): study.is_again(c, "x", q) for c in ("one", "two") for q in ("error", "n_fits")}
    assert [pair for pair, yes in again.items() if not yes] == [("two", "n_fits")]


def test_studies_share_deviations_where_they_say_so(tmp_path):
    def run(configuration, method, repetition, seed):
        return {"error": configuration.parameters["at"] + (-1.0) ** repetition}

    names = "abcdefghijk"
    configurations = tuple(
        Configuration(name, {"at": k}, {"x": Printed(k + 0.5)}, alike="" if name == "k" else "some")
        for k, name in enumerate(names)
    )
    study = Study("", "", "", "", configurations, {"x": {}}, run, printed_repetitions=1)
    rows = run_study(study, repetitions=2, out=tmp_path).table()
    assert [row["verdict"] for row in rows] == ["reproduced"] * 10 + ["undecided"]
    assert rows[0]["z"] == pytest.approx(-0.5 / math.sqrt(2 / 2 + 2 / 1))


def test_no_printed_mean_is_no_printed_number():
    found = compared(Printed(None, extra={"n_fits": 3.0}), Moments(0.3, 0.1, 20))
    assert (found.printed, found.z, found.verdict) == (None, None, "not printed")


def test_printed_repetitions_are_those_that_there_are():
    configuration = Configuration("one", {}, {"x": Printed(0.2, 0.1)}, repetitions=20)
    study = Study("", "", "", "", (configuration,), {"x": {}}, None, printed_repetitions=100)
    found = compare(study, configuration, "x", "error", Moments(0.3, 0.1, 20))
    assert found.standard_error == pytest.approx(0.1 * math.sqrt(2 / 20))


def test_draws_that_agree_by_rounding_alone_do_not_make_a_number_exact():
    configuration = Configuration("one", {}, {"x": Printed(None, None, {"features": 21.0})})
    study = Study("", "", "", "", (configuration,), {"x": {}}, None, printed_repetitions=1)
    ours = Moments(22.0, 0.0, 2, freedom=9)
    exact = compare(study, configuration, "x", "features", ours)
    assert (exact.z, exact.verdict) == (math.inf, "worse")
    found = compare(replace(study, floors={"features": 2.0}), configuration, "x", "features", ours)
    assert found.z == pytest.approx(1 / (2.0 * math.sqrt(1 + 1 / 2)))
    assert (found.verdict, found.ours) == ("reproduced", ours)
    wide = ours._replace(sd=3.0)
    found = compare(replace(study, floors={"features": 2.0}), configuration, "x", "features", wide)
    assert found.z == pytest.approx(1 / (3.0 * math.sqrt(1 + 1 / 2)))


def test_a_configuration_may_have_been_printed_from_fewer_repetitions():
    about = {"repetitions": 1000, "printed_repetitions": 50}
    configuration = Configuration("one", {}, {"x": Printed(0.2, 0.1)}, **about)
    study = Study("", "", "", "", (configuration,), {"x": {}}, None, printed_repetitions=100)
    found = compare(study, configuration, "x", "error", Moments(0.3, 0.1, 1000))
    assert found.standard_error == pytest.approx(0.1 * math.sqrt(1 / 50 + 1 / 1000))


@pytest.mark.parametrize(
    ("z", "repetitions", "lower", "word"),
    [
        (3.0, 10, True, "reproduced"),
        (-3.0, 10, False, "reproduced"),
        (3.1, 10, True, "worse"),
        (-3.1, 10, True, "better"),
        (3.1, 10, False, "better"),
        (-3.1, 10, False, "worse"),
        (None, 10, True, "undecided"),
        (-6.3, 3, True, "undecided"),
        (0.1, 1, True, "undecided"),
    ],
)
def test_verdicts(z, repetitions, lower, word):
    assert verdict_on(z, repetitions, lower) == word


def test_verdicts_that_need_a_reason():
    printed = {
        "x": Printed(0.0, 1.0, {"n_fits": 3.0, "fit_seconds": 2.0}, {"n_fits": "counted so"})
    }
    unexplained = Configuration("one", {}, printed, unexplained="no reading")
    study = Study("", "", "", "", (unexplained,), {"x": {}}, None, gains=("gain",))
    far, near = Moments(9.0, 1.0, 20), Moments(0.1, 1.0, 20)

    def judged(quantity, ours):
        found = compare(study, unexplained, "x", quantity, ours)
        return found.verdict, found.reason

    assert judged("error", far) == ("not reproducible", "no reading")
    assert judged("error", near) == ("reproduced", "")
    assert judged("error", far._replace(repetitions=9)) == (
        "undecided",
        "fewer than 10 repetitions",
    )
    assert judged("n_fits", far) == ("not reproducible", "counted so")
    assert judged("fit_seconds", near)[0] == "not reproducible"
    assert judged("gain", far) == ("not printed", "")


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
    verdicts = ["undecided", "not printed", "undecided", "not printed"]
    assert [row["verdict"] for row in rows] == verdicts
    assert rows[0]["printed_n_fits"] == "4"
    assert rows[0]["z_n_fits"] == "-inf"
    more = run_study(make_study(), repetitions=10).table()
    assert [row["verdict"] for row in more] == ["reproduced", "not printed", "worse", "not printed"]
    assert [row["verdict_n_fits"] for row in more] == ["better", *3 * ["not printed"]]
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
            if line.get_marker() in "ov^sD"
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


def test_what_is_partial_says_so(make_study, tmp_path):
    pytest.importorskip("matplotlib")
    whole = run_study(make_study())
    assert whole.partial == ""
    some = run_study(make_study(), repetitions=2, only=["one"])
    assert some.partial == "partial: 2 of 4 configurations and methods, 2 of 4 repetitions"
    assert run_study(make_study(), only=["two"]).partial.endswith(
        "2 of 4 configurations and methods"
    )
    drawn = []

    def draw(results):
        drawn.append(draw_overview(results))
        return drawn[-1]

    def draw_nothing(results):
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots(1, 2)
        return figure

    def draw_half(results):
        drawn.append(draw_nothing(results))
        drawn[-1].axes[1].plot([1, 2])
        return drawn[-1]

    module = sys.modules[__name__]
    for function in (draw, draw_nothing, draw_half):
        setattr(module, function.__name__, function)
    names = {name: f"{__name__}:{name}" for name in ("draw", "draw_nothing", "draw_half")}
    some.study = replace(some.study, pictures=names)
    assert [path.stem for path in draw_pictures(some, tmp_path)] == ["draw", "draw_half"]
    title = drawn[0].get_suptitle()
    assert title.startswith("A traced study\n")
    assert title.replace("\n", " ").endswith(some.partial)
    assert len(drawn[1].axes) == 1
