"""An unknown setting raises a ConfigError that names it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import pyengine
from pyengine import ConfigError, ModelSpec, SearchConfig, SelfPlayConfig


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (SearchConfig, "simulations"),
        (SelfPlayConfig, "concurrent_games"),
        (ModelSpec, "planes"),
    ],
)
def test_an_error_names_the_unknown_field_and_lists_the_known_ones(kind: Any, known: str) -> None:
    with pytest.raises(ConfigError, match=rf"^missp: unknown field .*\b{known}\b"):
        kind(missp=1)


def test_the_closest_field_is_suggested() -> None:
    words = (
        r"^simulation: unknown field of SearchConfig; did you mean simulations\? The fields are "
    )
    with pytest.raises(ConfigError, match=words):
        SearchConfig(simulation=5)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "call",
    [
        lambda game, **kw: pyengine.Engine(game, "uniform", **kw),
        lambda game, **kw: pyengine.Engine(game, "uniform").search(game.new_initial_state(), **kw),
        lambda game, **kw: pyengine.Engine(game, "uniform").search_many([], **kw),
        lambda game, **kw: pyengine.Engine(game, "uniform").analyze(game.new_initial_state(), **kw),
        lambda game, **kw: pyengine.search(game.new_initial_state(), evaluator="uniform", **kw),
        lambda game, **kw: SearchConfig().replace(**kw),
        lambda game, **kw: SelfPlayConfig().replace(**kw),
    ],
)
def test_an_unknown_keyword_is_named(call: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match=r"^missp: unknown field of .*; the fields are "):
        call(pyengine.load_game("connect_four"), missp=1)


@pytest.mark.parametrize("settings", [SearchConfig(seed=3), SelfPlayConfig(seed=3), ModelSpec()])
def test_settings_are_copied_and_pickled(settings: Any) -> None:
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert copy.deepcopy(settings) == settings
    assert settings.replace() == settings


def test_a_spec_refuses_a_value_of_the_wrong_type() -> None:
    with pytest.raises(ConfigError, match=r"^value: expected"):
        ModelSpec(value=3)  # type: ignore[arg-type]
