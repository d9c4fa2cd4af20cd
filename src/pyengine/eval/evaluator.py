"""The base of all evaluators, and what they ask of the states that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.arguments import check_choice, check_type, short_repr
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import State, as_game

_MOST_ROWS = 4096  # of one call of an evaluator, as SearchConfig.batch_size

Floats: TypeAlias = npt.NDArray[np.float32]


class Evaluator(_core.Evaluator):
    """Base of all evaluators. An engine takes one; :meth:`evaluate` asks it directly.

    Attributes:
        spec: the :class:`ModelSpec`, or None where no planes are read.
    """

    spec: ModelSpec | None

    def __init__(self, native: _core.Evaluator, spec: ModelSpec | None = None) -> None:
        check_type("native", native, _core.Evaluator, "an evaluator of the engine")
        super().__init__(native)
        self.spec = spec
        self._bound: _core.BoundEvaluator | None = None

    def _arguments(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        """Return the class that makes an equal evaluator, and its arguments."""
        raise TypeError(f"cannot pickle {type(self).__name__}: it does not know how it was made")

    def __reduce__(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        """Pickle and copy by the arguments of the constructor.

        Raises TypeError for a class of the user's, which has to define ``__reduce__``.
        """
        made_by, arguments = self._arguments()
        if type(self) is not made_by:
            raise TypeError(
                f"cannot pickle {type(self).__name__}: a subclass of {made_by.__name__} has to "
                "define __reduce__"
            )
        return made_by, arguments

    def evaluate(
        self,
        states: Sequence[Any],
        *,
        symmetry: str = "none",
        game: Any = None,
        batch_size: int = 64,
    ) -> tuple[Floats, Floats]:
        """Evaluate states.

        Args:
            states: N states of one game: :class:`State`, or states of a user's game.
            symmetry: ``"none"``, or ``"average"`` over the board's symmetries, which evaluators
                without planes ignore.
            game: their game; needed for a user's own states that do not have ``get_game()``.
            batch_size: most rows handed over at once, 1 to 4096; results differ by rounding.

        Returns:
            ``policy`` float32[N,A], probabilities over the legal actions and 0 elsewhere, and
            ``value`` float32[N] in [-1, 1], for the player to move.

        Raises:
            ConfigError: the states or the symmetry do not fit.
            ModelError: the network does not fit the game.
            EvaluationError: the network or the callable failed, or gave a number that is not
                finite.

        """
        check_choice("symmetry", symmetry, ("none", "average"))
        check_states(states)
        if game is None and not states:
            return np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
        batch_size = integer("batch_size", batch_size, 1, _MOST_ROWS)
        bound = self._bind(as_game(game) if game is not None else game_of_state(states[0]))
        return bound.evaluate(states, symmetry == "average", batch_size)

    @property
    def has_final_board(self) -> bool:
        """Whether :meth:`evaluate_final_board` predicts anything."""
        return False

    def evaluate_final_board(
        self, states: Sequence[Any], *, game: Any = None
    ) -> tuple[Floats | None, Floats | None]:
        """Return what the network predicts of the board at the end of the game.

        It is evaluated on the CPU, apart from the batches of a search.

        Args:
            states, game: as for :meth:`evaluate`.

        Returns:
            ``ownership`` float32[N,H,W] in [-1, 1], the top row first: 1 for a point of the player
            to move, -1 for one of the opponent; and ``score`` float32[N]: the points by which that
            player will be ahead. None for what the network does not predict.

        Raises as :meth:`evaluate`.

        """
        return None, None

    def _bind(self, game: _core.Game) -> _core.BoundEvaluator:
        bound = self._bound
        if bound is None or bound.game != game:
            self._bound = bound = _core.BoundEvaluator(self, game)
        return bound

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def check_states(states: Any) -> None:
    if isinstance(states, State) or not isinstance(states, Sequence):
        raise ConfigError(f"states must be a sequence of states, got {short_repr(states)}")


def game_of_state(state: Any) -> _core.Game:
    if isinstance(state, State):
        return state.game
    if hasattr(state, "get_game"):
        return as_game(state.get_game())
    raise ConfigError(
        f"expected a State, or a user's own state with game=..., got {type(state).__name__}"
    )
