"""The engine under the address, undefined-behaviour and thread sanitizers.

A copy of the package is put together with an engine built for this purpose, and the tests of the
engine, of the solver and the zoo run on it in a process of their own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hot_loop_checks import LEVELS, as_checked, compiled_program, linked
from hot_loop_checks import run as run_check

import mercer
from mercer import _engine

ROOT = Path(__file__).parents[1]
TESTS = Path(__file__).parent
REPORTS = ("AddressSanitizer", "runtime error:", "UndefinedBehaviorSanitizer", "ThreadSanitizer")

# Only the plain finders: an editable install would bring in its own engine.
PREPARE = """
import os, sys
plain = ("_frozen", "importlib")
sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__module__", "").startswith(plain)]
sys.path.insert(0, os.environ["MERCER_SANITIZED"])
import mercer
from mercer import _engine
assert _engine.__file__.startswith(os.environ["MERCER_SANITIZED"]), _engine.__file__
print("engine:", _engine.__file__, flush=True)
"""

RUN_TESTS = (
    PREPARE
    + """
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
)

RUN_SCRIPT = (
    PREPARE
    + """
import runpy
runpy.run_path(sys.argv[1], run_name="__main__")
"""
)

RACE = (
    PREPARE
    + """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from mercer.gram import RequestedGram, StoredGram, kernel_products, make_gram
from mercer.kernels import RBF
from mercer.problems import Programs, epsilon_svr, hinge_svc
from mercer.solvers import Options, solve_all, solve_path, solve_smo

rng = np.random.default_rng(0)

def work(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    problem = hinge_svc(np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0), 1.0)
    for tol in (1e-2, 1e-6):
        gram = make_gram(RBF(0.5), X)
        assert solve_smo(problem, gram, tol=tol, n_threads=3, cache_bytes=4e6).converged
    twice = make_gram(RBF(0.5), X).subset(np.tile(np.arange(n), 2))
    tube = epsilon_svr(np.sin(X[:, 0]), 1.0, 0.1)
    assert solve_smo(tube, twice, n_threads=3, cache_bytes=4e6).converged
    values = RBF(0.5)(X)
    assert solve_smo(problem, StoredGram(values), tol=1e-2, n_threads=3).converged
    kernel_products(RBF(0.5), X, X, np.ones((2, n)), n_threads=3)
    path = solve_path(problem, StoredGram(values), [0.1, 1.0], Options(tol=1e-2, n_threads=3))
    assert path.converged.all()
    for gram in (make_gram(RBF(0.5), X), StoredGram(values), RequestedGram(RBF(0.5), X), twice):
        batch(gram, X)

def batch(gram, X):
    # Programs of odd sizes on rows of their own choice, a thread each, and a callback.
    rng, seen = np.random.default_rng(len(X)), []
    rows = [rng.choice(gram.n, size) for size in rng.integers(100, 280, 8)]
    signs = [np.where(X[own % len(X), 0] > 0, 1.0, -1.0) for own in rows]
    programs = Programs.of([hinge_svc(own, 1.0) for own in signs])
    options = Options(n_threads=3, callback=lambda n_iter, gap: seen.append(gap))
    assert solve_all(programs, gram, options, rows=np.concatenate(rows)).converged.all()

work(300)
with ThreadPoolExecutor(3) as pool:
    list(pool.map(work, (2101, 301, 303)))
"""
)


def tool(name: str) -> str:
    """Return the path of a program from this environment or from the system."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(name, path=beside)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def library(compiler: str, name: str) -> str:
    """Return the path of one of the compiler's run-time libraries."""
    answer = subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(answer).is_absolute():
        pytest.skip(f"the compiler has no {name}")
    return answer


@pytest.fixture(scope="module", name="compiler")
def gnu_compiler() -> str:
    if not sys.platform.startswith("linux"):
        pytest.skip("the sanitizers are run on Linux only")
    if not (ROOT / "CMakeLists.txt").is_file():
        pytest.skip("the sources of the engine are not here")
    pytest.importorskip("nanobind", reason="nanobind is not installed")
    return tool("g++")


