"""The settings of a run besides the learner's: game, window, gate, self-play, limits."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator  # noqa: TID253

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError
from pyengine.games.game import Game
from pyengine.match import Sprt
from pyengine.search.config import SearchConfig
from pyengine.selfplay import SelfPlayConfig
from pyengine.train.settings import MOST_SEED, Number, PositiveNumbers, Section, Strings

_GAMES = 200  # of a gate's match without SPRT
_LEAST_DECIDED = 0.5  # fraction of candidates that a test must decide


def _several(names: Any) -> Any:
    return (names,) if isinstance(names, str) else names


class GameConfig(Section):
    """The game and the network's input planes."""

    section: ClassVar[str] = "game"

    name: Annotated[Strings, BeforeValidator(_several)] = ()
    """The game in its text form, such as ``"go(board_size=9)"``, or a list of games. Required."""
    weights: PositiveNumbers = ()
    """Relative sampling weight of each game; empty = equal weights."""
    planes: Strings = ("own[0]", "opp[0]", "first_to_move", "ones")
    """The planes of the :class:`~pyengine.ModelSpec`, or one of its presets: ``"alphago_zero"``,
    ``"leela_zero"`` or ``"gomoku17"``."""

    @model_validator(mode="after")
    def _check_names(self) -> GameConfig:
        if not self.name:
            self.refuse("name", "at least one game", list(self.name))
        if self.weights and len(self.weights) != len(self.name):
            self.refuse("weights", f"{len(self.name)}, one per game", list(self.weights))
        return self

    @property
    def shares(self) -> tuple[float, ...]:
        """The sampling weights, by default all 1."""
        return self.weights or (1.0,) * len(self.name)


class WindowConfig(Section):
    """The positions that the learner samples from, and its maximum speed.

    The growing window holds ``start (1 + slope ((n / start)^exponent - 1) / exponent)`` of n
    positions, at first all [KataGo: start 250,000, slope 0.4, exponent 0.75].
    """

    section: ClassVar[str] = "window"

    kind: Literal["growing", "games"] = "growing"
    """The growing window, or the newest games."""
    games: int = Field(default=500_000, ge=1)
    """Games in the window of ``"games"`` [AlphaGo Zero]."""
    start: int = Field(default=20_000, ge=1)
    """Number of positions up to which ``"growing"`` holds all data."""
    slope: Number = Field(default=0.4, ge=0, le=1)
    """Slope of ``"growing"``."""
    exponent: Number = Field(default=0.75, gt=0, le=1)
    """Exponent of ``"growing"``."""
    minimum_positions: int = Field(default=2_000, ge=1)
    """Positions required before the first step."""
    samples_per_position: Number = Field(default=4.0, gt=0)
    """About how often each position is sampled: the learner waits for self-play."""
    full_only: bool = True
    """Whether to skip positions of fast searches, which have no policy target."""
    surprise_weight: Number = Field(default=0.0, ge=0, le=1)
    """Fraction of a game's samples drawn in proportion to policy surprise [KataGo: 0.5]; if it is
    above 0, ``[selfplay]`` needs ``record_surprise = true``."""

    def positions_of(self, total: int) -> int:
        """Return how many of ``total`` positions the growing window holds."""
        if total <= self.start:
            return total
        grown = ((total / self.start) ** self.exponent - 1) / self.exponent
        return min(total, round(self.start * (1 + self.slope * grown)))

    def games_of(self, games: int, positions: int) -> int:
        """Return how many of the newest games the window holds, at least 1."""
        if self.kind == "games":
            return max(1, min(self.games, games))
        share = self.positions_of(positions) / max(1, positions)
        return max(1, math.ceil(games * share))

    def allowed_steps(self, positions: int, batch_size: int) -> int:
        """Return how many steps are allowed for a number of positions."""
        if positions < self.minimum_positions:
            return 0
        return int(positions * self.samples_per_position / batch_size)


