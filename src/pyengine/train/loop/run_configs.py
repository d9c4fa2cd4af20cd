"""The settings of a run beside those of the learner: game, window, gate, self-play, limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pyengine.config import SearchConfig
from pyengine.errors import ConfigError
from pyengine.games import Game
from pyengine.self_play import SelfPlayConfig
from pyengine.train.section import (
    MOST_SEED,
    Section,
    choice,
    flag,
    integer,
    number,
    numbers,
    strings,
    table,
    text,
)

__all__ = [
    "DistributedConfig",
    "GameConfig",
    "GateConfig",
    "RunConfig",
    "SelfplaySection",
    "WindowConfig",
]


@dataclass(frozen=True, kw_only=True)
class GameConfig(Section):
    """What is played, and what a network sees of it."""

    section: ClassVar[str] = "game"

    name: tuple[str, ...] = strings(())  #: one game in its text form, or several
    weights: tuple[float, ...] = numbers(())  #: shares of the positions; none: equal
    planes: tuple[str, ...] = strings(("own[0]", "opp[0]", "first_to_move", "ones"))

    def __post_init__(self) -> None:
        """Take a single game for a list of one."""
        if isinstance(self.name, str):
            object.__setattr__(self, "name", (self.name,))
        super().__post_init__()
        if not self.name:
            self.refuse("name", "a game, or several", list(self.name))
        if self.weights and len(self.weights) != len(self.name):
            self.refuse("weights", f"{len(self.name)}, one a game", list(self.weights))

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights, each 1 where none are given."""
        return self.weights or (1.0,) * len(self.name)


@dataclass(frozen=True, kw_only=True)
class WindowConfig(Section):
    """Which positions the learner draws from, and how fast it may go.

    The growing window holds ``start (1 + slope ((n / start)^exponent - 1) / exponent)`` of n
    positions, all of them at first [KataGo: start 250,000, slope 0.4, exponent 0.75].
    """

    section: ClassVar[str] = "window"

    kind: str = choice("growing", "growing", "games")
    games: int = integer(500_000, 1)  #: of "games": the newest [AlphaGo Zero]
    start: int = integer(20_000, 1)  #: positions
    slope: float = number(0.4, 0.0, 1.0)
    exponent: float = number(0.75, 0.0, 1.0, above=True)
    minimum_positions: int = integer(2_000, 1)  #: before the first step
    samples_per_position: float = number(4.0, above=True)  #: how often each is learnt, about
    full_only: bool = flag(True)  #: positions of fast searches are left out


@dataclass(frozen=True, kw_only=True)
class GateConfig(Section):
    """How a candidate is judged. Colours alternate; each opening is played by both.

    In "latest" mode a candidate plays the network before it and the one ``against`` generations
    back, about half of the games each: long strides, of which fewer errors add up, on chains that
    are joined everywhere.
    """

    section: ClassVar[str] = "gate"

    mode: str = choice("gate", "gate", "latest")  #: "latest": every candidate is taken
    every_steps: int = integer(1000, 1)  #: between two candidates [AlphaGo Zero]
    games: int = integer(200, 0)  #: AlphaGo Zero: 400; 0, with "latest": none
    simulations: int = integer(100, 1)  #: a move; AlphaGo Zero: 1600
    method: str = choice("score", "score", "sprt")
    threshold: float = number(0.55, 0.0, 1.0)  #: of "score", to be exceeded [AlphaGo Zero]
    elo0: float = number(0.0, -1e4, 1e4)  #: of "sprt": see Sprt
    elo1: float = number(35.0, -1e4, 1e4)  #: of "sprt", > elo0; 35 Elo are a score of 55 %
    against: int = integer(1, 1)  #: of "latest": generations to the second one that it plays
    plies: int = integer(4)  #: random moves at the start; fewer where the game has too few such
    threads: int = integer(1)  #: workers of each side; 0: all cores
    batch_size: int = integer(16, 1)
    keep_rejected: bool = flag(False)  #: their files
    search: Mapping[str, Any] = table()  #: further settings of both sides' search

    def __post_init__(self) -> None:
        """Check the search's settings, too."""
        if isinstance(self.search, Mapping):
            object.__setattr__(self, "search", nothing_of(SearchConfig, self.search))
        super().__post_init__()
        if self.games == 0 and self.mode == "gate":
            self.refuse("games", 'an int of at least 1 for mode = "gate"', 0)
        if self.method == "sprt" and self.elo0 >= self.elo1:
            self.refuse("elo1", f"a number above elo0, which is {self.elo0:g}", self.elo1)
        self.search_config()

    def search_config(self) -> SearchConfig:
        """Return the settings of both sides' search."""
        own = SearchConfig(
            simulations=self.simulations,
            threads=self.threads,
            batch_size=self.batch_size,
            in_flight=1,  # many games fill the batch
            reuse_tree=False,
        )
        try:
            return own.replace(**self.search)
        except (ConfigError, TypeError) as error:
            raise ConfigError(f"gate.search.{error}") from error


