r"""How each machine becomes the one quadratic program: pure functions, with their derivations.

Notation: :math:`\phi_i` is row i in feature space, :math:`K_{ij} = \langle\phi_i, \phi_j\rangle`,
:math:`\alpha_i \ge 0` the multiplier of the constraint of row i, b the offset of the solution
(the multiplier of :math:`\sum\beta = \Delta`) and G its gradient :math:`K\beta + r\circ\beta + p`.
Setting the derivatives of the Lagrangian to zero and putting the result back gives every dual
below; all primal problems are convex (those of the balls after the substitution
:math:`\rho = R^2 - \|a\|^2`) and have a strictly feasible point or linear constraints only, so
that primal and dual have equal values.

Wherever a penalty C is taken it may be one number or one for each row. A row with ``C = 0`` plays
no part (it is fixed at zero), a row with ``C = inf`` allows no slack.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.problems.quadratic_program import QuadraticProgram

Vector = NDArray[np.float64]


def hinge_svc(y: ArrayLike, C: ArrayLike) -> QuadraticProgram:
    r"""Soft-margin classifier with linear slack (L1).

    .. math::

        \min_{w,b,\xi} \tfrac12\|w\|^2 + \sum_i C_i\xi_i, \quad
        y_i(\langle w,\phi_i\rangle + b) \ge 1 - \xi_i,\; \xi_i \ge 0

    :math:`w = \sum_i\alpha_i y_i\phi_i`, :math:`\sum\alpha_i y_i = 0`,
    :math:`0\le\alpha_i\le C_i`, and the dual is to maximise
    :math:`\sum\alpha_i - \tfrac12\|w\|^2`. With :math:`\beta_i = y_i\alpha_i`: p = -y, bounds
    [0, C] for y = +1 and [-C, 0] for y = -1, :math:`\Delta = 0`. The decision function is
    :math:`f(x) = \sum_j\beta_j k(x_j, x) + b`, and :math:`G_i + b = f(x_i) - y_i`. The value of
    the primal problem is minus the objective.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels +1 and -1.
    C : float or array-like of shape (n,)
        Penalty.

    Returns
    -------
    QuadraticProgram

    References
    ----------
    C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning 20 (1995).

    Examples
    --------
    >>> problem = hinge_svc([1, -1, 1], C=2.0)
    >>> problem.lower, problem.upper
    (array([ 0., -2.,  0.]), array([2., 0., 2.]))
    """
    y = _signs(y)
    penalty = _penalty(C, y.shape[0])
    return QuadraticProgram.known(-y, *_one_sided(y, penalty), 0.0, np.zeros_like(y))


def squared_hinge_svc(y: ArrayLike, C: ArrayLike) -> QuadraticProgram:
    r"""Soft-margin classifier with squared slack (L2).

    .. math::

        \min_{w,b,\xi} \tfrac12\|w\|^2 + \tfrac12\sum_i C_i\xi_i^2, \quad
        y_i(\langle w,\phi_i\rangle + b) \ge 1 - \xi_i

    :math:`C_i\xi_i = \alpha_i`, so the slack adds
    :math:`\tfrac12 C_i\xi_i^2 - \alpha_i\xi_i = -\tfrac12\alpha_i^2/C_i` to the dual: the hard
    margin on K + diag(1/C). p = -y, bounds [0, inf) and (-inf, 0], :math:`\Delta = 0`,
    r = 1/C. Here :math:`G_i + b = f(x_i) - y_i + \beta_i/C_i`.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels +1 and -1.
    C : float or array-like of shape (n,)
        Penalty.

    Returns
    -------
    QuadraticProgram

    Examples
    --------
    >>> squared_hinge_svc([1, -1, 1], C=2.0).ridge
    array([0.5, 0.5, 0.5])
    """
    y = _signs(y)
    ridge, room = _squared_slack(_penalty(C, y.shape[0]), 1.0)
    return QuadraticProgram(-y, *_one_sided(y, room), 0.0, ridge)


def hard_margin_svc(y: ArrayLike) -> QuadraticProgram:
    r"""Maximal-margin classifier, without slack.

    .. math::

        \min_{w,b} \tfrac12\|w\|^2, \quad y_i(\langle w,\phi_i\rangle + b) \ge 1

    The hinge with :math:`C = \infty`: p = -y, bounds [0, inf) and (-inf, 0],
    :math:`\Delta = 0`, r = 0. If no hyperplane separates the classes the program is unbounded.
    The margin is :math:`1/\|w\|`, where :math:`\|w\|^2 = \sum\alpha_i = -2\cdot` objective.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels +1 and -1.

    Returns
    -------
    QuadraticProgram

    Examples
    --------
    >>> hard_margin_svc([1, -1]).upper
    array([inf,  0.])
    """
    return hinge_svc(y, np.inf)


def one_class(n: int, nu: float, sample_weight: ArrayLike | None = None) -> QuadraticProgram:
    r"""The :math:`\nu` one-class machine.

    With weights :math:`s_i` and their sum W (n where there are none)

    .. math::

        \min_{w,\rho,\xi} \tfrac12\|w\|^2 - \rho + \frac{1}{\nu W}\sum_i s_i\xi_i, \quad
        \langle w,\phi_i\rangle \ge \rho - \xi_i,\; \xi_i \ge 0

    :math:`w = \sum\alpha_i\phi_i`, :math:`\sum\alpha_i = 1`,
    :math:`0\le\alpha_i\le s_i/(\nu W)`: p = 0, :math:`\Delta = 1`, r = 0. The bounds sum to
    :math:`1/\nu`, so the program is feasible for every :math:`0 < \nu \le 1`. A weight counts
    as that many repetitions of its row. :math:`\rho = -b`, so that
    :math:`f(x) = \sum_j\beta_j k(x_j, x) + b` as for the classifiers.

    Parameters
    ----------
    n : int
        Number of rows.
    nu : float
        Bound on the share of rows outside, 0 < nu <= 1.
    sample_weight : array-like of shape (n,) or None, default=None
        Non-negative weights, not all zero.

    Returns
    -------
    QuadraticProgram

    References
    ----------
    B. Schölkopf et al., "Estimating the support of a high-dimensional distribution", Neural
    Computation 13 (2001).

    Examples
    --------
    >>> one_class(4, nu=0.5).upper
    array([0.5, 0.5, 0.5, 0.5])
    """
    if not 0.0 < nu <= 1.0:
        raise ValueError(f"nu must lie in (0, 1], got {nu}.")
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"sample_weight must be {n} finite numbers, none of them negative.")
    if not weight.sum() > 0:
        raise ValueError("At least one sample weight must be positive.")
    zero = np.zeros(n)
    return QuadraticProgram.known(zero, zero, weight / (nu * weight.sum()), 1.0, zero)


def svdd(diagonal: ArrayLike, C: ArrayLike) -> QuadraticProgram:
    r"""Support vector data description: a small ball around most of the rows.

    .. math::

        \min_{a,R^2,\xi} R^2 + \sum_i C_i\xi_i, \quad
        \|\phi_i - a\|^2 \le R^2 + \xi_i,\; \xi_i \ge 0

    :math:`a = \sum\alpha_i\phi_i`, :math:`\sum\alpha_i = 1`, :math:`0\le\alpha_i\le C_i`, and
    the dual is to maximise :math:`\sum\alpha_i K_{ii} - \alpha^\top K\alpha`, twice our objective
    with the sign turned: :math:`p_i = -\tfrac12 K_{ii}`, :math:`\Delta = 1`, r = 0. Since
    :math:`\|\phi_i - a\|^2 = \beta^\top K\beta - 2 G_i`, the radius is
    :math:`R^2 = \beta^\top K\beta + 2b`. With :math:`C \ge 1` it is the smallest enclosing ball.
    :math:`\sum C_i \ge 1` is needed, and makes the unconstrained :math:`R^2` non-negative.

    Parameters
    ----------
    diagonal : array-like of shape (n,)
        The diagonal of the kernel matrix.
    C : float or array-like of shape (n,)
        Penalty.

    Returns
    -------
    QuadraticProgram

    References
    ----------
    D. M. J. Tax, R. P. W. Duin, "Support vector data description", Machine Learning 54 (2004).

    Examples
    --------
    >>> svdd([1.0, 4.0], C=1.0).p
    array([-0.5, -2. ])
    """
    diagonal = _diagonal(diagonal)
    return svdd_with_outliers(diagonal, np.ones_like(diagonal), C, 1.0)


def squared_svdd(diagonal: ArrayLike, C: ArrayLike, y: ArrayLike | None = None) -> QuadraticProgram:
    r"""Support vector data description with squared slack.

    .. math::

        \min_{a,R^2,\xi} R^2 + \sum_i C_i\xi_i^2, \quad \|\phi_i - a\|^2 \le R^2 + \xi_i

    :math:`2C_i\xi_i = \alpha_i`, so the slack adds
    :math:`C_i\xi_i^2 - \alpha_i\xi_i = -\alpha_i^2/(4C_i)` to the dual of the ball. Halved with
    the rest: :math:`p_i = -\tfrac12 K_{ii}`, bounds [0, inf), :math:`\Delta = 1`,
    :math:`r_i = 1/(4C_i)`. Again :math:`R^2 = \beta^\top K\beta + 2b` (K without the ridge) and
    :math:`\xi_i = 2 r_i\beta_i`. :math:`R^2` is a free variable here: for small C it is negative
    at the optimum, since all rows then take slack. Examples of what lies outside come in as in
    :func:`svdd_with_outliers`: the sign of their constraint turns, and their bounds are
    (-inf, 0].

    Parameters
    ----------
    diagonal : array-like of shape (n,)
        The diagonal of the kernel matrix.
    C : float or array-like of shape (n,)
        Penalty.
    y : array-like of shape (n,) or None, default=None
        +1 for targets, -1 for outliers; None means targets only.

    Returns
    -------
    QuadraticProgram

    Examples
    --------
    >>> squared_svdd([1.0, 4.0], C=0.5).ridge
    array([0.5, 0.5])
    """
    diagonal = _diagonal(diagonal)
    n = diagonal.shape[0]
    signs = np.ones(n) if y is None else _signs(y, n)
    ridge, room = _squared_slack(_penalty(C, n), 0.25)
    return QuadraticProgram(-0.5 * diagonal, *_one_sided(signs, room), 1.0, ridge)


def svdd_with_outliers(
    diagonal: ArrayLike, y: ArrayLike, C_target: ArrayLike, C_outlier: ArrayLike
) -> QuadraticProgram:
    r"""Support vector data description with examples of what lies outside.

    .. math::

        \min_{a,R^2,\xi} R^2 + \sum_i C_i\xi_i, \quad
        y_i\,(\|\phi_i - a\|^2 - R^2) \le \xi_i,\; \xi_i \ge 0

    with y = +1 for targets and -1 for outliers. The Lagrangian is stationary in a and in
    :math:`R^2` for :math:`a = \sum\beta_i\phi_i` and :math:`\sum\beta_i = 1`, where
    :math:`\beta_i = y_i\alpha_i`; the dual is that of the ball, with bounds
    :math:`[0, C_1]` for targets and :math:`[-C_2, 0]` for outliers. In :math:`a` and
    :math:`\rho = R^2 - \|a\|^2` the problem is convex with linear constraints, so its value is
    -2 times the objective, and :math:`R^2 = \beta^\top K\beta + 2b` as before.

    Parameters
    ----------
    diagonal : array-like of shape (n,)
        The diagonal of the kernel matrix.
    y : array-like of shape (n,)
        +1 for targets, -1 for outliers.
    C_target, C_outlier : float or array-like of shape (n,)
        Penalties; each is read only in the rows it concerns.

    Returns
    -------
    QuadraticProgram

    Examples
    --------
    >>> problem = svdd_with_outliers([1.0, 4.0, 9.0], [1, 1, -1], 0.5, 0.1)
    >>> problem.lower, problem.upper
    (array([ 0. ,  0. , -0.1]), array([0.5, 0.5, 0. ]))
    """
    diagonal = _diagonal(diagonal)
    n = diagonal.shape[0]
    y = _signs(y, n)
    is_target = y > 0
    penalty = np.where(is_target, _penalty(C_target, n), _penalty(C_outlier, n))
    total = penalty[is_target].sum()
    if not total >= 1.0 - 1e-12:
        raise ValueError(
            f"The penalties C of the target rows must sum to at least 1 (C >= 1/n where they are "
            f"equal), got a sum of {total:g}."
        )
    return QuadraticProgram(-0.5 * diagonal, *_one_sided(y, penalty), 1.0, np.zeros(n))


def enclosing_radius(diagonal: ArrayLike, ridge: ArrayLike = 0.0) -> QuadraticProgram:
    r"""The smallest ball around all rows, for the radius/margin bound.

    The ball lives in the feature space of the classifier, whose kernel is
    :math:`\tilde K = K + \operatorname{diag} r` (r = 1/C for squared slack, 0 for the hard
    margin):

    .. math::

        R^2 = \min_a \max_i \|\tilde\phi_i - a\|^2
            = \max_{\beta\ge 0,\,\sum\beta = 1}
              \sum_i\beta_i\tilde K_{ii} - \beta^\top\tilde K\beta

    so :math:`p_i = -\tfrac12(K_{ii} + r_i)`, bounds [0, inf), :math:`\Delta = 1`, and the ridge
    of the classifier. :math:`R^2 = -2\cdot` objective
    :math:`= \beta^\top\tilde K\beta + 2b`.

    Parameters
    ----------
    diagonal : array-like of shape (n,)
        The diagonal of the kernel matrix, without the ridge.
    ridge : float or array-like of shape (n,), default=0.0
        Addition to the diagonal.

    Returns
    -------
    QuadraticProgram

    References
    ----------
    O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee, "Choosing multiple parameters for support
    vector machines", Machine Learning 46 (2002).

    Examples
    --------
    >>> enclosing_radius([1.0, 4.0], ridge=0.5).p
    array([-0.75, -2.25])
    """
    diagonal = _diagonal(diagonal)
    zero = np.zeros_like(diagonal)
    full_ridge = zero + np.asarray(ridge, dtype=np.float64)
    return QuadraticProgram(-0.5 * (diagonal + full_ridge), zero, zero + np.inf, 1.0, full_ridge)


def epsilon_svr(target: ArrayLike, C: ArrayLike, epsilon: float) -> QuadraticProgram:
    r"""Regression with the :math:`\varepsilon`-insensitive loss, on the rows taken twice.

    .. math::

        \min_{w,b,\xi,\xi^*} \tfrac12\|w\|^2 + \sum_i C_i(\xi_i + \xi_i^*), \quad
        -\varepsilon - \xi_i^* \le t_i - f(x_i) \le \varepsilon + \xi_i

    with multipliers :math:`\alpha` of the right and :math:`\alpha^*` of the left inequality:
    :math:`w = \sum(\alpha_i - \alpha_i^*)\phi_i`, :math:`\sum(\alpha_i - \alpha_i^*) = 0`,
    minimise :math:`\tfrac12\|w\|^2 + \varepsilon\sum(\alpha_i + \alpha_i^*)
    - \sum t_i(\alpha_i - \alpha_i^*)`. Variables 1 to n are :math:`\alpha`, with
    :math:`p = \varepsilon - t` and bounds [0, C]; variables n + 1 to 2n are
    :math:`-\alpha^*`, with :math:`p = -\varepsilon - t` and bounds [-C, 0]. The matrix is
    [[K, K], [K, K]]; the coefficients of the rows are the sums of both halves, and b is the
    intercept.

    Parameters
    ----------
    target : array-like of shape (n,)
        Values to predict.
    C : float or array-like of shape (n,)
        Penalty.
    epsilon : float
        Half-width of the tube, not negative.

    Returns
    -------
    QuadraticProgram
        In 2n variables.

    References
    ----------
    A. J. Smola, B. Schölkopf, "A tutorial on support vector regression", Statistics and Computing
    14 (2004).

    Examples
    --------
    >>> epsilon_svr([1.0, 3.0], C=2.0, epsilon=0.5).p
    array([-0.5, -2.5, -1.5, -3.5])
    """
    p, sides, penalty = _tube(target, C, epsilon)
    return QuadraticProgram.known(p, *_one_sided(sides, penalty), 0.0, np.zeros_like(p))


def squared_epsilon_svr(target: ArrayLike, C: ArrayLike, epsilon: float) -> QuadraticProgram:
    r"""Regression with the squared :math:`\varepsilon`-insensitive loss, rows taken twice.

    As :func:`epsilon_svr` with penalty :math:`\tfrac12\sum_i C_i(\xi_i^2 + \xi_i^{*2})`: no upper
    bounds on the multipliers, and ridge 1/C in both halves, as for :func:`squared_hinge_svc`.
    At the optimum no row has both multipliers positive, since only one of its slacks can be.

    Parameters
    ----------
    target : array-like of shape (n,)
        Values to predict.
    C : float or array-like of shape (n,)
        Penalty.
    epsilon : float
        Half-width of the tube, not negative.

    Returns
    -------
    QuadraticProgram
        In 2n variables.

    Examples
    --------
    >>> squared_epsilon_svr([1.0], C=2.0, epsilon=0.5).ridge
    array([0.5, 0.5])
    """
    p, sides, penalty = _tube(target, C, epsilon)
    ridge, room = _squared_slack(penalty, 1.0)
    return QuadraticProgram(p, *_one_sided(sides, room), 0.0, ridge)


def _signs(y: ArrayLike, n: int | None = None) -> Vector:
    signs = np.asarray(y, dtype=np.float64)
    if signs.ndim != 1 or not (np.abs(signs) == 1.0).all():
        raise ValueError("The labels y must be a vector of +1 and -1.")
    if n is not None and signs.shape[0] != n:
        raise ValueError(f"There are {signs.shape[0]} labels for {n} rows.")
    return signs


def _penalty(C: ArrayLike, n: int) -> Vector:
    """Return C as one number for each row: none negative, and not zero for all."""
    penalty = np.asarray(C, dtype=np.float64)
    if penalty.ndim == 0 and not penalty > 0:
        raise ValueError(f"C must be positive, got {penalty}.")
    if penalty.ndim > 0 and penalty.shape != (n,):
        raise ValueError(f"C must be a number or {n} numbers, got an array of {penalty.shape}.")
    if np.isnan(penalty).any() or (penalty < 0).any():
        raise ValueError("C must not be negative or NaN in any row.")
    return np.full(n, float(penalty)) if penalty.ndim == 0 else penalty


def _diagonal(diagonal: ArrayLike) -> Vector:
    values = np.asarray(diagonal, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(
            "The diagonal of the kernel matrix must be a vector of finite numbers; where it is "
            "infinite, scale the features or choose another kernel."
        )
    return values


def _one_sided(signs: Vector, room: Vector) -> tuple[Vector, Vector]:
    """Return the bounds [0, room] where the sign is +1 and [-room, 0] where it is -1."""
    ends = signs * room
    return np.minimum(ends, 0.0), np.maximum(ends, 0.0)


def _squared_slack(penalty: Vector, factor: float) -> tuple[Vector, Vector]:
    """Return the ridge factor / C and the room of each row: endless, but none where C = 0.

    The ridge of a row without room plays no part; a positive one leaves the others' company whole.
    """
    used = penalty > 0
    ridge = np.divide(factor, penalty, out=np.full_like(penalty, factor), where=used)
    return ridge, np.where(used, np.inf, 0.0)


def _tube(target: ArrayLike, C: ArrayLike, epsilon: float) -> tuple[Vector, Vector, Vector]:
    """Return p, the sign of the variables and the penalty, for the rows taken twice."""
    t = np.asarray(target, dtype=np.float64)
    if t.ndim != 1 or not np.isfinite(t).all():
        raise ValueError("The target must be a vector of finite numbers.")
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be a finite number, not negative, got {epsilon}.")
    ones = np.ones_like(t)
    penalty = _penalty(C, t.shape[0])
    return (
        np.concatenate((epsilon - t, -epsilon - t)),
        np.concatenate((ones, -ones)),
        np.concatenate((penalty, penalty)),
    )
