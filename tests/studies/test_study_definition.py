"""A study as data: which cells it has, their seeds, and what makes results void."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from mercer.studies import STUDIES, Configuration, Study, StudyError, get_study


def nothing(configuration, method, repetition, seed):
    return {"error": 0.0}


@pytest.fixture
def study():
    return Study(
        "example",
        "An example",
        "",
        "",
        (
            Configuration("a", {"n": 3}),
            Configuration("b", {"n": 4}, repetitions=2),
            Configuration("c-wide", {"n": 5}, methods=("SVM",)),
        ),
        {"SVM": {"C": 1.0}, "LDA": {}},
        nothing,
        repetitions=4,
    )


def test_cells_are_balanced_and_limited(study):
    cells = study.cells()
    assert len(cells) == len(set(cells)) == 4 * 2 + 2 * 2 + 4
    assert [cell.repetition for cell in cells] == sorted(cell.repetition for cell in cells)
    assert {cell.method for cell in cells if cell.configuration == "c-wide"} == {"SVM"}
    assert max(cell.repetition for cell in cells if cell.configuration == "b") == 1
    assert len(study.cells(repetitions=1)) == 5


@pytest.mark.parametrize(
    ("only", "pairs"),
    [
        (["a"], {("a", "SVM"), ("a", "LDA")}),
        (["LDA"], {("a", "LDA"), ("b", "LDA")}),
        (["a/LDA", "c*"], {("a", "LDA"), ("c-wide", "SVM")}),
        (["?/S*"], {("a", "SVM"), ("b", "SVM")}),
    ],
)
def test_only(study, only, pairs):
    assert {cell[:2] for cell in study.cells(1, only)} == pairs


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"only": ["a", "SVMs"]},
            "'SVMs' names nothing in study 'example'; its configurations are",
        ),
        ({"repetitions": 0}, "must be at least 1; got 0"),
    ],
)
def test_what_cannot_be_done_is_said(study, options, words):
    with pytest.raises(StudyError, match=words):
        study.cells(**options)


def test_names_are_unique(study):
    with pytest.raises(StudyError, match="same name"):
        replace(study, configurations=(Configuration("a"), Configuration("a")))


def test_seeds_depend_on_the_names_and_on_nothing_else(study):
    seeds = {(c, k): study.seed(c, k) for c in ("a", "b", "c-wide") for k in range(50)}
    assert len(set(seeds.values())) == len(seeds)
    assert all(0 <= seed < 2**32 for seed in seeds.values())
    other = replace(study, configurations=study.configurations[::-1], methods={"other": {}})
    assert other.seed("b", 7) == study.seed("b", 7)
    assert study.seed("b", 7, base=1) != study.seed("b", 7)
    assert replace(study, name="another").seed("b", 7) != study.seed("b", 7)
    # Written down, so that a change of the rule, which voids all seeds, is noticed.
    assert study.seed("a", 0) == 3590315397


def test_the_definition_covers_what_decides_the_numbers(study):
    configuration = study.configurations[0]
    before = study.definition(configuration, "SVM")
    changes = [
        study.definition(replace(configuration, parameters={"n": 30}), "SVM"),
        study.definition(replace(configuration, name="other"), "SVM"),
        study.definition(configuration, "LDA"),
        study.definition(configuration, "SVM", base=1),
        replace(study, methods={"SVM": {"C": 2.0}}).definition(configuration, "SVM"),
        replace(study, version=2).definition(configuration, "SVM"),
    ]
    assert before not in changes
    assert len(set(changes)) == len(changes)
    kept = replace(study, title="other", repetitions=7, methods={**study.methods, "new": {}})
    assert kept.definition(replace(configuration, note="a remark"), "SVM") == before


def test_arrays_may_be_parameters(study):
    one, same, other = (
        Configuration("a", {"grid": np.array(grid)})
        for grid in ([1.0, 2.0], [1.0, 2.0], [1.0, 3.0])
    )
    assert study.definition(one, "SVM") == study.definition(same, "SVM")
    assert study.definition(one, "SVM") != study.definition(other, "SVM")


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_of_the_list_is_whole(name):
    study = get_study(name)
    assert study.name == name
    assert study.title
    assert study.description
    assert study.citation
    for configuration in study.configurations:
        assert set(study.methods_of(configuration)) <= set(study.methods)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("simulatoin", "There is no study 'simulatoin' among .*; did you mean 'simulation'"),
        ("no.such.module:STUDY", "cannot be loaded: No module named 'no'"),
        ("mercer.studies:nothing", "cannot be loaded"),
        ("mercer.studies:STUDIES", "is not a study but dict"),
    ],
)
def test_an_unknown_study_is_said(name, words):
    with pytest.raises(StudyError, match=words):
        get_study(name)


def test_studies_and_data_sets_need_no_extra():
    """Without what the command line brings, all but frames and pictures is there."""
    code = (
        "import sys\nsys.modules.update(dict.fromkeys(['pandas', 'rich', 'typer', 'matplotlib']))\n"
        "import numpy as np, mercer.datasets\nfrom mercer.datasets._bunch import make_bunch\n"
        "from mercer.studies import get_study, run_study\n"
        "run_study(get_study('tiny'), repetitions=1).table()\n"
        "try:\n    make_bunch('cardio', np.ones((2, 2)), np.ones(2), as_frame=True)\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "as_frame=True needs pandas; run pip install 'mercer[app]'.\n"
