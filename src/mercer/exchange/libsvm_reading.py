"""Machines from LIBSVM's model files, which are not trusted."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from mercer.exchange._dual import DualMachine, PlainKernel, estimator_of

KINDS = {
    "c_svc": "svc",
    "nu_svc": "svc",
    "epsilon_svr": "svr",
    "nu_svr": "svr",
    "one_class": "one_class",
}
KERNELS = {"linear", "polynomial", "rbf", "sigmoid", "precomputed"}
HEADER = {
    *("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho"),
    *("label", "probA", "probB", "prob_density_marks", "nr_sv"),
}
FIRST_LINE = b"svm_type"
STRANGE = re.compile(rb"[^0-9eE+\-.: \t\r\n]|(?<!\S):|:(?!\S)")
"""What no line of a support vector holds; an index without a value, or a value without an index."""

LARGEST = 2**31 - 1

FREE_NUMBERS = 10**6
NUMBERS_A_BYTE = 1000
"""Weights of features that a linear machine may need: so many, and so many for each byte of its
file. An index is a short text whatever it claims."""


def from_libsvm(path: Any, *, n_features: int | None = None) -> Any:
    """Read a model file of LIBSVM.

    Parameters
    ----------
    path : path-like
        Written by ``svm-train``, by another program that uses LIBSVM, or by `to_libsvm`.
    n_features : int or None, default=None
        Columns of the data that shall be predicted (for a precomputed kernel, rows of the training
        data). The file does not tell, and None takes the largest index in it.

    Returns
    -------
    SVC, SVR or OneClassSVM
        Fitted: labels, decision values and, where the file has sigmoids for them, probabilities are
        LIBSVM's. ν-SVC and ν-SVR files give an `SVC` and an `SVR`.

    See Also
    --------
    to_libsvm : The way back.

    Notes
    -----
    A file knows nothing of prices and of the training data. `C`, `nu` and `epsilon` are therefore
    the defaults, ``support_`` just counts the vectors of the file (for a precomputed kernel it
    tells the rows), and what only a fit finds out (``gap_``, ``objective_``, ``margin_``,
    ``slack_``, ``support_kind_``) is not there. What LIBSVM writes about the noise of a regression
    and the densities of one class is left out.

    Vectors become a sparse matrix where that takes less than half the memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.SVC(C=10.0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.to_libsvm(model, Path(folder) / "iris.model")
    ...     copy = mercer.from_libsvm(Path(folder) / "iris.model")
    >>> bool((copy.decision_function(X) == model.decision_function(X)).all())
    True
    """
    name = Path(path).name
    try:
        content = Path(path).read_bytes()
        machine = _read(content, n_features)
        if machine.classes is not None:
            machine = machine.in_order(np.argsort(machine.classes))
        return estimator_of(
            machine, **({"probability": True} if machine.sigmoids is not None else {})
        )
    except _DamagedError as error:
        raise ValueError(f"{name!r} is no whole model file of LIBSVM: {error}.") from None


class _DamagedError(Exception):
    """What is wrong with a file."""


def _read(content: bytes, n_features: int | None) -> DualMachine:
    if not content.startswith(FIRST_LINE):
        raise _DamagedError("it does not begin with svm_type")
    stream = BytesIO(content)
    head = []
    for line in stream:
        if line.strip() == b"SV":
            break
        head.append(line)
    else:
        raise _DamagedError("it has no line 'SV', after which the support vectors stand")
    header = _Header.of(b"".join(head))
    coefficients, features = _split(stream, header)
    points = _points(features, header.kernel.name)
    return _machine(header, coefficients, points, n_features, len(content))


def _split(stream: BytesIO, header: _Header) -> tuple[Any, BytesIO]:
    """Return the coefficients and, as an svmlight file, the features of all support vectors."""
    coefficients, features, count = array("d"), BytesIO(), 0
    for line in stream:
        if not line.strip():
            continue
        strange = STRANGE.search(line)
        if strange:
            found = strange.group()
            raise _DamagedError(f"the support vectors hold {found!r}, which is no part of numbers")
        if not line.endswith(b"\n"):
            raise _DamagedError("its last line is not complete")
        *first, rest = [*line.split(None, header.lines), b""][: header.lines + 1]
        if len(first) < header.lines or any(b":" in text for text in first):
            raise _DamagedError(
                f"each support vector must begin with {header.lines} coefficient(s)"
            )
        coefficients.extend(_floats(first, "coefficients"))
        features.write(b"0 " + rest.strip() + b"\n")
        count += 1
    if count != header.total:
        raise _DamagedError(f"it claims {header.total} support vectors and holds {count}")
    features.seek(0)
    return np.frombuffer(coefficients, dtype=np.float64), features


def _machine(
    header: _Header, coefficients: Any, points: Any, n_features: int | None, size: int
) -> DualMachine:
    support = np.arange(header.total)
    vectors: Any = None
    if header.kernel.name == "precomputed":
        support = _serials(points) - 1
        largest = int(support.max(initial=0)) + 1
    else:
        largest = max(1, points.shape[1])
        numbers = largest * header.rho.size
        if numbers > FREE_NUMBERS + NUMBERS_A_BYTE * size:
            raise _DamagedError(f"an index of {largest} is too large for a file of {size} bytes")
    if n_features is not None and n_features < largest:
        raise ValueError(
            f"n_features must be at least {largest}, as in the file; got {n_features}."
        )
    width = largest if n_features is None else int(n_features)
    if header.kernel.name != "precomputed":
        points = sp.csr_array((points.data, points.indices, points.indptr), (header.total, width))
        sparse_bytes = 12 * points.nnz + 4 * header.total
        vectors = points.toarray() if 8 * header.total * width <= 2 * sparse_bytes else points
    return DualMachine(
        header.kind,
        header.kernel,
        vectors,
        support,
        header.n_support,
        coefficients.reshape(header.total, header.lines).T.copy(),
        -header.rho,
        width,
        header.labels,
        None,
        header.sigmoids,
    )


def _points(features: BytesIO, kernel: str) -> Any:
    """Return the features behind the coefficients as a sparse matrix."""
    try:
        zero_based = kernel == "precomputed"
        points, _ = load_svmlight_file(features, zero_based=zero_based)
    except (ValueError, OverflowError, MemoryError) as error:
        raise _DamagedError(f"the features cannot be read ({str(error).rstrip('.')})") from None
    if not np.isfinite(points.data).all() or (points.indices < 0).any():
        raise _DamagedError("a feature is not finite, or has an index below 1")
    return points


def _serials(points: Any) -> Any:
    """Return the number of each training row, which stands at index 0 for a precomputed kernel."""
    counts = np.diff(points.indptr)
    serials = points.data
    valid = points.shape[0] == serials.size and (counts == 1).all() and not points.indices.any()
    if not valid or (serials != np.trunc(serials)).any() or not (1 <= serials).all():
        raise _DamagedError("a precomputed kernel needs '0:row' at each support vector")
    if (serials >= 2**31).any() or np.unique(serials).size != serials.size:
        raise _DamagedError("a row of the kernel matrix is named twice, or is beyond 32 bits")
    return serials.astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Header:
    """The lines above the support vectors."""

    kind: str
    kernel: PlainKernel
    total: int
    lines: int
    rho: Any
    n_support: Any
    labels: Any
    sigmoids: Any

    @classmethod
    def of(cls, head: bytes) -> _Header:
        fields = _fields(head)
        kind = KINDS.get(fields.pop("svm_type")[0])
        if kind is None:
            raise _DamagedError(f"svm_type must be one of {', '.join(KINDS)}")
        kernel = _kernel(fields)
        n_classes, total = _whole(fields, "nr_class", 2), _whole(fields, "total_sv", 0)
        if kind != "svc" and n_classes != 2:
            raise _DamagedError("nr_class must be 2 for regression and one class")
        machines = n_classes * (n_classes - 1) // 2 if kind == "svc" else 1
        rho = _row(fields, "rho", machines)
        labels = sigmoids = None
        n_support = np.array([total])
        if kind == "svc":
            labels = _wholes(fields, "label", n_classes)
            n_support = _wholes(fields, "nr_sv", n_classes)
            if np.unique(labels).size != n_classes:
                raise _DamagedError("a label occurs twice")
            if (n_support < 0).any() or n_support.sum() != total:
                raise _DamagedError("nr_sv does not add up to total_sv")
            if "probA" in fields or "probB" in fields:
                sigmoids = np.stack([_row(fields, name, machines) for name in ("probA", "probB")])
        lines = n_classes - 1 if kind == "svc" else 1
        return cls(kind, kernel, total, lines, rho, n_support, labels, sigmoids)


def _fields(head: bytes) -> dict[str, list[str]]:
    try:
        lines = [line.split() for line in head.decode("ascii").split("\n") if line.strip()]
    except UnicodeDecodeError:
        raise _DamagedError("its first lines are no plain text") from None
    fields: dict[str, list[str]] = {}
    for name, *values in lines:
        if name not in HEADER or name in fields or not values:
            raise _DamagedError(f"the line {' '.join([name, *values])[:40]!r} has no meaning there")
        fields[name] = values
    return fields


def _kernel(fields: dict[str, list[str]]) -> PlainKernel:
    name = fields.get("kernel_type", [""])[0]
    if name not in KERNELS:
        raise _DamagedError(f"kernel_type must be one of {', '.join(sorted(KERNELS))}")
    name = "poly" if name == "polynomial" else name
    needed = PlainKernel.of(name, 1.0, 0.0, 0)
    degree = _whole(fields, "degree", 0) if needed.degree is not None else 0
    gamma, coef0 = (
        _row(fields, each, 1)[0] if getattr(needed, each) is not None else 1.0
        for each in ("gamma", "coef0")
    )
    if gamma <= 0:
        raise _DamagedError("gamma must be above 0")
    return PlainKernel.of(name, gamma, coef0, degree)


def _whole(fields: dict[str, list[str]], name: str, least: int) -> int:
    value = int(_wholes(fields, name, 1)[0])
    if value < least:
        raise _DamagedError(f"{name} must be at least {least}")
    return value


def _wholes(fields: dict[str, list[str]], name: str, count: int) -> Any:
    texts = _texts(fields, name, count)
    if any(re.fullmatch(r"[+-]?\d{1,10}", text) is None for text in texts):
        raise _DamagedError(f"{name} must be {'whole numbers' if count > 1 else 'a whole number'}")
    values = np.array([int(text) for text in texts], dtype=np.int64)
    if (np.abs(values) > LARGEST).any():
        raise _DamagedError(f"{name} is beyond the 32 bits of LIBSVM's whole numbers")
    return values


def _row(fields: dict[str, list[str]], name: str, count: int) -> Any:
    return _floats(_texts(fields, name, count), name)


def _texts(fields: dict[str, list[str]], name: str, count: int) -> list[str]:
    texts = fields.get(name, [])
    if len(texts) != count:
        raise _DamagedError(f"{name} must have {count} number(s), and there are {len(texts)}")
    return texts


def _floats(texts: Any, name: str) -> Any:
    try:
        values = np.array([float(text) for text in texts], dtype=np.float64)
    except ValueError:
        raise _DamagedError(f"{name} must be numbers") from None
    if not np.isfinite(values).all():
        raise _DamagedError(f"{name} must be finite")
    return values
