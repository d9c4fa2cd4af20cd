"""``run.toml``: all settings of a run, validated before anything starts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.checks import check_type, did_you_mean, short_repr
from pyengine.base.files import read_limited, unread
from pyengine.data.layout import Layout
from pyengine.data.targets import has_score
from pyengine.errors import ConfigError, EngineError
from pyengine.eval.spec import ModelSpec, planes_shape
from pyengine.games.game import Game, load_game
from pyengine.selfplay import SelfPlayConfig
from pyengine.selfplay.openings import opening_states
from pyengine.train.configs import (
    AverageConfig,
    LearnerConfig,
    LossConfig,
    NetworkConfig,
    OptimiserConfig,
    TrainConfig,
)
from pyengine.train.loop.run_configs import (
    DistributedConfig,
    GameConfig,
    GateConfig,
    RunConfig,
    SelfplaySection,
    WindowConfig,
)
from pyengine.train.point_actions import point_actions
from pyengine.train.settings import Section, differences

_SECTIONS = (
    "game",
    "network",
    "selfplay",
    "search",
    "train",
    "window",
    "gate",
    "run",
    "distributed",
)
_PRESETS = ("alphago_zero", "leela_zero", "gomoku17")

#: May change when a run is resumed: the speed and memory of searches, and the files to keep.
_FREE_SEARCH = ("threads", "memory_limit", "cache_entries")
_FREE_GATE = ("threads", "keep_accepted", "keep_rejected")


class RunFile(Section):
    """A run: its validated sections and their TOML text."""

    game: GameConfig
    train: TrainConfig
    """Sections ``[network]`` and ``[train]``."""
    selfplay: SelfplaySection
    """Sections ``[selfplay]`` and ``[search]``."""
    window: WindowConfig
    gate: GateConfig
    run: RunConfig
    distributed: DistributedConfig
    text: str

    @classmethod
    def from_toml(cls, source: str | Path) -> RunFile:
        """Read TOML text, or a file by its Path.

        Raises ConfigError: ``section.field: expected WHAT, got VALUE``.
        """
        check_type("source", source, str | Path, "TOML text, or the Path of a file")
        text, tables = _parsed(source)
        run = cls(
            game=GameConfig(**tables["game"]),
            train=_train(tables),
            selfplay=_selfplay(tables),
            window=WindowConfig(**tables["window"]),
            gate=GateConfig(**tables["gate"]),
            run=RunConfig(**tables["run"]),
            distributed=DistributedConfig(**tables["distributed"]),
            text=text,
        )
        run._check_fit()
        return run

    @property
    def games(self) -> list[Game]:
        """The games to play."""
        return [load_game(name) for name in self.game.name]

    @property
    def spec(self) -> ModelSpec:
        """The networks' inputs."""
        planes = self.game.planes
        preset = len(planes) == 1 and planes[0] in _PRESETS
        spec = getattr(ModelSpec, planes[0])() if preset else ModelSpec(planes=planes)
        wdl = self.train.network.value == "wdl"
        return spec.replace(value=("win", "draw", "loss") if wdl else "scalar")

    def selfplay_config(self, number: int, *, network: bool = True) -> SelfPlayConfig:
        """Return the self-play settings of a game, by index, with or without a network."""
        seed = np.random.SeedSequence((self.run.seed, number)).generate_state(1)[0]
        config = self.selfplay.config(self.games[number], int(seed))
        return config if network else self.selfplay.first_config(config)

    def limited(self, **limits: float | int | None) -> RunFile:
        """Return the run with other limits; its text does not change."""
        return self.replace(run=self.run.replace(**limits))

    def with_actors(self, actors: int | str) -> RunFile:
        """Return the run with another ``distributed.actors``; its text does not change."""
        return self.replace(distributed=self.distributed.replace(actors=actors))

    def fixed(self) -> dict[str, Any]:
        """Return the settings that must not change when a run is resumed, by section."""
        train, selfplay, gate = self.train.fixed(), self.selfplay.to_dict(), self.gate.to_dict()
        network, learner = train.pop("network"), train.pop("learner")
        settings, search = selfplay.pop("settings"), selfplay.pop("search")
        return {
            "game": self.game.to_dict(),
            "network": network,
            "train": learner | train,
            "selfplay": selfplay | settings,
            "search": _without(search, _FREE_SEARCH),
            "window": self.window.to_dict(),
            "gate": _without(gate, _FREE_GATE) | {"search": _without(gate["search"], _FREE_SEARCH)},
            "run": {"seed": self.run.seed},
        }

    def refuse_changes(self, before: RunFile) -> None:
        """Raise ConfigError naming the settings that differ from this run's."""
        if self.game.name != before.game.name:
            raise ConfigError(
                f"game.name: expected {', '.join(before.game.name)}, as the run there; "
                f"got {', '.join(self.game.name)}"
            )
        changed = "; ".join(map(_as_written, differences(before.fixed(), self.fixed())))
        if changed:
            raise ConfigError(f"a run goes on with the settings it began with; got {changed}")

    def _check_fit(self) -> None:
        """Check that games, planes and network are compatible."""
        with _prefixed_errors("game"):
            games = self.games
        self._refuse_twins(games)
        with _prefixed_errors("game"):
            spec = self.spec
            for game in games:
                Layout.of(game, spec)
        for number in range(len(games)):
            recorded = self.selfplay_config(number).record_surprise
            if self.window.surprise_weight > 0 and not recorded:
                expected = "0 without selfplay.record_surprise = true"
                self.window.refuse("surprise_weight", expected, self.window.surprise_weight)
        self._check_openings(games)
        self._refuse_final_board(games)
        if len(games) > 1 and self.gate.method == "sprt":
            self.gate.refuse("method", "'score' for several games", "sprt")
        self._refuse_kind(games, spec)

    def _check_openings(self, games: Sequence[Game]) -> None:
        """Raise ConfigError if the openings cannot be read or do not fit the game."""
        path = self.selfplay.openings
        if path is None:
            return
        if len(games) > 1:
            self.selfplay.refuse("openings", "None for several games", path)
        with _prefixed_errors("selfplay.openings"):
            opening_states(games[0], path, self.selfplay_config(0))

    def _refuse_twins(self, games: Sequence[Game]) -> None:
        """Raise ConfigError if two games are equal or would share a data folder."""
        names = self.game.name
        for keys in (map(str, games), map(data_folder_name, names)):
            seen: dict[str, str] = {}
            for name, same in zip(names, keys, strict=True):
                if same in seen:
                    expected = f"games with different folders ({seen[same]!r} has {same})"
                    self.game.refuse("name", expected, name)
                seen[same] = name

    def _refuse_final_board(self, games: Sequence[Game]) -> None:
        """Raise ConfigError if a game lacks the final board or score that is to be learned."""
        loss = self.train.loss
        for game in games:
            for name, fits, expected in (
                ("ownership_weight", lambda game: game.has_board, "a board of stones"),
                ("score_weight", has_score, "points, as Go or Othello"),
            ):
                weight = getattr(loss, name)
                if weight > 0 and not fits(game):
                    raise ConfigError(
                        f"train.loss.{name}: expected 0, or games with {expected}, got {weight:g} "
                        f"and {game}"
                    )

    def _refuse_kind(self, games: Sequence[Game], spec: ModelSpec) -> None:
        """Raise ConfigError if the network's heads do not fit the boards."""
        network = self.train.network
        boards, heads = set(), set()
        for game in games:
            _, height, width = planes_shape(game, spec)
            boards.add((height, width))
            heads.add(point_actions((height, width), game.num_distinct_actions()))
            if network.kind != "alphago_zero" and None in heads:
                expected = f"'alphago_zero': {game} does not have as many actions for each point"
                network.refuse("kind", expected, network.kind)
        if len(boards) > 1 and network.kind == "alphago_zero":
            network.refuse("kind", "'convolutional' for several boards", network.kind)
        if len(heads) > 1:
            expected = "games with equally many actions for each point, all or none with a pass"
            self.game.refuse("name", expected, ", ".join(map(str, games)))


