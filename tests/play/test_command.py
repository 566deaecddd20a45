"""The command `mercer play`: what it refuses, and what it writes."""

from __future__ import annotations

import socket

import pytest

pytest.importorskip("typer")
pytest.importorskip("uvicorn")
pytest.importorskip("pandas")

from typer.testing import CliRunner

from mercer.cli.app import app


def play(*words):
    result = CliRunner().invoke(app, ["play", *map(str, words)])
    return result.exit_code, " ".join((result.stdout + result.stderr).split())


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,kind\n" + "".join(f"{k}.5,{k * k % 7},k{k % 2}\n" for k in range(20)))
    return path


def test_refusals_are_one_sentence(table, tmp_path):
    cases = [
        ((tmp_path / "none.csv",), "There is no file"),
        ((table, "--columns", "a"), "--columns must be two names with a comma; got 'a'."),
        ((table, "--columns", "a,z"), "no column of numbers 'z'; there are a, b."),
        ((table, "--columns", "A,b"), "no column of numbers 'A'; did you mean 'a'?"),
        ((table, "--target", "knid"), "no column 'knid' for target; did you mean 'kind'?"),
        ((table, "--target", "z"), "no column 'z' for target (there are 'a', 'b', 'kind')."),
        ((table, "--target", "a"), "must be a column of 2 to 8 values; got 'a'."),
        (("--columns", "a,b"), "--columns and --target are for a table; give its file."),
        ((table, "--export", tmp_path / "page"), "takes no table."),
    ]
    for words, sentence in cases:
        code, said = play("--no-browser", *words)
        assert (code, sentence in said) == (2, True), said
        assert said.startswith("mercer play: ")


def test_an_export_tells_how_far_it_is(tmp_path, monkeypatch):
    from mercer.cli import _screen
    from mercer.play import exporting

    monkeypatch.setattr(_screen, "PAUSE", 0.0)
    monkeypatch.setattr(exporting, "SHOWN", {"moons": ("svc",)})
    monkeypatch.setattr(exporting, "STEPS", {"C": [1.0], "gamma": [0.2, 0.8]})
    code, said = play("--export", tmp_path / "page")
    assert code == 0
    assert "0 of 3 done, Support vectors (SVC) on two moons" in said
    assert "2 of 3 done, Support vectors (SVC) on two moons, about" in said
    assert "Written: " in said
    assert all((tmp_path / "page" / name).is_file() for name in ("index.html", "fits.js"))


def test_a_port_that_is_taken(table):
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        code, said = play("--no-browser", "--port", port)
    assert code == 2
    assert said == f"mercer play: Port {port} cannot be had; without --port a free one is taken."


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    code, said = play("--no-browser")
    assert code == 2
    assert 'needs starlette and uvicorn; run pip install "mercer[app]"' in said
