"""What models of other things than numbers are asked when they are saved and loaded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, OrdinalEncoder, StandardScaler

import mercer
from mercer.persistence import ModelFileError
from mercer.persistence._archive import HEADER, SCHEMA, sealed

from .damage import members_of

pytest.importorskip("skops")
pd = pytest.importorskip("pandas")

COLOURS = np.array(["red", "green", "blue", "grey"] * 10)
SIZES = np.linspace(0.0, 9.0, 40)
MATRIX = np.column_stack([COLOURS.astype(object), SIZES, np.arange(40) % 3])  # of objects
FRAME = pd.DataFrame(
    {"colour": COLOURS, "size": SIZES, "text": [f"word{k % 7}" for k in range(40)]}
)
LABELS = np.where((COLOURS == "red") | (SIZES > 7), "many", "few")
RECORDS = FRAME[["colour", "size"]].to_dict("records")
BY_PLACE = make_column_transformer((OneHotEncoder(), [0, 2]), (StandardScaler(), [1]))
BY_NAME = make_column_transformer((TfidfVectorizer(), "text"), (OrdinalEncoder(), ["colour"]))

MODELS = {
    "objects": make_pipeline(OneHotEncoder(), mercer.SVC()).fit(MATRIX[:, :1], LABELS),
    "objects by place": make_pipeline(BY_PLACE, mercer.SVC()).fit(MATRIX, LABELS),
    "columns": make_pipeline(BY_NAME, mercer.SVC()).fit(FRAME, LABELS),
    "texts": make_pipeline(CountVectorizer(), mercer.SVC()).fit(
        FRAME["text"], np.arange(40) % 7 > 3
    ),
    "labels": LabelEncoder().fit(LABELS),
    "line": IsotonicRegression().fit(SIZES, SIZES**2),
    "names": DictVectorizer().fit([{"a": 1.0}, {"b": 2.0}]),
    "names before a machine": make_pipeline(DictVectorizer(), mercer.SVR()).fit(RECORDS, SIZES),
    "names that are hashed": make_pipeline(FeatureHasher(8), mercer.SVR()).fit(RECORDS, SIZES),
}


def probe_in(path: Path) -> Any:
    return json.loads(members_of(path.read_bytes())[HEADER])["probe"]


@pytest.mark.parametrize("name", MODELS)
def test_rows_of_other_kinds(name: str, tmp_path: Path) -> None:
    model, path = MODELS[name], tmp_path / "file"
    mercer.save(model, path)
    mercer.load(path)
    probe = probe_in(path)
    assert list(probe["rows"]) == [name.split()[0]]
    method = "predict" if hasattr(model, "predict") else "transform"
    told = probe["answers"][method]
    answers = told.get("labels") or told["values"]
    assert len({str(answer) for answer in answers}) > 1
    answers[0] = [9] if "labels" in told else " ".join("9" for _ in answers[0].split())
    good = members_of(path.read_bytes())
    header = json.loads(good[HEADER]) | {"probe": probe}
    path.write_bytes(sealed(good | {HEADER: json.dumps(header).encode()}))
    with pytest.raises(ModelFileError, match=f"{method} does not give what it gave"):
        mercer.load(path)


def test_words_codes_and_gaps(tmp_path: Path) -> None:
    """All that encoders know is asked for, and gaps and other words where the model takes them."""
    mercer.save(MODELS["objects by place"], tmp_path / "file")
    rows = probe_in(tmp_path / "file")["rows"]["objects"]
    assert set(rows["0"]["word"]) == set(COLOURS)
    assert set(rows["2"]["code"]) == {0.0, 1.0, 2.0}
    assert set(rows["1"]) == {"number"}
    tolerant = make_pipeline(
        OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
        ),
        mercer.SVC(),
    )
    mercer.save(tolerant.fit(FRAME[["colour"]], LABELS), tmp_path / "file")
    rows = probe_in(tmp_path / "file")["rows"]["columns"]
    assert set(rows["colour"]["word"]) > set(COLOURS)


def test_rows_beside_those_of_the_model(tmp_path: Path) -> None:
    """This one takes no rows that are far from its own."""
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 10.0, 100.0]
    mercer.save(RadiusNeighborsClassifier(20.0).fit(X, LABELS), tmp_path / "file")
    assert "labels" in probe_in(tmp_path / "file")["answers"]["predict"]


def test_several_outputs(tmp_path: Path) -> None:
    both = np.stack([SIZES > 4, np.arange(40) % 3], axis=1)
    model = KNeighborsClassifier(2).fit(SIZES[:, None], both)
    mercer.save(model, tmp_path / "file")
    assert probe_in(tmp_path / "file")["answers"]["predict_proba"]["columns"] == 5
    assert len(mercer.load(tmp_path / "file").predict_proba(SIZES[:, None])) == 2


def test_long_words(tmp_path: Path) -> None:
    """All pieces of a long text take much memory, so that nobody is asked about one."""
    model = LabelEncoder().fit(["short", "long" * 100])
    mercer.save(model, tmp_path / "file")
    assert probe_in(tmp_path / "file") is None
    words = np.where(COLOURS == "red", "long" * 100, COLOURS).astype(object)[:, None]
    mercer.save(make_pipeline(OneHotEncoder(), mercer.SVC()).fit(words, LABELS), tmp_path / "file")
    asked = probe_in(tmp_path / "file")["rows"]["objects"]["0"]["word"]
    assert set(asked) == {"green", "blue", "grey"}
    mercer.save(MODELS["texts"], tmp_path / "file")
    probe = probe_in(tmp_path / "file")
    probe["rows"]["texts"][0] = "x" * 201
    good = members_of((tmp_path / "file").read_bytes())
    header = json.loads(good[HEADER]) | {"probe": probe}
    (tmp_path / "file").write_bytes(sealed(good | {HEADER: json.dumps(header).encode()}))
    with pytest.raises(ModelFileError, match="rows to try it on are none"):
        mercer.load(tmp_path / "file")


def test_no_file_is_opened(tmp_path: Path) -> None:
    """A vectorizer may take texts for names of files; a forged one would open what it names."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # whoever opens it waits for ever
    model = CountVectorizer().fit([str(pipe)])
    mercer.save(model, tmp_path / "file")
    assert probe_in(tmp_path / "file") is not None
    good = members_of((tmp_path / "file").read_bytes())
    forged = good[SCHEMA].replace(rb'"\"content\""', rb'"\"filename\""')
    assert forged != good[SCHEMA]
    (tmp_path / "file").write_bytes(sealed(good | {SCHEMA: forged}))
    with pytest.raises(ModelFileError, match="would open files that it names"):
        mercer.load(tmp_path / "file")
    model.input = "filename"
    mercer.save(model, tmp_path / "file")
    assert probe_in(tmp_path / "file") is None
