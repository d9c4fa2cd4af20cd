"""``pyengine serve``: a board in the browser."""

from __future__ import annotations

import threading
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

from rich.text import Text
from typer import Option

from pyengine.base.extras import need
from pyengine.cli.output import console, say
from pyengine.errors import EngineError

_GRACE = 2  # seconds that open requests have when the server ends
_CONNECTIONS = 256  # at the same time
_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class AddressOptions:
    """Where the server listens, and whom it lets in."""

    panel: ClassVar = "Address"
    host: Annotated[
        str, Option(help="Address to listen on; one that other machines reach needs --token.")
    ] = "127.0.0.1"
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 = any free one.")] = 8000
    token: Annotated[
        str | None,
        Option(
            envvar="PYENGINE_TOKEN", help="Token that clients must send; at least 8 characters."
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="Another name of this server, such as a proxy's; repeatable."),
    ] = None
    no_browser: Annotated[
        bool, Option("--no-browser", help="Do not open the page in a browser.")
    ] = False

    def page(self, port: int) -> str:
        """Return the address of the page on this machine, with the token."""
        query = "" if self.token is None else f"/?token={quote(self.token)}"
        return f"{_address(self.host, port)}{query}"


@dataclass(frozen=True, kw_only=True)
class OfferOptions:
    """What the page offers beside the built-in games."""

    panel: ClassVar = "Games"
    game: Annotated[
        list[str] | None,
        Option("--game", "-g", help="A game to offer, such as FILE.py:NAME; repeatable."),
    ] = None
    model: Annotated[
        str | None, Option("--model", "-m", help="A network for --game: a file or a name.")
    ] = None
    run: Annotated[
        list[Path] | None,
        Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Folder of a training run to show; repeatable.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """How much all clients together may use."""

    panel: ClassVar = "Limits"
    threads: Annotated[
        int, Option("--threads", "-t", min=0, help="Threads of a search; 0 = all cores.")
    ] = 0
    memory: Annotated[
        int, Option(min=128, metavar="MB", help="Memory for all trees and caches.")
    ] = 2048
    max_simulations: Annotated[int, Option(min=1, help="Most simulations of a search.")] = 1_000_000


def serve(address: AddressOptions, offer: OfferOptions, limits: LimitOptions) -> None:
    """Play, analyse and see how the search thinks, on a board in the browser.

    pyengine serve

    pyengine serve --game my_game.py:MyGame --model my-network.onnx

    pyengine serve --run runs/connect4 --no-browser

    KaTrain and other clients of KataGo's analysis protocol connect to ws://127.0.0.1:8000/analysis.
    """
    uvicorn = need("uvicorn", "serve")
    app = need("pyengine.serve.app", "serve").make_app(_settings(address, offer, limits))
    config = uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        log_config=None,  # configuring would close the handlers of other libraries
        log_level="critical",  # the app logs errors itself; uvicorn logs each refusal as one
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        ws_max_size=app.state.board.settings.max_body,
        timeout_graceful_shutdown=_GRACE,
    )
    try:
        listener = config.bind_socket()
    except SystemExit:  # how uvicorn reports a port that is taken
        taken = f"{address.host}:{address.port}"
        raise EngineError(f"{taken} is in use: choose another port (--port)") from None
    listener.listen()  # from now on clients may connect; they are answered when the server runs
    port = listener.getsockname()[1]
    say(console(), Text(f"{_address(address.host, port)}  (Ctrl-C ends it)"))
    if not address.no_browser:
        threading.Thread(target=webbrowser.open, args=(address.page(port),), daemon=True).start()
    uvicorn.Server(config).run(sockets=[listener])


def _settings(address: AddressOptions, offer: OfferOptions, limits: LimitOptions) -> Any:
    return need("pyengine.serve.settings", "serve").ServeSettings(
        games=offer.game or (),
        model=offer.model,
        runs=offer.run or (),
        host=address.host,
        hosts=address.allow_host or (),
        token=address.token,
        threads=limits.threads,
        memory=limits.memory * _MIB,
        max_simulations=limits.max_simulations,
    )


def _address(host: str, port: int) -> str:
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"