class GateConfig(Section):
    """How a candidate is evaluated. Each opening is played twice, with colours swapped.

    With ``mode="latest"`` a candidate plays about half of its games against the previous network
    and half against the one ``against`` generations earlier. Longer distances accumulate fewer
    rating errors.
    """

    section: ClassVar[str] = "gate"

    mode: Literal["gate", "latest"] = "gate"
    """Whether a candidate becomes the best network only if it wins the match, or always; the match
    then only measures its rating. The first network must not lose to the playouts before it."""
    every_steps: int = Field(default=1000, ge=1)
    """Steps between two candidates [AlphaGo Zero]."""
    games: int | None = Field(default=None, ge=0)
    """Games per match; AlphaGo Zero: 400. 0 is allowed with ``"latest"``. None = 200; with
    ``"sprt"``, enough to decide 90 % of the candidates that are ``elo0`` or ``elo1`` stronger
    (:meth:`Sprt.games_for`; by default at most 1,054, on average 526). It must be enough to decide
    half of them, since an undecided candidate is rejected."""
    simulations: int = Field(default=100, ge=1)
    """Simulations per move; AlphaGo Zero: 1600."""
    method: Literal["score", "sprt"] = "score"
    """A candidate wins if its score exceeds ``threshold``, or if a sequential test accepts ``elo1``
    against ``elo0``."""
    threshold: Number = Field(default=0.55, ge=0, le=1)
    """Score that a candidate must exceed with ``"score"`` [AlphaGo Zero]."""
    elo0: Number = Field(default=0.0, ge=-4000, le=4000)
    """Lower hypothesis of ``"sprt"``: see :class:`~pyengine.match.Sprt`."""
    elo1: Number = Field(default=35.0, ge=-4000, le=4000)
    """Upper hypothesis of ``"sprt"``, above ``elo0``. 35 Elo correspond to a score of 55 %."""
    against: int = Field(default=1, ge=1)
    """How many generations older the second opponent is, with ``"latest"`` and in anchor games."""
    plies: int = Field(default=4, ge=0)
    """Random opening moves; fewer if the game has too few such openings."""
    threads: int = Field(default=1, ge=0)
    """Search threads per player; 0 = all cores."""
    batch_size: int = Field(default=16, ge=1)
    """Maximum number of rows per network call."""
    anchor_games: int | None = Field(default=None, ge=0)
    """With ``"gate"``: additional games that an accepted network plays only for the curve, against
    the previous network and the one ``against`` generations earlier, because the match that
    selected it overestimates its strength. None = half of ``games``, or 100 if that is None;
    0 = none, and the match is used instead."""
    keep_accepted: int = Field(default=100, ge=0)
    """With ``"latest"``: number of newest accepted networks to keep, besides the first and those
    that will still play; 0 = all."""
    keep_rejected: bool = False
    """Whether to keep the files of rejected candidates."""
    search: Mapping[str, Any] = {}
    """Other ``SearchConfig`` fields of both players."""

    @model_validator(mode="after")
    def _check_games(self) -> GateConfig:
        if self.games == 0 and self.mode == "gate":
            self.refuse("games", 'an int >= 1 for mode = "gate"', 0)
        if self.method == "sprt" and self.elo0 >= self.elo1:
            self.refuse("elo1", f"a number above elo0, which is {self.elo0:g}", self.elo1)
        if self.sprt is not None and self.mode == "gate" and self.games is not None:
            least = self.sprt.games_for(_LEAST_DECIDED)
            if self.games < least:
                expected = (
                    f"at least {least}, by which half of the candidates at elo0 and elo1 are "
                    f"decided ({self.sprt.games_for()} decide 90 %)"
                )
                self.refuse("games", expected, self.games)
        self.search_config()
        return self

    @property
    def sprt(self) -> Sprt | None:
        """The sequential test of ``method="sprt"``."""
        return Sprt(elo0=self.elo0, elo1=self.elo1) if self.method == "sprt" else None

    @property
    def most_games(self) -> int:
        """The maximum number of games of a match."""
        if self.games is not None:
            return self.games
        test = self.sprt
        return _GAMES if test is None or self.mode != "gate" else test.games_for()

    @property
    def games_of_anchors(self) -> int:
        """The number of anchor games that an accepted network plays."""
        if self.anchor_games is not None:
            return self.anchor_games
        return (_GAMES if self.games is None else self.games) // 2

    @property
    def most_accepted(self) -> int:
        """The number of accepted networks to keep, at least those that will still play."""
        most = sys.maxsize if self.mode == "gate" else self.keep_accepted or sys.maxsize
        return max(most, self.against + 1)

    def search_config(self) -> SearchConfig:
        """Return the search settings of both players."""
        settings = SearchConfig(
            simulations=self.simulations,
            threads=self.threads,
            batch_size=self.batch_size,
            in_flight=1,  # many games fill the batch
            reuse_tree=False,
        )
        return _changed("gate.search", settings, with_none(SearchConfig, self.search))


