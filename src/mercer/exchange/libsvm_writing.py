"""Models as LIBSVM's files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from mercer._files import written_whole
from mercer.exchange._affine import without_scalers
from mercer.exchange._dual import DualMachine, dual_machine_of
from mercer.exchange._tables import without_table

SVM_TYPES = {"svc": "c_svc", "svr": "epsilon_svr", "one_class": "one_class"}
KERNEL_TYPES = {"poly": "polynomial"}
"""LIBSVM's names where they are not ours."""

LARGEST_LABEL = 2**31 - 1
FORM = "A model file of LIBSVM"


def to_libsvm(model: Any, path: Any) -> None:
    r"""Write a fitted machine as a model file of LIBSVM.

    LIBSVM's ``svm-predict`` and all that reads such files then predicts what the machine does, from
    data in svmlight's format (`sklearn.datasets.dump_svmlight_file` with ``zero_based=False``
    writes it). Decision values are

    .. math:: f(x) = \sum_i c_i k(x, z_i) - \rho .

    Numbers are written so that they are read again as they were.

    Parameters
    ----------
    model : SVC, SVR, OneClassSVM or PlattClassifier of an SVC
        Fitted, or found by a search, with a kernel that LIBSVM has: linear, polynomial, RBF with
        one width, sigmoid or precomputed, and multiples of these. Many classes must be machines of
        pairs (``multi_class="ovo"``), with whole numbers as labels. Of a `TableModel` the machine,
        if no column is scaled before it; gaps must then be filled by the one who predicts.
    path : path-like
        A file of that name is replaced once the new one is whole.

    See Also
    --------
    from_libsvm : The way back.

    Notes
    -----
    Decision values agree to about 1e-13 of the sum of the absolute terms,
    :math:`\sum_i |c_i| \, k(|x|, |z_i|) + |\rho|`. Linear and polynomial machines of data far from
    zero have terms that are larger than the values by many digits, and LIBSVM adds up the vectors
    where a linear machine here adds up the features: scale such data before the fit.

    Two classes are written with the larger label first, so that decision values have the sign that
    they have here. Labels differ where a decision value is exactly 0, which LIBSVM counts for the
    second class of a pair, and as an outlier. Sigmoids of ``SVC(probability=True)`` and
    `PlattClassifier` are written along; ``svm-predict -b 1`` predicts the most probable class, as
    `PlattClassifier` does. Its probabilities of more than two classes come from an iteration that
    it ends early, and differ in the third digit.

    References
    ----------
    C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector machines", ACM Transactions on
    Intelligent Systems and Technology 2 (2011).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> model = mercer.SVC(kernel="linear").fit([[0.0, 0.0], [3.0, 4.0]], [-1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.to_libsvm(model, Path(folder) / "two.model")
    ...     print((Path(folder) / "two.model").read_text())
    svm_type c_svc
    kernel_type linear
    nr_class 2
    total_sv 2
    rho 1.0
    label 1 -1
    nr_sv 1 1
    SV
    0.08 1:3.0 2:4.0
    -0.08
    <BLANKLINE>
    """
    model = _machine_alone(model)
    machine = dual_machine_of(model, FORM)
    if getattr(model, "break_ties", False) and model.classes_.size > 2:
        raise ValueError(
            "LIBSVM gives ties of votes to the first class; set break_ties=False before writing."
        )
    if machine.kind == "svc":
        _check_labels(machine.classes)
        if machine.classes.size == 2:
            machine = machine.in_order([1, 0])
        elif machine.order_of_ties is not None:
            machine = machine.in_order(machine.order_of_ties)
    with written_whole(path) as file:
        for line in _lines(machine):
            file.write(line.encode() + b"\n")


def _machine_alone(model: Any) -> Any:
    """Return the last step of a pipeline whose other steps change nothing but gaps."""
    model = without_table(model, FORM)[1]
    if not isinstance(model, Pipeline):
        return model
    scaling, machine = without_scalers(model)
    if scaling is not None and not scaling.is_identity:
        raise ValueError(
            f"{FORM} has no place for the scaling of columns on which this "
            f"{type(machine).__name__} relies; write .c or .onnx, which hold it, or scale the data "
            "yourself and in Python give the machine alone, as in to_libsvm(pipeline[-1], path)."
        )
    return machine


def _check_labels(classes: Any) -> None:
    whole = classes.dtype.kind in "biuf" and (classes == np.trunc(classes)).all()
    if not whole or np.abs(classes.astype(float)).max() > LARGEST_LABEL:
        raise ValueError(
            "LIBSVM knows whole numbers of 32 bits as labels only; fit the machine to such numbers "
            f"(sklearn.preprocessing.LabelEncoder makes them) in place of {classes[0].item()!r}."
        )


def _lines(machine: DualMachine) -> Iterator[str]:
    """Yield the lines of the file."""
    kernel = machine.kernel
    yield f"svm_type {SVM_TYPES[machine.kind]}"
    yield f"kernel_type {KERNEL_TYPES.get(kernel.name, kernel.name)}"
    for name in ("degree", "gamma", "coef0"):
        if getattr(kernel, name) is not None:
            yield f"{name} {getattr(kernel, name)!r}"
    yield f"nr_class {2 if machine.classes is None else machine.classes.size}"
    yield f"total_sv {machine.support.size}"
    yield f"rho {_numbers(-machine.intercepts)}"
    if machine.classes is not None:
        yield "label " + " ".join(str(int(label)) for label in machine.classes)
    if machine.sigmoids is not None:
        A, B = machine.sigmoids
        yield f"probA {_numbers(A)}"
        yield f"probB {_numbers(B)}"
    if machine.classes is not None:
        yield "nr_sv " + " ".join(map(str, machine.n_support.tolist()))
    yield "SV"
    for coefficients, features in zip(machine.coefficients.T, _features(machine), strict=True):
        yield f"{_numbers(coefficients)} {features}".rstrip()


def _numbers(values: Any) -> str:
    """Return the shortest decimals that are read again as the same numbers."""
    return " ".join(map(repr, (np.asarray(values, dtype=np.float64) + 0.0).tolist()))


def _features(machine: DualMachine) -> Iterator[str]:
    """Yield the features of each support vector, counted from 1, zeros left out."""
    if machine.vectors is None:
        yield from (f"0:{row + 1}" for row in machine.support.tolist())
        return
    rows = sp.csr_array(machine.vectors)
    rows.sort_indices()
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:]):
        indices, values = rows.indices[start:end].tolist(), rows.data[start:end].tolist()
        yield " ".join(f"{k + 1}:{value!r}" for k, value in zip(indices, values))