def data_folder_name(game: str) -> str:
    """Return the folder name of a game's shards."""
    return re.sub(r"[^\w.]+", "-", game).strip("-")


def _as_written(change: str) -> str:
    """Return a changed setting with its section in the run file: ``[gate] games: ...``."""
    path, values = change.split(": ", 1)
    section, _, name = path.rpartition(".")
    return f"[{section}] {name}: {values}"


def _without(table: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}


@contextmanager
def _prefixed_errors(section: str) -> Iterator[None]:
    """Prefix an error in the block with the section."""
    try:
        yield
    except EngineError as error:
        raise ConfigError(f"{section}: {error}") from error


def _parsed(source: str | Path) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the text of a run file and all its sections."""
    try:
        text = read_limited(source).decode() if isinstance(source, Path) else source
        tables = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(unread(Path(source), error)) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        is_name = isinstance(source, str) and source.endswith(".toml")
        hint = "; pass a file name as Path(...)" if is_name else ""
        raise ConfigError(f"a run file: expected TOML: {error}{hint}") from error
    for name, value in tables.items():
        if name not in _SECTIONS:
            raise ConfigError(
                f"{name}: no such section{did_you_mean(name, _SECTIONS)} "
                f"(there are {', '.join(_SECTIONS)})"
            )
        _require_table(name, value)
    return text, {name: tables.get(name, {}) for name in _SECTIONS}


def _require_table(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name}: expected a table, got {short_repr(value)}")


def _train(tables: Mapping[str, Any]) -> TrainConfig:
    """Read ``[network]`` and ``[train]``, with tables ``loss``, ``optimiser`` and ``average``."""
    table = tables["train"]
    parts = {name: table.get(name, {}) for name in ("loss", "optimiser", "average")}
    for name, part in parts.items():
        _require_table(f"train.{name}", part)
    network = tables["network"]
    wide = network.get("kind") in ("convolutional", "value")
    learner = {"seed": tables["run"].get("seed", 0), **_without(table, list(parts))}
    return TrainConfig(
        network=NetworkConfig.convolutional(**network) if wide else NetworkConfig(**network),
        loss=LossConfig(**parts["loss"]),
        optimiser=OptimiserConfig(**parts["optimiser"]),
        average=AverageConfig(**parts["average"]),
        learner=LearnerConfig(**learner),
    )


def _selfplay(tables: Mapping[str, Any]) -> SelfplaySection:
    table = tables["selfplay"]
    if "search" in table:
        raise ConfigError("selfplay.search: expected a section [search], got [selfplay.search]")
    _require_table("selfplay.settings", table.get("settings", {}))
    return SelfplaySection.from_tables(table, tables["search"])
