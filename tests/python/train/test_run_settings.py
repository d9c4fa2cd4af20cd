"""Run files and their settings."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine import train
from pyengine.train import (
    AverageConfig,
    GateConfig,
    LearnerConfig,
    LossConfig,
    NetworkConfig,
    OptimiserConfig,
    RunFile,
    TrainConfig,
)
from pyengine.train.loop import runfile
from pyengine.train.loop.run_configs import DistributedConfig, RunConfig, WindowConfig
from pyengine.train.settings import Section, expected
from run_games import SMALL, run_of

SECTIONS = (
    NetworkConfig,
    LossConfig,
    OptimiserConfig,
    AverageConfig,
    LearnerConfig,
    WindowConfig,
    GateConfig,
    RunConfig,
    DistributedConfig,
)

_WITHOUT = """
import sys
sys.modules["torch"] = None
import pyengine.train
pyengine.train.RunFile, pyengine.train.NetworkConfig()
try:
    pyengine.train.Learner
except pyengine.EngineError as error:
    print(error)
sys.modules["pydantic"] = None
for name in [name for name in sys.modules if name.startswith("pyengine.train")]:
    del sys.modules[name]
import pyengine.train
pyengine.train.rollout_policy
try:
    pyengine.train.RunFile
except pyengine.EngineError as error:
    print(error)
