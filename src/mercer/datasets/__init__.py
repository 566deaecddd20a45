"""Data sets: the published ones with source and citation, and generators of artificial ones."""

from ._store import get_data_home
from .availability import missing_datasets
from .graphs import make_graphs
from .guyon import make_guyon
from .ida import load_ida
from .loaders import (
    load_a9a,
    load_cardio,
    load_colon,
    load_golub,
    load_hemophilia,
    load_ijcnn1,
    load_letter,
    load_madelon,
    load_saheart,
    load_shuttle,
    load_usps,
    load_winequality,
)
from .registry import DATASETS, IDA_NAMES, DataSet
from .ripley import make_ripley
from .simulation import make_simulation
from .weston import make_weston_linear, make_weston_nonlinear

__all__ = [
    "DATASETS",
    "IDA_NAMES",
    "DataSet",
    "get_data_home",
    "load_a9a",
    "load_cardio",
    "load_colon",
    "load_golub",
    "load_hemophilia",
    "load_ida",
    "load_ijcnn1",
    "load_letter",
    "load_madelon",
    "load_saheart",
    "load_shuttle",
    "load_usps",
    "load_winequality",
    "make_graphs",
    "make_guyon",
    "make_ripley",
    "make_simulation",
    "make_weston_linear",
    "make_weston_nonlinear",
    "missing_datasets",
]
