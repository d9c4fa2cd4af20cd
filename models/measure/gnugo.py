"""GNU Go as a match player, over the Go Text Protocol."""

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

#: The rules of the engine: area scoring, no suicide, positional superko. All stones on the final
#: board count as alive, so dead stones must be captured first.
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
        context: settings of the match.
        game: Go on a square board.
        ours: the measured evaluator and its simulations.
        level: level of GNU Go.
        name, games, plies, least: see :meth:`Context.play`.

    """
    with (
        closing(context.engine(game, *ours)) as engine,
        GnuGo(game, level, context.seed) as theirs,
    ):
        return context.play(name, engine, theirs, games, plies=plies, least=least)


class GnuGo:
    """A GNU Go process as a player: a function from state to action.

    Args:
        game: Go on a square board.
        level: strength; GNU Go's default is 10.
        seed: seed of random choices.

    Raises:
        ConfigError: GNU Go is not installed (``apt-get install gnugo``, or set $GNUGO).

    """

    def __init__(self, game: pyengine.Game, level: int, seed: int) -> None:
        self._level = level
        command = [_program(), "--mode", "gtp", "--level", str(level), "--seed", str(seed + 1)]
        self._process = subprocess.Popen(
            [*command, *_RULES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._version = self._ask("version")
        self._ask(f"boardsize {game.board_shape[0]}")
        self._komi = f"komi {game.params['komi']}"

    def __call__(self, state: pyengine.State) -> int:
        """Return the move in a state. Raises EngineError if GNU Go fails."""
        self._ask("clear_board")
        self._ask(self._komi)
        replay = state.game.new_initial_state()
        for action in state.history():
            self._ask(f"play {_colour(replay)} {replay.action_to_string(action)}")
            replay.apply_action(action)
        vertex = self._ask(f"genmove {_colour(state)}")
        return int(state.string_to_action("pass" if vertex == "PASS" else vertex))

    def _ask(self, command: str) -> str:
        """Return the response to a command."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise pyengine.EngineError(f"GNU Go ended before {command!r}") from None
        answer = self._process.stdout.readline()
        while self._process.stdout.readline().strip():
            pass  # an empty line ends a response
        if not answer.startswith("="):
            raise pyengine.EngineError(
                f"GNU Go: {command}: expected a response, got {answer.strip()!r}"
            )
        return answer[1:].strip()

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process."""
        self.close()

    @property
    def identity(self) -> str:
        """The identity in match records."""
        return f"GNU Go {self._version}, level {self._level}"


def _colour(state: pyengine.State) -> str:
    return ("black", "white")[state.current_player()]


def _program() -> str:
    program = os.environ.get("GNUGO") or shutil.which("gnugo")
    program = program or next((path for path in _PLACES if Path(path).exists()), None)
    if program is None:
        raise pyengine.ConfigError(
            "GNU Go is not installed: apt-get install gnugo, or set GNUGO to the program"
        )
    return program
