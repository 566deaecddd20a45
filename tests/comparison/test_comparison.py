"""What is handed out: code that runs, a page, a picture, tables, and the options on the way in."""

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer import compare
from mercer.comparison import compare_table
from mercer.comparison.race import Race
from mercer.tables import InputError, as_table, named_table, read_table

SOURCE = str(Path(mercer.__file__).parents[1])
QUICK = {"folds": 3, "repeats": 1}


@pytest.fixture(scope="module")
def comparisons():
    """Return real comparisons of all kinds."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = pd.DataFrame(rng.normal(size=(60, 2)) + y[:, None], columns=["a", "b"])
    labels = np.where(y, "yes", "no")
    times = as_table(X, labels, time=np.arange(60))
    original, fits = Race._fit, []

    def stopped(self, rival, fold):
        if len(fits) == 4:
            raise KeyboardInterrupt
        fits.append(rival)
        return original(self, rival, fold)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Race, "_fit", stopped)
        partial = compare(X, labels, models="lda,tree", **QUICK)
    return {
        "binary": compare(X, labels, models="lda,tree", **QUICK),
        "many": compare_table(named_table("iris"), models="lda", **QUICK),
        "numbers": compare(X, X["a"] + rng.normal(size=60), models="ridge", **QUICK),
        "times": compare_table(times, models="lda", **QUICK),
        "unlearned": compare(X, rng.permutation(labels), models="tree", **QUICK),
        "partial": partial,
    }


@pytest.mark.parametrize("name", ["binary", "many", "numbers", "times", "unlearned", "partial"])
def test_page_picture_and_tables(comparisons, tmp_path, name):
    found = comparisons[name]
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    title = found.results_.loc[found.best_name_, "title"]
    assert title in page
    assert page.rstrip().endswith("</html>")
    assert os.listdir(tmp_path) == ["page.html"]
    figure = found.plot()
    figure.savefig(io.BytesIO(), format="svg")
    assert figure.axes
    plt.close(figure)
    assert "<table" in found._repr_html_()
    assert title in found._repr_html_()
    lines = repr(found).splitlines()
    assert lines[0].startswith(title)
    assert lines[0].endswith("best")
    for sentence in found.sentences():
        assert sentence in lines
    assert found.partial == (name == "partial")
    if found.partial:
        assert "artial" in page
        assert "artial" in found._repr_html_()


def ran(code, folder):
    """Run code in a process of its own and return what it prints last."""
    code += "\nprint(result.best_name_, *result.results_['title'], sep='|')\n"
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()[-1].split("|")


def test_code_repeats_a_named_table(comparisons, tmp_path):
    found = comparisons["many"]
    assert ran(found.code(), tmp_path) == [found.best_name_, *found.results_["title"]]
    assert (tmp_path / "report.html").exists()


def test_code_repeats_a_file_with_its_options(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    frame = pd.DataFrame({"a": rng.normal(size=60) + y, "b": rng.normal(size=60)})
    frame["who"] = [f"p{k}" for k in np.arange(60) // 4]
    frame["ill"] = np.where(y, "yes", "no")
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    table = read_table(path, "ill", groups="who", positive="no")
    found = compare_table(table, models="lda,tree", **QUICK)
    code = found.code() + "\nassert result.table.groups.nunique() == 15\n"
    code += "assert result.table.positive == 'no'\n"
    code += f"assert abs(result.results_['f1'].iloc[0] - {found.results_['f1'].iloc[0]}) < 1e-12"
    assert ran(code, tmp_path) == [found.best_name_, *found.results_["title"]]


def test_code_for_data_in_memory_names_all_options():
    X, y = load_iris(return_X_y=True, as_frame=True)
    who = np.arange(150) // 3
    given = {"drop": ["petal width (cm)"], "groups": who, "models": "lda", "seed": 3, **QUICK}
    found = compare(X, y, **given)
    code = found.code().replace("X, y = ...", "X, y = load_iris(return_X_y=True, as_frame=True)")
    names = {"load_iris": load_iris, "groups": who}
    exec("\n".join(line for line in code.splitlines() if "report" not in line), names)
    repeated = names["result"]
    assert repeated.best_name_ == found.best_name_
    pd.testing.assert_series_equal(repeated.results_["error"], found.results_["error"])


@pytest.mark.parametrize("name", ["binary", "numbers"])
def test_the_best_model_can_be_kept(comparisons, tmp_path, name):
    found = comparisons[name]
    joblib.dump(found.best_, tmp_path / "model")
    frame = found.table.frame
    expected = found.best_.predict(frame)
    assert (joblib.load(tmp_path / "model").predict(frame) == expected).all()
    assert (pickle.loads(pickle.dumps(found.best_)).predict(frame) == expected).all()
    again = found.fitted(found.best_name_).predict(frame)
    assert (again == expected).all()
    with pytest.raises(InputError, match="no model 'ldaa' here"):
        found.fitted("ldaa")


# ---- options -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_insights")
def test_options_reach_the_table():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    frame = pd.DataFrame({"a": rng.normal(size=60) + y, "b": rng.normal(size=60)})
    frame["code"] = rng.integers(0, 4, 60)
    frame["who"] = np.arange(60) // 4
    frame["ill"] = np.where(y, "yes", "no")
    given = {"target": "ill", "groups": "who", "drop": ["b"], "categorical": ["code"]}
    found = compare(frame, **given, positive="no", name="people", models=["lda"], **QUICK)
    assert found.table.frame.columns.tolist() == ["a", "code"]
    assert not pd.api.types.is_numeric_dtype(found.table.frame["code"])
    assert found.table.positive == "no"
    assert found.table.name == "people"
    for fold in found._race.folds:
        who = frame["who"].to_numpy()
        assert not set(who[fold.train]) & set(who[fold.test])
    counted = compare(frame[["a", "b"]], frame["code"], task="regression", models="ridge", **QUICK)
    assert counted.measure == "rmse"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "lda"}, "`compare` has no option 'model'; did you mean 'models'?"),
        ({"colour": "red"}, "`compare` has no option 'colour'."),
        ({"models": "ldaa"}, "did you mean 'lda'?"),
        ({"models": []}, "Name at least one model"),
        ({"models": 5}, "models must be names of models; got 5."),
        ({"minutes": "3"}, "minutes must be a number above 0; got '3'."),
        ({"minutes": float("nan")}, "minutes must be a number above 0"),
        ({"minutes": -1}, "minutes must be a number above 0"),
        ({"folds": 1}, "folds must be a whole number of at least 2; got 1."),
        ({"folds": 2.5}, "folds must be a whole number of at least 2; got 2.5."),
        ({"repeats": True}, "repeats must be a whole number of at least 1; got True."),
        ({"seed": None}, "seed must be a whole number of at least 0; got None."),
        ({"n_jobs": 0}, "n_jobs must be a whole number of at least 1; got 0."),
        ({"target": "a"}, "Give either `y` or the name of the target"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(options, words):
    X = pd.DataFrame({"a": [1.0, 2.5, 3.0, 4.0] * 5, "b": [0.5, 1.5] * 10})
    with pytest.raises(InputError) as refused:
        compare(X, ["u", "v"] * 10, **options)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_numbers_without_end():
    X, y = [[1.0], [2.0], [4.0]] * 5, ["u", "v", "v"] * 5
    with pytest.raises(InputError, match="repeats must be at most 100; got 100000"):
        compare(X, y, repeats=100_000)
    with pytest.raises(InputError, match="seed must be at most 4294967295; got 4294967296"):
        compare(X, y, seed=2**32)
    X = [[1.0, 2.0], [1e308, 3.0], [-1e308, 1.0], [np.inf, 5.0], [4.0, 2.5]] * 4
    table = as_table(X, [1.0, 2.0, 3.0, 1e200, 5.5] * 4, task="regression")
    assert table.notices[:2] == (
        "In column 'target', 4 numbers beyond ±1e100 taken as missing.",
        "4 rows without a target left out.",
    )
    assert "Numbers beyond ±1e100 in 'c1' are taken as missing." in table.notices
    assert table.frame["c1"].isna().sum() == 8


def test_a_table_is_what_it_is():
    table = named_table("iris")
    with pytest.raises(InputError, match="`drop` cannot be changed any more"):
        compare(table, drop=["a"])
    with pytest.raises(InputError, match="`y` cannot be changed any more"):
        compare(table, [1, 2])
