"""Models that look up what is not there are neither saved nor loaded."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import FeatureAgglomeration
from sklearn.datasets import load_iris
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import BaggingClassifier, IsolationForest, RandomTreesEmbedding
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer, RadiusNeighborsClassifier
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

import mercer
from mercer.persistence import ModelFileError
from mercer.persistence._archive import SCHEMA, sealed
from mercer.tables import TableModel

from .damage import members_of
from .test_sound import refused

pytest.importorskip("skops")

pytestmark = pytest.mark.filterwarnings("ignore:The number of connected", "ignore:Changing the")
X, y = (part[::3] for part in load_iris(return_X_y=True))
CODES = X.round()[:, :2]
SEVERAL = np.stack([y, y > 1], axis=1) + 0


def shorter(arrays: Any) -> list[Any]:
    """Return the same arrays, the last of them a row short."""
    return [*arrays[:-1], arrays[-1][:-1]]


def with_other_codes(encoder: OneHotEncoder) -> OneHotEncoder:
    """Return a copy that knows other codes, as many as before."""
    other = copy.copy(encoder)
    other.categories_ = [codes + (codes == codes[-1]) for codes in encoder.categories_]
    return other


FOREST = IsolationForest(n_estimators=3, max_features=2, random_state=0).fit(X)
LEAVES = RandomTreesEmbedding(2, max_depth=2, random_state=0).fit(X)
NEIGHBOURS = KNeighborsClassifier(3).fit(X, y)
PAIRS = KNeighborsClassifier(3).fit(X, SEVERAL)
TREE = DecisionTreeClassifier(max_depth=3).fit(X, y)
RARE = OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist").fit(CODES)
CODED = OneHotEncoder().fit(CODES)
TARGET = TargetEncoder(cv=2, random_state=0).fit(CODES, y)
BINS = KBinsDiscretizer(3).fit(X)
WORDS = CountVectorizer().fit(["one line of words", "and another line"])
PARTS = TruncatedSVD(2, random_state=0).fit(X)
WEIGHTS = TfidfTransformer().fit(X)
WEIGHTED = TfidfVectorizer().fit(["one line of words", "and another line"])
GROUPS = FeatureAgglomeration(2).fit(X)
WAYS = Isomap(n_neighbors=30).fit(X)
LONG = KNeighborsTransformer().fit(X)
TABLE = TableModel(
    TREE, dict.fromkeys("abcd", "number"), {}, {"a": [4.0, 8.0]}, "y", "classification", ["id"], {}
)
POWERS = PolynomialFeatures(3).fit(X)

CHANGES = {
    "depths of leaves": (
        FOREST,
        {"_decision_path_lengths": shorter(FOREST._decision_path_lengths)},
        {"_average_path_length_per_tree": shorter(FOREST._average_path_length_per_tree)},
        {"_average_path_length_per_tree": FOREST._average_path_length_per_tree[:-1]},
    ),
    "codes of leaves": (
        LEAVES,
        {"one_hot_encoder_": with_other_codes(LEAVES.one_hot_encoder_)},
        {"one_hot_encoder_": CODED},
        {"estimators_": LEAVES.estimators_[:-1]},
    ),
    "columns of a tree": (
        FOREST,
        {"estimators_features_": [*FOREST.estimators_features_[:-1], np.array([0, 4])]},
        {"estimators_features_": [*FOREST.estimators_features_[:-1], np.array([0, -1])]},
    ),
    "codes of classes": (
        NEIGHBOURS,
        {"_y": NEIGHBOURS._y + 1},
        {"_y": NEIGHBOURS._y - 1},
        {"_y": NEIGHBOURS._y.astype(float)},
        {"_y": NEIGHBOURS._y[:-1]},
        {"classes_": NEIGHBOURS.classes_[:-1]},
    ),
    "codes of several classes": (
        PAIRS,
        {"_y": PAIRS._y[:, ::-1]},
        {"_y": PAIRS._y[:, :1]},
        {"classes_": PAIRS.classes_[:-1]},
    ),
    "rows of neighbours": (
        LONG,
        {"n_samples_fit_": 49},
        {"_fit_X": np.vstack([X, X])},
    ),
    "classes of a tree": (TREE, {"classes_": TREE.classes_[:-1]}, {"n_classes_": 2}),
    "rare categories": (
        RARE,
        {"_default_to_infrequent_mappings": shorter(RARE._default_to_infrequent_mappings)},
        {"_default_to_infrequent_mappings": [None, None]},
        {"_infrequent_indices": [RARE._infrequent_indices[0], np.array([99])]},
    ),
    "categories": (
        CODED,
        {"categories_": CODED.categories_[:-1]},
        {"_n_features_outs": [1000, 1]},
    ),
    "means of categories": (
        TARGET,
        {"encodings_": shorter(TARGET.encodings_)},
        {"encodings_": TARGET.encodings_[:-1]},
        {"encodings_": [TARGET.encodings_[0] * np.nan, *TARGET.encodings_[1:]]},
        {"categories_": shorter(TARGET.categories_)},
    ),
    "bins": (
        BINS,
        {"n_bins_": BINS.n_bins_ + 1},
        {"bin_edges_": np.array([*BINS.bin_edges_[:-1], np.arange(9.0)], dtype=object)},
        {"bin_edges_": np.array([*BINS.bin_edges_[:-1], np.full(4, np.nan)], dtype=object)},
        {"_encoder": CODED},
    ),
    "places of words": (
        WORDS,
        {"vocabulary_": {**WORDS.vocabulary_, "words": 6}},
        {"vocabulary_": {**WORDS.vocabulary_, "words": -1}},
        {"vocabulary_": {**WORDS.vocabulary_, "words": 1.5}},
    ),
    "groups of columns": (
        GROUPS,
        {"labels_": GROUPS.labels_ + 10},
        {"labels_": GROUPS.labels_[:-1]},
    ),
    "numbers of words": (
        PARTS,
        {"components_": np.where(PARTS.components_ > 0, np.inf, PARTS.components_)},
        {"components_": PARTS.components_.astype(str)},
    ),
    "weights of words": (
        WEIGHTS,
        {"idf_": WEIGHTS.idf_ * np.nan},
        {"idf_": WEIGHTS.idf_[:-1]},
    ),
    "words and their weights": (
        WEIGHTED,
        {"_tfidf": WEIGHTS},
        {"vocabulary_": {"one": 0}},
    ),
    "ways between rows": (
        WAYS,
        {"dist_matrix_": WAYS.dist_matrix_[:-1]},
        {"dist_matrix_": WAYS.dist_matrix_ + np.inf},
        {"nbrs_": KNeighborsClassifier(3).fit(X[:40], y[:40])},
    ),
    "columns of a table": (
        TABLE,
        {"columns": {"a": "number", "b": "numbers"}},
        {"columns": {"a": "number", "b": 1.0}},
        {"ranges": {"a": [0.0]}},
        {"ranges": {"a": [0.0, "x"]}},
        {"ranges": {"e": [0.0, 1.0]}},
        {"known": {"a": 5}},
        {"known": {"a": [None]}},
        {"names": "a"},
        {"target": 1.0},
        {"task": "rest"},
    ),
    "number of columns": (
        POWERS,
        {"n_output_features_": 1000},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_places(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    model, *changes = CHANGES[name]
    mercer.save(model, tmp_path / "file")
    mercer.load(tmp_path / "file")
    for change in changes:
        refused(model, change, tmp_path / "file", monkeypatch)


@pytest.mark.parametrize("model", [TREE, FOREST], ids=["tree", "forest"])
def test_trees_know_their_columns(model: Any, tmp_path: Path) -> None:
    """Nothing else would keep them from reading beyond the end of narrower rows."""
    mercer.save(model, tmp_path / "file")
    good = members_of((tmp_path / "file").read_bytes())
    forged = good[SCHEMA].replace(b'"n_features_in_":', b'"x":')
    (tmp_path / "file").write_bytes(sealed(good | {SCHEMA: forged}))
    with pytest.raises(ModelFileError, match="looks at columns that are not there"):
        mercer.load(tmp_path / "file")


@pytest.mark.parametrize("name", ["known", "ranges", "names", "target", "task", "about"])
def test_models_of_tables_are_whole(name: str, tmp_path: Path) -> None:
    mercer.save(TABLE, tmp_path / "file")
    good = members_of((tmp_path / "file").read_bytes())
    forged = good[SCHEMA].replace(f'"{name}":'.encode(), b'"x":')
    assert forged != good[SCHEMA]
    (tmp_path / "file").write_bytes(sealed(good | {SCHEMA: forged}))
    with pytest.raises(ModelFileError, match="model of a TableModel and its columns do not fit"):
        mercer.load(tmp_path / "file")


@pytest.mark.parametrize("settings", [{}, {"interaction_only": True}, {"include_bias": False}])
@pytest.mark.parametrize("degree", [0, 1, 2, 5, (0, 1), (1, 3), (2, 4), (7, 9)])
def test_numbers_of_powers(degree: Any, settings: Any, tmp_path: Path) -> None:
    if degree == 0 and settings == {"include_bias": False}:
        return  # which scikit-learn refuses
    model = PolynomialFeatures(degree, **settings).fit(X)
    mercer.save(model, tmp_path / "file")
    assert mercer.load(tmp_path / "file").transform(X).shape[1] == model.n_output_features_


@pytest.mark.parametrize(
    "model",
    [
        OneHotEncoder(drop="if_binary", min_frequency=5, handle_unknown="ignore"),
        OneHotEncoder(drop="first", max_categories=3, handle_unknown="infrequent_if_exist"),
        OrdinalEncoder(max_categories=3, handle_unknown="use_encoded_value", unknown_value=-1),
        TargetEncoder(target_type="continuous", random_state=0),
        KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform"),
        KNeighborsClassifier(2),
        RadiusNeighborsClassifier(5.0, outlier_label=0),
        BaggingClassifier(n_estimators=2, max_features=1, random_state=0),
        IsolationForest(n_estimators=2, bootstrap=True, max_samples=9, random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "target", [y, (y[:, None] > 0) + 0, y + 0.0], ids=["three", "column", "floats"]
)
def test_sound_ones_are_kept(model: Any, target: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(CODES, target)
        mercer.save(model, tmp_path / "file")
        again = mercer.load(tmp_path / "file")
        method = "predict" if hasattr(model, "predict") else "transform"
        found, said = getattr(again, method)(CODES), getattr(model, method)(CODES)
    assert abs(found - said).max() == 0
