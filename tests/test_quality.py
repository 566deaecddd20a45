"""Style, types and layers: the checks that need no data."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command):
    """Run a tool that stands beside this Python, with the source tree in sight."""
    tool = shutil.which(command[0], path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    if tool is None:
        pytest.skip(f"{command[0]} is not installed; pip install -e '.[test]' brings it")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [tool, *command[1:]], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_style():
    run("ruff", "check", ".")


def test_style_of_the_engine():
    folders = (ROOT / "engine", ROOT / "tests" / "engine")
    sources = [str(path) for folder in folders for path in folder.rglob("*.[ch]pp")]
    assert len(sources) > 30
    run("clang-format", "--dry-run", "--Werror", *sources)


@pytest.mark.slow
def test_types():
    run("mypy")


def test_layers():
    run("lint-imports", "--no-cache")


def test_only_the_floors_know_the_engine():
    """The contracts of import-linter do not see compiled modules."""
    folder = ROOT / "src" / "mercer"
    users = {
        path.relative_to(folder).parts[0]
        for path in folder.rglob("*.py")
        if re.search(r"\bmercer\._engine|import _engine\b", path.read_text(encoding="utf-8"))
    }
    assert users == {"gram", "problems", "solvers"}  # problems only to judge a point


def test_no_package_imports_private_modules_of_another():
    folder = ROOT / "src" / "mercer"
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0]
        text = path.read_text(encoding="utf-8")
        for package, rest in re.findall(r"from mercer\.([a-z]\w*)([\w.]*) import", text):
            assert package == own or "._" not in rest, path
        for package, names in re.findall(r"from mercer\.([a-z]\w*)[\w.]* import ([^(\n]+)", text):
            assert package == own or not re.search(r"\b_\w", names), path


def test_colours_have_one_home():
    home = ROOT / "src" / "mercer" / "plotting" / "palette.py"
    for folder in ("src", "docs", "benchmarks", "studies"):
        for path in (ROOT / folder).rglob("*.py"):
            found = re.findall(r"[\"']#[0-9a-fA-F]{3,8}[\"']", path.read_text(encoding="utf-8"))
            assert path == home or not found, path


def test_studies_use_public_names_only():
    """They are what users could have written."""
    private = r"(?:from|import) (?:mercer|studies)[\w.]*(?:\._| import .*\b_)"
    for path in (ROOT / "studies").rglob("*.py"):
        assert not re.findall(private, path.read_text(encoding="utf-8")), path
