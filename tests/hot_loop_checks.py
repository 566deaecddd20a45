"""The program that checks one compiled copy of the hot loops: how it is compiled, linked and run.

Its sources are in ``engine/hot_loops/``, whose headers say what is compared and how closely. The
program itself needs no flags and no sanitizers, so one serves all copies of a compiler: the
sanitizers of the loops watch over its memory too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

# `python -m tests.mutation` has changed sources elsewhere.
ROOT = Path(os.environ.get("MERCER_CHECKED_SOURCES", Path(__file__).parents[1]))
PROGRAM = Path(__file__).parent / "engine" / "hot_loops" / "main.cpp"
LEVELS = ("baseline", "avx2", "avx512")
LACKS = 77


def tool(name: str) -> str:
    """Return the path of a program, or skip."""
    if not (ROOT / "engine").is_dir():
        pytest.skip("the sources of the engine are not here")
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def compiled(compiler: str, source: Path, target: Path, *options: str) -> Path:
    """Compile one file."""
    command = [tool(compiler), "-std=c++17", f"-I{ROOT / 'engine'}", *options]
    done = subprocess.run([*command, "-c", source, "-o", target], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def compiled_program(compiler: str, folder: Path) -> Path:
    """Compile the checking program without the loops."""
    return compiled(compiler, PROGRAM, folder / f"{compiler}.o", "-O1", "-Wall", "-Wextra")


def linked(compiler: str, loops: Path, program: Path, target: Path, *options: str) -> Path:
    """Put the program to a copy of the loops.

    The loops come first: of inline functions that both have, the linker takes those that are
    watched.
    """
    command = [tool(compiler), *options, loops, program, "-o", target]
    done = subprocess.run(command, capture_output=True, text=True)
    if "cannot find" in done.stderr and "asan" in done.stderr:
        pytest.skip(f"{compiler} has no sanitizers")
    assert done.returncode == 0, done.stderr
    return target


def as_checked(level: str) -> list[str]:
    """Return options of the linker by which the program finds the loops under the level's name."""
    names = [
        [f"_ZN6mercer{len(name)}{name}Ev" for name in (f"{table}_checked", f"{table}_{level}")]
        for table in ("hot_loops_f32", "hot_loops_f64")
    ]
    return [f"-Wl,--defsym={wanted}={present}" for wanted, present in names]


def run(*command: str | Path) -> None:
    """Run a check: it fails with its lines, and is skipped where the processor lacks the level."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == LACKS:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    found = re.search(r"(\d+) comparisons, 0 failed", done.stdout)
    assert found is not None, done.stdout
    assert int(found[1]) > 1_000_000
