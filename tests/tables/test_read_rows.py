"""New rows: the columns and kinds of the old ones, and none left out."""

import numpy as np
import pandas as pd
import pytest
from odd_inputs import people, written

from mercer.tables import InputError, as_table, read_rows, read_table, vectorizer


@pytest.fixture
def old(tmp_path):
    frame = people().assign(day=pd.date_range("2020-03-01", periods=40)[::-1], grade=[1, 2] * 20)
    path = tmp_path / "old.csv"
    frame.to_csv(path, index=False)
    return read_table(path, "label", categorical=["grade"])


def test_the_same_file_gives_the_same_rows(old, tmp_path):
    again = read_rows(tmp_path / "old.csv", old.frame.iloc[:0])
    fitted = vectorizer(old).fit(old.frame)
    np.testing.assert_array_equal(fitted.transform(again), fitted.transform(old.frame))


def test_other_spellings_of_new_rows(old, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(
        "grade;town;day;höhe;age;more\n"
        "1;Oslo;2021-04-05;1.234,5;unknown;x\n"
        "3;;never;x;30;y\n"
        ";Bergen;2021-04-06;180;31;z\n",
        encoding="utf-16",
    )
    new = read_rows(path, old.frame)
    assert list(new.columns) == list(old.frame.columns)
    np.testing.assert_array_equal(new["höhe"], [1234.5, np.nan, 180.0])
    np.testing.assert_array_equal(new["age"], [np.nan, 30.0, 31.0])
    assert new["town"].isna().tolist() == [False, True, False]
    assert new["day"].isna().tolist() == [False, True, False]
    assert new["grade"].astype(object).tolist()[:2] == ["1", "3"]
    assert np.isfinite(vectorizer(old).fit(old.frame).transform(new)).all()


def test_one_row_is_enough(tmp_path):
    table = as_table(people(), target="label")
    path = tmp_path / "new.csv"
    path.write_bytes(written(people(7).iloc[:1].drop(columns="label")))
    new = read_rows(path, table.frame)
    assert new["age"].tolist() == people(7)["age"].iloc[:1].tolist()


def test_columns_that_are_not_there_are_named(old, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("hohe,age,twon,day,grade\n1,2,a,2020-01-01,1\n")
    with pytest.raises(InputError, match="lacks the columns 'höhe', 'town'"):
        read_rows(path, old.frame)
    path.write_text("höhe,age,twon,day,grade\n1,2,a,2020-01-01,1\n")
    with pytest.raises(InputError, match="did you mean 'twon'"):
        read_rows(path, old.frame)
    with pytest.raises(InputError, match="no file"):
        read_rows(tmp_path / "nowhere.csv", old.frame)
