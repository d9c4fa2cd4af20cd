"""The settings of a run beside those of the learner: game, window, gate, self-play, limits."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pyengine.base.arguments import check_type
from pyengine.errors import ConfigError
from pyengine.games.game import Game
from pyengine.match import Sprt
from pyengine.search.config import SearchConfig
from pyengine.selfplay import SelfPlayConfig
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

_GAMES = 200  # of a gate's match without a test
_LEAST_DECIDED = 0.5  # share of the candidates whom a test must decide


@dataclass(frozen=True, kw_only=True)
class GameConfig(Section):
    """What is played, and what a network sees of it.

    Attributes:
        name (list of str, default ()): the game in its text form, such as ``"go(board_size=9)"``,
            or a list of games. Needed.
        weights (list of float > 0, default ()): share of each game in the positions that are
            learnt; none = equal.
        planes (list of str, default ("own[0]", "opp[0]", "first_to_move", "ones")): the planes of
            the :class:`~pyengine.ModelSpec`; or one of ``"alphago_zero"``, ``"leela_zero"`` and
            ``"gomoku17"``, its presets.
    """

    section: ClassVar[str] = "game"

    name: tuple[str, ...] = strings(())
    weights: tuple[float, ...] = numbers(())
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

    Attributes:
        kind ("growing" or "games", default "growing"): the growing window, or the newest games.
        games (int >= 1, default 500000): of ``"games"``: how many [AlphaGo Zero].
        start (int >= 1, default 20000): of ``"growing"``: positions.
        slope (float in [0, 1], default 0.4): of ``"growing"``.
        exponent (float in (0, 1], default 0.75): of ``"growing"``.
        minimum_positions (int >= 1, default 2000): that there must be before the first step.
        samples_per_position (float > 0, default 4.0): how often a position is learnt, about: the
            learner waits for self-play.
        full_only (bool, default True): positions of fast searches, which are no policy targets,
            are left out.
        surprise_weight (float in [0, 1], default 0.0): share of what is drawn of a game that is
            drawn in proportion to how much its policy targets surprised the network [KataGo: 0.5];
            above 0 ``[selfplay]`` needs ``record_surprise = true``.
    """

    section: ClassVar[str] = "window"

    kind: str = choice("growing", "growing", "games")
    games: int = integer(500_000, 1)
    start: int = integer(20_000, 1)
    slope: float = number(0.4, 0.0, 1.0)
    exponent: float = number(0.75, 0.0, 1.0, above=True)
    minimum_positions: int = integer(2_000, 1)
    samples_per_position: float = number(4.0, above=True)
    full_only: bool = flag(True)
    surprise_weight: float = number(0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class GateConfig(Section):
    """How a candidate is evaluated. Colours alternate; each opening is played by both.

    With ``mode="latest"`` a candidate plays the network before it and the one ``against``
    generations back, about half of the games each. Ratings over longer distances add up fewer
    errors.

    Attributes:
        mode ("gate" or "latest", default "gate"): a candidate becomes the best network when it
            wins the match; or always, and the match measures its rating alone.
        every_steps (int >= 1, default 1000): steps between two candidates [AlphaGo Zero].
        games (int >= 0 or None, default None): of a match; AlphaGo Zero: 400. 0, with ``"latest"``:
            none. None = 200; with ``"sprt"``, as many as decide nine candidates of ten
            that are ``elo0`` or ``elo1`` stronger (:meth:`Sprt.games_for`; 1,054 by default, of
            which 526 are expected), and fewer than decide half of them are refused: who is not
            decided is rejected.
        simulations (int >= 1, default 100): of a move; AlphaGo Zero: 1600.
        method ("score" or "sprt", default "score"): a candidate wins by a score above
            ``threshold``, or by a sequential test of ``elo0`` against ``elo1``.
        threshold (float in [0, 1], default 0.55): of ``"score"``, to be exceeded [AlphaGo Zero].
        elo0 (float in [-4000, 4000], default 0.0): of ``"sprt"``: see :class:`~pyengine.Sprt`.
        elo1 (float in [-4000, 4000], default 35.0): of ``"sprt"``, above ``elo0``. 35 Elo are a
            score of 55 %.
        against (int >= 1, default 1): generations to the second network that it plays, with
            ``"latest"``, or in anchor games.
        plies (int >= 0, default 4): random moves at the start; fewer where the game has too few
            such openings.
        threads (int >= 0, default 1): workers of each side's search; 0 = all cores.
        batch_size (int >= 1, default 16): rows of one call of the network.
        anchor_games (int >= 0 or None, default None): of ``"gate"``: that an accepted network plays
            afterwards for the curve alone, against the network before it and the one ``against``
            generations back: its match overrates it, as it was chosen for that. None = half of
            ``games``, 100 where that is None; 0 = none, and the match counts.
        keep_accepted (int >= 0, default 100): of ``"latest"``: how many accepted networks are kept,
            the newest ones, beside the first and those that are still to play; 0 = all.
        keep_rejected (bool, default False): whether the files of rejected candidates are kept.
        search (table, default {}): further fields of both sides' ``SearchConfig``.
    """

    section: ClassVar[str] = "gate"

    mode: str = choice("gate", "gate", "latest")
    every_steps: int = integer(1000, 1)
    games: int | None = integer(None, 0, none=True)
    simulations: int = integer(100, 1)
    method: str = choice("score", "score", "sprt")
    threshold: float = number(0.55, 0.0, 1.0)
    elo0: float = number(0.0, -4e3, 4e3)
    elo1: float = number(35.0, -4e3, 4e3)
    against: int = integer(1, 1)
    plies: int = integer(4)
    threads: int = integer(1)
    batch_size: int = integer(16, 1)
    anchor_games: int | None = integer(None, 0, none=True)
    keep_accepted: int = integer(100)
    keep_rejected: bool = flag(False)
    search: Mapping[str, Any] = table()

    def __post_init__(self) -> None:
        """Check the search's settings, too."""
        if isinstance(self.search, Mapping):
            object.__setattr__(self, "search", nothing_of(SearchConfig, self.search))
        super().__post_init__()
        if self.games == 0 and self.mode == "gate":
            self.refuse("games", 'an int of at least 1 for mode = "gate"', 0)
        if self.method == "sprt" and self.elo0 >= self.elo1:
            self.refuse("elo1", f"a number above elo0, which is {self.elo0:g}", self.elo1)
        self._refuse_powerless()
        self.search_config()

    def _refuse_powerless(self) -> None:
        """Raise ConfigError for a limit that leaves most candidates undecided."""
        test = self.sprt
        if test is None or self.mode != "gate" or self.games is None:
            return
        least = test.games_for(_LEAST_DECIDED)
        if self.games < least:
            wanted = (
                f"at least {least}, by which half of the candidates at elo0 and elo1 are decided "
                f"({test.games_for()} decide 90 %)"
            )
            self.refuse("games", wanted, self.games)

    @property
    def sprt(self) -> Sprt | None:
        """The sequential test of ``method="sprt"``."""
        return Sprt(elo0=self.elo0, elo1=self.elo1) if self.method == "sprt" else None

    @property
    def most_games(self) -> int:
        """How many games a match has, unless it is decided before."""
        if self.games is not None:
            return self.games
        test = self.sprt
        return _GAMES if test is None or self.mode != "gate" else test.games_for()

    @property
    def games_of_anchors(self) -> int:
        """How many games an accepted network plays for the curve."""
        if self.anchor_games is not None:
            return self.anchor_games
        return (_GAMES if self.games is None else self.games) // 2

    @property
    def most_accepted(self) -> int:
        """How many accepted networks are kept: those that are still to play, at least."""
        kept = sys.maxsize if self.mode == "gate" else self.keep_accepted or sys.maxsize
        return max(kept, self.against + 1)

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


def nothing_of(
    kind: type[SearchConfig] | type[SelfPlayConfig], table: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the table with None for "none", which TOML lacks, where a field may be None."""
    optional = {field.name for field in kind.fields() if field.optional}
    return {k: None if k in optional and v == "none" else v for k, v in table.items()}


_PRESETS: dict[str, Callable[[Game], SelfPlayConfig]] = {
    "fast": SelfPlayConfig.fast,
    "alphago_zero": SelfPlayConfig.alphago_zero,
    "gumbel": SelfPlayConfig.gumbel,
}


@dataclass(frozen=True, kw_only=True)
class SelfplaySection(Section):
    """Self-play: what the loop needs, and the fields of a SelfPlayConfig as ``settings``.

    In a run file the fields of a SelfPlayConfig are written beside these, and those of its search
    in the section ``[search]``.

    Attributes:
        first ("random", "uniform" or "rollout", default "random"): who plays before there is a
            network: one with random weights, or an evaluator without a network, which plays as
            much as the learner needs for its next candidate; on a cluster it plays on.
        preset ("fast", "alphago_zero", "gumbel" or "none", default "fast"): the settings that the
            others change: :meth:`SelfPlayConfig.fast <pyengine.SelfPlayConfig.fast>`,
            :meth:`SelfPlayConfig.alphago_zero <pyengine.SelfPlayConfig.alphago_zero>`,
            :meth:`SelfPlayConfig.gumbel <pyengine.SelfPlayConfig.gumbel>`, or the defaults.
        precision ("float32" or "int8", default "float32"): ``"int8"``: self-play and the gate's
            matches evaluate an int8 copy of each network, which is calibrated on the window. For
            CPUs with instructions for int8 (AVX-512 VNNI, AMX). The networks themselves stay in
            float32.
        settings (table, default {}): fields of a SelfPlayConfig that differ from the preset's.
        search (table, default {}): fields of its SearchConfig that differ. In a run file the
            section ``[search]``.
    """

    section: ClassVar[str] = "selfplay"

    first: str = choice("random", "random", "uniform", "rollout")
    preset: str = choice("fast", "fast", "alphago_zero", "gumbel", "none")
    precision: str = choice("float32", "float32", "int8")
    settings: Mapping[str, Any] = table()
    search: Mapping[str, Any] = table()

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> SelfplaySection:
        """Return the section; names that are not its own are a SelfPlayConfig's."""
        check_type(cls.section, table, Mapping, "a table")
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
    """The run as a whole. It ends at the first of its limits, or goes on until it is stopped.

    Attributes:
        name (str, default "run"): of its folder, ``runs/NAME``, where none is given.
        seed (int in [0, 2**62], default 0): of self-play, learner and gate.
        minutes (float > 0 or None, default None): of all sittings together.
        games (int >= 1 or None, default None): of self-play.
        steps (int >= 1 or None, default None): of the learner.
        generations (int >= 1 or None, default None): networks that passed the gate.
        restarts (int >= 0, default 5): how often a part that dies is started again within ten
            minutes.
    """

    section: ClassVar[str] = "run"

    name: str = text("run")
    seed: int = integer(0, most=MOST_SEED)
    minutes: float | None = number(None, above=True, none=True)
    games: int | None = integer(None, 1, none=True)
    steps: int | None = integer(None, 1, none=True)
    generations: int | None = integer(None, 1, none=True)
    restarts: int = integer(5)

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
    """A run on a cluster: how many actors play, and what each part needs. Not read elsewhere.

    Attributes:
        actors (int >= 1 or None, default None): that play; None or ``"auto"`` = as many as there
            is room for.
        cpus (float >= 0 or None, default None): of an actor; None = the threads of its search.
        gpus (float >= 0, default 0.0): of an actor; a part of one, which actors share, or a whole
            number.
        resources (table, default {}): of an actor, by the names of the cluster.
        learner_cpus (float >= 0, default 1.0): of the learner.
        learner_gpus (float >= 0, default 0.0): of the learner.
        gate_cpus (float >= 0, default 1.0): of the gate.
        gate_gpus (float >= 0, default 0.0): of the gate.
        delivery_seconds (float > 0, default 2.0): that a finished game waits for others before
            they are delivered.
        backlog_megabytes (float > 0, default 64.0): an actor with more undelivered data pauses.
        shard_positions (int >= 1, default 65536): most positions of a shard; it closes after 10 s
            all the same.
        ahead (int >= 1 or None, default None): self-play pauses while the learner has so many
            positions left to learn from; None = it never pauses for that.
    """

    section: ClassVar[str] = "distributed"

    actors: int | None = integer(None, 1, none=True)
    cpus: float | None = number(None, none=True)
    gpus: float = number(0.0)
    resources: Mapping[str, Any] = table()
    learner_cpus: float = number(1.0)
    learner_gpus: float = number(0.0)
    gate_cpus: float = number(1.0)
    gate_gpus: float = number(0.0)
    delivery_seconds: float = number(2.0, above=True)
    backlog_megabytes: float = number(64.0, above=True)
    shard_positions: int = integer(65_536, 1)
    ahead: int | None = integer(None, 1, none=True)

    def __post_init__(self) -> None:
        """Take "auto" for None, and check the resources."""
        given: object = self.actors
        if isinstance(given, str) and given == "auto":
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
