"""What lies in a file, without loading it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer.persistence._archive import DIGITS
from mercer.persistence.errors import one_line
from mercer.persistence.loading import checked

MOST_NAMES = 8
"""Names of features or classes in the table; the object has all of them."""


@dataclass(frozen=True)
class ModelDescription:
    """What a file says about the model in it; as text, a table.

    Attributes
    ----------
    model, type : str
        The model as it is printed, and its type with the module.
    kind : str
        "classifier", "regressor", "outlier detector", "clusterer", "transformer" or "estimator".
    fitted : bool
    n_features : int or None
    feature_names, classes : tuple or None
    versions : dict
        Of mercer, Python and the packages with which it was written.
    format : int
        Number of the form of the file.
    size : int
        Bytes.
    sha256 : str
        The checksum.
    """

    model: str
    type: str
    kind: str
    fitted: bool
    n_features: int | None
    feature_names: tuple[Any, ...] | None
    classes: tuple[Any, ...] | None
    versions: dict[str, str]
    format: int
    size: int
    sha256: str

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of a table: what, and its value in printable signs."""
        lines = [
            ("model", self.model),
            ("kind", f"{self.kind}, {'fitted' if self.fitted else 'not fitted'}"),
            ("features", _counted(self.n_features, self.feature_names)),
            ("classes", _counted(len(self.classes) if self.classes else None, self.classes)),
            ("written by", ", ".join(f"{name} {v}" for name, v in self.versions.items())),
            ("file", f"form {self.format}, {self.size:,} bytes"),
            ("sha256", self.sha256),
        ]
        return [(name, one_line(value)) for name, value in lines if value]

    def __str__(self) -> str:
        return "\n".join(f"{name:<10}  {value}" for name, value in self.rows())


def describe(path: Any) -> ModelDescription:
    """Return what a file says about the model in it; the model is not loaded.

    Parameters
    ----------
    path : path-like
        Of a file that `mercer.save` wrote.

    Returns
    -------
    ModelDescription
        Prints as a table.

    Raises
    ------
    ModelFileError
        In one sentence, if it is another kind of file, or damaged.

    See Also
    --------
    mercer.save : Writes the file.
    mercer.load : Gives the model back.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.mercer"
    ...     mercer.save(mercer.SVC(C=10.0).fit(X, y), path)
    ...     print(mercer.describe(path))
    model       SVC(C=10.0)
    kind        classifier, fitted
    features    4: sepal length (cm), sepal width (cm), petal length (cm), petal width (cm)
    classes     3: 0, 1, 2
    written by  mercer ..., python ..., scikit-learn ..., numpy ..., scipy ..., skops ...
    file        form 1, ... bytes
    sha256      ...
    """
    with checked(path) as (file, _, header):
        file.seek(-DIGITS, 2)
        seal = file.read(DIGITS).decode("ascii", errors="replace")
        names, classes = header["feature_names"], header["classes"]
        return ModelDescription(
            model=header["model"],
            type=header["type"],
            kind=header["kind"],
            fitted=header["fitted"],
            n_features=header["n_features"],
            feature_names=None if names is None else tuple(names),
            classes=None if classes is None else tuple(classes),
            versions={str(name): str(version) for name, version in header["versions"].items()},
            format=header["format"],
            size=Path(path).stat().st_size,
            sha256=seal,
        )


def _counted(number: int | None, names: tuple[Any, ...] | None) -> str:
    if number is None:
        return ""
    shown = ", ".join(one_line(name)[:40] for name in (names or ())[:MOST_NAMES])
    more = f" and {number - MOST_NAMES} more" if names and number > MOST_NAMES else ""
    return f"{number}: {shown}{more}" if shown else str(number)
