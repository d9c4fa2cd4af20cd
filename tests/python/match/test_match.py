"""Matches: games, results, openings, progress and Ctrl-C."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

import pyengine
from pyengine import ConfigError, IllegalActionError, MatchResult
from pyengine.match import Openings, Sprt
from pyengine.match.play import default_games


def lowest(state: Any) -> int:
    return int(state.legal_actions()[0])


def highest(state: Any) -> int:
    return int(state.legal_actions()[-1])


def play(a: Any, b: Any, **arguments: Any) -> MatchResult:
    """Play a match of Connect Four."""
    return pyengine.match(a, b, game="connect_four", **arguments)


class Many:
    """Plays the middle legal action and records the number of states per call."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def search_many(self, states: Sequence[Any]) -> list[Any]:
        self.sizes.append(len(states))
        legal = [state.legal_actions() for state in states]
        return [SimpleNamespace(action=actions[len(actions) // 2]) for actions in legal]


def test_every_opening_is_played_twice_and_results_are_seen_from_a() -> None:
    result = play(lowest, highest, games=40)
    game = pyengine.load_game("connect_four")
    assert len({(record.pair, record.a_plays) for record in result.records}) == 40
    assert len({(record.pair, record.opening) for record in result.records}) == 20
    for record in result.records:
        state = game.new_initial_state(record.opening)
        for move in record.moves:
            chooser = lowest if state.current_player() == record.a_plays else highest
            assert move == chooser(state)
            state.apply_action(move)
        assert state.is_terminal()
        assert state.returns()[record.a_plays] == record.result
    assert result.wins + result.draws + result.losses == 40
    assert result.score == (result.wins + result.draws / 2) / 40
    turned = play(highest, lowest, games=40)
    assert (turned.wins, turned.losses) == (result.losses, result.wins)
    assert turned.score_interval == pytest.approx([1 - x for x in result.score_interval[::-1]])


def test_a_search_beats_random_moves() -> None:
    rng = random.Random(3)
    with pyengine.Engine("connect_four", "rollout", simulations=50, threads=1) as engine:
        result = pyengine.match(engine, lambda s: rng.choice(s.legal_actions()), games=20)
    assert result.score > 0.8
    assert result.elo_interval[0] > 0


def test_games_are_searched_together() -> None:
    player = Many()
    play(player, lowest, games=30, concurrent_games=10)
    assert max(player.sizes) == 10


def test_an_engine_with_a_clock_plays_one_game_at_a_time() -> None:
    player = Many()
    with pyengine.Engine("tic_tac_toe", "uniform", seconds=0.001) as engine:
        pyengine.match(player, engine, games=4, openings=Openings(plies=2))
    assert max(player.sizes) == 1


def test_an_odd_number_of_games_plays_the_last_opening_once() -> None:
    result = play(lowest, highest, games=5)
    assert result.games == 5
    assert sum(result.pairs) == 2


def test_functions_see_the_users_own_states() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    seen: set[type] = set()

    def player(state: Any) -> int:
        seen.add(type(state))
        return lowest(state)

    game = pyspiel.load_game("breakthrough(rows=4,columns=3)")
    result = pyengine.match(player, highest, game=game, games=4)
    assert result.games == 4
    assert seen == {type(game.new_initial_state())}


def test_an_illegal_action_names_the_player() -> None:
    with pytest.raises(IllegalActionError, match="player b"):
        play(lowest, lambda _: 99, games=2)


def test_the_result_has_text_and_json() -> None:
    result = play(lowest, highest, games=6, names=("low", "high"), sprt=Sprt())
    assert str(result).startswith("low - high: 6 games: +")
    assert "SPRT" in str(result)
    assert all(len(line) <= 80 for line in str(result).splitlines())
    fields = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert fields["wins"] == result.wins
    assert fields["sprt"]["accepted"] is None


def test_the_names_of_a_result_are_a_tuple() -> None:
    result = play(lowest, highest, games=2, names=["low", "high"])
    assert result.names == ("low", "high")


def test_progress_is_reported_and_may_end_the_match() -> None:
    games: list[int] = []

    def stop_soon(result: MatchResult) -> bool:
        games.append(result.games)
        return result.games < 5

    result = play(lowest, highest, games=1000, concurrent_games=4, on_progress=stop_soon)
    assert result.stop_reason == "stopped"
    assert 5 <= result.games < 20
    assert games == sorted(games)


def test_the_interval_note_depends_on_the_end_of_the_match() -> None:
    whole = play(lowest, highest, games=6)
    assert whole.interval_note is None
    stopped = play(lowest, highest, games=60, on_progress=lambda result: result.games < 3)
    assert stopped.to_dict()["interval_note"] == stopped.interval_note
    assert "a fixed number of games" in str(stopped)
    tested = play(lowest, highest, games=6, sprt=Sprt())
    assert "widened" in str(tested)
    assert tested.score_interval[0] < whole.score_interval[0]
    assert tested.score_interval[1] > whole.score_interval[1]


def test_the_default_number_of_games_comes_from_the_test() -> None:
    test = Sprt(elo0=0, elo1=400)
    assert play(lowest, highest, games=None, sprt=test, concurrent_games=1).sprt is not None
    assert default_games(test) == test.games_for()
    assert default_games(None) == 100


def test_ctrl_c_keeps_the_finished_games() -> None:
    calls = iter(range(1000))

    def tired(state: Any) -> int:
        if next(calls) == 200:
            raise KeyboardInterrupt
        return lowest(state)

    with pytest.raises(KeyboardInterrupt) as caught:
        play(tired, highest, games=1000, concurrent_games=4)
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.stop_reason == "interrupted"
    assert 0 < result.games < 200


def test_a_test_decides_at_the_same_pair_for_any_concurrency() -> None:
    test = Sprt(elo0=0, elo1=100)
    states = []
    for concurrent in (1, 7, 64):
        result = play(Many(), lowest, games=2000, sprt=test, concurrent_games=concurrent)
        states.append(result.sprt)
        assert result.stop_reason == "sprt"
        assert result.games < 2000
    assert states[0] == states[1] == states[2]


def test_a_missing_game_and_two_different_games_are_refused() -> None:
    with pytest.raises(ConfigError, match="a: expected an Engine"):
        play(3, lowest)
    with pytest.raises(ConfigError, match="neither a nor b is an Engine"):
        pyengine.match(lowest, lowest)
    with pytest.raises(ConfigError, match="expected one game"):
        play(pyengine.Engine("othello", "uniform"), lowest)


def openings_of(result: MatchResult) -> list[tuple[int, ...]]:
    """Return the openings in order."""
    return [opening for _, opening in sorted({(r.pair, r.opening) for r in result.records})]


def test_openings_are_distinct_and_leave_the_game_open() -> None:
    openings = openings_of(play(lowest, highest, games=60, openings=Openings(plies=6)))
    game = pyengine.load_game("connect_four")
    states = [game.new_initial_state(moves) for moves in openings]
    assert len({"".join(state.board_rows()) for state in states}) == 30
    for state in states:
        assert len(state.history()) == 6
        for action in state.legal_actions():
            following = state.clone()
            following.apply_action(action)
            assert not following.is_terminal()


def test_openings_depend_on_the_seed() -> None:
    first, same, other = (openings_of(play(lowest, highest, games=20, seed=s)) for s in (1, 1, 2))
    assert first == same
    assert first != other


@pytest.mark.parametrize(
    ("openings", "expected"),
    [
        ([[3, 3], [2, 4], [0]], [(3, 3), (2, 4), (0,)]),
        (Openings(plies=0), [()] * 3),
    ],
)
def test_fixed_openings_are_played_in_order(openings: Any, expected: list[Any]) -> None:
    assert openings_of(play(lowest, highest, games=6, openings=openings)) == expected


def test_positions_repeat_if_there_are_too_few() -> None:
    rules = Openings(plies=1)
    result = pyengine.match(lowest, highest, game="tic_tac_toe", games=40, openings=rules)
    assert {record.opening for record in result.records} == {(a,) for a in range(9)}


def test_openings_follow_the_evaluators_policy() -> None:
    def likes_three(states: list[Any]) -> tuple[list[list[float]], list[float]]:
        return [[0, 0.01, 0, 0.99, 0, 0, 0]] * len(states), [0.0] * len(states)

    rules = Openings(plies=3, moves="policy", evaluator=pyengine.StateEvaluator(likes_three))
    moves = [m for opening in openings_of(play(lowest, lowest, games=8, openings=rules))
             for m in opening]  # fmt: skip
    assert set(moves) <= {1, 3}
    assert moves.count(3) > moves.count(1)


@pytest.mark.parametrize("simulations", [0, 8])
def test_openings_are_balanced_by_the_evaluator(simulations: int) -> None:
    def hates_the_middle(states: list[Any]) -> tuple[list[list[float]], list[float]]:
        return [[1.0] * 7] * len(states), [float(3 in s.history()[:2]) for s in states]

    balanced = pyengine.StateEvaluator(hates_the_middle)
    rules = Openings(plies=2, max_value=0.5, evaluator=balanced, simulations=simulations)
    openings = openings_of(play(lowest, lowest, games=20, openings=rules))
    assert all(3 not in opening for opening in openings)
