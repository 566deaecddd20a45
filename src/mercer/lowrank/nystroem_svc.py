"""Classification of many rows, on few features."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mercer._inputs import (
    Silent,
    classes_of,
    fit_context,
    given_weights,
    says_instead,
)
from mercer._sklearn import StrOptions, validated_fit
from mercer.lowrank._machine import OF_ROWS, SAYS_INSTEAD, NystroemMachine
from mercer.lowrank.batches import GivenBatches
from mercer.lowrank.given import Given
from mercer.lowrank.targets import ClassTargets, codes_of
from mercer.machines import class_factors

Floats = NDArray[np.float64]


class NystroemSVC(ClassifierMixin, NystroemMachine):
    r"""Support vector classifier for many rows, on the features of a kernel of low rank.

    The kernel is seen through its values with some points, the landmarks, so that a row has as many
    features z(x) as there are landmarks (`LowRankKernel`). On these the machine is the same as
    `SVC`,

    .. math:: \min_{w, b} \tfrac12 \lVert w \rVert^2
              + \sum_i C_i \, \ell\bigl(1 - y_i (\langle w, z(x_i) \rangle + b)\bigr),

    with :math:`\ell(u) = \max(0, u)` or half its square, solved to the same optimality conditions.
    Newton's method follows the loss as ever less of its kink is rounded, first on a sample of the
    rows; the rows near the margin are then solved for exactly. A pass takes as many operations as
    rows times landmarks, and the second derivatives landmarks squared for each row near the margin.
    Of the rows only sums are kept, so that memory grows with the landmarks and not with the rows.
    Of more than two classes each has a machine against all others, which share their passes.

    Low rank suits smooth boundaries. Where the error falls as ``rank`` grows, `CellSVC` or `SVC` is
    the better choice.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, above 0.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", a kernel from `mercer.kernels`, a scikit-learn
        Gaussian-process kernel, or a function of X and Y; not "precomputed".
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Width of "rbf", "laplacian" and "poly". "scale" is one over the number of features times the
        (weighted) variance of X, known from a sample where there are many rows.
    coef0 : float, default=0.0
        Constant of "poly".
    rank : int, default=300
        Number of landmarks. Where fewer rows are different, these are the landmarks, and the
        machine is that of the kernel itself.
    landmarks : {"kmeans", "leverage", "uniform"} or array-like, default="kmeans"
        Which points, see `choose_landmarks`, or the points themselves.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        How slack counts: as it is, or half its square.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for the classes.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    max_iter : int, default=-1
        Limit of Newton steps; -1 means none.
    time_limit : float or None, default=None
        Seconds after which no further step is begun.
    n_jobs : int or None, default=None
        Number of threads; None or -1 uses all processors.
    verbose : int, default=0
        Whether to print a line for each pass.
    random_state : int, RandomState or None, default=None
        Draws the rows from which landmarks and a first hyperplane are learned.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    landmarks_ : ndarray or sparse matrix of shape (n_landmarks, n_features)
    rank_ : int
        Number of features; less than the landmarks where these nearly depend on each other.
    dual_coef_ : ndarray of shape (n_machines, n_landmarks)
        Coefficients of the kernel values with the landmarks.
    intercept_ : ndarray of shape (n_machines,)
    approximation_error_ : ndarray of shape (2,)
        Mean and maximum of :math:`k(x, x) - \lVert z(x) \rVert^2` on a sample of the rows.
    objective_, gap_ : ndarray of shape (n_machines,)
        Objective of the dual program (minimised), and largest violation of the optimality
        conditions over all rows.
    n_iter_ : int
        Steps of the machine that took most.
    converged_ : bool
        Whether all gaps are at most ``tol``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVC : The machine of the kernel itself.
    mercer.CellSVC : A machine for each part of the space.

    References
    ----------
    C. K. I. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 13
    (2001).

    K. Zhang, I. W. Tsang, J. T. Kwok, "Improved Nyström low-rank approximation and error analysis",
    ICML (2008).

    O. Chapelle, "Training a support vector machine in the primal", Neural Computation 19 (2007).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import NystroemSVC
    >>> X, y = make_moons(20_000, noise=0.2, random_state=0)
    >>> model = NystroemSVC(rank=50, random_state=0).fit(X[:15_000], y[:15_000])
    >>> model.score(X[15_000:], y[15_000:]) > 0.96
    True
    >>> model.converged_, model.dual_coef_.shape
    (True, (1, 50))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NystroemMachine._parameter_constraints,
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    @says_instead(SAYS_INSTEAD)
    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        rank: int = 300,
        landmarks: Any = "kmeans",
        loss: str = "hinge",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.rank = rank
        self.landmarks = landmarks
        self.loss = loss
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machines.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Of float64 or float32; a memory map stays where it is.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C for each row. A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        NystroemSVC
        """
        X, y = validate_data(self, X, y, **OF_ROWS)
        check_classification_targets(y)
        weights = given_weights(sample_weight, X)
        classes, codes = classes_of(y if weights is None else y[weights > 0])
        own = None if weights is None else weights[weights > 0]
        prices = self._prices(classes, np.bincount(codes, weights=own))
        targets = ClassTargets(codes_of(classes, y), weights, prices)
        self._learn(Given(X, targets), check_random_state(self.random_state))
        self.classes_ = classes
        return self

    @validated_fit(prefer_skip_nested_validation=True)
    def fit_batches(self, batches: Any) -> Self:
        """Fit the machines to rows that come in batches, again in each pass over them.

        The answer is that of `fit` on all rows, but for the sample from which landmarks are
        learned.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            Something that can be gone through several times: a list, `ArrowBatches`, or an object
            whose ``__iter__`` begins anew.

        Returns
        -------
        NystroemSVC
        """
        random = check_random_state(self.random_state)
        read, seen = self._surveyed(batches, random, targets=False)
        check_classification_targets(seen.y)
        classes, places = classes_of(np.array(list(seen.labels)))
        counts = np.empty(classes.size)
        counts[places] = list(seen.labels.values())
        prices = self._prices(classes, counts)
        given = GivenBatches(
            read, lambda y, weights: ClassTargets(codes_of(classes, y), weights, prices), seen
        )
        with Silent():
            self._learn(given, random)
        self._keep_names(batches)
        self.classes_ = classes
        return self

    def _prices(self, classes: Any, counts: Any) -> Floats:
        """Return the price of a row of weight 1 of each class."""
        every, weights = np.arange(classes.size), np.asarray(counts, dtype=np.float64)
        return self.C * class_factors(self.class_weight, classes, every, weights)

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: f(x), positive for ``classes_[1]``. More: f(x) of the machine of each class
            against all others, whose arg max is the prediction.
        """
        values = self._values(X)
        return values.ravel() if self.classes_.size == 2 else values

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