@pytest.fixture(scope="module")
def failing_allocations(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library that lets allocations fail."""
    library = str(tmp_path_factory.mktemp("failing") / "failing_allocations.so")
    source = str(TESTS / "engine" / "failing_allocations.cpp")
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"]
    subprocess.run(command, check=True)
    return library


# Nanobind's library, which is not sanitised, as soon as it is had, and all files of the engine as
# one: together they are compiled in less than half the time.
QUICKLY = (
    *("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"),
    *("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"),
)


def build(folder: Path, compiler: str, *options: str) -> Path:
    """Build the engine and return a folder with the package around it."""
    cmake, ninja = tool("cmake"), tool("ninja")
    configure = [
        *(cmake, "-S", str(ROOT), "-B", str(folder / "build"), "-G", "Ninja"),
        *(f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DCMAKE_CXX_COMPILER={compiler}"),
        *(f"-DPython_EXECUTABLE={sys.executable}", *QUICKLY, *options),
    ]
    for command in (configure, [cmake, "--build", str(folder / "build")]):
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    package = folder / "package"
    ignored = shutil.ignore_patterns("*.so", "*.pyd", ".*")
    shutil.copytree(Path(mercer.__file__).parent, package / "mercer", ignore=ignored)
    (engine,) = (folder / "build").glob("_engine*.so")
    shutil.copy(engine, package / "mercer")
    return package


def run(package: Path, script: str, *arguments: str, **settings: str) -> str:
    """Run a script on the sanitised package; fail on any report."""
    environment = os.environ | {
        "MERCER_SANITIZED": str(package),
        "PYTHONPATH": str(package),
        "PYTHONMALLOC": "malloc",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **settings,
    }
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=package,
    )
    output = result.stdout + result.stderr
    assert not any(report in output for report in REPORTS), output[-6000:]
    assert result.returncode == 0, output[-6000:]
    assert f"engine: {package}" in output, "another engine was loaded"
    return output


@pytest.fixture(scope="module")
def address_package(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with an engine that watches addresses and undefined behaviour."""
    return build(
        tmp_path_factory.mktemp("address"), compiler, "-DMERCER_SANITIZE=address,undefined"
    )


@pytest.fixture(scope="module")
def address_settings(compiler: str) -> dict[str, str]:
    preload = [library(compiler, name) for name in ("libasan.so", "libubsan.so", "libstdc++.so")]
    return {
        "LD_PRELOAD": " ".join(preload),
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:exitcode=99",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }


PYTEST = ("-q", "-n0", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--tb=short")

# Files of tests, and what of them is run. Of the solver's, sizes around and above one block; the
# largest only repeat those. Of the zoo, one problem of millions of steps is left out.
SHORT = "not several and not 2300 and not 2500 and not 3000 and not single_precision"
EVERYWHERE = {
    "engine/test_engine.py": "not instruction_sets",
    "solvers/test_smo.py": "(in_blocks or sizes_around or single_and_double) and not 2300",
}
SELECTED = EVERYWHERE | {
    "engine/test_refusals.py": "not ctrl_c",
    "solvers/test_smo.py": SHORT,
    "solvers/test_programs.py": "not several",
    "solvers/test_path.py": SHORT,
    "feature_selection/test_linear_elimination.py": "not downdated",
    "gram/test_repeated.py": SHORT,
    "svm/test_zoo.py": "(gap_is_true or prediction_follows) and not linear_C_1e6",
}


BEST = _engine.instruction_set()


@pytest.mark.slow
@pytest.mark.parametrize("level", dict.fromkeys(["baseline", BEST]))
def test_addresses(level: str, address_package: Path, address_settings: dict[str, str]) -> None:
    """The engine, the solver, and every problem of the zoo fitted and judging new points.

    Levels differ in their hot loops only (which are checked by themselves too), so beside the best
    of this processor, with the widest vectors, what calls each of these with the narrowest ones is
    enough.
    """
    selected, expected = (SELECTED, 500) if level == BEST else (EVERYWHERE, 200)
    # Objects of Python are watched once: loops see only arrays, whose memory is never Python's own.
    memory = {} if level == BEST else {"PYTHONMALLOC": "pymalloc"}
    chosen = " or ".join(f"({Path(file).name} and ({which}))" for file, which in selected.items())
    output = run(
        address_package,
        RUN_TESTS,
        *PYTEST,
        *(str(TESTS / file) for file in selected),
        "-k",
        chosen,
        MERCER_INSTRUCTION_SET=level,
        **address_settings,
        **memory,
    )
    (passed,) = re.findall(r"(\d+) passed", output)
    assert int(passed) > expected


@pytest.fixture(scope="module", name="program")
def checking_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_program("g++", tmp_path_factory.mktemp("program"))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_hot_loops(level: str, program: Path, address_package: Path, tmp_path: Path) -> None:
    """Each copy of the loops in the sanitised engine against plain scalar code."""
    folder = address_package.parent / "build" / "CMakeFiles" / f"hot_loops_{level}.dir"
    found = list(folder.rglob("*.o"))
    if level != "baseline" and not found:
        pytest.skip(f"{level} is of other processors")
    (loops,) = found
    options = ("-fsanitize=address,undefined", *as_checked(level))
    run_check(linked("g++", loops, program, tmp_path / "check", *options), level, "--brief")


@pytest.mark.slow
def test_failures(
    failing_allocations: str, address_package: Path, address_settings: dict[str, str]
) -> None:
    """Whatever allocation fails, nobody uses memory that is gone."""
    preload = f"{failing_allocations} {address_settings['LD_PRELOAD']}"
    output = run(
        address_package,
        RUN_SCRIPT,
        str(TESTS / "engine" / "failing_solves.py"),
        MERCER_FAILING_ALLOCATIONS=failing_allocations,
        MERCER_FAILING_STRIDE="3",
        **address_settings
        | {
            "LD_PRELOAD": preload,
            "ASAN_OPTIONS": address_settings["ASAN_OPTIONS"] + ":verify_asan_link_order=0",
        },
    )
    assert "products: " in output


@pytest.mark.slow
def test_a_report_is_noticed(address_package: Path, address_settings: dict[str, str]) -> None:
    """The sanitizer is at work: memory used after it was freed ends the process with a report."""
    script = PREPARE + "import ctypes; m = ctypes.CDLL(None); m.malloc.restype = ctypes.c_void_p\n"
    script += "p = m.malloc(16); m.free(ctypes.c_void_p(p)); m.free(ctypes.c_void_p(p))\n"
    with pytest.raises(AssertionError, match="AddressSanitizer: attempting double-free"):
        run(address_package, script, **address_settings)


@pytest.mark.slow
def test_threads(compiler: str, failing_allocations: str, tmp_path: Path) -> None:
    """No data races: helpers of one solve, several solves at once, and solves that fail."""
    package = build(tmp_path, compiler, "-DMERCER_SANITIZE=thread")
    assert b"__tsan" in next((package / "mercer").glob("_engine*.so")).read_bytes()
    preload = library(compiler, "libtsan.so")
    options = "halt_on_error=0:exitcode=66:report_signal_unsafe=0:ignore_noninstrumented_modules=1"
    run(package, RACE, LD_PRELOAD=preload, TSAN_OPTIONS=options)
    run(
        package,
        RUN_SCRIPT,
        str(TESTS / "engine" / "failing_solves.py"),
        MERCER_FAILING_ALLOCATIONS=failing_allocations,
        MERCER_FAILING_STRIDE="1",
        LD_PRELOAD=f"{failing_allocations} {preload}",
        TSAN_OPTIONS=options,
    )