def _changed(path: str, settings: Any, changes: Mapping[str, Any]) -> Any:
    """Return settings with some fields changed; an error begins with their path."""
    try:
        return settings.replace(**changes)
    except (ConfigError, TypeError) as error:
        raise ConfigError(f"{path}.{error}") from error


def with_none(
    kind: type[SearchConfig] | type[SelfPlayConfig], table: Mapping[str, Any]
) -> dict[str, Any]:
    """Replace "none" by None, which TOML lacks, in fields that may be None."""
    optional = {field.name for field in kind.fields() if field.optional}
    return {k: None if k in optional and v == "none" else v for k, v in table.items()}


_PRESETS: dict[str, Callable[[Game], SelfPlayConfig]] = {
    "none": lambda _: SelfPlayConfig(),
    "fast": SelfPlayConfig.fast,
    "alphago_zero": SelfPlayConfig.alphago_zero,
    "gumbel": SelfPlayConfig.gumbel,
}


class SelfplaySection(Section):
    """Self-play: the loop's own settings, and the fields of a SelfPlayConfig as ``settings``.

    In a run file the fields of SelfPlayConfig are in the same section, and those of its search in
    the section ``[search]``.
    """

    section: ClassVar[str] = "selfplay"

    first: Literal["random", "uniform", "rollout"] = "random"
    """The first player: a network with random weights, or an evaluator without a network, which
    pauses once the learner has enough data for its next candidate, except on a cluster."""
    first_simulations: int | None = Field(default=None, ge=1)
    """Simulations of a full search by an evaluator without a network, which takes less time per
    simulation; None = those of ``[search]``. Its fast searches and its gate games scale with it."""
    preset: Literal["fast", "alphago_zero", "gumbel", "none"] = "fast"
    """The base settings: :meth:`SelfPlayConfig.fast
    <pyengine.SelfPlayConfig.fast>`, :meth:`SelfPlayConfig.alphago_zero
    <pyengine.SelfPlayConfig.alphago_zero>`, :meth:`SelfPlayConfig.gumbel
    <pyengine.SelfPlayConfig.gumbel>`, or the defaults."""
    precision: Literal["float32", "float16", "int8"] = "float32"
    """``"float16"`` or ``"int8"``: self-play and gate matches use such a copy of each network, with
    its range checked or calibrated on the window. float16 is for GPUs, int8 for CPUs with int8
    instructions (AVX-512 VNNI, AMX). The networks remain in float32."""
    openings: str | None = None
    """A file of positions from which games start, one per line: see :func:`pyengine.selfplay`. A
    path relative to the working directory; for a run of one game."""
    settings: Mapping[str, Any] = {}
    """SelfPlayConfig fields that differ from the preset."""
    search: Mapping[str, Any] = {}
    """SearchConfig fields that differ from the preset; in a run file, the section ``[search]``."""

    @classmethod
    def from_tables(cls, table: Mapping[str, Any], search: Mapping[str, Any]) -> SelfplaySection:
        """Read ``[selfplay]``, which may contain fields of SelfPlayConfig, and ``[search]``."""
        fields = {name: value for name, value in table.items() if name in cls.model_fields}
        others = {name: value for name, value in table.items() if name not in fields}
        settings = with_none(SelfPlayConfig, {**fields.pop("settings", {}), **others})
        return cls(**fields, settings=settings, search=with_none(SearchConfig, search))

    def config(self, game: Game, seed: int) -> SelfPlayConfig:
        """Return the settings of a game's self-play; an error names ``selfplay.field``."""
        preset = _PRESETS[self.preset](game)
        for name, instead in (
            ("dirichlet_fraction", "selfplay.noise = false"),
            ("temperature", "selfplay.temperature_moves = 0"),
        ):
            if self.search.get(name) == 0:  # SelfPlayConfig treats it as not given
                raise ConfigError(f"search.{name}: expected a number > 0, or {instead}, got 0")
        search = _changed("search", preset.search, self.search)
        return _changed("selfplay", preset, {**self.settings, "search": search, "seed": seed})

    def first_config(self, config: SelfPlayConfig) -> SelfPlayConfig:
        """Return a game's settings as played without a network."""
        if self.first_simulations is None:
            return config
        own = config.search.simulations
        assert own is not None  # self-play has no other budget
        fast = config.fast_simulations * self.first_simulations // own
        search = config.search.replace(simulations=self.first_simulations)
        return config.replace(search=search, fast_simulations=max(1, fast))


