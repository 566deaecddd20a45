"""The study of baselines: what its sets are, and what its methods do on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mercer.studies import get_study, run_study
from studies.baselines.study import CURVED, LINEAR, draw_boundaries, draw_times, make_plane


@pytest.mark.parametrize("kind", ["separable", "ring", "moons", "squares"])
def test_sets_need_what_they_say(kind: str) -> None:
    """A line has no error on the separable set, and a large one on the others."""
    from sklearn.svm import SVC

    X, y = make_plane(kind, 400, seed=3)
    assert set(np.unique(y)) == {-1, 1}
    line, curve = SVC(kernel="linear", C=10.0).fit(X, y), SVC(C=1e3, gamma=1.0).fit(X, y)
    assert curve.score(X, y) > 0.97
    assert (line.score(X, y) == 1.0) == (kind == "separable")


def test_the_study(tmp_path: Path) -> None:
    results = run_study(get_study("baselines"), repetitions=2, out=tmp_path)
    rows = {(row["configuration"], row["method"]): row for row in results.table()}
    assert len(rows) == len(LINEAR) + 3 * len(CURVED)
    # All lines separate; the machine's stays farthest away, as far as the gap allows.
    margins = {method: rows["separable", method]["margin"] for method in LINEAR}
    assert min(margins.values()) > 0
    assert max(margins, key=lambda method: margins[method]) == "hard-margin SVM"
    assert margins["hard-margin SVM"] >= 0.5 - 1e-3
    # Machines do not depend on a start, networks do.
    for configuration in ("ring", "moons", "squares"):
        assert rows[configuration, "RBF SVM"]["restart"] == 0
        assert rows[configuration, "RBF SVM"]["mean"] < 12
    assert any(rows[name, "NN lbfgs"]["restart"] > 0 for name in ("ring", "moons", "squares"))
    assert "| NN sgd | 45.6 |" in results.report()
    assert len(draw_times(results).axes[0].lines) > 2 * len(rows)
    panels = draw_boundaries(results).axes
    assert [ax.get_title() for ax in panels] == ["separable", "ring", "moons", "squares"]
    assert all(len(ax.get_legend().get_texts()) == 4 for ax in panels)
