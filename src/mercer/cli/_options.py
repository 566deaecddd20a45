"""The options that commands share, and how each of them ends."""

from __future__ import annotations

import errno
import functools
import inspect
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, get_type_hints

import typer

from mercer.cli._screen import echo
from mercer.cli.interrupts import INTERRUPTED, noting_interrupts

if TYPE_CHECKING:
    from mercer.tables import Table

FAILED = 1
"""What a command returns that something outside of it has ended, such as a full disk."""

REFUSED = 2
"""What a command returns that cannot use what it was given."""

BAD_PATHS = (errno.ENAMETOOLONG, errno.ELOOP)
"""What the system says of paths that can be none."""

LONGEST_PATH = 100
"""Characters; of longer ones the end is shown."""

SWITCH = "MERCER_INSTRUCTION_SET"
"""Begins what the engine says of instructions that there are not."""

STOPPED = "stopped before anything was finished; nothing was written."
"""What a command says that Ctrl-C has ended."""

DATA_HELP = (
    "A table (CSV, TSV, Excel, Parquet, svmlight, also packed), or iris, wine, breast_cancer, "
    "digits, diabetes, moons, circles, blobs."
)
FORM: dict[str, Any] = {
    "encoding": Annotated[str | None, typer.Option(help="Of a text file, if not found out.")],
    "separator": Annotated[str | None, typer.Option(help="Between cells, if not found out.")],
    "header": Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.")
    ],
}
"""How a file is written."""

COLUMNS: dict[str, Any] = {
    "drop": Annotated[str | None, typer.Option(help="Columns to leave out, with commas.")],
    "categorical": Annotated[
        str | None, typer.Option(help="Columns whose numbers are names, with commas.")
    ],
}
TARGET: dict[str, Any] = {
    "target": Annotated[
        str | None, typer.Option(help="Column to predict, by name or position (-1 is the last).")
    ],
    "task": Annotated[
        str | None, typer.Option(help="classification or regression, where it is not plain.")
    ],
    "positive": Annotated[str | None, typer.Option(help="The class to look for.")],
    "groups": Annotated[
        str | None, typer.Option(help="Column whose rows belong together, such as a patient.")
    ],
    "time": Annotated[
        str | None, typer.Option("--time", help="Column of times: folds learn from the past only.")
    ],
}
LABELLED = {**TARGET, **COLUMNS, **FORM}
"""Of commands that learn to predict a column."""

UNLABELLED = {**COLUMNS, **FORM}
"""Of commands that look at all columns alike."""

MODEL_NAMES = {
    "classification": "lda, logistic, qda, tree, boosting, svc, forest, neighbours, svc_grid, "
    "spheres, rvc, fuzzy",
    "regression": "ridge, tree, boosting, forest, neighbours, svr, rvr",
}
"""What models are called; written down, since to ask them would make --help slow."""

MODELS_HELP = (
    f"for classes {MODEL_NAMES['classification']}; for numbers {MODEL_NAMES['regression']}"
)

_INTERRUPTS: list[list[int]] = []
"""What `noting_interrupts` has noted for the command that runs."""

MOST_SEED = 2**32 - 1
"""The largest that NumPy's generators take."""

SETTINGS: dict[str, tuple[Any, Any]] = {
    "minutes": (Annotated[float, typer.Option(help="Time for all of it.")], 3.0),
    "folds": (Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")], 5),
    "seed": (Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Which shuffle.")], 0),
    "n_jobs": (
        Annotated[
            int | None, typer.Option("--threads", min=1, help="All processors if not given.")
        ],
        None,
    ),
}
"""How a command runs: each option with its default, by the name of `mercer.compare`."""

RUNS = tuple(SETTINGS)
"""Of commands that compare models or measure one."""

Data = Annotated[str, typer.Argument(help=DATA_HELP, show_default=False)]


def command(
    options: dict[str, Any], shared: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options that it gets as dicts, and an end in one sentence.

    Bad input, a full disk and Ctrl-C each have their exit code, and none a traceback.

    Parameters
    ----------
    options : dict of str to annotation
        Such as `LABELLED`. The function gets them as ``reading``.
    shared : sequence of str
        Names of `SETTINGS`, which it gets as ``settings``.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own = get_type_hints(function, include_extras=True)
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in options.items()
        ]
        added += [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, (kind, default) in SETTINGS.items()
            if name in shared
        ]
        kept = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=own[one.name])
            for one in inspect.signature(function).parameters.values()
            if one.name not in ("reading", "settings")
        ]
        split = (
            [one for one in kept if _is_argument(one)],
            [one for one in kept if not _is_argument(one)],
        )
        order = [*split[0], *added, *split[1]]

        @functools.wraps(function)
        def run(**given: Any) -> None:
            dicts = {"reading": {name: given.pop(name) for name in options}}
            if shared:
                dicts["settings"] = {name: given.pop(name) for name in shared}
            with_one_sentence(function, **given, **dicts)

        run.__signature__ = inspect.Signature(order)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in order}
        del run.__wrapped__
        return run

    return decorate


def _is_argument(parameter: inspect.Parameter) -> bool:
    return any(
        isinstance(one, typer.models.ArgumentInfo)
        for one in getattr(parameter.annotation, "__metadata__", ())
    )


