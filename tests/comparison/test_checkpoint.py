"""Killed and repeated, a comparison goes on where it was."""

import pandas as pd
import pytest

from mercer.comparison import belongs_to, compare_table
from mercer.comparison.race import Race
from mercer.tables import as_table

pytestmark = pytest.mark.usefixtures("no_insights")
OPTIONS = {"models": "lda,tree", "folds": 3, "repeats": 2, "seed": 4}
SECONDS = ["fit_seconds", "predict_seconds"]


def counted(monkeypatch, stop_after=None):
    """Count the fits, and interrupt after some."""
    original, fits = Race._fit, []

    def fit(self, rival, fold):
        if len(fits) == stop_after:
            raise KeyboardInterrupt
        fits.append(rival.name)
        return original(self, rival, fold)

    monkeypatch.setattr(Race, "_fit", fit)
    return fits


@pytest.mark.parametrize(
    ("kind", "after"),
    [("two_classes", 1), ("two_classes", 2), ("two_classes", 7), ("numbers", 14)],
)
def test_interrupted_and_taken_up_again(request, tmp_path, monkeypatch, after, kind):
    table = request.getfixturevalue(kind)
    options = OPTIONS | ({"models": "ridge,neighbours"} if kind == "numbers" else {})
    path = tmp_path / "kept"
    with monkeypatch.context() as patch:
        counted(patch, after)
        part = compare_table(table, **options, checkpoint=path)
    assert part.partial
    assert part.insights_ is None
    assert part.n_folds == max(1, after // 3)
    assert part.sentences()[0].startswith("Partial: it was interrupted after ")
    if after < 3:  # those that had no turn are not passed over in silence
        assert len(part.results_) == after
        assert set(part.left_out_models.values()) == {"it was interrupted before its turn"}
    fits = counted(monkeypatch)
    again = compare_table(table, **options, checkpoint=path)
    assert len(fits) == 18 - after
    whole = compare_table(table, **options)
    assert not again.partial
    pd.testing.assert_frame_equal(
        again.results_.drop(columns=SECONDS), whole.results_.drop(columns=SECONDS)
    )
    pd.testing.assert_frame_equal(
        again.folds_.drop(columns=SECONDS), whole.folds_.drop(columns=SECONDS)
    )
    for name, said in whole.predictions_.items():
        assert again.predictions_[name].tolist() == said.tolist()


def test_interrupted_before_anything(two_classes, monkeypatch):
    counted(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        compare_table(two_classes, **OPTIONS)


def test_of_other_data_or_settings(two_classes, numbers, tmp_path):
    path = tmp_path / "kept"
    compare_table(two_classes, **OPTIONS, checkpoint=path)
    before = path.read_bytes()
    other = as_table(two_classes.frame + 1.0, two_classes.target)
    positive = as_table(two_classes.frame, two_classes.target, positive="no")
    for table, options in (
        (other, OPTIONS),
        (positive, OPTIONS),
        (two_classes, OPTIONS | {"seed": 5}),
        (two_classes, OPTIONS | {"folds": 4}),
    ):
        with pytest.raises(ValueError, match="belongs to another search"):
            compare_table(table, **options, checkpoint=path)
        assert not belongs_to(path, table, {"minutes": 3.0, "peer": False, **options})
    assert path.read_bytes() == before
    assert belongs_to(path, two_classes, {"minutes": 9.0, "peer": False, **OPTIONS})


def test_no_checkpoint_at_all(two_classes, tmp_path):
    path = tmp_path / "kept"
    path.write_text("my diary\n")
    with pytest.raises(ValueError, match="is no checkpoint"):
        compare_table(two_classes, **OPTIONS, checkpoint=path)
    assert path.read_text() == "my diary\n"


def test_damaged_lines_are_done_again(two_classes, tmp_path, monkeypatch):
    path = tmp_path / "kept"
    whole = compare_table(two_classes, **OPTIONS, checkpoint=path)
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + 18
    lines[4] = lines[4].replace("lda", "ldb").replace("0.", "1.").replace("dummy", "dumny")
    lines[-1] = lines[-1][: len(lines[-1]) // 2]  # what a sudden end leaves
    path.write_text("".join(lines))
    fits = counted(monkeypatch)
    again = compare_table(two_classes, **OPTIONS, checkpoint=path)
    assert len(fits) == 2
    pd.testing.assert_frame_equal(
        again.results_.drop(columns=SECONDS), whole.results_.drop(columns=SECONDS)
    )
    assert len(path.read_text().splitlines()) == 1 + 18
