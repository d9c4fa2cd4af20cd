"""The rollout policy of Go: comparison with a naive reference, files, searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import (
    ConfigError,
    Engine,
    MixedEvaluator,
    ModelError,
    ModelSpec,
    RolloutEvaluator,
    load_game,
)
from pyengine.eval import PolicyEvaluator, RolloutPolicy
from pyengine.eval.evaluators import as_evaluator
from toy_games import Matches, ToyGame

KO = ModelSpec(planes=("ko",))

Board = dict[tuple[int, int], int]  # stones: 1 = player to move, 2 = opponent


def random_policy(seed: int = 0) -> RolloutPolicy:
    rng = np.random.default_rng(seed)
    tables = rng.uniform(-1, 1, (2, 65536))
    features = dict(zip(RolloutPolicy.FEATURES, rng.uniform(-2, 2, 12), strict=True))
    return RolloutPolicy(*tables, features)


class Reference:
    """A naive implementation of the documented policy for one state."""

    def __init__(self, policy: RolloutPolicy, state: Any) -> None:
        self.policy = policy
        self.rows, self.columns = state.game.board_shape
        own = "XO"[state.current_player()]
        self.board: Board = {
            (i, j): 1 if stone == own else 2
            for i, row in enumerate(state.board_rows())
            for j, stone in enumerate(row)
            if stone != "."
        }
        history = state.history()
        last = history[-1] if history else None
        self.last = None if last in (None, self.rows * self.columns) else divmod(last, self.columns)
        ko = np.argwhere(state.observation_tensor(KO)[0] == 1)
        self.ko = tuple(ko[0]) if len(ko) else None

    def beside(self, point: tuple[int, int]) -> list[tuple[int, int]]:
        i, j = point
        neighbours = [(i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)]
        return [p for p in neighbours if 0 <= p[0] < self.rows and 0 <= p[1] < self.columns]

    def chain(self, board: Board, point: tuple[int, int]) -> tuple[frozenset, frozenset]:
        """Return the stones and liberties of a chain."""
        stones, liberties, waiting = {point}, set(), [point]
        while waiting:
            for p in self.beside(waiting.pop()):
                if p not in board:
                    liberties.add(p)
                elif board[p] == board[point] and p not in stones:
                    stones.add(p)
                    waiting.append(p)
        return frozenset(stones), frozenset(liberties)

    def pattern(self, point: tuple[int, int]) -> list[int]:
        i, j = point
        states = []
        for p in ((i + di, j + dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj):
            inside = 0 <= p[0] < self.rows and 0 <= p[1] < self.columns
            states.append(self.board.get(p, 0) if inside else 3)
        return states

    def weight(self, point: tuple[int, int]) -> float | None:
        """Return the sum of the weights of a move, None if it is never played."""
        if point in self.board or point == self.ko:
            return None
        around = self.pattern(point)
        if all(around[i] in (1, 3) for i in (1, 3, 4, 6)):
            bad = sum(around[i] == 2 for i in (0, 2, 5, 7))
            if bad == 0 or (bad == 1 and 3 not in (around[i] for i in (1, 3, 4, 6))):
                return None
        names = self.names(point)
        if names is None:
            return None
        number = sum(s * 4**i for i, s in enumerate(around))
        total = float(self.policy.pattern[number])
        total += sum(self.policy.features[name] for name in names)
        if {"distance_2", "distance_3"} & names:
            total += float(self.policy.response[number])
        return total

    def names(self, point: tuple[int, int]) -> set[str] | None:
        names: set[str] = set()
        chains = {self.chain(self.board, p) for p in self.beside(point) if p in self.board}
        own = [c for c in chains if self.board[min(c[0])] == 1]
        theirs = [c for c in chains if self.board[min(c[0])] == 2]
        captured = frozenset().union(*(stones for stones, open_ in theirs if len(open_) == 1))
        after = {p: s for p, s in self.board.items() if p not in captured} | {point: 1}
        left = len(self.chain(after, point)[1])
        if left == 0:
            return None
        if captured:
            names.add("capture_stone" if len(captured) == 1 else "capture_chain")
        elif left == 1:
            names.add("self_atari_chain" if own else "self_atari_stone")
        if any(len(open_) == 2 for _, open_ in theirs):
            names.add("atari")
        if any(len(open_) == 1 for _, open_ in own) and (captured or left > 1):
            names.add("escape")
        if self.last is not None:
            names |= self.responses(point)
        return names

    def responses(self, point: tuple[int, int]) -> set[str]:
        assert self.last is not None
        dx, dy = abs(point[0] - self.last[0]), abs(point[1] - self.last[1])
        distance = dx + dy + max(dx, dy)
        names = {f"distance_{distance}"} if distance <= 4 else set()
        threatened = [
            self.chain(self.board, p)
            for p in self.beside(self.last)
            if self.board.get(p) == 1 and len(self.chain(self.board, p)[1]) == 1
        ]
        if any(point in open_ for _, open_ in threatened):
            names.add("extend")
        touching = {p for stones, _ in threatened for s in stones for p in self.beside(s)}
        for p in touching:
            if self.board.get(p) == 2 and self.chain(self.board, p)[1] == {point}:
                names.add("rescue")
        if self.last in self.board and self.chain(self.board, self.last)[1] == {point}:
            names.add("retake")
        return names

    def probabilities(self) -> np.ndarray:
        weights = np.zeros(self.rows * self.columns + 1)
        for i in range(self.rows):
            for j in range(self.columns):
                weight = self.weight((i, j))
                weights[i * self.columns + j] = 0 if weight is None else np.exp(weight)
        if not weights.any():
            weights[-1] = 1
        return weights / weights.sum()


@pytest.mark.parametrize("name", ["go(board_size=5)", "go(rows=3,columns=7)", "go(board_size=13)"])
def test_probabilities_equal_those_of_the_reference(name: str) -> None:
    game = load_game(name.removesuffix(")") + ",superko=simple)")
    policy = random_policy()
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(6):
        state = game.new_initial_state()
        while not state.is_terminal() and compared < 60:
            row = policy.probabilities([state])[0].astype(float)
            expected = Reference(policy, state).probabilities()
            np.testing.assert_allclose(row, expected, rtol=2e-3, atol=2e-6)
            compared += 1
            # Moves of the policy lead to tactics, random ones to unusual positions.
            if rng.random() < 0.7:
                state.apply_action(int(rng.choice(len(row), p=row / row.sum())))
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))
    assert compared == 60


def test_a_finished_game_has_no_moves_and_a_filled_board_only_the_pass() -> None:
    game = load_game("go(board_size=5)")
    policy = random_policy()
    over = game.new_initial_state([25, 25])
    assert not policy.probabilities([over]).any()
    filled = game.state_from_board(["XXXXX", "XXXXX", "X.X.X", "XXXXX", "XXXXX"])
    assert policy.probabilities([filled])[0].tolist() == [0.0] * 25 + [1.0]


def test_a_saved_policy_is_loaded_unchanged(tmp_path: Path) -> None:
    policy = random_policy()
    file = tmp_path / "policy.npz"
    policy.save(file)
    again = RolloutPolicy.load(file)
    assert again.digest == policy.digest != random_policy(1).digest
    assert again.features == policy.features
    assert as_evaluator(file).policy.digest == policy.digest
    assert repr(as_evaluator(str(file))) == f"RolloutEvaluator(rollouts=1, policy={policy!r})"


def changed(file: Path, **members: Any) -> Path:
    """Copy a file with changed members; None removes a member."""
    with np.load(file) as archive:
        content = {name: archive[name] for name in archive} | members
    other = file.with_name("changed.npz")
    np.savez(other, **{name: value for name, value in content.items() if value is not None})
    return other


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"format": np.array("something else")}, "something else"),
        ({"version": np.array(2)}, "version 2"),
        ({"names": np.array(["capture"])}, "changed.npz"),
        ({"features": np.full(12, np.nan, np.float32)}, "features must be finite"),
        ({"pattern": None}, "pattern"),
        ({"names": np.array([{}])}, "changed.npz"),
    ],
)
def test_a_damaged_file_is_refused_with_a_reason(
    tmp_path: Path, members: dict[str, Any], reason: str
) -> None:
    file = tmp_path / "policy.npz"
    random_policy().save(file)
    with pytest.raises(ModelError) as error:
        RolloutEvaluator(policy=changed(file, **members))
    assert reason in str(error.value)


@pytest.mark.parametrize("load", [RolloutPolicy.load, PolicyEvaluator, as_evaluator])
def test_a_file_that_is_not_a_policy_is_refused_with_advice(load: Any, tmp_path: Path) -> None:
    random_policy().save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    contents = {
        "text": b"text",
        "empty": b"",
        "half": whole[: len(whole) // 2],
        "changed": whole[:100] + bytes(60) + whole[160:],
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.npz").write_bytes(content)
    (tmp_path / "folder.npz").mkdir()
    np.savez(tmp_path / "other.npz", planes=np.zeros(3))
    for name in (*contents, "absent", "folder", "other"):
        with pytest.raises(ModelError, match=rf"{name}\.npz.*train\.rollout_policy\(\)"):
            load(tmp_path / f"{name}.npz")


NONE = np.zeros(65536)
NAMED_GO = type("go", (ToyGame,), {"name": "go"})(Matches)  # a user's game called "go"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: RolloutPolicy(NONE, NONE, {"capture": 1.0}), ModelError, "features of capture_st"),
        (lambda: random_policy().probabilities([load_game("gomoku").new_initial_state()]),
         ModelError, "expected a game of Go"),
        (lambda: Engine("gomoku", PolicyEvaluator(random_policy())),
         ModelError, "expected a game of Go"),
        (lambda: Engine(NAMED_GO, RolloutEvaluator(policy=random_policy())),
         ModelError, "expected a game of Go"),
        (lambda: RolloutEvaluator(policy=3), ConfigError, "policy"),
        (lambda: PolicyEvaluator(None), ConfigError, "policy"),
        (lambda: random_policy().probabilities(load_game("go").new_initial_state()),
         ConfigError, "sequence of states"),
        (lambda: random_policy().save("/"), ConfigError, "directory"),
    ],
)  # fmt: skip
def test_wrong_weights_and_games_are_refused(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_priors_are_nine_tenths_of_the_probabilities() -> None:
    policy = random_policy(2)
    game = load_game("go(board_size=5)")
    states = [game.new_initial_state(moves) for moves in ([], [12], [3, 8, 20])]
    priors, value = PolicyEvaluator(policy).evaluate(states)
    assert value.tolist() == [0.0] * 3
    for state, prior, own in zip(states, priors, policy.probabilities(states), strict=True):
        expected = np.zeros(26)
        legal = state.legal_actions()
        expected[legal] = 0.9 * own[legal] + 0.1 / len(legal)
        np.testing.assert_allclose(prior, expected, rtol=1e-5)


def test_a_move_forbidden_by_superko_has_probability_0() -> None:
    policy = random_policy(2)
    game = load_game("go(board_size=3,superko=positional)")
    rng = np.random.default_rng(0)
    forbidden = 0
    for _ in range(15):
        state = game.new_initial_state()
        while not state.is_terminal():
            row = policy.probabilities([state])[0]
            illegal = np.setdiff1d(np.arange(10), state.legal_actions())
            board = "".join(state.board_rows())
            forbidden += sum(board[point] == "." for point in illegal)
            assert not row[illegal].any()
            assert row.sum() == pytest.approx(1.0)
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert forbidden > 5


def test_a_mix_with_a_network_evaluates_in_batches() -> None:
    policy = random_policy(4)
    for parts in ((PolicyEvaluator(policy), "go7"), ("go7", RolloutEvaluator(policy=policy))):
        engine = Engine("go(board_size=7)", MixedEvaluator(*parts), threads=1, simulations=100)
        assert engine.search(engine.game.new_initial_state()).visits.sum() == 100
