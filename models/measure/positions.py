"""Third-party positions with solutions: Go on 9x9 and forced wins in Gomoku."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyengine

__all__ = ["Case", "go_moves", "go_values", "gomoku_wins"]

_COLUMNS = "ABCDEFGHJKLMNOPQRST"
_TRIES = 1000  # random orders of stones


@dataclass(frozen=True)
class Case:
    """A position and its solution.

    Attributes:
        right: correct actions; empty = all but ``wrong``.
        wrong: incorrect actions.
        among: the candidate actions; empty = all.
        above, below: limits on the root value, in [-1, 1].
    """

    name: str
    game: str
    state: Any
    right: frozenset[int] = frozenset()
    wrong: frozenset[int] = frozenset()
    among: frozenset[int] = frozenset()
    above: float | None = None
    below: float | None = None

    def passed(self, result: pyengine.SearchResult) -> bool:
        """Return whether a search found the solution."""
        if self.above is not None or self.below is not None:
            value = result.value
            return (self.above is None or value > self.above) and (
                self.below is None or value < self.below
            )
        action = result.action
        if self.among:
            visits = dict(zip(result.actions.tolist(), result.visits.tolist(), strict=True))
            action = max(self.among, key=lambda candidate: visits.get(candidate, 0))
        return action in self.right if self.right else action not in self.wrong


def _cases(shared: Path, *parts: str) -> list[dict[str, Any]]:
    path = shared.joinpath("oracles", *parts)
    if not path.is_file():
        raise pyengine.ConfigError(
            f"{path} does not exist: set PYENGINE_SHARED to the folder that holds oracles/"
        )
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def _go_game(case: dict[str, Any]) -> str:
    komi = float(case["komi"] or 0)
    # Setting up the stones takes moves, so the limit is higher than usual.
    return f"go(board_size=9,komi={komi},superko=simple,max_game_length=400)"


def _go_state(case: dict[str, Any]) -> Any:
    """Set up the stones by alternating moves; they capture nothing in any order.

    The player to move places the last stone and the other passes, so that a network that reads
    earlier boards sees no false last move.
    """
    state = pyengine.load_game(_go_game(case)).new_initial_state()
    rest = [[i for i, point in enumerate(case["board"]) if point == colour] for colour in "XO"]
    mover = "BW".index(case["to_move"])
    while rest[0] or rest[1]:
        player = state.current_player()
        mine, theirs = rest[player], rest[1 - player]
        waits = player == mover and len(mine) == 1 and theirs
        state.apply_action(81 if waits or not mine else mine.pop())
    if state.current_player() != mover:
        state.apply_action(81)
    return state


def _point(text: str) -> int:
    if text.upper() == "PASS":
        return 81
    return (9 - int(text[1:])) * 9 + _COLUMNS.index(text[0].upper())


def _points(texts: list[str] | None) -> frozenset[int]:
    return frozenset(map(_point, texts or []))


def go_moves(shared: Path) -> Iterator[Case]:
    """Yield 9x9 positions from GNU Go and Fuego with right moves, except those with a ko ban."""
    for case in _cases(shared, "03-go-tactics", "genmove_upto13x13.jsonl"):
        if case["size"] != 9 or case["ko_forbidden"]:
            continue
        yield Case(
            name=case["id"],
            game=_go_game(case),
            state=_go_state(case),
            right=_points(case["right_moves"]),
            wrong=_points(case["wrong_moves"]),
            among=_points(case["candidates"]),
        )


def go_values(shared: Path) -> Iterator[Case]:
    """Yield Fuego's 9x9 positions about seki, nakade and life, with limits on their value."""
    for case in _cases(shared, "03-go-tactics", "fuego_value_tests.jsonl"):
        if case["size"] != 9:
            continue
        limit = 2 * float(case["threshold"]) - 1
        greater = case["after_genmove_root_value_is"].startswith("greater")
        yield Case(
            name=case["id"],
            game=_go_game(case),
            state=_go_state(case),
            above=limit if greater else None,
            below=None if greater else limit,
        )


def gomoku_wins(shared: Path) -> Iterator[Case]:
    """Yield Renju positions with a forced win; the first move of each known line is right."""
    for case in _cases(shared, "07-gomoku", "vcf_vct_puzzles.jsonl"):
        rule = case["rule"]
        game = f"gomoku(board_size=15,rule={rule})"
        lines = [*case["winning_lines"], case.get("own_vcf", {}).get(rule) or []]
        first = {*case["first_moves"], *(line[0] for line in lines if line)}
        yield Case(
            name=case["id"],
            game=game,
            state=_gomoku_state(game, case["board"]),
            right=frozenset((15 - int(text[1:])) * 15 + ord(text[0]) - ord("A") for text in first),
        )


def _gomoku_state(game: str, board: list[str]) -> Any:
    """Set up the stones in an order in which every move is legal."""
    points = "".join(board)
    stones = [[i for i, point in enumerate(points) if point == colour] for colour in "BW"]
    rng = random.Random(0)
    for _ in range(_TRIES):
        state = pyengine.load_game(game).new_initial_state()
        for colour in stones:
            rng.shuffle(colour)
        for ply in range(sum(map(len, stones))):
            action = stones[ply % 2][ply // 2]
            if state.is_terminal() or action not in state.legal_actions():
                break
            state.apply_action(action)
        else:
            return state
    raise pyengine.ConfigError("the stones cannot be placed in a legal order")