class RunConfig(Section):
    """The run as a whole. It ends at the first limit, or when it is stopped."""

    section: ClassVar[str] = "run"

    name: str = "run"
    """Name of the default directory, ``runs/NAME``."""
    seed: int = Field(default=0, ge=0, le=MOST_SEED)
    """Seed of self-play, learner and gate."""
    minutes: Number | None = Field(default=None, gt=0)
    """Limit: total minutes of all sessions."""
    games: int | None = Field(default=None, ge=1)
    """Limit: games of self-play."""
    steps: int | None = Field(default=None, ge=1)
    """Limit: steps of the learner."""
    generations: int | None = Field(default=None, ge=1)
    """Limit: networks accepted by the gate."""
    restarts: int = Field(default=5, ge=0)
    """Maximum restarts of a crashed part within ten minutes."""


def _number_of_actors(actors: Any) -> Any:
    if actors is None or (isinstance(actors, str) and actors == "auto"):
        return None
    if isinstance(actors, bool) or not isinstance(actors, int) or actors < 1:
        expected = 'an int of at least 1 or "auto"'
        raise ConfigError(f"distributed.actors: expected {expected}, got {short_repr(actors)}")
    return actors


class DistributedConfig(Section):
    """A run on a cluster: the number of actors and the resources of each part."""

    section: ClassVar[str] = "distributed"

    actors: Annotated[int | None, BeforeValidator(_number_of_actors)] = Field(default=None, ge=1)
    """Number of actors; None or ``"auto"`` = as many as the cluster has resources for."""
    cpus: Number | None = Field(default=None, ge=0)
    """CPUs per actor; None = the threads of its search."""
    gpus: Number = Field(default=0.0, ge=0)
    """GPUs per actor: a whole number, or a fraction to share one."""
    resources: Mapping[str, Any] = {}
    """Other resources per actor, by their names in the cluster."""
    learner_cpus: Number = Field(default=1.0, ge=0)
    """CPUs of the learner."""
    learner_gpus: Number = Field(default=0.0, ge=0)
    """GPUs of the learner."""
    gate_cpus: Number = Field(default=1.0, ge=0)
    """CPUs of the gate."""
    gate_gpus: Number = Field(default=0.0, ge=0)
    """GPUs of the gate."""
    delivery_seconds: Number = Field(default=2.0, gt=0)
    """Maximum delay before finished games are delivered."""
    backlog_megabytes: Number = Field(default=64.0, gt=0)
    """Amount of undelivered data above which an actor pauses."""
    shard_positions: int = Field(default=65_536, ge=1)
    """Maximum positions per shard; a shard is closed after 10 s at the latest."""
    ahead: int | None = Field(default=None, ge=1)
    """Number of unused positions at which self-play pauses for the learner; None = never."""

    @model_validator(mode="after")
    def _check_resources(self) -> DistributedConfig:
        for name in ("gpus", "learner_gpus", "gate_gpus"):
            if getattr(self, name) > 1 and not float(getattr(self, name)).is_integer():
                self.refuse(name, "a fraction below 1, or a whole number", getattr(self, name))
        for name, amount in self.resources.items():
            if name in ("CPU", "GPU"):
                self.refuse(f"resources.{name}", f"the setting {name.lower()}s instead", amount)
            if isinstance(amount, bool) or not isinstance(amount, int | float) or amount <= 0:
                self.refuse(f"resources.{name}", "a number > 0", amount)
        return self
