"""The page is whole, safe, the same each time, and says what the comparison says."""

from __future__ import annotations

import base64
import hashlib
import re
from copy import copy
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from mercer.report import write_report
from mercer.report._templates import unbroken

from .cases import CASES, EVIL
from .reading import pictures, read, texts

SECTIONS = ["answer", "models", "pictures", "rows", "data", "methods", "code"]


@pytest.fixture(params=CASES)
def case(request):
    return request.param


def source(path):
    return path.read_text(encoding="utf-8")


def test_is_well_formed(case, page):
    html = source(page(case))
    root = read(html)
    ids = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in root.all():
        link = element.attributes.get("href") or ""
        assert not link.startswith("#") or link[1:] in ids
        for value in element.attributes.values():
            for name in re.findall(r"url\(#([^)]*)\)", value or ""):
                assert name in ids


def test_asks_nothing_of_the_network(case, page):
    html = source(page(case))
    for element in read(html).all():
        for name in ("src", "srcset", "data", "action", "poster", "xlink:href"):
            assert name not in element.attributes
        link = element.attributes.get("href", "#")
        assert link.startswith(("#", "data:,")) or element.tag == "a"
    assert re.findall(r"https?://[^\s\"<]+", html) == ["https://doi.org/10.1023/A:1024068626366"]
    assert "@import" not in html
    assert set(re.findall(r"url\((.)", html)) <= {"#"}


def test_is_small(case, page):
    assert 20_000 < page(case).stat().st_size < 500_000


def test_shows_no_value_that_is_none(case, page):
    root = read(source(page(case)))
    (body,) = root.all("body")
    shown = "".join(element.text for element in body.all("section"))
    assert not re.findall(r"\b(?:nan|NaN|None|NaT|inf|undefined)\b", shown)
    assert not re.findall(
        r"\bnan\b|None", "".join(a.attributes.get("aria-label") or "" for a in root.all())
    )


