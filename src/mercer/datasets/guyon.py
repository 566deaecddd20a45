"""Small examples of how features work together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ._labels import balanced_labels


class Case(NamedTuple):
    """Two normal classes with centres at plus and minus `centre` and a common covariance."""

    centre: tuple[float, float]
    correlation: float = 0.0


CASES = {
    "1a": Case((1.0, 1.0)),
    "1b": Case((0.0, np.sqrt(2.0))),
    "2a": Case((1.0, 1.0), 0.9),
    "2b": Case((1.0, 1.0), -0.9),
    "3a": Case((1.0, 0.0), 0.9),
}
"""The cases of normal classes; "3b", the chessboard, is not one of them."""

CLUMP = 0.3
"""Standard deviation of a clump of the chessboard."""


def make_guyon(case: str, n_samples: int = 200, *, random_state: Any = None) -> tuple[Any, Any]:
    """Draw one of the small examples that show what a feature is worth beside another.

    The classes are normal with centres at plus and minus c, variances 1 and a correlation:

    ====  =====================  ==============================================================
    case  classes                what it shows
    ====  =====================  ==============================================================
    "1a"  c = (1, 1), 0          two features that seem redundant are not
    "1b"  "1a" turned by 45°     their sum separates √2 times better, their difference not at all
    "2a"  c = (1, 1), 0.9        covariance along the line of centres: no gain by the second
    "2b"  c = (1, 1), -0.9       covariance across it: a large gain by the second
    "3a"  c = (1, 0), 0.9        a feature useless by itself helps the other
    "3b"  a chessboard (XOR)     two features useless by themselves separate together
    ====  =====================  ==============================================================

    Parameters
    ----------
    case : {"1a", "1b", "2a", "2b", "3a", "3b"}
        Number of the figure in the appendix of [2]_.
    n_samples : int, default=200
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        -1 or +1, half each.

    Notes
    -----
    The sources draw the examples but print no numbers; these are chosen to show the effect.

    References
    ----------
    .. [1] I. Guyon, A. Elisseeff, An introduction to variable and feature selection, JMLR 3, 2003.
    .. [2] K. Smets, thesis, University of Antwerp, 2006, appendix A.

    Examples
    --------
    >>> from mercer.datasets import make_guyon
    >>> X, y = make_guyon("3b", random_state=0)
    >>> float((np.sign(X[:, 0] * X[:, 1]) == y).mean())
    1.0
    """
    if case != "3b" and case not in CASES:
        raise ValueError(f"case must be one of {', '.join([*CASES, '3b'])}; got {case!r}.")
    rng = check_random_state(random_state)
    y = 2 * balanced_labels(n_samples, rng) - 1
    X = rng.normal(size=(n_samples, 2))
    if case == "3b":
        first = rng.choice([-1, 1], size=n_samples)
        return CLUMP * X + np.column_stack([first, y * first]), y
    centre, correlation = CASES[case]
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, 1]
    return X + y[:, None] * np.array(centre), y
