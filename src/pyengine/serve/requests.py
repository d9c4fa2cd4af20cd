"""The bodies of requests, and errors that name a field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (  # imported only where the extra is needed
    BaseModel,
    ConfigDict,
    Field,
)

from pyengine.base.checks import short_repr

MOST_MOVES = 10_000
_MOST_SIMULATIONS = 2**32 - 1

Name: TypeAlias = Annotated[str, Field(max_length=200)]
Move: TypeAlias = Annotated[str, Field(max_length=100)]
Simulations: TypeAlias = Annotated[int, Field(ge=1, le=_MOST_SIMULATIONS)]
MessageId: TypeAlias = int | Annotated[str, Field(max_length=100)]
Algorithm: TypeAlias = Literal["puct", "uct", "gumbel"]


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Position(_Request):
    """A position: a game, its start and the moves since, all as text."""

    game: Name
    start: Annotated[str, Field(max_length=1000)] | None = None
    moves: Annotated[list[Move], Field(max_length=MOST_MOVES)] = []


class PositionRequest(_Request):
    """A request about a position."""

    position: Position


class MoveRequest(PositionRequest):
    """Choose a move, by a level or by a budget."""

    level: Annotated[int, Field(ge=1, le=100)] | None = None
    simulations: Simulations | None = None
    seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    network: Name | None = None


class SearchRequest(PositionRequest):
    """Search a position."""

    network: Name | None = None
    algorithm: Algorithm = "puct"
    simulations: Simulations | None = None


class TreeRequest(SearchRequest):
    """Search a position and return its tree."""

    nodes: Annotated[int, Field(ge=1, le=2000)] = 200


class StepsRequest(PositionRequest):
    """Show a search step by step."""

    network: Name | None = None
    algorithm: Literal["puct", "uct"] = "puct"
    simulations: Annotated[int, Field(ge=1, le=64)] | None = None


class CompareRequest(PositionRequest):
    """Search a position by several algorithms."""

    network: Name | None = None
    simulations: Annotated[int, Field(ge=1, le=100_000)] | None = None


class TreePart(_Request):
    """How much of a tree to send."""

    nodes: Annotated[int, Field(ge=1, le=2000)]


class Analyze(_Request):
    """A message on ``/api/live``: analyse a position."""

    type: Literal["analyze"]
    id: MessageId = 0
    position: Position
    network: Name | None = None
    algorithm: Algorithm = "puct"
    simulations: Simulations | None = None
    every: Annotated[float, Field(ge=0.02, le=10)] = 1 / 30
    tree: TreePart | None = None


class ReviewRequest(_Request):
    """A message on ``/api/review``: review a game."""

    type: Literal["review"]
    id: MessageId = 0
    position: Position
    simulations: Annotated[int, Field(ge=1, le=100_000)] | None = None
    network: Name | None = None


class ImportRequest(_Request):
    """A game in a file."""

    text: str
    format: Literal["sgf", "moves"] | None = None
    game: Name | None = None


class ExportRequest(PositionRequest):
    """Write a game as a file."""

    format: Literal["sgf", "moves"] = "moves"


_SHOULD = re.compile(r"^(?:Value error, )?(?:\w+ should (?:be |have )?)?")


def error_text(errors: Sequence[Any]) -> str:
    """Return the first error of pydantic as ``name: expected WHAT, got VALUE``."""
    error = errors[0]
    place = [part for part in error["loc"] if part not in ("body", "query")]
    name = ""
    for part in place:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    got = error["input"]
    if not name and isinstance(got, bytes):
        return "body: expected JSON with the content type application/json"
    name = name or "body"
    if error["type"] == "missing":
        return f"{name}: expected a value, got nothing"
    if error["type"] == "extra_forbidden":
        return f"{name}: expected no such field, got {short_repr(got)}"
    if error["type"] == "json_invalid":
        return f"body: expected JSON: {error.get('ctx', {}).get('error', '')}"
    if error["type"] == "model_attributes_type":
        return f"{name}: expected an object, got {short_repr(got)}"
    expected = _SHOULD.sub("", error["msg"]).split(" after validation")[0].split(", not ")[0]
    if isinstance(got, list | str) and error["type"].endswith("too_long"):
        return f"{name}: expected {expected}, got {len(got)}"
    return f"{name}: expected {expected}, got {short_repr(got)}"
