"""Regression of many rows, on few features."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mercer._inputs import Silent, fit_context, given_weights, says_instead
from mercer._sklearn import Interval, StrOptions, validated_fit
from mercer.lowrank._machine import OF_ROWS, SAYS_INSTEAD, NystroemMachine
from mercer.lowrank.batches import GivenBatches
from mercer.lowrank.given import Given
from mercer.lowrank.targets import TubeTargets

Floats = NDArray[np.float64]


class NystroemSVR(RegressorMixin, NystroemMachine):
    r"""Support vector regression of many rows, on the features of a kernel of low rank.

    The kernel is seen through its values with some points, the landmarks, so that a row has as many
    features z(x) as there are landmarks (`LowRankKernel`). On these the machine is the same as
    `SVR`,

    .. math:: \min_{w, b} \tfrac12 \lVert w \rVert^2 + \sum_i C_i \, \ell\bigl(\max(0,
              |y_i - \langle w, z(x_i) \rangle - b| - \varepsilon)\bigr),

    with :math:`\ell(\xi) = \xi` or :math:`\xi^2/2`, solved as in `NystroemSVC`.

    Use it for any number of rows, also more than memory holds, where the function is smooth or the
    model has to be small. A fit goes through the rows about ten times, at a price of the rows times
    the square of the landmarks; a prediction costs as much as its landmarks.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, above 0.
    epsilon : float, default=0.1
        Half the width of the tube, within which deviations cost nothing; not negative.
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
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        How slack counts: as it is, or half its square.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of y.
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
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    landmarks_ : ndarray or sparse matrix of shape (n_landmarks, n_features)
    rank_ : int
        Number of features; less than the landmarks where these nearly depend on each other.
    dual_coef_ : ndarray of shape (1, n_landmarks)
        Coefficients of the kernel values with the landmarks.
    intercept_ : ndarray of shape (1,)
    approximation_error_ : ndarray of shape (2,)
        Mean and maximum of :math:`k(x, x) - \lVert z(x) \rVert^2` on a sample of the rows.
    objective_, gap_ : ndarray of shape (1,)
        Objective of the dual program (minimised), and largest violation of the optimality
        conditions over all rows.
    n_iter_ : int
        Steps.
    converged_ : bool
        Whether the gap is at most ``tol``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVR : The machine of the kernel itself.
    mercer.CellSVR : A machine for each part of the space.

    References
    ----------
    C. K. I. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 13
    (2001).

    K. Zhang, I. W. Tsang, J. T. Kwok, "Improved Nyström low-rank approximation and error analysis",
    ICML (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NystroemSVR
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(20_000, 2))
    >>> y = np.sin(X[:, 0]) * X[:, 1]
    >>> model = NystroemSVR(C=10.0, rank=60, random_state=0).fit(X[:15_000], y[:15_000])
    >>> model.score(X[15_000:], y[15_000:]) > 0.99
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NystroemMachine._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

    @says_instead(SAYS_INSTEAD)
    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        rank: int = 300,
        landmarks: Any = "kmeans",
        loss: str = "epsilon_insensitive",
        tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.rank = rank
        self.landmarks = landmarks
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Of float64 or float32; a memory map stays where it is.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C for each row. A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        NystroemSVR
        """
        X, y = validate_data(self, X, y, y_numeric=True, **OF_ROWS)
        targets = self._targets(y, given_weights(sample_weight, X))
        self._learn(Given(X, targets), check_random_state(self.random_state))
        return self

    @validated_fit(prefer_skip_nested_validation=True)
    def fit_batches(self, batches: Any) -> Self:
        """Fit the regression to rows that come in batches, again in each pass over them.

        The answer is that of `fit` on all rows, but for the sample from which landmarks are
        learned.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            Something that can be gone through several times: a list, `ArrowBatches`, or an object
            whose ``__iter__`` begins anew.

        Returns
        -------
        NystroemSVR
        """
        random = check_random_state(self.random_state)
        read, seen = self._surveyed(batches, random, targets=True)
        with Silent():
            self._learn(GivenBatches(read, self._targets, seen), random)
        self._keep_names(batches)
        return self

    def _targets(self, y: Any, weights: Floats | None) -> TubeTargets:
        return TubeTargets(y, weights, self.epsilon, self.C)

    def predict(self, X: Any) -> Floats:
        """Return f(x).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X).ravel()
