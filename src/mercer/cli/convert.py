"""The command `mercer convert`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from mercer.cli._options import is_libsvm_model, place_of, with_one_sentence
from mercer.cli._places import told_where
from mercer.cli._screen import echo

MODELS = {
    ".mercer": "a file of mercer",
    ".model": "a model file of LIBSVM",
    ".libsvm": "a model file of LIBSVM",
    ".c": "a C function",
    ".onnx": "an ONNX graph",
}
TABLES = {
    ".csv": "a table",
    ".svm": "an svmlight file",
    ".svmlight": "an svmlight file",
    ".libsvm": "an svmlight file",
}
"""What is written, by the ending of its name; the content tells what is read."""

MOST_LABELS = 20


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="A model (of mercer or LIBSVM) or a table (CSV, Excel, Parquet, svmlight, ...).",
        ),
    ],
    destination: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="The ending says what: of a model .mercer, .model (LIBSVM), .c, .onnx; of a table "
            ".csv, .svm (svmlight).",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            help="Column to predict, by name or position; for tables that are not svmlight."
        ),
    ] = None,
    features: Annotated[
        int | None,
        typer.Option(
            min=1, help="Columns of the data, where no vector of a LIBSVM file has the last."
        ),
    ] = None,
    double: Annotated[
        bool, typer.Option("--double", help="Let an ONNX graph take double precision.")
    ] = False,
) -> None:
    """Turn a model into the file of another program, or a table into an svmlight file, and back."""
    with_one_sentence(
        _convert,
        source=source,
        destination=destination,
        target=target,
        features=features,
        double=double,
    )


def _convert(
    source: Path, destination: Path, target: str | None, features: int | None, double: bool
) -> None:
    from mercer.persistence import ModelFileError
    from mercer.tables import InputError

    try:
        is_model = _checked(source, destination)
        with told_where(destination):
            if is_model:
                _convert_model(source, destination, features, double)
            else:
                _convert_table(source, destination, target)
    except (InputError, ModelFileError):
        raise
    except (ValueError, TypeError, ImportError) as error:  # what cannot be in the other form
        raise InputError(f"{' '.join(str(error).split()).rstrip('.')}.") from None
    kinds = MODELS if is_model else TABLES
    echo(f"Written: {destination}, {kinds[destination.suffix.lower()]}")


def _checked(source: Path, destination: Path) -> bool:
    """Refuse places that will not do, and tell whether a model is converted, not a table."""
    from mercer._files import check_writable
    from mercer.tables import InputError

    if not source.exists():
        raise InputError(f"There is no file {str(source)!r}.")
    if os.path.realpath(source) == os.path.realpath(destination):
        raise InputError("IN and OUT are the same file.")
    is_model = _is_model(source)
    endings = MODELS if is_model else TABLES
    if destination.suffix.lower() not in endings:
        raise InputError(
            f"{str(source)!r} is a {'model' if is_model else 'table'}, and OUT must end in "
            f"{', '.join(endings)}; got {str(destination)!r}."
        )
    try:
        check_writable(destination)
    except OSError as error:
        raise InputError(f"OUT cannot be written: {error}.") from None
    return is_model


def _is_model(source: Path) -> bool:
    """Tell by the first bytes, or by the ending that mercer's files have."""
    return source.suffix.lower() == ".mercer" or is_libsvm_model(source)


def _convert_model(source: Path, destination: Path, features: int | None, double: bool) -> None:
    import mercer
    from mercer._files import write_text_whole, written_whole

    ending = destination.suffix.lower()
    is_own = source.suffix.lower() == ".mercer"
    model = mercer.load(source) if is_own else mercer.from_libsvm(source, n_features=features)
    if ending == ".mercer":
        mercer.save(model, destination)
    elif ending == ".c":
        write_text_whole(destination, mercer.to_c(model))
    elif ending == ".onnx":
        import numpy as np

        kind = np.float64 if double else np.float32
        graph = mercer.to_onnx(model, np.zeros((1, _n_features(model)), dtype=kind))
        with written_whole(destination) as file:
            file.write(graph.SerializeToString())
    else:
        mercer.to_libsvm(model, destination)
    if ending != ".mercer" and hasattr(model, "columns"):
        _tell_columns(model, ending)


def _tell_columns(model: Any, ending: str) -> None:
    """Say what is no longer told by names, and what becomes of gaps."""
    from mercer.tables.errors import listed

    order = listed(model.columns, 12)
    gaps = (
        "gaps (NaN) are filled as before"
        if ending in (".c", ".onnx")
        else "gaps are not filled: LIBSVM has no place for that"
    )
    echo(f"note: it takes the columns in the order {order}; {gaps}.", err=True)


def _n_features(model: Any) -> int:
    count = getattr(model, "n_features_in_", None)
    if count is None:
        raise ValueError(f"The {type(model).__name__} is not fitted to a matrix of numbers.")
    return int(count)


def _convert_table(source: Path, destination: Path, target: str | None) -> None:
    from mercer._files import written_whole
    from mercer.cli._screen import without_folds
    from mercer.tables import read_table

    table = read_table(source, place_of(target))
    is_csv = destination.suffix.lower() == ".csv"
    for notice in table.notices:
        if not (is_csv and "missing" in notice and "they " in notice):  # gaps stay gaps
            echo(f"note: {without_folds(notice)}", err=True)
    echo(f"note: {_columns_taken(table)}", err=True)
    if is_csv:
        frame = table.frame.assign(**{str(table.target.name or "target"): table.target})
        with written_whole(destination) as file:
            file.write(frame.to_csv(index=False).encode())
        return
    with written_whole(destination) as file:
        _write_svmlight(table, file)


def _columns_taken(table: Any) -> str:
    """Say which columns the file has, since others may have been left out."""
    from mercer.tables.errors import counted, listed

    names, n = listed(table.frame.columns, 12), table.frame.shape[1]
    target = str(table.target.name or "target")
    return f"{counted(n, 'column')} taken ({names}), the target is {target!r}."


def _write_svmlight(table: Any, file: Any) -> None:
    """Write the features as numbers, and classes as whole ones, which is told."""
    import numpy as np
    from sklearn.datasets import dump_svmlight_file

    from mercer.tables import vectorizer

    X = np.asarray(vectorizer(table).fit_transform(table.frame), dtype=np.float64)
    y, names = np.asarray(table.target), None
    if table.task == "classification":
        names, codes = np.unique(y.astype(str), return_inverse=True)
        y = codes if (labels := _whole_numbers(names)) is None else labels[codes]
        names = names if labels is None else None
    dump_svmlight_file(X, y, file, zero_based=False)
    if names is not None:
        listed = [f"{code} is {name}" for code, name in enumerate(names[:MOST_LABELS])]
        more = "; ..." if names.size > MOST_LABELS else ""
        echo(f"note: classes are numbers now: {'; '.join(listed)}{more}", err=True)


def _whole_numbers(names: Any) -> Any:
    """Return labels that are whole numbers already, or None."""
    import numpy as np

    try:
        numbers = np.array([float(name) for name in names])
    except ValueError:
        return None
    return numbers.astype(np.int64) if (numbers == np.trunc(numbers)).all() else None
