"""The documentation of games, moves and planes matches the code."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine.errors import ConfigError

Parameter = tuple[str, str, str]  # name, values, default


def block(documented: Any, title: str) -> str:
    """Return an indented block of a docstring."""
    doc = inspect.cleandoc(documented.__doc__ or "")
    return doc.split(f"\n{title}:\n")[1].split("\n\n")[0]


def games() -> dict[str, list[Parameter]]:
    """Return the games and their parameters in the docstring of ``load_game``."""
    parts = re.split(r"^    (\w+): ", block(pyengine.load_game, "Games"), flags=re.MULTILINE)[1:]
    parameter = re.compile(r"^        (\w+) \((.+), default (.+?)\): ", re.MULTILINE)
    return {
        name: parameter.findall(body) for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def refusal(game: str, **params: Any) -> str:
    with pytest.raises(ConfigError) as error:
        pyengine.load_game(game, **params)
    return str(error.value)


def test_every_game_is_described() -> None:
    assert sorted(games()) == sorted(pyengine.registered_games())


@pytest.mark.parametrize("name", pyengine.registered_games())
def test_every_parameter_of_a_game_is_described_with_its_default(name: str) -> None:
    known = re.search(r"expected (?:only (.*)|no parameters), got", refusal(name, nothing=1))
    assert known is not None
    assert [parameter for parameter, _, _ in games()[name]] == re.findall(
        r'"(\w+)"', known.group(1) or ""
    )
    actual = pyengine.load_game(name).params
    defaults: dict[str, Any] = {}
    for parameter, _, default in games()[name]:
        defaults[parameter] = eval(default, {}, defaults)
        assert actual.get(parameter, defaults[parameter]) == defaults[parameter]


@pytest.mark.parametrize("name", pyengine.registered_games())
def test_the_values_of_parameters_are_described(name: str) -> None:
    pairs = {("go", "rows"): {"columns": 3}, ("go", "columns"): {"rows": 3}}
    for parameter, values, _ in games()[name]:
        text = refusal(name, **{parameter: "nothing"}, **pairs.get((name, parameter), {}))
        expected = text.split("expected ")[1].split(", got")[0]
        if interval := re.fullmatch(r"an? (integer|number) in (.+)\.\.(.+)", expected):
            kind, low, high = interval.groups()
            described = re.fullmatch(r"(int|float) in \[(.+), (.+)\]", values)
            assert described is not None
            assert described.group(1) == {"integer": "int", "number": "float"}[kind]
            assert [eval(described.group(i)) for i in (2, 3)] == [float(low), float(high)]
        elif expected == "true or false":
            assert values == "bool"
        else:
            assert re.findall(r'"(\w+)"', expected) == re.findall(r'"(\w+)"', values)


@pytest.mark.parametrize("name", ["gomoku", "othello", "go", "connect_four"])
def test_moves_on_the_page_are_legal(name: str) -> None:
    lines = (ROOT / "docs" / "games.md").read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{name}` "))
    state = pyengine.load_game(name).new_initial_state()
    for move in re.findall(r"`(\w+)`", row.split("|")[3]):
        state.string_to_action(move)
    assert str(state.game.num_symmetries) in row.split("|")[4]


def test_every_plane_is_described() -> None:
    with pytest.raises(ConfigError) as error:
        pyengine.ModelSpec(planes=("nothing",))
    known = set(str(error.value).split("the planes are ")[1].split(", "))
    described = set(
        re.findall(r"^    ([\w\[\]*]+): ", block(pyengine.ModelSpec, "Planes"), re.MULTILINE)
    )
    assert described == known - {"liberties[k+]"}  # described with liberties[k]
