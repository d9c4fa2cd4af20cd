"""Games have the parameters that load_game describes, moves and planes their descriptions."""

from __future__ import annotations

import re
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from described import blocks, evaluated, games
from pyengine.errors import ConfigError

_INTERVAL = re.compile(r"(int|float) in \[(.+), (.+)\]")


def refusal(game: str, **params: Any) -> str:
    with pytest.raises(ConfigError) as error:
        pyengine.load_game(game, **params)
    return str(error.value)


def test_every_game_is_described() -> None:
    assert sorted(games()) == sorted(pyengine.registered_games())


@pytest.mark.parametrize("name", pyengine.registered_games())
def test_parameters_of_games(name: str) -> None:
    parameters = games()[name].inner
    known = re.search(r"expected (?:only (.*)|no parameters), got", refusal(name, nothing=1))
    assert known is not None
    assert [p.name for p in parameters] == re.findall(r'"(\w+)"', known.group(1) or "")
    default = pyengine.load_game(name).params
    values: dict[str, Any] = {}
    for parameter in parameters:
        values[parameter.name] = evaluated(parameter.default, values)
        assert default.get(parameter.name, values[parameter.name]) == values[parameter.name]
        assert parameter.meaning


@pytest.mark.parametrize("name", pyengine.registered_games())
def test_ranges_of_parameters(name: str) -> None:
    pairs = {("go", "rows"): {"columns": 3}, ("go", "columns"): {"rows": 3}}
    for parameter in games()[name].inner:
        beside = pairs.get((name, parameter.name), {})
        text = refusal(name, **{parameter.name: "nothing"}, **beside)
        expected = text.split("expected ")[1].split(", got")[0]
        if low_high := re.fullmatch(r"an? (integer|number) in (.+)\.\.(.+)", expected):
            kind, low, high = low_high.groups()
            word = "int" if kind == "integer" else "float"
            interval = _INTERVAL.fullmatch(parameter.values)
            assert interval is not None
            assert interval.group(1) == word
            assert [evaluated(interval.group(i)) for i in (2, 3)] == [float(low), float(high)]
        elif expected == "true or false":
            assert parameter.values == "bool"
        else:
            assert re.findall(r'"(\w+)"', expected) == re.findall(r'"(\w+)"', parameter.values)


@pytest.mark.parametrize("name", ["gomoku", "othello", "go", "connect_four"])
def test_moves_as_the_page_writes_them(name: str) -> None:
    lines = (ROOT / "docs" / "games.md").read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{name}` "))
    state = pyengine.load_game(name).new_initial_state()
    for move in re.findall(r"`(\w+)`", row.split("|")[3]):
        state.string_to_action(move)
    assert str(state.game.num_symmetries) in row.split("|")[4]


# --- planes


def test_every_plane_is_described() -> None:
    with pytest.raises(ConfigError) as error:
        pyengine.ModelSpec(planes=("nothing",))
    known = set(str(error.value).split("the planes are ")[1].split(", "))
    described = {entry.name for entry in blocks(pyengine.ModelSpec.__doc__ or "")["Planes"]}
    assert described == known - {"liberties[k+]"}  # of which the entry of liberties[k] tells
