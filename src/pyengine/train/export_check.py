"""The comparison of an exported network with PyTorch, which precedes writing the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.files import write_durably
from pyengine.errors import EvaluationError
from pyengine.eval.evaluators import CallbackEvaluator, OnnxEvaluator
from pyengine.eval.final_board import in_shape
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State
from pyengine.train.errors import TrainingError
from pyengine.train.heads import SCORE_SCALE
from pyengine.train.json_files import writing

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
