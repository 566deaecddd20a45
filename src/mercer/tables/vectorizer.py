"""From a table's frame to a matrix, inside the folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from mercer.tables._columns import DATE_FORMS
from mercer.tables._new_cells import missing_words, new_dates, new_words
from mercer.tables._number_columns import NumberColumns
from mercer.tables.table import Table


def vectorizer(table: Table) -> Any:
    """Return an unfitted transformer from `table.frame` to a matrix of float64 without NaN.

    Numbers keep their place in double precision, and gaps become the median of the training rows.
    Categories become columns of zeros and ones, dates their parts, and long or varied text its
    leading character n-grams, all by skrub's `TableVectorizer`. Values that were not there at
    fitting become zeros. New rows may be text as in the file that the table was read from: dates
    are read in the form of the old ones, and words that stand for nothing become gaps.

    Parameters
    ----------
    table : Table

    Returns
    -------
    transformer
        With `get_feature_names_out`; it can be cloned and pickled.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import as_table, vectorizer
    >>> frame = pd.DataFrame({"size": [1.0, None, 3.0, 4.0], "colour": ["red", "blue"] * 2})
    >>> table = as_table(frame, [1.5, 2.5, 1.0, 7.0], task="regression")
    >>> transformer = vectorizer(table)
    >>> transformer.fit_transform(table.frame)
    array([[1., 0., 1.],
           [3., 1., 0.],
           [3., 0., 1.],
           [4., 1., 0.]])
    >>> transformer.get_feature_names_out().tolist()
    ['size', 'colour_blue', 'colour_red']
    """
    is_number = (table.frame.dtypes == np.float64).to_numpy()
    numbers = table.frame.columns[is_number].tolist()
    others = table.frame.columns[~is_number].tolist()
    if not others:
        return NumberColumns()
    parts = [("numbers", NumberColumns(), numbers)] if numbers else []
    clash = any(number.startswith(f"{other}_") for number in numbers for other in others)
    return ColumnTransformer(
        [*parts, ("others", _others(table.frame[others]), others)],
        sparse_threshold=0.0,
        verbose_feature_names_out=clash,
    )


def column_kinds(model: Any) -> dict[str, str] | None:
    """Return the kinds of the columns that a fitted model was given, or None if it does not know.

    Parameters
    ----------
    model : estimator
        A pipeline that begins with a `vectorizer`, or any model of numbers with names.

    Returns
    -------
    dict of str to {"number", "date", "text"} or None

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import as_table, vectorizer
    >>> from mercer.tables.vectorizer import column_kinds
    >>> frame = pd.DataFrame({"size": [1.0, None, 3.0, 4.0], "colour": ["red", "blue"] * 2})
    >>> table = as_table(frame, [1.5, 2.5, 1.0, 7.0], task="regression")
    >>> column_kinds(vectorizer(table).fit(table.frame))
    {'size': 'number', 'colour': 'text'}
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return None
    kinds = {str(name): "number" for name in names}
    first = model[0] if isinstance(model, Pipeline) else model
    if isinstance(first, ColumnTransformer) and "others" in first.named_transformers_:
        found = first.named_transformers_["others"][1].kind_to_columns_
        for name in first.named_transformers_["others"].feature_names_in_:
            kinds[str(name)] = "date" if name in found["datetime"] else "text"
    return kinds


def date_forms(model: Any) -> dict[str, str]:
    """Return how the columns of dates were written that a model was fitted on, as far as known.

    Parameters
    ----------
    model : estimator
        As for `column_kinds`.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import as_table, vectorizer
    >>> from mercer.tables.vectorizer import date_forms
    >>> frame = pd.DataFrame({"day": ["01.12.2022", "24.12.2022", "02.01.2023"] * 2})
    >>> table = as_table(frame, [1.5, 2.5, 1.0, 7.0, 3.0, 3.5], task="regression")
    >>> date_forms(vectorizer(table).fit(table.frame))
    {'day': '%d.%m.%Y'}
    """
    first = model[0] if isinstance(model, Pipeline) else model
    if not (isinstance(first, ColumnTransformer) and "others" in first.named_transformers_):
        return {}
    others = first.named_transformers_["others"]
    step = others[0] if isinstance(others, Pipeline) else None
    given = step.kw_args if isinstance(step, FunctionTransformer) else None
    dates = (given or {}).get("dates", {})
    return {name: form for name, form in dates.items() if form is not None}


def _others(frame: pd.DataFrame) -> Any:
    from skrub import StringEncoder, TableVectorizer

    forms = frame.attrs.get(DATE_FORMS, {})
    dates = {str(name): forms.get(name) for name in frame.select_dtypes("datetime")}
    words = frame.select_dtypes(exclude=["number", "datetime"])
    names = {str(name): missing_words(words[name].dropna().unique()) for name in words}
    return make_pipeline(
        FunctionTransformer(
            words_as_categories,
            kw_args={"dates": dates, "names": names},
            feature_names_out="one-to-one",
        ),
        TableVectorizer(
            low_cardinality=OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            high_cardinality=StringEncoder(random_state=0),
            drop_null_fraction=None,  # a fold without any value must not change the matrix
        ),
        SimpleImputer(strategy="median", keep_empty_features=True),
        FunctionTransformer(  # skrub's columns are float32
            np.asarray, kw_args={"dtype": np.float64}, feature_names_out="one-to-one"
        ),
    )


def words_as_categories(
    frame: pd.DataFrame,
    dates: dict[str, str | None] | None = None,
    names: dict[str, list[str]] | None = None,
) -> pd.DataFrame:
    """Keep skrub from judging cells anew: words that look like numbers or dates in some rows only.

    Parameters
    ----------
    frame : DataFrame
    dates : dict of str to (str or None), default=None
        Columns of dates, and how they were written.
    names : dict of str to list of str, default=None
        Columns of words, and which of those that stand for nothing elsewhere are names there.
    """
    read = {name: new_dates(frame[name], form) for name, form in (dates or {}).items()}
    read |= {name: new_words(frame[name], old) for name, old in (names or {}).items()}
    frame = frame.assign(**read)
    words = frame.select_dtypes(exclude=["number", "datetime", "category"]).columns
    return frame.astype(dict.fromkeys(words, "category"))
