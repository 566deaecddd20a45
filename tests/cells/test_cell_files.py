"""Files in which cells and their machines do not fit together."""

import copy

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, CellOneClassSVM, CellSVC
from mercer.persistence import ModelFileError, saving

pytest.importorskip("skops")

X = np.random.default_rng(0).normal(size=(600, 3))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
CELLS = CellSVC(SVC(), cell_size=150, random_state=0).fit(X, y)
NAN = float("nan")


def with_partition(**changes):
    """A copy of the model with another partition."""
    model = copy.deepcopy(CELLS)
    vars(model.partition_).update(changes)
    return model


def with_machine(machine):
    """A copy of the model with another first machine."""
    model = copy.deepcopy(CELLS)
    model.estimators_[0] = machine
    return model


def changed(model=CELLS, **changes):
    model = copy.deepcopy(model)
    vars(model).update(changes)
    return model


def without(name: str):
    model = copy.deepcopy(CELLS)
    delattr(model, name)
    return model


CENTRES, DIRECTIONS = CELLS.partition_.centres, CELLS.partition_.directions
WRONG = {
    "other columns": with_partition(centres=CENTRES[:, :1]),
    "too few centres": with_partition(centres=CENTRES[:2]),
    "no centres": with_partition(centres=CENTRES[:0]),
    "centres of single precision": with_partition(centres=CENTRES.astype(np.float32)),
    "centres that are no numbers": with_partition(centres=CENTRES * NAN),
    "another middle": with_partition(middle=np.zeros(7)),
    "no reach": with_partition(reach=NAN),
    "a reach below 1": with_partition(reach=0.5),
    "an endless reach": with_partition(reach=float("inf")),
    "a reach of words": with_partition(reach="far"),
    "directions of other columns": with_partition(directions=np.ones((5, DIRECTIONS.shape[1]))),
    "directions of another space": with_partition(directions=np.ones((3, 9))),
    "directions that are no numbers": with_partition(directions=DIRECTIONS * NAN),
    "too few machines": changed(estimators_=CELLS.estimators_[1:]),
    "too many machines": changed(estimators_=[*CELLS.estimators_, CELLS.estimators_[0]]),
    "no machine": with_machine(None),
    "a machine without a fit": with_machine(SVC()),
    "a machine of other columns": with_machine(SVC().fit(X[:, :1], y)),
    "a machine of other classes": with_machine(SVC().fit(X, y + 5)),
    "a machine of labels": with_machine(SVC().fit(X, y.astype(str))),
    "a scaler": with_machine(StandardScaler().fit(X)),
    "another number": changed(n_cells_=99),
    "other sizes": changed(cell_sizes_=np.ones(2)),
    "a class that no machine has": changed(classes_=np.arange(3)),
    "no partition": without("partition_"),
    "no offset": changed(CellOneClassSVM(cell_size=150, random_state=0).fit(X), offset_=NAN),
}


@pytest.mark.parametrize("name", WRONG)
def test_they_are_not_saved(name, tmp_path):
    with pytest.raises(ModelFileError, match="do not fit together"):
        mercer.save(WRONG[name], tmp_path / "model")


@pytest.mark.parametrize("name", ["too few centres", "no reach", "too few machines"])
def test_they_are_not_loaded(name, tmp_path, monkeypatch):
    with monkeypatch.context() as careless:
        careless.setattr(saving, "check_sound", lambda found: None)
        mercer.save(WRONG[name], tmp_path / "model")
    with pytest.raises(ModelFileError, match="do not fit together"):
        mercer.load(tmp_path / "model")
