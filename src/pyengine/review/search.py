"""Searching all positions of a game together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pyengine.base.interrupts import deferred_interrupt
from pyengine.data.game_file import GameFile
from pyengine.errors import ConfigError, EngineError
from pyengine.games.game import State
from pyengine.review.evaluations import evaluations_of
from pyengine.review.moves import Candidate, Evaluation, Review, ReviewedMove
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult, win_rate
from pyengine.search.tree import names_of_line

_DEFAULT_SIMULATIONS = 800  # of a search without a budget
_CANDIDATES = 3  # moves shown for a position
_LINE = 12  # plies shown of a line
_POLL = 0.1  # seconds between two reports
_LEAST_FULL, _LEAST_GROUP = 16, 4  # positions searched together; the latter if memory is short

#: Receives the simulations done and their total; may return False to stop.
OnProgress = Callable[[int, int], object]


class ReviewInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a review; ``review`` is what it had."""

    def __init__(self, review: Review) -> None:
        super().__init__()
        self.review = review


def review_game(
    file: GameFile,
    engine: Engine,
    *,
    model: str = "",
    simulations: int | None = None,
    on_progress: OnProgress | None = None,
) -> Review:
    """Review a game: search its positions together, and compare each move with the best one.

    Args:
        file: the game, see :func:`~pyengine.data.game_file.read_game_file`.
        engine: an engine for the game. Its ``simulations`` are those of each position; its
            ``seconds`` are for the whole game.
        model: a name for the evaluator.
        simulations: of each position, instead of the engine's.
        on_progress: called ten times a second, from another thread.

    Raises:
        ConfigError: the game has no moves, or the engine is for another game.
        ReviewInterrupted: after Ctrl-C, with the review so far.

    Example:
        >>> import pyengine
        >>> from pyengine.data.game_file import game_in
        >>> from pyengine.review import review_game
        >>> game = pyengine.load_game("tic_tac_toe")
        >>> file = game_in(b"b2 a1 c3 a3 a2 b3", "moves.txt", game)
        >>> review = review_game(file, pyengine.Engine(game, "rollout", simulations=200))
        >>> [(move.name, move.best.names[0]) for move in review.worst(1)]
        [('b3', 'c2')]
    """
    if not file.actions:
        raise ConfigError("the game has no moves to review")
    begin, before = time.perf_counter(), engine.stats()["evaluations"]
    positions = file.positions
    reviewed = len(positions) - _closing_passes(file)
    with deferred_interrupt(engine.stop) as interrupted:
        searches = _Searches(engine, positions[:reviewed], interrupted, simulations)
        results = searches.run(on_progress)
    evaluations = evaluations_of(engine, positions[:reviewed], results)
    evaluations += [None] * (len(positions) - reviewed)
    results += [None] * (len(positions) - reviewed)
    notes = list(file.notes)
    if reviewed < len(positions):
        notes.append("the passes at the end are not reviewed: dead stones are still on the board")
    review = Review(
        file=file,
        model=model,
        evaluations=tuple(evaluations),
        moves=tuple(_moves(file, positions, evaluations, results)),
        simulations=searches.budget,
        rows=engine.stats()["evaluations"] - before,
        seconds=time.perf_counter() - begin,
        complete=not searches.stopped.is_set(),
        notes=tuple(notes),
    )
    if interrupted.is_set():
        raise ReviewInterrupted(review)
    return review


def _closing_passes(file: GameFile) -> int:
    """Return the number of passes that end a game of Go which players scored by agreement.

    Area scoring takes all stones as alive. People leave dead stones on the board; then a pass that
    ends the game would look like a blunder. A game that pyengine recorded is scored as it stands.
    """
    if file.game.name != "go" or file.record is None or file.record.exact_rules:
        return 0
    action = file.game.num_distinct_actions() - 1
    passes = 0
    while passes < len(file.actions) and file.actions[-1 - passes] == action:
        passes += 1
    return passes


