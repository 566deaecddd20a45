"""Functions that promise evidence and do not bring it: a search that ends all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_moons

from mercer.kernels import RBF
from mercer.relevance import _fast
from mercer.relevance._basis import kernel_basis
from mercer.relevance._likelihood import Bernoulli, Gaussian
from mercer.relevance._model import Fit, SparseModel, first_model
from mercer.relevance._scores import Scorer

X, Y = make_moons(80, noise=0.2, random_state=0)
BASIS = kernel_basis(RBF(2.0), X, X, constant=True, memory=1e6)


def search_of(likelihood: Any, tol: float = 1e-2) -> _fast.BasisSearch:
    return _fast.BasisSearch(Fit(first_model(likelihood, BASIS)), Scorer(BASIS), tol, np.inf)


@pytest.mark.parametrize("normal", [False, True])
def test_a_search_gives_up(monkeypatch: pytest.MonkeyPatch, normal: bool) -> None:
    """Twenty functions, those of classes with nine precisions each: not all eighty."""
    tried: list[tuple[int, float]] = []

    def refuse(self: Any, basis: Any, index: int, output: int, alpha: float, weight: float) -> Any:
        tried.append((index, alpha * weight))
        return self

    monkeypatch.setattr(SparseModel, "with_function", refuse)
    signs = 2.0 * Y - 1.0
    likelihood = Gaussian(signs, np.ones(80), 1.0) if normal else Bernoulli(signs, np.ones(80))
    search = search_of(likelihood)
    search.climb(1000)
    assert search.fit.converged
    assert search.fit.gain_left > search.tol  # more is promised
    assert len({index for index, _ in tried}) == 20
    assert len(tried) == (20 if normal else 180)
    # The precision rises as the weight falls.
    assert all(np.ptp([p for i, p in tried if i == index]) < 1e-9 for index, _ in tried)


@pytest.mark.parametrize(("rise", "kept"), [(0.5, True), (2.0, False)])
def test_what_was_refused_waits_for_a_change(rise: float, kept: bool) -> None:
    """Less than the tolerance is none."""
    search = search_of(Bernoulli(2.0 * Y - 1.0, np.ones(80)))
    scores = search.scorer.score(search.fit.model)
    best = int(scores.gains().argmax())
    larger = search.fit.model.with_function(BASIS, best, 0, *scores.start(0, best))
    gain = larger.log_evidence - search.fit.model.log_evidence
    search.tol = gain / rise
    search.refused, search.refused_at = {(0, 3)}, search.fit.model.log_evidence
    assert search._try(0, best, *scores.start(0, best))
    assert search.refused == ({(0, 3)} if kept else set())
