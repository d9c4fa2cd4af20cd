"""The gate of the server: Host, Origin, token, sizes and headers."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import socket
import traceback
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pyengine.base.checks import short_repr
from pyengine.protocols.lines import log
from pyengine.serve.settings import ServeSettings

#: The page loads nothing from elsewhere, runs no inline code, and no other page may embed it.
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """Lets a request through to the app only if it comes from the page or from a trusted program.

    A page of another site can neither send requests (Origin) nor reach the server by a name of its
    own that leads to this address (Host). Only a client with the token is let in, if there is one.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings
        names = [settings.host, "localhost", *settings.hosts]
        if not settings.is_local:
            names.append(socket.gethostname())
        self._hosts = {name.lower() for name in names}
        self._sockets = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a connection, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(refusal, scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._request(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_own(host):
            return error_response(403, f"host: expected this server's, got {short_repr(host)}")
        if origin is not None and _netloc(origin) != host.lower():
            return error_response(403, f"origin: expected http://{host}, got {short_repr(origin)}")
        if self._settings.token is None:
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = [*query.get("token", ()), *_bearer(headers)]
        if any(_equal(each, self._settings.token) for each in given):
            return self._with_cookie(scope) if "token" in query else None
        if _equal(_cookie(headers, scope), _digest(self._settings.token)):
            return None
        return error_response(401, "token: expected the server's token, got another or none")

    def _is_own(self, host: str) -> bool:
        """Whether the Host header names this server; other machines may use any IP address."""
        name = _hostname(host)
        if name in self._hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._settings.is_local

    def _with_cookie(self, scope: Scope) -> Response | None:
        """Exchange a token in the page's address for a cookie; None for other requests."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            return None
        response = RedirectResponse("/", 303)
        token = self._settings.token or ""
        secure = scope["scheme"] == "https"
        # Lax: a link on another site may open the page; Host and Origin guard the requests.
        response.set_cookie(
            cookie_name(scope), _digest(token), httponly=True, samesite="lax", secure=secure
        )
        return response

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self._settings.max_sockets
        if self._sockets >= most:
            refusal = error_response(429, f"websockets: expected at most {most} at the same time")
            await _refuse(refusal, scope, receive, send)
            return
        self._sockets += 1
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            log("".join(traceback.format_exception(error)))
            raise
        finally:
            self._sockets -= 1

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read(receive, self._settings.max_body)
        if body is None:
            most = self._settings.max_body
            await _refuse(
                error_response(413, f"body: expected at most {most} bytes"), scope, receive, send
            )
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read_again() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, read_again, _with_headers(send))


def cookie_name(scope: Scope) -> str:
    """Return the name of the token's cookie: a browser sends it to all ports of a host."""
    _, port = scope.get("server") or ("", None)
    return f"pyengine-{port or 0}"


def error_response(status: int, text: str) -> Response:
    """Return an error as JSON."""
    return JSONResponse({"error": text}, status)


def internal_error(error: Exception) -> str:
    """Return what a client is told of an error in the code of the server or of a user's game."""
    return f"internal error ({type(error).__name__}): see the server's log"


async def _refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await response(scope, receive, _with_headers(send))
    elif "websocket.http.response" in scope.get("extensions", {}):
        await receive()  # websocket.connect
        await response(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008})


async def _read(receive: Receive, most: int) -> bytes | None:
    """Return the body of a request; None if it is longer than ``most`` bytes."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), text.encode()) for name, text in _HEADERS.items()]
            message["headers"] = [*message.get("headers", ()), *added]
        await send(message)

    return send_with_headers


def _hostname(host: str) -> str:
    """Return the name in a Host header, without the port; "" if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str:
    """Return host and port of an Origin header in lower case; "" if it is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _bearer(headers: Headers) -> list[str]:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return [token.strip()] if kind.lower() == "bearer" else []


def _cookie(headers: Headers, scope: Scope) -> str:
    return cookie_parser(headers.get("cookie", "")).get(cookie_name(scope), "")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _equal(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(), token.encode())
