"""What a model says about a few rows: written into its file, and compared when it is loaded.

A file can be whole and of known types, and its numbers may still not make the model that was
saved: attributes are missing, lengths do not fit, an entry is another one, or other versions of
the libraries read it otherwise. So the model is tried. Only methods of trusted types are called,
with rows of numbers and words.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import ceil, log10
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from mercer.persistence._header import plain
from mercer.persistence._questions import Question, asked, questions
from mercer.persistence._words import reads_files
from mercer.persistence.errors import RefusalError, one_line

METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
MOST_VALUES = 1024
"""Of an answer that are kept, but for eight columns at least."""

CLOSE = 1e-6
"""Share of the size of values by which answers may differ: other processors add otherwise, and
kernel values may be of single precision."""

CLOSE_IN_SINGLE = 1e-3
"""The same for models whose own numbers are of single precision."""

STEADY = 1e-6
"""Share by which an answer may move with the last digits of a row and still be kept."""

Answer = tuple[int, np.ndarray]
"""The number of its columns, and some of them: numbers, or objects that JSON knows."""


class OtherAnswersError(RefusalError):
    """A model works, but says something else than when it was saved."""


def probe_of(model: Any, parts: list[Any], file_size: int) -> dict[str, Any] | None:
    """Return rows and what a fitted model says about them, for the header of its file.

    Rows about which rounding decides are left out. Of an answer that is drawn at random, or that
    rounding makes up, only the number of columns is told; None where no method takes rows that can
    be made up, and in place of the answer of one that does not take these.
    """
    methods = [name for name in METHODS if _has(model, name)]
    if not methods or reads_files(parts):
        return None
    # Logarithms of densities that vanish are what rounding makes of them.
    told = [name for name in methods if name != "score_samples"] or methods
    close = CLOSE_IN_SINGLE if _is_single(parts) else CLOSE
    with undisturbed(parts):
        for question in questions(model, parts, file_size):
            found = _recorded(model, methods, told, question, close)
            if found is not None:
                return {"rows": found[0], "answers": dict.fromkeys(methods) | found[1]}
    return None


def _is_single(parts: list[Any]) -> bool:
    """Say whether a model has arrays of single precision."""
    values = (value for part in parts if hasattr(part, "__dict__") for value in vars(part).values())
    return any(getattr(value, "dtype", None) == np.float32 for value in values)


def check_probe(model: Any, parts: list[Any], record: Any, file_size: int) -> None:
    """Raise RefusalError if a model does not say what its file has."""
    if not isinstance(record, dict) or set(record) != {"rows", "answers"}:
        raise RefusalError("what it says about itself cannot be read")
    rows, expected = asked(record["rows"], model, file_size), record["answers"]
    if not isinstance(expected, dict) or not set(expected) <= set(METHODS):
        raise RefusalError("what it says about itself cannot be read")
    for name in METHODS:
        if _has(model, name) != (name in expected):
            raise OtherAnswersError(f"{name} is there now or then, but not both")
    if reads_files(parts):
        raise RefusalError("it would open files that it names")
    if rows is None:
        return
    with undisturbed(parts):
        for name, answer in expected.items():
            if answer is None:
                continue
            try:
                found = _answer(getattr(model, name)(rows), len(rows), _columns(answer))
            except Exception as error:
                reason = one_line(error)[:120].rstrip(".")
                raise RefusalError(
                    f"{name} does not work ({type(error).__name__}: {reason})"
                ) from None
            if found is None or not _agrees(found, answer):
                raise OtherAnswersError(f"{name} does not give what it gave when it was saved")


@contextmanager
def undisturbed(parts: list[Any]) -> Iterator[None]:
    """Try a model in silence and in one thread, and leave it and all random states as they were."""
    states = [(part, dict(vars(part))) for part in parts if hasattr(part, "__dict__")]
    randoms = [
        (value, _random_state(value))
        for _, state in states
        for value in state.values()
        if isinstance(value, np.random.RandomState | np.random.Generator)
    ]
    drawn = np.random.get_state()
    try:
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            joblib.parallel_config("sequential"),  # whatever number of jobs a file asks for
            _one_thread(parts),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(drawn)
        for value, state in randoms:
            _restore(value, state)
        for part, state in states:
            vars(part).clear()
            vars(part).update(state)


def _one_thread(parts: list[Any]) -> AbstractContextManager[Any]:
    """Hold boosted trees to one thread: on a busy machine theirs wait for each other, tree by tree.

    To find the libraries takes milliseconds, so others go without.
    """
    boosted = any(type(part).__name__ == "TreePredictor" for part in parts)
    return threadpool_limits(1) if boosted else nullcontext()


def _random_state(value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        return value.get_state()
    return value.bit_generator.state


def _restore(value: Any, state: Any) -> None:
    if isinstance(value, np.random.RandomState):
        value.set_state(state)
    else:
        value.bit_generator.state = state


def _has(model: Any, name: str) -> bool:
    try:
        return hasattr(model, name)
    except Exception:  # an unfitted search asks its estimator
        return False


def _recorded(
    model: Any, methods: list[str], told: list[str], question: Question, close: float
) -> tuple[Any, dict[str, Any]] | None:
    """Return rows of one question and the answers, or None if nothing steady answers it."""
    found = _answers(model, told, question.rows)
    again = _answers(model, list(found), question.shaken)
    steady = {name: _steady(found[name][1], again[name][1]) for name in again}
    steady = {name: rows for name, rows in steady.items() if rows.any()}
    if not steady:
        return None
    kept = np.logical_and.reduce(list(steady.values()))
    if not kept.any():
        return None
    few = question if kept.all() else _picked(question, np.flatnonzero(kept))
    answers = _answers(model, methods, few.rows)
    moved = _answers(model, list(steady), few.shaken)
    known = {
        name: _told(answers[name], moved[name], close)
        for name in moved
        if name in answers and _steady(answers[name][1], moved[name][1]).all()  # nothing is drawn
    }
    others = {name: {"columns": width} for name, (width, _) in answers.items()}
    return (few.record, others | known) if known else None


def _picked(question: Question, rows: Any) -> Question:
    """Return some of the rows of a question."""
    record = question.record
    if isinstance(question.rows, list):
        return question
    if isinstance(record, list):
        lines = [record[k] for k in rows]
        return Question(lines, question.rows[rows], question.shaken[rows])
    if "line" in record:
        some = {"line": " ".join(record["line"].split()[k] for k in rows)}
        return Question(some, question.rows[rows], question.shaken[rows])
    some = _lines(record, rows)
    if "objects" in record:
        return Question(some, question.rows[rows], question.shaken[rows])
    return Question(some, question.rows.iloc[rows], question.shaken.iloc[rows])


def _lines(record: Any, rows: Any) -> Any:
    """Return some rows of the record of a frame, whose lists stand in dictionaries."""
    if isinstance(record, dict):
        return {name: _lines(value, rows) for name, value in record.items()}
    return [record[k] for k in rows]


def _answers(model: Any, methods: list[str], rows: Any) -> dict[str, Answer]:
    """Return the answers of the methods that have one of a known kind."""
    found = {}
    for name in methods:
        try:
            answer = _answer(getattr(model, name)(rows), len(rows))
        except Exception:  # these rows are not of its kind
            continue
        if answer is not None:
            found[name] = answer
    return found


def _answer(value: Any, count: int, columns: int | None = None) -> Answer | None:
    """Return a few columns of what a method gave, or None if it has no line for each row.

    Also if it has other than so many columns, since to take some out of very many takes memory.
    """
    if sp.issparse(value):
        value.check_format(full_check=True)  # or it would be written outside of the matrix
    else:
        value = _beside(value)
    if not value.ndim or value.shape[0] != count:
        return None
    if value.ndim != 2:
        value = value.reshape(count, -1)
    width = int(value.shape[1])
    if columns not in (None, width):
        return None
    most = max(8, MOST_VALUES // count)
    if width > most:
        value = value[:, np.linspace(0, width - 1, most).astype(int)]
    if sp.issparse(value):
        value = value.toarray()
    if value.dtype.kind == "f":
        return width, value.astype(np.float64)
    if value.dtype.kind not in "iubUO":
        return None
    return width, np.array([[plain(item) for item in row] for row in value.tolist()], dtype=object)


def _beside(value: Any) -> np.ndarray:
    """Return an array, of a model of several outputs those of all of them."""
    if isinstance(value, list) and all(isinstance(each, np.ndarray) for each in value):
        if all(each.ndim == 2 for each in value):
            return np.concatenate(value, axis=1)
    return np.asarray(value)


def _steady(one: np.ndarray, other: np.ndarray) -> Any:
    """Return which rows have the same answer for nearly the same numbers."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return np.zeros(len(one), dtype=bool)
    if one.dtype == object:
        return (one == other).all(axis=1)
    return _near(one, other, STEADY)


