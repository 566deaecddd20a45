"""Outliers made up where there are none to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from mercer.spheres.svdd import SVDD

Floats = NDArray[np.float64]

REGIONS = ("box", "ball")


def artificial_outliers(
    X: Any, n_outliers: int, *, region: str = "box", margin: float = 0.1, random_state: Any = None
) -> Floats:
    r"""Draw points evenly from a region around the data.

    The share of them that a description accepts estimates its volume. In d dimensions a point of a
    ball of radius R is drawn as :math:`R\,u^{1/d}\,g / \lVert g \rVert` with u uniform and g
    normal, which takes the same time whatever d is; to draw from the box around the ball until a
    point falls inside would hardly ever end.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data.
    n_outliers : int
        Number of points.
    region : {"box", "ball"}, default="box"
        The smallest box with sides along the axes, or the smallest ball, that holds the data. In
        many dimensions most of the box lies in its corners, far away from any data.
    margin : float, default=0.1
        Share by which box and ball are made wider.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ndarray of shape (n_outliers, d)

    References
    ----------
    D. M. J. Tax, R. P. W. Duin, "Uniform object generation for optimizing one-class classifiers",
    Journal of Machine Learning Research 2 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.spheres import artificial_outliers
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> points = artificial_outliers(corners, 1000, region="ball", margin=0.0, random_state=0)
    >>> bool(np.linalg.norm(points - 0.5, axis=1).max() <= np.sqrt(0.5))
    True
    """
    if region not in REGIONS:
        raise ValueError(f"region must be 'box' or 'ball'; got {region!r}.")
    X = check_array(X, dtype=np.float64)
    random = check_random_state(random_state)
    n_features = X.shape[1]
    if region == "box":
        low, high = X.min(axis=0), X.max(axis=0)
        half = 0.5 * (1.0 + margin) * (high - low)
        return 0.5 * (low + high) + half * random.uniform(-1.0, 1.0, (n_outliers, n_features))
    ball = SVDD(kernel="linear", nu=0.0).fit(X)
    direction = random.normal(size=(n_outliers, n_features))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    share = random.uniform(size=(n_outliers, 1)) ** (1.0 / n_features)
    lengths = (1.0 + margin) * ball.radius_ * share
    return ball.center_ + direction * lengths
