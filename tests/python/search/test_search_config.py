"""Settings of searches: validation, copies, fingerprints and TOML."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, Engine, ModelSpec, SearchConfig, SelfPlayConfig


@pytest.mark.parametrize(
    ("field", "values", "expected"),
    [
        ("c_puct", [0, float("nan"), float("inf"), "1", True, [1], None], "a number > 0"),
        ("seed", [-1, 2**64, 1.5, True, "1"], r"an int in \[0, 2\*\*64 - 1\]"),
    ],
)
def test_an_error_names_the_field_and_its_range(
    field: str, values: list[Any], expected: str
) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=f"^{field}: expected {expected}, got "):
            SearchConfig(**{field: value})
    with pytest.raises(ConfigError, match=f"^{field}: "):
        Engine("tic_tac_toe", "uniform", **{field: values[0]})


@pytest.mark.parametrize("kind", [SearchConfig, SelfPlayConfig, ModelSpec])
def test_an_unknown_field_is_named_with_the_known_ones(kind: Any) -> None:
    known = kind.fields()[0].name
    with pytest.raises(ConfigError, match=rf"^missp: unknown field .*\b{known}\b"):
        kind(missp=1)
    with pytest.raises(ConfigError, match=r"^missp: unknown field"):
        kind().replace(missp=1)


def test_the_closest_field_is_suggested() -> None:
    with pytest.raises(ConfigError, match=r"^simulation: .*; did you mean simulations"):
        SearchConfig(simulation=5)


@pytest.mark.parametrize(
    "call",
    [
        lambda game, **kw: Engine(game, "uniform", **kw),
        lambda game, **kw: Engine(game, "uniform").search(game.new_initial_state(), **kw),
        lambda game, **kw: Engine(game, "uniform").search_many([], **kw),
        lambda game, **kw: Engine(game, "uniform").analyze(game.new_initial_state(), **kw),
        lambda game, **kw: pyengine.search(game.new_initial_state(), evaluator="uniform", **kw),
    ],
)
def test_every_call_refuses_an_unknown_setting(call: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match=r"^missp: unknown field of .*; the fields are "):
        call(pyengine.load_game("connect_four"), missp=1)


def test_numpy_numbers_are_accepted() -> None:
    config = SearchConfig(c_puct=np.float32(0.5), threads=np.int64(2), solver=np.False_)
    assert config == SearchConfig(c_puct=0.5, threads=2, solver=False)
    assert config.to_toml() == SearchConfig(c_puct=0.5, threads=2, solver=False).to_toml()


def test_a_search_refuses_invalid_settings_and_the_engine_stays_usable() -> None:
    engine = Engine("tic_tac_toe", "uniform", simulations=50, solver=False)
    state = engine.game.new_initial_state()
    engine.search(state)
    for wrong in (
        {"c_puct": 0},
        {"threads": -1},
        {"fpu": "zero"},
        {"exploration": "log"},
        {"c_puct_stdev": 0.5, "algorithm": "gumbel"},
        {"root_c_puct": 1.5, "algorithm": "uct"},
        {"root_fpu_value": 0.0, "algorithm": "gumbel"},
    ):
        with pytest.raises(ConfigError, match=f"^{next(iter(wrong))}: "):
            engine.search(state, **wrong)
    assert engine.search(state).visits.sum() == 100


def test_a_memory_limit_of_at_least_eight_mebibytes_can_be_set_for_one_search() -> None:
    with pytest.raises(ConfigError, match=r"^memory_limit: expected an int in \[2\*\*23, "):
        Engine("tic_tac_toe", "uniform", memory_limit=1 << 20)
    engine = Engine("go(board_size=9)", "uniform", simulations=100_000)
    state = engine.game.new_initial_state()
    tight = engine.search(state, memory_limit=8 << 20)
    assert tight.visits.sum() == 100_000
    assert engine.stats()["bytes"] <= 8 << 20
    assert engine.search(state, reuse_tree=False).nodes > 1.2 * tight.nodes


def test_without_a_budget_there_are_800_simulations() -> None:
    engine = Engine("connect_four", "uniform")
    assert engine.search(engine.game.new_initial_state()).simulations == 800


def test_a_config_is_an_immutable_value() -> None:
    config = SearchConfig()
    with pytest.raises(AttributeError):
        config.c_puct = 2.0
    with pytest.raises(AttributeError):
        config.cpuct = 2.0
    with pytest.raises(TypeError):
        SearchConfig(800)
    assert config.replace(c_puct=2.0) == SearchConfig(c_puct=2.0)
    assert config != 1
    assert hash(config) == hash(SearchConfig())
    assert SearchConfig(c_puct=2) == SearchConfig(c_puct=2.0)


@pytest.mark.parametrize(
    "settings",
    [
        SearchConfig(),
        SearchConfig(simulations=5, seconds=0.25, c_puct_base=None, fpu="parent", seed=2**64 - 1),
        SearchConfig(in_flight=3, dirichlet_alpha=0.03, dirichlet_fraction=0.25, solver=False),
        SelfPlayConfig(seed=3),
        ModelSpec(),
    ],
)
def test_settings_survive_dict_toml_copy_and_pickle(settings: Any, tmp_path: Path) -> None:
    kind = type(settings)
    assert kind.from_dict(settings.to_dict()) == settings
    assert copy.deepcopy(settings) == settings.replace() == settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    if kind is SearchConfig:
        file = tmp_path / "settings.toml"
        file.write_text(settings.to_toml())
        assert kind.from_toml(file) == kind.from_toml(settings.to_toml()) == settings


def test_a_repr_shows_fields_that_differ_from_the_defaults() -> None:
    assert repr(SearchConfig(threads=2, fpu="parent")) == "SearchConfig(fpu='parent', threads=2)"


def test_fingerprints_differ_exactly_if_settings_differ() -> None:
    default = SearchConfig().fingerprint()
    assert default == "9b1b07d1fc54"  # a new field changes nothing while it has its default
    assert SearchConfig(root_policy_temperature=1).fingerprint() == default
    assert SearchConfig(root_policy_temperature=1.1).fingerprint() != default
    assert SearchConfig(fpu_value=-0.0).fingerprint() == SearchConfig(fpu_value=0).fingerprint()
    assert SearchConfig(seed=1).fingerprint() != default


def test_invalid_toml_is_refused() -> None:
    assert SearchConfig.from_toml("threads = 2") == SearchConfig(threads=2)
    with pytest.raises(ConfigError, match="invalid TOML"):
        SearchConfig.from_toml("threads = ")
    with pytest.raises(ConfigError, match=r"invalid TOML: .*; to read a file, pass a Path"):
        SearchConfig.from_toml("search.toml")
    with pytest.raises(ConfigError, match=r"^thread: unknown field"):
        SearchConfig.from_toml("thread = 2")
    with pytest.raises(ConfigError, match=r"^threads: expected"):
        SearchConfig.from_toml("threads = 2.5")