def with_one_sentence(function: Callable[..., None], **given: Any) -> None:
    """Run a command, and end it with a sentence and an exit code whatever goes wrong."""
    name = function.__name__.lstrip("_")
    try:  # which takes seconds where the disk is slow
        from mercer.persistence import ModelFileError
        from mercer.tables import InputError
    except KeyboardInterrupt:
        _end(name, STOPPED, INTERRUPTED)
    try:
        with noting_interrupts() as noted, warnings.catch_warnings():
            _INTERRUPTS[:] = [noted]
            warnings.simplefilter("ignore")
            function(**given)
    except (InputError, ModelFileError) as error:
        _end(name, str(error), REFUSED)
    except OSError as error:
        _end(name, _why(error), REFUSED if error.errno in BAD_PATHS else FAILED)
    except ImportError as error:
        if SWITCH not in str(error):
            raise
        _end(name, f"{error}.", REFUSED)
    except MemoryError:
        _end(name, "the memory does not suffice; take some of the rows.", FAILED)
    except KeyboardInterrupt:
        _end(name, STOPPED, INTERRUPTED)
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        said = f"{type(error).__name__}: {lines[0][:300]}"
        _end(name, f"it could not be done ({said}).", FAILED)


def stop_if_asked() -> None:
    """End the command if Ctrl-C came where it could not be raised; to be called before writing."""
    if any(_INTERRUPTS):
        raise KeyboardInterrupt


def _why(error: OSError) -> str:
    place = str(error.filename or "")
    where = f": {place if len(place) <= LONGEST_PATH else '…' + place[-LONGEST_PATH:]}" * bool(
        place
    )
    return f"{error.strerror or error}{where}."


def _end(name: str, sentence: str, code: int) -> NoReturn:
    echo(f"mercer {name}: {sentence}", err=True)
    raise typer.Exit(code) from None


def stem(data: str) -> str:
    """Return the name of a file without its endings."""
    return Path(data).name.split(".")[0] or "table"


def words(text: str | None) -> tuple[str, ...]:
    """Return what stands between the commas.

    Examples
    --------
    >>> words("age, name"), words(None)
    (('age', 'name'), ())
    """
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def read_labelled(data: str, reading: dict[str, Any], seed: int = 0) -> Table:
    """Return a table with a target, from a file or by its name.

    Parameters
    ----------
    data : str
    reading : dict
        The options of `LABELLED`.
    seed : int, default=0
        For data that are generated.
    """
    from mercer.tables import InputError, named_table, read_table
    from mercer.tables.named_table import NAMES

    given = [name for name, one in reading.items() if one is not None]
    if data in NAMES:
        if given:
            raise InputError(f"--{given[0]} is for files; {data!r} comes as it is.")
        return named_table(data, seed)
    options = {**reading, **{name: words(reading[name]) for name in COLUMNS}}
    place = options.pop("target")
    return read_table(file_of(data), place_of(place), **options)


def place_of(column: str | None) -> str | int | None:
    """Return the position that stands for a column, if that is no name.

    Examples
    --------
    >>> place_of("-1"), place_of("age"), place_of("\u00b2")
    (-1, 'age', '\u00b2')
    """
    return int(column) if column and re.fullmatch("-?[0-9]+", column) else column


def read_features(
    data: str, reading: dict[str, Any], seed: int = 0, *, dates: bool = False
) -> Table:
    """Return a table without a target; of data that have one, it is left out.

    Parameters
    ----------
    data, reading, seed
        As in `read_labelled`, with the options of `UNLABELLED`.
    dates : bool, default=False
        Whether dates are features.
    """
    from dataclasses import replace

    from mercer.tables import read_unlabelled
    from mercer.tables.named_table import NAMES

    if data in NAMES:
        table = read_labelled(data, reading, seed)
        nothing = table.target.astype(object).mask(table.target.notna(), None)
        return replace(table, task="description", target=nothing)
    options = {**reading, **{name: words(reading[name]) for name in COLUMNS}}
    return read_unlabelled(file_of(data), **options, dates=dates)


def file_of(data: str) -> Path:
    """Return the path of a table, or say that neither a file nor a data set has that name."""
    from mercer.tables import InputError, suggestion
    from mercer.tables.named_table import NAMES

    path = Path(data)
    if not path.exists() and not path.suffix:
        raise InputError(
            f"There is no file {data!r}, nor a data set of that name ({', '.join(NAMES)})"
            + suggestion(data, NAMES)
        )
    if is_model(path) or is_libsvm_model(path):
        raise InputError(f"{data!r} is a model, not a table; mercer info tells what is in it.")
    return path


def told_apart(names: Iterable[str], ours: Collection[str]) -> dict[str, str]:
    """Return other names for columns of a table that are called as those beside which they stand.

    Examples
    --------
    >>> told_apart(["age", "distance"], ["row", "distance"])
    {'distance': 'distance (column)'}
    """
    return {name: f"{name} (column)" for name in names if name in ours}


def is_libsvm_model(path: Path) -> bool:
    """Tell by its first bytes whether a file looks like a model of LIBSVM."""
    if not path.is_file():  # a pipe would be waited for
        return False
    try:
        with path.open("rb") as file:
            return file.read(9) == b"svm_type "
    except OSError:
        return False


def is_model(path: Path) -> bool:
    """Tell whether a file looks like one of `mercer.save`; `mercer.load` looks closer."""
    import zipfile

    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "mercer.json" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False
