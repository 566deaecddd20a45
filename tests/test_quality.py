"""Style, types and layers: the checks that need no data."""

import ast
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


def imports(path):
    """Yield each import below src: its line, whether it is in a function, and the full name."""
    parts = path.relative_to(ROOT / "src").with_suffix("").parts

    def walk(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((child.lineno, inside, alias.name) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                home = [*parts[: -child.level]] if child.level else []
                home = ".".join([*home, *filter(None, [child.module])])
                yield from ((child.lineno, inside, f"{home}.{name.name}") for name in child.names)
            else:
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from walk(child, inside or is_function)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), False)


def test_no_package_imports_private_names_of_another():
    folder = ROOT / "src" / "mercer"
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0]
        for line, _, name in imports(path):
            first, _, rest = name.removeprefix("mercer.").partition(".")
            if name.startswith("mercer.") and first != own:
                assert not re.search(r"(^|\.)_(?!_)", rest), f"{path}:{line}"


OPTIONAL = {
    *("clarabel", "dask", "distributed", "matplotlib", "networkx", "onnx", "openpyxl", "pandas"),
    *("pyarrow", "pymoo", "rdata", "rich", "skl2onnx", "skops", "skrub", "torch", "typer"),
    *("anyio", "starlette", "uvicorn"),
    "fcntl",  # not on Windows
    *("mercer.gram.device", "mercer.solvers.device"),  # of use with torch only
}
"""What need not be installed: the extras of pyproject.toml, and what they bring."""


def test_functions_import_what_is_optional_only():
    """But for the command line, whose help comes at once, and for what tells which of all loads."""
    folder, seen = ROOT / "src" / "mercer", set()
    for path in folder.rglob("*.py"):
        if folder / "cli" in path.parents or path.name == "_versions.py":
            continue
        for line, inside, name in imports(path):
            packages = {package for package in OPTIONAL if f"{name}.".startswith(f"{package}.")}
            assert packages or not inside, f"{path}:{line}"
            seen |= packages if inside else set()
    assert seen == OPTIONAL - {"rich", "typer"}  # these two only by the command line


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
