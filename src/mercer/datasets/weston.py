"""The two artificial problems of Weston et al. for feature selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._labels import random_signs

NOISE = 20.0
"""Standard deviation of the features that mean nothing."""


def make_weston_linear(
    n_samples: int = 30, n_features: int = 50, *, random_state: Any = None
) -> tuple[Any, Any]:
    r"""Draw the linear problem: six features matter, and three of them repeat the others.

    With probability 0.7, :math:`x_i \sim y\,N(i, 1)` for i = 1, 2, 3 and :math:`N(0, 1)` for
    i = 4, 5, 6; otherwise :math:`N(0, 1)` for i = 1, 2, 3 and :math:`y\,N(i - 3, 1)` for
    i = 4, 5, 6. All other features are noise with standard deviation 20. Both labels are equally
    likely.

    Parameters
    ----------
    n_samples : int, default=30
    n_features : int, default=50
        At least 6.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        -1 or +1.

    References
    ----------
    .. [1] J. Weston et al., Feature selection for SVMs, NIPS 2000.
    .. [2] K. Smets, thesis, University of Antwerp, 2006, section 5.2.1.

    Examples
    --------
    >>> from mercer.datasets import make_weston_linear
    >>> X, y = make_weston_linear(1000, random_state=0)
    >>> (X[:, :6] * y[:, None]).mean(axis=0).round(1)
    array([0.7, 1.4, 2.1, 0.3, 0.6, 0.9])
    """
    _check_features(n_features, 6)
    rng = check_random_state(random_state)
    y = random_signs(n_samples, rng)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 6:] *= NOISE
    first = rng.uniform(size=n_samples) < 0.7
    X[first, :3] = y[first, None] * (X[first, :3] + [1, 2, 3])
    X[~first, 3:6] = y[~first, None] * (X[~first, 3:6] + [1, 2, 3])
    return X, y


def make_weston_nonlinear(
    n_samples: int = 30, n_features: int = 50, *, random_state: Any = None
) -> tuple[Any, Any]:
    r"""Draw the non-linear problem: two features matter, and only together.

    :math:`(x_1, x_2) \sim N(\mu, I)` with :math:`\mu` one of (-3/4, -3), (3/4, 3) for y = -1, and
    one of (3, -3), (-3, 3) for y = +1, with equal chance. All other features are noise with
    standard deviation 20. Both labels are equally likely.

    Parameters
    ----------
    n_samples : int, default=30
    n_features : int, default=50
        At least 2.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        -1 or +1.

    Notes
    -----
    [2]_ gives the noise for i = 7 to 50; it is meant for i = 3 to 50, and N(0, 20) there names the
    standard deviation.

    References
    ----------
    .. [1] J. Weston et al., Feature selection for SVMs, NIPS 2000.
    .. [2] K. Smets, thesis, University of Antwerp, 2006, section 5.2.1.

    Examples
    --------
    >>> from mercer.datasets import make_weston_nonlinear
    >>> X, y = make_weston_nonlinear(1000, random_state=0)
    >>> bool((X[y == 1, 0] * X[y == 1, 1]).mean() < -8)
    True
    """
    _check_features(n_features, 2)
    rng = check_random_state(random_state)
    y = random_signs(n_samples, rng)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 2:] *= NOISE
    centre = np.where(y[:, None] < 0, [-0.75, -3.0], [3.0, -3.0])
    X[:, :2] += centre * rng.choice([-1, 1], size=(n_samples, 1))
    return X, y


def _check_features(n_features: int, least: int) -> None:
    if n_features < least:
        raise ValueError(f"n_features must be at least {least}; got {n_features}.")
