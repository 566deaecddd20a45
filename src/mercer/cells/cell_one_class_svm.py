"""One class of many rows, in cells."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import validate_data

from mercer._inputs import fit_context, given_weights
from mercer.cells._cells import OF_ROWS, CellMachine, rows_of
from mercer.spheres import OneClassSVM

Floats = NDArray[np.float64]

ROWS_OF_LEVEL = 20_000
"""Rows on which the rejected share is counted."""


def level_rows(n_rows: int) -> slice:
    """Return the rows from which `rejection_level` is told."""
    return slice(None, None, -(-n_rows // ROWS_OF_LEVEL))


def rejection_level(model: CellOneClassSVM, X: Any) -> float:
    """Return the value that as large a share of the rows is below as the machines reject.

    Parameters
    ----------
    model : CellOneClassSVM
        With its cells.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Rows that stand for all.
    """
    if model.n_cells_ == 1:
        return 0.0
    members, rejected = model.partition_.members(X), 0
    for cell, machine in enumerate(model.estimators_):
        rejected += (machine.decision_function(X[rows_of(members, cell)]) < 0).sum()
    values = model._mean_values(X, model._of_cell, 1)
    return float(np.quantile(values, rejected / members.nnz))


class CellOneClassSVM(OutlierMixin, CellMachine):
    r"""The region of one class of many rows: a region for each part of the space.

    As `CellSVC`: cells around centres, a machine in each, and the mean of the machines of a row's
    cells, with weights that make it continuous. A machine leaves outside mostly rows at its edge,
    which it shares with other cells that keep them; the mean is therefore moved by the level at
    which it rejects as large a share of the rows as the machines do.

    Use it from some hundred thousand rows on; below, one machine takes seconds. Time grows linearly
    with the rows, memory with the support vectors.

    Parameters
    ----------
    estimator : OneClassSVM, SVDD or None, default=None
        The machine of a cell; None is ``OneClassSVM()``. ``gamma="scale"`` means all rows, not
        those of a cell.
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
    offset_ : float
        What is taken from the scores; 0 with a single cell.
    partition_ : Partition
        The cells.
    estimators_ : list
        The machine of each.
    n_cells_ : int
    cell_sizes_ : ndarray of shape (n_cells_,)
        Rows that each machine was fitted to.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.OneClassSVM, mercer.SVDD : A single region.

    References
    ----------
    P. Thomann, I. Blaschzyk, M. Meister, I. Steinwart, "Spatial decompositions for large scale
    SVMs", AISTATS (2017): cells by Voronoi partitions, a machine in each.

    S. Trivedi, J. Wang, S. Kpotufe, G. Shakhnarovich, "A consistent estimator of the expected
    gradient outerproduct", Uncertainty in Artificial Intelligence (2014): the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import CellOneClassSVM, OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> model = CellOneClassSVM(OneClassSVM(nu=0.05), cell_size=500, random_state=0).fit(X)
    >>> bool(0.02 < (model.predict(X) < 0).mean() < 0.1)
    True
    >>> model.predict([[9.0, 9.0]])
    array([-1])
    """

    _kind = "outlier_detector"

    def _default(self) -> Any:
        return OneClassSVM()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cut the rows into cells and fit a machine in each.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Of float64 or float32; a memory map stays where it is.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Handed to the machines; rows without weight are left out.

        Returns
        -------
        CellOneClassSVM
        """
        X = validate_data(self, X, **OF_ROWS)
        fitted = copy(self)  # so that cells are not kept without their offset
        fitted._fit_cells(X, None, given_weights(sample_weight, X))
        fitted.offset_ = rejection_level(fitted, X[level_rows(X.shape[0])])
        self.__dict__.update(fitted.__dict__)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return how far rows are inside, at least 0 for inliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def score_samples(self, X: Any) -> Floats:
        """Return the mean of the decision values of each row's cells.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X, self._of_cell, 1).ravel()

    def _of_cell(self, cell: int, X: Any) -> Floats:
        return np.asarray(self.estimators_[cell].decision_function(X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
