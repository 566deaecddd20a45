"""One class and two classes: the data and their reflection in the origin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

Floats = NDArray[np.float64]


def reflect(
    X: Any, y: Any = None, *, is_kernel_matrix: bool = False
) -> tuple[Floats, NDArray[np.int64]]:
    r"""Return the data together with their reflection in the origin, as two classes.

    The hyperplane :math:`\langle w, x \rangle = \rho` that `OneClassSVM` lays between X and the
    origin belongs to the hyperplane through the origin that separates
    :math:`(x_i, +1)` from :math:`(-x_i, -1)`: both have the same normal w. Without slack
    (:math:`\nu < 1/n`) the two-class machine is `SVC` with ``C=inf``. With slack it is `SVC` with
    :math:`C = 1/(2 \nu n \rho)`, where :math:`\rho` belongs to multipliers with sum 1: dividing the
    one-class problem

    .. math::

        \min \tfrac12 \lVert w \rVert^2 - \rho + \tfrac{1}{\nu n} \sum_i \xi_i, \quad
        \langle w, x_i \rangle \ge \rho - \xi_i

    by :math:`\rho^2` gives the soft margin of :math:`w/\rho` with slack :math:`\xi/\rho`, counted
    twice because each row occurs twice. Rows outside become margin errors, so that bounds for two
    classes, such as the share of support vectors, hold for one class too.

    The reflection also lets the one-class machine learn from outliers: a row that belongs outside
    is one whose reflection belongs inside. With labels :math:`y_i` its constraints become
    :math:`y_i \langle w, x_i \rangle \ge \rho - \xi_i`, those of the machine on the first n points
    returned, :math:`y_i x_i`.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n, n)
        The data; or their kernel matrix, to reflect in feature space.
    y : array-like of shape (n,) or None, default=None
        +1 for targets and -1 for outliers; None means targets only.
    is_kernel_matrix : bool, default=False
        Whether ``X`` is a kernel matrix K; the answer is then [[K, -K], [-K, K]], for
        ``kernel="precomputed"``.

    Returns
    -------
    points : ndarray of shape (2n, d) or (2n, 2n)
        First the data, outliers reflected, then the reflection of these.
    labels : ndarray of shape (2n,)
        +1 for the first half, -1 for the second.

    References
    ----------
    B. Schölkopf et al., "Estimating the support of a high-dimensional distribution", Neural
    Computation 13 (2001), proposition 2.

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, theorem 2.5 and, for outliers, section 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, OneClassSVM
    >>> from mercer.spheres import reflect
    >>> X = np.array([[1.0, 3.0], [2.0, 1.0], [4.0, 4.0]])
    >>> one = OneClassSVM(kernel="linear", nu=0.1).fit(X)
    >>> two = SVC(kernel="linear", C=np.inf).fit(*reflect(X))
    >>> (one.coef_ / one.offset_).round(4), two.coef_.round(4)
    (array([[0.4, 0.2]]), array([[0.4, 0.2]]))

    With an outlier, whose reflection is then among the rows of the one-class machine:

    >>> points, labels = reflect(X, [1, 1, -1])
    >>> points[:3]
    array([[ 1.,  3.],
           [ 2.,  1.],
           [-4., -4.]])
    """
    points = check_array(X, dtype=np.float64)
    if is_kernel_matrix and points.shape[0] != points.shape[1]:
        raise ValueError(
            f"A kernel matrix must be a square matrix; got {points.shape[0]} rows and "
            f"{points.shape[1]} columns."
        )
    if y is not None:
        signs = np.asarray(y, dtype=np.float64)
        if signs.shape != points.shape[:1] or not (np.abs(signs) == 1.0).all():
            raise ValueError(f"y must be {points.shape[0]} numbers, +1 or -1.")
        points = signs[:, None] * points * (signs if is_kernel_matrix else 1.0)
    labels = np.repeat([1, -1], points.shape[0])
    if is_kernel_matrix:
        return np.block([[points, -points], [-points, points]]), labels
    return np.vstack([points, -points]), labels
