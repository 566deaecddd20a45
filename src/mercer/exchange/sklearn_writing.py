"""Our machines as scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.svm

from mercer._sklearn import set_parts_of_svm
from mercer.calibration import PlattClassifier
from mercer.exchange._dual import DualMachine, dual_machine_of
from mercer.exchange._searches import found_by
from mercer.exchange.sklearn_reading import CARRIED, SHARED

CLASSES = {
    "svc": sklearn.svm.SVC,
    "svr": sklearn.svm.SVR,
    "one_class": sklearn.svm.OneClassSVM,
}


def to_sklearn(model: Any) -> Any:
    """Return a fitted machine as one of scikit-learn's, which needs no mercer to predict.

    Parameters
    ----------
    model : SVC, SVR or OneClassSVM
        Fitted, or found by a search, with a kernel that scikit-learn has: linear, polynomial, RBF
        with one width, sigmoid or precomputed, and multiples of these. Many classes must be
        machines of pairs (``multi_class="ovo"``).

    Returns
    -------
    sklearn.svm.SVC, SVR or OneClassSVM
        Labels and decision values are the same. Losses and kernels that scikit-learn cannot fit
        count no more once they have become coefficients; fitted again it is its own machine with
        the parameters that both have.

    See Also
    --------
    from_sklearn : The way back, which tells where labels and values may differ.

    Examples
    --------
    >>> import mercer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ours = mercer.SVC(C=10.0, loss="squared_hinge").fit(X, y)
    >>> theirs = mercer.to_sklearn(ours)
    >>> type(theirs).__module__, bool((ours.predict(X) == theirs.predict(X)).all())
    ('sklearn.svm._classes', True)
    """
    model = found_by(model)
    if isinstance(model, PlattClassifier):
        raise TypeError(
            "scikit-learn's SVC does not predict the most probable class as PlattClassifier does; "
            "give its estimator_, or fit SVC(probability=True)."
        )
    machine = dual_machine_of(model, "A machine of scikit-learn")
    given = model.get_params(deep=False)
    parameters = machine.kernel.parameters()
    parameters |= {name: given[name] for name in SHARED | CARRIED[machine.kind] if name in given}
    sigmoids = (np.empty(0), np.empty(0))
    if machine.sigmoids is not None:
        sigmoids = (machine.sigmoids[0].copy(), machine.sigmoids[1].copy())
        parameters["probability"] = True
    theirs = CLASSES[machine.kind](**parameters)
    is_sparse = sp.issparse(machine.vectors)
    coefficients = np.ascontiguousarray(machine.coefficients)
    counts = machine.n_support if machine.classes is not None else np.repeat(machine.n_support, 2)
    n_rows = getattr(model, "shape_fit_", (int(machine.support.max(initial=0)) + 1,))[0]
    if machine.vectors is None:
        n_rows = machine.n_features
    fitted = {
        "support_": machine.support.astype(np.int32),
        "support_vectors_": _vectors(machine.vectors),
        "n_support_": counts.astype(np.int32),
        "dual_coef_": _with_zeros(coefficients) if is_sparse else coefficients,
        "intercept_": machine.intercepts.copy(),
        "n_iter_": _iterations(model, machine),
        "fit_status_": 0 if getattr(model, "converged_", True) else 1,
        "shape_fit_": (n_rows, machine.n_features),
        "n_features_in_": machine.n_features,
    }
    if machine.classes is not None:
        fitted |= {"classes_": machine.classes, "class_weight_": np.ones(machine.classes.size)}
    if machine.kind == "one_class":
        fitted["offset_"] = -machine.intercepts
    if hasattr(model, "feature_names_in_"):
        fitted["feature_names_in_"] = model.feature_names_in_
    gamma = 0.0 if machine.kernel.gamma is None else machine.kernel.gamma
    set_parts_of_svm(theirs, gamma=gamma, sigmoids=sigmoids, **fitted)
    return theirs


def _iterations(model: Any, machine: DualMachine) -> Any:
    """Return the iterations of each machine, or of the only one, in scikit-learn's types."""
    if not hasattr(model, "n_iter_"):  # it came from a file
        return np.zeros(machine.intercepts.size, np.int32) if machine.classes is not None else 0
    return model.n_iter_.astype(np.int32) if machine.classes is not None else model.n_iter_


def _vectors(vectors: Any) -> Any:
    """Return the support vectors as LIBSVM's loops inside scikit-learn take them."""
    if vectors is None:
        return np.empty((0, 0))
    if not sp.issparse(vectors):
        return np.ascontiguousarray(vectors)
    rows = sp.csr_matrix(vectors)
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    rows.sort_indices()
    return rows


def _with_zeros(matrix: Any) -> Any:
    """Return a sparse matrix that stores all its numbers, as those loops count on."""
    lines, columns = matrix.shape
    indices = np.tile(np.arange(columns, dtype=np.int32), lines)
    ends = np.arange(lines + 1, dtype=np.int32) * columns
    return sp.csr_matrix((matrix.ravel(), indices, ends), shape=matrix.shape)
