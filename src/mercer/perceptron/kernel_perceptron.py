"""The kernel perceptron."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import (
    checked_data,
    checked_rows,
    class_codes,
    classes_of,
    fit_context,
    need_two_classes,
)
from mercer._sklearn import Interval, StrOptions
from mercer._warnings import warn
from mercer.gram import finite, gives_numbers, kernel_products, make_gram
from mercer.gram.pairwise import DENSE_LIMIT
from mercer.kernels import Kernel, Linear
from mercer.kernels.blocks import row_blocks
from mercer.machines import KernelMachine, warn_if_indefinite
from mercer.perceptron._learning import (
    DualLearner,
    KernelRows,
    Learner,
    PrimalLearner,
    run_epoch,
)
from mercer.perceptron._memory import History, MistakeMemory


class KernelPerceptron(ClassifierMixin, KernelMachine):
    r"""Perceptron in the feature space of a kernel: last, averaged or voted.

    Starting from :math:`w = 0` it visits the examples in turn and adds those that lie on the wrong
    side, :math:`w \leftarrow w + y_i \phi(x_i)` wherever :math:`y_i f(x_i) \le 0`, until an epoch
    passes without a mistake. In the dual form only the number of mistakes on each example is
    needed,

    .. math:: f(x) = \langle w, \phi(x) \rangle + b = \sum_i \alpha_i y_i \, k(x_i, x) + b,
              \qquad \alpha_i \leftarrow \alpha_i + 1,

    which tells how difficult an example is (`difficulty_`). The learning rate of the textbook
    changes nothing but the scale of f and is 1 here. The bias is the weight of a constant feature
    1, that is, the kernel becomes k + 1 and :math:`b = \sum_i \alpha_i y_i`.

    Three classifiers can be read from the sequence :math:`w_0, w_1, \dots` of a run, in which
    :math:`w_t` survives :math:`c_t` visits:

    - "last": the sign of :math:`f`, with the last w;
    - "averaged": the sign of :math:`\sum_t c_t f_t(x) / \sum_t c_t`;
    - "voted": the sign of :math:`\sum_t c_t \, \mathrm{sign} f_t(x) / \sum_t c_t`.

    The last two generalise better where the classes overlap. More than two classes are one machine
    for each class against the rest, and the largest decision value wins.

    Use it to teach, or where rows come one by one; `SVC` has fewer errors. An epoch costs a kernel
    value for each row and mistake.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel from
        `mercer.kernels`, a scikit-learn Gaussian-process kernel, or a function of X and Y.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Width of "rbf", "laplacian", "poly" and "sigmoid".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    variant : {"last", "averaged", "voted"}, default="last"
        Which classifier to read from the run. Setting another one on a fitted model needs no new
        fit.
    form : {"auto", "dual", "primal"}, default="auto"
        "dual" learns with kernel rows. "primal" learns the weights of the features and needs the
        linear kernel; both make the same mistakes. "auto" is "primal" for the linear kernel where
        there are fewer features than rows.
    fit_intercept : bool, default=True
        Whether there is a bias.
    max_iter : int, default=100
        Largest number of epochs.
    shuffle : bool, default=True
        Whether `fit` visits the rows in a new random order in each epoch.
    random_state : int, RandomState or None, default=None
        Seed of the orders.
    cache_size : float, default=200
        Megabytes for kernel rows while a fit lasts.
    n_jobs : int or None, default=None
        Number of threads for predictions; None or -1 uses all processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    kernel_ : Kernel
        The kernel with numbers in place of "scale"; without the constant of the bias.
    difficulty_ : ndarray of int of shape (n_samples,) or (n_samples, n_classes)
        :math:`\alpha_i`, the mistakes on each row of the last call of `fit` or `partial_fit`; for
        more than two classes a column for each machine.
    support_ : ndarray of shape (n_SV,)
        Rows with at least one mistake, counted over all calls of `partial_fit`.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_machines, n_SV)
        :math:`\alpha_i y_i`, or its mean over the run for "averaged". Not there for "voted".
    intercept_ : ndarray of shape (n_machines,)
        b. Not there for "voted".
    coef_ : ndarray of shape (n_machines, n_features)
        w, where the kernel is linear. Not there for "voted".
    n_mistakes_ : ndarray of shape (n_machines,)
        Mistakes in all.
    n_iter_ : ndarray of shape (n_machines,)
        Epochs, the last without mistakes included.
    converged_ : bool
        Whether the last epoch of every machine passed without a mistake.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVC : The boundary with the largest margin.
    mercer.discriminant.LinearPerceptron : The primal form.

    Notes
    -----
    **Novikoff's bound.** Write :math:`\tilde\phi(x) = (\phi(x), 1)` with a bias and
    :math:`\tilde\phi = \phi` without, :math:`R = \max_i \lVert \tilde\phi(x_i) \rVert`, so that
    :math:`R^2 = \max_i k(x_i, x_i) + 1` with a bias, and let some unit vector u separate the
    classes with margin :math:`\rho > 0`: :math:`y_i \langle u, \tilde\phi(x_i) \rangle \ge \rho`
    for all i. Every mistake adds :math:`y_i \tilde\phi(x_i)` to w. Therefore after t mistakes

    .. math:: \langle w_t, u \rangle \ge t \rho, \qquad
              \lVert w_t \rVert^2 \le t R^2,

    the second because :math:`\lVert w + y_i \tilde\phi(x_i) \rVert^2 = \lVert w \rVert^2 +
    2 y_i \langle w, \tilde\phi(x_i) \rangle + \lVert \tilde\phi(x_i) \rVert^2`, where the middle
    term is at most 0 on a mistake. With :math:`\langle w_t, u \rangle \le \lVert w_t \rVert` it
    follows that

    .. math:: t \le (R / \rho)^2,

    whatever the order of the rows. The :math:`\rho` of the bound belongs to the extended vectors.
    From the hard-margin machine ``SVC(C=inf)`` with its w and b, :math:`u = (w, b) /
    \sqrt{\lVert w \rVert^2 + b^2}` is one choice, so that

    .. math:: t \le \bigl(\max_i k(x_i, x_i) + 1\bigr) \bigl(\lVert w \rVert^2 + b^2\bigr).

    Each machine of a problem with many classes has its own bound.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, algorithms 1 to 4.

    Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm",
    Machine Learning 37 (1999): the averaged and the voted perceptron.

    A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the Mathematical Theory
    of Automata (1962).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPerceptron
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> y = ["equal", "equal", "different", "different"]
    >>> model = KernelPerceptron(kernel="poly", degree=2, coef0=1.0, gamma=1.0, shuffle=False)
    >>> model.fit(X, y).predict(X).tolist() == y, model.converged_
    (True, True)
    >>> model.difficulty_
    array([7, 4, 5, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, Kernel, callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [
            StrOptions({"scale", "auto", "median"}),
            Interval(Real, 0.0, None, closed="neither"),
            "array-like",
        ],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "variant": [StrOptions({"last", "averaged", "voted"})],
        "form": [StrOptions({"auto", "dual", "primal"})],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "cache_size": [Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        variant: str = "last",
        form: str = "auto",
        fit_intercept: bool = True,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: Any = None,
        cache_size: float = 200,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.variant = variant
        self.form = form
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.cache_size = cache_size
        self.n_jobs = n_jobs

    # ---- learning ---------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows again and again, until none is wrong or `max_iter` epochs are over.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        KernelPerceptron
            The fitted classifier.
        """
        X, y = checked_data(self, X, y, **self._data_format())
        check_classification_targets(y)
        self._check_square(X)
        classes, codes = classes_of(y)
        signs = _signs(codes, classes.size)
        memory = self._new_memory(X, len(signs))
        learners = self._learners(memory, X)
        histories = list(memory.histories)
        n_iter, errors = np.zeros(len(signs), dtype=np.int64), np.full(len(signs), -1)
        random = check_random_state(self.random_state)
        for _ in range(self.max_iter):
            order = random.permutation(codes.size) if self.shuffle else np.arange(codes.size)
            for m in np.flatnonzero(errors):
                mistakes = run_epoch(learners[m], signs[m], order)
                histories[m] = histories[m].after(order, mistakes, signs[m])
                n_iter[m], errors[m] = n_iter[m] + 1, mistakes.size
            if not errors.any():
                break
        self._store(classes, memory.extended(X, histories), X.shape[0], n_iter, errors)
        self._warn_unless_converged(errors)
        return self

    @available_if(lambda self: not self._is_pairwise())
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Visit some rows once, in the order given, and go on from what was learned before.

        One call on a new model is one epoch of `fit` with ``shuffle=False``. Widths such as
        "scale" are those of the rows of the first call. The support vectors are kept, so that the
        memory grows with the number of mistakes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur; needed in the first call.

        Returns
        -------
        KernelPerceptron
            The classifier itself.
        """
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        known = np.unique(classes) if first else self.classes_
        need_two_classes(known.size)
        if not first and classes is not None and not np.array_equal(np.unique(classes), known):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} is not the same as on the last call to "
                f"partial_fit or fit, {known.tolist()}."
            )
        X, y = checked_data(self, X, y, reset=first, **self._data_format())
        signs = _signs(class_codes(y, known), known.size)
        memory = self._new_memory(X, len(signs)) if first else self._memory
        order = np.arange(X.shape[0])
        mistakes = [
            run_epoch(learner, sign, order)
            for learner, sign in zip(self._learners(memory, X), signs)
        ]
        histories = [
            history.after(order, steps, sign, memory.n_seen)
            for history, steps, sign in zip(memory.histories, mistakes, signs)
        ]
        errors = np.array([steps.size for steps in mistakes])
        n_iter = np.ones(len(signs), dtype=np.int64)
        self._store(known, memory.extended(X, histories), X.shape[0], n_iter, errors)
        return self

    def _new_memory(self, X: Any, n_machines: int) -> MistakeMemory:
        kernel = self._make_kernel().resolve(X)
        histories = [History() for _ in range(n_machines)]
        return MistakeMemory(kernel, float(self.fit_intercept), histories, X[:0])

    def _learners(self, memory: MistakeMemory, X: Any) -> list[Learner]:
        """Return one learner for these rows a machine, which goes on from what was learned."""
        kernel, constant = memory.kernel, memory.constant
        coefficients = memory.expansion("last")
        biases = constant * coefficients.sum(axis=1)
        if self._is_primal(kernel, X):
            finite(kernel.diag(X))
            weights = np.asarray(coefficients @ memory.support_vectors)
            if sp.issparse(X) and X.shape[0] * X.shape[1] * 8 <= DENSE_LIMIT:
                X = X.toarray()  # single rows of a sparse matrix are slow to come by
            return [PrimalLearner(X, w, b, constant) for w, b in zip(weights, biases)]
        starts = np.zeros((len(coefficients), X.shape[0]))
        if memory.support.size:
            sums = kernel_products(kernel, X, memory.support_vectors, coefficients)
            starts = np.ascontiguousarray(sums[:, 0].T) + biases[:, None]
        budget = self.cache_size * 1e6
        gram = make_gram(kernel, X, memory=budget)
        finite(gram.diag())
        if memory.n_seen == 0:
            warn_if_indefinite(kernel, gram)
        rows = KernelRows(gram, budget)
        return [DualLearner(rows, start, constant) for start in starts]

    def _is_primal(self, kernel: Kernel, X: Any) -> bool:
        linear = isinstance(kernel, Linear)
        if self.form == "primal" and not linear:
            raise ValueError(
                f"form='primal' needs kernel='linear', since other kernels have no weights of "
                f"features; got {kernel!r}."
            )
        return self.form == "primal" or (self.form == "auto" and linear and X.shape[1] < X.shape[0])

    def _store(
        self, classes: Any, memory: MistakeMemory, n_rows: int, n_iter: Any, errors: Any
    ) -> None:
        """Set the fitted attributes, all at once and only after everything has worked."""
        self._memory = memory
        self.classes_ = classes
        self.kernel_ = memory.kernel
        self.support_ = memory.support
        self.support_vectors_ = memory.support_vectors
        self.difficulty_ = memory.difficulty(n_rows)
        self.n_mistakes_ = np.array([history.rows.size for history in memory.histories])
        self.n_iter_ = n_iter
        self.converged_ = not errors.any()

    def _warn_unless_converged(self, errors: Any) -> None:
        if self.converged_:
            return
        machines, mistakes = errors.size, f"mistake{'s' if errors.sum() != 1 else ''}"
        where = f" ({np.count_nonzero(errors)} of {machines} machines)" if machines > 1 else ""
        warn(
            f"The perceptron still made {errors.sum()} {mistakes}{where} in the last of "
            f"{self.max_iter} epochs: with this kernel the classes are not separable, or not "
            f"within max_iter={self.max_iter}. Raise max_iter, use a richer kernel, or a machine "
            "with a soft margin such as SVC; variant='averaged' suffers least.",
            ConvergenceWarning,
        )

    # ---- the model --------------------------------------------------------------------------

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors, one row a machine; not for the voted variant."""
        check_is_fitted(self)
        if self.variant == "voted":
            raise AttributeError(
                "dual_coef_ is not available for variant='voted', which is no single expansion."
            )
        return self._memory.expansion(self.variant)

    @property
    def intercept_(self) -> Any:
        """Bias of each machine; not for the voted variant."""
        return self.dual_coef_.sum(axis=1) * self._memory.constant

    @property
    def coef_(self) -> Any:
        """Weights of the features, one row a machine; only for a linear kernel."""
        self._check_linear()
        return np.asarray(self.dual_coef_ @ self.support_vectors_)

    @gives_numbers
    def decision_function(self, X: Any) -> Any:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for ``classes_[1]``. More: one value for each class, whose arg
            max is the prediction. The votes lie between -1 and 1.
        """
        check_is_fitted(self)
        X = checked_rows(self, X, **self._data_format())
        values = self._votes(X) if self.variant == "voted" else self._single_values(X)
        return values.ravel() if values.shape[1] == 1 else values

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
        codes = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]

    def _single_values(self, X: Any) -> Any:
        coefficients = self.dual_coef_
        biases = coefficients.sum(axis=1) * self._memory.constant
        if isinstance(self.kernel_, Linear):
            return np.asarray(X @ (coefficients @ self.support_vectors_).T) + biases
        if self.kernel_.is_pairwise:
            return self.kernel_(X)[:, self.support_] @ coefficients.T + biases
        sums = kernel_products(
            self.kernel_, X, self.support_vectors_, coefficients, n_threads=self._n_threads()
        )
        return sums[:, 0] + biases

    def _votes(self, X: Any) -> Any:
        """Return the sum of the votes of all w that a run went through, by their lifetimes."""
        memory = self._memory
        votes = np.zeros((X.shape[0], len(memory.histories)))
        longest = max(self.support_.size, *(history.rows.size for history in memory.histories))
        for rows in row_blocks(X.shape[0], longest):
            if self.kernel_.is_pairwise:
                K = self.kernel_(X[rows])[:, self.support_]
            else:
                K = self.kernel_(X[rows], self.support_vectors_)
            for m, history in enumerate(memory.histories):
                steps = (K[:, memory.places(history)] + memory.constant) * history.signs
                np.cumsum(steps, axis=1, out=steps)
                # Whole numbers up to the division, so that a tie is exactly 0.
                votes[rows, m] = np.sign(steps, out=steps) @ history.lifetimes() / history.visits
        return votes


def _signs(codes: Any, n_classes: int) -> list[Any]:
    """Return +1 and -1 for each machine: one for two classes, else one for each class."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == c, 1.0, -1.0) for c in positive]
