"""The geometry of a margin: how wide it is, and where points lie."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mercer._inputs import class_codes

Floats = NDArray[np.float64]


class MarginGeometry:
    """Distances and margins of the points of a fitted classifier."""

    classes_: Any
    margin_: Any
    _one_vs_one: bool
    _machine_values: Any

    @property
    def margin_width_(self) -> Any:
        r"""Width of the margin in feature space, :math:`2/\lVert w \rVert`, of each machine."""
        check_is_fitted(self)
        return 2.0 * self.margin_

    def distance(self, X: Any) -> Any:
        r"""Return the signed distances of points to the boundary, in feature space.

        .. math:: d(x) = \frac{f(x)}{\lVert w \rVert}

        A point of distance :math:`\pm 1 / \lVert w \rVert`, half the width of the margin, lies on
        its edge.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_machines)
            Two classes: positive on the side of ``classes_[1]``. More: a column for each machine,
            one against one positive for the first class of the pair.

        References
        ----------
        A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, section 2.2.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import SVC
        >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
        >>> model = SVC(kernel="linear", C=np.inf).fit(X, [0, 1])
        >>> model.margin_width_.round(3), model.distance(X).round(3)
        (array([5.]), array([-2.5,  2.5]))
        """
        values = self._machine_values(X) * self.margin_
        return values.ravel() if values.shape[1] == 1 else values

    def margins(self, X: Any, y: Any) -> Any:
        r"""Return the functional margin of each row, which is above 0 where the row is on its side.

        For two classes with labels :math:`\pm 1` it is :math:`y f(x)`: at least 1 outside the
        margin, and :math:`1 - \xi` for slack :math:`\xi`. For more classes there is one value a row
        all the same:

        - one against one: the least :math:`y f(x)` of the machines in which the class of the row
          takes part. Where it is above 0 the class wins all its duels and is predicted;
        - one against the rest: :math:`f_y(x) - \max_{c \ne y} f_c(x)`, above 0 where the class is
          predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.
        y : array-like of shape (n_samples,)
            Labels, all of them in ``classes_``.

        Returns
        -------
        ndarray of shape (n_samples,)

        References
        ----------
        A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, equation (2.5).

        K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector
        machines", Journal of Machine Learning Research 2 (2001).

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import SVC
        >>> X, y = np.array([[-1.0], [1.0]]), np.array(["left", "right"])
        >>> model = SVC(kernel="linear", C=np.inf).fit(X, y)
        >>> model.margins([[-3.0], [0.5], [0.5]], ["left", "left", "right"]).round(3)
        array([ 3. , -0.5,  0.5])
        """
        values = self._machine_values(X)
        codes = class_codes(y, self.classes_)
        check_consistent_length(values, codes)
        if values.shape[1] == 1:
            return np.where(codes == 1, 1.0, -1.0) * values.ravel()
        if self._one_vs_one:
            return _least_duel(values, codes, self.classes_.size)
        rows = np.arange(codes.size)
        own = values[rows, codes]
        values[rows, codes] = -np.inf
        return own - values.max(axis=1)


def _least_duel(values: Floats, codes: Any, n_classes: int) -> Floats:
    """Return the least decision value for its class of every row, over the pairs with the class."""
    least = np.full(codes.size, np.inf)
    for column, (first, second) in zip(values.T, combinations(range(n_classes), 2)):
        signs = np.where(codes == first, 1.0, -1.0)
        takes_part = (codes == first) | (codes == second)
        np.minimum(least, signs * column, out=least, where=takes_part)
    return least
