"""What goes wrong in the middle of a solve, in helpers or in the caller, comes out as an error.

Before, an error in a helper ended the interpreter, and one in the caller left helpers at work on
memory that was no longer theirs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ENGINE = FOLDER.parents[1] / "engine"
SANITIZED = {
    "plain": [],
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "thread": ["-fsanitize=thread"],
}


def compiler() -> str:
    if not sys.platform.startswith("linux") or not ENGINE.is_dir():
        pytest.skip("needs Linux and the sources of the engine")
    found = shutil.which("g++")
    if found is None:
        pytest.skip("g++ is not installed")
    return found


def run(command: list[str], **settings: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)
    if "cannot find" in done.stderr and "san" in done.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("options", SANITIZED.values(), ids=SANITIZED)
def test_pool(options: list[str], tmp_path: Path) -> None:
    """The pool by itself: the program in ``pool/`` says what is expected of it."""
    program = str(tmp_path / "check")
    sources = [str(FOLDER / "pool" / "main.cpp"), str(ENGINE / "pool.cpp")]
    command = [compiler(), "-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-pthread", *options]
    run([*command, f"-I{ENGINE}", *sources, "-o", program])
    run([program])


@pytest.mark.slow
def test_allocations_that_fail(tmp_path: Path) -> None:
    """Each in turn, in helpers and in the caller; in test_sanitizers.py with others watching."""
    library = str(tmp_path / "failing_allocations.so")
    source = str(FOLDER / "failing_allocations.cpp")
    run([compiler(), "-std=c++17", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"])
    before = os.environ.get("LD_PRELOAD", "")
    output = run(
        [sys.executable, str(FOLDER / "failing_solves.py")],
        LD_PRELOAD=f"{library} {before}".strip(),
        MERCER_FAILING_ALLOCATIONS=library,
    )
    in_helpers, in_the_caller = (
        {name: int(n) for name, n in re.findall(rf"(\w+): (\d+) failures in {side}", output)}
        for side in ("helpers", "the caller")
    )
    assert len(in_helpers) == len(in_the_caller) == 11
    assert all(n > 0 for n in in_the_caller.values()), output
    batches = [n for name, n in in_helpers.items() if name.endswith("batch")]
    assert len(batches) == 4
    assert all(n > 0 for n in batches), output  # there they solve whole programs


FEW_THREADS = """
import resource
import numpy as np
from mercer import _engine

X, out = np.zeros((4000, 2)), np.zeros((4000, 40))
with open("/proc/self/statm") as memory:
    pages = int(memory.read().split()[0])
limit = pages * resource.getpagesize() + (64 << 20)  # room for a few stacks
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
_engine.fill_kernel_matrix(X, X[:40], 2, 1.0, 0.0, 3, 1.0, out, 400)
assert (out == 1.0).all()
"""


def test_threads_that_the_system_does_not_give() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("limits of memory are those of Linux")
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the address sanitizer needs all addresses")
    run([sys.executable, "-c", FEW_THREADS])
