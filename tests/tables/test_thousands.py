"""Dots between thousands, where the decimal sign of a file is the comma."""

import pytest

from mercer.tables import read_new_rows, read_table

SAID = (
    "Dots in 'price' are taken to separate thousands ('243.446' is 243446), since the decimal sign "
    "of the file is the comma."
)


def table_of(tmp_path, prices, sizes, **options):
    names = ["a", "b", "b", "a"] * 2
    rows = zip(prices * 2, sizes * 2, names)
    lines = [f"{price};{size};{label}" for price, size, label in rows]
    (tmp_path / "houses.csv").write_text("\n".join(["price;size;label", *lines]))
    return read_table(tmp_path / "houses.csv", "label", **options)


@pytest.mark.parametrize(
    ("prices", "values"),
    [
        (["243.446", "1.012.500", "99.000", "980"], [243446, 1012500, 99000, 980]),
        (["243.446", "1.012,5", "80,25", "-3.000"], [243446, 1012.5, 80.25, -3000]),
        (["243.446 €", "1.012,50 €", "80,25 €", "7 €"], [243446, 1012.5, 80.25, 7]),
        (["243.446", "?", "", "99.000"], [243446, None, None, 99000]),
    ],
)
def test_thousands_are_joined_and_told(tmp_path, prices, values):
    table = table_of(tmp_path, prices, ["80,5", "120,25", "95,0", "60,75"])
    found = table.frame["price"].astype(object).where(table.frame["price"].notna(), None)
    assert found.tolist()[:4] == values
    assert table.frame["size"].tolist()[:2] == [80.5, 120.25]
    assert SAID in [
        notice.replace("243.446 €", "243.446").replace("243446 €", "243446")
        for notice in table.notices
    ]


@pytest.mark.parametrize(
    ("prices", "values"),
    [
        (["0.125", "1.250", "2.500", "3.125"], [0.125, 1.25, 2.5, 3.125]),
        (["1.5", "243.446", "2.25", "3.125"], [1.5, 243.446, 2.25, 3.125]),
    ],
)
def test_points_of_a_column_that_cannot_be_thousands(tmp_path, prices, values):
    table = table_of(tmp_path, prices, ["80,5", "120,25", "95,0", "60,75"])
    assert table.frame["price"].tolist()[:4] == values
    assert not any("thousands" in notice for notice in table.notices)


def test_points_of_a_file_without_decimal_commas(tmp_path):
    table = table_of(tmp_path, ["1.125", "1.250", "2.500", "3.125"], ["80", "120", "95", "60"])
    assert table.frame["price"].tolist()[:2] == [1.125, 1.25]
    table = table_of(tmp_path, ["1.125", "1.250", "2.500", "3.125"], ["80.5", "1,200", "95", "6"])
    assert table.frame["price"].tolist()[:2] == [1.125, 1.25]


def test_words_that_shall_stay_as_they_are(tmp_path):
    codes = ["243.446", "101.250", "99.000", "243.446"]
    table = table_of(tmp_path, codes, ["80,5", "120,25", "95,0", "60,75"], categorical=["price"])
    assert table.frame["price"].astype(str).tolist()[:4] == codes


def test_the_target_and_new_rows(tmp_path):
    path = tmp_path / "houses.csv"
    rows = [f"{100 + k}.{k:03d};{60 + k % 7},5;{'no' if k % 3 else 'yes'}\n" for k in range(30)]
    path.write_text("price;size;garden\n" + "".join(rows))
    table = read_table(path, "price")
    assert table.task == "regression"
    assert table.target.tolist() == [1000 * (100 + k) + k for k in range(30)]
    new = read_new_rows(path, table.frame, table.target.to_frame())
    assert new.beside["price"].tolist() == table.target.tolist()
    assert new.frame["size"].tolist() == table.frame["size"].tolist()
