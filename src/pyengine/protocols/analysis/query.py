"""Queries of the analysis protocol: their fields, and errors that name a field."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (  # noqa: TID253  # this room is imported only where the extra is needed
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic.alias_generators import to_camel  # noqa: TID253

from pyengine.errors import ConfigError, EngineError
from pyengine.protocols.rules import Rules, rules_from_parts, rules_named

LONGEST_ID = 4096  # characters
_MOST_MOVES = 10_000
_MOST_PRIORITY = 2**62
_MOST_WARNINGS = 20  # of unknown fields
_IGNORED_FIELDS = (
    "rootPolicyTemperature",
    "rootFpuReductionMax",
    "includeOwnershipStdev",
    "includeMovesOwnershipStdev",
    "includeNoResultValue",
)
_PLAYERS = {"b": 0, "black": 0, "w": 1, "white": 1}


class QueryError(EngineError):
    """A field of a query is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _player(value: Any) -> int:
    player = _PLAYERS.get(value.lower()) if isinstance(value, str) else None
    if player is None:
        raise ValueError('must be "B" or "W"')
    return player


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


Player: TypeAlias = Annotated[int, BeforeValidator(_player)]
Point: TypeAlias = Annotated[str, Field(max_length=20)]
PlayedPoint: TypeAlias = Annotated[tuple[Player, Point], Field(strict=False)]
Priority: TypeAlias = Annotated[int, Field(ge=-_MOST_PRIORITY, le=_MOST_PRIORITY)]
Side: TypeAlias = Annotated[int, Field(ge=2, le=19)]
Visits: TypeAlias = Annotated[int, Field(ge=1, le=2**50)]
ReportSeconds: TypeAlias = Annotated[float, Field(ge=0.001, le=1e6)]
Moves: TypeAlias = Annotated[list[PlayedPoint], Field(max_length=_MOST_MOVES)]


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, strict=True, extra="allow", allow_inf_nan=False, alias_generator=to_camel
    )


class Restriction(_Part):
    """An entry of ``avoidMoves`` or ``allowMoves``."""

    player: Player
    moves: Annotated[list[Point], Field(max_length=1000)]
    until_depth: Annotated[int, Field(ge=1)]


class Settings(_Part):
    """The entries of ``overrideSettings`` that have an effect; they may be strings."""

    model_config = ConfigDict(strict=False)

    report_analysis_winrates_as: Annotated[
        Literal["BLACK", "WHITE", "SIDETOMOVE"], BeforeValidator(_upper)
    ] = "BLACK"
    wide_root_noise: Annotated[float, Field(ge=0, le=5)] = 0.0
    max_time: Annotated[float, Field(gt=0, le=1e9)] | None = None
    max_visits: Visits | None = None
    max_playouts: Visits | None = None


class Query(_Part):
    """A request to analyse positions of a game of Go."""

    id: Annotated[str, Field(max_length=LONGEST_ID)]
    moves: Moves
    rules: str | dict[str, Any]
    board_x_size: Side
    board_y_size: Side
    initial_stones: Annotated[list[PlayedPoint], Field(max_length=361)] = []
    initial_player: Player | None = None
    komi: Annotated[float, Field(ge=-150, le=150, multiple_of=0.5)] | None = None
    white_handicap_bonus: Literal["0", "N", "N-1", 0] | None = None
    analyze_turns: Annotated[list[int], Field(max_length=_MOST_MOVES)] | None = None
    max_visits: Visits | None = None
    analysis_pv_len: Annotated[int, Field(ge=1, le=1000, alias="analysisPVLen")] = 15
    include_ownership: bool = False
    include_moves_ownership: bool = False
    include_policy: bool = False
    include_pv_visits: Annotated[bool, Field(alias="includePVVisits")] = False
    avoid_moves: Annotated[list[Restriction], Field(max_length=100)] = []
    allow_moves: Annotated[list[Restriction], Field(max_length=1)] = []
    override_settings: Settings = Settings()
    report_during_search_every: ReportSeconds | None = None
    first_report_during_search_after: ReportSeconds | None = None
    priority: Priority = 0
    priorities: list[Priority] | None = None

    def turns(self) -> dict[int, int]:
        """Return the priority of each turn to analyse."""
        if self.analyze_turns is None:
            return {len(self.moves): self.priority}
        priorities = self.priorities or [self.priority] * len(self.analyze_turns)
        return dict(zip(self.analyze_turns, priorities, strict=True))

    def rule_set(self) -> Rules:
        """Return the rules, with the query's own handicap bonus."""
        try:
            named = isinstance(self.rules, str)
            rules = rules_named(self.rules) if named else rules_from_parts(self.rules)  # type: ignore[arg-type]
        except ConfigError as error:
            raise QueryError("rules", f"Could not parse rules: {error}") from error
        if self.white_handicap_bonus is None:
            return rules
        return Rules(**{**vars(rules), "bonus": str(self.white_handicap_bonus)})

    def warnings(self) -> dict[str, str]:
        """Return what the engine does not do as requested, by field; forget unknown fields."""
        unused = self.model_extra or {}
        ignored = {
            field: "not supported: ignored" if field in _IGNORED_FIELDS else "unknown field"
            for field, value in itertools.islice(unused.items(), _MOST_WARNINGS)
            if value is not False
        }
        settings = self.override_settings.model_extra or {}
        if settings:
            ignored["overrideSettings"] = "Unknown config params: " + ",".join(settings)
        unused.clear()
        settings.clear()
        for field, entries in (("avoidMoves", self.avoid_moves), ("allowMoves", self.allow_moves)):
            if any(entry.until_depth > 1 for entry in entries):
                ignored[field] = "untilDepth above 1 is not supported: acts on the first move only"
        if warning := self.rule_set().warning:
            ignored["rules"] = warning
        return {field[:100]: text[:1000] for field, text in ignored.items()}


def parse_query(fields: Mapping[str, Any]) -> Query:
    """Check the fields of a query; null means not given. Raises QueryError."""
    try:
        query = Query.model_validate({k: v for k, v in fields.items() if v is not None})
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        field, *inner = detail["loc"] or ("id",)
        place = "".join(f"[{part}]" for part in inner if isinstance(part, int))
        message = detail["msg"].removeprefix("Value error, ")
        raise QueryError(str(field), f"{field}{place}: {message}") from error
    _check(query, fields)
    return query


def _check(query: Query, fields: Mapping[str, Any]) -> None:
    """Raise QueryError if fields contradict each other."""
    for turn in query.analyze_turns or ():
        if not 0 <= turn <= len(query.moves):
            raise QueryError("analyzeTurns", f"Invalid turn number: {turn}")
    if query.priorities is not None:
        if "priority" in fields:
            raise QueryError("priority", "Cannot specify both priority and priorities")
        if len(query.priorities) != len(query.analyze_turns or ()):
            raise QueryError("priorities", "Must be of matching length to analyzeTurns")
    if query.avoid_moves and query.allow_moves:
        raise QueryError("allowMoves", "Cannot specify both allowMoves and avoidMoves")
    query.rule_set()
