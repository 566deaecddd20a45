"""The page on all studies: it is what the stored results say, and it leaves nothing out."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from mercer.studies import (
    Configuration,
    Printed,
    Study,
    StudyError,
    find_studies,
    get_study,
    run_study,
    stored,
    summary,
)
from mercer.studies.catalogue import Entry, read_catalogue, unused_words
from mercer.studies.registry import studies_folder
from mercer.studies.stored import store_results, stored_comparisons, stored_table

CAPTIONS = {
    "Smets 2006": "figure 1.3 2.5 5.11 A.3 C.9 D.10 E.10 table 3.1 5.5 B.10",
    "Hopfgartner, Rupp 2021": "figure 1.1 2.3 3.1 4.1 5.2 6.9",
    "Planas 2021": "figure 2.1 4.8 5.22 table 2.1 3.5 4.1 5.27",
    "Verikas 2013": "",
    "van der Westhuizen 2014": "figure 2.6 3.3 4.11 5.10 table 2.1 3.2 4.1 5.7",
}
"""The last table and figure of each chapter; the lecture numbers none."""


def captions(last):
    """Return the names of all tables and figures, of which those of a chapter are numbered on."""
    found, kind = set(), ""
    for word in last.split():
        if "." in word:
            chapter, _, count = word.partition(".")
            found |= {f"{kind} {chapter}.{k + 1}" for k in range(int(count))}
        else:
            kind = word
    return found


@pytest.fixture(scope="module")
def numbers():
    return summary.printed_numbers()


# ---- the catalogue ---------------------------------------------------------------------------


def test_every_table_and_figure_has_a_study_or_a_reason():
    entries = read_catalogue()
    assert {entry.document for entry in entries} == set(CAPTIONS)
    for document, last in CAPTIONS.items():
        places = {e.whole for e in entries if e.document == document and e.place != "lecture"}
        assert places == captions(last)
    numbered = [(e.document, e.place) for e in entries if e.place != "lecture"]
    assert len(set(numbered)) == len(numbered)
    assert all(entry.study or entry.reason for entry in entries)
    assert unused_words() == []


def test_entries_say_what_they_cover():
    tables = {(e.document, e.place): e for e in read_catalogue()}
    trainings = tables["Smets 2006", "table 5.3"]
    assert trainings.command == "mercer study run ida"
    found = [one for one in stored_comparisons(get_study("ida")) if trainings.covers(one)]
    assert {one.quantity for one in found} == {"trainings"}
    normal = tables["van der Westhuizen 2014", "table 5.4"]
    rows = [one for one in stored_comparisons(get_study("simulation")) if normal.covers(one)]
    assert {one.configuration for one in rows if not one.again} == set("12345678")
    assert tables["Planas 2021", "table 5.2"].command == 'mercer study run rfe --only "5.2 *"'
    assert Entry("", "", "", "no such study").status == "not yet"
    assert Entry("", "", "", reason="not yet: something").status == "not yet"
    assert Entry("", "", "", reason="a drawing").status == "no study"


# ---- the page --------------------------------------------------------------------------------


def test_the_page_is_what_the_stored_results_say(numbers):
    page = (studies_folder() / "README.md").read_text(encoding="utf-8")
    assert page == summary.summary_text(numbers), "run mercer study summary"


def test_the_page_leaves_nothing_out(numbers):
    page = (studies_folder() / "README.md").read_text(encoding="utf-8")
    for entry in read_catalogue():
        assert f"| {entry.place} | {entry.about} |" in page
    for name in find_studies():
        assert f"({name.replace('-', '_')}/README.md)" in page
    printed = [one for some in numbers.values() for one in some]
    assert len(printed) > 1500
    empty = sum(not some for some in numbers.values())  # studies of which nothing is printed
    tables = page.split("## Every printed number")[1]
    assert tables.count("\n| ") == len(printed) + 2 * len(numbers) - 2 * empty


def test_every_number_that_is_compared_has_been_run(numbers):
    for some in numbers.values():
        assert [one for one in some if one.ours.mean is None] == []


def test_counts_are_of_printed_numbers_each_once(numbers):
    table = summary.summary_text(numbers).split("## What holds\n\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    counts = {row[0]: list(map(int, row[1:])) for row in rows[2:]}
    # Tables 5.4 and 5.5; 4.1, 5.6 and 5.7; figures 4.4, 4.6 and 4.7; figure 4.11; widths of tables
    # 5.4 to 5.7, and of figures 4.9 to 4.11.
    assert counts["van der Westhuizen 2014"][0] == 80 + 18 + 8 + 2 + 16 + 2 + 3
    assert counts["Hopfgartner, Rupp 2021"][0] == 6 + 6  # errors and times of six methods
    # Errors and trainings of ten sets in five columns, and their means; table 5.5, and a factor of
    # figure A.1.
    assert counts["Smets 2006"][0] == 2 * (50 + 5) + 33 + 1
    for total, *some in counts.values():
        assert total == sum(some[:6])
    assert [row[7] for row in counts.values()][:5] == [67, 17, 65, 5, 41]
    assert counts["all"] == np.sum([v for k, v in counts.items() if k != "all"], axis=0).tolist()


def test_the_picture_has_a_point_for_each_number(numbers):
    pytest.importorskip("matplotlib")
    some = {name: numbers[name] for name in ("simulation", "relevance")}
    figure = summary.draw_z_scores(some)
    (ax,) = figure.axes
    points = [line for line in ax.get_lines() if line.get_marker() not in ("None", None, "")]
    drawn = sorted(float(line.get_xdata()[0]) for line in points)
    counted = [one for every in some.values() for one in every if not one.again]
    expected = sorted(float(np.clip(one.z, -15, 15)) for one in counted)
    np.testing.assert_allclose(drawn, expected)
    assert len(drawn) == 80 + 16 + 24


# ---- what is stored --------------------------------------------------------------------------


def draw(configuration, method, repetition, seed):
    value = np.random.default_rng(seed).normal()
    return {"error": value, "n_fits": 3.0, "other": 1.0}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A study whose folder is here."""
    printed = {"x": Printed(0.0, 1.0, {"n_fits": 3.0})}
    configurations = (Configuration("a", {}, printed), Configuration("b", {}, printed))
    study = Study("own", "", "", "", configurations, {"x": {}, "y": {}}, draw, repetitions=12)
    study = replace(study, printed_repetitions=12)
    known = {"own": study}
    monkeypatch.setattr(stored, "get_study", known.__getitem__)
    monkeypatch.setattr(stored, "study_folder", lambda name: tmp_path)
    return known


