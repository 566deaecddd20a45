"""The server answers its own page only, and ends quietly."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("pandas")

from .questions import TOKEN, question


def ask(port, body, *, method="POST", path=f"/{TOKEN}/ask", **headers):
    """Return status, headers and text of an answer; headers may be left out with None.

    A server that refuses may hang up before it has heard all, and then its answer can be lost.
    """
    for _ in range(20):
        with suppress(BrokenPipeError, ConnectionResetError):
            return ask_once(port, body, method, path, headers)
    raise AssertionError("the server hangs up")


def ask_once(port, body, method, path, headers):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    usual = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json"}
    given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
    line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    for name, value in ({"Content-Length": str(len(data))} | given).items():
        if value is not None:
            line.putheader(name, value)
    line.endheaders(data)
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    return answer.status, dict(answer.getheaders()), text


def test_a_question_is_answered(port):
    status, headers, text = ask(port, question())
    assert status == 200
    assert json.loads(text)["task"] == "classes"
    assert headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]


def test_what_is_wrong_with_a_question_is_a_sentence_not_a_failure(port):
    status, _, text = ask(port, question(settings={"C": -1}))
    assert status == 200  # browsers write other answers into their console
    assert json.loads(text) == {"error": "C must be a number from 0.01 to 10000; got -1."}


@pytest.mark.parametrize("name", ["", "play.js", "play.css"])
def test_the_files_of_the_page(port, name):
    status, headers, text = ask(port, b"", method="GET", path=f"/{TOKEN}/{name}")
    assert status == 200
    assert len(text) > 1000
    assert headers["referrer-policy"] == "no-referrer"  # the address holds the token


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "play.example:80"},  # a name of others that leads here
        {"Host": "127.0.0.1:1"},
        {"Host": None},
        {"Origin": "http://play.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize(("method", "path"), [("POST", f"/{TOKEN}/ask"), ("GET", f"/{TOKEN}/")])
def test_other_pages_are_refused(port, headers, method, path):
    status, _, text = ask(port, question(), method=method, path=path, **headers)
    assert status == (400 if headers == {"Host": None} else 403)  # none at all is no HTTP/1.1
    assert status == 400 or text.strip().endswith(".")


def test_a_link_opens_the_page_but_sends_no_questions(port):
    """The browser says where a request comes from; with an Origin it is no mere link."""
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert ask(port, b"", method="GET", path=f"/{TOKEN}/", **link)[0] == 200
    form = {"Origin": "http://play.example", "Content_Type": "text/plain"}
    assert ask(port, question(), **link, **form)[0] == 403


def test_own_origins_are_let_through(port):
    for host in ("127.0.0.1", "localhost"):
        own = {"Host": f"{host}:{port}", "Origin": f"http://{host}:{port}"}
        assert ask(port, question(), Sec_Fetch_Site="same-origin", **own)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/ask", "/wrong/ask", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/%C3%A9/", "//"),
        *("*", "ask", "?a"),  # what no browser sends
    ],
)
def test_other_tokens_are_refused(port, path):
    for method in ("GET", "POST"):
        status, _, text = ask(port, b"{}", method=method, path=path)
        assert status == 403
        assert "token" in text


def test_nothing_else_is_there(port):
    for path in (f"/{TOKEN}/server.py", f"/{TOKEN}/..%2fserver.py", f"/{TOKEN}/../../server.py"):
        assert ask(port, b"", method="GET", path=path)[0] in (403, 404)
    assert ask(port, b"{}", method="PUT")[0] == 405


def test_questions_have_a_kind_and_a_size(port):
    assert ask(port, question(), Content_Type="text/plain")[0] == 415  # what forms can send
    status, _, text = ask(port, b"{}", Content_Length=str(1 << 40))
    assert (status, text) == (413, "A question may have at most 1,048,576 bytes.\n")
    pieces = b"100000\r\n" + b" " * (1 << 20) + b"\r\n" + b"1\r\n \r\n0\r\n\r\n"
    assert ask(port, pieces, Transfer_Encoding="chunked", Content_Length=None)[0] == 413


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="tells who listens on Linux only")
def test_it_hears_this_machine_only_and_ends_with_ctrl_c(tmp_path):
    """The command, as a person starts and stops it."""
    table = tmp_path / "table.csv"
    table.write_text("a,b,kind\n" + "".join(f"{k}.5,{k * k % 7},k{k % 2}\n" for k in range(20)))
    run = [sys.executable, "-u", "-m", "mercer", "play", str(table), "--no-browser"]
    command = subprocess.Popen(
        run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        said = command.stdout.readline()
        port, token = re.search(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/ ", said).groups()
        port = int(port)
        for _ in range(600):
            try:
                about = json.loads(ask(port, {"ask": "about"}, path=f"/{token}/ask")[2])
                break
            except ConnectionError:
                time.sleep(0.1)
        assert about["start"]["names"] == ["k0", "k1"]
        lines = Path("/proc/net/tcp").read_text().splitlines()
        listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
        assert f"0100007F:{port:04X}" in listening
        assert f"00000000:{port:04X}" not in listening
        command.send_signal(signal.SIGINT)
        rest, problems = command.communicate(timeout=60)
        assert (command.returncode, rest, problems) == (0, "mercer play: stopped.\n", "")
    finally:
        command.kill()
        command.wait()
