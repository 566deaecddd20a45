"""A study as data: which cells it has, their seeds, and what makes results void."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mercer._extras import how_to_get
from mercer.datasets import DATASETS
from mercer.studies import Configuration, Study, StudyError, find_studies, get_study, registry


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b", ["a", "b"]),
        (" d, wide , LDA", ["d, wide", "LDA"]),
        ("d, wide/SVM,d*,a/LDA", ["d, wide/SVM", "d*", "a/LDA"]),
        ("d,, wide", ["d", "wide"]),
        ("SVM,nothing", ["SVM", "nothing"]),
    ],
)
def test_commas_inside_names(study, text, words):
    wide = (*study.configurations, Configuration("d, wide"))
    assert replace(study, configurations=wide).words(text) == words


def test_a_message_does_not_list_hundreds_of_names():
    with pytest.raises(StudyError, match="and 408 more") as error:
        get_study("rfe").cells(1, ["none"])
    assert len(str(error.value)) < 600


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


@pytest.mark.parametrize("name", find_studies())
def test_every_study_of_the_list_is_whole(name):
    study = get_study(name)
    assert study.name == name
    assert study.title
    assert study.description
    assert study.citation
    assert study.duration
    assert set(study.data) <= set(DATASETS)
    assert bool(study.source) == (name != "tiny")
    for word in study.again:
        assert study.cells(1, [word.partition(":")[0]])
    for configuration in study.configurations:
        assert set(study.methods_of(configuration)) <= set(study.methods)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("simulatoin", "There is no study 'simulatoin' among .*; did you mean 'simulation'"),
        ("no.such.module:STUDY", "cannot be loaded: No module named 'no'"),
        ("mercer.studies:nothing", "cannot be loaded"),
        ("mercer.studies:__all__", "is not a study but list"),
    ],
)
def test_an_unknown_study_is_said(name, words):
    with pytest.raises(StudyError, match=words):
        get_study(name)


ROOT = Path(__file__).parents[2]


def test_every_folder_of_studies_can_be_run_and_has_a_page():
    for folder in (ROOT / "studies").iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert (folder / "README.md").is_file(), folder
            assert (folder / "study.py").is_file() or (folder / "__main__.py").is_file(), folder


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Make the module believe that it lies where packages are installed."""
    place = tmp_path / "lib" / "python" / "site-packages" / "mercer" / "studies" / "registry.py"
    monkeypatch.setattr(registry, "__file__", str(place))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("files", [{}, {"pyproject.toml": '[project]\nname = "other"\n'}])
def test_elsewhere_nothing_is_run_and_a_sentence_says_what_to_do(installed, files):
    shutil.copytree(ROOT / "studies" / "tiny", installed / "studies" / "tiny")
    (installed / "studies" / "__init__.py").write_text("raise SystemExit")
    for name, text in files.items():
        (installed / name).write_text(text)
    for call in (find_studies, lambda: get_study("tiny")):
        with pytest.raises(StudyError, match="run this in the main folder of a clone") as error:
            call()
        assert str(error.value).count(". ") == 0


def test_an_installed_package_finds_the_studies_of_the_clone_one_is_in(installed, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert get_study("tiny").name == "tiny"
    monkeypatch.chdir(ROOT / "tests")  # a folder inside is none: only what was named is run
    with pytest.raises(StudyError):
        find_studies()


def test_a_foreign_package_of_that_name_is_not_taken(monkeypatch, tmp_path):
    (tmp_path / "studies" / "tiny").mkdir(parents=True)
    (tmp_path / "studies" / "__init__.py").write_text("")
    (tmp_path / "studies" / "tiny" / "study.py").write_text("STUDY = None")
    for name in [name for name in sys.modules if name.split(".")[0] == "studies"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(StudyError, match="Another package named 'studies'"):
        get_study("tiny")
    for name in ("studies", "studies.tiny", "studies.tiny.study"):
        sys.modules.pop(name, None)


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
    assert done.stdout == f"as_frame=True needs pandas; run {how_to_get('app')}.\n"
