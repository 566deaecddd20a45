"""The rules mean what they say: memberships, weights, votes, sentences and explanations."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs

from mercer import FuzzyRuleClassifier
from mercer.fuzzy._clusters import allot, subtractive_centers
from mercer.fuzzy._search import Cost, Genome, Population, Start

FAST = {"n_generations": 15, "random_state": 0}
WAYS = [(t_norm, vote) for t_norm in ("product", "min") for vote in ("winner", "additive")]


@pytest.fixture(scope="module", name="iris")
def flowers() -> Any:
    bunch = load_iris(as_frame=True)
    return bunch.data, bunch.target_names[bunch.target]


@pytest.fixture(scope="module", params=WAYS, ids=lambda way: "-".join(way), name="model")
def fitted(request: Any, iris: Any) -> FuzzyRuleClassifier:
    t_norm, vote = request.param
    return FuzzyRuleClassifier(t_norm=t_norm, vote=vote, parsimony=0.0, **FAST).fit(*iris)


def slow_firing(model: FuzzyRuleClassifier, X: Any) -> np.ndarray:
    """(11) and (13), one number at a time."""
    result = np.zeros((len(X), len(model.rules_)))
    for p, row in enumerate(X):
        for j in range(len(model.rules_)):
            memberships = [
                np.exp(-((row[i] - model.centers_[j, i]) ** 2) / model.widths_[j, i] ** 2)
                for i in range(X.shape[1])
                if model.antecedents_[j, i]
            ]
            result[p, j] = np.prod(memberships) if model.t_norm == "product" else min(memberships)
    return result


def slow_weights(firing: Any, y: Any, classes: Any) -> np.ndarray:
    """(12), clipped at 0."""
    weights = np.zeros((firing.shape[1], len(classes)))
    for j in range(firing.shape[1]):
        for k, label in enumerate(classes):
            inside = sum(mu for mu, true in zip(firing[:, j], y) if true == label)
            outside = sum(mu for mu, true in zip(firing[:, j], y) if true != label)
            weights[j, k] = max(0.0, (inside - outside) / (inside + outside))
    return weights


def test_firing_and_weights_against_the_equations(model: Any, iris: Any) -> None:
    X, y = iris
    firing = slow_firing(model, X.to_numpy())
    assert_allclose(model.firing(X), firing, rtol=1e-12)
    assert_allclose(model.rule_weights_, slow_weights(firing, y, model.classes_), atol=5.1e-4)
    assert_array_equal((model.rule_weights_ > 0).sum(axis=1), 1)
    assert_array_equal(model.classes_[model.rule_weights_.argmax(axis=1)], model.rule_classes_)


def test_votes_against_the_equation(model: Any, iris: Any) -> None:
    """(14), or the sum of the votes."""
    X, _ = iris
    each = model.firing(X)[:, :, None] * model.rule_weights_[None]
    votes = each.max(axis=1) if model.vote == "winner" else each.sum(axis=1)
    assert_array_equal(model.predict(X), model.classes_[votes.argmax(axis=1)])
    shares = votes / votes.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), shares, rtol=1e-9, atol=1e-300)


def parsed(rule: str, names: Any) -> tuple[dict[int, tuple[float, float]], str, float]:
    """Read a sentence: centres and widths by feature, the class, and the weight."""
    short = [re.sub(r" \(cm\)$", "", name) for name in names]
    condition, consequence = re.fullmatch("IF (.*) THEN (.*)", rule).groups()  # type: ignore[union-attr]
    sets = {}
    for part in condition.split(" AND "):
        name, center, width = re.fullmatch(
            r"(.+) is \w+ \(([-\d.e]+) ± ([\d.e-]+) cm\)", part
        ).groups()  # type: ignore[union-attr]
        sets[short.index(name)] = float(center), float(width)
    label, weight = re.fullmatch(r"(.+) \(weight ([\d.]+)\)", consequence).groups()  # type: ignore[union-attr]
    return sets, label, float(weight)


def test_sentences_are_the_model(model: Any, iris: Any) -> None:
    """What is read from the text fires and decides the same, to the last digit."""
    X, _ = iris
    again = clone(model)
    again.__dict__.update(vars(model))
    rules = [parsed(rule, X.columns) for rule in model.rules_]
    again.centers_ = np.full_like(model.centers_, np.nan)
    again.widths_ = np.full_like(model.widths_, np.nan)
    again.rule_weights_ = np.zeros_like(model.rule_weights_)
    for j, (sets, label, weight) in enumerate(rules):
        for i, (center, width) in sets.items():
            again.centers_[j, i], again.widths_[j, i] = center, width
        again.rule_weights_[j, list(model.classes_).index(label)] = weight
    again.antecedents_ = ~np.isnan(again.centers_)
    assert_array_equal(again.firing(X), model.firing(X))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_printed_rules_of_iris_are_a_classifier(iris: Any) -> None:
    """What the documentation prints, applied by hand, tells the species apart."""
    X, y = iris
    text = (Path(__file__).parents[2] / "docs" / "guide" / "fuzzy.md").read_text(encoding="utf-8")
    rules = [parsed(line.strip(), X.columns) for line in re.findall("^    IF .*", text, re.M)]
    assert [label for _, label, _ in rules] == ["setosa", "versicolor", "virginica"]
    votes = np.ones((len(X), len(rules)))
    for j, (sets, _, weight) in enumerate(rules):
        for i, (center, width) in sets.items():
            votes[:, j] *= np.exp(-(((X.iloc[:, i] - center) / width) ** 2))
        votes[:, j] *= weight
    decided = np.array([label for _, label, _ in rules])[votes.argmax(axis=1)]
    assert (decided == y).mean() >= 0.95


def test_terms_rise_with_the_centres(iris: Any) -> None:
    words = ["tiny", "small", "middling", "large", "huge"]
    model = FuzzyRuleClassifier(terms=words, parsimony=0.0, **FAST).fit(*iris)
    seen: dict[str, list[tuple[float, int]]] = {}
    for rule in model.rules_:
        for name, term, center in re.findall(r"(\w+ \w+) is (\w+) \((\S+) ±", rule):
            seen.setdefault(name, []).append((float(center), words.index(term)))
    assert len(seen) > 1
    for places in seen.values():
        ranks = [rank for _, rank in sorted(places)]
        assert ranks == sorted(ranks)
    assert max(rank for places in seen.values() for _, rank in places) >= 3


def test_explanation_adds_up(model: Any, iris: Any) -> None:
    X, _ = iris
    for row in (0, 70, 110):
        told = model.explain(X.iloc[row])
        assert told.prediction == model.predict(X.iloc[[row]])[0]
        combine = np.max if model.vote == "winner" else np.sum
        for label, votes in told.class_votes.items():
            mine = told.votes[told.rule_classes == label]
            assert votes == pytest.approx(combine(mine) if mine.size else 0.0)
        assert told.prediction == max(told.class_votes, key=told.class_votes.get)
        assert sum(told.probabilities.values()) == pytest.approx(1.0)
        together = np.nanprod if model.t_norm == "product" else np.nanmin
        assert_allclose(told.firing, together(told.memberships, axis=1))
        assert_array_equal(np.isnan(told.memberships), ~model.antecedents_)
        assert str(told).splitlines()[1].endswith(told.rules[told.votes.argmax()])


def test_explanation_of_a_stranger(iris: Any) -> None:
    """Far from all rules nothing fires, yet there is a decision, that of the nearest rule."""
    model = FuzzyRuleClassifier(**FAST).fit(*iris)
    told = model.explain(0 * iris[0].iloc[0] + 1e3)
    assert told.firing.max() == 0.0
    assert sum(told.probabilities.values()) == pytest.approx(1.0)
    assert "no rule fires" in str(told)
    with pytest.raises(ValueError, match="one row; got 2"):
        model.explain(iris[0].iloc[:2])


def test_same_seed_same_rules(iris: Any) -> None:
    first, again = (FuzzyRuleClassifier(**FAST).fit(*iris).rules_ for _ in range(2))
    other = FuzzyRuleClassifier(**FAST | {"random_state": 1}).fit(*iris).rules_
    assert first == again
    assert first != other


def test_search_lowers_the_cost(iris: Any) -> None:
    model = FuzzyRuleClassifier(**FAST).fit(*iris)
    assert model.costs_.size == 16
    assert (np.diff(model.costs_) <= 0).all()
    assert model.costs_[-1] < 0.9 * model.costs_[0]
    assert FuzzyRuleClassifier(n_generations=0).fit(*iris).costs_.size == 0


def test_cost_against_a_loop() -> None:
    """A population is judged as one rule base after the other, by the slow equations."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 3)), random.integers(2, size=30)
    weight = random.uniform(0.5, 2, size=30)
    features = np.array([[0, 2], [1, 2], [0, 1]])
    classes = np.eye(2)[y] * (weight / weight.sum())[:, None]
    population = Population(
        random.normal(size=(6, 3, 2)),
        random.uniform(0.5, 2, (6, 3, 2)),
        random.random((6, 3, 2)) < 0.7,
    )
    for t_norm, vote in WAYS:
        cost = Cost(X[:, features], classes, t_norm=t_norm, vote=vote, parsimony=0.01)
        expected = [
            slow_cost(*base, X[:, features], classes, t_norm, vote) for base in zip(*population)
        ]
        assert_allclose(cost(population), expected, rtol=1e-10)


