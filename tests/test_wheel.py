"""What is published is whole: the archive of sources, and the wheel that is built from it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHECK = ROOT / ".ci" / "check_installed.py"
BUILD = (
    "import sys; from scikit_build_core import build\n"
    "print(build.build_{kind}(sys.argv[1], {settings}))"
)

TEMPLATES = (".html", ".css", ".js")

pytestmark = [
    pytest.mark.slow,  # all, so that one process unpacks the sources for them
    pytest.mark.skipif(
        not (ROOT / "engine").is_dir(), reason="the sources of the engine are not here"
    ),
]


def build(kind: str, source: Path, target: Path, settings: dict[str, str] | None = None) -> Path:
    """Build an archive of sources or a wheel with the tools of this environment."""
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
    pytest.importorskip("nanobind", reason="nanobind is not installed")
    done = subprocess.run(
        [sys.executable, "-c", BUILD.format(kind=kind, settings=settings), str(target)],
        cwd=source,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return target / done.stdout.split()[-1]


@pytest.fixture(scope="module", name="sources")
def unpacked_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of sources, unpacked."""
    folder = tmp_path_factory.mktemp("sources")
    with tarfile.open(build("sdist", ROOT, folder)) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def test_the_sources_are_complete(sources: Path) -> None:
    """All that builds, tests and explains mercer, and nothing that was built."""
    kept = {path.relative_to(sources).as_posix() for path in sources.rglob("*") if path.is_file()}
    for folder in ("engine", "src", "tests", "docs", "studies"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".cpp", ".hpp", ".py", ".pyi", ".typed", ".md", *TEMPLATES}:
                assert path.relative_to(ROOT).as_posix() in kept
    assert {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO"} <= kept
    assert not [name for name in kept if name.endswith((".so", ".pyd", ".pyc", ".o"))]


def test_the_wheel_holds_the_package_and_nothing_else(sources: Path, tmp_path: Path) -> None:
    """Without the engine, which another test compiles; there is no stable ABI without it."""
    plain = {"wheel.cmake": "false", "wheel.py-api": "py3"}
    with zipfile.ZipFile(build("wheel", sources, tmp_path, plain)) as wheel:
        names = {name for name in wheel.namelist() if not name.split("/")[0].endswith(".dist-info")}
    package = ROOT / "src" / "mercer"
    expected = {
        f"mercer/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.suffix in {".py", ".pyi", ".typed", ".cu", *TEMPLATES}
    }
    assert names == expected
    assert {"mercer/py.typed", "mercer/_engine.pyi", "mercer/report/templates/page.html"} <= names
    assert {f"mercer/play/page/{name}" for name in ("index.html", "play.css", "play.js")} <= names


def test_the_wheel_works_where_there_is_no_compiler(sources: Path, tmp_path: Path) -> None:
    """Compiled from the archive, then installed where only its dependencies can be found.

    These come from the environment of the tests; its own mercer stays out, because folders added
    by a .pth file bring no .pth files of their own.
    """
    if not CHECK.is_file():
        pytest.skip("the archive of sources has no folder .ci")
    # Neither optimised nor for debuggers: what is packed counts here, not how fast it is.
    quickly = {
        "cmake.build-type": "Debug",
        "cmake.define.CMAKE_CXX_FLAGS_DEBUG": "-O0",
        "cmake.define.CMAKE_UNITY_BUILD": "ON",
        "cmake.define.CMAKE_UNITY_BUILD_BATCH_SIZE": "0",
    }
    wheel = build("wheel", sources, tmp_path, quickly | {"build-dir": str(tmp_path / "build")})
    assert ("abi3" in wheel.name) == (sys.version_info >= (3, 12))
    assert wheel.stat().st_size < 5e6
    venv.create(tmp_path / "bare", symlinks=os.name != "nt")
    paths = sysconfig.get_paths("venv", vars={"base": str(tmp_path / "bare")})
    packages, programs = Path(paths["purelib"]), Path(paths["scripts"])
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    python = programs / Path(sys.executable).with_stem("python").name
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
    done = subprocess.run(
        [python, CHECK],
        cwd=tmp_path,
        env={**kept, "PATH": str(programs), "CC": "false", "CXX": "false"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "instruction set" in done.stdout
