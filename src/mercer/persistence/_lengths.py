"""Which arrays of our models must be equally long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.persistence.errors import RefusalError

_VECTORS = ["support_ support_vectors_ dual_coef_:-1 support_kind_:-1 +n_support_"]
_COLUMNS = ["n_features_in_ support_ ranking_ order_ scales_"]
_SCALER = ["n_features_in_ mean_ scale_ var_"]
_LINEAR = ["n_features_in_ coef_:1", "coef_ intercept_"]
_LOW_RANK = ["landmarks_ dual_coef_:1", "dual_coef_ intercept_ objective_ gap_"]
_RELEVANCE = [
    "mu_ alpha_ weight_output_ weight_vector_ sigma_ sigma_:1",
    "relevance_ relevance_vectors_ dual_coef_:-1",
    "dual_coef_ intercept_",
]

LENGTHS = {
    "SVC": [*_VECTORS, "intercept_ objective_ gap_ margin_", "classes_ _order_of_ties"],
    "SVR": _VECTORS,
    "CrammerSingerSVC": [
        "support_ support_vectors_ dual_coef_:1 +n_support_",
        "classes_ intercept_ dual_coef_ n_support_",
    ],
    "NystroemSVC": _LOW_RANK,
    "NystroemSVR": _LOW_RANK,
    "SVDD": _VECTORS,
    "OneClassSVM": _VECTORS,
    "NearestHypersphereClassifier": [*_VECTORS, "classes_ n_support_ radii_ _used_radii"],
    "KernelSums": ["points coefficients:1 +segments"],
    "Balls": ["vectors support coefficients +segments", "segments squared_norms", "diagonal rows"],
    "RVC": _RELEVANCE,
    "RVR": _RELEVANCE,
    "KernelPerceptron": [
        "support_ support_vectors_",
        "n_mistakes_ n_iter_ _memory.histories",
    ],
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
    "KernelSequentialSelector": ["n_features_in_ support_"],
    "MinimumRedundancySelector": ["n_features_in_ support_"],
    "ScaledFeatureSelector": ["n_features_in_ support_"],
    "ZeroNormSelector": _COLUMNS,
    "CommonScaler": _SCALER,
    "NumberColumns": ["n_features_in_ feature_names_in_ medians_"],
}
"""Attributes of equal length: of an axis after a colon, of a sum after a plus sign."""

OUTPUTS = {
    "NystroemSVC": "intercept_",
    "RVC": "intercept_",
    "KernelPerceptron": "n_mistakes_",
    "AlphaLMS": "intercept_",
    "LinearPerceptron": "intercept_",
    "PseudoInverseClassifier": "intercept_",
}
"""Attributes that have one entry for two classes, and otherwise one for each."""

SCALERS = {
    "StandardScaler": _SCALER,
    "MinMaxScaler": ["n_features_in_ min_ scale_ data_min_ data_max_ data_range_"],
    "MaxAbsScaler": ["n_features_in_ scale_ max_abs_"],
    "RobustScaler": ["n_features_in_ center_ scale_"],
}
"""The same of scikit-learn's scalers."""


