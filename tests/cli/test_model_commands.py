"""`mercer fit`, `predict`, `tune` and `info`: from a table to a model and back to new rows."""

import os
import re
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
pytest.importorskip("skrub")

from cli_tables import some_patients
from sklearn.preprocessing import StandardScaler

import mercer as library
from mercer.tables import CommonScaler, TableModel, read_rows, read_table, vectorizer

QUICK = ("--folds", "2")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Fit a model to the first rows, once."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    folder = tmp_path_factory.mktemp("saved")
    some_patients()[:60].drop(columns="cost").to_csv(folder / "patients.csv", index=False)
    table = read_table(folder / "patients.csv", "outcome")
    model = make_pipeline(vectorizer(table), StandardScaler(), LogisticRegression())
    kept = {"title": "logistic regression", "table": "patients", "rows": 60, "measure": "error"}
    kept |= {"error": 0.125, "error_sd": 0.02, "baseline_error": 0.4, "folds": 5}
    library.save(
        TableModel.of(model.fit(table.frame, table.target), table, kept), folder / "m.mercer"
    )
    return folder / "m.mercer"


@pytest.fixture
def fitted(mercer, saved):
    return saved


def ok(result):
    assert result.exit_code == 0, result.output
    return result.stdout


# ---- fit ------------------------------------------------------------------------------------


def test_fit_tells_the_error_beside_the_baseline_and_saves(mercer, csv_file, patients):
    path = csv_file(patients.drop(columns="cost"), "patients.csv")
    text = ok(mercer("fit", path, "--target", "outcome", "--model", "Linear discriminant", *QUICK))
    assert "patients: 80 rows, 3 columns, 2 classes (ill " in text
    line = next(one for one in text.splitlines() if one.startswith("linear discriminant: error"))
    assert "over 2 folds (largest class: " in line
    assert "Written: patients.mercer" in text
    assert "mercer predict patients.mercer" in text
    assert sorted(os.listdir()) == ["patients.csv", "patients.mercer"]
    model = library.load("patients.mercer")
    assert isinstance(model, TableModel)
    kept = model.about
    assert f"{100 * kept['error']:.1f} %" in line
    assert f"{100 * kept['baseline_error']:.1f} %" in line
    assert model.columns == {"age": "number", "town": "text", "dose": "number"}
    assert model.target == "outcome"
    assert model.names == ["patient_id"]


def test_fit_takes_the_machine_of_the_task(mercer):
    assert "SVC (gradient search): error" in ok(mercer("fit", "iris", *QUICK))
    assert isinstance(library.load("iris.mercer").model[-1], library.SVC)


def test_fit_says_where_nothing_is_learned(mercer, csv_file):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "y": rng.choice(["u", "v"], 60)})
    text = ok(mercer("fit", csv_file(frame), "--target", "y", "--model", "lda", *QUICK))
    assert "nothing has been shown to be learned" in text


def rare_classes(n=160):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 10 == 0, "rare", "common")
    a = rng.normal(size=n) + 1.5 * (y == "rare")
    return pd.DataFrame({"a": a, "b": rng.normal(size=n), "y": y})


def test_unbalanced_classes_are_spoken_of_in_one_measure(mercer, csv_file):
    frame = rare_classes()
    path, even = csv_file(frame), "as if all classes were equally frequent"
    text = ok(mercer("fit", path, "--target", "y", "--model", "lda", *QUICK))
    assert "balanced error" in text
    assert f"The model decides {even}" in text
    text = ok(mercer("predict", "table.mercer", path))
    right = pd.read_csv("predictions-table.csv")["prediction"] == frame["y"]
    share = 1 - right.groupby(frame["y"]).mean().mean()
    assert f"Balanced error (the mean of those of all classes) {100 * share:.1f} %" in text
    assert "largest class: 50.0 %); " in text
    assert even in text
    text = ok(mercer("compare", path, "--target", "y", "--models", "lda,tree", *QUICK))
    assert f"All models decide {even}" in text


def test_large_numbers_have_plain_digits(mercer, csv_file, patients):
    patients["cost"] = 1000 * patients["cost"]
    path = csv_file(patients.drop(columns="outcome"), "costs.csv")
    options = ("--target", "cost", "--models", "ridge,tree", "--save", "costs.mercer", *QUICK)
    text = ok(mercer("compare", path, *options)) + ok(mercer("predict", "costs.mercer", path))
    assert re.search(r"Lowest RMSE: ridge regression, [\d,]+ ± [\d,.]+ over", text)
    assert re.search(r"mean of all: \d{3},\d{3}\)", text)
    assert "e+0" not in text


# ---- predict --------------------------------------------------------------------------------


