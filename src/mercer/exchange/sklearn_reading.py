"""Machines that scikit-learn has fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.svm
from sklearn.utils.validation import check_is_fitted

from mercer._sklearn import parts_of_svm, take_rows
from mercer.exchange._dual import DualMachine, PlainKernel, estimator_of

KINDS = {
    sklearn.svm.SVC: "svc",
    sklearn.svm.NuSVC: "svc",
    sklearn.svm.SVR: "svr",
    sklearn.svm.NuSVR: "svr",
    sklearn.svm.OneClassSVM: "one_class",
}
CARRIED = {
    "svc": {"C", "class_weight", "decision_function_shape", "break_ties", "random_state"},
    "svr": {"C", "epsilon"},
    "one_class": {"nu"},
}
SHARED = {"tol", "shrinking", "cache_size", "max_iter", "verbose"}


def from_sklearn(model: Any) -> Any:
    """Return a machine that scikit-learn has fitted as one of ours, without fitting it again.

    Parameters
    ----------
    model : sklearn.svm.SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted.

    Returns
    -------
    SVC, SVR or OneClassSVM
        Labels and decision values are the same, and so are the parameters that both have; ``gamma``
        is a number. Like a machine from a file (`from_libsvm`) it lacks what only a fit finds out,
        such as ``gap_``.

    See Also
    --------
    to_sklearn : The way back.

    Notes
    -----
    Labels differ where a decision value is exactly 0, and in ties of votes the values of shape
    "ovr" do, since ours never contradict `predict`. Probabilities differ in the third digit:
    LIBSVM's iteration ends early.

    Examples
    --------
    >>> import mercer
    >>> import sklearn.svm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = sklearn.svm.SVC(C=10.0).fit(X, y)
    >>> ours = mercer.from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    """
    kind = KINDS.get(type(model))
    if kind is None:
        raise TypeError(
            "from_sklearn takes sklearn.svm.SVC, NuSVC, SVR, NuSVR and OneClassSVM (of a pipeline "
            f"give the last step); got {type(model).__module__}.{type(model).__name__}."
        )
    check_is_fitted(model)
    parts, support, named = parts_of_svm(model), model.support_, isinstance(model.kernel, str)
    A, B = parts["sigmoids"]
    vectors = model.support_vectors_
    if not named:
        vectors = take_rows(parts["points"], support)
    n_features = model.n_features_in_ if named else np.shape(vectors)[1]
    name = model.kernel if named else "linear"  # of a function there is only itself, see below
    kernel = PlainKernel.of(name, parts["gamma"], model.coef0, model.degree)
    machine = DualMachine(
        kind,
        kernel,
        None if model.kernel == "precomputed" else vectors,
        np.asarray(support, dtype=np.int64),
        np.asarray(model.n_support_, dtype=np.int64),
        np.array(parts["coefficients"]),
        np.array(parts["intercepts"]),
        int(n_features),
        getattr(model, "classes_", None),
        None,
        np.stack([A, B]) if kind == "svc" and A.size else None,
    )
    given = model.get_params(deep=False)
    carried = {name: given[name] for name in SHARED | CARRIED[kind] if name in given}
    if not named:
        carried["kernel"] = model.kernel
    if machine.sigmoids is not None:
        carried["probability"] = True
    ours = estimator_of(machine, **carried)
    for name in ("shape_fit_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(ours, name, getattr(model, name))
    return ours
