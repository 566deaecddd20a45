"""Data for `mercer compare`: a notice for what is changed, one sentence for what cannot be used."""

import time
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

QUICK = ("--kernels", "rbf", "--folds", "3", "--repeats", "1")


def refused(result, *parts):
    """Check that one clear sentence on stderr, exit code 2 and nothing else came back."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    sentence = result.stderr.strip()
    assert sentence.startswith("mercer compare: ")
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    for part in parts:
        assert part in sentence
    return True


# ---- files that need a word -----------------------------------------------------------------


def test_text_constants_row_numbers_and_gaps_get_a_notice(run, csv_file, flowers):
    rng = np.random.default_rng(0)
    n = len(flowers)
    flowers.insert(0, "Unnamed: 0", np.arange(n))
    flowers["colour"] = rng.choice(["red", "blue"], n)
    flowers["label"] = [f"plant {i}" for i in range(n)]
    flowers["site"] = 1
    flowers["wet"] = rng.random(n) < 0.5
    flowers.loc[5, "petal_width"] = np.nan
    flowers.loc[7, "species"] = np.nan
    result = run(csv_file(flowers), "--target", "species", *QUICK)
    assert result.exit_code == 0, result.output
    assert "1 row without a class left out." in result.stderr
    assert "The first column has no name and numbers the rows; left out." in result.stderr
    assert "Text column 'colour' turned into one 0/1 column per value." in result.stderr
    assert "Text column 'label' left out: too many different values." in result.stderr
    assert "Column 'site' left out: the same value in every row." in result.stderr
    assert "1 missing number in 1 column replaced, fold by fold, by the median" in result.stderr
    assert "table: 149 rows, 7 features, 3 classes" in result.stdout


@pytest.mark.parametrize(
    "options", [{"sep": ";", "decimal": ","}, {"sep": "\t"}, {"sep": ";"}], ids=str
)
def test_other_separators_are_understood(flowers, csv_file, options):
    from mercer.cli.csv_file import read_csv_file

    table = read_csv_file(csv_file(flowers, **options), "species")
    np.testing.assert_allclose(table.X, flowers.drop(columns="species").to_numpy())
    assert table.y.tolist() == flowers["species"].tolist()


def test_number_classes_and_question_marks_are_understood(tmp_path):
    from mercer.cli.csv_file import read_csv_file

    path = tmp_path / "table.csv"
    path.write_text("a, b, class\n" + "1, 2, 1\n?, 3, 2\n5, 4, 2\n6, 6, \n" * 5)
    table = read_csv_file(path, "class")
    assert table.class_counts() == {"1": 5, "2": 10}
    assert np.isnan(table.X[:, 0]).sum() == 5


def test_wide_data_run_with_a_notice(run, csv_file):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7000))
    X[:30, :20] += 1.5
    frame = pd.DataFrame(X, columns=[f"gene{i}" for i in range(7000)])
    path = csv_file(frame.round(2).assign(ill=np.repeat(["yes", "no"], 30)))
    start = time.process_time()
    result = run(path, "--target", "ill", "--kernels", "rbf", "--folds", "5", "--repeats", "1")
    assert time.process_time() - start < 15
    assert result.exit_code == 0, result.output
    assert "More columns (7000) than rows (60)" in result.stderr
    assert Path("compare-table.png").exists()


def test_a_single_feature_is_enough(run, csv_file, flowers):
    path = csv_file(flowers[["petal_width", "species"]])
    result = run(path, "--target", "species", *QUICK)
    assert result.exit_code == 0, result.output
    assert "150 rows, 1 feature, 3 classes" in result.stdout


# ---- bad input ------------------------------------------------------------------------------


def test_unknown_names_and_files(run, tmp_path):
    assert refused(run("irsi"), "There is no file 'irsi'", "did you mean 'iris'?")
    assert refused(run("nowhere.csv", "--target", "y"), "There is no file 'nowhere.csv'.")
    assert refused(run(tmp_path), "is a folder")


def test_bad_targets(run, csv_file, flowers):
    path = csv_file(flowers)
    assert refused(run(path), "--target", "table.csv", "sepal_length")
    assert refused(run(path, "--target", "speces"), "no column 'speces'; did you mean 'species'?")
    assert refused(run(path, "--target", "zzz"), "no column 'zzz' (it has sepal_length")
    assert refused(run("iris", "--target", "species"), "--target is for CSV files")
    numbers = csv_file(flowers.assign(price=np.linspace(0, 1, 150)), "prices.csv")
    assert refused(run(numbers, "--target", "price"), "150 different numbers, not classes")
    empty = csv_file(flowers.assign(species=np.nan), "nothing.csv")
    assert refused(run(empty, "--target", "species"), "is empty, so that there are no classes")


def test_unusable_classes(run, csv_file, flowers):
    one = csv_file(flowers[flowers.species == "setosa"], "one.csv")
    assert refused(run(one, "--target", "species"), "at least two classes", "'setosa'")
    rare = csv_file(flowers.iloc[:103], "rare.csv")
    assert refused(run(rare, "--target", "species"), "'virginica' has 3 rows", "--folds 3")
    single = csv_file(flowers.iloc[:101], "single.csv")
    assert refused(run(single, "--target", "species"), "'virginica' has 1 row;", "merge")
    many = csv_file(flowers.assign(species=np.arange(150)), "many.csv")
    assert refused(run(many, "--target", "species"), "150 of 150 classes have too few rows")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "table.csv is empty."),
        (b"a,b,y\n", "has column names but no rows."),
        (b"a,y\n1,2\n1,2,3,4\n", "is not a table"),
        (b"a,y\n\xff\xfe\xfa,2\n", "is not text in UTF-8."),
        (b"y\n1\n2\n", "no column left to learn from besides 'y'"),
        (b"a,y\n1,u\n1,v\n", "no column left to learn from besides 'y'"),
        (b"a,y\n1,u\ninf,v\n", "Column 'a' holds infinite numbers."),
    ],
)
def test_unusable_files(run, tmp_path, content, part):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert refused(run(path, "--target", "y"), part)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--kernels", "rfb"), "There is no kernel 'rfb' among linear, poly, rbf"),
        (("--kernels", "rfb"), "did you mean 'rbf'?"),
        (("--kernels", " , "), "Give at least one kernel"),
        (("--losses", "square"), "There is no loss 'square'"),
        (("--C", "0"), "--C must be a number above 0; got 0."),
        (("--C", "inf"), "--C must be a number above 0; got inf."),
        (("--C", "nan"), "--C must be a number above 0; got nan."),
        (("--output", "picture.doc"), "--output must end in one of .png, .pdf, .svg"),
        (("--output", "nowhere/picture.png"), "The folder of --output does not exist"),
        (("--csv", "."), "--csv must be a file"),
        (("--json", "nowhere/all.json"), "The folder of --json does not exist"),
    ],
)
def test_bad_options_are_refused_before_the_work(run, options, part):
    assert refused(run("iris", *options), part)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("options", [("--folds", "1"), ("--repeats", "0"), ("--threads", "0")])
def test_options_out_of_range(run, options):
    result = run("iris", *options)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
