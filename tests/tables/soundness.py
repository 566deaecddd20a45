"""What holds for every table and every refusal, whatever was read."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mercer.tables import InputError, Table, vectorizer

LONGEST_SENTENCE = 300


def check_sentence(error: InputError) -> None:
    sentence = str(error)
    assert "\n" not in sentence, sentence
    assert sentence.endswith((".", "?")), sentence
    assert 0 < len(sentence) < LONGEST_SENTENCE, sentence
    assert "Traceback" not in sentence


def check_table(table: Table) -> None:
    frame, target = table.frame, table.target
    rows = len(frame)
    assert rows >= 2
    assert frame.shape[1] >= 1
    assert frame.columns.is_unique
    assert all(isinstance(name, str) and name for name in frame.columns)
    for series in (target, table.groups, table.time):
        assert series is None or len(series) == rows
        assert series is None or series.notna().all()
    assert frame.index.equals(pd.RangeIndex(rows))
    assert target.index.equals(frame.index)
    if table.task == "regression":
        assert target.dtype == np.float64
        assert np.isfinite(target).all()
    else:
        assert target.dtype == object
        assert all(isinstance(label, str) for label in target)
        assert sum(table.class_counts().values()) == rows
    for name in frame.columns:
        check_column(frame[name])
    assert not set(table.left_out) & set(frame.columns)
    for sentence in (*table.notices, *table.left_out.values()):
        assert sentence
        assert "\n" not in sentence
    assert all(notice.endswith(".") for notice in table.notices)


def check_column(column: pd.Series) -> None:
    kind = column.dtype
    assert column.nunique() > 1, column.name
    if pd.api.types.is_numeric_dtype(kind):
        assert kind == np.float64
        assert not np.isinf(column).any()
    elif not pd.api.types.is_datetime64_dtype(kind):
        assert all(isinstance(cell, str) for cell in column.dropna())


def check_matrix(table: Table) -> None:
    """The vectorizer, fitted on one half of the rows, serves the other half."""
    half = np.arange(len(table.frame)) % 2 == 0
    transformer = vectorizer(table).fit(table.frame[half])
    matrix = transformer.transform(table.frame[~half])
    assert matrix.dtype == np.float64
    assert np.isfinite(matrix).all()
    assert matrix.shape == ((~half).sum(), len(transformer.get_feature_names_out()))
