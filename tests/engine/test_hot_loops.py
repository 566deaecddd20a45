"""The hot loops against plain scalar code, each compiled copy by itself.

The program of tests/hot_loop_checks.py is put to the loops of one instruction set as an editable
install has compiled them; where it has not, ``engine/hot_loops.cpp`` is compiled with the flags of
CMakeLists.txt. Those of a sanitised engine are checked by test_sanitizers.py, which compiles one.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hot_loop_checks import LEVELS, ROOT, as_checked, compiled, compiled_program, linked, run, tool

SANITIZED = "-Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all".split()
PLAIN = ["-DMERCER_PLAIN_VECTORS"]

pytestmark = pytest.mark.slow


def flags(level: str, compiler: str) -> list[str]:
    """Return the flags that CMakeLists.txt gives to the hot loops of one instruction set."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    options = r"target_compile_options\(hot_loops_"
    (optimised,) = re.findall(r"set\(optimised \$<\$<NOT:\$<CONFIG:Debug>>:(-O\d)>\)", text)
    (common,) = re.findall(options + r"\$\{target\} PRIVATE \$\{optimised\} ([^)]*)\)", text)
    levels = dict(re.findall(r"add_hot_loops\((\w+) ?(-m[^)]*)?\)", text))
    assert set(levels) == set(LEVELS), "CMakeLists.txt has other levels"
    of_gnu = dict(re.findall(options + r"(\w+) PRIVATE (-m[^)]*)\)", text))
    own = levels[level].split() + (of_gnu.get(level, "").split() if compiler != "clang++" else [])
    return [optimised, *common.split(), *own]


@pytest.fixture(scope="module", name="program")
def program_of_each_compiler(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The checking program without the loops, compiled when it is first asked for."""
    folder = tmp_path_factory.mktemp("program")
    return cache(lambda compiler: compiled_program(compiler, folder))


def build(
    compiler: str, level: str, folder: Path, program: Callable[[str], Path], *options: str
) -> Path:
    """Compile the loops with the flags of their level, and put the program to them."""
    if level != "baseline" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"{level} is of other processors")
    settings = ["-DMERCER_TARGET=checked", *flags(level, compiler), *options]
    source = ROOT / "engine" / "hot_loops.cpp"
    loops = compiled(compiler, source, folder / "hot_loops.o", *settings)
    return linked(compiler, loops, program(compiler), folder / "check", *options)


def installed_loops(level: str) -> Path | None:
    """Return the loops that an install has left in its folder, if by GNU and of these sources."""
    if not sys.platform.startswith("linux"):
        return None
    sources = [ROOT / "CMakeLists.txt", *(ROOT / "engine").iterdir()]
    changed = max(path.stat().st_mtime for path in sources)
    for settings in (ROOT / "build").glob("*/CMakeCache.txt"):
        text = settings.read_text(encoding="utf-8")
        as_shipped = {"CMAKE_BUILD_TYPE:STRING=Release", "MERCER_SANITIZE:STRING="}
        by_gnu = re.search(r"^CMAKE_CXX_COMPILER:\w+=.*/[gc]\+\+$", text, re.M)
        if not by_gnu or not as_shipped <= set(text.splitlines()):
            continue
        for found in (settings.parent / "CMakeFiles" / f"hot_loops_{level}.dir").rglob("*.o"):
            if found.stat().st_mtime > changed:
                return found
    return None


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("level", LEVELS)
def test_as_shipped(
    compiler: str, level: str, tmp_path: Path, program: Callable[[str], Path]
) -> None:
    loops = installed_loops(level) if compiler == "g++" else None
    if loops is None:
        check = build(compiler, level, tmp_path, program)
    else:
        check = linked(compiler, loops, program(compiler), tmp_path / "check", *as_checked(level))
    run(check, level)


def test_vectors_of_other_compilers(tmp_path: Path, program: Callable[[str], Path]) -> None:
    """Vectors as plain arrays, for compilers that have none of their own."""
    check = build("g++", "baseline", tmp_path, program, *PLAIN, *SANITIZED)
    run(check, "baseline", "--brief")


def test_on_arm(tmp_path: Path, program: Callable[[str], Path]) -> None:
    emulator = tool("qemu-aarch64")
    check = build("aarch64-linux-gnu-g++", "baseline", tmp_path, program, "-static")
    run(emulator, check, "baseline", "--brief")