class _Searches:
    """The searches of all positions, in groups whose trees fit the memory."""

    def __init__(
        self,
        engine: Engine,
        positions: Sequence[State],
        interrupted: threading.Event,
        simulations: int | None,
    ) -> None:
        self._engine, self._positions = engine, positions
        self._open = [i for i, state in enumerate(positions) if not state.is_terminal()]
        self._interrupted = interrupted
        self.stopped = threading.Event()
        config = engine.config
        self.budget = config.simulations if simulations is None else simulations
        if self.budget is None and config.seconds is None:
            self.budget = _DEFAULT_SIMULATIONS

    def run(self, on_progress: OnProgress | None) -> list[SearchResult | None]:
        """Return the result of each position; None for the end of the game or if none is left."""
        results: list[SearchResult | None] = [None] * len(self._positions)
        with self._reported(on_progress):
            for group in self._groups():
                if self._ended():
                    break
                for i, result in zip(group, self._search(group), strict=True):
                    if result.simulations or result.proven is not None:
                        results[i] = result
        self._ended()
        return results

    def _groups(self) -> Iterator[list[int]]:
        """Yield the positions that are searched together: every second one, then those between.

        Neighbours share most of their trees, but a row in flight for one is not in the cache for
        the other. Searched in turns, they need a tenth fewer rows.
        """
        size = _group_size(self._engine, self.budget)
        for begin in range(0, len(self._open), 2 * size):
            stretch = self._open[begin : begin + 2 * size]
            yield from filter(None, (stretch[0::2], stretch[1::2]))

    def _search(self, group: Sequence[int]) -> list[SearchResult]:
        states = [self._positions[i] for i in group]
        seconds = self._engine.config.seconds
        if seconds is not None:
            seconds *= len(group) / len(self._open)
        return self._engine.search_many(states, simulations=self.budget, seconds=seconds)

    def _ended(self) -> bool:
        if self._interrupted.is_set():
            self.stopped.set()
        return self.stopped.is_set()

    @contextmanager
    def _reported(self, on_progress: OnProgress | None) -> Iterator[None]:
        """Report the simulations done from another thread."""
        if on_progress is None:
            yield
            return
        total = (self.budget or 0) * len(self._open)
        first = self._engine.stats()["simulations"]
        done = threading.Event()

        def report() -> None:
            while not done.wait(_POLL):
                try:
                    simulations = self._engine.stats()["simulations"] - first
                except EngineError:  # closed
                    return
                if on_progress(simulations, total) is False:
                    self.stopped.set()
                    self._engine.stop()

        thread = threading.Thread(target=report, name="pyengine-review", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _group_size(engine: Engine, budget: int | None) -> int:
    """Return how many trees to grow at once: enough to fill batches, within half of the memory."""
    config = engine.config
    size = max(_LEAST_FULL, 2 * config.batch_size)
    if budget is None:
        return size
    node = 40 + 4 * engine.game.num_distinct_actions()  # bytes, with an edge per action
    return max(_LEAST_GROUP, min(size, config.memory_limit // (2 * node * budget)))


def _moves(
    file: GameFile,
    positions: Sequence[State],
    evaluations: Sequence[Evaluation | None],
    results: Sequence[SearchResult | None],
) -> Iterator[ReviewedMove]:
    for i, action in enumerate(file.actions):
        state, result = positions[i], results[i]
        yield ReviewedMove(
            number=i + 1,
            player=state.current_player(),
            action=action,
            name=state.action_to_string(action),
            before=evaluations[i],
            after=evaluations[i + 1],
            candidates=() if result is None else tuple(_candidates(state, result)),
            rank=None if result is None else _rank(result, action),
        )


def _candidates(state: State, result: SearchResult) -> Iterator[Candidate]:
    """Yield the selected move, then the most visited others."""
    sign = 1 - 2 * state.current_player()
    lines = {line[0]: line for line in result.lines(_CANDIDATES)}
    lines.setdefault(result.action, result.pv)
    best = [i for i in result.order() if result.visits[i] or result.actions[i] == result.action]
    for i in best[:_CANDIDATES]:
        line = lines[int(result.actions[i])][:_LINE]
        q = float(result.q[i]) if result.visits[i] else result.value
        yield Candidate(
            actions=tuple(line),
            names=tuple(names_of_line(state, line)),
            visits=int(result.visits[i]),
            prior=float(result.priors[i]),
            win_rate=win_rate(sign * q),
        )


def _rank(result: SearchResult, action: int) -> int | None:
    """Return the place of a move among those visited; 1 for the selected one."""
    for place, i in enumerate(result.order(), 1):
        if result.actions[i] == action:
            return place if result.visits[i] or action == result.action else None
    return None
