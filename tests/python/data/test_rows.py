"""Rows of training data: the input of a network and its targets."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import finished, write
from pyengine import ModelSpec, _core
from pyengine.data import Dataset, Layout
from pyengine.data.unpack import Unpacker
from pyengine.games import as_game
from toy_games import Pairs, ToyGame, ToyState

STONES = ("own[0]", "first_to_move", "opp[0:3]", "last[0]", "mover_sign", "legal")
GOMOKU = pyengine.load_game("gomoku", board_size=7)


class Seen(ToyState):
    """A game with user-defined planes."""

    def observation_tensor(self) -> Any:
        return np.arange(24, dtype=np.float32).reshape(2, 3, 4) * len(self.moves)


CASES = {
    "tic_tac_toe": (pyengine.load_game("tic_tac_toe"), ModelSpec()),
    "mnk 4x6": (pyengine.load_game("mnk", rows=4, columns=6, k=4), ModelSpec(planes=STONES)),
    "mnk, all turned": (
        pyengine.load_game("mnk", rows=3, columns=5, k=3),
        ModelSpec(planes=STONES, layout="NHWC", rows="bottom_up", policy_rows="bottom_up"),
    ),
    "connect_four": (pyengine.load_game("connect_four"), ModelSpec(planes=STONES)),
    "connect_four, bottom up": (
        pyengine.load_game("connect_four"),
        ModelSpec(planes=("own[0]", "opp[0]"), rows="bottom_up", policy_rows="bottom_up"),
    ),
    "gomoku": (GOMOKU, ModelSpec.alphago_zero()),
    "gomoku17": (GOMOKU, ModelSpec.gomoku17()),
    "gomoku17 and stones": (
        GOMOKU,
        ModelSpec(
            planes=("own[0]", "gomoku_blocked_n", "ones", "gomoku_line_vertical", "opp[0]"),
            layout="NHWC",
        ),
    ),
    "othello": (pyengine.load_game("othello", board_size=6), ModelSpec.leela_zero()),
    "othello, pass in the middle": (
        pyengine.load_game("othello", board_size=4),
        ModelSpec(planes=STONES, policy_rows="bottom_up", pass_index=5),
    ),
    "go": (
        pyengine.load_game("go", board_size=5, max_game_length=40),
        ModelSpec(
            planes=("own[0:8]", "opp[0:8]", "liberties[1]", "own_area", "ko", "first_to_move")
        ),
    ),
    "go, pass first, bottom up": (
        pyengine.load_game("go", rows=4, columns=3, max_game_length=30),
        ModelSpec(
            planes=STONES, layout="NHWC", rows="bottom_up", policy_rows="bottom_up", pass_index=0
        ),
    ),
    "a game in Python": (as_game(ToyGame(Pairs)), ModelSpec(planes=("ones", "zeros"))),
    "planes of a game in Python": (as_game(ToyGame(Seen)), ModelSpec()),
}


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest) -> tuple[Any, ModelSpec]:
    """A game and a spec that fits."""
    return CASES[request.param]


def network_policy(game: Any, spec: ModelSpec, by_action: Any) -> Any:
    """Reorder numbers by action into a network's policy, as documented."""
    rows, columns = game.board_shape
    values = list(by_action)
    pass_values = []
    if game.name in ("go", "othello"):
        pass_values = [values.pop()]
    if spec.policy_rows == "bottom_up" and len(values) == rows * columns:
        values = [v for row in reversed(range(rows)) for v in values[row * columns :][:columns]]
    if pass_values:
        values.insert(len(values) if spec.pass_index is None else spec.pass_index, pass_values[0])
    return np.array(values, np.float32)


def upright(spec: ModelSpec) -> ModelSpec:
    """Return the spec with its planes in the order of the game."""
    return spec.replace(layout="NCHW", rows="top_down")


def turned_planes(game: Any, spec: ModelSpec, state: Any, k: int) -> Any:
    """Return the planes of a position with its points moved, as documented."""
    planes = state.observation_tensor(upright(spec))
    flat = planes.reshape(len(planes), -1)
    result = np.zeros_like(flat)
    result[:, game.symmetry_points(k)] = flat
    result = result.reshape(planes.shape)
    if spec.rows == "bottom_up":
        result = result[:, ::-1]
    return np.moveaxis(result, 0, -1) if spec.layout == "NHWC" else result


def played(game: Any, spec: ModelSpec, rng: random.Random, tmp_path: Path) -> tuple[Any, Dataset]:
    """Return random games and a dataset with them."""
    games = [finished(game, spec, number, rng, plies=20) for number in range(2)]
    return games, Dataset(write(tmp_path / "data", game, spec, games))


def test_the_lowest_bit_of_the_first_byte_is_the_top_left_point() -> None:
    game = pyengine.load_game("gomoku", board_size=5)
    spec = ModelSpec(planes=("first[0]",), rows="bottom_up")
    state = game.new_initial_state([0, 12, 9])  # the first player at row 0 column 0, row 1 column 4
    bits, _, _ = _core.encode_planes([state], spec)
    np.testing.assert_array_equal(bits[0, 0], [1, 2, 0, 0])


