"""Export of a trained network to ONNX with an embedded spec, verified against PyTorch."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.files import path_of, temporary_beside
from pyengine.data.layout import Layout
from pyengine.data.unpack import policy_sources
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.spec import METADATA_KEY, ModelSpec, planes_shape
from pyengine.games.game import Game, State, as_game, load_game
from pyengine.train.errors import TrainingError
from pyengine.train.heads import SCORE_SCALE
from pyengine.train.json_files import writing
from pyengine.train.network import Network
from pyengine.train.onnx_writer import model_of

MANIFEST_KEY = "pyengine.manifest"  #: in the ONNX metadata: how the network was made, as JSON
TOLERANCE = 1e-4  #: maximum difference of a probability or a value from PyTorch
_POSITIONS = 64  # per game, for the comparison


@dataclass(frozen=True)
class ExportReport:
    """An exported file.

    Attributes:
        path: of the file.
        sha256: of its content, 64 hex digits.
        difference: largest difference of a probability, value or ownership from PyTorch, or of a
            score divided by 20.
        positions: number of positions compared.
    """

    path: Path
    sha256: str
    difference: float
    positions: int


def export(
    network: Network,
    games: Game | str | Sequence[Game | str],
    spec: ModelSpec,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    value_for: Literal["mover", "first_player"] = "mover",
    final_board: bool = False,
) -> ExportReport:
    """Export a network to ONNX, if ONNX Runtime's results match PyTorch's.

    A convolutional network for several games has free H and W, otherwise they are fixed.

    Args:
        network: not changed.
        games: the games it plays, for random positions on which the results are compared.
        spec: the inputs and the order of the policy, in NCHW layout. Outputs are policy logits and,
            depending on the network, a value in [-1, 1] or logits of win, draw and loss; tensors
            get the default names.
        path: the file; an existing one is replaced only if the checks pass.
        metadata: plain values, stored under the key ``pyengine.manifest``.
        value_for: the perspective of the trained value, as in :class:`ModelSpec`: ``"mover"``, as
            in a ``Dataset``, or ``"first_player"``.
        final_board: whether to export the outputs ``ownership`` [N,H,W] in [-1, 1] and ``score``
            [N] in points, both for the player to move; search results contain those of the root.

    Raises:
        ConfigError: several games for a network of one board size, a spec with another layout, or
            ``final_board`` for a network without these heads.
        DataError: the file cannot be written.
        TrainingError: a difference above 1e-4 or a non-finite number; nothing is written.

    """
    target = path_of("path", path)
    listed: Sequence[Any] = games if isinstance(games, list | tuple) else [games]
    played = [load_game(game) if isinstance(game, str) else as_game(game) for game in listed]
    boards = {planes_shape(game, spec)[1:] for game in played}
    if len(boards) > 1 and network.config.kind == "alphago_zero":
        raise ConfigError(f"games: expected one board for this network, got {sorted(boards)}")
    written = _written(spec, network, value_for, final_board=final_board)
    texts = {METADATA_KEY: written.to_json()}
    if metadata is not None:
        texts[MANIFEST_KEY] = plain_text(metadata)
    frozen = copy.deepcopy(network).to("cpu", memory_format=torch.contiguous_format).eval()
    board = boards.pop() if len(boards) == 1 else None
    content = model_of(frozen, texts, board, final_board=final_board).SerializeToString()
    return _checked(frozen, played, written, target, content)


def _written(
    spec: ModelSpec,
    network: Network,
    value_for: Literal["mover", "first_player"],
    *,
    final_board: bool,
) -> ModelSpec:
    """Return the spec of the file: inputs unchanged, outputs as in the graph."""
    heads = network.auxiliary if final_board else None
    ownership = "ownership" if heads is not None and heads.ownership is not None else None
    score = "score" if heads is not None and heads.score is not None else None
    if final_board and ownership is score is None:
        raise ConfigError(
            "final_board: expected a network that was trained with ownership_weight or score_weight"
        )
    if spec.layout != "NCHW":
        raise ConfigError(f"spec: expected planes in the layout NCHW, got {spec.layout}")
    return spec.replace(
        input=None,
        policy_output=None,
        value_output=None,
        policy="logits",
        value="scalar" if network.config.value == "scalar" else ("win", "draw", "loss"),
        value_kind=None,
        value_for=value_for,
        ownership_output=ownership,
        score_output=score,
    )


def _checked(
    network: Network, games: Sequence[Game], spec: ModelSpec, path: Path, content: bytes
) -> ExportReport:
    states = [positions_of(game) for game in games]

    def difference(evaluator: OnnxEvaluator) -> float:
        pairs = zip(games, states, strict=True)
        worst = [_difference(network, evaluator, game, some, spec) for game, some in pairs]
        return float(np.max(worst))  # NaN if any of them is NaN

    return write_checked(path, content, difference, sum(map(len, states)))


def plain_text(metadata: Mapping[str, Any]) -> str:
    """Return metadata as JSON. Raises ConfigError unless it is a table of plain values."""
    try:
        return json.dumps(dict(metadata))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"metadata: expected a table of plain values: {error}") from error


def write_checked(
    path: Path, content: bytes, difference: Callable[[OnnxEvaluator], float], positions: int
) -> ExportReport:
    """Write a model if ONNX Runtime differs from PyTorch by at most :data:`TOLERANCE`.

    Raises TrainingError if the difference is larger, DataError if the file cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = temporary_beside(path)
    try:
        with writing(path), part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        worst = difference(OnnxEvaluator(part, providers=["CPUExecutionProvider"]))
        if not worst <= TOLERANCE:
            raise TrainingError(
                f"{path.name} is not written: expected ONNX Runtime and PyTorch to agree within "
                f"{TOLERANCE:g}, got a difference of {worst:.2e}"
            )
        with writing(path):
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return ExportReport(path, hashlib.sha256(content).hexdigest(), worst, positions)