def slow_cost(
    centers: Any, widths: Any, kept: Any, values: Any, classes: Any, t_norm: str, vote: str
) -> float:
    n, n_rules = values.shape[:2]
    firing = np.zeros((n, n_rules))
    for p in range(n):
        for j in range(n_rules):
            member = np.exp(-(((values[p, j] - centers[j]) / widths[j]) ** 2))[kept[j]]
            if member.size:
                firing[p, j] = member.prod() if t_norm == "product" else member.min()
    surprise = 0.0
    for p in range(n):
        votes = np.zeros(2)
        for k in range(2):
            each = []
            for j in range(n_rules):
                total = (firing[:, j] @ classes).sum()
                excess = 2 * (firing[:, j] @ classes[:, k]) - total
                each.append(firing[p, j] * max(0.0, excess / total if total else 0.0))
            votes[k] = max(each) if vote == "winner" else sum(each)
        share = votes[classes[p].argmax()] / (votes.sum() + 0.02)
        surprise -= classes[p].sum() * np.log(max(share, 1e-3))
    return surprise + 0.01 * (kept.sum() + kept.any(axis=1).sum())


def test_genes_lead_back_to_the_clusters() -> None:
    random = np.random.default_rng(0)
    centers, widths = random.normal(size=(3, 2)), random.uniform(0.5, 4.0, size=(3, 2))
    start = Start(np.zeros((3, 2), dtype=int), centers, widths, centers - 1.0, centers + 2.0)
    genome = Genome(start)
    decoded = genome.decode(genome.encode()[None])
    assert_allclose(decoded.centers[0], centers)
    assert_allclose(decoded.widths[0], widths)
    assert decoded.kept.all()
    first = genome.first_population(7, np.random.RandomState(0))
    assert_array_equal(first[0], genome.encode())
    assert first.min() >= 0
    assert first.max() <= 1


