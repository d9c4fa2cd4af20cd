"""Export of any PyTorch module to ONNX with an embedded spec, verified against PyTorch."""

from __future__ import annotations

import copy
import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import numpy.typing as npt
import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.base.checks import repr_with_type
from pyengine.base.files import path_of
from pyengine.errors import ConfigError, EvaluationError
from pyengine.eval.evaluators import CallbackEvaluator, OnnxEvaluator
from pyengine.eval.final_board import in_shape
from pyengine.eval.spec import METADATA_KEY, ModelSpec
from pyengine.games.game import Game, as_game, load_game
from pyengine.train.errors import TrainingError
from pyengine.train.onnx_export import (
    MANIFEST_KEY,
    ExportReport,
    final_board_difference,
    plain_text,
    positions_of,
    write_checked,
)

_INPUT, _POLICY, _VALUE, _OWNERSHIP, _SCORE = "planes", "policy", "value", "ownership", "score"
_ROUNDING = 1e-4  # for a sum of probabilities and an ownership of 1

_Array = npt.NDArray[np.float32]


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
    manifest = None if metadata is None else plain_text(metadata)
    played = load_game(game) if isinstance(game, str) else as_game(game)
    frozen = copy.deepcopy(module).to("cpu").eval()
    states = positions_of(played)
    written = _named(spec)
    plain = _function_of(frozen, written)
    try:
        evaluator = CallbackEvaluator(lambda planes: plain(planes)[:2], spec.without_final_board())
        expected = evaluator.evaluate(states, game=played)
    except EvaluationError as error:
        raise ConfigError(f"module: {error}") from error
    planes = np.stack([state.observation_tensor(spec) for state in states])
    outputs = plain(planes)
    if spec.policy != "probs":
        _refuse_probabilities(outputs[0], spec.policy)
    board = _final_board(outputs, written, played)
    content = _onnx(frozen, torch.from_numpy(planes[:2]), written, manifest)

    def difference(evaluator: OnnxEvaluator) -> float:
        pairs = zip(evaluator.evaluate(states, game=played), expected, strict=True)
        differences = [float(np.abs(exported - own).max()) for exported, own in pairs]
        if board:
            differences += final_board_difference(evaluator, played, states, board, written)
        return float(np.max(differences))  # NaN if one of them is

    return write_checked(target, content, difference, len(states))


def _named(spec: ModelSpec) -> ModelSpec:
    """Return the spec with the tensor names of the file."""
    return spec.replace(
        input=_INPUT,
        policy_output=_POLICY,
        value_output=_VALUE,
        ownership_output=spec.ownership_output and _OWNERSHIP,
        score_output=spec.score_output and _SCORE,
    )


def _outputs(written: ModelSpec) -> tuple[str, ...]:
    return (_POLICY, _VALUE, *written.final_board_outputs)


def _final_board(outputs: tuple[_Array, ...], written: ModelSpec, game: Game) -> dict[str, _Array]:
    """Return the final-board outputs by name: ownership [N,H,W], score [N]."""
    board, rows = {}, len(outputs[0])
    for name, array in zip(written.final_board_outputs, outputs[2:], strict=True):
        shape = (rows, *game.board_shape) if name == _OWNERSHIP else (rows,)
        numbers = in_shape(array, shape)
        if numbers is None:
            raise ConfigError(
                f"module: expected {name} as numbers of shape {list(shape)}, got "
                f"{list(array.shape)}"
            )
        if not np.isfinite(numbers).all():
            raise ConfigError(f"module: {name} has numbers that are not finite")
        largest = float(np.abs(numbers).max())
        if name == _OWNERSHIP and largest > 1 + _ROUNDING:
            raise ConfigError(f"module: expected ownership in [-1, 1], got {largest:g}")
        board[name] = numbers
    return board


def _refuse_probabilities(policy: _Array, kind: str) -> None:
    """Reject probabilities if the spec says logits, because priors would be nearly uniform."""
    if policy.min() >= 0 and np.abs(policy.sum(axis=1) - 1).max() < _ROUNDING:
        raise ConfigError(
            f"module: expected {kind}, as the spec says, got a policy of probabilities "
            '(policy="probs" in the spec takes them as they are)'
        )


def _function_of(module: torch.nn.Module, written: ModelSpec) -> Callable[[_Array], Any]:
    names = _outputs(written)

    def evaluate(planes: _Array) -> tuple[_Array, ...]:
        with torch.no_grad():
            answer = module(torch.from_numpy(planes))
        if not isinstance(answer, tuple | list):
            raise ConfigError(f"expected ({', '.join(names)}), got {type(answer).__name__}")
        if len(answer) != len(names):
            raise ConfigError(f"expected ({', '.join(names)}), got {len(answer)} parts")
        return tuple(part.float().numpy() for part in answer)

    return evaluate


def _onnx(
    module: torch.nn.Module,
    planes: torch.Tensor,
    written: ModelSpec,
    manifest: str | None,
) -> bytes:
    """Return the file's content, with a free batch dimension."""
    try:
        with quiet_torch():
            program = torch.onnx.export(
                module,
                (planes,),
                input_names=[_INPUT],
                output_names=list(_outputs(written)),
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
    texts = {METADATA_KEY: written.to_json()}
    if manifest is not None:
        texts[MANIFEST_KEY] = manifest
    for key, text in texts.items():
        model.metadata_props.add(key=key, value=text)
    return bytes(model.SerializeToString())


_PACKAGES = ("torch", "onnx", "onnx_ir", "onnxscript")


@contextmanager
def quiet_torch() -> Iterator[None]:
    """Suppress PyTorch's warnings, logs below error, and printed progress.

    Its loggers are silenced only in this thread; printed output of all threads is captured.
    """
    thread = threading.get_ident()

    def passes(record: logging.LogRecord) -> bool:
        return record.thread != thread or record.levelno >= logging.ERROR

    names = [n for n in list(logging.root.manager.loggerDict) if n.split(".")[0] in _PACKAGES]
    loggers = [logging.root, *map(logging.getLogger, names)]
    handlers = {handler for logger in loggers for handler in logger.handlers}
    for handler in handlers:
        handler.addFilter(passes)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for handler in handlers:
            handler.removeFilter(passes)
