"""Pictures of a result's board: a number on the point of each move, or the owners of points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from pyengine.base.checks import check_choice
from pyengine.errors import ConfigError
from pyengine.games.notebook import board_picture, points_with
from pyengine.show.board import Point
from pyengine.show.picture import Mark, share_marks

if TYPE_CHECKING:
    from pyengine.search.result import SearchResult

Heat: TypeAlias = Literal["visits", "prior", "q", "ownership"]
_KINDS: tuple[Heat, ...] = ("visits", "prior", "q", "ownership")


def result_svg(result: SearchResult, heat: Heat | None) -> str:
    """Return the board of a result; see :meth:`SearchResult.to_svg`."""
    if heat is not None:
        check_choice("heat", heat, _KINDS)
    if heat == "ownership":
        return board_picture(result.state, owners=_owners(result))
    return board_picture(result.state, _marks(result, heat), result.action)


def _marks(result: SearchResult, heat: Heat | None) -> list[Mark]:
    if not getattr(getattr(result.state, "game", None), "has_board", False):
        return []  # board_picture() refuses the state
    actions = result.actions.tolist()
    if heat == "visits":
        return share_marks(points_with(result.state, enumerate(result.policy.tolist())))
    if heat == "prior":
        priors = zip(actions, result.priors.tolist(), strict=True)
        return share_marks(points_with(result.state, priors))
    if heat == "q":
        seen = result.visits > 0
        values = zip(result.actions[seen].tolist(), result.q[seen].tolist(), strict=True)
        return [
            Mark(
                point=point,
                text=f"{q:+.2f}".replace("0.", "."),
                strength=min(abs(q), 1.0),
                good=q >= 0,
            )
            for point, q in points_with(result.state, values)
        ]
    return []


def _owners(result: SearchResult) -> Sequence[Sequence[float]]:
    """Return the owners of the points: 1 = the first player's."""
    if result.ownership is None:
        raise ConfigError('heat: expected a network that predicts ownership for "ownership"')
    sign = 1 if result.state.current_player() == 0 else -1
    return [[sign * value for value in row] for row in result.ownership.tolist()]