def test_can_be_read_by_a_screen_reader(case, page):
    root = read(source(page(case)))
    levels = [int(e.tag[1]) for e in root.all() if re.fullmatch(r"h[1-6]", e.tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert all(cell.attributes.get("scope") in ("row", "col") for cell in root.all("th"))
    for svg in root.all("svg"):
        assert svg.attributes["role"] == "img"
        assert len(svg.attributes["aria-label"]) > 20
    for region in root.all(role="region"):
        assert region.attributes["tabindex"] == "0"
    assert root.all("html")[0].attributes["lang"] == "en"


def test_pictures_are_vectors_with_texts(case, page):
    html = source(page(case))
    found = pictures(html)
    assert found
    for svg in found.values():
        assert len(texts(svg)) > 3
        assert not list(svg.iter("image"))
        assert not re.findall(r"font-family|font:", "".join(str(e.attrib) for e in svg.iter()))


def test_pictures_take_their_colours_from_the_page(case, page):
    """Else they could not be read in the dark."""
    html = source(page(case))
    for svg in re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL):
        assert not re.findall(r"(?:fill|stroke): ?#[0-9a-f]{3,8}", svg)
        for name in set(re.findall(r"var\((--\w+)\)", svg)):
            assert html.count(f"{name}: #") == 3  # light, dark, print


def test_order_of_the_page(case, page, comparison):
    root = read(source(page(case)))
    ids = [section.attributes["id"] for section in root.all("section")]
    absent = {"rows"} if comparison(case).insights_ is None else set()
    assert ids == [name for name in SECTIONS if name not in absent]
    links = [a.attributes["href"] for a in root.all("nav")[0].all("a")]
    assert links == [f"#{name}" for name in ids]


def test_the_answer_is_the_comparisons(case, page, comparison):
    root = read(source(page(case)))
    (answer,) = root.all("section", id="answer")
    said = [paragraph.text for paragraph in answer.all("p")]
    assert said == [unbroken(one) for one in comparison(case).sentences()]


def test_code_is_the_comparisons(case, page, comparison):
    (code,) = read(source(page(case))).all("code", id="program")
    assert code.text == comparison(case).code()


def test_same_page_each_time_in_every_style(page, comparison, tmp_path):
    with plt.style.context("dark_background"):
        again = write_report(comparison("binary"), tmp_path / "again.html")
    assert again.read_bytes() == page("binary").read_bytes()


def test_settings_of_matplotlib_stay(comparison, tmp_path):
    mpl.rcParams["font.size"] = 7.5
    before = dict(mpl.rcParams)
    write_report(comparison("without_insights"), tmp_path / "page.html")
    assert dict(mpl.rcParams) == before
    mpl.rcParams["font.size"] = mpl.rcParamsDefault["font.size"]
    assert plt.get_fignums() == []


def models_table(root):
    (table,) = root.all("table", class_="models")
    (body,) = table.all("tbody")
    return body.all("tr")


def test_models_are_those_of_the_results(case, page, comparison):
    compared = comparison(case)
    rows = models_table(read(source(page(case))))
    assert len(rows) == len(compared.results_)
    share = compared.table.task == "classification"
    for row, (_, result) in zip(rows, compared.results_.iterrows()):
        title, error, gap, verdict = (cell.text.strip() for cell in row.all()[:1] + row.all("td"))
        assert title.startswith(re.sub(r"\s+", " ", result["title"]))
        assert row.attributes["class"] == result["verdict"]
        if result["verdict"] == "failed":
            assert error == "–"
            continue
        value = float(re.match(r"[\d.,]+", error).group().replace(",", ""))
        expected = result["error"] * (100 if share else 1)
        assert value == pytest.approx(expected, rel=0.006, abs=0.051 if share else 0)
        assert ("tied with the best" in verdict) == (result["verdict"] == "tied")
        assert (gap == "") == (result["verdict"] == "best")
    assert sum(row.attributes["class"] == "best" for row in rows) == 1
    assert sum(row.attributes["class"] == "baseline" for row in rows) == 1


def test_ties_are_there_to_be_said(comparison):
    verdicts = [set(comparison(case).results_["verdict"]) for case in CASES]
    assert any("tied" in found for found in verdicts)
    assert any("worse" in found for found in verdicts)


def test_simplest_is_named_where_it_is_not_the_best(case, page, comparison):
    compared = comparison(case)
    rows = models_table(read(source(page(case))))
    named = [
        key
        for row, key in zip(rows, compared.results_.index)
        if "simplest that is not clearly worse" in row.text
    ]
    other = compared.simplest_name_ != compared.best_name_
    assert named == ([compared.simplest_name_] if other else [])


def test_majority_stands_beside_every_error(page, comparison):
    compared = comparison("unbalanced")
    assert compared.measure == "balanced_error"
    root = read(source(page("unbalanced")))
    for row in models_table(root):
        assert "majority 50.0 %" in row.text
    (measures,) = root.all("table", class_="measures")
    share = compared.table.class_counts()["fraud"] / len(compared.table.target)
    for row, key in zip(measures.all("tbody")[0].all("tr"), compared.results_.index):
        cell = row.all("td")[0].text
        folds = compared.folds_
        error = folds.loc[folds["model"] == key, "error"].mean()
        assert cell == unbroken(f"{100 * error:.1f} % (majority {100 * share:.1f} %)")


@pytest.mark.parametrize("name", ["binary", "regression"])
def test_majority_is_not_shown_where_classes_are_balanced(name, page):
    assert "majority" not in read(source(page(name))).all("main")[0].text


def test_partial_run_is_marked_at_the_top_in_words(page):
    html = source(page("partial"))
    assert read(html).all("h1")[0].text.endswith("partial result")
    (main,) = read(html).all("main")
    first = next(part for part in main.parts if not isinstance(part, str))
    assert first.attributes["class"] == "partial"
    assert first.text.strip().startswith("Partial result. The run ended before")
    assert "partial run: not everything was measured" in texts(pictures(html)["errors"])
    rows = {row.all("th")[0].text: row for row in models_table(read(html))}
    assert any(unbroken("3 of 10 folds only") in title for title in rows)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"partial"}))
def test_whole_run_is_not_marked(name, page):
    assert "artial" not in read(source(page(name))).all("main")[0].text


