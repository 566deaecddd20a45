"""Numbers and names as they are read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mercer.report._words import (
    UNKNOWN,
    cell,
    clean,
    counted,
    difference,
    duration,
    number,
    percent,
    shortened,
    shortened_apart,
    size,
    with_spread,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (1.0, "1.00"),
        (-12.345, "−12.3"),
        (1234567.0, "1,234,567"),
        (0.00123456, "0.00123"),
        (2e-7, "2.00e−07"),
        (3.2e12, "3.20e+12"),
        (float("nan"), UNKNOWN),
        (float("inf"), UNKNOWN),
        (np.float64(2.5), "2.50"),
    ],
)
def test_number(value, text):
    assert number(value) == text


def test_spread_has_the_decimals_of_its_value():
    assert with_spread(0.0213, 0.004, "error") == "2.1 ± 0.4 %"
    assert with_spread(0.0052, 0.0113, "error") == "0.52 ± 1.13 %"
    assert with_spread(53.21, 1.234, "rmse") == "53.2 ± 1.2"
    assert with_spread(0.02, float("nan"), "error") == "2.0 %"
    assert with_spread(float("nan"), 0.1, "error") == UNKNOWN


def test_difference_has_a_sign():
    assert difference(0.012, 0.03, "error") == "+1.2 (−1.8 to +4.2)"
    assert difference(-0.012, 0.03, "error") == "−1.2 (−4.2 to +1.8)"
    assert difference(0.5, float("nan"), "rmse") == "+0.500"
    assert difference(float("nan"), 0.1, "rmse") == UNKNOWN


def test_units():
    assert [duration(s) for s in (0.00042, 0.25, 12.34, 600)] == [
        "0.4 ms",
        "250 ms",
        "12.3 s",
        "10.0 min",
    ]
    assert [size(n) for n in (12, 3400, 5.6e6, 7.8e9)] == ["12 B", "3.4 kB", "5.6 MB", "7.8 GB"]
    assert percent(0.5) == "50.0"
    assert [counted(n, "class", "classes") for n in (1, 1200)] == ["1 class", "1,200 classes"]


def test_cells_of_the_data():
    assert [cell(v) for v in (None, float("nan"), 3.0, -4, True, "a\nb", 1.23456)] == [
        UNKNOWN, UNKNOWN, "3", "−4", "True", "a b", "1.235",
    ]  # fmt: skip
    assert [cell(v) for v in (np.datetime64("NaT"), np.float32("nan"), pd.NA)] == [UNKNOWN] * 3
    assert [cell(v) for v in (np.int64(1200), np.float32(0.5), "nan")] == ["1,200", "0.5000", "nan"]


def test_long_names_keep_both_ends():
    name = "how satisfied are you with the service, question 17"
    assert shortened(name, 20) == "how satisf…estion 17"
    assert len(shortened(name, 20)) == 20
    assert shortened("年" * 30, 11) == "年年…年年"
    assert shortened_apart(["a" * 50, "a" * 50, "b"], 9) == ["aaaa…aaaa", "aaaa…aaaa (2)", "b"]


def test_clean_has_no_sign_that_xml_forbids():
    assert clean("a\x00b\x1bc \ud83d\n\td") == "a�b�c � d"
