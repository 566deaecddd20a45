"""What the documents say is true: examples run, commands fit the project, links lead somewhere."""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def blocks(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_examples_run(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(
        str(ROOT / name), module_relative=False, optionflags=flags, encoding="utf-8"
    )
    assert tried >= 10
    assert failed == 0


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


@pytest.mark.parametrize("folder", ["studies", "docs"])
def test_links_of_pages_lead_somewhere(folder):
    pages = list((ROOT / folder).rglob("*.md"))
    assert pages
    for page in pages:
        links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        paths = [page.parent / link for link in links if "://" not in link]
        assert [path for path in paths if not path.exists()] == []


def test_picture_is_small():
    picture = ROOT / "docs" / "images" / "boundary.png"
    assert 10_000 < picture.stat().st_size < 150_000


def test_version_is_the_same_everywhere(project):
    import mercer

    assert project["version"] == mercer.__version__
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
