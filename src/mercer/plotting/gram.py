"""The kernel matrix of data, sorted by class."""

from __future__ import annotations

import re
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import Kernel, as_kernel
from mercer.plotting._labels import Codes, codes_of
from mercer.plotting._plane import Floats
from mercer.plotting._style import axes_for, class_label, pyplot, write_note
from mercer.plotting._support import transform, unwrap

NARROWEST = 0.02
"""Share of the rows that a class needs for its name to find room beside the matrix."""

LONGEST_NAME = 45


class GramDisplay:
    r"""Kernel matrix :math:`K_{ij} = k(x_i, x_j)` with the rows of each class together.

    A kernel that suits the classes shows bright squares along the diagonal, one for each class: its
    rows resemble each other more than those of other classes. A bright diagonal on dark ground says
    that every row resembles only itself (the width is too small), an even surface that all rows
    look alike (too large). Kernels with negative values are drawn in two colours that meet at 0.
    Use `from_estimator`, `from_kernel` or `from_matrix` to make one.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Kernel values, rows and columns sorted by class.
    labels : ndarray of int of shape (n,), default=None
        Position in ``classes`` of each row's label, ascending; None where there are no classes.
    classes : array-like of shape (n_classes,), default=()
        Names of the classes.
    rows : ndarray of int of shape (n,), default=None
        Which rows of the data are shown, in the order of the matrix.
    name : str, default="kernel value"
        What the colour bar says.
    note : str, default=""
        What else must be known to read the picture; shown above it.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    image_ : AxesImage
    borders_ : list of Line2D
        Lines between the classes: first the horizontal ones, then the vertical ones.
    colorbar_ : Colorbar

    See Also
    --------
    mercer.is_mercer : Whether the matrix is one of a kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import GramDisplay, SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> display = GramDisplay.from_estimator(SVC().fit(X, y), X, y)
    >>> display.matrix.shape, len(display.borders_)
    ((150, 150), 4)
    """

    def __init__(
        self,
        *,
        matrix: Floats,
        labels: Codes | None = None,
        classes: Any = (),
        rows: Codes | None = None,
        name: str = "kernel value",
        note: str = "",
    ) -> None:
        self.matrix = matrix
        self.labels = labels
        self.classes = classes
        self.rows = rows
        self.name = name
        self.note = note

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, max_rows: int = 1000, **plot: Any
    ) -> Self:
        """Draw the kernel matrix that a fitted machine sees.

        Parameters
        ----------
        estimator : kernel machine
            Fitted; a pipeline or a search that ends in one will do.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, or their kernel matrix for a precomputed kernel. A machine that does not keep
            its kernel's width (scikit-learn's, with ``gamma="scale"``) takes it from these data.
        y : array-like of shape (n_samples,), default=None
            Labels to sort by; without them the rows keep their order.
        max_rows : int, default=1000
            Most rows to show.
        **plot
            See `plot`.

        Returns
        -------
        GramDisplay
        """
        check_is_fitted(estimator)
        steps, machine = unwrap(estimator)
        kernel = getattr(machine, "kernel_", getattr(machine, "kernel", None))
        if kernel is None:
            raise ValueError(f"{type(machine).__name__} has no kernel to draw the matrix of.")
        chosen = {key: getattr(machine, key, default) for key, default in _DEFAULTS.items()}
        kernel = as_kernel(kernel, **chosen)
        return cls.from_kernel(kernel, transform(steps, X), y, max_rows=max_rows, **plot)

    @classmethod
    def from_kernel(
        cls, kernel: Any, X: Any, y: Any = None, *, max_rows: int = 1000, **plot: Any
    ) -> Self:
        """Draw the matrix of a kernel.

        Parameters
        ----------
        kernel : Kernel, str or callable
            Whatever `mercer.kernels.as_kernel` takes.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data, or the kernel matrix for "precomputed".
        y : array-like of shape (n_samples,), default=None
            See `from_estimator`.
        max_rows : int, default=1000
            See `from_estimator`. Only the rows that are shown are computed.
        **plot
            See `from_estimator`.

        Returns
        -------
        GramDisplay
        """
        kernel = as_kernel(kernel)
        if kernel.is_pairwise:
            return cls.from_matrix(X, y, max_rows=max_rows, **plot)
        pyplot()
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        kernel = kernel.resolve(X)
        shown = _Selection(y, X.shape[0], max_rows)
        return cls._of(kernel(X[shown.rows]), shown, _kernel_name(kernel)).plot(**plot)

    @classmethod
    def from_matrix(cls, K: Any, y: Any = None, *, max_rows: int = 1000, **plot: Any) -> Self:
        """Draw a kernel matrix.

        Parameters
        ----------
        K : array-like of shape (n_samples, n_samples)
            Kernel values.
        y : array-like of shape (n_samples,), default=None
            See `from_estimator`.
        max_rows : int, default=1000
            See `from_estimator`.
        **plot
            See `from_estimator`.

        Returns
        -------
        GramDisplay
        """
        pyplot()
        K = check_array(K, dtype=np.float64)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"A kernel matrix is square; got the shape {K.shape}.")
        shown = _Selection(y, K.shape[0], max_rows)
        return cls._of(K[np.ix_(shown.rows, shown.rows)], shown, "kernel value").plot(**plot)

    @classmethod
    def _of(cls, matrix: Floats, shown: _Selection, name: str) -> Self:
        return cls(
            matrix=matrix,
            labels=shown.codes,
            classes=shown.classes,
            rows=shown.rows,
            name=name,
            note=shown.note,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        cmap: Any = None,
        vmin: float | None = None,
        vmax: float | None = None,
    ) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        cmap : colour map, default=None
            None takes "viridis", or "RdBu_r" where there are negative values.
        vmin, vmax : float, default=None
            Values at the ends of the colour map. None leaves out the 2 % of largest magnitude,
            which would make all others look alike, unless they are no larger than the diagonal
            usually is; with negative values 0 is in the middle.

        Returns
        -------
        GramDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (5.8, 4.8), layout="compressed")
        self.figure_ = ax.figure
        low, high = _limits(self.matrix)
        self.image_ = ax.imshow(
            self.matrix,
            cmap=cmap or ("RdBu_r" if low < 0 else "viridis"),
            vmin=low if vmin is None else vmin,
            vmax=high if vmax is None else vmax,
            aspect="equal",
        )
        self.borders_ = self._draw_borders(ax)
        self._name_classes(ax)
        write_note(ax, self.note)
        self.colorbar_ = ax.figure.colorbar(
            self.image_, ax=ax, label=self.name, extend=self._beyond()
        )
        return self

    def _beyond(self) -> str:
        """Return the ends of the colour map beyond which there are values."""
        low, high = self.image_.get_clim()
        below, above = self.matrix.min() < low, self.matrix.max() > high
        return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]

    def _draw_borders(self, ax: Any) -> list[Any]:
        if self.labels is None:
            return []
        from matplotlib.patheffects import withStroke

        # White with a dark rim can be seen on every colour of the map.
        style: dict[str, Any] = {"color": "white", "lw": 0.8}
        style["path_effects"] = [withStroke(linewidth=1.6, foreground="black")]
        places = np.flatnonzero(np.diff(self.labels)) + 0.5
        return [draw(place, **style) for draw in (ax.axhline, ax.axvline) for place in places]

    def _name_classes(self, ax: Any) -> None:
        if self.labels is None:
            name = "row, of those shown" if self.note else "row"
            ax.set(xlabel=name, ylabel=name)
            return
        counts = np.bincount(self.labels, minlength=len(self.classes))
        middles = np.cumsum(counts) - (counts + 1) / 2
        wide = np.flatnonzero(counts >= NARROWEST * self.labels.size)
        names = [class_label(self.classes[code]) for code in wide]
        crowded = sum(len(name) for name in names) > LONGEST_NAME
        turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(middles[wide], names, **(turned if crowded else {}))
        ax.set_yticks(middles[wide], names)
        ax.tick_params(length=0)