def _near(values: np.ndarray, others: np.ndarray, share: float) -> Any:
    """Return which rows of numbers are equal up to a share of their size."""
    scales = _scales(values)
    near = np.abs(values - others) <= share * scales
    same = (values == others) | (np.isnan(values) & np.isnan(others))  # and infinite ones
    return (near | same).all(axis=1)


def _scales(values: np.ndarray) -> np.ndarray:
    """Return how large the values of each row are: of small ones, those of most rows.

    A third of the rows lies beyond all that a model knows, where values may be larger by far.
    """
    finite = np.where(np.isfinite(values), np.abs(values), 0.0)
    sizes = finite.max(axis=1, initial=0.0)
    usual = np.sort(sizes)[(2 * (len(sizes) - 1)) // 3]
    return np.maximum(np.maximum(sizes, usual), np.finfo(float).tiny)[:, None]


def _told(answer: Answer, moved: Answer, close: float) -> dict[str, Any]:
    """Return an answer for a header, and how near another one must be."""
    width, values = answer
    if values.dtype == object:
        return {"columns": width, "labels": values.tolist()}
    shares = np.abs(values - moved[1]) / _scales(values)
    noise = float(shares[np.isfinite(shares)].max(initial=0.0))
    share = max(close, 10.0 ** ceil(log10(1000 * noise))) if noise else close
    lines = [" ".join(f"{value:.12g}" for value in row) for row in values]
    return {"columns": width, "values": lines, "within": share}


def _columns(told: Any) -> int | None:
    return told.get("columns") if isinstance(told, dict) else None


def _agrees(found: Answer, told: Any) -> bool:
    """Return whether an answer is the one of a header; RefusalError if that is none."""
    try:
        if told["columns"] != found[0]:
            return False
        if set(told) == {"columns"}:
            return True
        if "labels" in told:
            return bool(found[1].dtype == object and found[1].tolist() == told["labels"])
        values = np.array([[float(word) for word in line.split()] for line in told["values"]])
        share = float(told["within"])
        if not 0 < share < 1:
            raise ValueError
    except (TypeError, KeyError, ValueError, AttributeError):
        raise RefusalError("what it says about itself cannot be read") from None
    if found[1].dtype == object or found[1].shape != values.shape:
        return False
    return bool(_near(values, found[1], share).all())