def positions_of(game: Game) -> list[State]:
    """Return positions of random games, always the same ones."""
    rng = np.random.default_rng(0)
    states: list[State] = []
    while len(states) < 4 * _POSITIONS:
        state = game.new_initial_state()
        while not state.is_terminal() and len(states) < 4 * _POSITIONS:
            states.append(state.clone())
            state.apply_action(int(rng.choice(state.legal_actions())))
    chosen = rng.permutation(len(states))[:_POSITIONS]
    return [states[int(number)] for number in chosen]


def _difference(
    network: Network,
    evaluator: OnnxEvaluator,
    game: Game,
    states: Sequence[State],
    spec: ModelSpec,
) -> float:
    """Return the largest difference of a probability or value; NaN if PyTorch returns NaN."""
    with torch.no_grad():
        planes = np.stack([state.observation_tensor(spec) for state in states])
        logits, evaluated = network(torch.from_numpy(planes))
    if not (torch.isfinite(logits).all() and torch.isfinite(evaluated).all()):
        return float("nan")
    legal = torch.zeros(logits.shape, dtype=torch.bool)
    for row, state in zip(legal, states, strict=True):
        row[state.legal_actions()] = True
    actions = policy_sources(Layout.of(game, spec), 0)  # for each entry of the network's policy
    logits = logits.masked_fill(~legal[:, actions], -torch.inf)
    expected = np.empty(logits.shape, np.float32)
    expected[:, actions] = torch.softmax(logits, 1).numpy()
    if evaluated.shape[1] == 3:
        shares = torch.softmax(evaluated, 1)
        value = (shares[:, 0] - shares[:, 2]).numpy()
    else:
        value = evaluated[:, 0].numpy()
    if spec.value_for == "first_player":
        value = value * [1.0 if state.current_player() == 0 else -1.0 for state in states]
    policy, exported_value = evaluator.evaluate(states, game=game)
    differences = [np.abs(policy - expected).max(), np.abs(exported_value - value).max()]
    if spec.final_board_outputs:
        with torch.no_grad():
            outputs = network.final_board(torch.from_numpy(planes))
        board = {name: tensor.numpy() for name, tensor in outputs.items()}
        differences += final_board_difference(evaluator, game, states, board, spec)
    return float(np.max(differences))


def final_board_difference(
    evaluator: OnnxEvaluator,
    game: Game,
    states: Sequence[State],
    expected: Mapping[str, npt.NDArray[np.float32]],
    spec: ModelSpec,
) -> list[float]:
    """Return the largest difference of an ownership, or of a score relative to its scale.

    ``expected`` is PyTorch's result: ``ownership`` [N,H,W], rows as in the planes, ``score`` [N].
    """
    if not all(np.isfinite(array).all() for array in expected.values()):
        return [float("nan")]
    ownership, score = evaluator.evaluate_final_board(states, game=game)
    differences = []
    if ownership is not None:
        rows = ownership[:, ::-1] if spec.rows == "bottom_up" else ownership
        differences.append(float(np.abs(rows - expected["ownership"]).max()))
    if score is not None:
        differences.append(float(np.abs(score - expected["score"]).max() / SCORE_SCALE))
    return differences
