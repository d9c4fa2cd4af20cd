"""The base class of all evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyengine import _core
from pyengine.base.arrays import Floats
from pyengine.base.checks import check_choice, check_type, integer, short_repr
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import State, as_game, game_for

_MOST_ROWS = 4096  # as SearchConfig.batch_size


class Evaluator(_core.Evaluator):
    """Base class of all evaluators.

    Attributes:
        spec: how positions become planes; None for evaluators that read no planes.
    """

    spec: ModelSpec | None

    def __init__(self, native: _core.Evaluator, spec: ModelSpec | None = None) -> None:
        check_type("native", native, _core.Evaluator, "an evaluator of the engine")
        super().__init__(native)
        self.spec = spec
        self._made_by: tuple[type[Evaluator], tuple[Any, ...]] | None = None
        self._bound: _core.BoundEvaluator | None = None

    def __reduce__(self) -> tuple[type[Evaluator], tuple[Any, ...]]:
        """Pickle and copy by the constructor's arguments; subclasses define ``__reduce__``."""
        if self._made_by is None or type(self) is not self._made_by[0]:
            parent = type(self).__mro__[1].__name__
            raise TypeError(
                f"cannot pickle {type(self).__name__}: a subclass of {parent} must define "
                "__reduce__"
            )
        return self._made_by

    def evaluate(
        self,
        states: Sequence[Any],
        *,
        symmetry: str = "none",
        game: Any = None,
        batch_size: int = 64,
    ) -> tuple[Floats, Floats]:
        """Evaluate N states of one game.

        Args:
            states: :class:`State` objects, or states of a user's game.
            symmetry: ``"none"``, or ``"average"`` over the board's symmetries; evaluators without
                planes ignore it.
            game: the game; required if a user's states have neither ``game`` nor ``get_game()``.
            batch_size: maximum number of rows per call, 1 to 4096; results differ by rounding.

        Returns:
            ``policy`` float32[N,A], probabilities over the legal actions and 0 elsewhere, and
            ``value`` float32[N] in [-1, 1], for the player to move.

        Raises:
            ConfigError: the states or the symmetry are invalid.
            ModelError: the network does not fit the game.
            EvaluationError: the network or function failed or returned a non-finite number.

        """
        check_choice("symmetry", symmetry, ("none", "average"))
        batch_size = integer("batch_size", batch_size, 1, _MOST_ROWS)
        native_game = game_of_states(states, game, "evaluate")
        if native_game is None:
            return np.zeros((0, 0), np.float32), np.zeros(0, np.float32)
        return self._bind(native_game).evaluate(states, symmetry == "average", batch_size)

    @property
    def has_final_board(self) -> bool:
        """Whether :meth:`evaluate_final_board` predicts anything."""
        return False

    def evaluate_final_board(
        self, states: Sequence[Any], *, game: Any = None
    ) -> tuple[Floats | None, Floats | None]:
        """Predict the board at the end of the game.

        Runs on the CPU, apart from the batches of a search. Arguments and errors are those of
        :meth:`evaluate`.

        Returns:
            ``ownership`` float32[N,H,W] in [-1, 1], top row first: 1 for a point of the player to
            move, -1 for the opponent's; and ``score`` float32[N], the points by which the player
            to move will be ahead. None if the network does not predict it.

        """
        return None, None

    def _bind(self, game: _core.Game) -> _core.BoundEvaluator:
        bound = self._bound
        if bound is None or bound.game != game:
            self._bound = bound = _core.BoundEvaluator(self, game)
        return bound

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def game_of_states(states: Sequence[Any], game: Any, caller: str) -> _core.Game | None:
    """Return the game of some states, or None if there are no states and no game."""
    if isinstance(states, State) or not isinstance(states, Sequence):
        raise ConfigError(f"states must be a sequence of states, got {short_repr(states)}")
    if not states:
        return None if game is None else as_game(game)
    return as_game(game_for(states[0], game, caller))
