"""Export of any PyTorch module to ONNX with an embedded spec, verified against PyTorch."""

from __future__ import annotations

import copy
import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.checks import repr_with_type
from pyengine.base.files import path_of
from pyengine.errors import ConfigError, EvaluationError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, as_game, load_game
from pyengine.train.errors import TrainingError
from pyengine.train.export_check import (
    ExportReport,
    Floats,
    OutputsOf,
    Reference,
    write_checked,
)
from pyengine.train.onnx_export import metadata_of

_ROUNDING = 1e-4  # of a sum of probabilities


def export_module(
    module: torch.nn.Module,
    game: Game | str,
    spec: ModelSpec,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
) -> ExportReport:
    """Export any PyTorch module to ONNX, if ONNX Runtime's results match PyTorch's.

    Args:
        module: ``forward(planes)`` takes float32 planes of the spec and returns ``(policy,
            value)``, with A numbers per policy row and 1 or 3 per value row, according to the spec.
            If the spec has an ``ownership_output``, it returns ``(policy, value, ownership)``; with
            a ``score_output``, the score comes last. Ownership [N,H,W] is in [-1, 1], with rows as
            in the planes, score [N] or [N,1] in points; both are for the player to move, regardless
            of ``value_for``. The module is not changed: a copy in evaluation mode on the CPU is
            exported.
        game: a game or its name, for random positions on which the results are compared.
        spec: the inputs and outputs of the module; written into the file, with the tensor names
            ``planes``, ``policy``, ``value``, ``ownership`` and ``score``.
        path: the file; an existing one is replaced only if the checks pass.
        metadata: plain values, stored under the key ``pyengine.manifest``.

    Raises:
        ConfigError: not a module, or outputs of another shape or kind than in the spec.
        ModelError: the exported graph contradicts the spec, for example with a sigmoid value
            instead of tanh.
        DataError: the file cannot be written.
        TrainingError: PyTorch cannot export the module, or the difference exceeds 1e-4; nothing is
            written.

    Example:
        >>> spec = pyengine.ModelSpec(planes=("own[0]", "opp[0]"))  # doctest: +SKIP
        >>> report = export_module(net, "tic_tac_toe", spec, "net.onnx")  # doctest: +SKIP
        >>> engine = pyengine.Engine("tic_tac_toe", "net.onnx")  # doctest: +SKIP
    """
    if not isinstance(module, torch.nn.Module):
        raise ConfigError(f"module: expected a torch.nn.Module, got {repr_with_type(module)}")
    target = path_of("path", path)
    played = load_game(game) if isinstance(game, str) else as_game(game)
    written = spec.replace(
        input="planes",
        policy_output="policy",
        value_output="value",
        ownership_output=spec.ownership_output and "ownership",
        score_output=spec.score_output and "score",
    )
    texts = metadata_of(written, metadata)
    frozen = copy.deepcopy(module).to("cpu").eval()
    names = ["policy", "value", *written.final_board_outputs]
    try:
        reference = Reference.of(played, written, _function_of(frozen, names, spec.policy))
        planes = np.stack([state.observation_tensor(spec) for state in reference.states[:2]])
        content = _onnx(frozen, torch.from_numpy(planes), names, texts)
        return write_checked(target, content, [reference])
    except EvaluationError as error:
        raise ConfigError(f"module: {error}") from error


def _function_of(module: torch.nn.Module, names: Sequence[str], policy_kind: str) -> OutputsOf:
    def evaluate(planes: Floats) -> list[Floats]:
        with torch.no_grad():
            answer = module(torch.from_numpy(planes))
        if not isinstance(answer, tuple | list):
            raise ConfigError(f"expected ({', '.join(names)}), got {type(answer).__name__}")
        if len(answer) != len(names):
            raise ConfigError(f"expected ({', '.join(names)}), got {len(answer)} parts")
        outputs = [part.float().numpy() for part in answer]
        if policy_kind != "probs" and _are_probabilities(outputs[0]):
            raise ConfigError(  # priors would be nearly uniform
                f"expected {policy_kind}, as the spec says, got a policy of probabilities "
                '(policy="probs" in the spec takes them as they are)'
            )
        return outputs

    return evaluate


def _are_probabilities(policy: Floats) -> bool:
    return bool(policy.min() >= 0 and np.abs(policy.sum(axis=-1) - 1).max() < _ROUNDING)


def _onnx(
    module: torch.nn.Module, planes: torch.Tensor, names: Sequence[str], texts: Mapping[str, str]
) -> bytes:
    """Return the file's content, with a free batch dimension."""
    try:
        with _quiet():
            program = torch.onnx.export(
                module,
                (planes,),
                input_names=["planes"],
                output_names=names,
                dynamic_shapes=({0: torch.export.Dim("batch", min=1)},),
                dynamo=True,
                verbose=False,
            )
        assert program is not None
        model = program.model_proto
    except Exception as error:  # the exporter raises almost anything
        cause = error.__cause__ or error
        reason = " ".join(str(cause).split()) or type(cause).__name__
        raise TrainingError(
            f"PyTorch cannot export {type(module).__name__}: {reason:.200}"
        ) from error
    for key, text in texts.items():
        model.metadata_props.add(key=key, value=text)
    return bytes(model.SerializeToString())


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress PyTorch's warnings, logs below error, and printed progress."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
