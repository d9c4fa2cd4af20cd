"""Wrong arguments of matches: one clear error, before the record is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine.match import Openings, RandomPlayer, Sprt, ValuePlayer
from wrong_values import all_but, cases, check_refused, wrong

NO_NUMBER = wrong("text", "bytes", "NaN", "list", "dict", "object", "function", "array")


def play(**arguments: Any) -> pyengine.MatchResult:
    """Play two games of random moves."""
    settings = {"game": "tic_tac_toe", "games": 2, **arguments}
    return pyengine.match(RandomPlayer(1), RandomPlayer(2), **settings)


GAME = pyengine.load_game("tic_tac_toe")
OVER = GAME.new_initial_state([0, 3, 1, 4, 2])
NO_STATES = {**all_but("list"), "a state": OVER, "one that is over": [OVER], "others": [1]}


@cases(
    [
        ("games", lambda v: play(games=v), {**all_but("None", "huge"), "0": 0}, "games"),
        ("seed", lambda v: play(seed=v), all_but("huge"), "seed"),
        ("game", lambda v: play(game=v), all_but(), ""),
        ("openings", lambda v: play(openings=v),
         {**all_but("None"), "terminal": [[0, 3, 1, 4, 2]]}, "openings"),
        ("openings, too few", lambda v: play(openings=v, games=4), {"one": [[3]]}, "openings"),
        ("openings, none", lambda v: play(game="mnk(rows=2,columns=2,k=2)", openings=v),
         {"too long": Openings(plies=3)}, "none of 500"),
        ("sprt", lambda v: play(sprt=v), {**all_but("None"), "pair": (0, 10)}, "sprt"),
        ("concurrent", lambda v: play(concurrent_games=v),
         {**all_but("None", "huge"), "0": 0}, "concurrent"),
        ("max_plies", lambda v: play(max_plies=v), {**all_but("None", "huge"), "0": 0},
         "max_plies"),
        ("max_plies, opening", lambda v: play(max_plies=v), {"4": 4},
         "openings: expected fewer than max_plies=4 moves, got 4"),
        ("record", lambda v: play(record=v), all_but("None", "text"), "record"),
        ("names", lambda v: play(names=v), {**all_but(), "one": ("a",)}, "names: expected two"),
        ("confidence", lambda v: play(confidence=v), {**all_but(), "1": 1.0}, "confidence"),
        ("on_progress", lambda v: play(on_progress=v), all_but("None", "function"), "on_progress"),
        ("a", lambda v: pyengine.match(v, RandomPlayer(), game="tic_tac_toe"),
         all_but("function"), "a"),
        ("batch_size", lambda v: ValuePlayer("uniform", batch_size=v),
         {**all_but(), "0": 0, "many": 4097}, "batch_size: expected an int in 1..4096"),
        ("ends", lambda v: ValuePlayer("uniform", ends=v), all_but(), "ends"),
        ("value, state", ValuePlayer("uniform"), {**all_but(), "over": OVER}, "state"),
        ("value, states", ValuePlayer("uniform").search_many, NO_STATES, "state"),
        ("random, state", RandomPlayer(), {**all_but(), "over": OVER}, "state"),
        ("random, states", RandomPlayer().search_many, NO_STATES, "state"),
        ("elo1", lambda v: Sprt(elo1=v), NO_NUMBER, "sprt: elo1"),
        ("elo1, far", lambda v: Sprt(elo1=v), {"far": 1e4, "same": 0.0, "near": 1e-15},
         "sprt: "),
        ("decided", lambda v: Sprt().games_for(v), {**all_but(), "0": 0, "1": 1},
         "decided: expected a number in"),
        ("alpha", lambda v: Sprt(alpha=v), {**all_but(), "0": 0}, "sprt: alpha"),
        ("beta", lambda v: Sprt(beta=v), {"half": 0.5}, "sprt: beta"),
        ("plies", lambda v: Openings(plies=v), all_but("huge"), "openings: plies"),
        ("moves", lambda v: Openings(moves=v), {**all_but(), "policy": "policy"},
         "openings: "),
        ("temperature", lambda v: Openings(temperature=v), {**NO_NUMBER, "0": 0},
         "openings: temperature"),
        ("max_value", lambda v: Openings(evaluator="uniform", max_value=v),
         all_but("None"), "max_value"),
    ]
)  # fmt: skip
def test_a_match_refuses(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said)


class Searcher:
    """Returns a fixed answer, or that of a function of the states."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def search_many(self, states: Any) -> Any:
        return self.answer(states) if callable(self.answer) else self.answer


@pytest.mark.parametrize("answer", [None, 1.7, "3", [3]])
def test_a_player_must_return_an_int(answer: Any) -> None:
    choice = type("Choice", (), {"action": answer})
    other = RandomPlayer()
    for player in (lambda state: answer, Searcher(lambda states: [choice] * len(states))):
        for role, players in (("a", (player, other)), ("b", (other, player))):
            with pytest.raises(pyengine.ConfigError, match=f"player {role}: expected an action"):
                pyengine.match(*players, game="tic_tac_toe", games=2)


@pytest.mark.parametrize("answer", [None, 3, [], [None], [1.7]])
def test_a_searcher_must_return_a_result_for_each_state(answer: Any) -> None:
    with pytest.raises(pyengine.ConfigError, match=r"player a: search_many\(\) must return"):
        pyengine.match(Searcher(answer), RandomPlayer(), game="tic_tac_toe", games=2)


def test_a_refused_match_creates_no_record(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    arguments: list[dict[str, Any]] = [
        {"sprt": (0, 10)}, {"on_progress": 3}, {"confidence": "x"}, {"openings": 3}, {"names": 1}
    ]  # fmt: skip
    for wrong_argument in arguments:
        with pytest.raises(pyengine.ConfigError):
            play(record=record, **wrong_argument)
        assert not record.exists()
