"""New rows as they stand in the file: read as the table was that a model was fitted on."""

import warnings

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("skrub")

from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import mercer
from mercer.tables import TableModel, as_table, read_new_rows, vectorizer

FORMS = {"dots": "%d.%m.%Y", "slashes": "%d/%m/%Y", "months first": "%m/%d/%Y", "iso": "%Y-%m-%d"}


def patients(form="%d.%m.%Y", rows=80):
    """Return rows as pandas reads them from a file that nobody has cleaned."""
    rng = np.random.default_rng(3)
    days = pd.Timestamp("2019-01-13") + pd.to_timedelta(rng.integers(0, 1400, rows), "D")
    age = rng.integers(20, 90, rows).astype(str).astype(object)
    age[::9] = ["?", "unknown", "-"] * 3
    smoker = np.array(["never", "current", "NA"], dtype=object)[rng.integers(0, 3, rows)]
    frame = pd.DataFrame({"age": age, "smoker": smoker, "admitted": days.strftime(form)})
    frame["outcome"] = np.where(days.month > 6, "ill", "healthy")
    return frame


def fitted(frame):
    table = as_table(frame, target="outcome")
    return table, vectorizer(table).fit(table.frame)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_frame_that_was_given_and_each_of_its_rows_alone(form):
    frame = patients(form)
    table, transformer = fitted(frame)
    expected = transformer.transform(table.frame)
    np.testing.assert_array_equal(transformer.transform(frame), expected)
    np.testing.assert_array_equal(transformer.transform(frame[::-1]), expected[::-1])
    for k in range(6):
        np.testing.assert_array_equal(transformer.transform(frame[k : k + 1]), expected[k : k + 1])


def test_each_date_is_judged_by_itself():
    _, transformer = fitted(patients())
    names = transformer.get_feature_names_out().tolist()
    columns = [names.index(f"admitted_{part}") for part in ("year", "month", "day")]
    written = ["01.12.2022", "2022-12-01", "01.12.2022 08:30", "1 Dec 2022"]
    new = patients()[:6].assign(admitted=[*written, "12/01/2022", "soon"])
    new.index = [7] * 6
    found = transformer.transform(new)[:, columns]
    np.testing.assert_array_equal(found[:4], [[2022, 12, 1]] * 4)
    gone = transformer.transform(new.assign(admitted=None))[:, columns]
    np.testing.assert_array_equal(found[4:], gone[4:])


def test_words_that_stand_for_nothing():
    frame = patients()
    _, transformer = fitted(frame)
    new = pd.concat([frame[:1]] * 6).assign(smoker=["NA", None, "", "n/a", " ? ", "na"])
    found = transformer.transform(new)
    assert (found == found[0]).all()
    assert (transformer.transform(new.assign(smoker="vaping")) != found[0]).any(axis=1).all()
    new = new.assign(age=["?", "unknown", "-", "", "NA", np.inf])
    found = transformer.transform(new)
    assert (found == found[0]).all()


def test_namibia_stays_a_name():
    frame = pd.DataFrame({"land": ["NA", "EU", "US", "NA"] * 5, "x": np.arange(20) / 7})
    table = as_table(frame, [1.5, 2.5, 4.0, 1.0] * 5, task="regression")
    transformer = vectorizer(table).fit(table.frame[table.frame["land"] != "NA"])
    assert transformer.transform(frame[:1])[0].tolist() == [0.0, 0.0, 0.0]
    transformer.fit(table.frame)
    assert "land_NA" in transformer.get_feature_names_out()


def test_files_and_frames_agree_after_a_round_trip(tmp_path):
    pytest.importorskip("skops")
    frame = patients()
    table = as_table(frame, target="outcome")
    tree = make_pipeline(vectorizer(table), DecisionTreeClassifier(random_state=0))
    mercer.save(TableModel.of(tree.fit(table.frame, table.target), table), tmp_path / "tree.mercer")
    model = mercer.load(tmp_path / "tree.mercer")
    new = frame[:6].assign(admitted=["01.12.2022"] * 4 + ["2022-12-01", "12/01/2022"])
    new.to_csv(tmp_path / "new.csv", index=False)
    rows = read_new_rows(tmp_path / "new.csv", model.like(), model.beside())
    assert rows.frame["admitted"].tolist()[:5] == [pd.Timestamp("2022-12-01")] * 5
    assert rows.notices == [
        "In column 'admitted', '12/01/2022' is no date and is taken as missing."
    ]
    assert model.new_words(rows.frame) == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for some in (new, new[::-1], new[3:]):
            found = model.predict(some)
            expected = model.predict(rows.frame.loc[some.index])
            assert found.tolist() == expected.tolist()
