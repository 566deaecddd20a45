"""What bug reports are given is true, complete, and no secret."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import mercer
from mercer import _versions
from mercer._extras import how_to_get
from mercer._versions import versions_text
from mercer.gram import available_threads, instruction_set

ROOT = Path(__file__).parents[1]


def values(text: str) -> dict[str, str]:
    """Return the lines of the text by their names."""
    lines = [line.strip().split("  ", 1) for line in text.splitlines() if line.startswith("  ")]
    return {line[0].strip(): line[-1].strip() for line in lines}


def in_new_process(statement: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", statement],
        capture_output=True,
        text=True,
        env=os.environ | variables,
    )


def test_it_prints_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    mercer.show_versions()
    printed = capsys.readouterr().out
    assert printed.startswith(f"mercer {mercer.__version__}\n")
    told = values(printed)
    assert told["Python"].split()[0] == ".".join(map(str, sys.version_info[:3]))
    assert told["numpy"] == np.__version__
    for name in ("scipy", "scikit-learn", "joblib", "threadpoolctl"):
        assert told[name] == metadata.version(name)
    assert told["instruction set"] == instruction_set()
    assert told["mercer uses"] == str(available_threads())
    for library in threadpool_info():
        assert f"({library['prefix']})" in printed
        assert (library["version"] or "") in printed


def test_every_part_of_the_project_file_is_told() -> None:
    """Present with its version, or absent with the extra that brings it; but no tools."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = values(versions_text())
    for extra, lines in project["optional-dependencies"].items():
        for line in lines:
            name = line.split(">=")[0].split("[")[0]
            if extra in {"test", "bench", "docs"}:
                assert name not in told
                continue
            try:
                assert told[name] == metadata.version(name)
            except metadata.PackageNotFoundError:
                assert told[name] == f'absent; pip install "mercer[{extra}]" brings it'


def test_a_missing_part_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "clarabel":
            raise metadata.PackageNotFoundError(name)
        if name == "rich":
            raise ValueError("no version in the metadata")
        return real(name)

    monkeypatch.setattr(_versions.metadata, "version", version)
    told = values(versions_text())
    assert told["clarabel"] == 'absent; pip install "mercer[exact]" brings it'
    assert "broken" in told["rich"]


def test_a_part_that_cannot_be_imported_does_no_harm(tmp_path: Path) -> None:
    """Not even one of those that are needed."""
    for name in ("matplotlib", "clarabel", "torch", "pandas", "joblib", "threadpoolctl"):
        (tmp_path / f"{name}.py").write_text("raise OSError('/home/someone/lib.so is broken')")
    done = in_new_process("import mercer; mercer.show_versions()", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    told = values(done.stdout)
    assert told["joblib"] == metadata.version("joblib")
    assert told["(the rest is unknown)"] == "asking raised OSError"
    assert told["MERCER_DATA"] in {"set", "not set"}
    assert "someone" not in done.stdout


def test_without_torch_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    told = values(versions_text())
    assert told["device='cuda'"] == f"it needs torch; {how_to_get('gpu')} brings it."
    assert "CUDA" not in told


def test_gpus_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    cards = [("Card A", (9, 0), 139), ("Card B", (8, 6), 24)]
    monkeypatch.setattr(torch.version, "cuda", "13.1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(cards))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda k: cards[k][1])

    def properties(k: int) -> Any:
        name, (major, minor), size = cards[k]
        return SimpleNamespace(name=name, major=major, minor=minor, total_memory=size * 2**30)

    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    told = values(versions_text())
    assert told["device='cuda'"] == "can be used"
    assert told["CUDA"] == "13.1"
    assert told["cuda:0"] == "Card A, 139 GiB, compute capability 9.0"
    assert told["cuda:1"] == "Card B, 24 GiB, compute capability 8.6"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert values(versions_text())["device='cuda'"] == "torch sees no GPU here."


def test_a_package_that_was_never_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(_versions.metadata, "requires", requires)
    assert "asking raised PackageNotFoundError" in versions_text()


def test_variables_are_told_but_no_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MKL_NUM_THREADS", str(tmp_path))
    monkeypatch.setenv("MERCER_INSTRUCTION_SET", "baseline")
    text = versions_text()
    told = values(text)
    assert told["MERCER_DATA"] == "set"
    assert told["OMP_NUM_THREADS"] == told["mercer uses"] == "1"
    assert told["MERCER_INSTRUCTION_SET"] == "baseline"
    assert told["MKL_NUM_THREADS"] == "set, but to no plain word"
    for secret in (tmp_path, Path.home(), sys.prefix, ROOT, Path.cwd()):
        assert str(secret) not in text
    monkeypatch.delenv("MERCER_DATA")
    assert values(versions_text())["MERCER_DATA"] == "not set"


def test_the_instruction_set_is_the_one_in_use() -> None:
    statement = "import mercer; mercer.show_versions()"
    done = in_new_process(statement, MERCER_INSTRUCTION_SET="baseline")
    assert values(done.stdout)["instruction set"] == "baseline"


def test_an_unknown_instruction_set_is_told() -> None:
    """The page of a bug report says what is wrong instead of ending there."""
    statement = "import mercer; mercer.show_versions()"
    done = in_new_process(statement, MERCER_INSTRUCTION_SET="nonsense")
    told = values(done.stdout)
    assert told["does not load"].startswith("MERCER_INSTRUCTION_SET is 'nonsense', and this")
    assert int(told["mercer uses"]) >= 1


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"flags": "fpu sse2 vme avx2 fma avx512_bf16"}, "sse2 avx2 fma avx512_bf16"),
        ({"Features": "fp asimd evtstrm sve sve2"}, "asimd sve sve2"),
    ],
)
def test_sets_of_the_processor(
    facts: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_versions, "_processor_facts", lambda: facts)
    assert values(versions_text())["processor has"] == expected


def test_sets_of_the_processor_where_the_system_does_not_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_versions, "_processor_facts", dict)
    known = np.show_config(mode="dicts")["SIMD Extensions"]
    assert set(known["baseline"]) <= set(values(versions_text())["processor has"].split())


def test_the_text_can_be_pasted_anywhere() -> None:
    """Plain letters, since a console of Windows may know no others."""
    text = versions_text()
    assert text.isascii()
    assert max(map(len, text.splitlines())) < 250


def test_command() -> None:
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from mercer.cli.app import app

    result = CliRunner().invoke(app, ["versions"])
    assert result.exit_code == 0
    assert result.stdout.strip() == versions_text()


@pytest.mark.slow
def test_the_command_for_an_extra_needs_no_mercer_from_elsewhere() -> None:
    """As in a clone: pip takes the mercer that is installed and looks for nothing but packages."""
    words = shlex.split(how_to_get("exact").partition(" (")[0])
    if importlib.util.find_spec("pip") is None:
        pytest.skip("pip is not installed here")
    done = subprocess.run(
        [sys.executable, "-m", *words, "--dry-run", "--no-index"], capture_output=True, text=True
    )
    assert "Requirement already satisfied: mercer[exact]" in done.stdout, done.stderr
