"""A copy of the package with one change, and the tests that should notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mercer import _engine

from .mutants import Mutant

ROOT = Path(__file__).parents[2]


def is_noticed(mutant: Mutant | None, tests: list[str], patience: float) -> bool:
    """Say whether some test fails, or does not end in time, with the change in place.

    None changes nothing, which no test should notice.
    """
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "mercer"
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src" / "mercer", package, ignore=left_out)
        if mutant is not None and mutant.path.suffix != ".py":
            if not _build(mutant, Path(folder), package):
                return True
        else:
            shutil.copy(_engine.__file__, package)
        if mutant is not None and mutant.path.suffix == ".py":
            changed = package / mutant.path.relative_to(ROOT / "src" / "mercer")
            changed.write_text(mutant.applied(), encoding="utf-8")
            tests = [str(changed), *tests]  # its examples
        return _fail(Path(folder), tests, patience)


def _build(mutant: Mutant, folder: Path, package: Path) -> bool:
    """Compile the engine with the change; a change that does not compile is noticed, too."""
    source = folder / "source"
    source.mkdir()
    shutil.copytree(ROOT / "engine", source / "engine")
    shutil.copy(ROOT / "CMakeLists.txt", source)
    (source / "engine" / mutant.path.name).write_text(mutant.applied(), encoding="utf-8")
    build = folder / "build"
    configure = ["cmake", "-S", source, "-B", build, f"-DPython_EXECUTABLE={sys.executable}"]
    for command in (configure, ["cmake", "--build", build, "--parallel", "2"]):
        if subprocess.run(command, capture_output=True).returncode != 0:
            return False
    for engine in build.glob("_engine*.so"):
        shutil.copy(engine, package)
    return True


def _fail(folder: Path, tests: list[str], patience: float) -> bool:
    # The copy comes first: an editable installation would otherwise be found before it.
    start = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'ditable' not in repr(f)]; "
        f"sys.path.insert(0, {str(folder)!r}); import mercer; "
        f"assert mercer.__file__.startswith({str(folder)!r}); "
        "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    options = [
        *settings,
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *tests,
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", start, *options],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0