def test_augmented_rows_match_the_transformed_game(
    case: tuple[Any, ModelSpec], rng: random.Random, tmp_path: Path
) -> None:
    game, spec = case
    games, dataset = played(game, spec, rng, tmp_path)
    assert len(dataset) == sum(len(one.visits) for one in games)
    one = games[0]
    rows = np.arange(len(one.visits))
    for k in range(game.num_symmetries):
        batch = dataset.rows(rows, np.full(len(rows), k, np.uint8))
        for name in ("root_value", "network_value", "ply", "full"):
            np.testing.assert_array_equal(batch[name], getattr(one, name))
        np.testing.assert_array_equal(batch["value"], np.array(one.returns)[one.to_move])
        assert set(batch["game"]) == {one.number}
        for ply in rows:
            moves = one.moves[:ply].tolist()
            if k > 0 and game.name == "othello":  # its start has fewer symmetries than its board
                planes = turned_planes(game, spec, game.new_initial_state(moves), k)
            else:
                turned = [game.symmetry_action(k, action) for action in moves]
                planes = game.new_initial_state(turned).observation_tensor(spec)
            np.testing.assert_array_equal(batch["planes"][ply], planes)
            shares = np.zeros(game.num_distinct_actions())
            for action, visits in enumerate(one.visits[ply]):
                shares[game.symmetry_action(k, action)] = visits / one.visits[ply].sum()
            expected = network_policy(game, spec, shares)
            np.testing.assert_allclose(batch["policy"][ply], expected, rtol=1e-6)


def half_turned(layout: Layout) -> Layout:
    """Return the layout of a game whose only symmetry is half a turn, as in Hex."""
    points = tuple(range(layout.points))
    others = tuple(range(layout.points, layout.actions))
    return dataclasses.replace(
        layout,
        symmetries=2,
        dense_slots=layout.dense_slots[:2],
        point_images=(points, points[::-1]),
        action_images=(points + others, points[::-1] + others),
    )


@pytest.mark.parametrize("name", ["mnk 4x6", "mnk, all turned", "othello, pass in the middle"])
def test_own_symmetries_move_points_and_actions_to_their_images(
    name: str, rng: random.Random, tmp_path: Path
) -> None:
    _, dataset = played(*CASES[name], rng, tmp_path)
    records = np.load(next((tmp_path / "data").glob("shard-*.npy")))
    numbers = np.ones(len(records), np.uint8)
    own = Unpacker(half_turned(dataset.layout)).batch(records, numbers)
    reflected = Unpacker(dataset.layout).batch(records, 3 * numbers)
    for field in ("planes", "policy"):
        np.testing.assert_array_equal(own[field], reflected[field])


def test_a_layout_with_own_symmetries_survives_json() -> None:
    layout = half_turned(Layout.of(*CASES["mnk 4x6"]))
    assert Layout.from_dict(json.loads(json.dumps(layout.to_dict()))) == layout


@pytest.mark.parametrize(
    "changes",
    [{"point_images": ()}, {"action_images": ((0,),) * 2}, {"symmetries": 3}],
    ids=str,
)
def test_incomplete_own_symmetries_are_refused(changes: dict[str, Any]) -> None:
    layout = dataclasses.replace(half_turned(Layout.of(*CASES["mnk 4x6"])), **changes)
    with pytest.raises(ValueError, match="layout"):
        Layout.from_dict(json.loads(json.dumps(layout.to_dict())))


def test_each_row_of_a_batch_may_have_another_symmetry(rng: random.Random, tmp_path: Path) -> None:
    game, spec = CASES["go"]
    _, dataset = played(game, spec, rng, tmp_path)
    rows = np.array([rng.randrange(len(dataset)) for _ in range(64)])
    symmetries = np.array([rng.randrange(8) for _ in rows], np.uint8)
    together = dataset.rows(rows, symmetries)
    for i in range(len(rows)):
        alone = dataset.rows(rows[i : i + 1], symmetries[i : i + 1])
        for name, values in together.items():
            np.testing.assert_array_equal(values[i], alone[name][0])


def test_a_row_without_visits_has_a_policy_of_zeros(rng: random.Random, tmp_path: Path) -> None:
    game, spec = CASES["tic_tac_toe"]
    one = finished(game, spec, 0, rng, full=0.0)
    empty = dataclasses.replace(one, visits=np.zeros_like(one.visits))
    dataset = Dataset(write(tmp_path, game, spec, [empty]), full_only=False)
    assert not np.any(dataset[0]["policy"])


def test_planes_take_an_eighth_of_float32_or_less() -> None:
    game = pyengine.load_game("go")
    layout = Layout.of(game, ModelSpec.alphago_zero())
    assert 8 * layout.dtype.itemsize <= 17 * 361 * 4


@pytest.mark.parametrize(
    ("evaluate", "values"), [("uniform", {0.0}), ("rollout", {-1.0, 0.0, 1.0})]
)
def test_network_value_is_the_value_of_the_evaluator(
    evaluate: str, values: set[float], tmp_path: Path
) -> None:
    search = pyengine.SearchConfig(simulations=4, threads=1)
    config = pyengine.SelfPlayConfig(search=search, resign_threshold=None)
    pyengine.selfplay("tic_tac_toe", evaluate, games=4, out=tmp_path, config=config)
    dataset = Dataset(tmp_path, full_only=False)
    evaluated = set(dataset.rows(range(len(dataset)))["network_value"].tolist())
    assert evaluated <= values
    assert len(evaluated) >= min(2, len(values))