def test_subtractive_clustering_finds_the_dense_places() -> None:
    X, y = make_blobs(90, centers=[[0, 0], [8, 8], [0, 8]], cluster_std=0.4, random_state=0)
    chosen = subtractive_centers(X, np.ones(90), 10)
    assert sorted(y[chosen]) == [0, 1, 2]
    for center in X[chosen]:
        assert np.linalg.norm(center - np.array([[0, 0], [8, 8], [0, 8]]), axis=1).min() < 0.4
    heavy = np.where(y == 2, 5.0, 1.0)
    assert y[subtractive_centers(X, heavy, 1)].tolist() == [2]


def test_rules_are_divided_among_the_classes() -> None:
    assert allot(10, np.array([1.0, 5.0, 3.0])).tolist() == [3, 4, 3]
    assert allot(3, np.ones(3)).tolist() == [1, 1, 1]


def test_weights_are_repetitions(iris: Any) -> None:
    """And neither the order of the rows nor rows without weight matter."""
    X, y = iris
    weight = np.random.default_rng(0).integers(0, 4, size=150)
    weighted = FuzzyRuleClassifier(**FAST).fit(X, y, sample_weight=weight)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(150), weight))
    repeated = FuzzyRuleClassifier(**FAST).fit(X.iloc[order], y[order])
    assert weighted.rules_ == repeated.rules_
    assert weighted.rules_ != FuzzyRuleClassifier(**FAST).fit(X, y).rules_


def test_bounds_are_kept() -> None:
    X, y = load_wine(return_X_y=True)
    model = FuzzyRuleClassifier(max_rules=4, max_antecedents=2, parsimony=0.0, **FAST).fit(X, y)
    assert 3 <= len(model.rules_) <= 4
    assert model.antecedents_.sum(axis=1).max() <= 2
    dear = FuzzyRuleClassifier(parsimony=0.05, **FAST).fit(X, y)
    cheap = FuzzyRuleClassifier(parsimony=0.0, **FAST).fit(X, y)
    assert dear.antecedents_.sum() < cheap.antecedents_.sum() / 2


