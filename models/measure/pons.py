"""Connect Four positions of known value, and the moves that keep the value.

The positions are Pascal Pons' test sets. If a set lacks the scores of the columns,
connect_four_solver.cpp computes them, which needs a C++ compiler.
"""

from __future__ import annotations

import csv
import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

import pyengine

__all__ = ["Case", "Solver", "keeps", "read_set"]

_SOURCE = Path(__file__).with_name("connect_four_solver.cpp")


@dataclass(frozen=True)
class Case:
    """A position."""

    moves: str  #: columns, "1" to "7"
    value: int  #: 1 = the player to move wins, 0 = draw, -1 = loses
    columns: tuple[int | None, ...]  #: value of each move, None if illegal; () = unknown

    def state(self, game: pyengine.Game) -> pyengine.State:
        """Return the position."""
        return game.new_initial_state([int(column) - 1 for column in self.moves])


def read_set(path: Path) -> list[Case]:
    """Read a CSV file with moves, score and column_scores. Raises ConfigError if absent."""
    if not path.exists():
        raise pyengine.ConfigError(
            f"the test set {path} does not exist: "
            "set PYENGINE_SHARED to the folder that holds oracles/"
        )
    with path.open(newline="") as file:
        return [
            Case(row["moves"], _sign(row["score"]) or 0, _columns(row["column_scores"]))
            for row in csv.DictReader(file)
        ]


def _columns(text: str) -> tuple[int | None, ...]:
    return tuple(_sign(score) for score in text.split())


def _sign(score: str) -> int | None:
    if score == ".":
        return None
    return (int(score) > 0) - (int(score) < 0)


def keeps(case: Case, action: int, solver: Solver) -> bool:
    """Return whether a legal move keeps the value of a position."""
    if case.columns:
        return case.columns[action] == case.value
    if case.value < 0:
        return True  # every move loses
    state = case.state(pyengine.load_game("connect_four"))
    player = state.current_player()
    state.apply_action(action)
    if state.is_terminal():
        return state.returns()[player] == case.value
    return not solver.reaches(f"{case.moves}{action + 1}", win=case.value == 0)


class Solver:
    """The solver program, compiled on first use.

    Args:
        work: folder of the program and its cached answers.

    """

    def __init__(self, work: Path) -> None:
        self._work = work
        self._answers: dict[str, bool] = {}
        self._process: subprocess.Popen[str] | None = None
        self._file = work / "connect_four_answers.txt"
        if self._file.exists():
            for line in self._file.read_text("ascii").splitlines():
                question, _, answer = line.rpartition(" ")
                self._answers[question] = answer == "1"
        self._new: IO[str] | None = None

    def reaches(self, moves: str, *, win: bool) -> bool:
        """Return whether the player to move wins, or with ``win=False`` at least draws.

        ``moves`` are the columns "1" to "7" of an unfinished game. Raises EngineError if there is
        no compiler or a move is illegal.
        """
        question = f"{moves or '-'} {int(win)}"
        if question not in self._answers:
            self._answers[question] = self._ask(question)
        return self._answers[question]

    def _ask(self, question: str) -> bool:
        if self._process is None:
            self._work.mkdir(parents=True, exist_ok=True)
            self._new = self._file.open("a", encoding="ascii")
            self._process = subprocess.Popen(
                [self._program()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._new is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if answer not in ("0", "1"):
            raise pyengine.EngineError(f"{_SOURCE.name}: {answer or 'ended without an answer'}")
        self._new.write(f"{question} {answer}\n")
        self._new.flush()
        return answer == "1"

    def _program(self) -> Path:
        """Return the compiled program, named after its source."""
        name = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
        program = self._work / f"connect_four_solver-{name}"
        if not program.exists():
            part = program.with_suffix(f".{os.getpid()}")
            command = [os.environ.get("CXX", "c++"), "-O3", "-std=c++20", str(_SOURCE), "-o"]
            try:
                subprocess.run([*command, str(part)], check=True, capture_output=True, text=True)
            except (OSError, subprocess.CalledProcessError) as error:
                reason = getattr(error, "stderr", "") or error
                raise pyengine.EngineError(
                    f"{_SOURCE.name} needs a C++20 compiler (set CXX): {reason}"
                ) from error
            part.replace(program)
        return program

    def close(self) -> None:
        """Kill the program and close the cache."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._new is not None:
            self._new.close()
            self._new = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the program and close the cache."""
        self.close()
