"""Export of any PyTorch module: ONNX with its spec inside, checked against PyTorch."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.arguments import check_type, found
from pyengine.errors import ConfigError, EvaluationError
from pyengine.evaluators import CallbackEvaluator, OnnxEvaluator
from pyengine.files import path_of
from pyengine.games import Game, as_game, load_game
from pyengine.spec import METADATA_KEY, ModelSpec
from pyengine.train.errors import TrainingError
from pyengine.train.onnx_export import (
    MANIFEST_KEY,
    ExportReport,
    plain_text,
    positions_of,
    write_checked,
)
from pyengine.train.quiet import quiet_torch

__all__ = ["export_module"]

_NAMES = ("planes", "policy", "value")
_ROUNDING = 1e-4  # of a sum of probabilities


def export_module(
    module: torch.nn.Module,
    game: Game | str,
    spec: ModelSpec,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
) -> ExportReport:
    """Write any PyTorch module as ONNX, if ONNX Runtime then computes what PyTorch does.

    Args:
        module: ``forward(planes)`` takes float32 planes of the spec and returns ``(policy,
            value)``: a row of the policy has A numbers, one of the value 1 or 3, as the spec says.
            Left as it is; a copy in evaluation mode on the CPU is exported.
        game: a game or its name; on random positions of it the two are compared.
        spec: how the module reads a position, and what its outputs hold (``policy``,
            ``value_kind`` and so on); it is written into the file.
        path: the file; an older one is replaced only by one that passed.
        metadata: plain values, kept under the key ``pyengine.manifest``.

    Raises:
        ConfigError: no module, outputs of another shape or kind than the spec says.
        DataError: the file cannot be written.
        TrainingError: PyTorch cannot export the module, or there is a difference above 1e-4:
            nothing is written.

    Example:
        >>> spec = pyengine.ModelSpec(planes=("own[0]", "opp[0]"))  # doctest: +SKIP
        >>> report = export_module(net, "tic_tac_toe", spec, "net.onnx")  # doctest: +SKIP
        >>> engine = pyengine.Engine("tic_tac_toe", "net.onnx")  # doctest: +SKIP
    """
    if not isinstance(module, torch.nn.Module):
        raise ConfigError(f"module: expected a torch.nn.Module, found {found(module)}")
    check_type("spec", spec, ModelSpec, "a ModelSpec")
    target = path_of("path", path)
    manifest = None if metadata is None else plain_text(metadata)
    played = load_game(game) if isinstance(game, str) else as_game(game)
    frozen = copy.deepcopy(module).to("cpu").eval()
    states = positions_of(played)
    try:
        expected = CallbackEvaluator(_function_of(frozen), spec).evaluate(states, game=played)
    except EvaluationError as error:
        raise ConfigError(f"module: {error}") from error
    if spec.policy == "logits":
        _refuse_probabilities(frozen, states, spec)
    planes = np.stack([state.observation_tensor(spec) for state in states[:2]])
    content = _onnx(frozen, torch.from_numpy(planes), spec, manifest)

    def difference(evaluator: OnnxEvaluator) -> float:
        own = evaluator.evaluate(states, game=played)
        return float(max(np.abs(o - e).max() for o, e in zip(own, expected, strict=True)))

    return write_checked(target, content, difference, len(states))


def _refuse_probabilities(module: torch.nn.Module, states: Sequence[Any], spec: ModelSpec) -> None:
    """Refuse probabilities where the spec promises logits: the priors would be nearly equal."""
    planes = np.stack([state.observation_tensor(spec) for state in states])
    policy = np.asarray(_function_of(module)(planes)[0])
    if policy.min() >= 0 and np.abs(policy.sum(axis=1) - 1).max() < _ROUNDING:
        raise ConfigError(
            "module: expected logits, as the spec says, found a policy of probabilities "
            '(policy="probs" in the spec takes them as they are)'
        )


def _function_of(module: torch.nn.Module) -> Any:
    def evaluate(planes: np.ndarray[Any, Any]) -> tuple[Any, Any]:
        with torch.no_grad():
            answer = module(torch.from_numpy(planes))
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise ConfigError(f"expected (policy, value), found {type(answer).__name__}")
        return tuple(part.float().numpy() for part in answer)

    return evaluate


def _onnx(
    module: torch.nn.Module,
    planes: torch.Tensor,
    spec: ModelSpec,
    manifest: str | None,
) -> bytes:
    """The file's content; any number of positions fits."""
    try:
        with quiet_torch():
            program = torch.onnx.export(
                module,
                (planes,),
                input_names=list(_NAMES[:1]),
                output_names=list(_NAMES[1:]),
                dynamic_shapes=({0: torch.export.Dim("batch", min=1)},),
                dynamo=True,
                verbose=False,
            )
        assert program is not None
        model = program.model_proto
    except Exception as error:  # the exporter raises nearly anything
        cause = error.__cause__ or error
        reason = " ".join(str(cause).split()) or type(cause).__name__
        raise TrainingError(
            f"PyTorch cannot export {type(module).__name__}: {reason:.200}"
        ) from error
    told = replace(spec, input="planes", policy_output="policy", value_output="value")
    texts = {METADATA_KEY: told.to_json()}
    if manifest is not None:
        texts[MANIFEST_KEY] = manifest
    for key, text in texts.items():
        model.metadata_props.add(key=key, value=text)
    return bytes(model.SerializeToString())
