"""Bundled networks on the command line: as games, with their komi, and where they do not fit."""

from __future__ import annotations

import json

import pytest

import pyengine
from commands import printed, run

pytestmark = pytest.mark.skipif(
    "go9" not in pyengine.bundled_models(), reason="this build has no go9"
)


@pytest.mark.parametrize(
    ("arguments", "komi"),
    [
        ("go9", 7.0),
        ("go9 -p komi=6", 6.0),
        ("go -p board_size=9", 7.0),
        ("go(board_size=7)", 9.5),
        ("go -p board_size=9 -m go9", 7.0),
        ("go(board_size=9,komi=5.5)", 5.5),
        ("go -p board_size=9 -m uniform", 7.5),
        ("go -p board_size=5", 7.5),
    ],
)
def test_the_default_komi_is_the_networks(arguments: str, komi: float) -> None:
    report = json.loads(printed("search", *arguments.split(), "-n", 2, "--json"))
    assert pyengine.load_game(report["game"]).params["komi"] == komi


def test_a_match_between_networks_has_their_komi(tmp_path: object) -> None:
    record = f"{tmp_path}/record"
    arguments = ("-p", "board_size=7", "--record", record, "-g", 2, "-n", 1)
    printed("match", "go", "random", "go7", *arguments)
    with open(record) as file:  # noqa: PTH123
        assert "komi=9.5" in file.readline()


COMMANDS = [
    "play go7 --human none -n 1 --moves pass,pass",
    "match go7 go7 random -g 2 -n 1",
    "selfplay go7 -g 1 -n 2 -o shards",
    "search connect4 -n 2",
    "solve connect4 --depth 1",
    "games go9",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_network_as_a_game(
    command: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert printed(*command.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("play go -m go9", "go9 plays 9x9: add -p board_size=9"),
        ("search go9 -p board_size=13", "go9 plays 9x9: add -p board_size=9"),
        ("match go go9 random", "go9 plays 9x9: add -p board_size=9"),
        ("selfplay go -m go9 -g 1", "go9 plays 9x9: add -p board_size=9"),
        ("search othello -m go9", "go9 plays go(board_size=9,komi=7), not othello"),
    ],
)
def test_a_network_that_does_not_fit_says_what_would(arguments: str, words: str) -> None:
    done = run(*arguments.split())
    assert done.status == (2 if "add" in words else 1)
    assert words in done.words
