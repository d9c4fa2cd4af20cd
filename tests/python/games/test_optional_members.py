"""Optional members of a Python game that make it faster: they replace calls, not results."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError
from pyengine.data import Dataset
from pyengine.games import PlayoutRandom, as_game
from toy_games import Matches, ToyGame, ToyState

LINES = ({0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6})


class Noughts(ToyState):
    """Tic-tac-toe."""

    actions = 9
    legal_calls: ClassVar[int] = 0

    def legal_actions(self) -> list[int]:
        Noughts.legal_calls += 1
        return [point for point in range(9) if point not in self.moves]

    def is_terminal(self) -> bool:
        return len(self.moves) == 9 or self.returns() != [0.0, 0.0]

    def returns(self) -> list[float]:
        for player in (0, 1):
            if any(line <= set(self.moves[player::2]) for line in LINES):
                return [1.0 - 2 * player, 2.0 * player - 1]
        return [0.0, 0.0]

    def floats(self) -> np.ndarray[Any, Any]:
        """Return own and other stones."""
        planes = np.zeros((2, 3, 3), np.float32)
        for i, move in enumerate(self.moves):
            planes[(len(self.moves) - i) % 2].flat[move] = 1.0
        return planes


class Playing(Noughts):
    """It plays its own playouts as the engine does."""

    def play_out(self, rng: Any) -> list[float]:
        state = self.clone()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        return state.returns()


class Bits(Noughts):
    def observation_tensor(self) -> np.ndarray[Any, Any]:
        return self.floats().astype(bool)


class Floats(Noughts):
    def observation_tensor(self) -> np.ndarray[Any, Any]:
        return self.floats()


def game_of(kind: type[ToyState], /, **members: Any) -> Any:
    """Return the game of a class of states with other members, named "toy"."""
    game = ToyGame(type("Own", (kind,), members))
    vars(game).update(name="toy")
    return game


def visits(game: Any, evaluator: Any = "rollout", **settings: Any) -> list[int]:
    engine = pyengine.Engine(game, evaluator, threads=1, seed=5, **settings)
    result = engine.search(game.new_initial_state(), simulations=300)
    return [*result.visits.tolist(), result.value]


# --- playouts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"deterministic": True}, {"algorithm": "uct"}])
def test_a_search_plays_the_same_games_by_the_method_as_without(settings: dict[str, Any]) -> None:
    assert visits(game_of(Playing), **settings) == visits(game_of(Noughts), **settings)


def test_every_playout_has_its_own_random_numbers() -> None:
    drawn: list[float] = []

    def play_out(_: Any, rng: Any) -> list[float]:
        drawn.append(rng.random())
        return [0.0, 0.0]

    game = game_of(Noughts, play_out=play_out)
    visits(game, pyengine.RolloutEvaluator(rollouts=3))
    assert len(drawn) >= 3 * 300
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (1.0, r"play_out\(\) must return two numbers, got 1.0 \(float\)"),
        ([1.0], r"play_out\(\) must return two numbers, got 1"),
        ([1.0, 1.0], r"play_out\(\) must be zero-sum, got \[1\.0, 1\.0\]"),
        ([2.0, -2.0], r"play_out\(\) must lie within \[-1\.0, 1\.0\] \(max_utility\), got"),
        ([float("nan"), 0.0], r"play_out\(\) must be finite"),
    ],
)
def test_an_impossible_result_of_a_playout_is_refused(answer: Any, reason: str) -> None:
    game = game_of(Noughts, play_out=lambda *_: answer)
    with pytest.raises(ConfigError, match=reason):
        visits(game)
    report = pyengine.check_game(game, games=1)
    assert not report.ok
    assert report.message.startswith("play_out() must")


def test_an_exception_in_a_playout_reaches_the_user_and_the_engine_stays_usable() -> None:
    fails = [True]

    def play_out(_: Any, __: Any) -> list[float]:
        if fails:
            raise KeyError(fails.pop())
        return [0.0, 0.0]

    game = game_of(Noughts, play_out=play_out)
    with pyengine.Engine(game, "rollout", threads=1) as engine:
        with pytest.raises(KeyError):
            engine.search(game.new_initial_state(), simulations=10)
        assert engine.search(game.new_initial_state(), simulations=10).visits.sum() == 10


def test_playout_random_numbers_are_uniform_and_repeatable() -> None:
    rng, again = PlayoutRandom(3), PlayoutRandom(3)
    orders = set()
    for _ in range(500):
        items = [0, 1, 2]
        rng.shuffle(items)
        orders.add(tuple(items))
        other = [0, 1, 2]
        again.shuffle(other)
        assert items == other
    assert len(orders) == 6
    assert {rng.randrange(3) for _ in range(100)} == {0, 1, 2}
    assert {rng.choice("ab") for _ in range(100)} == {"a", "b"}
    assert all(0 <= rng.random() < 1 for _ in range(100))
    for wrong in (lambda: rng.randrange(0), lambda: rng.choice([])):
        with pytest.raises(ConfigError, match="expected"):
            wrong()


# --- actions that stay legal ----------------------------------------------------------------------


def test_actions_that_stay_legal_save_calls_and_change_no_result() -> None:
    plain, faster = game_of(Noughts), game_of(Noughts)
    faster.actions_stay_legal = True
    counts, results = [], []
    for game in (plain, faster):
        Noughts.legal_calls = 0
        results.append(visits(game))
        counts.append(Noughts.legal_calls)
    assert results[0] == results[1]
    assert counts[1] < counts[0] / 2


def test_actions_stay_legal_is_a_bool() -> None:
    game = game_of(Noughts)
    game.actions_stay_legal = "yes"
    with pytest.raises(ConfigError, match='game "toy": actions_stay_legal: expected a bool'):
        as_game(game)


# --- planes of bool -------------------------------------------------------------------------------


def test_planes_of_bool_are_recorded_as_bits_and_read_as_the_same_numbers(tmp_path: Path) -> None:
    def network(planes: np.ndarray[Any, Any]) -> Any:
        return planes.reshape(len(planes), -1)[:, :9], planes.mean(axis=(1, 2, 3))

    config = pyengine.SelfPlayConfig(
        search=pyengine.SearchConfig(simulations=8), concurrent_games=1, seed=2
    )
    read = []
    for kind, fields in ((Bits, {"bits"}), (Floats, {"dense"})):
        game, out = game_of(kind), tmp_path / kind.__name__
        pyengine.selfplay(game, network, games=3, out=out, config=config)
        records = np.load(next(out.glob("*.npy")))
        assert {"bits", "fill", "dense"} & set(records.dtype.names) == fields
        data = Dataset(out)
        read.append(np.stack([data[i]["planes"] for i in range(len(data))]))
    assert np.array_equal(read[0], read[1])
    assert read[0].any()


@pytest.mark.parametrize("size", [(1, 3, 3), (2, 20, 20), (1, 21, 21), (5,)])
def test_a_network_reads_planes_of_bool_of_any_size(size: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    planes = rng.random(size) < 0.5
    seen: list[np.ndarray[Any, Any]] = []

    def network(batch: np.ndarray[Any, Any]) -> Any:
        seen.extend(batch.copy())
        return np.zeros((len(batch), 3)), np.zeros(len(batch))

    game = game_of(Matches, observation_tensor=lambda _: planes)
    visits(game, network)
    assert np.array_equal(seen[0].reshape(size), planes.astype(np.float32))


def test_planes_that_cease_to_be_bool_are_refused() -> None:
    def changing(self: Matches) -> np.ndarray[Any, Any]:
        return np.ones((1, 1, 3), bool if len(self.moves) < 2 else np.float64)

    game = game_of(Matches, observation_tensor=changing)
    expected = "observation_tensor() must return an array of bool, as for the initial state"
    state = as_game(game).new_initial_state([0, 0])
    with pytest.raises(ConfigError, match=re.escape(expected) + ", got an array of float64"):
        state.observation_tensor(pyengine.ModelSpec(planes=("observation",)))
    report = pyengine.check_game(game, games=1)
    assert "must be an array of bool" in report.message


# --- check_game -----------------------------------------------------------------------------------


def test_correct_optional_members_pass() -> None:
    game = game_of(Playing, observation_tensor=Bits.observation_tensor)
    game.actions_stay_legal = True
    report = pyengine.check_game(game)
    assert (report.ok, report.warnings) == (True, ())
    assert not any("play_out" in line or "bool" in line for line in report.without)


def changing(self: Noughts, _: Any) -> list[float]:
    """A playout on the state itself."""
    self.moves = (*self.moves, self.legal_actions()[0])
    return [0.0, 0.0]


CALLS = itertools.count()


def counting(_: Noughts, __: Any) -> list[float]:
    """A playout that ignores its random numbers: returns differ after 8 calls."""
    return [1.0, -1.0] if next(CALLS) % 16 < 8 else [-1.0, 1.0]


@pytest.mark.parametrize(
    ("play_out", "reason"),
    [
        (changing, "play_out() changed the state"),
        (counting, "must take its random numbers from rng"),
    ],
)
def test_a_broken_playout_is_found(play_out: Any, reason: str) -> None:
    report = pyengine.check_game(game_of(Noughts, play_out=play_out), games=1)
    assert reason in report.message


def test_a_game_whose_actions_do_not_stay_legal_is_found() -> None:
    game = game_of(Matches)
    game.actions_stay_legal = True
    report = pyengine.check_game(game, games=3)
    assert "actions_stay_legal: legal_actions() must be the earlier ones" in report.message


def test_playouts_for_the_wrong_player_are_a_warning() -> None:
    def reversed_returns(self: Playing, rng: Any) -> list[float]:
        return [-one for one in Playing.play_out(self, rng)]

    report = pyengine.check_game(game_of(Playing, play_out=reversed_returns))
    assert report.ok
    assert "play_out() favours the losers" in report.warnings[0]


def test_planes_of_numbers_that_could_be_bits_are_listed() -> None:
    listed = [
        any("observation_tensor() of bool" in line for line in pyengine.check_game(game).without)
        for game in (game_of(Floats), game_of(Bits), game_of(Noughts))
    ]
    assert listed == [True, False, False]
