"""Export of a trained network to ONNX with an embedded spec, verified against PyTorch."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.files import path_of, write_durably
from pyengine.errors import ConfigError, EvaluationError
from pyengine.eval.evaluators import CallbackEvaluator, OnnxEvaluator
from pyengine.eval.final_board import in_shape
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

Floats: TypeAlias = npt.NDArray[np.float32]
#: From planes [N,C,H,W] to arrays: policy, value and the spec's ``final_board_outputs``.
OutputsOf: TypeAlias = Callable[[Floats], Any]


@dataclass(frozen=True)
class ExportReport:
    """An exported file and the SHA-256 of its content, as hex digits.

    ``difference`` is the largest difference of a probability, value or ownership from PyTorch, or
    of a score divided by 20, in the ``positions`` compared.
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
    texts = metadata_of(written, metadata)
    frozen = copy.deepcopy(network).to("cpu", memory_format=torch.contiguous_format).eval()
    board = boards.pop() if len(boards) == 1 else None
    content = model_of(frozen, texts, board, final_board=final_board).SerializeToString()

    def outputs_of(planes: Floats) -> list[Floats]:
        with torch.no_grad():
            x = torch.from_numpy(planes)
            last = frozen.final_board(x) if final_board else {}
            return [tensor.numpy() for tensor in (*frozen(x), *last.values())]

    try:
        return write_checked(
            target, content, [Reference.of(game, written, outputs_of) for game in played]
        )
    except EvaluationError as error:
        raise TrainingError(f"{target.name} is not written: {error}") from error


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


def metadata_of(spec: ModelSpec, metadata: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the file's metadata. Raises ConfigError unless ``metadata`` has only plain values."""
    texts = {METADATA_KEY: spec.to_json()}
    if metadata is not None:
        try:
            texts[MANIFEST_KEY] = json.dumps(dict(metadata))
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"metadata: expected a table of plain values: {error}") from error
    return texts


@dataclass(frozen=True)
class Reference:
    """PyTorch's results for positions of a game."""

    game: Game
    states: Sequence[State]
    evaluated: tuple[Any, Any]  #: priors [N,A] and values [N], as a search receives them
    final_board: Mapping[str, Floats]  #: ``ownership`` [N,H,W], first row on top; ``score`` [N]

    @classmethod
    def of(cls, game: Game, spec: ModelSpec, outputs_of: OutputsOf) -> Self:
        """Evaluate random positions. Raises EvaluationError if the outputs do not fit the spec."""
        states = positions_of(game)
        evaluator = CallbackEvaluator(lambda x: outputs_of(x)[:2], spec.without_final_board())
        evaluated = evaluator.evaluate(states, game=game)
        final_board = {}
        if spec.final_board_outputs:
            outputs = outputs_of(np.stack([state.observation_tensor(spec) for state in states]))[2:]
            for name, array in zip(spec.final_board_outputs, outputs, strict=True):
                final_board[name] = _on_the_board(name, array, len(states), game, spec)
        return cls(game, states, evaluated, final_board)

    def difference(self, exported: OnnxEvaluator) -> float:
        """Return the largest difference of a probability, value, ownership or scaled score."""
        pairs = list(
            zip(exported.evaluate(self.states, game=self.game), self.evaluated, strict=True)
        )
        if self.final_board:
            ownership, score = exported.evaluate_final_board(self.states, game=self.game)
            if ownership is not None:
                pairs.append((ownership, self.final_board["ownership"]))
            if score is not None:
                pairs.append((score / SCORE_SCALE, self.final_board["score"] / SCORE_SCALE))
        return float(np.max([np.abs(first - second).max() for first, second in pairs]))


def _on_the_board(name: str, array: Floats, rows: int, game: Game, spec: ModelSpec) -> Floats:
    """Return ownership [N,H,W], first row on top, or score [N]."""
    shape = (rows, *game.board_shape) if name == "ownership" else (rows,)
    shaped = in_shape(array, shape)
    if shaped is None:
        raise EvaluationError(
            f"expected {name} as numbers of shape {list(shape)}, got {list(array.shape)}"
        )
    is_flipped = name == "ownership" and spec.rows == "bottom_up"
    return shaped[:, ::-1] if is_flipped else shaped


def write_checked(path: Path, content: bytes, references: Sequence[Reference]) -> ExportReport:
    """Write a model if ONNX Runtime differs from PyTorch by at most :data:`TOLERANCE`.

    Raises TrainingError if the difference is larger, EvaluationError if a result of ONNX Runtime is
    invalid, DataError if the file cannot be written.
    """
    with writing(path), TemporaryDirectory() as folder:
        file = Path(folder) / path.name
        file.write_bytes(content)
        exported = OnnxEvaluator(file, providers=["CPUExecutionProvider"])
        worst = float(np.max([reference.difference(exported) for reference in references]))
    if not worst <= TOLERANCE:
        raise TrainingError(
            f"{path.name} is not written: expected ONNX Runtime and PyTorch to agree within "
            f"{TOLERANCE:g}, got a difference of {worst:.2e}"
        )
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _, sha256 = write_durably(path, [content])
    return ExportReport(path, sha256, worst, sum(len(reference.states) for reference in references))


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
