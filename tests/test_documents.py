"""What the documents say is true: examples run, commands fit the project, links lead somewhere."""

import doctest
import os
import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "docs").rglob("*.md")
    if "generated" not in path.parts  # what a build of the site has written
)
WITH_EXAMPLES = [
    *("README.md", "CONTRIBUTING.md"),
    *(page for page in PAGES if "```pycon" in (ROOT / page).read_text(encoding="utf-8")),
]


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def blocks(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(
        str(ROOT / name), module_relative=False, optionflags=flags, encoding="utf-8"
    )
    assert tried >= 4
    assert failed == 0


def test_every_chapter_of_the_guide_has_an_example():
    without = {"index.md", "command_line.md", "gpu.md", "many_rows.md"}  # or needs what we have not
    chapters = {page.rpartition("/")[2] for page in PAGES if page.startswith("docs/guide/")}
    with_one = {page.rpartition("/")[2] for page in WITH_EXAMPLES}
    assert len(chapters) > 12
    assert chapters - with_one == without


def test_readme_example_is_short():
    example = blocks("README.md", "pycon")[0]
    assert 8 <= len(re.findall(r"^(?:>>>|\.\.\.)", example, flags=re.MULTILINE)) <= 12


def test_readme_has_two_commands_that_fit_the_project(project):
    lines = [line for block in blocks("README.md", "sh") for line in block.splitlines()]
    commands = [line for line in lines if not line.startswith("mercer ")]  # tests/cli runs those
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(command)
        assert words[:4] == ["python3", "-m", "venv", ".venv"]
        (extra,) = re.findall(r"\.\[(\w+)\]", command)
        assert extra in project["optional-dependencies"]
    assert ".venv/bin/mercer" in commands[0]
    assert project["scripts"] == {"mercer": "mercer.cli:main"}
    assert commands[1] in blocks("CONTRIBUTING.md", "sh")[0]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_paths_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    mentioned = re.findall(r"`((?:src|tests|docs|engine|studies|benchmarks)/[\w./]*)`", text)
    missing = [path for path in links + mentioned if not (ROOT / path).exists()]
    assert missing == []


def source_of(path):
    """Return what a page of the site is made of that a build writes: a script of the gallery."""
    parts = path.parts
    if "generated" not in parts:
        return path
    page = Path(*parts[parts.index("generated") + 1 :])
    if page.parts[0] == "gallery" and page.name != "index":
        return ROOT / "docs" / "gallery" / f"{page.name}.py"
    assert page.as_posix() in {"gallery/index", "reference/index"}
    return ROOT


def test_links_of_pages_lead_somewhere():
    pages = [*(ROOT / "studies").rglob("*.md"), *(ROOT / page for page in PAGES)]
    for page in pages:
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        paths = [Path(os.path.normpath(page.parent / link)) for link in links if "://" not in link]
        assert [path for path in paths if not source_of(path).exists()] == []


@pytest.mark.parametrize("name", ["boundary", "comparison"])
def test_picture_is_small(name):
    picture = ROOT / "docs" / "images" / f"{name}.png"
    assert 10_000 < picture.stat().st_size < 150_000


def test_claims_of_the_readme_are_those_of_the_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    speeds = import_module("make_images").speeds()
    all_rows = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    twelve = next(line for line in all_rows.splitlines() if "smallest of 12 problems" in line)
    mean, narrow = next(iter(speeds.values()))
    smallest = min(float(number) for number in re.findall(r"[\d.]+, ([\d.]+)", twelve)[::2])
    grids = next(line for line in all_rows.splitlines() if line.startswith("| `PathSearchCV`"))
    ratios = [int(n) for k in (3, 6) for n in grids.strip("|").split("|")[k].split("/")]
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    assert f"a {mean:.0f}th of scikit-learn's time" in readme
    assert f"a {narrow:.0f}th without AVX-512" in readme
    assert f"least is {smallest:g} times as fast" in readme
    assert f"a {min(ratios)}nd to a {max(ratios)}th" in readme


def test_version_is_the_same_everywhere(project):
    import mercer

    assert project["version"] == mercer.__version__
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