def test_results_are_stored_and_read(own, tmp_path):
    study = own["own"]
    results = run_study(study, out=tmp_path / "run")
    assert store_results(tmp_path / "run") == tmp_path / "results.csv"
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["configuration"], row["method"]) for row in rows] == [
        ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"),
    ]  # fmt: skip
    assert "other" not in rows[0]  # neither printed nor kept nor what the study is about
    own["own"] = replace(study, kept=("other",))
    store_results(tmp_path / "run")
    assert [row["other"] for row in stored_table(own["own"])] == [1.0] * 4
    for row, whole in zip(stored_table(study), results.table(), strict=True):
        for name in ("configuration", "method", "repetitions", "verdict", "n_fits"):
            assert row[name] == whole[name]
        for name in ("mean", "sd", "z"):
            assert row[name] == (whole[name] and pytest.approx(whole[name], rel=1e-3))
    found = stored_comparisons(study)
    assert [one.quantity for one in found] == 2 * ["error", "n_fits"]
    assert [one.verdict for one in found] == 4 * ["reproduced"]


def test_a_part_replaces_a_part(own, tmp_path):
    run_study(own["own"], out=tmp_path / "run")
    store_results(tmp_path / "run")
    before = stored_table(own["own"])
    run_study(own["own"], out=tmp_path / "more", only=["b/x"], repetitions=40)
    store_results(tmp_path / "more")
    after = stored_table(own["own"])
    assert [row["repetitions"] for row in after] == [12, 12, 40, 12]
    assert [row for k, row in enumerate(after) if k != 2] == [
        row for k, row in enumerate(before) if k != 2
    ]


def test_results_of_another_definition_do_not_count(own, tmp_path):
    run_study(own["own"], out=tmp_path / "run")
    store_results(tmp_path / "run")
    own["own"] = changed = replace(own["own"], version=2)
    assert stored_table(changed) == []
    assert {one.ours.repetitions for one in stored_comparisons(changed)} == {0}
    with pytest.raises(StudyError, match="another definition of study 'own'"):
        store_results(tmp_path / "run")


@pytest.mark.parametrize("text", [None, "{", json.dumps({"study": "own"}), "[]"])
def test_what_holds_no_results_is_refused(own, tmp_path, text):
    if text is not None:
        (tmp_path / "results.json").write_text(text)
    with pytest.raises(StudyError, match="There are no results of a study in"):
        store_results(tmp_path)
    assert not (tmp_path / "results.csv").exists()
