"""The documentation of games, moves and planes matches the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine.errors import ConfigError

_INTERVAL = re.compile(r"(int|float) in \[(.+), (.+)\]")

_ENTRY = re.compile(r"([\w\[\]\*]+)(?: \((.*?), default (.*?)\))?: (.*)", re.S)


@dataclass(frozen=True)
class Entry:
    """An entry of a docstring block: ``name (values, default DEFAULT): meaning``."""

    name: str
    values: str  #: "" if absent
    default: str
    meaning: str
    inner: tuple[Entry, ...] = ()  #: parameters of a game


def blocks(doc: str) -> dict[str, tuple[Entry, ...]]:
    """Return the blocks of a docstring by title, such as ``Planes`` and ``Games``."""
    titled: dict[str, tuple[Entry, ...]] = {}
    lines = inspect.cleandoc(doc).splitlines()
    for number, line in enumerate(lines):
        if re.fullmatch(r"[A-Z]\w+:", line):
            body = list(_indented(lines[number + 1 :]))
            if any(_ENTRY.match(entry) for entry in body):
                titled[line[:-1]] = tuple(_entries(body))
    return titled


def _indented(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a block without their indentation."""
    for line in lines:
        if line and not line.startswith("    "):
            return
        yield line[4:]


def _entries(lines: list[str]) -> Iterator[Entry]:
    """Yield entries. Indented lines continue an entry or are its inner entries."""
    groups: list[list[str]] = []
    for line in lines:
        if line.startswith("    "):
            groups[-1].append(line[4:])
        elif line:
            groups.append([line])
    for first, *rest in groups:
        inner = next((i for i, line in enumerate(rest) if _is_setting(line)), len(rest))
        text = " ".join([first, *(line.strip() for line in rest[:inner] if line.strip())])
        match = _ENTRY.fullmatch(text)
        if match is not None:
            name, values, default, meaning = match.groups(default="")
            yield Entry(name, values, default, meaning, tuple(_entries(rest[inner:])))


def _is_setting(line: str) -> bool:
    return re.match(r"\w+ \(", line) is not None and "," in line


def games() -> dict[str, Entry]:
    """Return the games in the docstring of ``load_game``."""
    return {entry.name: entry for entry in blocks(pyengine.load_game.__doc__ or "")["Games"]}


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
        values[parameter.name] = eval(parameter.default, {}, values)
        assert default.get(parameter.name, values[parameter.name]) == values[parameter.name]
        assert parameter.meaning


@pytest.mark.parametrize("name", pyengine.registered_games())
def test_ranges_of_parameters(name: str) -> None:
    pairs = {("go", "rows"): {"columns": 3}, ("go", "columns"): {"rows": 3}}
    for parameter in games()[name].inner:
        others = pairs.get((name, parameter.name), {})
        text = refusal(name, **{parameter.name: "nothing"}, **others)
        expected = text.split("expected ")[1].split(", got")[0]
        if low_high := re.fullmatch(r"an? (integer|number) in (.+)\.\.(.+)", expected):
            kind, low, high = low_high.groups()
            word = "int" if kind == "integer" else "float"
            interval = _INTERVAL.fullmatch(parameter.values)
            assert interval is not None
            assert interval.group(1) == word
            assert [eval(interval.group(i)) for i in (2, 3)] == [float(low), float(high)]
        elif expected == "true or false":
            assert parameter.values == "bool"
        else:
            assert re.findall(r'"(\w+)"', expected) == re.findall(r'"(\w+)"', parameter.values)


@pytest.mark.parametrize("name", ["gomoku", "othello", "go", "connect_four"])
def test_moves_on_the_page_are_legal(name: str) -> None:
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
    assert described == known - {"liberties[k+]"}  # described with liberties[k]