def test_predictions_are_those_of_the_model_in_the_order_of_the_rows(mercer, fitted, patients):
    new = patients[60:].drop(columns=["outcome", "cost"])
    new[new.columns[::-1]].to_csv("new.csv", index=False, sep=";")
    text = ok(mercer("predict", fitted, "new.csv"))
    assert "20 rows predicted: " in text
    assert "Written: predictions-new.csv" in text
    said = pd.read_csv("predictions-new.csv")
    columns = ["row", "patient_id", "prediction", "probability_ill", "probability_well"]
    assert said.columns.tolist() == columns
    assert said["row"].tolist() == list(range(1, 21))
    assert said["patient_id"].tolist() == new["patient_id"].tolist()
    model = library.load(fitted)
    frame = read_rows("new.csv", model.like())
    assert said["prediction"].tolist() == model.predict(frame).tolist()
    shares = said[["probability_ill", "probability_well"]]
    np.testing.assert_allclose(shares, model.predict_proba(frame), atol=1e-6)


def test_the_error_is_told_where_the_target_is_there(mercer, fitted, patients):
    new = patients[60:].drop(columns="cost")
    new.loc[61, "outcome"] = None
    new.to_csv("new.csv", index=False)
    text = ok(mercer("predict", fitted, "new.csv", "--out", "mine.csv"))
    told = pd.read_csv("mine.csv")["prediction"].to_numpy()
    known = new["outcome"].notna().to_numpy()
    wrong = int((told[known] != new["outcome"][known]).sum())
    assert f"{wrong} of 19 rows with a known 'outcome' predicted wrongly" in text
    assert "(on folds at fitting: 12.5 %, largest class: 40.0 %)." in text


def test_what_is_new_in_new_rows_is_said(mercer, fitted, patients):
    new = patients[60:64].drop(columns=["outcome", "cost"]).assign(colour="red")
    new["town"] = ["Oslo", "Paris", "Rome", "Bodø"]
    new["dose"] = [0.5, "much", "-", 1.0]
    new["age"] = [30, 40, 4000, 50]
    new.to_csv("new.csv", index=False)
    result = mercer("predict", fitted, "new.csv")
    assert result.exit_code == 0, result.output
    assert "'Paris', 'Rome' were not there at fitting and count as" in result.stderr
    assert "2 values missing of 4 rows, in 'dose' (2)" in " ".join(result.stderr.split())
    assert "In column 'dose', 'much' is no number and is taken as missing." in result.stderr
    assert "'-'" not in result.stderr
    assert "In column 'age', 1 of 4 numbers lie far outside of those at fitting" in result.stderr
    assert "Column 'colour' left alone" in result.stderr
    assert len(pd.read_csv("predictions-new.csv")) == 4


def test_numbers_are_predicted_and_measured(mercer, csv_file, patients):
    path = csv_file(patients.drop(columns="outcome"), "costs.csv")
    text = ok(mercer("fit", path, "--target", "cost", "--model", "ridge", *QUICK))
    assert "ridge regression: RMSE" in text
    text = ok(mercer("predict", "costs.mercer", path))
    said = pd.read_csv("predictions-costs.csv")
    assert said.columns.tolist() == ["row", "patient_id", "prediction"]
    off = said["prediction"] - patients["cost"]
    assert f"RMSE {np.sqrt(np.mean(off**2)):.4g} on 80 rows" in text


def test_a_pipeline_that_was_saved_in_python(mercer, saved, patients):
    model = library.load(saved)
    library.save(model.model, "bare.mercer")
    new = patients[60:].drop(columns=["outcome", "cost"])
    new.to_csv("new.csv", index=False)
    ok(mercer("predict", "bare.mercer", "new.csv"))
    told = pd.read_csv("predictions-new.csv")["prediction"]
    assert told.tolist() == model.predict(read_rows("new.csv", model.like())).tolist()


def test_a_model_that_was_saved_in_python(mercer, csv_file, flowers):
    X, y = flowers.drop(columns="species"), flowers["species"]
    library.save(library.SVC().fit(X, y), "own.mercer")
    ok(mercer("predict", "own.mercer", csv_file(flowers)))
    told = pd.read_csv("predictions-table.csv")["prediction"]
    assert (told == library.SVC().fit(X, y).predict(X)).all()
    library.save(library.SVC().fit(X.to_numpy(), y), "nameless.mercer")
    result = mercer("predict", "nameless.mercer", csv_file(flowers))
    assert result.exit_code == 2
    assert "does not know the columns" in result.stderr


# ---- tune -----------------------------------------------------------------------------------