def nothing_of(kind: type, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table with None for "none", which TOML lacks, where a field may be None."""
    optional = {f.name for f in dataclasses.fields(kind) if "None" in str(f.type)}
    return {k: None if k in optional and v == "none" else v for k, v in table.items()}


_PRESETS: dict[str, Callable[[Game], SelfPlayConfig]] = {
    "fast": SelfPlayConfig.fast,
    "alphago_zero": SelfPlayConfig.alphago_zero,
}


@dataclass(frozen=True, kw_only=True)
class SelfplaySection(Section):
    """Self-play: what the loop needs, and the fields of a SelfPlayConfig as ``settings``."""

    section: ClassVar[str] = "selfplay"

    first: str = choice("random", "random", "uniform", "rollout")  #: who plays the first games
    preset: str = choice("fast", "fast", "alphago_zero", "none")  #: of the SelfPlayConfig
    settings: Mapping[str, Any] = table()  #: fields of a SelfPlayConfig that differ
    search: Mapping[str, Any] = table()  #: fields of its SearchConfig that differ

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> SelfplaySection:
        """Return the section; names that are not its own are a SelfPlayConfig's."""
        own = {field.name for field in dataclasses.fields(cls)} - {"settings"}
        mine = {name: value for name, value in table.items() if name in own}
        others = {name: value for name, value in table.items() if name not in own}
        given = others.pop("settings", {})
        if not isinstance(given, Mapping):
            cls.refuse("settings", "a table", given)
        settings = {**given, **others}
        settings = nothing_of(SelfPlayConfig, settings)
        if isinstance(mine.get("search"), Mapping):
            mine["search"] = nothing_of(SearchConfig, mine["search"])
        return cls(**mine, settings=settings)

    def config(self, game: Game, seed: int) -> SelfPlayConfig:
        """Return the settings of a game's self-play; an error names ``selfplay.field``."""
        preset = SelfPlayConfig() if self.preset == "none" else _PRESETS[self.preset](game)
        for name, instead in (
            ("dirichlet_fraction", "selfplay.noise = false"),
            ("temperature", "selfplay.temperature_moves = 0"),
        ):
            if self.search.get(name) == 0:  # a SelfPlayConfig takes it for one left out
                raise ConfigError(f"search.{name}: expected above 0, or {instead}, found 0")
        try:
            search = preset.search.replace(**self.search)
        except (ConfigError, TypeError) as error:
            raise ConfigError(f"search.{error}") from error
        try:
            return preset.replace(**{**self.settings, "search": search, "seed": seed})
        except (ConfigError, TypeError) as error:
            raise ConfigError(f"selfplay.{error}") from error


@dataclass(frozen=True, kw_only=True)
class RunConfig(Section):
    """The run as a whole."""

    section: ClassVar[str] = "run"

    name: str = text("run")
    seed: int = integer(0, most=MOST_SEED)
    minutes: float | None = number(None, above=True, none=True)  #: of all sittings together
    games: int | None = integer(None, 1, none=True)
    steps: int | None = integer(None, 1, none=True)
    generations: int | None = integer(None, 1, none=True)  #: networks that passed the gate
    restarts: int = integer(5)  #: of a part that dies, within ten minutes

    #: May change when a run goes on.
    FREE: ClassVar[tuple[str, ...]] = (
        "name",
        "minutes",
        "games",
        "steps",
        "generations",
        "restarts",
    )


@dataclass(frozen=True, kw_only=True)
class DistributedConfig(Section):
    """A run on a cluster: how many actors play, and what each part needs. Not read elsewhere."""

    section: ClassVar[str] = "distributed"

    actors: int | None = integer(None, 1, none=True)  #: None, "auto": as many as there is room for
    cpus: float | None = number(None, none=True)  #: of an actor; None: the threads of its search
    gpus: float = number(0.0)  #: of an actor; a part of one may be shared
    resources: Mapping[str, Any] = table()  #: of an actor, of the cluster's own names
    learner_cpus: float = number(1.0)
    learner_gpus: float = number(0.0)
    gate_cpus: float = number(1.0)
    gate_gpus: float = number(0.0)
    delivery_seconds: float = number(2.0, above=True)  #: that an ended game waits for others
    backlog_megabytes: float = number(64.0, above=True)  #: an actor with more undelivered pauses
    shard_positions: int = integer(65_536, 1)  #: at most; a shard closes after 10 s all the same
    ahead: int | None = integer(None, 1, none=True)  #: positions; self-play pauses when the learner
    #: has so many to learn from yet; None: it never waits

    def __post_init__(self) -> None:
        """Take "auto" for None, and check the resources."""
        given: object = self.actors
        if given == "auto":
            object.__setattr__(self, "actors", None)
        elif isinstance(given, str):
            self.refuse("actors", 'an int of at least 1, or "auto"', given)
        super().__post_init__()
        for name in ("gpus", "learner_gpus", "gate_gpus"):  # as Ray has it
            if getattr(self, name) > 1 and not float(getattr(self, name)).is_integer():
                self.refuse(name, "a part of one, or a whole number", getattr(self, name))
        for name, amount in self.resources.items():
            if name in ("CPU", "GPU"):
                self.refuse(f"resources.{name}", f"the setting {name.lower()}s instead", amount)
            if isinstance(amount, bool) or not isinstance(amount, int | float) or amount <= 0:
                self.refuse(f"resources.{name}", "a positive number", amount)
