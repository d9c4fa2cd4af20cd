"""Reviews: what is compared, what is worst, what is kept when a review is stopped."""

from __future__ import annotations

import itertools
import json
import os
import signal
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.data.game_file import GameFile, game_in
from pyengine.review import MoveClass, Review, ReviewInterrupted, review_game
from pyengine.review.search import _closing_passes
from pyengine.search.config import SearchConfig

TIC_TAC_TOE = pyengine.load_game("tic_tac_toe")


def file_of(moves: str, game: pyengine.Game = TIC_TAC_TOE) -> GameFile:
    return game_in(moves.encode(), "moves.txt", game)


def reviewed(
    moves: str, game: pyengine.Game = TIC_TAC_TOE, model: Any = "rollout", **settings: Any
) -> Review:
    settings = {"simulations": 100, "threads": 1} | settings
    with pyengine.Engine(game, model, **settings) as engine:
        return review_game(file_of(moves, game), engine, model="the model")


@pytest.fixture(scope="module")
def lost() -> Review:
    """Return a game that O loses by the last move but one."""
    return reviewed("b2 a1 c3 a3 a2 b3")


def test_a_losing_move_is_a_blunder_with_the_better_line(lost: Review) -> None:
    (worst,) = lost.worst(1)
    assert (worst.number, worst.name, worst.move_class) == (6, "b3", MoveClass.blunder)
    assert worst.best is not None
    assert worst.best.names[0] == "c2"
    assert worst.win_rate_lost == 0.5
    assert worst.points_lost is None
    last = lost.evaluations[-1]
    assert last is not None
    assert (last.win_rate, last.proven) == (1.0, 1)


def test_the_engine_s_choice_loses_nothing_and_is_ranked_first(lost: Review) -> None:
    for move in lost.moves:
        assert (move.move_class is MoveClass.best) == (move.rank == 1)
        if move.rank == 1:
            assert move.win_rate_lost == 0.0
            assert move.alternative is None


def test_classes_follow_the_win_rate_lost_and_averages_are_those_of_the_moves(
    lost: Review,
) -> None:
    second = lost.summary(1)
    assert second.classes[MoveClass.blunder] == 1
    assert sum(second.classes.values()) == second.moves == 3
    losses = [move.win_rate_lost or 0.0 for move in lost.moves if move.player == 1]
    assert second.win_rate_lost == pytest.approx(np.mean(losses))
    assert second.points_lost is None


def test_together_and_one_after_another_agree() -> None:
    moves = "4 4 3 2 5"
    game = pyengine.load_game("connect_four")
    settings: dict[str, Any] = {"simulations": 60, "deterministic": True, "symmetry": "none"}
    review = reviewed(moves, game, "connect4", **settings)
    for state, evaluation in zip(file_of(moves, game).positions, review.evaluations, strict=True):
        assert evaluation is not None
        result = pyengine.search(state, evaluator="connect4", **settings)
        value = result.value if state.current_player() == 0 else -result.value
        assert evaluation.win_rate == pytest.approx((value + 1) / 2, abs=1e-6)


def test_score_and_ownership_are_for_black_on_both_players_moves() -> None:
    go = pyengine.load_game("go(board_size=9,komi=7)")
    # Black has a wall; White passes twice: Black leads before and after White's moves.
    review = reviewed("C3 pass G3 pass C7 pass G7 pass E5", go, "go9", simulations=4)
    late = review.evaluations[-3:]
    assert all(e is not None and e.score is not None and e.score > 5 for e in late)
    assert all(e is not None and e.ownership is not None and e.ownership.mean() > 0 for e in late)
    assert review.has_score


def test_othello_shows_the_discs() -> None:
    review = reviewed("f5 d6", pyengine.load_game("othello"), "uniform", simulations=4)
    assert [e and e.discs for e in review.evaluations] == [(2, 2), (4, 1), (3, 3)]


def test_closing_passes_of_a_go_game_between_people_are_not_reviewed() -> None:
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    moves = b"(;SZ[5]KM[0];B[cc];W[cb];B[];W[])"
    people = game_in(moves, "x.sgf")
    engine = pyengine.Engine(people.game, "uniform", simulations=4)
    review = review_game(people, engine)
    assert [move.move_class is None for move in review.moves] == [False, False, True, True]
    assert "not reviewed" in review.notes[-1]
    recorded = game_in(moves.replace(b"KM[0]", f"PYENGINE[{people.game}]KM[0]".encode()), "x.sgf")
    assert _closing_passes(recorded) == 0


def test_a_game_without_moves_is_refused() -> None:
    file = GameFile(TIC_TAC_TOE, TIC_TAC_TOE.new_initial_state(), ())
    with pytest.raises(pyengine.ConfigError, match="no moves"):
        review_game(file, pyengine.Engine(TIC_TAC_TOE, "uniform"))


@pytest.mark.parametrize(("simulations", "largest"), [(10, 16), (30_000, 4)])
def test_neighbours_are_searched_in_turns_in_groups_that_fit_the_memory(
    simulations: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = []

    def noted(_engine: Any, states: list[Any], **_settings: Any) -> list[Any]:
        groups.append([len(state.history()) for state in states])
        return [SimpleNamespace(simulations=0, proven=None)] * len(states)

    monkeypatch.setattr(pyengine.Engine, "search_many", noted)
    game = pyengine.load_game("gomoku")
    moves = "".join(f"{column}{row}" for row in (1, 3, 5) for column in "abdeghjkmno"[::-1])
    config = SearchConfig(simulations=simulations, memory_limit=1 << 26)
    with pyengine.Engine(game, "uniform", config=config) as engine:
        review_game(file_of(moves, game), engine)
    assert sorted(itertools.chain.from_iterable(groups)) == list(range(34))
    assert max(map(len, groups)) == largest
    assert all(b - a == 2 for group in groups for a, b in itertools.pairwise(group))


def test_returning_false_from_progress_keeps_what_was_searched() -> None:
    seen = []

    def stop(done: int, total: int) -> bool:
        seen.append((done, total))
        return False

    game = pyengine.load_game("go(board_size=5)")
    moves = "C3 C2 B2 D3 D2"
    with pyengine.Engine(game, "rollout", simulations=10_000_000, threads=1) as engine:
        review = review_game(file_of(moves, game), engine, on_progress=stop)
    assert seen
    assert seen[0][1] == 60_000_000
    assert not review.complete
    assert [e is not None and e.simulations > 0 for e in review.evaluations] == [True, False] * 3


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to oneself")
def test_ctrl_c_raises_with_the_review_so_far() -> None:
    game = pyengine.load_game("go(board_size=5)")
    engine = pyengine.Engine(game, "rollout", simulations=10_000_000, threads=1)
    started = threading.Event()

    def interrupt(done: int, _total: int) -> None:
        if done and not started.is_set():
            started.set()
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(ReviewInterrupted) as stopped:
        review_game(file_of("C3 C2 B2", game), engine, on_progress=interrupt)
    review = stopped.value.review
    assert not review.complete
    assert review.evaluations[0] is not None


def test_to_dict_is_json_with_every_move_and_position(lost: Review) -> None:
    values = json.loads(json.dumps(lost.to_dict(), allow_nan=False))
    assert len(values["moves"]) == 6
    assert len(values["positions"]) == 7
    assert values["worst"][0] == 6
    assert values["moves"][5]["candidates"][0]["names"][0] == "c2"
    assert values["summary"][1]["classes"]["blunder"] == 1
