"""``pyengine match``: report, exit status and resumption after Ctrl-C."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import printed, run
from pyengine.match import RandomPlayer


def match(arguments: str, *more: object) -> str:
    return printed("match", *arguments.split(), *more)


def test_a_match_is_reported_as_text_and_as_json() -> None:
    arguments = "tic_tac_toe rollout uniform -n 20 --games 6 --plies 1"
    text = match(arguments, "--sprt", "0,50")
    assert text.startswith("rollout - uniform: 6 games: +")
    assert "SPRT: not decided after 3 pairs" in text
    fields = json.loads(match(arguments, "--json"))
    assert fields["wins"] + fields["draws"] + fields["losses"] == fields["games"] == 6


def test_games_may_be_cut_short() -> None:
    """Four moves never make three in a row."""
    text = match("tic_tac_toe uniform rollout -n 8 --max-plies 4 --plies 2 --games 6 --json")
    assert json.loads(text)["draws"] == 6


def test_simple_players_need_no_search() -> None:
    text = match("tic_tac_toe value:rollout random --games 10 --plies 0")
    assert text.startswith("value:rollout - random: 10 games: +")


def test_each_side_has_separate_settings(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    sides = "--set-a collision=virtual_loss --set-b solver=false --set-b in_flight=1"
    match(f"tic_tac_toe uniform uniform -n 8 --games 2 {sides} --record", record)
    header = json.loads(record.read_text().splitlines()[0])
    assert header["a"]["settings"] == {"simulations": 8, "collision": "virtual_loss"}
    assert header["b"]["settings"] == {"simulations": 8, "solver": False, "in_flight": 1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("chess uniform uniform", "unknown game"),
        ("tic_tac_toe uniform no.onnx", "neither a file nor"),
        ("tic_tac_toe value:no.onnx random", "neither a file nor"),
        ("tic_tac_toe value:rollout random --set-b solver=false", "need a player that searches"),
        ("tic_tac_toe uniform uniform --set-a solver", "NAME=VALUE"),
        ("tic_tac_toe uniform uniform --set-b nothing=1", "nothing"),
        ("tic_tac_toe uniform uniform --sprt 5", "ELO0,ELO1"),
        ("tic_tac_toe uniform uniform --sprt 5,1", "elo0"),
        ("tic_tac_toe uniform uniform --max-value 0.5", "evaluator"),
    ],
)
def test_wrong_use_exits_with_2_and_a_message(arguments: str, words: str) -> None:
    done = run("match", *arguments.split())
    assert done.status == 2
    assert words in done.words


def test_ctrl_c_prints_the_finished_games_and_the_match_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = RandomPlayer.search_many
    rounds = iter(range(60))

    def interrupted(player: Any, states: Any) -> Any:
        if next(rounds, None) is None:
            raise KeyboardInterrupt
        return search(player, states)

    record = tmp_path / "games.jsonl"
    arguments = ["match", "connect_four", "random", "random", "--concurrent", "2",
                 "--record", record, "--games"]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(RandomPlayer, "search_many", interrupted)
        done = run(*arguments, 1000)
    assert done.status == 130
    assert "ended early: interrupted" in done.out
    assert "the same command resumes" in done.words
    finished = record.read_text().count("\n") - 1
    assert 0 < finished < 1000
    assert "40 games" in printed(*arguments, 40)
    assert record.read_text().count("\n") == 41
