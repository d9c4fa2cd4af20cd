"""The FastAPI app: its addresses, each answered by a function of this module."""

from __future__ import annotations

import mimetypes
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from pyengine.errors import EngineError
from pyengine.games.game import Game
from pyengine.protocols.analysis.service import Analysis
from pyengine.protocols.lines import log
from pyengine.search.engine import Engine
from pyengine.serve import play
from pyengine.serve.catalogue import Catalogue
from pyengine.serve.engines import BusyError, Engines
from pyengine.serve.files import Files, read_file, write_file
from pyengine.serve.guard import Guard, error_response, internal_error
from pyengine.serve.katago import converse
from pyengine.serve.live import Conversation, Post, analyze
from pyengine.serve.positions import Place, read_position, view
from pyengine.serve.requests import (
    Analyze,
    CompareRequest,
    ExportRequest,
    ImportRequest,
    MoveRequest,
    PositionRequest,
    ReviewRequest,
    StepsRequest,
    TreeRequest,
    error_text,
)
from pyengine.serve.reviewing import review
from pyengine.serve.searches import Searches, Stop
from pyengine.serve.settings import ServeSettings
from pyengine.serve.training import Training

_PAGE = Path(__file__).parent / "page"
mimetypes.add_type("text/javascript", ".js")  # some systems say text/plain


class Board:
    """What the answers share: games, engines, searches and runs."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.catalogue = Catalogue(settings.games, settings.model)
        self.searches = Searches(settings.max_searches)
        self.engines = Engines(
            self.catalogue,
            most=settings.max_searches,
            memory=settings.memory_of_search,
            threads=settings.threads,
        )
        self.training = Training(settings.runs)
        self.files = Files()
        self._analysis: Analysis | None = None

    @property
    def analysis(self) -> Analysis:
        """KataGo's protocol; its thread starts with the first client."""
        if self._analysis is None:
            self._analysis = Analysis(
                self._engine_for, max_simulations=self.settings.max_simulations
            )
        return self._analysis

    def _engine_for(self, game: Game) -> Engine:
        name, evaluator = self.catalogue.evaluator(game, None)
        return Engine(
            game,
            evaluator,
            algorithm=self.engines.key(game, name).algorithm,
            threads=self.settings.threads,
            memory_limit=self.settings.memory_of_search,
        )

    def close(self) -> None:
        """Stop all searches and free the engines."""
        self.searches.close()
        self.engines.close()
        if self._analysis is not None:
            self._analysis.finish(at_once=True)


def make_app(settings: ServeSettings | None = None) -> FastAPI:
    """Return the app. Its ``state.board`` is the :class:`Board`.

    Raises ConfigError or ModelError if a game, a network or a run of the settings is unusable.
    """
    board = Board(settings or ServeSettings())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        board.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.board = board
    app.add_middleware(Guard, settings=board.settings)
    _add_errors(app)
    _add_questions(app, board)
    _add_searches(app, board)
    _add_sockets(app, board)
    _add_page(app)
    return app


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    def _(_: Request, error: RequestValidationError) -> Response:
        return error_response(400, error_text(error.errors()))

    @app.exception_handler(BusyError)
    def _(_: Request, error: BusyError) -> Response:
        return error_response(429, str(error))

    @app.exception_handler(EngineError)
    def _(_: Request, error: EngineError) -> Response:
        return error_response(400, str(error))

    @app.exception_handler(HTTPException)
    def _(request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:  # what FastAPI says of a body that nests too deeply
            return error_response(400, "body: expected JSON")
        if error.status_code != 404:
            response = error_response(error.status_code, HTTPStatus(error.status_code).phrase)
            response.headers.update(error.headers or {})
            return response
        return error_response(404, f"address: expected one of this server, got {request.url.path}")

    @app.exception_handler(Exception)
    def _(_: Request, error: Exception) -> Response:
        log("".join(traceback.format_exception(error)))
        return error_response(500, internal_error(error))


def _add_questions(app: FastAPI, board: Board) -> None:
    """Add the addresses that are answered without a search."""

    @app.get("/health")
    async def health() -> Any:  # answered even if all threads are busy
        return {"ok": True}

    @app.get("/api/games")
    def games() -> Any:
        most = board.settings.max_simulations
        return {"games": board.catalogue.to_dict(), "max_simulations": most}

    @app.post("/api/position")
    def position(request: PositionRequest) -> Any:
        place = read_position(request.position, board.catalogue)
        return view(place) | {"entry": board.catalogue.entry(place.game)}

    @app.post("/api/import")
    def read(request: ImportRequest) -> Any:
        with board.files.turn():
            return read_file(request, board.catalogue)

    @app.post("/api/export")
    def write(request: ExportRequest) -> Any:
        with board.files.turn():
            return write_file(read_position(request.position, board.catalogue), request)

    @app.get("/api/training")
    def runs() -> Any:
        return {"runs": board.training.names}

    @app.get("/api/training/{name}")
    def run(name: str) -> Any:
        return board.training.to_dict(name)


def _add_searches(app: FastAPI, board: Board) -> None:
    """Add the addresses that are answered by a search."""
    engines, most = board.engines, board.settings.max_simulations

    def answer(
        body: PositionRequest, request: Request, work: Callable[[Place, Stop], Any]
    ) -> Awaitable[Any]:
        def read_and_work(stop: Stop) -> Any:
            return work(read_position(body.position, board.catalogue), stop)

        return board.searches.run(read_and_work, request.is_disconnected)

    @app.post("/api/move")
    async def move(body: MoveRequest, request: Request) -> Any:
        return await answer(
            body, request, lambda place, stop: play.choose_move(engines, place, body, most, stop)
        )

    @app.post("/api/tree")
    async def tree(body: TreeRequest, request: Request) -> Any:
        return await answer(
            body, request, lambda place, stop: play.search_tree(engines, place, body, most, stop)
        )

    @app.post("/api/steps")
    async def steps(body: StepsRequest, request: Request) -> Any:
        return await answer(
            body, request, lambda place, _: play.show_steps(board.catalogue, place, body, most)
        )

    @app.post("/api/compare")
    async def compare(body: CompareRequest, request: Request) -> Any:
        threads = board.settings.threads
        return await answer(
            body,
            request,
            lambda place, stop: play.compare(engines, place, body, most, threads, stop),
        )


def _add_sockets(app: FastAPI, board: Board) -> None:
    def add(address: str, kind: type[Any], work: Callable[..., None]) -> None:
        """Add an address where each request of a kind starts a search."""

        def search(request: Any, stop: Stop, post: Post) -> None:
            place = read_position(request.position, board.catalogue)
            work(board.engines, place, request, board.settings.max_simulations, stop, post)

        @app.websocket(address)
        async def _(socket: WebSocket) -> None:
            await Conversation(socket, board.searches).run(kind, search)

    add("/api/live", Analyze, analyze)
    add("/api/review", ReviewRequest, review)

    @app.websocket("/analysis")
    async def katago(socket: WebSocket) -> None:
        await converse(socket, board.analysis)


def _add_page(app: FastAPI) -> None:
    @app.get("/{name:path}")
    def page(name: str) -> Response:
        files = {p.relative_to(_PAGE).as_posix(): p for p in _PAGE.rglob("*") if p.is_file()}
        file = files.get(name or "index.html")  # the request names a file, never a path
        if file is None:
            raise HTTPException(404)
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return Response(file.read_bytes(), media_type=kind)
