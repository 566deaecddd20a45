"""From public files, as they are, to the arrays of a data set, in the types of the folder."""

from __future__ import annotations

import bz2
import csv
import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

Arrays = dict[str, NDArray[Any]]


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
