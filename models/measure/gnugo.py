"""GNU Go as a player of matches, over the Go Text Protocol."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import pyengine
from measure.context import Context
from measure.findings import Finding

__all__ = ["GnuGo", "against_gnugo"]

#: Rules as ours: area scoring, no suicide, positional superko. Ours counts every stone on the board
#: at the end as alive, so dead ones are captured first, and nobody resigns.
_RULES = (
    "--chinese-rules",
    "--forbid-suicide",
    "--positional-superko",
    "--capture-all-dead",
    "--play-out-aftermath",
    "--never-resign",
)
_PLACES = ("/usr/games/gnugo", "/usr/local/bin/gnugo")


def against_gnugo(
    context: Context,
    game: pyengine.Game,
    ours: tuple[Any, int],
    level: int,
    name: str,
    *,
    games: int,
    plies: int,
    least: float | None = None,
) -> Finding:
    """Play a match against GNU Go.

    Args:
        context: how.
        game: Go on a square board.
        ours: the evaluator that is measured, and its simulations.
        level: of GNU Go.
        name, games, plies, least: see :meth:`Context.play`.

    """
    with (
        closing(context.engine(game, *ours)) as engine,
        GnuGo(game, level, context.seed) as theirs,
    ):
        return context.play(name, engine, theirs, games, plies=plies, least=least)


class GnuGo:
    """A running GNU Go; called with a state, it returns its action.

    Args:
        game: Go on a square board.
        level: its strength, 10 by default there.
        seed: of its choices.

    Raises:
        ConfigError: it is not installed (``apt-get install gnugo``; $GNUGO names the program).

    """

    def __init__(self, game: pyengine.Game, level: int, seed: int) -> None:
        """Start it."""
        self._level = level
        command = [_program(), "--mode", "gtp", "--level", str(level), "--seed", str(seed + 1)]
        self._process = subprocess.Popen(
            [*command, *_RULES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._version = self._ask("version")
        self._ask(f"boardsize {game.board_shape[0]}")
        self._komi = f"komi {game.params['komi']}"

    def __call__(self, state: pyengine.State) -> int:
        """Return its move in a state. Raises EngineError where it gives none."""
        self._ask("clear_board")
        self._ask(self._komi)
        replay = state.game.new_initial_state()
        for action in state.history():
            self._ask(f"play {_colour(replay)} {replay.action_to_string(action)}")
            replay.apply_action(action)
        vertex = self._ask(f"genmove {_colour(state)}")
        return int(state.string_to_action("pass" if vertex == "PASS" else vertex))

    def _ask(self, command: str) -> str:
        """Return the answer to a command."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise pyengine.EngineError(f"GNU Go ended before {command!r}") from None
        answer = self._process.stdout.readline()
        while self._process.stdout.readline().strip():
            pass  # an empty line ends an answer
        if not answer.startswith("="):
            raise pyengine.EngineError(
                f"GNU Go: {command}: expected an answer, found {answer.strip()!r}"
            )
        return answer[1:].strip()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        """Return the player, which ends when the block is left."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    @property
    def identity(self) -> str:
        """What the record of a match says of it."""
        return f"GNU Go {self._version}, level {self._level}"


def _colour(state: pyengine.State) -> str:
    return ("black", "white")[state.current_player()]


def _program() -> str:
    """Return where it is."""
    found = os.environ.get("GNUGO") or shutil.which("gnugo")
    found = found or next((place for place in _PLACES if Path(place).exists()), None)
    if found is None:
        raise pyengine.ConfigError(
            "expected GNU Go, found no program gnugo: apt-get install gnugo, or set GNUGO to it"
        )
    return found
