"""Where tables come from: files, memory, names; the code they give reads them again."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from odd_inputs import people, written
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from mercer.tables import InputError, as_table, named_table, read_table


def same(one, other):
    pd.testing.assert_frame_equal(one.frame, other.frame)
    pd.testing.assert_series_equal(one.target, other.target)
    assert one.task == other.task
    return True


@pytest.mark.parametrize(
    ("name", "rows", "columns", "classes"),
    [
        ("iris", 150, 4, 3),
        ("wine", 178, 13, 3),
        ("breast_cancer", 569, 30, 2),
        ("digits", 1797, 64, 10),
        ("diabetes", 442, 10, 0),
        ("moons", 300, 2, 2),
        ("circles", 300, 2, 2),
        ("blobs", 300, 2, 3),
    ],
)
def test_named_tables(name, rows, columns, classes):
    table = named_table(name)
    assert table.frame.shape == (rows, columns)
    assert len(table.class_counts()) == classes
    assert table.task == ("classification" if classes else "regression")
    assert same(named_table(name), table)
    assert same(run_source(table), table)


def test_seeds_of_generated_tables():
    assert not named_table("moons", seed=1).frame.equals(named_table("moons").frame)
    assert same(run_source(named_table("moons", seed=1)), named_table("moons", seed=1))


def test_names_that_are_none():
    with pytest.raises(InputError, match="did you mean 'breast_cancer'"):
        named_table("brest_cancer")
    with pytest.raises(InputError, match="there are iris"):
        named_table("zzz")


def run_source(table):
    names = {}
    exec(table.source, names)
    assert names["X"] is names["table"].frame
    assert names["y"] is names["table"].target
    return names["table"]


def test_the_code_of_a_file_reads_it_again(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(written(people(), "cp1252", sep="|"))
    options = {"encoding": "cp1252", "separator": "|", "drop": ["age"], "positive": "yes"}
    table = read_table(path, "label", **options)
    assert same(run_source(table), table)
    assert table.name == "people"
    assert "age" in table.left_out


def test_memory_and_file_agree(tmp_path):
    truth = people()
    path = tmp_path / "people.tsv.gz"
    truth.to_csv(path, index=False, sep="\t")
    from_file = read_table(path, "label")
    assert from_file.name == "people"
    assert same(as_table(truth, target="label"), from_file)
    assert same(as_table(pl.from_pandas(truth), target="label"), from_file)
    assert same(as_table(truth.drop(columns="label"), truth["label"]), from_file)
    assert same(as_table(truth, target=-1), from_file)
    assert same(as_table(truth.set_index(truth.index[::-1]), target="c4"), from_file)


def test_an_index_in_parquet(tmp_path):
    truth = people()
    path = tmp_path / "people.parquet"
    truth.iloc[::-1].to_parquet(path)  # with the numbers of the rows beside the columns
    assert same(read_table(path, "label"), as_table(truth.iloc[::-1], target="label"))
    truth.set_index("town").to_parquet(path)
    assert set(read_table(path, "label").frame) == {"höhe", "age", "town"}
    truth.iloc[:0].to_parquet(path)
    with pytest.raises(InputError, match="no rows"):
        read_table(path, "label")


def test_polars_without_pyarrow(monkeypatch):
    truth = people().assign(day=pd.date_range("2020-03-01", periods=40)[::-1])
    truth.loc[3, "town"] = None
    frame, labels = pl.from_pandas(truth.drop(columns="label")), pl.Series(truth["label"].tolist())
    by_pyarrow = as_table(frame, labels)

    def refuse(data, **options):
        raise ModuleNotFoundError("pyarrow")

    monkeypatch.setattr(pl.DataFrame, "to_pandas", refuse)
    monkeypatch.setattr(pl.Series, "to_pandas", refuse)
    without = as_table(frame, labels)
    assert without.target.tolist() == by_pyarrow.target.tolist()
    pd.testing.assert_frame_equal(without.frame, by_pyarrow.frame, check_dtype=False)


def test_what_was_passed_stays_as_it_was():
    truth = people()
    before = truth.copy(deep=True)
    as_table(truth, target="label", drop=["age"])
    pd.testing.assert_frame_equal(truth, before)


def test_sparse_matrices_and_lists():
    X = sparse.random(40, 6, density=0.5, random_state=0, format="csr")
    y = np.arange(40) % 2
    np.testing.assert_array_equal(as_table(X, y).frame, X.toarray())
    np.testing.assert_array_equal(as_table(X.toarray().tolist(), list(y)).frame, X.toarray())


def test_kinds_of_columns():
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
            "truth": [True, False, True, False],
            "kind": pd.Categorical(["a", "b", None, "a"]),
            "zone": pd.date_range("2020-01-31", periods=4, tz="Europe/Berlin")[::-1],
            "lasted": pd.to_timedelta([1.5, 2.5, 9.0, 3.0], "s"),
            "month": pd.period_range("2020-01", periods=4, freq="M"),
            "mixed": [1, "2", None, 3.5],
            "lists": [[1], [1, 2], [3], [1]],
            "huge": [np.inf, 2.0, 3.0, -np.inf],
        }
    )
    table = as_table(frame, ["u", "v", "u", "v"])
    np.testing.assert_array_equal(table.frame["nullable"], [1.0, np.nan, 3.0, 4.0])
    np.testing.assert_array_equal(table.frame["truth"], [1.0, 0.0, 1.0, 0.0])
    assert table.frame["kind"].isna().tolist() == [False, False, True, False]
    assert str(table.frame["zone"].iloc[3]) == "2020-01-30 23:00:00"
    assert table.frame["lasted"].tolist() == [1.5, 2.5, 9.0, 3.0]
    assert table.frame["month"].dtype.kind == "M"
    np.testing.assert_array_equal(table.frame["mixed"], [1.0, 2.0, np.nan, 3.5])
    assert table.frame["lists"].tolist() == ["[1]", "[1, 2]", "[3]", "[1]"]
    np.testing.assert_array_equal(table.frame["huge"], [np.nan, 2.0, 3.0, np.nan])
    assert any("Infinite numbers in 'huge'" in notice for notice in table.notices)


def test_svmlight_agrees_with_its_loader(tmp_path):
    path = tmp_path / "data.libsvm"
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.integers(0, 2)} " + " ".join(f"{k}:{rng.normal():.4f}" for k in (1, 3, 4))
        for _ in range(20)
    ]
    path.write_text("\n".join(lines) + "\n")
    X, y = load_svmlight_file(str(path))
    table = read_table(path)
    assert table.left_out == {"c2": "the same value in every row"}
    np.testing.assert_array_equal(table.frame, X.toarray()[:, [0, 2, 3]])
    assert table.target.astype(float).tolist() == y.tolist()


def test_other_sheets_are_named(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        people().to_excel(writer, sheet_name="now", index=False)
        people(1).to_excel(writer, sheet_name="then", index=False)
    table = read_table(path, "label")
    assert "The file has 2 sheets; 'now' was read." in table.notices
    assert same(table, as_table(people(), target="label"))


def test_the_sheet_that_has_the_target_is_read(tmp_path):
    """Others come first often: words about the table, with a title above or not."""
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        words = pd.DataFrame({"About": ["made in May", "ask Ann"]})
        words.to_excel(writer, sheet_name="info", index=False)
        people().to_excel(writer, sheet_name="data", index=False, startrow=2)
        writer.sheets["data"]["A1"] = "People of May"
    table = read_table(path, "label")
    assert "The file has 2 sheets; 'data' was read." in table.notices
    assert same(table, as_table(people(), target="label"))
    with pytest.raises(InputError, match=r"There is no column 'lable'.*did you mean 'label'"):
        read_table(path, "lable")  # a sheet of words is no table


def test_formulas_count_as_results_and_are_never_run(tmp_path):
    import openpyxl

    path = tmp_path / "book.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["a", "b", "sum", "label"])
    for k in range(12):
        book.active.append([k % 5, k % 7, f"=A{k + 2}+B{k + 2}", "xy"[k % 2]])
    book.save(path)  # without results, since nobody computed them
    table = read_table(path, "label")
    assert table.left_out["sum"] == "no value in any row"


@pytest.mark.parametrize("package", ["pyarrow", "openpyxl"])
def test_what_to_install_is_said(tmp_path, monkeypatch, package):
    suffix = {"pyarrow": "parquet", "openpyxl": "xlsx"}[package]
    path = tmp_path / f"people.{suffix}"
    {"pyarrow": people().to_parquet, "openpyxl": people().to_excel}[package](path, index=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=f"pip install {package}"):
        read_table(path, "label")


def test_mercer_itself_does_not_load_pandas():
    code = "import sys, mercer; sys.exit('pandas' in sys.modules or 'skrub' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_real_tables(data_folder):
    assert read_table(data_folder / "saheart.csv", "chd").frame.shape == (462, 9)
    wine = read_table(data_folder / "winequality-red.csv", "quality")
    assert (wine.task, wine.frame.shape) == ("classification", (1599, 11))
    with np.load(data_folder / "golub.npz") as golub:
        X, y = golub["X_train"], golub["y_train"]
    assert as_table(X, y).frame.shape == (38, 7129)