def test_models_left_out_are_listed_with_the_reason(page):
    (models,) = read(source(page("partial"))).all("section", id="models")
    told = {div.all("dt")[0].text: div.all("dd")[0].text for div in models.all("div")[:2]}
    assert told == {
        "SVC by gradient search": "the kernel matrix did not fit into memory",
        "Random forest": "there was no time left for it",
    }


def test_data_section_tells_what_was_done(page):
    (data,) = read(source(page("regression"))).all("section", id="data")
    assert "Column s3: 2 values like '1,234' were read as numbers." in data.text
    assert "its values are all different and sorted: an identifier" in data.text
    assert "numbers from 25.0 to 346, median 140" in data.text
    (data,) = read(source(page("wide"))).all("section", id="data")
    assert "7,000: 7,000 numbers" in data.text
    assert "probe 7 and 2,992 more" in data.text


def test_groups_and_time_are_told(comparison, tmp_path):
    compared = comparison("without_insights")
    n_rows = len(compared.table.target)
    table = replace(
        compared.table,
        groups=pd.Series(np.arange(n_rows) // 3, name="patient"),
        time=pd.Series(np.arange(n_rows), name="visited <on>"),
    )
    html = source(write_report(replace(compared, table=table), tmp_path / "page.html"))
    (data,) = read(html).all("section", id="data")
    assert "patient: rows of one group stay in one fold" in data.text
    assert "visited <on>: models learn from earlier rows" in data.text


def test_what_is_in_the_data_stays_text(page):
    html = source(page("odd_names"))
    root = read(html)
    (script,) = root.all("script")
    assert "alert" not in script.text
    assert not root.all("img")
    assert not root.all("b")
    for element in root.all():
        assert not [name for name in element.attributes if name.startswith("on")]
    assert html.count("<script") == 1
    # It is there all the same, as text.
    for name in ("answer", "models", "rows", "data", "code"):
        assert EVIL in root.all("section", id=name)[0].text
    assert "{{ 7 * 7 }}{% raw %}" in "".join(texts(pictures(html)["features"]))


def test_formulas_control_signs_and_halves_of_pairs_are_shown_as_text(page):
    found = texts(pictures(source(page("odd_names")))["features"])
    assert "$\\alpha_1$ costs $5" in found
    assert "half of a pair �" in found
    assert not [sign for text in found for sign in text if ord(sign) < 32]


def test_only_its_own_script_may_run(page):
    """The policy names the script by its hash, so that no other one could run."""
    html = source(page("odd_names"))
    (script,) = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_rows_worth_a_look_are_the_insights(page, comparison):
    compared = comparison("binary")
    (section,) = read(source(page("binary"))).all("section", id="rows")
    hard, unusual = section.all("table")
    numbers = [int(row.all("th")[0].text) for row in hard.all("tbody")[0].all("tr")]
    assert numbers == (compared.insights_.hard["row"].head(10) + 1).tolist()
    assert "Rows are counted from 1" in section.text
    lines = unusual.all("tbody")[0].all("tr")
    assert len(lines) == 10
    leading = compared.insights_.features["feature"].head(4).tolist()
    assert [th.text for th in unusual.all("thead")[0].all("th")][3:] == leading
    row = compared.insights_.unusual["row"].iloc[0]
    value = compared.table.frame[leading[0]].iloc[row]
    shown = float(lines[0].all("td")[2].text.replace(",", ""))
    assert shown == pytest.approx(value, rel=1e-3)


def test_rows_are_found_by_what_names_them(comparison, tmp_path):
    """A column that counts the rows, as their numbers do, is not shown."""
    found = comparison("binary")
    n_rows = len(found.table.frame)
    names = pd.DataFrame({"id": [f"P{k:03d}" for k in range(n_rows)], "no": range(1, n_rows + 1)})
    table = replace(found.table, names=names)
    write_report(replace(found, table=table), tmp_path / "page.html")
    (section,) = read(source(tmp_path / "page.html")).all("section", id="rows")
    for one in section.all("table"):
        assert [th.text for th in one.all("thead")[0].all("th")][:2] == ["row", "id"]
        for line in one.all("tbody")[0].all("tr"):
            assert line.all("td")[0].text == f"P{int(line.all('th')[0].text) - 1:03d}"


def test_models_are_named_beside_what_they_predict(comparison, tmp_path):
    found = comparison("binary")
    titles = found.results_["title"]
    first, second, third = [name for name in titles.index if name != "dummy"]
    told = [dict.fromkeys([first, second, third], "x"), {first: "x", second: "y", third: "x"}]
    hard = found.insights_.hard.head(2).assign(predictions=told)
    insights = replace(found.insights_, hard=hard)
    write_report(replace(found, insights_=insights), tmp_path / "page.html")
    (section,) = read(source(tmp_path / "page.html")).all("section", id="rows")
    cells = [line.all("td")[-1].text for line in section.all("table")[0].all("tbody")[0].all("tr")]
    assert cells[0] == "x (all 3 models)"
    assert cells[1] == f"x ({titles[first]}, {titles[third]}); y ({titles[second]})"


def test_a_failure_leaves_the_old_page(comparison, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    compared = comparison("without_insights")
    broken = replace(compared, folds_=None)
    with pytest.raises((AttributeError, TypeError)):
        write_report(broken, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_places_that_cannot_be_written_get_one_sentence(comparison, tmp_path):
    compared = comparison("without_insights")
    with pytest.raises(ValueError, match=r"is a folder\.$"):
        write_report(compared, tmp_path)
    with pytest.raises(ValueError, match=r"there is no folder '.*nowhere'\.$"):
        write_report(compared, tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_folds_that_were_not_measured_are_told(comparison, tmp_path):
    whole = comparison("binary")
    n_folds, n_repeats = whole.cuts
    page = source(write_report(whole, tmp_path / "page.html"))
    assert f"The rows were cut into {n_folds} folds" in page
    assert "folds measured" not in page
    assert "Each fold in turn was predicted" in page
    few = whole.folds_[(whole.folds_["repeat"] == 0) & (whole.folds_["fold"] < n_folds - 1)]
    page = source(write_report(replace(whole, folds_=few), tmp_path / "page.html"))
    assert f"The rows were cut into {n_folds} folds" in page
    n_few, n_all = n_folds - 1, n_folds * n_repeats
    assert f"Of these {n_all} folds {n_few} were measured. Each of those in turn" in page
    assert "folds measured" in page
    assert "All models had the same folds: one counts once every model that was not left" in page


def test_path_is_returned_as_given(comparison, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(write_report(comparison("without_insights"), "page.html")) == "page.html"


def test_baseline_alone_has_a_page(comparison, tmp_path):
    """All rivals failed: the table says so, and nothing is drawn of a best model."""
    whole = comparison("partial")
    results = whole.results_.copy()
    rivals = results.index != "dummy"
    numbers = results.select_dtypes("number").columns.drop("folds")
    results.loc[rivals, numbers] = np.nan
    results.loc[rivals, "verdict"] = "failed"
    alone = replace(
        whole,
        results_=results,
        folds_=whole.folds_[whole.folds_["model"] == "dummy"],
        predictions_={},
        scores_={},
        best_name_="logistic",
        insights_=None,
    )
    html = source(write_report(alone, tmp_path / "page.html"))
    assert list(pictures(html)) == ["errors"]
    assert "Always the largest class" in texts(pictures(html)["errors"])


def test_the_class_of_f1_and_the_rows_learned_from_are_told(comparison, tmp_path):
    found = copy(comparison("binary"))
    found.positive_ = "malignant"
    rows = [455] * len(found.results_)
    rows[1] = 100
    found.results_ = found.results_.assign(trained_rows=rows)
    text = write_report(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert ">F1 of malignant<" in text
    assert "(of the class malignant)" in text
    assert text.count(unbroken("learned from 100 of 455 rows")) == 1
    assert text.count(f">{unbroken('455 rows')}<") == len(rows) - 1
    found.positive_ = None
    text = write_report(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "(mean over the classes)" in text
