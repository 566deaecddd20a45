"""Which features a machine listens to, from the derivatives of its kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._threads import holds_blas
from mercer.inspection.expansion import KernelExpansion, kernel_expansion
from mercer.kernels.blocks import row_blocks

Floats = NDArray[np.float64]


@holds_blas
def feature_sensitivity(model: Any, X: Any) -> Floats:
    r"""Tell how strongly the decision values of a machine react to each feature.

    .. math:: s_k = \sigma_k \, \sqrt{\frac{1}{n} \sum_{i=1}^n
              \Bigl(\frac{\partial f}{\partial x_k}(x_i)\Bigr)^2}, \qquad
              \frac{\partial f}{\partial x_k}(x)
              = \sum_j c_j \, \frac{\partial k(x, z_j)}{\partial x_k}

    with the support vectors :math:`z_j`, their coefficients :math:`c_j` and the standard deviation
    :math:`\sigma_k` of the feature in `X`: the root mean square change of f when the feature moves
    by one standard deviation, to first order. Nothing is permuted or fitted again, and the unit of
    a feature does not matter. For a linear kernel it is :math:`\sigma_k |w_k|`, the size of the
    weight on standardised data. Where several machines make up a model (many classes), the mean of
    the squares is also over the machines. Of balls (`SVDD`, `NearestHypersphereClassifier`) f is
    minus the squared distance to the centre.

    For independent normal features :math:`s_k^2` is an upper bound for the part of the variance of
    f in which feature k is involved, alone or together with others.

    Parameters
    ----------
    model : estimator
        A fitted machine of mercer: `SVC` and others with a kernel, but not a precomputed one. Of a
        pipeline give the last step, and `X` as the steps before transform it.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Where to look, for instance the training data.

    Returns
    -------
    ndarray of shape (n_features,)
        One value for each feature, in the order of ``model.feature_names_in_``, not negative; 0 for
        a feature that the machine does not see or that is constant in `X`.

    Notes
    -----
    Where a kernel has a kink (`mercer.kernels.Laplacian` at the support vectors) the derivative is
    the mean of both sides. Kernels that do not know their derivative use central differences.

    References
    ----------
    L. Hermes, J. M. Buhmann, "Feature selection for support vector machines", International
    Conference on Pattern Recognition (2000): gradients of the decision function as importance.

    I. M. Sobol', S. Kucherenko, "Derivative based global sensitivity measures and their link with
    global sensitivity indices", Mathematics and Computers in Simulation 79 (2009): the mean square
    of the derivative, and the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, feature_sensitivity
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> feature_sensitivity(SVC(C=10.0).fit(X, y), X).argsort()[:1:-1]
    array([3, 1])
    """
    check_is_fitted(model)
    expansion = kernel_expansion(model)
    X = validate_data(model, X, reset=False, accept_sparse="csr", dtype=np.float64, order="C")
    squares = _mean_squares(expansion, X)
    return _deviations(X) * np.sqrt(squares)


def _mean_squares(expansion: KernelExpansion, X: Any) -> Floats:
    """Return the mean square of the derivative in each feature, over rows and machines."""
    kernel, factor = expansion.kernel, expansion.diagonal_factor
    n, d = X.shape
    squares = np.zeros(d)
    for coefficients in expansion.coefficients:
        used = np.flatnonzero(coefficients)
        points = expansion.points[used]
        for rows in row_blocks(n, max(used.size, d)):
            gradient = kernel.contract_input_gradient(X[rows], points, coefficients[used])
            if factor:
                gradient += factor * kernel.diag_input_gradient(X[rows])
            squares += np.einsum("ik,ik->k", gradient, gradient)
    return squares / (n * len(expansion.coefficients))


def _deviations(X: Any) -> Floats:
    if sp.issparse(X):
        return np.sqrt(mean_variance_axis(X, axis=0)[1])
    return X.std(axis=0)