class _Selection:
    """Which rows are shown, sorted by class; evenly spaced ones where there are too many."""

    def __init__(self, y: Any, n_rows: int, max_rows: int) -> None:
        if max_rows < 1:
            raise ValueError(f"max_rows must be at least 1; got {max_rows}.")
        self.codes: Codes | None = None
        self.classes: Any = ()
        order, firsts = np.arange(n_rows), np.zeros(0, dtype=np.int64)
        if y is not None:
            self.classes = np.unique(np.asarray(y))
            codes = codes_of(y, self.classes, n_rows)
            order = np.argsort(codes, kind="stable")
            firsts = np.searchsorted(codes[order], np.arange(len(self.classes)))
        self.note = ""
        if n_rows > max_rows:
            # No class gets lost: the first row of each is among those shown.
            n_spaced = max(max_rows - firsts.size, 1)
            spaced = np.linspace(0, n_rows - 1, n_spaced).round().astype(np.int64)
            order = order[np.union1d(spaced, firsts)]
            self.note = f"{order.size} of {n_rows} rows, evenly spaced"
        self.rows = order
        if y is not None:
            self.codes = codes[order]


_DEFAULTS: dict[str, Any] = {"gamma": "scale", "degree": 3, "coef0": 0.0}
"""Parameters of kernels that are given by name, and what they are where a machine lacks them."""


def _limits(matrix: Floats) -> tuple[float, float]:
    """Return the values between which the colours change."""
    magnitudes = np.abs(matrix)
    usual = max(np.quantile(magnitudes, 0.98), np.median(np.diag(magnitudes)))
    high = min(float(usual), float(magnitudes.max()))
    low = float(matrix.min())
    return (-high, high) if low < 0 else (min(low, high), high)


def _kernel_name(kernel: Kernel) -> str:
    """Return what the colour bar says; the text of a nested kernel can be endless."""
    text = re.sub(r"\d+\.\d{3,}(e-?\d+)?", lambda number: f"{float(number[0]):.3g}", str(kernel))
    text = " ".join(text.split())
    return f"kernel value, {text}" if len(text) <= LONGEST_NAME else "kernel value"
