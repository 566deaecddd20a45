"""A place where the engine is compiled again after each change."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .mutants import Mutant

ROOT = Path(__file__).parents[2]

QUICK = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1"]
"""Compiled in a third of the time, and with the assertions that watch over indices."""


class Workshop:
    """A copy of the engine's sources with a build, of which only what has changed is made anew.

    Parameters
    ----------
    folder : Path
        An empty one.
    """

    def __init__(self, folder: Path) -> None:
        self._sources, self._build = folder / "engine", folder / "build"
        shutil.copytree(ROOT / "engine", self._sources)
        shutil.copy(ROOT / "CMakeLists.txt", folder)
        self._changed: Path | None = None
        python = f"-DPython_EXECUTABLE={sys.executable}"
        # What is changed back need not be compiled again.
        cache = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        configure = ["cmake", "-S", folder, "-B", self._build, python, *QUICK, *cache]
        subprocess.run(configure, capture_output=True, check=True)
        self._unchanged = b""

    def engine(self, mutant: Mutant | None) -> Path | None:
        """Return the engine with one change only, None where that does not compile."""
        if self._changed is not None:
            shutil.copyfile(ROOT / "engine" / self._changed.name, self._changed)
        self._changed = None
        if mutant is not None:
            self._changed = self._sources / mutant.path.name
            self._changed.write_text(mutant.applied(), encoding="utf-8")
        make = ["cmake", "--build", self._build, "--parallel", "2"]
        done = subprocess.run(make, capture_output=True)
        if done.returncode != 0:
            return None
        engine = next(self._build.glob("_engine*.so"))
        if mutant is None:
            self._unchanged = engine.read_bytes()
        return engine

    def is_unchanged(self, engine: Path) -> bool:
        """Say whether the compiler has made what it had made without a change, if it was asked."""
        return engine.read_bytes() == self._unchanged
