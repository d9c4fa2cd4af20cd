"""``pyengine serve``: a board in the browser."""

from __future__ import annotations

import threading
import time
import webbrowser
from pathlib import Path
from typing import Annotated, Any

from rich.text import Text
from typer import Option

from pyengine.base.extras import need
from pyengine.cli.output import console, say
from pyengine.errors import EngineError

_GRACE = 2  # seconds that open requests have when the server ends
_MIB = 1 << 20


def serve(
    host: Annotated[
        str, Option(help="Address to listen on; another than this machine's needs --token.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 = any free one.")] = 8000,
    token: Annotated[
        str | None,
        Option(envvar="PYENGINE_TOKEN", help="What clients must present, 8 characters or more."),
    ] = None,
    game: Annotated[
        list[str] | None,
        Option("--game", "-g", help="A game to offer, such as FILE.py:NAME; repeatable."),
    ] = None,
    model: Annotated[
        str | None, Option("--model", "-m", help="A network for --game: a file or a name.")
    ] = None,
    run: Annotated[
        list[Path] | None,
        Option(
            "--run",
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Folder of a training run to show; repeatable.",
        ),
    ] = None,
    threads: Annotated[
        int, Option("--threads", "-t", min=0, help="Threads of a search; 0 = all cores.")
    ] = 0,
    memory: Annotated[
        int, Option(min=64, metavar="MB", help="Memory for all trees and caches.")
    ] = 2048,
    max_simulations: Annotated[
        int, Option(min=1, help="Most simulations of a search.")
    ] = 1_000_000,
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Play, analyse and see how the search thinks, on a board in the browser.

    pyengine serve

    pyengine serve --game my_game.py:MyGame --model my-network.onnx

    pyengine serve --run runs/connect4 --no-browser

    KaTrain and other clients of KataGo's analysis protocol connect to ws://127.0.0.1:8000/analysis.
    """
    uvicorn = need("uvicorn", "serve")
    app = need("pyengine.serve.app", "serve")
    settings = need("pyengine.serve.settings", "serve").ServeSettings(
        games=game or (),
        model=model,
        runs=run or (),
        host=host,
        token=token,
        threads=threads,
        memory=memory * _MIB,
        max_simulations=max_simulations,
    )
    config = uvicorn.Config(
        app.make_app(settings),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=settings.max_body,
        timeout_graceful_shutdown=_GRACE,
    )
    try:
        listener = config.bind_socket()
    except SystemExit:  # how uvicorn reports a port that is taken
        raise EngineError(f"{host}:{port} is in use: choose another port (--port)") from None
    address = _address(host, listener.getsockname()[1])
    say(console(), Text(f"{address}  (Ctrl-C ends it)"))
    server = uvicorn.Server(config)
    if browser:
        page = address if token is None else f"{address}/?token={token}"
        threading.Thread(target=_open, args=(server, page), daemon=True).start()
    server.run(sockets=[listener])


def _address(host: str, port: int) -> str:
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


def _open(server: Any, page: str) -> None:
    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.05)
    webbrowser.open(page)
