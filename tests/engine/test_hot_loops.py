"""The hot loops against plain scalar code, each compiled copy by itself.

The program in ``hot_loops/`` is compiled together with ``engine/hot_loops.cpp`` for one instruction
set, with the flags of CMakeLists.txt, and run. Its headers say what is compared and how closely.
The program itself needs no flags and no sanitizers, so one serves all copies of a compiler: the
sanitizers of the loops watch over its memory too.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).parent / "hot_loops" / "main.cpp"
SANITIZED = "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all".split()
PLAIN = ["-DMERCER_PLAIN_VECTORS"]
LACKS = 77


def flags(level: str, compiler: str) -> list[str]:
    """Return the flags that CMakeLists.txt gives to the hot loops of one instruction set."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    options = r"target_compile_options\(hot_loops_"
    (optimised,) = re.findall(r"set\(optimised \$<\$<NOT:\$<CONFIG:Debug>>:(-O\d)>\)", text)
    (common,) = re.findall(options + r"\$\{target\} PRIVATE \$\{optimised\} ([^)]*)\)", text)
    levels = dict(re.findall(r"add_hot_loops\((\w+) ?(-m[^)]*)?\)", text))
    assert set(levels) == {"baseline", "avx2", "avx512"}, "CMakeLists.txt has other levels"
    of_gnu = dict(re.findall(options + r"(\w+) PRIVATE (-m[^)]*)\)", text))
    own = levels[level].split() + (of_gnu.get(level, "").split() if compiler != "clang++" else [])
    return [optimised, *common.split(), *own]


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


@pytest.fixture(scope="module", name="program")
def program_of_each_compiler(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The checking program without the loops, compiled when it is first asked for."""
    folder = tmp_path_factory.mktemp("program")

    @cache
    def of(compiler: str) -> Path:
        return compiled(compiler, PROGRAM, folder / f"{compiler}.o", "-O1", "-Wall", "-Wextra")

    return of


def build(
    compiler: str, level: str, folder: Path, program: Callable[[str], Path], *options: str
) -> Path:
    """Compile the loops with the flags of their level, and put the program to them.

    The loops come first: of inline functions that both have, the linker takes those that are
    watched.
    """
    if level != "baseline" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"{level} is of other processors")
    settings = ["-DMERCER_TARGET=checked", *flags(level, compiler), *options]
    source = ROOT / "engine" / "hot_loops.cpp"
    loops = compiled(compiler, source, folder / "hot_loops.o", *settings)
    command = [tool(compiler), *options, loops, program(compiler), "-o", folder / "check"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "cannot find" in done.stderr and "asan" in done.stderr:
        pytest.skip(f"{compiler} has no sanitizers")
    assert done.returncode == 0, done.stderr
    return folder / "check"


def run(*command: str) -> None:
    """Run a check: it fails with its lines, and is skipped where the processor lacks the level."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode == LACKS:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    found = re.search(r"(\d+) comparisons, 0 failed", done.stdout)
    assert found is not None, done.stdout
    assert int(found[1]) > 1_000_000


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_as_shipped(
    compiler: str, level: str, tmp_path: Path, program: Callable[[str], Path]
) -> None:
    run(str(build(compiler, level, tmp_path, program)), level)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_with_sanitizers(level: str, tmp_path: Path, program: Callable[[str], Path]) -> None:
    run(str(build("g++", level, tmp_path, program, *SANITIZED)), level, "--brief")


@pytest.mark.parametrize("options", [[], SANITIZED], ids=["fast", "sanitized"])
def test_vectors_of_other_compilers(
    options: list[str], tmp_path: Path, program: Callable[[str], Path]
) -> None:
    """Vectors as plain arrays, for compilers that have none of their own."""
    check = build("g++", "baseline", tmp_path, program, *PLAIN, *options)
    run(str(check), "baseline", "--brief")


def test_on_arm(tmp_path: Path, program: Callable[[str], Path]) -> None:
    emulator = tool("qemu-aarch64")
    check = build("aarch64-linux-gnu-g++", "baseline", tmp_path, program, "-static")
    run(emulator, str(check), "baseline", "--brief")
