"""Classification of many rows, in cells."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import classes_of, fit_context, given_weights
from mercer.cells._cells import OF_ROWS, CellMachine
from mercer.cells._given import OnlyClass
from mercer.svm import SVC

Floats = NDArray[np.float64]


class CellSVC(ClassifierMixin, CellMachine):
    r"""Support vector classifier for many rows: a machine for each part of the space.

    The rows are cut into cells around centres found by k-means, each row in the cell of its nearest
    centre and in those whose centre is nearly as near (see `Partition`). A machine is fitted in
    each cell. The decision value of a row is the mean of those of its cells,

    .. math:: f(x) = \sum_c w_c(x) f_c(x) \Big/ \sum_c w_c(x),

    with weights that fall to 0 where a cell ends, so that f is as continuous as theirs: of two
    classes it is, of more it counts duels won, which jump. Time and memory grow linearly with the
    rows, and each prediction needs the support vectors of one or two cells only.
    Up to some 20,000 rows there is a single cell, which is the machine itself. Probabilities come
    from ``PlattClassifier(CellSVC())``.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The machine of a cell; None is ``SVC()``. A search such as ``GradientSearch(SVC())`` chooses
        parameters in each cell, or in some for all (``tune_on``). What speaks of all rows
        (``gamma="scale"``, ``class_weight="balanced"``) means all of them, not those of a cell.
    cell_size : int or "auto", default="auto"
        Rows of a cell, about; those of its neighbours that it is given come on top. "auto" is what
        ``time_budget`` allows; without one a single cell up to 20,000 rows, then a sixteenth of the
        rows, 10,000 at most.
    overlap : float, default=0.3
        Cells beside its own that a row is given to, in the mean: time and memory grow by that, and
        the error falls.
    metric : {"gradients", "euclidean"}, default="gradients"
        In which distances the cells are cut. "gradients" are those of `gradient_directions`,
        learned from a machine of a part of the rows, so that cells are cut across what the decision
        depends on more than across noise; "euclidean" is that of the features, and the one in use
        for machines without a kernel expansion.
    blend : bool, default=True
        Whether rows near several cells get the mean of their machines, so that decision values are
        continuous; with False that of their own cell, which is faster and a little worse.
    tune_on : int or None, default=None
        Where ``estimator`` is a search: in how many cells, drawn at random, it looks for
        parameters; all machines then have the mean of what it found (of logarithms). None is a
        search in every cell.
    time_budget : float or None, default=None
        Seconds for which ``cell_size="auto"`` finds the largest cells, by two small fits. The clock
        decides then, so that the same seed need not give the same cells.
    n_jobs : int or None, default=None
        Cells that are worked on at a time; None or -1 is one for each processor. Other back ends of
        joblib are used where ``joblib.parallel_config`` names one.
    verbose : int, default=0
        Whether to print how many cells there are, and how many are done.
    random_state : int, RandomState or None, default=None
        Draws the rows that the cells are learned from.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    partition_ : Partition
        The cells.
    estimators_ : list
        The machine of each; their labels are positions in ``classes_``.
    n_cells_ : int
    cell_sizes_ : ndarray of shape (n_cells_,)
        Rows that each machine was fitted to.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVC : A single machine.
    mercer.PlattClassifier : Probabilities.

    References
    ----------
    P. Thomann, I. Blaschzyk, M. Meister, I. Steinwart, "Spatial decompositions for large scale
    SVMs", AISTATS (2017): cells by Voronoi partitions, a machine in each.

    S. Trivedi, J. Wang, S. Kpotufe, G. Shakhnarovich, "A consistent estimator of the expected
    gradient outerproduct", Uncertainty in Artificial Intelligence (2014): the metric.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mercer import SVC, CellSVC
    >>> X, y = make_classification(30_000, 5, n_clusters_per_class=1, random_state=0)
    >>> model = CellSVC(SVC(C=10.0), random_state=0).fit(X[:25_000], y[:25_000])
    >>> model.n_cells_ > 10
    True
    >>> model.score(X[25_000:], y[25_000:]) > 0.9
    True
    """

    _kind = "classifier"

    def _default(self) -> Any:
        return SVC()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Cut the rows into cells and fit a machine in each.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Of float64 or float32; a memory map stays where it is.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Handed to the machines; rows without weight are left out.

        Returns
        -------
        CellSVC
        """
        X, y = validate_data(self, X, y, ensure_min_samples=2, **OF_ROWS)
        check_classification_targets(y)
        weights = given_weights(sample_weight, X)
        classes, _ = classes_of(y if weights is None else y[weights > 0])
        # Of rows without weight any code will do.
        codes = np.searchsorted(classes, y).astype(np.int64)
        self._fit_cells(X, codes, weights, classes)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: f(x), positive for ``classes_[1]``. More: one value for each class, whose
            arg max is the prediction; a class that a cell does not have loses all its duels there.
        """
        check_is_fitted(self)
        n_classes = self.classes_.size
        values = self._values(X, self._scores, 1 if n_classes == 2 else n_classes)
        return values.ravel() if n_classes == 2 else values

    def predict(self, X: Any) -> Any:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(int)]
        return self.classes_[values.argmax(axis=1)]

    def _scores(self, cell: int, X: Any) -> Floats:
        """Return one value for each class of the whole, or of two classes one for both."""
        machine = self.estimators_[cell]
        present = machine.classes_
        n_classes = self.classes_.size
        if n_classes == 2 and present.size == 1:
            return np.full(X.shape[0], 2.0 * present[0] - 1.0)
        own = _class_values(machine, X, n_classes)
        if n_classes == 2:
            return own
        scores = np.zeros((X.shape[0], n_classes))
        scores[:, present] = own + (n_classes - present.size)
        return scores


def _class_values(machine: Any, X: Any, n_classes: int) -> Floats:
    """Return the values of a machine's classes, on the scale of duels won where there are many."""
    if isinstance(machine, OnlyClass):
        return np.ones((X.shape[0], 1))
    if hasattr(machine, "decision_function"):
        own = np.asarray(machine.decision_function(X))
    else:
        own = machine.predict_proba(X)
        own = own[:, 1] - own[:, 0] if n_classes == 2 else own
    if n_classes == 2 or own.ndim == 2:
        return own
    share = own / (3.0 * (np.abs(own) + 1.0))
    return np.stack([(own <= 0) - share, (own > 0) + share], axis=1)