"""


def test_without_its_packages_training_imports_and_the_error_names_the_extra() -> None:
    command = [sys.executable, "-c", _WITHOUT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for package in ("torch", "pydantic"):
        assert f"needs the package {package}: pip install 'pyengine-search[train]'" in done.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "models" / "runs").glob("*.toml")), ids=str)
def test_the_run_files_in_this_repository_are_valid(path: Path) -> None:
    run = RunFile.from_toml(path)
    assert run.games
    assert run.selfplay_config(0).search.threads in (1, 2)


def test_a_run_file_sets_every_section() -> None:
    run = RunFile.from_toml(
        SMALL
        + """
        [train.loss]
        value_weight = 2
        [train.average]
        kind = "ema"
        [selfplay]
        preset = "none"
        concurrent_games = 7
        resign_threshold = "none"
        [search]
        simulations = 11
        symmetry = "none"
        [gate.search]
        c_puct = 2
        [distributed]
        actors = "auto"
        """
    )
    assert run.train.learner.seed == run.run.seed == 3
    assert run.train.average.kind == "ema"
    assert run.spec.planes == ("own[0]", "opp[0]", "first_to_move", "ones")
    config = run.selfplay_config(0)
    assert (config.concurrent_games, config.resign_threshold) == (7, None)
    assert (config.search.simulations, config.search.symmetry) == (11, "none")
    assert run.gate.search_config().c_puct == 2
    assert (run.distributed.actors, run.with_actors(2).distributed.actors) == (None, 2)
    assert isinstance(run.train.fixed()["loss"]["value_weight"], int)  # as in the file
    assert pickle.loads(pickle.dumps(run)) == copy.deepcopy(run) == run
    assert run.limited(steps=3).run.to_dict() == run.run.to_dict() | {"steps": 3}


def test_searches_without_a_network_scale_with_their_simulations() -> None:
    settings = {"first": "rollout", "first_simulations": 64, "fast_simulations": 5}
    run = run_of(selfplay=settings, search={"simulations": 16})
    configs = [run.selfplay_config(0, network=network) for network in (True, False)]
    assert [config.search.simulations for config in configs] == [16, 64]
    assert [config.fast_simulations for config in configs] == [5, 20]


@pytest.mark.parametrize("preset", ["alphago_zero", "leela_zero"])
def test_a_preset_in_a_run_file_selects_its_spec(preset: str) -> None:
    text = SMALL.replace('"tic_tac_toe"', f'"go(board_size=5)"\nplanes = ["{preset}"]')
    assert RunFile.from_toml(text).spec == getattr(pyengine.ModelSpec, preset)()


def outside(section: type[Section], name: str) -> list[Any]:
    """Return values outside the declared range of a field."""
    limits = {
        key: getattr(limit, key)
        for limit in section.model_fields[name].metadata
        for key in ("ge", "gt", "le", "lt")
        if hasattr(limit, key)
    }
    step = {"ge": -1, "gt": 0, "le": 1, "lt": 0}
    return [object(), float("nan"), *(limit + step[key] for key, limit in limits.items())]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda kind: kind.section)
def test_every_setting_refuses_values_outside_its_declared_range(section: type[Section]) -> None:
    for name, field in section.model_fields.items():
        if name == "actors":  # in the table of wrong run files
            continue
        allowed = expected(field.annotation, *field.metadata)
        for value in outside(section, name):
            with pytest.raises(pyengine.ConfigError) as error:
                section(**{name: value})
            message = str(error.value)
            assert message.startswith(f"{section.section}.{name}: expected {allowed}, got ")
            assert message.isprintable()
    with pytest.raises(
        pyengine.ConfigError, match=rf"^{section.section}\.no_such: no such setting"
    ):
        section(no_such=1)


def test_assigning_to_a_setting_is_refused_in_one_line() -> None:
    with pytest.raises(AttributeError, match=r"^network\.blocks cannot be assigned: use replace"):
        NetworkConfig().blocks = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("section", "line"),
    [
        (NetworkConfig, "blocks (an int in [0, 10000], default 4): Residual blocks; AlphaGo Zero:"),
        (NetworkConfig, 'value (one of "scalar", "wdl", default'),
        (OptimiserConfig, "momentum (a number in [0, 1), default"),
        (OptimiserConfig, "clip_norm (a number > 0 or none, default"),
        (OptimiserConfig, "boundaries (a list of ints > 0, default ()"),
        (GateConfig, "search (a table, default {}"),
        (TrainConfig, "optimiser (an OptimiserConfig"),
    ],
)
def test_help_shows_the_range_and_default_of_a_setting(section: type[Section], line: str) -> None:
    assert f"\n    {line}" in (section.__doc__ or "")


#: A change of SMALL and the beginning of the error message.
WRONG = [
    ("", "[games]", "games: no such section; did you mean game?"),
    ("", "batch", "a run file: expected TOML"),
    ("[run]", "window = 3\n[run]", "window: expected a table, got 3"),
    ("", "[gate]\nstep = 1", "gate.step: no such setting"),
    ("", "[gate]\ngames = 0", "gate.games: expected an int >= 1 for mode"),
    ("", '[gate]\nmethod = "sprt"\ngames = 435', "gate.games: expected at least 436"),
    ("", '[gate]\nmethod = "sprt"\nelo0 = 35', "gate.elo1: expected a number above elo0"),
    ("", "[gate.search]\nc_puct = -1", "gate.search.c_puct"),
    ("", "[window]\nsurprise_weight = 0.5", "window.surprise_weight: expected 0 without"),
    ("", "[selfplay]\nmoves = 1", "selfplay.moves"),
    ("", '[selfplay]\nopenings = "no.txt"', "selfplay.openings: no.txt does not exist"),
    ("", "[selfplay]\nsettings = 3", "selfplay.settings: expected a table, got 3"),
    ("", "[selfplay.search]\nseed = 3", "selfplay.search: expected a section [search]"),
    ("", "[search]\ntemperature = 0", "search.temperature: expected a number > 0"),
    ("", "[search]\ndirichlet_fraction = 0.0", "search.dirichlet_fraction: expected a number > 0"),
    ("", "[search]\nsims = 1", "search.sims"),
    ("", "[train.loss]\nvalue_weight = 'x'", "train.loss.value_weight: expected a number >= 0"),
    ("", "[train.loss]\nhorizons = [6, 0]", "train.loss.horizons"),
    ("", "[train.loss]\nshort_value_weight = 1\nhorizons = []", "train.loss.horizons"),
    ("", "[train.loss]\nscore_weight = 1", "train.loss.score_weight: expected 0, or games with"),
    ("", "learning_rate = inf", "train.optimiser.learning_rate"),
    ("", f"learning_rate = {10**400}", "train.optimiser.learning_rate"),
    ("", "rates = [0.1]", "train.optimiser.rates: expected none unless"),
    ("", "boundaries = [5]", "train.optimiser.boundaries: expected none unless"),
    ('"constant"', '"cosine"', "train.optimiser.total_steps"),
    ('"constant"', '"steps"', "train.optimiser.rates: expected 1, one more"),
    ('"constant"', '"steps"\nrates = [1, 1, 1]\nboundaries = [2, 1]', "train.optimiser.boundaries"),
    ("", "[distributed]\nactors = 0", "distributed.actors: expected an int of at least 1 or"),
    ("", '[distributed]\nactors = "many"', "distributed.actors: expected an int of at least 1 or"),
    ("", "[distributed]\ngpus = 1.5", "distributed.gpus: expected a fraction"),
    ("", "[distributed]\nresources = {GPU = 1}", "distributed.resources.GPU"),
    ("", "[distributed]\nresources = {disk = 0}", "distributed.resources.disk"),
    ('"tic_tac_toe"', '"chess"', "game: "),
    ('"tic_tac_toe"', "[]", "game.name: expected at least one game"),
    ('"tic_tac_toe"', '"tic_tac_toe"\nplanes = ["ko"]', "game: "),
    ('"tic_tac_toe"', '"tic_tac_toe"\nweights = [1, 2]', "game.weights: expected 1, one per"),
    ('"tic_tac_toe"', '["gomoku", "gomoku(board_size=8)"]', "network.kind"),
    (
        '"tic_tac_toe"',
        '["gomoku(board_size=8)", "othello"]',
        "game.name: expected games with equally many actions for each point",
    ),
    ('"tic_tac_toe"', '["tic_tac_toe", "tic_tac_toe"]', "game.name: expected games with different"),
    ('"tic_tac_toe"', '["go", "go(board_size=19)"]', "game.name: expected games with different"),
    (
        '"tic_tac_toe"',
        '["go(board_size=5)", "go(board_size=6)"]\n[selfplay]\nopenings = "x"',
        "selfplay.openings: expected None for several games, got 'x'",
    ),
    (
        '"tic_tac_toe"',
        '["go(komi=7.5)", "go(komi=-7.5)"]',
        "game.name: expected games with different",
    ),
    ("blocks = 1", "pooling_every = 5", "network.pooling_every: expected at most the 4 blocks"),
    ("batch_size = 64", "batch_size = 64\nprocesses = 3", "train.processes: expected a divisor"),
    ("batch_size = 64", "export_final_board = true", "train.export_final_board: expected false"),
    ("seed = 3", "seed = -3", "train.seed"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_an_invalid_run_file_is_refused_by_name(old: str, new: str, message: str) -> None:
    text = SMALL.replace(old, new) if old else f"{SMALL}{new}"
    with pytest.raises(pyengine.ConfigError) as error:
        RunFile.from_toml(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("game", ["gomoku", "othello"])
def test_ownership_is_supported_for_boards_of_stones(game: str) -> None:
    run = RunFile.from_toml(f'[game]\nname = "{game}"\n[train.loss]\nownership_weight = 1\n')
    assert run.train.loss.final_board


def test_ownership_is_refused_for_python_games(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("from toy_games import Matches, ToyGame\nGAME = ToyGame(Matches)\n")
    text = f'[game]\nname = "{own}:GAME"\nplanes = ["ones"]\n[train.loss]\nownership_weight = 1\n'
    with pytest.raises(pyengine.ConfigError, match="or games with a board of stones, got 1"):
        RunFile.from_toml(text)


@pytest.mark.parametrize("source", [None, "", "[game]", "[[[", Path("absent.toml")])
@pytest.mark.parametrize("resume", [True, False])
def test_an_invalid_run_leaves_no_folder(source: Any, resume: bool, tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError):
        train.train_run(source, tmp_path / "run", resume=resume)
    assert list(tmp_path.iterdir()) == []


STEPS = {"kind": "adamw", "schedule": "steps", "boundaries": [10], "rates": [1e-2, 1e-3]}
ROOM = {"threads": 2, "memory_limit": 10**9, "cache_entries": 1000}


@pytest.mark.parametrize(
    ("before", "changes"),
    [
        ({}, {"run": {"minutes": 5, "name": "other"}, "train": {"threads": 2}}),
        ({}, {"search": ROOM, "gate": {"threads": 2, "keep_rejected": True, "search": ROOM}}),
        ({}, {"distributed": {"actors": 3, "gpus": 0.5}}),
        (
            {"train": {"optimiser": STEPS}},
            {"train": {"optimiser": STEPS | {"boundaries": [10, 20], "rates": [1e-2, 1e-3, 1e-4]}}},
        ),
    ],
)
def test_some_settings_may_change_on_resume(
    before: dict[str, Any], changes: dict[str, Any]
) -> None:
    run_of(**changes).refuse_changes(run_of(**before))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train": {"optimiser": STEPS}}, "[train.optimiser] schedule: 'constant' is now 'steps'"),
        (
            {"network": {"blocks": 2}, "gate": {"games": 10}, "search": {"c_puct": 2.0}},
            "[gate] games: 4 is now 10; [network] blocks: 1 is now 2; [search] c_puct: None is now",
        ),
        ({"selfplay": {"concurrent_games": 9}}, "[selfplay] concurrent_games: 8 is now 9"),
        ({"game": {"name": "gomoku"}}, "game.name: expected tic_tac_toe, as the run there; got go"),
    ],
)
def test_other_settings_may_not_change_on_resume(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=re.escape(message)):
        run_of(**changes).refuse_changes(run_of())


def test_the_window_grows_more_slowly_than_the_data() -> None:
    window = WindowConfig(start=1000)
    sizes = [window.positions_of(total) for total in (10, 1000, 2000, 10_000, 100_000)]
    assert sizes[:2] == [10, 1000]
    assert sizes == sorted(sizes)
    assert 1000 < sizes[2] < 2000
    # (1 + 0.4 (100^0.75 - 1) / 0.75) of 1,000
    assert sizes[4] == round(1000 * (1 + 0.4 * (100**0.75 - 1) / 0.75))
    newest = window.games_of(games=5000, positions=100_000)
    assert newest == pytest.approx(5000 * sizes[4] / 100_000, abs=1)
    by_games = WindowConfig(kind="games", games=100)
    assert [by_games.games_of(games, games * 9) for games in (0, 40, 400)] == [1, 40, 100]


def test_the_learner_waits_for_positions() -> None:
    window = WindowConfig(minimum_positions=500, samples_per_position=4)
    assert [window.allowed_steps(n, 100) for n in (0, 499, 500, 1000)] == [0, 0, 20, 40]


@pytest.mark.parametrize(
    ("settings", "table"),
    [
        (
            {"schedule": "alphago_zero"},
            {0: 1e-2, 399_999: 1e-2, 400_000: 1e-3, 600_000: 1e-4, 10**400: 1e-4},
        ),
        (
            {"schedule": "alphago_zero_supervised"},
            {0: 1e-1, 200_000: 1e-2, 400_000: 1e-3, 600_000: 1e-4, 700_000: 1e-5},
        ),
        (
            {
                "schedule": "cosine",
                "learning_rate": 1.0,
                "warm_up": 9,
                "total_steps": 109,
                "final_fraction": 0.1,
            },
            {0: 0.1, 9: 1.0, 59: 0.55, 109: 0.1, 10**400: 0.1},
        ),
        (
            {"schedule": "steps", "boundaries": (10, 20), "rates": (1.0, 0.5, 0.25)},
            {9: 1.0, 10: 0.5, 19: 0.5, 20: 0.25, 10**400: 0.25},
        ),
    ],
    ids=lambda value: value.get("schedule", ""),
)
def test_schedules_return_their_rates(settings: dict[str, Any], table: dict[int, float]) -> None:
    config = OptimiserConfig(**settings)
    assert {step: train.learning_rate(config, step) for step in table} == pytest.approx(table)


def test_the_guide_lists_the_settings_that_may_change() -> None:
    page = (ROOT / "docs" / "guides" / "training.md").read_text()
    listed = page.split("These may change: ", 1)[1].split("\n\n", 1)[0]
    mutable: dict[str, set[str]] = {}
    for part in listed.split(";"):
        names = set(re.findall(r"`([a-z_]+)`", part))
        mutable |= dict.fromkeys(re.findall(r"`\[([a-z._]+)\]`", part), names)
    assert mutable == {
        "run": {"seed"},  # all except this
        "distributed": set(),  # all of it
        "train": set(LearnerConfig.FREE),
        "train.optimiser": set(OptimiserConfig.FREE),
        "search": set(runfile._FREE_SEARCH),
        "gate.search": set(runfile._FREE_SEARCH),
        "gate": set(runfile._FREE_GATE),
    }
    assert RunFile.from_toml(SMALL).fixed()["run"] == {"seed": 3}