class Facts:
    """What has been found out about arrays, so that one in many places is gone through once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], Any] = {}

    def of(self, value: Any, name: str, find: Callable[[Any], Any]) -> Any:
        """Return what is known under a name about an object that stays, or find it out."""
        key = (id(value), name)
        if key not in self._known:
            self._known[key] = find(value)
        return self._known[key]


def check_lengths(part: Any, facts: Facts) -> None:
    """Raise RefusalError where two arrays of a model disagree about how many there are."""
    ours = type(part).__module__.startswith("mercer.")
    for group in (LENGTHS if ours else SCALERS).get(type(part).__name__, []):
        found = {name: _length(part, name, facts) for name in group.split()}
        known = {name: length for name, length in found.items() if length is not None}
        if len(set(known.values())) > 1:
            said = ", ".join(
                f"{name.strip('+').partition(':')[0]} {n}" for name, n in known.items()
            )
            raise RefusalError(f"lengths in a {type(part).__name__} disagree: {said}")
    if type(part).__name__ in {"CommonScaler", *SCALERS}:
        _check_kinds(part)
    if ours and "classes_" in vars(part):
        _check_classes(part, facts)


def _check_kinds(scaler: Any) -> None:
    """Check that a scaler has numbers; they may be missing, as in its rows."""
    for name, value in vars(scaler).items():
        if isinstance(value, np.ndarray) and name in ("mean_", "scale_", "min_", "center_"):
            if value.dtype.kind != "f":
                raise RefusalError(f"{name} of a {type(scaler).__name__} holds no numbers")


def _check_classes(part: Any, facts: Facts) -> None:
    """Check that classes differ, and that there are as many machines as they make."""
    classes, kind = vars(part)["classes_"], type(part).__name__
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise RefusalError(f"the classes of a {kind} are no list of them")
    if facts.of(classes, "distinct", lambda found: len(set(found.tolist()))) != classes.size:
        raise RefusalError(f"two classes of a {kind} are the same")
    k = classes.size
    if kind == "SVC" and "dual_coef_" in vars(part):
        pairs = bool(vars(part).get("_one_vs_one")) or k == 2
        rows, machines = (k - 1, k * (k - 1) // 2) if pairs else (k, k)
        fits = _length(part, "dual_coef_", facts) in (rows, None)
        fits = fits and k > 1 and _length(part, "intercept_", facts) == machines
    else:
        outputs = _length(part, OUTPUTS.get(kind, ""), facts)
        fits = outputs is None or (k > 1 and outputs == (1 if k == 2 else k))
    if not fits:
        raise RefusalError(f"{k} classes do not agree with the machines of a {kind}")


def check_libsvm(part: Any, facts: Facts) -> None:
    """Check a fitted machine of scikit-learn, which hands its arrays to LIBSVM unseen."""
    state = vars(part)
    if not {"_n_support", "_dual_coef_"} <= set(state):
        return
    try:
        fits = _fits_libsvm(state, facts)
    except (KeyError, TypeError, AttributeError, ValueError):
        fits = False
    if not fits:
        raise RefusalError(f"the parts of a {type(part).__name__} do not fit together")


def _fits_libsvm(state: dict[str, Any], facts: Facts) -> bool:
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
        and (not n or 0 <= facts.of(support, "min", np.min))
        and (not n or facts.of(support, "max", np.max) < state["shape_fit_"][0])
        and coefficients.shape == (k - 1, n)
        and (not sp.issparse(coefficients) or coefficients.data.size == (k - 1) * n)
        and state["_intercept_"].shape == (machines,)
        and all(state[name].shape in ((0,), (machines,)) for name in ("_probA", "_probB"))
        and ("classes_" not in state or (counts.min() >= 0 and counts.sum() == n))
        and ("classes_" not in state or state["classes_"].shape == (k,))
    )


def _length(part: Any, name: str, facts: Facts) -> int | None:
    attribute, _, axis = name.strip("+").partition(":")
    owner, _, inner = attribute.rpartition(".")
    value: Any = getattr(vars(part).get(owner), inner, None) if owner else vars(part).get(inner)
    if isinstance(value, int | np.integer):
        return int(value)
    if owner and isinstance(value, list):
        return len(value)
    if not (isinstance(value, np.ndarray) or sp.issparse(value)):
        return None
    if value.ndim == 2 and not value.shape[0]:
        return None  # a precomputed kernel has no vectors
    if name.startswith("+"):
        return int(facts.of(value, "sum", np.sum))
    try:
        return int(value.shape[int(axis or 0)])
    except IndexError:
        raise RefusalError(f"{attribute} of a {type(part).__name__} has too few axes") from None
