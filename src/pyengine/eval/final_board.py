"""What a network predicts of the board at the end of the game: ownership and score."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.files import unread
from pyengine.errors import EvaluationError
from pyengine.eval.onnx_files import external_files
from pyengine.eval.spec import ModelSpec

_MOST_ROWS = 64  # of one call
_ROUNDING = 1e-3  # by which an ownership may be beyond 1

Floats = npt.NDArray[np.float32]


class FinalBoardNetwork:
    """The outputs of a network that predict the last board. Any threads may use it.

    The first call opens its file once more, on the CPU: a search's session may be on a busy device.
    """

    def __init__(
        self, path: Path, spec: ModelSpec, library: Path, threads: int, searched: _core.OnnxModel
    ) -> None:
        """Raise ModelError if the spec names an output that the model lacks; open nothing yet."""
        self.outputs = spec.final_board_outputs
        self._path, self._spec, self._library, self._threads = path, spec, library, threads
        self._searched = searched
        self._lock = threading.Lock()
        self._model: _core.OnnxModel | None = None
        if self.outputs:
            no_rows = np.zeros((0, 1, 1, 1), np.float32)
            searched.run(no_rows, spec.input or "", list(self.outputs))

    def evaluate(
        self, states: Sequence[Any], game: _core.Game
    ) -> tuple[Floats | None, Floats | None]:
        """Return ownership [N,H,W] and score [N]; None for what the network does not predict."""
        spec, found = self._spec, []
        if not states:
            return (
                np.zeros((0, *game.board_shape), np.float32) if spec.ownership_output else None,
                np.zeros(0, np.float32) if spec.score_output else None,
            )
        for start in range(0, len(states), _MOST_ROWS):
            planes = _core.planes_of(states[start : start + _MOST_ROWS], spec, game)
            found.append(self._opened().run(planes, spec.input or "", list(self.outputs)))
        arrays = [np.concatenate(parts) for parts in zip(*found, strict=True)]
        by_name = dict(zip(self.outputs, arrays, strict=True))
        _require_finite(by_name)
        owned = by_name.get(spec.ownership_output or "")
        score = by_name.get(spec.score_output or "")
        if owned is not None:
            owned = self._checked(owned, len(states), game.board_shape)
            _require_ownership(spec.ownership_output, owned)
            owned = owned[:, ::-1].copy() if spec.rows == "bottom_up" else owned
        return owned, None if score is None else self._checked(score, len(states), ())

    def _opened(self) -> _core.OnnxModel:
        with self._lock:
            if self._model is None:
                self._require_unchanged()
                model = _core.open_onnx(
                    self._path,
                    library=self._library,
                    providers=[("CPUExecutionProvider", {})],
                    device_id=0,
                    max_batch=0,
                    threads=self._threads,
                    weights=external_files(self._path),
                )
                self._require_unchanged()  # what was opened is what is searched
                self._model = model
            return self._model

    def _require_unchanged(self) -> None:
        if self._searched.unchanged():
            return
        try:
            self._path.stat()
        except OSError as error:
            raise EvaluationError(
                f"{unread(self._path, error)}; the first prediction of the last board reads the "
                "network's file again"
            ) from error
        raise EvaluationError(
            f"the model {self._path} has changed since it was opened; open it again"
        )

    def _checked(self, array: Floats, rows: int, shape: tuple[int, ...]) -> Floats:
        numbers = in_shape(array, (rows, *shape))
        if numbers is None:
            raise EvaluationError(
                f"the model {self._path}: expected {[rows, *shape]} numbers of the last board, "
                f"got {list(array.shape)}"
            )
        return numbers


def in_shape(array: Floats, shape: tuple[int, ...]) -> Floats | None:
    """Return an output [N,...] in its shape, None if it has another.

    A row may be flat, the board's rows one after the other; axes of size 1 do not count.
    """
    row = tuple(size for size in array.shape[1:] if size > 1)
    expected = tuple(size for size in shape[1:] if size > 1)
    if array.shape[:1] != shape[:1] or row not in (expected, (int(np.prod(expected)),)):
        return None
    return array.reshape(shape)


def _require_finite(arrays: dict[str, Floats]) -> None:
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise EvaluationError(f"expected finite numbers of {name!r}, got others")


def _require_ownership(name: str | None, owned: Floats) -> None:
    """Refuse numbers that are no ownership, such as those before tanh."""
    beyond = owned[np.abs(owned) > 1 + _ROUNDING]
    if beyond.size:
        raise EvaluationError(f"expected numbers in [-1, 1] of {name!r}, got {beyond[0]:g}")


class FinalBoard:
    """An evaluator's prediction for a searched state, made when it is first read; it pickles."""

    def __init__(self, evaluator: Any, state: Any, game: _core.Game) -> None:
        self._asked: tuple[Any, Any, _core.Game] | None = (evaluator, state, game)
        self._said: tuple[Floats | None, float | None] = (None, None)
        self._failed: str | None = None  # why there was no prediction to pickle
        self._lock = threading.Lock()

    def said(self) -> tuple[Floats | None, float | None]:
        """Return ownership [H,W] and score, for the player to move. Raises EvaluationError."""
        with self._lock:
            if self._failed is not None:
                raise EvaluationError(self._failed)
            if self._asked is not None:
                evaluator, state, game = self._asked
                owned, score = evaluator.evaluate_final_board([state], game=game)
                self._said = (
                    None if owned is None else owned[0],
                    None if score is None else float(score[0]),
                )
                self._asked = None  # the network may go
            return self._said

    def __reduce__(self) -> Any:
        """Pickle the prediction, not the network; or why there is none."""
        try:
            return _answered, (*self.said(), None)
        except EvaluationError as error:
            return _answered, (None, None, str(error))


def _answered(owned: Floats | None, score: float | None, failed: str | None = None) -> FinalBoard:
    found = FinalBoard(None, None, None)  # type: ignore[arg-type]
    found._asked, found._said, found._failed = None, (owned, score), failed
    return found
