"""Export of a trained network to ONNX with an embedded spec."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.files import path_of
from pyengine.errors import ConfigError, EvaluationError
from pyengine.eval.spec import METADATA_KEY, ModelSpec, planes_shape
from pyengine.games.game import Game, as_game, load_game
from pyengine.train.errors import TrainingError
from pyengine.train.export_check import ExportReport, Floats, Reference, write_checked
from pyengine.train.network import Network
from pyengine.train.onnx_writer import model_of

MANIFEST_KEY = "pyengine.manifest"  #: in the ONNX metadata: how the network was made, as JSON


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
