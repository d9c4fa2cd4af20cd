"""Networks, losses, optimisers and ONNX export."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, DataError, train
from pyengine.train import LossConfig, NetworkConfig, OptimiserConfig
from toy_games import Matches, ToyGame, ToyState

torch = pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
torch.set_num_threads(1)  # these networks are small
onnx = pytest.importorskip("onnx", reason="export needs onnx: the extra train")

from pyengine.train.blocks import BiasedConv, Branch, Excitation  # noqa: E402
from pyengine.train.loss import (  # noqa: E402
    Outputs,
    losses,
    outcome_shares,
    outcome_target,
    value_target,
)
from pyengine.train.optim import optimiser_of, set_rate  # noqa: E402
from pyengine.train.towers import ScaledTower, tower_of  # noqa: E402


def network_for(config: NetworkConfig, game: str) -> train.Network:
    """Return a network with non-trivial blocks and normalisation statistics."""
    torch.manual_seed(1)
    played = pyengine.load_game(game)
    network = train.Network(config, 3, played.board_shape, played.num_distinct_actions())
    for layer in network.modules():  # make non-trivial what is initially 0 or 1
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(layer.weight)
        elif isinstance(layer, BiasedConv):
            torch.nn.init.normal_(layer.bias)
        elif isinstance(layer, Excitation):
            torch.nn.init.normal_(layer.shift.weight)
    network.train()
    for _ in range(3):
        network(torch.randn(16, 3, *played.board_shape))
    return network.eval()


def test_the_published_network_has_the_published_size() -> None:
    config = NetworkConfig(blocks=19, filters=256)
    network = train.Network(config, 17, (19, 19), 362)
    tower = 19 * 2 * (256 * 256 * 9 + 2 * 256) + 17 * 256 * 9 + 2 * 256
    policy = 2 * 256 + 2 * 2 + 2 * 361 * 362 + 362
    value = 256 + 2 + 361 * 256 + 256 + 256 + 1
    assert sum(p.numel() for p in network.parameters()) == tower + policy + value


GO_BOARDS = ["go(board_size=5)", "go(rows=3,columns=7)"]
GOMOKU_BOARDS = ["gomoku(board_size=6)", "gomoku(board_size=9)"]


@pytest.mark.parametrize(
    ("settings", "games"),
    [
        ({"pooling_every": 2}, ["connect_four"]),
        ({"value": "wdl", "squeeze_excitation": 4}, ["go(board_size=5)"]),
        ({"kind": "convolutional", "value": "wdl"}, GOMOKU_BOARDS),
        ({"kind": "convolutional", "pooling_every": 1, "squeeze_excitation": 1}, GO_BOARDS),
        ({"kind": "value", "pooling_every": 2}, GOMOKU_BOARDS),
        ({"kind": "value", "value": "wdl"}, ["go(board_size=5)"]),
        ({"inner_blocks": 2}, ["connect_four"]),
        ({"inner_blocks": 2, "pooling_every": 2, "squeeze_excitation": 4}, ["connect_four"]),
        ({"normalisation": "once", "kind": "convolutional", "pooling_every": 1}, GOMOKU_BOARDS),
        ({"normalisation": "once", "inner_blocks": 2}, ["connect_four"]),
        ({"normalisation": "none", "pooling_every": 2, "squeeze_excitation": 4}, ["connect_four"]),
        ({"normalisation": "none", "kind": "value", "inner_blocks": 1}, GOMOKU_BOARDS),
    ],
)
def test_onnx_runtime_agrees_with_pytorch(
    settings: dict[str, Any], games: list[str], tmp_path: Path
) -> None:
    network = network_for(NetworkConfig(**{"blocks": 2, "filters": 8, **settings}), games[0])
    report = train.export(network, games, pyengine.ModelSpec(), tmp_path / "net.onnx")
    assert report.difference < 1e-5
    assert report.positions == 64 * len(games)


def test_every_nth_block_has_global_pooling() -> None:
    network = train.Network(NetworkConfig(blocks=5, filters=4, pooling_every=2), 3, (3, 3), 9)
    biased = [branch.board_bias is not None for branch in network.tower.branches]
    assert biased == [False, True, False, True, False]


@pytest.mark.parametrize(
    "settings", [{"pooling_every": 1}, {"squeeze_excitation": 4}, {"inner_blocks": 2}], ids=str
)
def test_a_new_tower_is_a_relu(settings: dict[str, Any]) -> None:
    tower = tower_of(NetworkConfig(blocks=3, filters=8, **settings))
    x = torch.randn(4, 8, 5, 5)
    assert torch.equal(tower(x), torch.relu(x))


@pytest.mark.parametrize("inner", [0, 2])
def test_the_values_of_a_new_tower_without_normalisation_do_not_grow(inner: int) -> None:
    torch.manual_seed(0)
    config = NetworkConfig(blocks=20, filters=64, inner_blocks=inner, normalisation="none")
    tower = tower_of(config)
    assert isinstance(tower, ScaledTower)
    with torch.no_grad():
        output = tower(torch.randn(8, 64, 19, 19))
    assert 0.25 < output.square().mean() < 1  # 0.5 for a rectified normal variable


@pytest.mark.parametrize(("normalisation", "norms"), [("batch", 11), ("once", 1), ("none", 0)])
def test_normalisation_is_everywhere_once_or_nowhere(normalisation: str, norms: int) -> None:
    config = NetworkConfig(blocks=4, filters=4, normalisation=normalisation)
    network = train.Network(config, 3, (3, 3), 9)
    layers = [layer for layer in network.modules() if isinstance(layer, torch.nn.BatchNorm2d)]
    assert len(layers) == norms


def test_the_inner_blocks_have_half_the_filters() -> None:
    tower = tower_of(NetworkConfig(blocks=1, filters=16, inner_blocks=2, pooling_every=1))
    (nested,) = tower.branches
    assert [tuple(branch.first[0].weight.shape) for branch in nested.tower.branches] == [
        (8, 8, 3, 3)
    ] * 2
    biased = [branch.board_bias is not None for branch in nested.tower.branches]
    assert biased == [True, False]


def test_global_pooling_makes_a_point_depend_on_distant_stones() -> None:
    near, far = torch.zeros(1, 8, 19, 19), torch.zeros(1, 8, 19, 19)
    far[0, :, 18, 18] = 1
    for pooling in (False, True):
        torch.manual_seed(0)
        branch = Branch(8, pooling=pooling).eval()
        assert torch.equal(branch(near)[0, :, 0, 0], branch(far)[0, :, 0, 0]) != pooling


def test_the_outputs_of_a_new_deep_network_are_moderate() -> None:
    torch.manual_seed(0)
    network = train.Network(NetworkConfig(blocks=20, filters=32), 17, (9, 9), 82).eval()
    logits, value = network(torch.rand(4, 17, 9, 9))
    assert logits.abs().max() < 20
    assert value.abs().min() < 0.9


def test_an_exported_file_contains_its_spec_and_metadata(tmp_path: Path) -> None:
    spec = pyengine.ModelSpec(planes=("opp[0]", "own[0]", "ones"))
    network = network_for(NetworkConfig(blocks=1, filters=4, value="wdl"), "tic_tac_toe")
    path = tmp_path / "net.onnx"
    report = train.export(network, "tic_tac_toe", spec, path, metadata={"step": 7})
    evaluator = pyengine.OnnxEvaluator(path)
    assert evaluator.spec is not None
    assert evaluator.spec.planes == spec.planes
    assert evaluator.spec.value == ("win", "draw", "loss")
    metadata = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    assert json.loads(metadata["pyengine.manifest"]) == {"step": 7}
    assert report.sha256 == pyengine.base.files.sha256_of(path)


def test_the_exported_policy_has_the_order_of_the_spec(tmp_path: Path) -> None:
    game = pyengine.load_game("go(board_size=5)")
    spec = pyengine.ModelSpec(policy_rows="bottom_up", pass_index=0, input="x", value_output="v")
    network = network_for(NetworkConfig(blocks=0, filters=8), str(game))
    evaluator = pyengine.OnnxEvaluator(
        train.export(network, game, spec, tmp_path / "net.onnx").path
    )
    assert evaluator.spec == spec.replace(input=None, value_output=None)  # default names
    state = game.new_initial_state([3, 7])
    policy, _ = evaluator.evaluate([state])
    with torch.no_grad():
        logits, _ = network(torch.from_numpy(state.observation_tensor(spec)[None]))
    actions = state.legal_actions()
    indices = [0 if a == 25 else 1 + (4 - a // 5) * 5 + a % 5 for a in actions]
    expected = torch.softmax(logits[0, indices], 0).numpy()
    assert policy[0, actions] == pytest.approx(expected, abs=1e-5)


def test_a_non_finite_network_is_not_written(tmp_path: Path) -> None:
    network = network_for(NetworkConfig(blocks=1, filters=4), "tic_tac_toe")
    path = tmp_path / "net.onnx"
    path.write_text("old")
    with torch.no_grad():
        network.stem[0].weight[0, 0, 0, 0] = math.nan
    with pytest.raises(train.TrainingError, match=r"net\.onnx is not written"):
        train.export(network, "tic_tac_toe", pyengine.ModelSpec(), path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["net.onnx"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"spec": pyengine.ModelSpec(layout="NHWC")}, ConfigError, "layout NCHW, got NHWC"),
        ({"games": GOMOKU_BOARDS}, ConfigError, "expected one board"),
        ({"metadata": {"a": object()}}, ConfigError, "metadata: expected a table"),
        ({"path": "folder"}, DataError, "cannot be written"),
        ({"path": "file/x.onnx"}, DataError, "cannot be written"),
    ],
)
def test_an_invalid_export_is_refused_and_leaves_no_file(
    changes: dict[str, Any],
    error: type[Exception],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    network = network_for(NetworkConfig(blocks=0, filters=4), "tic_tac_toe")
    arguments = {"games": "tic_tac_toe", "spec": pyengine.ModelSpec(), "path": "net.onnx"}
    with pytest.raises(error, match=message):
        train.export(network, **{**arguments, **changes})
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file"}


def test_a_python_game_is_supported_by_export(tmp_path: Path) -> None:
    class Seen(Matches):
        def observation_tensor(self) -> Any:
            return np.full((1, 1, 3), self.left / 11, np.float32)

    network = train.Network(NetworkConfig(blocks=0, filters=2), 1, (1, 3), 3).eval()
    spec = pyengine.ModelSpec(planes=("observation",))
    report = train.export(network, ToyGame(Seen), spec, tmp_path / "own.onnx")
    assert report.difference < 1e-4


class Steps(ToyState):
    """A game with three actions for each of 2x4 points, and planes to tell positions apart."""

    actions = 24

    def observation_tensor(self) -> Any:
        planes = np.zeros((1, 2, 4), np.float32)
        planes.flat[: len(self.moves)] = self.moves[:8]
        return planes / 24

    def is_terminal(self) -> bool:
        return len(self.moves) == 8


@pytest.mark.parametrize("kind", ["convolutional", "value"])
def test_networks_with_several_actions_for_each_point_are_exported(
    kind: str, tmp_path: Path
) -> None:
    torch.manual_seed(1)
    config = NetworkConfig.convolutional(kind=kind, blocks=1, filters=4)
    network = train.Network(config, 1, (2, 4), 24).eval()
    spec = pyengine.ModelSpec(planes=("observation",))
    report = train.export(network, ToyGame(Steps), spec, tmp_path / "net.onnx")
    assert report.difference < 1e-5


def test_the_actions_of_a_point_are_adjacent() -> None:
    network = train.Network(NetworkConfig.convolutional(blocks=0, filters=4), 1, (2, 4), 25).eval()
    head = network.heads.parts[0]
    with torch.no_grad():
        head.policy_out.weight.zero_()
        head.policy_out.bias.copy_(torch.tensor([1.0, 2.0, 3.0]))
        policy, _ = network(torch.randn(1, 1, 2, 4))
    assert policy[0, :24].tolist() == [1.0, 2.0, 3.0] * 8


@pytest.mark.parametrize("kind", ["convolutional", "value"])
@pytest.mark.parametrize("actions", [7, 44, 83])
def test_a_convolutional_network_needs_as_many_actions_for_each_point(
    kind: str, actions: int
) -> None:
    with pytest.raises(ConfigError, match=rf"\"{kind}.*got {actions} actions.*alphago_zero"):
        train.Network(NetworkConfig(kind=kind), 3, (6, 7), actions)


def test_a_value_network_gives_every_legal_action_the_same_prior(tmp_path: Path) -> None:
    config = NetworkConfig.convolutional(kind="value", blocks=1, filters=4)
    game = pyengine.load_game("go(board_size=5)")
    network = network_for(config, str(game))
    train.export(network, game, pyengine.ModelSpec(), tmp_path / "net.onnx")
    state = game.new_initial_state([7])
    policy, _ = pyengine.OnnxEvaluator(tmp_path / "net.onnx").evaluate([state])
    assert policy[0, state.legal_actions()] == pytest.approx(1 / 25)
    assert policy.sum() == pytest.approx(1)


def test_values_may_be_for_the_first_player(tmp_path: Path) -> None:
    game = "go(board_size=5)"
    network = network_for(NetworkConfig.convolutional(kind="value", blocks=0, filters=4), game)
    played = pyengine.load_game(game)
    states = [played.new_initial_state(), played.new_initial_state([4])]
    values = []
    for name in ("mover", "first_player"):
        path = tmp_path / f"{name}.onnx"
        report = train.export(network, game, pyengine.ModelSpec(), path, value_for=name)
        assert report.difference < 1e-5
        evaluator = pyengine.OnnxEvaluator(path)
        assert evaluator.spec is not None
        assert evaluator.spec.value_for == name
        values.append(evaluator.evaluate(states)[1])
    assert values[1] == pytest.approx(values[0] * [1, -1], abs=1e-6)


def test_the_loss_matches_the_published_formula() -> None:
    logits = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    value = torch.tensor([[0.5], [-0.5]])
    batch = {
        "policy": torch.tensor([[1.0, 0.0], [0.5, 0.5]]),
        "value": torch.tensor([1.0, -1.0]),
    }
    loss = losses([Outputs(logits, value)], [batch], LossConfig())
    log_p = np.log(np.exp(logits.numpy()) / np.exp(logits.numpy()).sum(1, keepdims=True))
    expected = -(batch["policy"].numpy() * log_p).sum(1).mean() + 0.25
    assert loss.total.item() == pytest.approx(expected, rel=1e-6)
    assert loss.policy.item() - loss.divergence.item() == pytest.approx(math.log(2) / 2)


def test_positions_of_fast_searches_are_not_policy_targets() -> None:
    logits = torch.zeros(2, 3, requires_grad=True)
    batch = {
        "policy": torch.eye(3)[:2],
        "value": torch.zeros(2),
        "full": torch.tensor([1, 0], dtype=torch.uint8),
    }
    losses([Outputs(logits, torch.zeros(2, 1))], [batch], LossConfig()).total.backward()
    assert logits.grad is not None
    assert logits.grad[0].abs().sum() > 0
    assert logits.grad[1].abs().sum() == 0


def test_the_root_value_is_mixed_into_the_target() -> None:
    batch = {
        "policy": torch.ones(1, 1),
        "value": torch.tensor([1.0]),
        "root_value": torch.tensor([0.0]),
    }
    outputs = Outputs(torch.zeros(1, 1), torch.tensor([[0.25]]))
    assert losses([outputs], [batch], LossConfig(root_value_mix=0.75)).value.item() == 0
    beyond = batch | {"root_value": torch.tensor([5.0])}
    assert value_target(beyond, LossConfig(root_value_mix=0.75)).tolist() == [1.0]


def test_outcome_shares_have_the_outcome_as_their_mean() -> None:
    value = torch.tensor([1.0, 0.0, -1.0, 0.25])
    shares = outcome_shares(value)
    assert shares[:3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert shares.sum(1).tolist() == [1, 1, 1, 1]
    assert (shares[:, 0] - shares[:, 2]).tolist() == value.tolist()


def test_only_weights_decay_with_adamw() -> None:
    network = network_for(NetworkConfig.convolutional(blocks=1, filters=4), "tic_tac_toe")
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    optimiser = optimiser_of(network, OptimiserConfig(kind="adamw", weight_decay=0.1))
    set_rate(optimiser, 0.5)
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    shrunk = {n for n, p in network.named_parameters() if p.abs().sum() < before[n].abs().sum()}
    weights = {
        f"{name}.weight"
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Conv2d | torch.nn.Linear)
    }
    assert shrunk == weights
    assert all(torch.equal(p, before[n]) for n, p in network.named_parameters() if n not in weights)


@pytest.mark.parametrize("outcomes", [[1.0, -1.0, -1.0, 1.0], [1.0, 0.0, -1.0, 0.0]])
def test_only_outcomes_train_the_draw_probability(outcomes: list[float]) -> None:
    # A root value of 0.3 does not mean a 70 % draw: only z affects the gradient of the draw logit.
    config = LossConfig(root_value_mix=0.75)
    batch = {
        "value": torch.tensor(outcomes),
        "root_value": torch.tensor([0.3, -0.2, 0.0, 5.0]),  # clipped to [-1, 1]
    }
    logits = torch.tensor([[0.5, -1.0, 0.0]] * 3 + [[4.0, -9.0, 0.0]], requires_grad=True)
    target = outcome_target(batch, logits, config)
    assert not target.requires_grad
    torch.testing.assert_close(target.sum(1), torch.ones(4))
    torch.testing.assert_close(target[:, 0] - target[:, 2], value_target(batch, config))
    (-(target * logits.log_softmax(1)).sum()).backward()
    assert logits.grad is not None
    drawn = (batch["value"] == 0).float()
    own = logits.detach().softmax(1)[:, 1]
    torch.testing.assert_close(logits.grad[:, 1], 0.25 * (own - drawn), atol=1e-4, rtol=0)


@pytest.mark.parametrize("value", ["scalar", "wdl"])
def test_an_unfinished_game_trains_the_policy_but_not_the_value(value: str) -> None:
    width = 3 if value == "wdl" else 1
    value_output = torch.full((3, width), 0.2, requires_grad=True)
    logits = torch.zeros(3, 4, requires_grad=True)
    batch = {
        "policy": torch.eye(4)[:3],
        "value": torch.tensor([1.0, 0.0, -1.0]),
        "root_value": torch.tensor([0.5, 0.0, -0.5]),
        "decided": torch.tensor([True, False, True]),
    }
    config = LossConfig(root_value_mix=0.5)
    loss = losses([Outputs(logits, value_output)], [batch], config)
    loss.total.backward()
    assert value_output.grad is not None
    assert logits.grad is not None
    assert (value_output.grad[1] == 0).all()
    assert (logits.grad != 0).any(1).all()
    others = {name: rows[[0, 2]] for name, rows in batch.items() if name != "decided"}
    alone = losses([Outputs(logits[[0, 2]], value_output[[0, 2]])], [others], config)
    torch.testing.assert_close(loss.value, alone.value)
    batch["decided"] = torch.zeros(3)
    undecided = losses([Outputs(logits, value_output)], [batch], config)
    assert undecided.value.item() == 0


def test_weight_decay_with_sgd_matches_the_published_regularisation() -> None:
    network = network_for(NetworkConfig(blocks=0, filters=2), "tic_tac_toe")
    before = [p.detach().clone() for p in network.parameters()]
    regularisation = sum(p.square().sum() for p in network.parameters() if p.ndim > 1)
    (1e-4 * regularisation).backward()
    expected = [p if p.grad is None else p - 0.1 * p.grad for p in network.parameters()]
    for parameter, value in zip(network.parameters(), before, strict=True):
        parameter.grad = torch.zeros_like(value)
    optimiser = optimiser_of(network, OptimiserConfig())
    set_rate(optimiser, 0.1)
    optimiser.step()
    for parameter, value in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter, value)
