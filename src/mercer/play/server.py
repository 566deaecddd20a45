"""A small server for one page and one person, on this machine only."""

from __future__ import annotations

import itertools
import secrets
import socket
import threading
import warnings
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer._extras import how_to_get
from mercer.play.answers import answer, read_question

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
MOST_BYTES = 1 << 20
"""Of a question, a table included."""

PAGE = Path(__file__).parent / "page"
FILES = {
    "": ("index.html", "text/html"),
    "play.css": ("play.css", "text/css"),
    "play.js": ("play.js", "text/javascript"),
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class DeniedError(Exception):
    """A request that is refused.

    Parameters
    ----------
    status : int
    sentence : str
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Guard:
    """Lets through what the page of this server asks, and answers all else with a sentence.

    A page elsewhere can send its visitors' browsers here, and by a name of its own that leads to
    127.0.0.1 even read the answers; such requests have its Host or its Origin. Other programs of
    this machine do not know the token.

    Parameters
    ----------
    app : callable
        What is guarded, by the rules of ASGI.
    token : str
        First part of every address.
    port : int
        Where the server is.
    """

    def __init__(self, app: Any, token: str, port: int) -> None:
        self.app = app
        self.token = token.encode()
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand a request on, or refuse it."""
        from starlette.datastructures import Headers
        from starlette.responses import PlainTextResponse

        sentence = self.objection(scope["path"], Headers(scope=scope))
        app = PlainTextResponse(f"{sentence}\n", 403, HEADERS) if sentence else self.app
        await app(scope, receive, send)

    def objection(self, path: str, headers: Any) -> str:
        """Return what speaks against a request, or nothing."""
        if headers.get("host") not in self.hosts:
            return f"This server answers to {' and '.join(sorted(self.hosts))} only."
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "Other pages may not ask this server."
        opens = headers.get("sec-fetch-mode") == "navigate"  # a link, as from a terminal in a page
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not opens:
            return "Other pages may not ask this server."
        first = path.removeprefix("/").split("/")[0]
        if not secrets.compare_digest(first.encode(), self.token):
            return "The address has another token; use the one that was printed."
        return ""


def make_app(token: str, port: int, start: dict[str, Any] | None = None) -> Starlette:
    """Return the application.

    Parameters
    ----------
    token : str
        First part of every address.
    port : int
        Where it will be served.
    start : dict or None, default=None
        Points to begin with, as `table_in` returns them.

    Returns
    -------
    Starlette
    """
    from anyio import CapacityLimiter, to_thread
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse, PlainTextResponse
    from starlette.routing import Route

    # What is drawn does not wait for what takes longer, and that ends when the next question comes.
    newest = itertools.count()
    last = [0]
    lanes = {name: CapacityLimiter(1) for name in ("picture", "others")}

    async def file(request: Request) -> Response:
        found = FILES.get(request.path_params.get("name", ""))
        if found is None:
            raise DeniedError(404, "There is nothing here.")
        text = (PAGE / found[0]).read_text(encoding="utf-8")
        return PlainTextResponse(text, media_type=found[1], headers=HEADERS)

    async def ask(request: Request) -> Response:
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            raise DeniedError(415, "A question must be application/json.")
        question = read_question(await read(request))
        lane = lanes["picture" if question.get("ask") == "picture" else "others"]
        own = last[0] = next(newest)
        found = await to_thread.run_sync(answer, question, lambda: last[0] == own, limiter=lane)
        if start is not None and "examples" in found:
            found = found | {"start": start}
        return JSONResponse(found, headers=HEADERS)

    async def denied(request: Request, error: Exception) -> Response:
        return PlainTextResponse(f"{error}\n", getattr(error, "status", 500), headers=HEADERS)

    async def gone(request: Request, error: Exception) -> Response:
        return PlainTextResponse("Nobody waits for this answer.\n", 400, headers=HEADERS)

    routes = [
        Route("/{token}/ask", ask, methods=["POST"]),
        Route("/{token}/{name}", file, methods=["GET"]),
        Route("/{token}/", file, methods=["GET"]),
    ]
    guard = Middleware(Guard, token=token, port=port)
    handlers: dict[Any, Any] = {DeniedError: denied, ClientDisconnect: gone}
    return Starlette(routes=routes, middleware=[guard], exception_handlers=handlers)


async def read(request: Request) -> bytes:
    """Return the body, or refuse one that is too large before it is all here."""
    sentence = f"A question may have at most {MOST_BYTES:,} bytes."
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:12]) > MOST_BYTES:
        raise DeniedError(413, sentence)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise DeniedError(413, sentence)
        parts.append(part)
    return b"".join(parts)


def serve(
    *,
    port: int = 0,
    browser: bool = True,
    start: dict[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page on this machine until Ctrl-C.

    Parameters
    ----------
    port : int, default=0
        0 takes a free one.
    browser : bool, default=True
        Whether to open the page.
    start : dict or None, default=None
        Points to begin with, as `table_in` returns them.
    say : callable, default=print
        Gets the address, then a word at the end.

    Raises
    ------
    OSError
        Where the port is taken.
    ImportError
        Where starlette or uvicorn is missing.

    Examples
    --------
    >>> from mercer.play import serve, table_in
    >>> serve(start=table_in("irises.csv"))  # doctest: +SKIP
    mercer play: http://127.0.0.1:.../ (Ctrl-C ends it)
    mercer play: stopped.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise ImportError(
            f"The page needs starlette and uvicorn; run {how_to_get('app')}."
        ) from error
    with socket.create_server((HOST, port)) as door:
        taken = door.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = make_app(token, taken, start)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            limit_concurrency=64,
            timeout_graceful_shutdown=1,
        )
        address = f"http://{HOST}:{taken}/{token}/"
        say(f"mercer play: {address} (Ctrl-C ends it)")
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        with suppress(KeyboardInterrupt), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page says what matters
            uvicorn.Server(config).run(sockets=[door])
        say("mercer play: stopped.")
