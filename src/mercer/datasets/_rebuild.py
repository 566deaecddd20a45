"""From public files, as they are, to the arrays of a data set, in the types of the folder."""

from __future__ import annotations

import bz2
import csv
import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from sklearn.datasets import load_svmlight_file

from mercer._extras import how_to_get

Arrays = dict[str, NDArray[Any]]


def ida(raw: bytes, part: str) -> Arrays:
    """A MATLAB file with a structure for each set: distinct patterns, and splits that name them.

    A pattern that a split names several times stands for as many rows. Here each of these is a row
    of its own: the rows are sorted, and equal ones are given out first to the training rows of a
    split and then to its test rows, in their order.
    """
    name = part.replace("-", "_")
    known = loadmat(io.BytesIO(raw), variable_names=[name])[name][0, 0]
    X, y = known["x"].astype(np.float64), known["t"].ravel().astype(np.int8)
    rank = np.empty(len(y), dtype=np.intp)
    in_order = np.lexsort((y, *X.T[::-1]))
    rank[in_order] = np.arange(len(y))
    n_train = known["train"].shape[1]
    named = rank[np.hstack([known["train"], known["test"]]).astype(np.intp) - 1]
    sorted_names = np.sort(named, axis=1)
    if (sorted_names != sorted_names[0]).any():
        raise ValueError("The splits are not of the same rows.")
    rows = np.empty(named.shape, dtype=np.int32)
    np.put_along_axis(
        rows, np.argsort(named, axis=1, kind="stable"), np.arange(named.shape[1])[None], axis=1
    )
    patterns = in_order[sorted_names[0]]
    return {
        "X": X[patterns],
        "y": y[patterns],
        "train": np.ascontiguousarray(rows[:, :n_train]),
        "test": np.ascontiguousarray(rows[:, n_train:]),
    }


def colon(intensities: bytes, tissues: bytes, names: bytes) -> Arrays:
    """Intensities of clones by tissues, the code of each tissue, and a line about each clone."""
    tissue = np.array(tissues.split(), dtype=np.int8)
    lines = [line.split() for line in names.decode("utf-8", errors="replace").splitlines()]
    return {
        "X": np.loadtxt(io.BytesIO(intensities)).T.astype(np.float32),
        "y": np.where(tissue < 0, 1, -1).astype(np.int8),
        "tissue": tissue,
        "genes": np.array([next(w for w in words if not w.isdigit()) for words in lines if words]),
    }


def r_table(raw: bytes, part: str) -> Arrays:
    """A data frame in a file of R: columns of numbers, and factors as text."""
    frame = _from_r(raw)[part]
    columns: Arrays = {}
    for name in frame.columns:
        values = frame[name]
        numeric = values.dtype.kind in "iuf"
        columns[name] = np.array(list(values), dtype=np.float64 if numeric else None)
    return columns


def usps(train: bytes, test: bytes) -> Arrays:
    """Two matrices in files of R: the digit, then 256 grey values."""
    arrays: Arrays = {}
    for part, raw in (("train", train), ("test", test)):
        matrix = np.asarray(_from_r(raw)[f"zip.{part}"])
        arrays[f"X_{part}"] = matrix[:, 1:].astype(np.float32)
        arrays[f"y_{part}"] = matrix[:, 0].astype(np.int8)
    return arrays


def _from_r(raw: bytes) -> dict[str, Any]:
    """Return the objects in a file that R has saved, by name."""
    try:
        import rdata
    except ImportError as error:
        raise ImportError(
            f"Files of R are read by rdata, which is not installed; run {how_to_get('data')}."
        ) from error
    return dict(rdata.read_rda(io.BytesIO(raw)))


def golub(train: bytes, test: bytes, patients: bytes) -> Arrays:
    """Two tables of genes by patients, each value followed by a call, and a list of diagnoses."""
    pairs = re.findall(r"^\D*(\d+)\W+(ALL|AML)\b", patients.decode(), flags=re.MULTILINE)
    diagnosis = {int(number): 1 if kind == "AML" else -1 for number, kind in pairs}
    arrays: Arrays = {}
    for part, raw in (("train", train), ("test", test)):
        header, *rows = list(csv.reader(io.StringIO(raw.decode("utf-8", errors="replace"))))
        places = {int(word): place for place, word in enumerate(header) if word.isdigit()}
        samples = sorted(places)
        values = [[float(row[places[sample]]) for row in rows] for sample in samples]
        arrays[f"X_{part}"] = np.array(values, dtype=np.float32)
        arrays[f"y_{part}"] = np.array([diagnosis[sample] for sample in samples], dtype=np.int8)
        arrays[f"sample_{part}"] = np.array(samples, dtype=np.int16)
        arrays["genes"] = np.array([row[1] for row in rows])
    return arrays


def madelon(train: bytes, train_labels: bytes, valid: bytes, valid_labels: bytes) -> Arrays:
    """Four files of integers."""
    return {
        "X_train": _integers(train, np.int16),
        "y_train": _integers(train_labels, np.int8).ravel(),
        "X_valid": _integers(valid, np.int16),
        "y_valid": _integers(valid_labels, np.int8).ravel(),
    }


def table(raw: bytes) -> Arrays:
    """Columns of a table with commas and a header: numbers where all entries are, else text."""
    header, *rows = list(csv.reader(io.StringIO(raw.decode("utf-8"))))
    columns: Arrays = {}
    for name, *entries in zip(header, *rows):
        try:
            columns[name] = np.array(entries, dtype=np.float64)
        except ValueError:
            columns[name] = np.array(entries)
    return columns


def letter(raw: bytes) -> Arrays:
    """Lines of a capital letter and 16 integers."""
    rows = [line.split(",") for line in raw.decode().split()]
    return {
        "X": np.array([row[1:] for row in rows], dtype=np.float32),
        "y": np.array([ord(row[0]) - ord("A") for row in rows], dtype=np.int8),
    }


def a9a(train: bytes, test: bytes) -> Arrays:
    """Two compressed files in LIBSVM's format, 123 features."""
    return _sparse_parts(train, test, 123)


def ijcnn1(train: bytes, test: bytes) -> Arrays:
    """Two compressed files in LIBSVM's format, 22 features."""
    return _sparse_parts(train, test, 22)


def cardio(raw: bytes) -> Arrays:
    """An archive with X and y."""
    return _outliers(raw, np.float64)


def shuttle(raw: bytes) -> Arrays:
    """An archive with X and y; the values are integers."""
    return _outliers(raw, np.float32)


def _integers(raw: bytes, dtype: Any) -> NDArray[Any]:
    return np.loadtxt(io.BytesIO(raw), dtype=dtype)


def _sparse_parts(train: bytes, test: bytes, n_features: int) -> Arrays:
    arrays: Arrays = {}
    for part, raw in (("train", train), ("test", test)):
        X, y = load_svmlight_file(io.BytesIO(bz2.decompress(raw)), n_features=n_features)
        arrays[f"X_{part}"] = X.toarray().astype(np.float32)
        arrays[f"y_{part}"] = y.astype(np.int8)
    return arrays


def _outliers(raw: bytes, dtype: Any) -> Arrays:
    with np.load(io.BytesIO(raw), allow_pickle=False) as stored:
        return {"X": stored["X"].astype(dtype), "y": stored["y"].astype(np.int8)}
