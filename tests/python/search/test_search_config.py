"""SearchConfig: every field is checked by name, and is the same in Python and C++."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from pyengine import ConfigError, Engine, SearchConfig, _core

FIELDS = [field.name for field in dataclasses.fields(SearchConfig)]
NAN = float("nan")
INF = float("inf")
OUT_OF_RANGE: dict[str, list[Any]] = {
    "simulations": [0, -1, 2**32],
    "seconds": [0, -1.0, NAN, INF],
    "algorithm": ["gumbel-x", "", "PUCT"],
    "c_puct": [0, -1, NAN, INF],
    "c_puct_base": [0, -1, NAN, INF],
    "c_puct_factor": [-0.1, NAN, INF],
    "fpu": ["zero", "", "Parent"],
    "fpu_value": [-2.1, 2.1, NAN, INF],
    "threads": [-1, 1025],
    "batch_size": [0, -1, 4097],
    "in_flight": [0, -1, 65536],
    "choose": ["best", ""],
    "exploration": ["alphago-zero", "log"],
    "uct_c": [-1, NAN, INF],
    "expand_probability": [0, -0.1, 1.1, NAN],
    "collision": ["virtual", "none"],
    "virtual_loss": [-1, NAN, INF],
    "symmetry": ["all", "off"],
    "dirichlet_alpha": [0, -1, NAN, INF],
    "dirichlet_fraction": [-0.1, 1.1, NAN],
    "root_policy_temperature": [0, -1, NAN, INF],
    "temperature": [-1, NAN, INF],
    "cache_entries": [-1, 2**33],
    "memory_limit": [0, -1, 1 << 20, (8 << 20) - 1],
    "seed": [-1, 2**64],
    "endgame_solver_empties": [-1, 65],
    "gumbel_actions": [0, -1, 65536],
    "gumbel_c_visit": [-1, NAN, INF],
    "gumbel_c_scale": [-1, NAN, INF],
}
TYPES: list[tuple[str, list[Any]]] = [
    ("simulations threads batch_size in_flight seed", ["8", 8.5, True]),
    ("cache_entries memory_limit", ["8", 1e9, True, None]),
    ("seconds c_puct c_puct_base c_puct_factor", ["1", True, [1]]),
    ("fpu_value virtual_loss temperature", ["1", True, None]),
    ("dirichlet_alpha dirichlet_fraction root_policy_temperature", ["1", True, ()]),
    ("gumbel_c_visit gumbel_c_scale", ["1", True, None]),
    ("algorithm fpu choose exploration collision symmetry", [1, None, b"none"]),
    ("uct_c expand_probability", ["1", True, None]),
    ("gumbel_actions endgame_solver_empties", ["8", 8.5, True]),
    ("reuse_tree solver deterministic gumbel_noise dirichlet_shaped", [1, "yes", None]),
]
WRONG_TYPE = {name: values for names, values in TYPES for name in names.split()}


def cases(table: dict[str, list[Any]]) -> list[Any]:
    return [
        pytest.param(name, value, id=f"{name}={value!r}")
        for name, values in table.items()
        for value in values
    ]


@pytest.mark.parametrize(
    ("field", "value", "range_of_it"),
    [("seed", -1, "from 0 to 2^64 - 1"), ("threads", 2**31, "from -2^31 to 2^31 - 1")],
)
def test_an_integer_that_does_not_fit_its_type_is_told_the_range(
    field: str, value: int, range_of_it: str
) -> None:
    with pytest.raises(ConfigError, match=rf"{field}: expected an int {re.escape(range_of_it)}"):
        SearchConfig(**{field: value})


def test_every_field_is_tried_with_a_wrong_type_and_all_with_a_range_out_of_it() -> None:
    assert set(WRONG_TYPE) == set(FIELDS)
    assert set(FIELDS) - set(OUT_OF_RANGE) == {
        "reuse_tree",
        "solver",
        "deterministic",
        "gumbel_noise",
        "dirichlet_shaped",
    }


@pytest.mark.parametrize(("name", "value"), cases(OUT_OF_RANGE))
def test_out_of_range_names_the_field_and_what_was_found(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: expected .*found") as error:
        SearchConfig(**{name: value})
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(("name", "value"), cases(WRONG_TYPE))
def test_a_wrong_type_names_the_field(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: expected .*found"):
        SearchConfig(**{name: value})
    with pytest.raises(ConfigError, match=f"^{name}: "):
        Engine("tic_tac_toe", "uniform", **{name: value})


def test_a_search_refuses_the_same_and_goes_on_afterwards() -> None:
    engine = Engine("tic_tac_toe", "uniform", simulations=50, solver=False)
    state = engine.game.new_initial_state()
    engine.search(state)
    for name, values in OUT_OF_RANGE.items():
        with pytest.raises(ConfigError, match=f"^{name}: "):
            engine.search(state, **{name: values[0]})
    assert engine.search(state).visits.sum() == 100


def test_a_memory_of_one_mebibyte_is_refused_and_eight_are_enough() -> None:
    with pytest.raises(ConfigError) as error:
        Engine("tic_tac_toe", "uniform", memory_limit=1 << 20)
    assert str(error.value) == (
        "memory_limit: expected at least 8388608 bytes (8 MiB), found 1048576"
    )
    engine = Engine("go(board_size=9)", "uniform", memory_limit=8 << 20, simulations=100_000)
    result = engine.search(engine.game.new_initial_state())
    assert result.visits.sum() == 100_000
    assert engine.stats()["bytes"] <= 8 << 20
    assert result.action in result.actions


def test_an_unknown_field_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"simulation: no field .*simulations"):
        SearchConfig().replace(simulation=3)
    with pytest.raises(ConfigError, match="simulation: no field"):
        Engine("tic_tac_toe", "uniform", simulation=3)
    engine = Engine("tic_tac_toe", "uniform")
    with pytest.raises(ConfigError, match="cpuct: no field"):
        engine.search(engine.game.new_initial_state(), cpuct=3)


def test_a_memory_limit_for_one_search_holds_in_it() -> None:
    engine = Engine("go(board_size=9)", "uniform", simulations=400_000)
    state = engine.game.new_initial_state()
    tight = engine.search(state, memory_limit=8 << 20)
    assert tight.visits.sum() == 400_000
    assert engine.stats()["bytes"] <= 8 << 20
    assert engine.search(state, reuse_tree=False).nodes > 4 * tight.nodes


def test_the_defaults_are_those_of_the_api_and_of_cpp() -> None:
    config = SearchConfig()
    native = dict(_core.default_search_config())
    assert native == config.as_core()
    assert config.c_puct == 1.25
    assert (config.c_puct_base, config.c_puct_factor) == (19652, 1.0)
    assert (config.fpu, config.fpu_value) == ("reduction", 0.25)
    assert (config.batch_size, config.in_flight, config.threads) == (8, None, 0)
    assert (config.cache_entries, config.memory_limit) == (2**17, 2 << 30)
    assert (config.simulations, config.seconds) == (None, None)
    assert (config.solver, config.reuse_tree, config.deterministic) == (True, True, False)


def test_without_a_budget_there_are_800_simulations() -> None:
    engine = Engine("connect_four", "uniform")
    assert engine.search(engine.game.new_initial_state()).simulations == 800


def test_the_extremes_of_the_ranges_are_allowed() -> None:
    SearchConfig(threads=1024, batch_size=4096, in_flight=65535, seed=2**64 - 1)
    SearchConfig(fpu_value=-2, dirichlet_fraction=1, cache_entries=0, memory_limit=8 << 20)
    SearchConfig(simulations=2**32 - 1, virtual_loss=0, c_puct_factor=0, temperature=1e6)


def test_a_config_cannot_be_changed_and_is_compared_by_value() -> None:
    config = SearchConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.c_puct = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        SearchConfig(800)  # type: ignore[call-arg, misc]
    assert config.replace(c_puct=2.0) == SearchConfig(c_puct=2.0)
    assert config.replace() == config
    assert hash(config) == hash(SearchConfig())


def test_fields_added_later_leave_the_fingerprint_as_it_was() -> None:
    before = "9b1b07d1fc54"
    assert SearchConfig().fingerprint() == before
    assert SearchConfig(root_policy_temperature=1).fingerprint() == before
    assert SearchConfig(root_policy_temperature=1.1).fingerprint() != before
    assert SearchConfig(dirichlet_shaped=True).fingerprint() != before


def test_fingerprints_tell_settings_apart() -> None:
    assert SearchConfig().fingerprint() == SearchConfig().fingerprint()
    assert SearchConfig().fingerprint() != SearchConfig(seed=1).fingerprint()


@pytest.mark.parametrize(
    "config",
    [
        SearchConfig(),
        SearchConfig(simulations=5, seconds=0.25, c_puct_base=None, fpu="parent", seed=2**64 - 1),
        SearchConfig(in_flight=3, dirichlet_alpha=0.03, dirichlet_fraction=0.25, solver=False),
    ],
)
def test_toml_keeps_everything(config: SearchConfig, tmp_path: Path) -> None:
    assert SearchConfig.from_toml(config.to_toml()) == config
    file = tmp_path / "search.toml"
    file.write_text(config.to_toml())
    assert SearchConfig.from_toml(file) == config


def test_toml_that_does_not_fit_says_so() -> None:
    assert SearchConfig.from_toml("threads = 2") == SearchConfig(threads=2)
    with pytest.raises(ConfigError, match="not TOML"):
        SearchConfig.from_toml("threads = ")
    with pytest.raises(ConfigError, match=r"not TOML: .*; the file of that name is Path\(...\)"):
        SearchConfig.from_toml("search.toml")
    with pytest.raises(ConfigError, match=r"^thread: no field"):
        SearchConfig.from_toml("thread = 2")
    with pytest.raises(ConfigError, match=r"^threads: expected"):
        SearchConfig.from_toml("threads = 2.5")
