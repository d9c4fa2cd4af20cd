"""The search engine: :class:`Engine`, and :func:`search` for a single call."""

from __future__ import annotations

import queue
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self, Unpack

from pyengine import _core
from pyengine.base.arguments import number, short_repr
from pyengine.errors import ConfigError, EngineError
from pyengine.eval.evaluators import Evaluator, as_evaluator
from pyengine.eval.final_board import FinalBoard
from pyengine.eval.providers import tell_of_graphs
from pyengine.games.game import as_game, can_be_recognised, game_of, load_game
from pyengine.search.config import SearchConfig, SearchSettings
from pyengine.search.result import SearchResult, result_of

OnProgress = Callable[[SearchResult], object]
_MakeResult = Callable[[dict[str, Any], Any], SearchResult]

_FOREVER = 1e9  # seconds: analyze() without a budget
_LONGEST = 1e6  # seconds between two results of analyze()
_PROGRESS_EVERY = 0.1  # seconds
_CLOSED = "this engine is closed"


class Engine:
    """Searches states of one game with one evaluator, and keeps the tree from call to call.

    Args:
        game: a :class:`~pyengine.Game`, a name such as ``"go(board_size=9)"``, a Python game or a
            ``pyspiel`` game.
        evaluator: a path to an ONNX file, the name of a bundled model, ``"uniform"``,
            ``"rollout"``, a callable on planes, or any evaluator.
        config: the settings; each may be given as a keyword instead.

    Raises:
        ConfigError: a setting out of range, a game that cannot be searched.
        ModelError: the network cannot be loaded or does not fit the game.

    A tree continues when the state searched equals the root, its history included; any other state
    starts afresh. Where a user's game has neither ``history()`` nor ``__eq__``, the root of
    :meth:`advance` is recognised by player, legal actions, planes and text. One search at a time: a
    second raises :class:`~pyengine.EngineError`; :meth:`stop` and :meth:`stats` work from any
    thread. After ``fork()`` an engine of the parent raises EngineError in the child: make a new one
    there.

    Example:
        >>> import pyengine
        >>> engine = pyengine.Engine("connect_four", "connect4", simulations=400, seed=1)
        >>> state = engine.game.new_initial_state([3, 3, 3, 3])
        >>> result = engine.search(state)
        >>> state.apply_action(result.action)
        >>> engine.advance(result.action)  # the next search continues the tree
        >>> int(engine.search(state).visits.sum()) > 400
        True
        >>> engine.close()
    """

    def __init__(
        self,
        game: Any,
        evaluator: Any,
        *,
        config: SearchConfig | None = None,
        **settings: Unpack[SearchSettings],
    ) -> None:
        """Make an engine; see the class."""
        self._game: _core.Game | None = load_game(game) if isinstance(game, str) else as_game(game)
        self._evaluator: Evaluator | None = as_evaluator(evaluator)
        if not isinstance(config, SearchConfig | None):
            raise ConfigError(f"config: expected a SearchConfig, got {short_repr(config)}")
        self._config = (config or SearchConfig()).replace(**settings)
        self._advanced = self._warned = False
        self._searcher: _core.Searcher | None = _core.Searcher(
            self.game, self.evaluator, self._config
        )
        tell_of_graphs(self._searcher.stats()["provider"])

    @property
    def game(self) -> _core.Game:
        """The game, as the engine sees it."""
        game = self._game  # another thread may close the engine meanwhile
        if game is None:
            raise EngineError(_CLOSED)
        return game

    @property
    def evaluator(self) -> Any:
        """The evaluator."""
        evaluator = self._evaluator
        if evaluator is None:
            raise EngineError(_CLOSED)
        return evaluator

    @property
    def config(self) -> SearchConfig:
        """The settings that hold where a call gives none."""
        return self._config

    def search(
        self,
        state: Any,
        *,
        on_progress: OnProgress | None = None,
        **settings: Unpack[SearchSettings],
    ) -> SearchResult:
        """Search a state.

        Args:
            state: a state of the game that is not terminal; a user's own state too.
            on_progress: called about ten times a second with the result so far; returning
                ``False`` ends the search.
            **settings: fields of :class:`~pyengine.SearchConfig`, for this call.

        ``stop_reason`` says what ended the search: its budget (``"simulations"``, ``"seconds"``),
        ``"proven"``, ``"stopped"``, or ``"visits"``: the root has the most that can be counted,
        2^32 - 1, and :meth:`advance` makes room again. A ``memory_limit`` below what the tree has
        keeps the tree from growing, and takes nothing away.

        Raises:
            ConfigError: a terminal state, one of another game, a setting out of range, or a
                ``memory_limit`` that the engine's cache fills.
            EngineError: another search of this engine is running, or it is closed.
            EvaluationError: the evaluator failed. The tree is as good as before.
            KeyboardInterrupt: after Ctrl-C, within 50 ms and one batch or call of a user's code.

        What a user's game or ``on_progress`` raises stops the search and is raised here.
        """
        return self._search(state, on_progress, _PROGRESS_EVERY, settings)

    def _search(
        self, state: Any, on_progress: OnProgress | None, every: float, settings: SearchSettings
    ) -> SearchResult:
        self._warn_of_a_lost_tree(state)
        searcher, result = self._searcher_open, self._results()
        fields = searcher.search(
            state, dict(settings), _progress(on_progress, state, result), every
        )
        return result(fields, state)

    def _warn_of_a_lost_tree(self, state: Any) -> None:
        """Warn once, after advance(), where nothing can tell whether a state is the one meant."""
        advanced, self._advanced = self._advanced, False
        if not advanced or self._warned or can_be_recognised(self.game, state):
            return
        self._warned = True
        warnings.warn(
            f'game "{self.game.name}": the tree that advance() kept is dropped, since '
            f"{type(state).__name__} has no history(), no __eq__, no observation_tensor() and no "
            "__str__ by which the engine could recognise the state; one of them keeps the tree",
            stacklevel=4,
        )

    def search_many(
        self, states: Sequence[Any], **settings: Unpack[SearchSettings]
    ) -> list[SearchResult]:
        """Search several states at once, each in a tree of its own; they share the batches.

        ``settings`` are fields of :class:`~pyengine.SearchConfig`, for this call. Budgets are for
        each state; no tree is kept. With ``deterministic=True`` each tree has an equal share of the
        memory, and ConfigError is raised where that is less than 64 KiB (256 KiB with more than
        16,382 actions). Errors are those of :meth:`search`. A state whose root was in no batch when
        the search had to end has equal priors, value 0 and ``evaluations`` 0.
        """
        if isinstance(states, str) or not isinstance(states, Iterable):
            raise ConfigError(f"states: expected a sequence of states, got {short_repr(states)}")
        states = list(states)
        searcher, result = self._searcher_open, self._results()
        found = searcher.search_many(states, dict(settings))
        return [result(fields, state) for fields, state in zip(found, states, strict=True)]

    def analyze(
        self, state: Any, *, every: float = 0.1, **settings: Unpack[SearchSettings]
    ) -> Iterator[SearchResult]:
        """Yield the result so far every ``every`` seconds while searching in the background.

        Without a budget the search goes on until the loop is left, which stops it. The last result
        is the final one. ``state``, ``settings`` and errors are those of :meth:`search`.

        Example:
            >>> import pyengine
            >>> engine = pyengine.Engine("gomoku(board_size=9)", "uniform")
            >>> for result in engine.analyze(engine.game.new_initial_state(), every=0.01):
            ...     if result.nodes > 100:
            ...         break
        """
        expected = f"a number of seconds in (0, {_LONGEST:g}]"
        every = number("every", every, expected, lambda s: 0 < s <= _LONGEST)
        merged = self._config.replace(**settings)
        if merged.simulations is None and merged.seconds is None:
            settings["seconds"] = _FOREVER
        if not hasattr(state, "clone"):
            raise ConfigError(f"state: expected a state of {self.game}, got {short_repr(state)}")
        return self._stream(state.clone(), every, settings)

    def _stream(self, state: Any, every: float, settings: SearchSettings) -> Iterator[SearchResult]:
        _core.throw_at_exit()  # no thread can search any more
        news: queue.Queue[SearchResult | BaseException] = queue.Queue()
        latest: list[SearchResult] = []
        leaving = threading.Event()

        def keep(result: SearchResult) -> bool:
            latest[:] = [result]
            return not leaving.is_set()

        def run() -> None:
            try:
                news.put(self._search(state, keep, every, settings))
            except BaseException as error:
                news.put(error)

        worker = threading.Thread(target=run, name="pyengine-analyze", daemon=True)
        worker.start()
        ended = False
        try:
            while True:
                try:
                    final = news.get(timeout=every)
                except queue.Empty:
                    _core.throw_at_exit()
                    if latest:
                        yield latest.pop()
                    continue
                ended = True
                if isinstance(final, SystemExit):
                    _core.throw_at_exit()
                if isinstance(final, BaseException):
                    raise final
                yield final
                return
        finally:
            leaving.set()
            if not ended:  # the engine may be searching for somebody else by now
                self.stop()
            while worker.is_alive() and not _core.program_ends():  # which may be its end for good
                worker.join(timeout=_PROGRESS_EVERY)

    def advance(self, action: int) -> None:
        """Make the state after ``action`` the root and keep its subtree.

        Raises ConfigError when nothing has been searched, IllegalActionError when the action is
        not legal. Never blocks for long: what is dropped is sorted out in the background.
        """
        self._searcher_open.advance(action)
        self._advanced = True

    def stop(self) -> None:
        """End the running search early, with what it has. From any thread."""
        searcher = self._searcher  # another thread may close the engine meanwhile
        if searcher is not None:
            searcher.stop()

    def clear(self) -> None:
        """Drop the tree and the evaluation cache."""
        self._searcher_open.clear()

    def stats(self) -> dict[str, Any]:
        """Return counters since the engine was made.

        Keys:
            simulations: of all searches.
            evaluations: rows evaluated, without padding and cache hits.
            batches: calls of the evaluator.
            mean_batch_fill: rows of a batch.
            padding: rows of batches that no leaf needed.
            cache_hits: rows that the cache answered.
            collisions: walks that met a leaf in flight, or a part that another worker searches.
            waiting_seconds: of workers with nothing to do but wait for evaluations or for a part of
                the tree, summed.
            nodes: in the tree now.
            bytes: of tree and cache now.
            memory_refusals: how often a node stayed without children because the memory limit was
                met.
            scheduler_passes: of the threads through the scheduler's mutex.
            wake_ups: of sleeping threads.
            queue_operations: of the lines in which searches and batches wait.
            provider: that runs the network, and whether CUDA graphs that were asked for are used.
        """
        stats = dict(self._searcher_open.stats())
        batches = stats["batches"]
        stats["mean_batch_fill"] = stats["evaluations"] / batches if batches else 0.0
        return stats

    def close(self) -> None:
        """Free everything and let go of game and evaluator. Closing twice is no error."""
        self.stop()
        # A search under way keeps what it needs until it ends.
        self._searcher = self._game = self._evaluator = None

    def __enter__(self) -> Self:
        """Return the engine, which is closed when the block is left."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the engine."""
        self.close()

    def __repr__(self) -> str:
        """Return game and evaluator."""
        if self._game is None:
            return "Engine(closed)"
        return f"Engine({self._game}, {self._evaluator!r})"

    @property
    def _searcher_open(self) -> _core.Searcher:
        searcher = self._searcher  # another thread may close the engine meanwhile
        if searcher is None:
            raise EngineError(_CLOSED)
        return searcher

    def _results(self) -> _MakeResult:
        """Return what makes results, also if the engine is closed before the search ends."""
        game, evaluator = self.game, self.evaluator

        def result(fields: dict[str, Any], state: Any) -> SearchResult:
            final_board = None
            if evaluator.has_final_board:
                final_board = FinalBoard(evaluator, state.clone(), game)
            return result_of(fields, state.clone(), final_board)

        return result


def _progress(on_progress: OnProgress | None, state: Any, result: _MakeResult) -> Any:
    if on_progress is None:
        return None
    if not callable(on_progress):
        raise ConfigError(f"on_progress: expected a function, got {short_repr(on_progress)}")
    return lambda fields: on_progress(result(fields, state))


def search(
    state: Any,
    *,
    evaluator: Any,
    game: Any = None,
    on_progress: OnProgress | None = None,
    **settings: Unpack[SearchSettings],
) -> SearchResult:
    """Search one state with an engine of its own; nothing is kept.

    Args:
        state: a :class:`~pyengine.State`, or a user's state together with its ``game``.
        evaluator: as for :class:`Engine`.
        game: needed where the state does not know its game.
        on_progress: as for :meth:`Engine.search`.
        **settings: fields of :class:`~pyengine.SearchConfig`.

    Example:
        >>> import pyengine
        >>> state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4])
        >>> result = pyengine.search(state, evaluator="rollout", simulations=100)
        >>> result.action_name(result.action), result.proven
        ('c1', 1)
    """
    owner = game if game is not None else game_of(state, "search")
    with Engine(owner, evaluator, **settings) as engine:
        return engine.search(state, on_progress=on_progress)
