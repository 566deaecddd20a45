"""Missing values of iris: errors of imputers, and what a tree says of the species.

Run ``python -m studies.forests``; it writes the page beside this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from mercer import ProximityImputer, PrunedTreeClassifier
from mercer.trees import oob_importance

SETS = 10
SHARE = 0.2
FIRST_SEED = 100
"""Other gaps than those that were looked at while the imputer was made."""

Fill = Callable[[Any, Any], Any]


def imputers() -> dict[str, tuple[str, Fill]]:
    """Return the ways to fill a table, and whether each sees the species."""
    return {
        "median": ("no", lambda X, y: SimpleImputer(strategy="median").fit_transform(X)),
        "KNNImputer": ("no", lambda X, y: KNNImputer().fit_transform(X)),
        "IterativeImputer": ("no", lambda X, y: IterativeImputer(random_state=0).fit_transform(X)),
        "ProximityImputer, no labels": (
            "no",
            lambda X, y: ProximityImputer(random_state=0).fit_transform(X),
        ),
        "IterativeImputer, species as columns": ("yes", _with_species),
        "ProximityImputer, value='mean'": (
            "yes",
            lambda X, y: ProximityImputer(value="mean", random_state=0).fit_transform(X, y),
        ),
        "ProximityImputer": (
            "yes",
            lambda X, y: ProximityImputer(random_state=0).fit_transform(X, y),
        ),
    }


def _with_species(X: Any, y: Any) -> Any:
    both = np.column_stack([X, np.eye(3)[y]])
    return IterativeImputer(random_state=0).fit_transform(both)[:, : X.shape[1]]


def imputation() -> list[str]:
    """Return the table of errors."""
    X, y = load_iris(return_X_y=True)
    errors: dict[str, list[float]] = {name: [] for name in imputers()}
    for seed in range(FIRST_SEED, FIRST_SEED + SETS):
        gaps = np.random.default_rng(seed).random(X.shape) < SHARE
        table = np.where(gaps, np.nan, X)
        for name, (_, fill) in imputers().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # IterativeImputer ends at its limit
                filled = fill(table, y)
            apart = ((filled - X) / X.std(axis=0))[gaps]
            errors[name].append(float(np.sqrt(np.mean(apart**2))))
    peer = np.array(errors["IterativeImputer"])
    lines = [
        "| imputer | sees species | error | better than IterativeImputer in |",
        "|---|---|---:|---:|",
    ]
    for name, (sees, _) in imputers().items():
        found = np.array(errors[name])
        error = found.std(ddof=1) / np.sqrt(SETS)
        wins = "" if name == "IterativeImputer" else f"{(found < peer).sum()} of {SETS}"
        lines.append(f"| {name} | {sees} | {found.mean():.3f} ± {error:.3f} | {wins} |")
    return lines


def importance() -> list[str]:
    """Return the importances of the features."""
    iris = load_iris()
    forest = RandomForestClassifier(500, random_state=0).fit(iris.data, iris.target)
    found = oob_importance(forest, iris.data, iris.target, random_state=0)
    lines = ["| feature | lost correct flowers a tree | standard error |", "|---|---:|---:|"]
    for j in np.argsort(-found.importances):
        name, mean = iris.feature_names[j], found.importances[j]
        lines.append(f"| {name} | {mean:.2f} | {found.standard_error[j]:.2f} |")
    return lines


def rules() -> str:
    """Return the pruned tree as sentences."""
    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    return PrunedTreeClassifier(random_state=0).fit(iris.data, species).export_text()


def main() -> None:
    """Write the page."""
    text = f"""# Forests and trees on iris

Made by `python -m studies.forests`.

## Missing values

Of {SETS} copies of iris {SHARE:.0%} of the values are removed at random. The error is the root
mean square difference between filled and true values, in standard deviations of the columns, with
its standard error over the copies.

{chr(10).join(imputation())}

`fit_transform` of `ProximityImputer` uses the labels of the training rows, as Breiman's method
does; `IterativeImputer` does not, but can be given them as columns. Without labels the forest
learns the table itself, which is no match for a regression on four columns that depend on each
other almost linearly.

## Which features matter

Correct classifications of out-of-bag flowers that a tree loses when a feature is permuted
(`oob_importance`, 500 trees, about 55 flowers out of the bag of each).

{chr(10).join(importance())}

## The pruned tree

```text
{rules()}
```
"""
    (Path(__file__).parent / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
