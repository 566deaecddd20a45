"""A study whose every cell writes down that it was done."""

import pytest
from traced import Run

from mercer.studies import Configuration, Printed, Study


@pytest.fixture
def traces(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    return folder


@pytest.fixture
def make_study(traces):
    def make(shift=0.0, **options):
        configurations = (
            Configuration("one", {"shift": shift}, {"good": Printed(shift, 1.0, {"n_fits": 4})}),
            Configuration("two", {"shift": 5.0}, {"good": Printed(0.0, 1.0)}, note="a remark"),
        )
        return Study(
            "traced",
            "A traced study",
            "",
            "",
            configurations,
            {"good": {}, "worse": {}},
            Run(traces, **options),
            repetitions=4,
            printed_repetitions=100,
        )

    return make


@pytest.fixture
def counts(traces):
    """How often each cell was done."""
    return lambda: {path.name: len(path.read_bytes()) for path in traces.iterdir()}
