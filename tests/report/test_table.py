"""The table for notebooks."""

from __future__ import annotations

import pytest

from mercer.report import comparison_table_html

from .cases import CASES, EVIL
from .reading import read


@pytest.mark.parametrize("case", CASES)
def test_one_line_for_each_model(case, comparison):
    compared = comparison(case)
    root = read(comparison_table_html(compared))
    rows = root.all("tbody")[0].all("tr")
    assert len(rows) == len(compared.results_)
    assert len(root.all("thead")[0].all("th")) == 4
    for row in rows:
        assert len(row.all("td")) == 3
        assert ("majority 50.0 %" in row.text) == (case == "unbalanced")
        assert row.all("th")[0].attributes["scope"] == "row"


def test_is_compact_and_has_the_notebooks_colours(comparison):
    html = comparison_table_html(comparison("binary"))
    assert len(html) < 5000
    assert "#" not in html
    assert "<script" not in html


def test_says_partial_ties_and_what_was_left_out(comparison):
    text = read(comparison_table_html(comparison("partial"))).text
    assert "Partial result: not everything was measured." in text
    assert "tied with the best" in text
    assert "Left out: Random forest, SVC by gradient search." in text
    assert "artial" not in read(comparison_table_html(comparison("binary"))).text


def test_everything_is_escaped(comparison):
    html = comparison_table_html(comparison("odd_names"))
    assert EVIL in read(html).text
    assert EVIL not in html
