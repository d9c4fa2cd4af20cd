"""The self-play part: plays games with the best network until stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pyengine.base.files import sha256_of
from pyengine.data import FinishedGame, GameSink, ShardWriter
from pyengine.errors import DataError
from pyengine.eval.evaluators import Evaluator, as_evaluator
from pyengine.selfplay import SelfPlayer
from pyengine.train.loop.part import Part
from pyengine.train.loop.state import Best, RunFolder

_ENDLESS = 1 << 40  # games
_TURN_SECONDS = 5.0  # per turn, with several games
_FIRST_TURN_SECONDS = 0.5  # the same for an evaluator without a network
_PATIENCE = 30.0  # seconds to wait for space on a full disk


def work(part: Part) -> None:
    """Play until asked to stop. Open games continue with a new best network."""
    best = first_best(part)
    while best is not None and not part.finishing:
        with _open_runners(part, best) as runners:
            _play(part, runners, best)
        best = part.folder.best()


def _play(part: Part, runners: list[_GameRunner], first: Best) -> None:
    """Play until asked to stop or the first network changes the settings of the searches."""
    while not part.finishing:
        best = part.folder.best()
        if _plays_differently(part, first, best):
            return
        waits = _waits_for_learner(part, best)
        if waits:
            part.publish({"state": "waits for the learner"})
        if part.held or waits:
            patiently(part, lambda: _tick(runners))
            part.wait()
            continue
        runner = min(runners, key=lambda runner: runner.writer.positions / runner.share)
        runner.switch_to_best(part)
        _turn(part, runner, runners)
        if not runner.best.is_network:  # only positions in shards are counted
            _flush(part, runner.writer)


def _plays_differently(part: Part, first: Best, best: Best | None) -> bool:
    """Whether a new best player has other settings, as the first network may."""
    if part.run.selfplay.first_simulations is None or best is None:
        return False
    return best.is_network != first.is_network


def _waits_for_learner(part: Part, best: Best | None) -> bool:
    """Whether an evaluator without a network has played enough for the learner's next candidate.

    It may be a hundred times faster than a network and would flood the learner with data.
    """
    if best is None or best.is_network:
        return False
    run, folder = part.run, part.folder
    if not all(folder.produced(name).full > 0 for name in run.game.name):
        return False
    allowed = run.window.allowed_steps(folder.counted(run), run.train.learner.batch_size)
    step = folder.status("learner").get("step", 0)
    return bool(allowed >= step + run.gate.every_steps)


def evaluator_of(best: Best, folder: RunFolder) -> Evaluator:
    """Return the evaluator of the best network."""
    return as_evaluator(str(folder.played(best.step)) if best.is_network else best.name)


def first_best(part: Part) -> Best | None:
    """Wait for the first network; return None if stopped before."""
    while not part.finishing:
        best = part.folder.best()
        if best is not None:
            return best
        part.publish({"state": "waits for the first network"})
        part.wait()
    return None


@dataclass
class _GameRunner:
    """The player of one game of the run, and the sink for its finished games."""

    player: SelfPlayer
    writer: GameSink
    share: float
    best: Best

    def switch_to_best(self, part: Part) -> None:
        """Play with the best network from now on."""
        best = part.folder.best()
        if best is not None and best.name != self.best.name:
            self.player.replace_evaluator(evaluator_of(best, part.folder))
            if best.is_network:
                sha256 = sha256_of(part.folder.models / best.name)
                patiently(part, lambda: self.writer.set_model(sha256))
            self.best = best


@contextmanager
def _open_runners(part: Part, best: Best) -> Iterator[list[_GameRunner]]:
    """Create a runner for each game of the run; finished games are written on exit."""
    run = part.run
    with ExitStack() as stack:
        runners = []
        for number, (game, share) in enumerate(zip(run.games, run.game.shares, strict=True)):
            writer = stack.enter_context(part.open_sink(number, best.sha256))
            player = SelfPlayer(
                game,
                evaluator_of(best, part.folder),
                run.selfplay_config(number, network=best.is_network),
                spec=run.spec,
                first_number=writer.next_number,
                played_on=writer.played_on(),
                openings=run.selfplay.openings,
            )
            stack.callback(_write_all, part, player, writer)
            runners.append(_GameRunner(player, writer, share, best))
        yield runners


def _write_all(part: Part, player: SelfPlayer, writer: GameSink) -> None:
    """Write the finished games and close their shard."""
    patiently(part, lambda: player.write(writer))
    _flush(part, writer)


def _flush(part: Part, writer: GameSink) -> None:
    if isinstance(writer, ShardWriter):
        patiently(part, writer.flush)


def _tick(runners: list[_GameRunner]) -> None:
    for runner in runners:
        runner.writer.tick()


def patiently(part: Part, write: Callable[[], None]) -> None:
    """Write games; after an error retry for a while, unless asked to stop.

    Writer and player keep unwritten games, so ``write`` resumes with them. Raises DataError if
    games cannot be written; they are lost when this process exits.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            write()
            return
        except DataError as error:
            if part.stopping or time.monotonic() >= deadline:
                tried = "" if part.stopping else f", retried for {_PATIENCE:g} s"
                raise DataError(f"{error}{tried}") from error
        part.wait(1.0)


def _turn(part: Part, runner: _GameRunner, runners: list[_GameRunner]) -> None:
    """Play one of the games until asked to stop, a new network arrives, or the turn is over."""
    start = time.monotonic()
    longest = _TURN_SECONDS if runner.best.is_network else _FIRST_TURN_SECONDS

    def take(finished: Iterator[FinishedGame]) -> None:
        runner.player.write(runner.writer, finished)
        _tick(runners)

    def proceed(finished: Iterator[FinishedGame]) -> bool:
        patiently(part, lambda: take(finished))
        seconds = time.monotonic() - start
        part.publish(
            {
                "games": sum(other.writer.games for other in runners),
                "positions": sum(other.writer.positions for other in runners),
                "generation": runner.best.generation,
            }
        )
        best = part.folder.best()
        newer = best is not None and best.name != runner.best.name
        waits = _waits_for_learner(part, best)
        turn_over = len(runners) > 1 and seconds > longest
        return not (part.finishing or part.held or waits or newer or turn_over)

    runner.player.run(_ENDLESS, proceed)