def test_tune_tells_parameters_and_both_scores(mercer, csv_file, patients):
    path = csv_file(patients[["age", "dose", "outcome"]], "patients.csv")
    files = ("--picture", "surface.png", "--csv", "tried.csv", "--save", "tuned.mercer")
    text = ok(mercer("tune", path, "--target", "outcome", *QUICK, *files))
    assert "Written: surface.png, tried.csv, tuned.mercer" in text
    assert Path("surface.png").read_bytes().startswith(b"\x89PNG")
    model = library.load("tuned.mercer").model[-1]
    row = next(line for line in text.splitlines() if line.split()[:1] == ["C"])
    assert float(row.split()[1]) == pytest.approx(model.C, rel=1e-3)
    scaler = library.load("tuned.mercer").model["scaler"]
    is_one = isinstance(scaler, CommonScaler)
    assert ("one for all columns" in text, "each column its own" in text) == (is_one, not is_one)
    tried = pd.read_csv("tried.csv")
    assert f"in {len(tried)} evaluations: error " in text
    assert "SVC (gradient search): error" in text


def test_the_picture_of_unbalanced_classes_holds_what_was_chosen(mercer, csv_file, monkeypatch):
    from mercer import ErrorSurfaceDisplay

    drawn = []
    plot = ErrorSurfaceDisplay.plot
    monkeypatch.setattr(
        ErrorSurfaceDisplay, "plot", lambda one, *a, **k: drawn.append(one) or plot(one, *a, **k)
    )
    path = csv_file(rare_classes())
    text = ok(mercer("tune", path, "--target", "y", "--picture", "surface.svg", *QUICK))
    assert "evaluations: balanced error " in text
    assert "accuracy" not in text
    (display,) = drawn
    assert display.colorbar_.ax.get_ylabel() == "balanced error [%]"
    C, gamma = display.chosen
    assert display.C[0] < C < display.C[-1]
    assert display.gamma[0] < gamma < display.gamma[-1]


def test_a_picture_for_which_there_is_no_time_is_of_fewer_rows(mercer, monkeypatch):
    from mercer.cli import tune

    drawn, surface = [], tune._surface

    def slow(table, pipeline, result, seed, most):
        drawn.append(most)
        if most == tune.MOST_DRAWN:
            threading.Event().wait()
        return surface(table, pipeline, result, seed, most)

    monkeypatch.setattr(tune, "_surface", slow)
    call = ("tune", "iris", "--picture", "surface.png", "--minutes", 0.05, *QUICK)
    result = mercer(*call)
    assert result.exit_code == 0, result.output
    assert drawn == [tune.MOST_DRAWN, tune.FEW_DRAWN]
    assert "the picture is of 300 rows" in result.stderr
    assert Path("surface.png").exists()


def test_tune_on_a_grid_and_for_numbers(mercer, csv_file, patients):
    numbers = patients[["age", "dose", "cost", "outcome"]]
    path = csv_file(numbers.drop(columns="cost"))
    text = ok(mercer("tune", path, "--target", "outcome", "--search", "grid", *QUICK))
    assert "Chosen by PathSearchCV in 56 evaluations" in text
    path = csv_file(numbers.drop(columns="outcome"))
    options = ("--target", "cost", *QUICK)
    text = ok(mercer("tune", path, *options, "--save", "svr.mercer", "--picture", "svr.svg"))
    assert "R² 0." in text
    assert "SVR (grid search): RMSE" in text
    assert isinstance(library.load("svr.mercer").model[-1].regressor_, library.SVR)
    assert Path("svr.svg").read_text().startswith("<?xml")


# ---- info -----------------------------------------------------------------------------------


def test_info_of_a_table(mercer, csv_file, patients):
    text = ok(mercer("info", csv_file(patients)))
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["age"][1:4] == [
        "number",
        "2",
        str(patients["age"][~patients["age"].isin(["unknown"])].nunique()),
    ]
    assert rows["town"][1:4] == ["text", "1", "3"]
    assert rows["patient_id"][1:3] == ["left", "out"]


def test_info_of_a_model(mercer, fitted, monkeypatch):
    def never(path):
        raise AssertionError("it was loaded")

    monkeypatch.setattr("mercer.persistence.load", never)
    text = ok(mercer("info", fitted))
    Path("renamed.csv").write_bytes(fitted.read_bytes())
    assert ok(mercer("info", "renamed.csv")) == text
    assert "classifier, fitted" in text
    for part in (
        "logistic regression",
        "outcome",
        "ill, well",
        "age",
        "town",
        "dose",
        library.__version__,
    ):
        assert part in text


def test_info_of_a_model_of_libsvm(mercer, flowers):
    machine = library.SVC(gamma=0.5).fit(flowers.iloc[:100, :4], [3] * 50 + [7] * 50)
    library.to_libsvm(machine, "flowers.model")
    lines = ok(mercer("info", "flowers.model")).splitlines()
    assert lines[0].split(maxsplit=1) == ["file:", "a model file of LIBSVM"]
    told = {line.split(":")[0]: line.split(":")[1].split() for line in lines}
    assert told["machine"] == ["c_svc"]
    assert told["gamma"] == ["0.5"]
    assert told["labels"] == ["7", "3"]
    assert told["vectors"] == [str(len(machine.support_))]
    result = mercer("describe", "flowers.model")
    assert (result.exit_code, "is a model, not a table" in result.stderr) == (2, True)
