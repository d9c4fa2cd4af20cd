"""Predictions of the board at the end of the game: ownership and score."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pyengine import _core
from pyengine.base.arrays import Floats
from pyengine.errors import EvaluationError
from pyengine.eval.spec import ModelSpec

_MOST_ROWS = 64  # per call
_ROUNDING = 1e-3  # an ownership value may exceed 1 by this much

Prediction: TypeAlias = tuple[Floats | None, float | None]  # ownership [H,W] and score


class FinalBoardNetwork:
    """The ownership and score outputs of a network. Thread-safe.

    The first call opens the file again on the CPU: the session of a search may be on a busy device.
    """

    def __init__(
        self,
        path: Path,
        spec: ModelSpec,
        searched: _core.OnnxModel,
        open_on_cpu: Callable[[], _core.OnnxModel],
    ) -> None:
        """Raise ModelError if the spec names an output that the model lacks; open nothing yet."""
        self.outputs = spec.final_board_outputs
        self._path, self._spec = path, spec
        self._searched, self._open_on_cpu = searched, open_on_cpu
        self._lock = threading.Lock()
        self._model: _core.OnnxModel | None = None
        if self.outputs:
            no_rows = np.zeros((0, 1, 1, 1), np.float32)
            searched.run(no_rows, spec.input or "", list(self.outputs))

    def evaluate(
        self, states: Sequence[Any], game: _core.Game
    ) -> tuple[Floats | None, Floats | None]:
        """Return ownership [N,H,W] and score [N]; None for an output that the network lacks."""
        spec, rows = self._spec, len(states)
        outputs = self._run(states, game)
        ownership = score = None
        if (name := spec.ownership_output) is not None:
            ownership = self._checked(name, outputs.get(name), (rows, *game.board_shape))
            beyond = ownership[np.abs(ownership) > 1 + _ROUNDING]  # such as a value before tanh
            if beyond.size:
                raise EvaluationError(f"output {name!r} must be in [-1, 1], got {beyond[0]:g}")
            ownership = ownership[:, ::-1].copy() if spec.rows == "bottom_up" else ownership
        if (name := spec.score_output) is not None:
            score = self._checked(name, outputs.get(name), (rows,))
        return ownership, score

    def _run(self, states: Sequence[Any], game: _core.Game) -> dict[str, Floats]:
        """Return the outputs by name; none without states."""
        batches = []
        for start in range(0, len(states), _MOST_ROWS):
            planes = _core.planes_of(states[start : start + _MOST_ROWS], self._spec, game)
            batches.append(self._opened().run(planes, self._spec.input or "", list(self.outputs)))
        columns = zip(*batches, strict=True)
        return {n: np.concatenate(parts) for n, parts in zip(self.outputs, columns, strict=False)}

    def _opened(self) -> _core.OnnxModel:
        with self._lock:
            if self._model is None:
                self._check_unchanged()
                model = self._open_on_cpu()
                self._check_unchanged()  # the file may have changed while it was opened
                self._model = model
            return self._model

    def _check_unchanged(self) -> None:
        if not self._searched.unchanged():
            raise EvaluationError(
                f"the model {self._path} has changed since it was opened; open it again"
            )

    def _checked(self, name: str, array: Floats | None, shape: tuple[int, ...]) -> Floats:
        """Return a finite output in a shape; zeros without states."""
        if array is None:
            return np.zeros(shape, np.float32)
        if not np.isfinite(array).all():
            raise EvaluationError(f"output {name!r} must be finite")
        reshaped = in_shape(array, shape)
        if reshaped is None:
            raise EvaluationError(
                f"the model {self._path}: expected a final board of shape {list(shape)}, "
                f"got {list(array.shape)}"
            )
        return reshaped


def in_shape(array: Floats, shape: tuple[int, ...]) -> Floats | None:
    """Return an output [N,...] in a shape, or None if its rows have another shape.

    A row may be flat, the board's rows one after another; axes of size 1 do not count.
    """
    row = tuple(size for size in array.shape[1:] if size > 1)
    expected = tuple(size for size in shape[1:] if size > 1)
    if array.shape[:1] != shape[:1] or row not in (expected, (int(np.prod(expected)),)):
        return None
    return array.reshape(shape)


class FinalBoard:
    """A prediction for a searched state, made when first read. Pickles without the network."""

    def __init__(self, predict: Callable[[], Prediction]) -> None:
        self._predict: Callable[[], Prediction] | None = predict
        self._prediction: Prediction = (None, None)
        self._lock = threading.Lock()

    def prediction(self) -> Prediction:
        """Return ownership [H,W] and score, for the player to move. Raises EvaluationError."""
        with self._lock:
            if self._predict is not None:
                self._prediction = self._predict()
                self._predict = None  # releases the network
            return self._prediction

    def __reduce__(self) -> Any:
        """Pickle the prediction, or the reason why it failed."""
        try:
            return _predicted, self.prediction()
        except EvaluationError as error:
            return _failed, (str(error),)


def final_board_of(evaluator: Any, state: Any, game: _core.Game) -> FinalBoard:
    """Return what an evaluator will predict for a state."""

    def predict() -> Prediction:
        ownership, score = evaluator.evaluate_final_board([state], game=game)
        return (
            None if ownership is None else ownership[0],
            None if score is None else float(score[0]),
        )

    return FinalBoard(predict)


def _predicted(ownership: Floats | None, score: float | None) -> FinalBoard:
    return FinalBoard(lambda: (ownership, score))


def _failed(reason: str) -> FinalBoard:
    def predict() -> Prediction:
        raise EvaluationError(reason)

    return FinalBoard(predict)
