"""Machines as C functions, for places where there is nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import __version__
from mercer.exchange._affine import Affine, without_scalers
from mercer.exchange._c_text import TAKEN, commented, number, table
from mercer.exchange._expansion import Expansion
from mercer.exchange._tables import Filling, without_table
from mercer.kernels import PairwiseForm
from mercer.spheres import SVDD, OneClassSVM
from mercer.svm import SVC, SVR

Floats = NDArray[np.float64]

FORMULAS = {
    "polynomial": ("<z, v>", "gamma * sum + coef0"),
    "sigmoid": ("<z, v>", "tanh(gamma * sum + coef0)"),
    "rbf": ("|z - v|^2", "exp(-gamma * sum)"),
    "laplacian": ("|z - v|_1", "exp(-gamma * sum)"),
    "euclidean_laplacian": ("|z - v|^2", "exp(-gamma * sqrt(sum))"),
}
TERMS = {
    "<z, v>": "{z} * {v}",
    "|z - v|^2": "({z} - {v}) * ({z} - {v})",
    "|z - v|_1": "fabs({z} - {v})",
}


def to_c(model: Any, *, name: str = "mercer_predict") -> str:
    r"""Return a fitted machine as the source of one C function.

    The function is C99, allocates nothing, keeps no state and needs ``math.h`` only. Its header
    tells how it is called.

    Parameters
    ----------
    model : SVC, SVR, OneClassSVM or SVDD
        Fitted, or found by a search, with a linear, polynomial, RBF, Laplacian or sigmoid kernel,
        also with one width a feature; or a pipeline that ends in one, with `StandardScaler` and
        `MinMaxScaler` before; or a `TableModel` of such a one whose columns are all numbers: the
        function takes them in the order that its header tells, and fills gaps (NaN) alike.
    name : str, default="mercer_predict"
        Name of the function, none of the words and functions of C.

    Returns
    -------
    str

    Notes
    -----
    Decision values agree to about 1e-13 of the sum of the absolute terms,
    :math:`\sum_i |c_i| \, k(|x|, |z_i|) + |b|`, which for polynomials of points far from zero is
    larger than the values by many digits. On columns of about 1e8 nothing is left of these digits:
    values of polynomial and weighted linear machines then differ by tenths, since the order of the
    additions decides about them in mercer as well. Scale such columns before fitting.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.SVC(kernel="linear").fit([[0.0, 0.0], [3.0, 4.0]], ["left", "right"])
    >>> print(mercer.to_c(model, name="side"))
    /* Written by mercer ... from SVC.
     *
     *     double values[1];
     *     int index = side(x, values);
     *
     * x holds the 2 features of one row. The index is that of the predicted label:
     *     0: 'left'
     *     1: 'right'
     * values[0] is the decision value, positive for label 1.
     */
    #include <math.h>
    <BLANKLINE>
    int side(const double *x, double *values)
    {
        static const double constants[1] = {-1.0};
        static const double weights[1][2] = {
            {0.24, 0.32}
        };
        int i, r;
        for (r = 0; r < 1; ++r) {
            values[r] = constants[r];
            for (i = 0; i < 2; ++i)
                values[r] += weights[r][i] * x[i];
        }
        return values[0] > 0;
    }
    <BLANKLINE>
    """
    if not isinstance(name, str) or re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is None:
        raise ValueError(f"name must be a C identifier; got {name!r}.")
    if name in TAKEN or re.match("_[_A-Z]", name):
        raise ValueError(f"name must be free, and C or its library has {name!r} already.")
    filling, model = without_table(model, "A C function")
    scaling, machine = without_scalers(model)
    program = _Program.of(machine, scaling, filling)
    body = [*program.numbers(), *program.filled(), *program.loops(), *program.verdict()]
    return "\n".join([*program.head(name), *("    " + line for line in body), "}\n"])


@dataclass(frozen=True, eq=False)
class _Program:
    """What the function computes: an `Expansion` of features that are scaled first."""

    model: Any
    form: PairwiseForm
    scaling: Affine
    points: Floats
    coefficients: Floats
    constants: Floats
    diagonal_factor: float
    rounding: float
    highest: float
    filling: Filling | None

    @classmethod
    def of(cls, model: Any, scaling: Affine | None, filling: Filling | None) -> _Program:
        """Return the program of a fitted machine, or say why there is none."""
        if not isinstance(model, SVC | SVR | OneClassSVM | SVDD):
            raise TypeError(
                "to_c takes SVC, SVR, OneClassSVM and SVDD, or a pipeline that ends in one; got "
                f"{type(model).__name__}."
            )
        found = Expansion.of(model)
        form = found.kernel.pairwise_form()
        if form is None:
            raise ValueError(
                "to_c knows linear, polynomial, RBF, Laplacian and sigmoid kernels and their "
                f"multiples; got {found.kernel!r}."
            )
        if getattr(model, "break_ties", False) and model._one_vs_one:
            raise ValueError("to_c gives ties of votes to the first class; set break_ties=False.")
        points, coefficients, constants = found.points, found.coefficients, found.constants
        scaling = Affine.identity(model.n_features_in_) if scaling is None else scaling
        scaling = scaling.then(Affine(found.origin, np.ones(found.origin.size)))
        if form.scales is not None:
            scaling = Affine(scaling.centre, scaling.factor * form.scales)
            points = points * form.scales
        return cls(
            model,
            form,
            scaling,
            points,
            form.factor * coefficients,
            constants,
            form.factor * found.diagonal_factor,
            found.rounding,
            found.highest,
            filling,
        )

    @property
    def is_linear(self) -> bool:
        """Whether weights of the features say it all."""
        return self.form.family == "linear"

    @property
    def features(self) -> str:
        """The name of the features that the kernel sees."""
        return "x" if self.scaling.is_identity else "z"

    def head(self, name: str) -> Iterator[str]:
        """Yield the comment and the first lines of the function."""
        model, n = self.model, self.scaling.centre.size
        is_number = isinstance(model, SVR)
        yield f"/* Written by mercer {__version__} from {type(model).__name__}."
        yield " *"
        if is_number:
            yield f" *     double y = {name}(x);"
        else:
            yield f" *     double values[{self.constants.size}];"
            yield f" *     int index = {name}(x, values);"
        yield " *"
        yield f" * x holds the {n} feature{'s' * (n != 1)} of one row.{self._about_the_index()}"
        if isinstance(model, SVC):
            for index, label in enumerate(model.classes_.tolist()):
                yield f" *     {index}: {commented(label)}"
        if not is_number:
            yield f" * {self._about_the_values()}"
        if self.filling is not None:
            yield " * What is not finite, such as NaN, is a gap and filled. The features:"
            for index, column in enumerate(self.filling.columns):
                yield f" *     x[{index}]: {commented(column)}"
        yield " */"
        yield "#include <math.h>"
        yield ""
        values = "" if is_number else ", double *values"
        yield f"{'double' if is_number else 'int'} {name}(const double *x{values})"
        yield "{"

    def _about_the_index(self) -> str:
        if isinstance(self.model, SVR):
            return ""
        if isinstance(self.model, SVC):
            return " The index is that of the predicted label:"
        return " The index is 1 for an inlier and 0 for an outlier."

    def _about_the_values(self) -> str:
        if not isinstance(self.model, SVC):
            return "values[0] is the decision value, at least 0 for inliers."
        if self.constants.size == 1:
            return "values[0] is the decision value, positive for label 1."
        if not self.model._one_vs_one:
            return "values[k] is the decision value of label k; the largest decides."
        return "values are those of the pairs (0, 1), (0, 2), ..., positive for the first of them."

    def numbers(self) -> Iterator[str]:
        """Yield the tables."""
        yield from table("constants", self.constants)
        if not self.scaling.is_identity:
            yield from table("centre", self.scaling.centre)
            yield from table("factor", self.scaling.factor)
        if not self.is_linear:
            yield from table("vectors", self.points)
            yield from table("coefficients", self.coefficients)
        else:
            yield from table("weights", self.coefficients @ self.points)

    def filled(self) -> Iterator[str]:
        """Yield what fills gaps before anything else."""
        if self.filling is None:
            return
        n = self.filling.medians.size
        yield from table("medians", self.filling.medians)
        yield f"double filled[{n}];"
        yield "int column;"
        yield f"for (column = 0; column < {n}; ++column)"
        yield "    filled[column] = isfinite(x[column]) ? x[column] : medians[column];"
        yield "x = filled;"

    def loops(self) -> Iterator[str]:
        """Yield what computes the values."""
        machines, n = self.constants.size, self.scaling.centre.size
        if isinstance(self.model, SVR):
            yield "double values[1];"
        if not self.scaling.is_identity:
            yield f"double z[{n}];"
        if self.diagonal_factor or not self.is_linear:
            yield "double sum, k;"
        yield f"int i, r{', j' * (not self.is_linear)};"
        if not self.scaling.is_identity:
            yield f"for (i = 0; i < {n}; ++i)"
            yield "    z[i] = (x[i] - centre[i]) * factor[i];"
        yield f"for (r = 0; r < {machines}; ++r) {{"
        yield "    values[r] = constants[r];"
        if self.is_linear:
            yield f"    for (i = 0; i < {n}; ++i)"
            yield f"        values[r] += weights[r][i] * {self.features}[i];"
        yield "}"
        if self.diagonal_factor:
            zero = "0.0" if self.form.is_stationary else f"{self.features}[i]"
            yield from self._kernel(zero, n)
            yield f"values[0] += {number(self.diagonal_factor)} * k;"
        if not self.is_linear:
            yield f"for (j = 0; j < {len(self.points)}; ++j) {{"
            yield from ("    " + line for line in self._kernel("vectors[j][i]", n))
            yield f"    for (r = 0; r < {machines}; ++r)"
            yield "        values[r] += coefficients[r][j] * k;"
            yield "}"

    def _kernel(self, other: str, n: int) -> Iterator[str]:
        """Yield what computes k(z, other) without its factor."""
        own, form = f"{self.features}[i]", self.form
        if form.is_stationary and other == "0.0":
            yield "k = 1.0;"
            return
        kind, formula = FORMULAS.get(form.family, ("<z, v>", "sum"))
        yield "sum = 0.0;"
        yield f"for (i = 0; i < {n}; ++i)"
        yield f"    sum += {TERMS[kind].format(z=own, v=other)};"
        formula = formula.replace("gamma", number(form.gamma))
        formula = formula.replace("coef0", number(form.coef0))
        if form.family != "polynomial":
            yield f"k = {formula};"
            return
        yield f"sum = {formula};"
        yield "k = 1.0;"
        yield f"for (i = 0; i < {form.degree}; ++i)"
        yield "    k *= sum;"

    def verdict(self) -> Iterator[str]:
        """Yield what is returned."""
        if isinstance(self.model, SVR):
            yield "return values[0];"
        elif not isinstance(self.model, SVC):
            if np.isfinite(self.highest):
                yield f"if (values[0] > {number(self.highest)})"
                yield f"    values[0] = {number(self.highest)}; /* at the centre */"
            yield f"if (fabs(values[0]) <= {number(self.rounding)})"
            yield "    values[0] = 0.0; /* on the boundary */"
            yield "return values[0] >= 0;"
        elif self.constants.size == 1:
            yield "return values[0] > 0;"
        else:
            yield from self._winner()

    def _winner(self) -> Iterator[str]:
        """Yield the search for the class with the largest value, or with most votes."""
        count = self.model.classes_.size
        yield "{"
        if not self.model._one_vs_one:
            yield "    int best = 0, c;"
            yield f"    for (c = 1; c < {count}; ++c)"
            yield "        if (values[c] > values[best])"
            yield "            best = c;"
        else:
            order = getattr(self.model, "_order_of_ties", np.arange(count))
            listed = ", ".join(map(str, order.tolist()))
            yield f"    static const int order[{count}] = {{{listed}}};"
            yield f"    int votes[{count}] = {{0}}, best = order[0], pair = 0, c;"
            yield f"    for (i = 0; i < {count}; ++i)"
            yield f"        for (c = i + 1; c < {count}; ++c)"
            yield "            ++votes[values[pair++] >= 0 ? i : c];"
            yield f"    for (c = 1; c < {count}; ++c)"
            yield "        if (votes[order[c]] > votes[best])"
            yield "            best = order[c];"
        yield "    return best;"
        yield "}"
