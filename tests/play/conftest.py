"""A server in this process, and a window of a browser."""

from __future__ import annotations

import socket
import threading
import warnings
from collections.abc import Iterator

import pytest
from report.browser import Browser

from .questions import TOKEN


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """The port of a server that runs while tests do."""
    uvicorn = pytest.importorskip("uvicorn")
    pytest.importorskip("starlette")
    from mercer.play.server import make_app

    with socket.create_server(("127.0.0.1", 0)) as door:
        taken = door.getsockname()[1]
        config = uvicorn.Config(make_app(TOKEN, taken), log_config=None, lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thread.start()
            yield taken
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    window = Browser(tmp_path_factory.mktemp("browser"))
    yield window
    window.quit()
