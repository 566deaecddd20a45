"""Models of tables: measured, saved, and read again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.cli._screen import Screen
    from mercer.comparison import Comparison
    from mercer.tables import Table, TableModel

EVENLY = (
    "The model decides as if all classes were equally frequent: rare ones are predicted more often "
    "than they occur, and probabilities need not be those of the population."
)
"""What must be known of a model of unbalanced classes."""

DEFAULT_MODEL = {"classification": "svc", "regression": "svr"}


def names_of(text: str, task: str) -> str:
    """Return names of models with commas, also where they were given by their titles.

    Examples
    --------
    >>> names_of("Linear discriminant, SVC,tree", "classification")
    'lda,svc,tree'
    """
    from mercer.comparison.rivals import CLASSIFIERS, REGRESSIONS

    rivals = CLASSIFIERS if task == "classification" else REGRESSIONS
    titles = {rival.title.lower(): rival.name for rival in rivals}
    titles |= {rival.name.lower(): rival.name for rival in rivals}
    return ",".join(titles.get(one.lower(), one) for one in map(str.strip, text.split(",")))


def check_before_reading(names: str | None, settings: dict[str, Any]) -> None:
    """Complain of what needs no look at the table, which may be large.

    Parameters
    ----------
    names : str or None
        Models with commas, of either task.
    settings : dict
        Of `mercer.comparison.compare_table`.
    """
    from mercer.cli._options import MODELS_HELP
    from mercer.comparison.comparing import check_settings
    from mercer.comparison.rivals import CLASSIFIERS, REGRESSIONS
    from mercer.tables import InputError, suggestion
    from mercer.tables.errors import shown

    check_settings(**settings)
    rivals = (*CLASSIFIERS, *REGRESSIONS)
    known = [rival.name for rival in rivals]
    titles = [rival.title.lower() for rival in rivals]
    for name in filter(None, map(str.strip, (names or "").split(","))):
        if name.lower() not in (*known, *titles):
            raise InputError(
                f"There is no model {shown(name)} ({MODELS_HELP}){suggestion(name, known)}"
            )


def measured(
    table: Table, name: str | None, screen: Screen, settings: dict[str, Any]
) -> tuple[Comparison, str]:
    """Return one model beside the baseline on the same folds, and its name.

    Parameters
    ----------
    table : Table
    name : str or None
        None takes the support vector machine of the task.
    screen : Screen
        For progress.
    settings : dict
        Of `mercer.comparison.compare_table`.
    """
    from mercer.cli._screen import progress
    from mercer.comparison import compare_table
    from mercer.tables import InputError

    name = names_of(name or DEFAULT_MODEL[table.task], table.task)
    if "," in name:
        raise InputError(
            f"One model is fitted at a time; got {name!r} (mercer compare takes more)."
        )
    with progress(screen.side, settings["minutes"]) as show:
        found = compare_table(
            table, models=[name], repeats=1, insights=False, progress=show, **settings
        )
    if found.stopped == "it was interrupted":
        raise KeyboardInterrupt
    if name not in found.results_.index:
        reason = found.left_out_models.get(name, "it was left out")
        raise InputError(
            f"{found.title(name)} could not be measured: {reason}; give more --minutes or another "
            "model."
        )
    return found, name


def verdict(found: Comparison, name: str) -> list[str]:
    """Return how good a model is beside the baseline, and whether that means anything."""
    from mercer.comparison.rivals import BASELINE
    from mercer.comparison.words import NAMES, spread, value

    measure, row, base = found.measure, found.results_.loc[name], found.results_.loc[BASELINE]
    over = f"over {found.n_folds} folds" if found.n_folds > 1 else "on one fold"
    about = f" ± {spread(measure, row['error_sd'], row[measure])}" if found.n_folds > 1 else ""
    text = f"{row['title']}: {NAMES[measure]} {value(measure, row[measure])}{about} {over}"
    part = f"Partial: {found.stopped} after {found.n_folds} of {found.n_wanted} folds."
    said = [part] if found.partial else []
    if name == BASELINE:
        return [*said, f"{text}."]
    said += [f"{text} ({base['title']}: {value(measure, base[measure])})."]
    if found.best_name_ == BASELINE or found.results_.loc[BASELINE, "verdict"] == "tied":
        said.append("That is not clearly better, so nothing has been shown to be learned.")
    if found.measure == "balanced_error":
        said.append("The classes are unbalanced: the error is the mean of those of all classes.")
        said.append(EVENLY)
    if found.changed:
        said.append(found.changed)
    return said


def save_model(model: Any, table: Table, path: Path, kept: dict[str, Any]) -> None:
    """Save a model with what it takes to read new rows for it.

    Parameters
    ----------
    model : estimator
        Fitted to the frame of `table`.
    table : Table
    path : Path
    kept : dict
        What else the file shall tell.
    """
    import mercer
    from mercer.cli._places import told_where
    from mercer.tables import TableModel

    with told_where(path):
        mercer.save(TableModel.of(model, table, kept), path)


def tell_how_to_predict(screen: Screen, path: Path) -> None:
    """Say what comes next."""
    line = f"Predict new rows: mercer predict {path} NEW_ROWS.csv"
    screen.out.print(line, soft_wrap=True, markup=False)  # to be copied as it stands


def load_model(path: Path) -> TableModel:
    """Return the model of a file, or say in a sentence why there is none."""
    import mercer
    from mercer.tables import InputError, TableModel
    from mercer.tables.vectorizer import column_kinds

    need_file(path)
    model = mercer.load(path)
    if isinstance(model, TableModel):
        return model
    columns = column_kinds(model)
    if columns is None or not hasattr(model, "predict"):
        raise InputError(
            f"{str(path)!r} holds a {type(model).__name__} that does not know the columns of its "
            "table; save it by mercer fit, mercer compare --save or mercer.tables.TableModel."
        )
    return TableModel(model, columns, {}, {}, None, _task(model), [], {})


def need_file(path: Path) -> None:
    """Say that a file is not there, or none, where that is so."""
    from mercer.tables import InputError

    if not path.exists():
        raise InputError(f"There is no file {str(path)!r}.")
    if not path.is_file() and not path.is_dir():  # a pipe would be waited for
        raise InputError(f"{str(path)!r} is not an ordinary file.")


def _task(model: Any) -> str:
    from sklearn.utils import get_tags

    kinds = {"classifier": "classification", "regressor": "regression"}
    return kinds.get(str(get_tags(model).estimator_type), "description")
