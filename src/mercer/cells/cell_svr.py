"""Regression on many rows, in cells."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from mercer._inputs import fit_context, given_weights
from mercer.cells._cells import OF_ROWS, CellMachine
from mercer.svm import SVR

Floats = NDArray[np.float64]


class CellSVR(RegressorMixin, CellMachine):
    r"""Support vector regression for many rows: a machine for each part of the space.

    As `CellSVC`: cells around centres, a machine in each, and the mean of the machines of a row's
    cells, with weights that make it continuous.

    Use it from some 50,000 rows on, where one `SVR` takes longer than you would wait, and the
    function is rough; `NystroemSVR` suits smooth ones. Time grows linearly with the rows, memory
    with the support vectors.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The machine of a cell; None is ``SVR()``. A search such as ``GradientSearch(SVR())`` chooses
        parameters in each cell, or in some for all (``tune_on``). ``gamma="scale"`` means all rows,
        not those of a cell.
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
        Whether rows near several cells get the mean of their machines, so that the function is
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
    mercer.SVR : A single machine.

    References
    ----------
    P. Thomann, I. Blaschzyk, M. Meister, I. Steinwart, "Spatial decompositions for large scale
    SVMs", AISTATS (2017): cells by Voronoi partitions, a machine in each.

    S. Trivedi, J. Wang, S. Kpotufe, G. Shakhnarovich, "A consistent estimator of the expected
    gradient outerproduct", Uncertainty in Artificial Intelligence (2014): the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR, CellSVR
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(5000, 2))
    >>> y = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1])
    >>> model = CellSVR(SVR(C=10.0, gamma=2.0), cell_size=500, random_state=0)
    >>> model = model.fit(X[:4000], y[:4000])
    >>> model.score(X[4000:], y[4000:]) > 0.95
    True
    """

    _kind = "regressor"

    def _default(self) -> Any:
        return SVR()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Cut the rows into cells and fit a machine in each.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Of float64 or float32; a memory map stays where it is.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Handed to the machines; rows without weight are left out.

        Returns
        -------
        CellSVR
        """
        X, y = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2, **OF_ROWS)
        self._fit_cells(X, y, given_weights(sample_weight, X))
        return self

    def predict(self, X: Any) -> Floats:
        """Return the predicted targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X, lambda cell, rows: self.estimators_[cell].predict(rows), 1).ravel()