def test_units_do_not_matter(iris: Any) -> None:
    """Powers of ten, which rounding does not notice."""
    X, y = iris
    model = FuzzyRuleClassifier(**FAST).fit(X, y)
    larger = FuzzyRuleClassifier(**FAST).fit(X * 1000.0, y)
    assert_allclose(larger.predict_proba(X * 1000.0), model.predict_proba(X), atol=0.02)


def test_features_that_do_not_vary_are_not_asked(iris: Any) -> None:
    X = np.column_stack([np.full(150, 7.3), iris[0]])
    model = FuzzyRuleClassifier(**FAST).fit(X, iris[1])
    assert not model.antecedents_[:, 0].any()
    with pytest.raises(ValueError, match="no feature that varies"):
        FuzzyRuleClassifier().fit(np.ones((6, 2)), [0, 1] * 3)


BAD = {
    "few rules": ({"max_rules": 2}, {}, "max_rules=2 is too few for 3 classes"),
    "terms": ({"terms": ["low"]}, {}, "at least 2 words"),
    "numbers as terms": ({"terms": [1, 2]}, {}, "at least 2 words"),
    "norm": ({"t_norm": "lukasiewicz"}, {}, "'t_norm'"),
    "one class": ({}, {"y": np.ones(150)}, "at least two classes"),
    "weight": ({}, {"sample_weight": np.linspace(-1, 1, 150)}, "sample_weight"),
    "no weight": ({}, {"sample_weight": np.zeros(150)}, "weight"),
}


@pytest.mark.parametrize(("params", "changes", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(params: Any, changes: Any, words: str, iris: Any) -> None:
    """With one sentence, and the model that was there before is untouched."""
    model = FuzzyRuleClassifier(**FAST).fit(*iris)
    before = model.predict_proba(iris[0])
    with pytest.raises(ValueError, match=words) as error:
        model.set_params(**params).fit(**{"X": iris[0], "y": iris[1]} | changes)
    assert "\n" not in str(error.value).strip()
    model.set_params(**FuzzyRuleClassifier().get_params())
    assert_array_equal(model.predict_proba(iris[0]), before)


def test_genetic_search_of_pymoo(iris: Any) -> None:
    pytest.importorskip("pymoo")
    params = FAST | {"search": "genetic"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FuzzyRuleClassifier(**params).fit(*iris)
    assert model.costs_.size == 16
    assert model.costs_[-1] < 0.9 * model.costs_[0]
    assert model.rules_ == FuzzyRuleClassifier(**params).fit(*iris).rules_
    assert model.rules_ != FuzzyRuleClassifier(**FAST).fit(*iris).rules_


def test_genetic_search_says_what_is_missing(iris: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "pymoo.core.problem", None)
    with pytest.raises(ImportError, match=r'pip install "mercer\[fuzzy\]".*differential'):
        FuzzyRuleClassifier(search="genetic").fit(*iris)


@pytest.mark.parametrize("loader", [load_iris, load_wine])
def test_few_rules_do_well(loader: Any) -> None:
    """On rows that were left out; the documents have the comparison with a forest."""
    X, y = loader(return_X_y=True)
    test = np.arange(len(y)) % 3 == 0
    model = FuzzyRuleClassifier(random_state=0).fit(X[~test], y[~test])
    assert model.score(X[test], y[test]) > 0.9
    assert len(model.rules_) <= 10


def test_many_rows_are_searched_in_part() -> None:
    """Weights are still those of all rows, and a small class is not lost."""
    X, y = make_blobs([1500, 1500, 60], centers=[[0, 0], [4, 4], [0, 9]], random_state=0)
    model = FuzzyRuleClassifier(search_rows=200, **FAST).fit(X, y)
    assert set(model.rule_classes_) == {0, 1, 2}
    assert model.score(X, y) > 0.95
    expected = slow_weights(model.firing(X), y, model.classes_)
    assert_allclose(model.rule_weights_, expected, atol=5.1e-4)


@pytest.mark.parametrize("vote", ["winner", "additive"])
def test_without_rules_the_largest_class_is_named(vote: str) -> None:
    """Where every rule costs more than it is worth, none is left."""
    X, y = make_blobs([30, 50], random_state=0)
    model = FuzzyRuleClassifier(parsimony=100.0, vote=vote, **FAST).fit(X, y)
    assert model.rules_ == []
    assert_allclose(model.predict_proba(X), np.tile([0.375, 0.625], (80, 1)))
    told = model.explain(X[0])
    assert told.prediction == 1
    assert "no rule fires" in str(told)
