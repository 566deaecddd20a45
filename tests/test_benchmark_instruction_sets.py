"""The benchmarks measure the instruction set that was asked for, in every process, or refuse."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import instruction_sets, machine
from benchmarks.__main__ import main
from benchmarks.groups import HOMES, SUITES
from benchmarks.instruction_sets import LEVELS, VARIABLE, LevelError, choose, in_use

ROOT = Path(__file__).parents[1]
# Imports below the question, because the other processes ask it too and would import as much.
EVERYWHERE = """
import sys

if __name__ == "__main__":
    from joblib import Parallel, delayed
    from benchmarks.__main__ import main
    from benchmarks.instruction_sets import choose, in_use
    from benchmarks.worker import Worker

    assert "mercer._engine" not in sys.modules, "loaded before the level is known"
    choose(sys.argv[1])
    print(in_use(), Worker().call(in_use), *Parallel(n_jobs=2)(delayed(in_use)() for _ in "ab"))
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("level", sorted({LEVELS[0], in_use()}))
def test_a_level_holds_in_all_processes(level: str, tmp_path: Path) -> None:
    """The lowest, which no processor takes by itself unless it has no other, and the best."""
    script = tmp_path / "everywhere.py"
    script.write_text(EVERYWHERE)
    done = run(str(script), level)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [level] * 4


def test_the_head_names_the_level_in_use() -> None:
    options = ["--only", "speed", "--quick", "--peers", "mercer", "--match", "Gaussians"]
    done = run("-m", "benchmarks", "svc", "--instruction-set", "baseline", *options)
    assert done.returncode == 0, done.stderr
    assert "- instruction set of mercer: baseline\n" in done.stdout
    assert "| Gaussians 300×20 " in done.stdout


def test_every_command_takes_a_level(capsys: pytest.CaptureFixture[str]) -> None:
    for command in SUITES:
        with pytest.raises(SystemExit):
            main([command, "--instruction-set", "mmx"])
        assert "invalid choice: 'mmx'" in capsys.readouterr().err
    assert {group for groups in SUITES.values() for group in groups} == set(HOMES)


def test_a_level_that_the_processor_lacks_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "kept")
    monkeypatch.setattr(instruction_sets, "in_use", lambda: "baseline")
    monkeypatch.delitem(sys.modules, "mercer._engine", raising=False)
    with pytest.raises(SystemExit) as end:
        main(["svc", "--instruction-set", "avx512"])
    assert end.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.endswith("cannot use avx512: this processor lacks it and offers baseline.")
    assert os.environ[VARIABLE] == "kept"


def test_an_engine_at_work_does_not_change_its_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    present = in_use()
    choose(present)
    monkeypatch.delenv(VARIABLE)
    other = next(level for level in LEVELS if level != present)
    with pytest.raises(LevelError, match=f"cannot use {other}: it was loaded before"):
        choose(other)
    assert VARIABLE not in os.environ


def test_an_engine_that_does_not_load_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise ImportError("no such level")

    monkeypatch.setattr(instruction_sets, "in_use", refuse)
    with pytest.raises(LevelError, match="does not load with avx2: no such level"):
        choose("avx2")
    assert machine.instruction_set() == "none, the engine does not import (no such level)"


def test_versions_of_what_is_absent_and_of_what_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert machine.version("no-such-package") == "absent"

    def absent(package: str) -> str:
        raise machine.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(machine.metadata, "version", absent)
    assert machine.version("mercer").endswith(" (not installed)")
    assert machine.version("numpy") == "absent"
