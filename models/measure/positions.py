"""Other people's positions with right answers: Go on 9x9, and Gomoku's forced wins."""

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
_TRIES = 1000  # orders of stones


@dataclass(frozen=True)
class Case:
    """A position and what a search should find.

    Attributes:
        name: of its source.
        game: by name.
        state: the player to move is to find the answer.
        right: actions, one of which is to be chosen; empty = any but ``wrong``.
        wrong: actions that are not to be chosen.
        among: the actions that count as candidates; empty = all.
        above, below: limits of the value at the root, in [-1, 1].
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
        """Return whether a search found the answer."""
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
            f"expected cases of others, found no {path}: set PYENGINE_SHARED to the folder that "
            "holds oracles/"
        )
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def _go_game(case: dict[str, Any]) -> str:
    komi = float(case["komi"] or 0)
    # Setting up the stones takes moves: the limit leaves as many as a game has.
    return f"go(board_size=9,komi={komi},superko=simple,max_game_length=400)"


def _go_state(case: dict[str, Any]) -> Any:
    """Set up the stones by alternate moves; in no order do stones that live on capture others.

    The player to move sets the last one and the other passes: a network that looks at the boards
    before sees no move that was not made.
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
    """Yield GNU Go's and Fuego's positions on 9x9 with right moves, but for those with a ko ban."""
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
    """Yield Fuego's positions on 9x9 with seki, nakade and life, by the value of the position."""
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
    """Yield positions of Renju with a win by force; a first move of any known line is right."""
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
    raise pyengine.ConfigError("expected stones that can be played in turns, found no order")
