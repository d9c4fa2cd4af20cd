"""The search engine: :class:`Engine`, and :func:`search` for a single call."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, wait
from typing import Any, NamedTuple, Self, Unpack

from pyengine import _core
from pyengine.base.checks import check_callback, check_type, integer, number, short_repr
from pyengine.errors import ConfigError, EngineError
from pyengine.eval.bundled import load_or_wrap, misfit_explained, required_network
from pyengine.eval.evaluators import as_evaluator
from pyengine.eval.final_board import final_board_of
from pyengine.eval.providers import tell_of_graphs
from pyengine.games.game import can_be_recognised, game_for
from pyengine.search.config import SearchConfig, SearchSettings
from pyengine.search.explain import Explanation, NodeNumbers, explain, follow, numbers_from
from pyengine.search.result import SearchResult, result_of
from pyengine.search.tree import SearchTree

OnProgress = Callable[[SearchResult], object]

_FOREVER = 1e9  # seconds: analyze() without a budget
_LONGEST = 1e6  # seconds between two results of analyze()
_PROGRESS_EVERY = 0.1  # seconds
_MOST_NODES = 100_000  # that tree() reads by default


class _Call(NamedTuple):
    """The arguments of one search. ``every``: seconds between progress reports."""

    allow: Sequence[int] | None
    avoid: Sequence[int] | None
    every: float
    settings: SearchSettings


class _Parts(NamedTuple):
    """What an open engine holds. A running search keeps it even if the engine is closed."""

    game: _core.Game
    evaluator: Any
    searcher: _core.Searcher
    config: SearchConfig

    def result(self, fields: dict[str, Any], state: Any, settings: SearchSettings) -> SearchResult:
        final_board = None
        if self.evaluator.has_final_board:
            final_board = final_board_of(self.evaluator, state.clone(), self.game)
        return result_of(fields, state.clone(), final_board, (self.config, settings))


class _Root(NamedTuple):
    """The root of the tree."""

    searched: Any  #: the state that was searched
    moves: tuple[int, ...]  #: those of advance() since then
    settings: tuple[SearchConfig, SearchSettings]  #: as in SearchResult

    @property
    def config(self) -> SearchConfig:
        return self.settings[0].replace(**self.settings[1])

    @property
    def state(self) -> Any:
        return follow(self.searched, self.moves)[0]

    @property
    def changes(self) -> dict[str, Any]:
        """The settings that reading the tree depends on."""
        config = self.config
        return {"solver": config.solver, "c_puct_stdev": config.c_puct_stdev}


class Engine:
    """Searches states of one game with one evaluator and keeps the tree between calls.

    Args:
        game: a :class:`~pyengine.Game`, a name such as ``"go(board_size=9)"``, the name of a
            bundled network such as ``"go9"``, a Python game or a ``pyspiel`` game.
        evaluator: a path to an ONNX file, the name of a bundled model, ``"uniform"``,
            ``"rollout"``, a callable on planes, or any evaluator. None = the bundled network of
            that name, else the one for the game.
        config: the settings; each may also be given as a keyword.

    Raises:
        ConfigError: a setting out of range, a game that cannot be searched, no network for it.
        ModelError: the network cannot be loaded or does not fit the game.

    The tree is reused if the searched state equals the root, including its history; any other state
    starts a new tree. If a user's game has neither ``history()`` nor ``__eq__``, the root after
    :meth:`advance` is recognised by player, legal actions, planes and text. Only one search may run
    at a time: a second raises :class:`~pyengine.EngineError`. :meth:`stop` and :meth:`stats` work
    from any thread. After ``fork()`` the parent's engines raise EngineError in the child.

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
        evaluator: Any = None,
        *,
        config: SearchConfig | None = None,
        **settings: Unpack[SearchSettings],
    ) -> None:
        own_game = load_or_wrap(game)
        own_evaluator = as_evaluator(
            required_network(game, own_game) if evaluator is None else evaluator
        )
        check_type("config", config, SearchConfig | None, "a SearchConfig")
        self._config = (config or SearchConfig()).replace(**settings)
        with misfit_explained(own_evaluator, own_game):
            searcher = _core.Searcher(own_game, own_evaluator, self._config)
        self._parts: _Parts | None = _Parts(own_game, own_evaluator, searcher, self._config)
        self._root: _Root | None = None
        self._advanced = self._warned = False
        tell_of_graphs(searcher.stats()["provider"])

    @property
    def _open_parts(self) -> _Parts:
        parts = self._parts  # another thread may close the engine meanwhile
        if parts is None:
            raise EngineError("this engine is closed")
        return parts

    @property
    def game(self) -> _core.Game:
        """The game."""
        return self._open_parts.game

    @property
    def evaluator(self) -> Any:
        """The evaluator."""
        return self._open_parts.evaluator

    @property
    def config(self) -> SearchConfig:
        """The default settings of each call."""
        return self._config

    def search(
        self,
        state: Any,
        *,
        allow: Sequence[int] | None = None,
        avoid: Sequence[int] | None = None,
        on_progress: OnProgress | None = None,
        **settings: Unpack[SearchSettings],
    ) -> SearchResult:
        """Search a state.

        Args:
            state: a non-terminal state of the game.
            allow: search only these of its legal actions, all with None.
            avoid: search all but these.
            on_progress: called about ten times a second with the result so far; returning
                ``False`` ends the search.
            **settings: fields of :class:`~pyengine.SearchConfig`, for this call.

        ``stop_reason`` is the reason the search ended: its budget (``"simulations"``,
        ``"seconds"``), ``"proven"``, ``"stopped"``, ``"decided"``, or ``"visits"``: the root has
        the maximum number of visits, 2^32 - 1, and :meth:`advance` makes room again. A
        ``memory_limit`` below the tree's size stops its growth but does not shrink it.

        With ``allow`` or ``avoid`` the result contains the moves searched, and ``proven`` is None
        even if a proof for these moves ends the search. A tree is reused only by a search of the
        same moves; below :meth:`advance` there is no restriction. Under both, the allowed moves
        that are not avoided are searched.

        Raises:
            ConfigError: a terminal state, a state of another game, a setting out of range, a
                ``memory_limit`` that the engine's cache fills, or no move left to search.
            IllegalActionError: an action of ``allow`` or ``avoid`` is illegal.
            EngineError: another search of this engine is running, or it is closed.
            EvaluationError: the evaluator failed. The tree stays valid.
            KeyboardInterrupt: after Ctrl-C, within 50 ms plus one batch or call of a user's code.

        Exceptions raised by a user's game or ``on_progress`` end the search and propagate.
        """
        self._warn_of_a_lost_tree(state)
        call = _Call(allow, avoid, _PROGRESS_EVERY, settings)
        return self._search(state, on_progress, call)

    def _search(self, state: Any, on_progress: OnProgress | None, call: _Call) -> SearchResult:
        parts = self._open_parts
        check_callback("on_progress", on_progress)
        settings = call.settings
        report = (
            None
            if on_progress is None
            else lambda now: on_progress(parts.result(now, state, settings))
        )
        self._root = None  # if the search fails, it is unknown
        fields = parts.searcher.search(
            state, dict(settings), report, call.every, call.allow, call.avoid
        )
        result = parts.result(fields, state, settings)
        self._root = _Root(result.state, (), result.settings)
        return result

    def _warn_of_a_lost_tree(self, state: Any) -> None:
        """Warn the caller of a public method once if the state cannot be compared with the root."""
        game = self.game
        advanced, self._advanced = self._advanced, False
        if not advanced or self._warned or can_be_recognised(game, state):
            return
        self._warned = True
        warnings.warn(
            f'game "{game.name}": the tree kept by advance() is dropped, because '
            f"{type(state).__name__} has none of history(), __eq__, observation_tensor() and "
            "__str__ to recognise the state by; define one of them to keep the tree",
            stacklevel=3,
        )

    def search_many(
        self, states: Sequence[Any], **settings: Unpack[SearchSettings]
    ) -> list[SearchResult]:
        """Search several states concurrently, each in its own tree, with shared batches.

        ``settings`` are fields of :class:`~pyengine.SearchConfig`, for this call. Budgets apply to
        each state; no tree is kept. With ``deterministic=True`` each tree has an equal share of the
        memory; a share below 64 KiB (256 KiB with more than 16,382 actions) raises ConfigError.
        Other errors are those of :meth:`search`. If the search ends before a root was submitted
        for evaluation, its result has uniform priors, value 0 and ``evaluations`` 0.
        """
        if isinstance(states, str) or not isinstance(states, Iterable):
            raise ConfigError(f"states: expected a sequence of states, got {short_repr(states)}")
        states = list(states)
        parts = self._open_parts
        results = parts.searcher.search_many(states, dict(settings))
        return [
            parts.result(fields, state, settings)
            for fields, state in zip(results, states, strict=True)
        ]

    def analyze(
        self,
        state: Any,
        *,
        every: float = 0.1,
        allow: Sequence[int] | None = None,
        avoid: Sequence[int] | None = None,
        **settings: Unpack[SearchSettings],
    ) -> Generator[SearchResult, None, None]:
        """Yield the result so far every ``every`` seconds while searching in the background.

        Without a budget the search runs until the loop is left. The last result is the final one.
        The other arguments and errors are those of :meth:`search`.

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
        self._warn_of_a_lost_tree(state)
        return self._stream(state.clone(), _Call(allow, avoid, every, settings))

    def _stream(self, state: Any, call: _Call) -> Generator[SearchResult, None, None]:
        _core.throw_at_exit()  # at exit no thread can search
        latest: list[SearchResult] = []
        final: Future[SearchResult] = Future()
        leaving = threading.Event()

        def keep(result: SearchResult) -> bool:
            latest[:] = [result]
            return not leaving.is_set()

        def run() -> None:
            try:
                final.set_result(self._search(state, keep, call))
            except BaseException as error:
                final.set_exception(error)

        worker = threading.Thread(target=run, name="pyengine-analyze", daemon=True)
        worker.start()
        try:
            while not wait([final], timeout=call.every).done:
                _core.throw_at_exit()
                if latest:
                    yield latest.pop()
            if isinstance(final.exception(), SystemExit):
                _core.throw_at_exit()
            yield final.result()
        finally:
            leaving.set()
            if not final.done():  # else another caller may already be searching
                self.stop()
            while worker.is_alive() and not _core.program_ends():  # at exit it may never finish
                worker.join(timeout=_PROGRESS_EVERY)

    def advance(self, action: int) -> None:
        """Make the state after ``action`` the root and keep its subtree.

        Raises ConfigError if nothing has been searched, IllegalActionError if the action is
        illegal. Returns quickly: the rest of the tree is freed in the background.
        """
        self._open_parts.searcher.advance(action)
        self._advanced = True
        if (root := self._root) is not None:
            self._root = root._replace(moves=(*root.moves, action))

    def explain(self, path: Sequence[int | str] = ()) -> Explanation:
        """Return all moves of a position of the tree with the numbers of the selection rule.

        :meth:`SearchResult.explain` does the same for the nodes that a result keeps. ``path`` is
        from the root of the tree, which :meth:`advance` moves.

        Raises ConfigError without a tree, EngineError during a search or if the position is not
        evaluated, and IllegalActionError for an illegal move.
        """
        root = self._searched_root("explain")
        state, actions, names = follow(root.state, path)
        return explain(self.numbers(actions), root.config, state, names)

    def numbers(self, path: Sequence[int]) -> NodeNumbers:
        """Return the numbers from which :meth:`explain` computes the terms, for a path of actions.

        Errors are those of :meth:`explain`.
        """
        changes = self._searched_root("explain").changes
        return numbers_from(self._open_parts.searcher.numbers(list(path), changes))

    def _searched_root(self, caller: str) -> _Root:
        if self._root is None:
            raise ConfigError(f"{caller}: there is no tree yet; search a state first")
        return self._root

    def tree(
        self, max_depth: int = 3, min_visits: int = 1, max_nodes: int = _MOST_NODES
    ) -> SearchTree:
        """Return the tree, with more nodes than a result keeps.

        Args:
            max_depth: plies below the root.
            min_visits: omit subtrees whose root has fewer visits.
            max_nodes: the most visited nodes to read, up to 1,000,000. 100,000 take about 10 MB and
                half a second.

        Raises ConfigError without a tree, EngineError during a search.
        """
        root = self._searched_root("tree")
        depth, visits = integer("max_depth", max_depth, 0), integer("min_visits", min_visits, 0)
        most = integer("max_nodes", max_nodes, 1, 10 * _MOST_NODES)
        nodes = self._open_parts.searcher.nodes(most, root.changes)
        return SearchTree.from_nodes(nodes, depth, visits, root.state)

    def stop(self) -> None:
        """End the running search early; callable from any thread."""
        parts = self._parts  # another thread may close the engine meanwhile
        if parts is not None:
            parts.searcher.stop()

    def clear(self) -> None:
        """Drop the tree and the evaluation cache."""
        self._open_parts.searcher.clear()
        self._root = None

    def stats(self) -> dict[str, Any]:
        """Return counters since the engine was created.

        Keys:
            simulations: in all searches.
            evaluations: rows evaluated, without padding and cache hits.
            batches: calls of the evaluator.
            mean_batch_fill: mean number of rows per batch.
            padding: unused rows of batches.
            cache_hits: rows answered by the cache.
            collisions: walks that reached a leaf in flight or a subtree leased by another worker.
            waiting_seconds: total time workers spent waiting for evaluations or a subtree.
            nodes: current size of the tree.
            bytes: current size of tree and cache.
            memory_refusals: how often the memory limit kept a node from getting children.
            scheduler_passes: critical sections under the scheduler's mutex.
            wake_ups: of sleeping threads.
            queue_operations: on the queues of searches and batches.
            provider: the execution provider of the network, and whether requested CUDA graphs are
                used.
        """
        stats = self._open_parts.searcher.stats()
        batches = stats["batches"]
        stats["mean_batch_fill"] = stats["evaluations"] / batches if batches else 0.0
        return stats

    def close(self) -> None:
        """Free all memory and drop game and evaluator. Closing twice is allowed."""
        self.stop()
        self._parts = self._root = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        parts = self._parts
        return f"Engine({parts.game}, {parts.evaluator!r})" if parts else "Engine(closed)"


def search(
    state: Any,
    *,
    evaluator: Any,
    game: Any = None,
    allow: Sequence[int] | None = None,
    avoid: Sequence[int] | None = None,
    on_progress: OnProgress | None = None,
    **settings: Unpack[SearchSettings],
) -> SearchResult:
    """Search one state with an engine of its own; nothing is kept.

    Args:
        state: a :class:`~pyengine.State`, or a user's state together with its ``game``.
        evaluator: as for :class:`Engine`.
        game: required if the state does not know its game.
        allow, avoid, on_progress: as for :meth:`Engine.search`.
        **settings: fields of :class:`~pyengine.SearchConfig`.

    Example:
        >>> import pyengine
        >>> state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4])
        >>> result = pyengine.search(state, evaluator="rollout", simulations=100)
        >>> result.action_name(result.action), result.proven
        ('c1', 1)
    """
    with Engine(game_for(state, game, "search"), evaluator, **settings) as engine:
        return engine.search(state, allow=allow, avoid=avoid, on_progress=on_progress)
