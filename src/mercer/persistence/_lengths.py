"""Which arrays of our models must be equally long."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.persistence.errors import RefusalError

_VECTORS = ["support_ support_vectors_ dual_coef_:-1 support_kind_:-1 +n_support_"]
_COLUMNS = ["n_features_in_ support_ ranking_ order_ scales_"]
_LINEAR = ["n_features_in_ coef_:1", "coef_ intercept_"]
_RELEVANCE = [
    "mu_ alpha_ weight_output_ weight_vector_ sigma_ sigma_:1",
    "relevance_ relevance_vectors_ dual_coef_:-1",
    "dual_coef_ intercept_",
]

LENGTHS = {
    "SVC": [*_VECTORS, "intercept_ objective_ gap_ margin_"],
    "SVR": _VECTORS,
    "SVDD": _VECTORS,
    "OneClassSVM": _VECTORS,
    "NearestHypersphereClassifier": [*_VECTORS, "classes_ n_support_ radii_ _used_radii"],
    "KernelSums": ["points coefficients:1 +segments"],
    "Balls": ["vectors support coefficients +segments", "segments squared_norms", "diagonal rows"],
    "RVC": _RELEVANCE,
    "RVR": _RELEVANCE,
    "KernelPerceptron": ["support_ support_vectors_", "n_mistakes_ n_iter_"],
    "MistakeMemory": ["support support_vectors"],
    "History": ["rows signs times"],
    "PairSigmoids": ["A B"],
    "PlattClassifier": ["A_ B_"],
    "Monotone": ["decision level"],
    "AlphaLMS": _LINEAR,
    "LinearPerceptron": _LINEAR,
    "PseudoInverseClassifier": _LINEAR,
    "MinimumCostClassifier": ["costs_:1 classes_ training_priors_ priors_"],
    "FuzzyRuleClassifier": [
        "n_features_in_ centers_:1 widths_:1 antecedents_:1 term_ranges_:1",
        "centers_ widths_",
        "antecedents_ rule_weights_ rule_classes_",
        "classes_ rule_weights_:1 class_prior_",
    ],
    "KernelRFE": _COLUMNS,
    "KernelRFECV": _COLUMNS,
    "CorrelationFeatureSelector": ["n_features_in_ support_"],
    "ScaledFeatureSelector": ["n_features_in_ support_"],
    "ZeroNormSelector": _COLUMNS,
    "NumberColumns": ["n_features_in_ feature_names_in_ medians_"],
}
"""Attributes of equal length: of an axis after a colon, of a sum after a plus sign."""


def check_lengths(part: Any) -> None:
    """Raise RefusalError where two arrays of a model of ours disagree about how many there are."""
    for group in LENGTHS.get(type(part).__name__, []):
        found = {name: _length(part, name) for name in group.split()}
        known = {name: length for name, length in found.items() if length is not None}
        if len(set(known.values())) > 1:
            said = ", ".join(
                f"{name.strip('+').partition(':')[0]} {n}" for name, n in known.items()
            )
            raise RefusalError(f"lengths in a {type(part).__name__} disagree: {said}")

    if type(part).__name__ == "SVC" and "dual_coef_" in vars(part):
        _check_machines(part)


def _check_machines(svc: Any) -> None:
    """Check that there are as many two-class machines as the classes make."""
    k = _length(svc, "classes_") or 0
    pairs = bool(vars(svc).get("_one_vs_one")) or k == 2
    rows, machines = (k - 1, k * (k - 1) // 2) if pairs else (k, k)
    if _length(svc, "dual_coef_") not in (rows, None) or _length(svc, "intercept_") != machines:
        raise RefusalError(f"{k} classes do not agree with dual_coef_ or intercept_")


def check_libsvm(part: Any) -> None:
    """Check a fitted machine of scikit-learn, which hands its arrays to LIBSVM unseen."""
    state = vars(part)
    if not {"_n_support", "_dual_coef_"} <= set(state):
        return
    try:
        fits = _fits_libsvm(state)
    except (KeyError, TypeError, AttributeError, ValueError):
        fits = False
    if not fits:
        raise RefusalError(f"the parts of a {type(part).__name__} do not fit together")


def _fits_libsvm(state: dict[str, Any]) -> bool:
    support, counts, vectors = state["support_"], state["_n_support"], state["support_vectors_"]
    coefficients = state["_dual_coef_"]
    n, k = support.size, counts.size
    machines = k * (k - 1) // 2
    if state["kernel"] == "precomputed":
        known = 0 in vectors.shape or vectors.shape[0] == n
    else:
        known = vectors.shape == (n, state["n_features_in_"])
    return bool(
        known
        and sp.issparse(vectors) == sp.issparse(coefficients) == state["_sparse"]
        and (support.shape, counts.shape) == ((n,), (k,))
        and (not n or 0 <= support.min() <= support.max() < state["shape_fit_"][0])
        and coefficients.shape == (k - 1, n)
        and (not sp.issparse(coefficients) or coefficients.data.size == (k - 1) * n)
        and state["_intercept_"].shape == (machines,)
        and all(state[name].shape in ((0,), (machines,)) for name in ("_probA", "_probB"))
        and ("classes_" not in state or (counts.min() >= 0 and counts.sum() == n))
        and ("classes_" not in state or state["classes_"].shape == (k,))
    )


def _length(part: Any, name: str) -> int | None:
    attribute, _, axis = name.strip("+").partition(":")
    value = vars(part).get(attribute)
    if isinstance(value, int | np.integer):
        return int(value)
    if not (isinstance(value, np.ndarray) or sp.issparse(value)) or 0 in value.shape:
        return None  # a precomputed kernel has no vectors
    if name.startswith("+"):
        return int(value.sum())
    try:
        return int(value.shape[int(axis or 0)])
    except IndexError:
        raise RefusalError(f"{attribute} of a {type(part).__name__} has too few axes") from None
