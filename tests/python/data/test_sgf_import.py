"""Import of human games (SGF) as training data."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, all_rows, finished, write
from pyengine import ConfigError, ModelSpec
from pyengine.data import Dataset, export_sgf, import_sgf
from pyengine.data.record import GameLine
from pyengine.data.targets import final_boards

pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")

GO5 = pyengine.load_game("go", board_size=5, komi=6.5, max_game_length=60)
GOMOKU = pyengine.load_game("gomoku", board_size=9)
FIVE = "".join(f";B[{c}a];W[{c}c]" for c in "abcd") + ";B[ea]"
TURNED = ModelSpec(
    planes=("own[0]", "mover_sign", "opp[0:2]"), layout="NHWC", policy_rows="bottom_up"
)


def import_text(
    folder: Path, text: str, game: Any = GO5, **options: Any
) -> tuple[Any, list[dict[str, Any]]]:
    """Import a file with this text; return the report and the imported games."""
    folder.mkdir(exist_ok=True)
    file = folder / "games.sgf"
    file.write_text(text, encoding="utf-8")
    report = import_sgf(file, folder / "data", game, PLAIN, **options)
    if not report.games:
        return report, []
    lines = (folder / "data" / "shard-000000.games.jsonl").read_text().splitlines()
    return report, [json.loads(line) for line in lines]


def test_exported_games_are_imported_unchanged(rng: random.Random, tmp_path: Path) -> None:
    games = [finished(GO5, TURNED, number, rng) for number in range(4)]
    data = write(tmp_path / "data", GO5, TURNED, games)
    export_sgf(data, tmp_path / "sgf")
    report = import_sgf(tmp_path / "sgf", tmp_path / "again", GO5, TURNED)
    total = sum(len(one.visits) for one in games)
    assert (report.games, report.positions, dict(report.skipped)) == (4, total, {})
    ours, theirs = all_rows(data), all_rows(tmp_path / "again")
    for name in ("planes", "value", "game", "ply"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    np.testing.assert_array_equal(theirs["root_value"], theirs["value"])
    assert np.all(np.isnan(theirs["network_value"]))
    assert np.all(theirs["full"])
    played = [
        25 if action == 25 else (4 - action // 5) * 5 + action % 5  # policy_rows is bottom_up
        for one in games
        for action in one.moves
    ]
    np.testing.assert_array_equal(theirs["policy"], np.eye(26, dtype=np.float32)[played])


BROKEN = {
    "unreadable": "not a record",
    "another board size": "(;SZ[9]RE[B+];B[aa];W[bb])",
    "start position not allowed": "(;SZ[5]RE[B+]AB[ab][ba]AW[aa];B[cc])",
    "a player moves twice": "(;SZ[5]RE[B+];B[aa];B[dd])",
    "illegal move": "(;SZ[5]RE[B+];B[aa];W[aa])",
    "no moves": "(;SZ[5]RE[B+])",
    "no result": "(;SZ[5]RE[Void];B[aa];W[bb])",
    "won by time or forfeit": "(;SZ[5]RE[B+T];B[aa];W[bb])",
}


def test_skipped_records_are_counted_by_reason(tmp_path: Path) -> None:
    folder = tmp_path / "sgf" / "deep"
    folder.mkdir(parents=True)
    for number, (reason, text) in enumerate(BROKEN.items()):
        (folder / f"{number}.sgf").write_text(text)
        (folder / f"{number}.txt").write_text(reason)
    many = "(;SZ[5]RE[W+Resign];B[aa](;W[bb];B[])(;W[cc]))\n(;SZ[5];B[aa])(;SZ[5]RE[0];B[tt];W[ee])"
    (folder / "many.SGF").write_text(many)
    report = import_sgf(tmp_path / "sgf", tmp_path / "data", GO5, PLAIN)
    assert (report.games, report.positions) == (2, 5)
    assert report.skipped == {**dict.fromkeys(BROKEN, 1), "no result": 2}
    assert "skipped 1: illegal move, for example" in str(report)
    illegal = list(BROKEN).index("illegal move")
    assert f"{illegal}.sgf: move 2:" in report.examples["illegal move"]
    lines = (tmp_path / "data" / "shard-000000.games.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert (first["moves"], first["resigned"], first["returns"]) == ([0, 6, 25], 0, [-1.0, 1.0])
    assert (second["moves"], second["resigned"], second["returns"]) == ([25, 24], -1, [0.0, 0.0])
    again = import_sgf(folder / "many.SGF", tmp_path / "data", GO5, PLAIN)
    assert again.games == 2
    assert Dataset(tmp_path / "data", verify=True).games == 4


@pytest.mark.parametrize(
    ("result", "black", "resigned"),
    [("B+3.5", 1, -1), ("W+", -1, -1), ("B+R", 1, 1), ("W+Resign", -1, 0), ("Draw", 0, -1)],
)
def test_the_value_is_the_result_in_re(
    result: str, black: float, resigned: int, tmp_path: Path
) -> None:
    _, (line,) = import_text(tmp_path, f"(;SZ[5]RE[{result}];B[aa];W[bb])")
    assert (line["returns"], line["resigned"]) == ([black, -black], resigned)


#: Truncated or invalid files.
BROKEN_TEXTS = (
    "", "(", "()", ")", "(;", "(;SZ[]RE[B+];B[aa])", "(;SZ[-1];B[aa])", f"(;SZ[{'9' * 400}])",
    "(" * 9_999, "(;" * 9_999, "(;SZ[5]RE[0]" * 9_999 + ")" * 9_999,
)  # fmt: skip


def test_invalid_files_are_skipped_with_a_reason(tmp_path: Path) -> None:
    for text in BROKEN_TEXTS:
        report, _ = import_text(tmp_path, text)
        assert report.games == 0
        assert report.skipped.total() >= 1
        assert str(tmp_path / "games.sgf") in str(report)


def test_damage_anywhere_in_a_record_raises_nothing(tmp_path: Path, rng: random.Random) -> None:
    whole = b"(;GM[1]SZ[5]KM[7.5]RE[B+3.5]C[a\\]b];B[aa];W[bb](;B[];W[tt])(;AB[aa:bb][cc];W[dd]))"
    files = []
    for number in range(len(whole)):
        flipped = bytearray(whole)
        flipped[number] ^= 1 << rng.randrange(8)
        for name, content in (("cut", whole[:number]), ("flipped", flipped)):
            files.append(tmp_path / f"{name}-{number}.sgf")
            files[-1].write_bytes(content)
    report = import_sgf(files, tmp_path / "data", GO5, PLAIN)
    assert report.games + report.skipped.total() >= len(files)  # damage may split a game in two
    assert Dataset(tmp_path / "data", verify=True).games == report.games


def test_no_directory_is_left_if_no_game_is_imported(tmp_path: Path) -> None:
    file = tmp_path / "large.sgf"
    file.write_text(BROKEN["another board size"])
    report = import_sgf(file, tmp_path / "data", GO5, PLAIN)
    assert report.examples["another board size"] == f"{file}: expected 5x5, got 9x9"
    assert not (tmp_path / "data").exists()
    (tmp_path / "mine").mkdir()
    import_sgf(file, tmp_path / "mine", GO5, PLAIN)
    assert (tmp_path / "mine").exists()


def test_the_command_fails_if_no_game_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer", reason="the extra cli is not installed")
    from pyengine.cli import main

    monkeypatch.chdir(tmp_path)
    Path("games").mkdir()
    command = ["convert", "sgf", "games", "--output", "people", "--game"]
    assert main([*command, "go"]) == 2
    assert "got no SGF file with a game" in capsys.readouterr().err
    Path("games", "small.sgf").write_text("(;SZ[5]RE[B+];B[aa];W[bb])")
    assert main([*command, "go"]) == 2
    output = capsys.readouterr()
    assert "another board size, for example games/small.sgf: expected 19x19, got 5x5" in output.err
    assert output.out == ""
    assert not Path("people").exists()
    assert main([*command, "go(board_size=5)"]) == 0
    assert Dataset("people").games == 1
    Path("games", "small.sgf").write_text("(;SZ[5]KM[5.5]RE[B+];B[aa];W[bb])")
    command[command.index("people")] = "shared"
    assert main([*command, "go(board_size=5)", "--komi", "file"]) == 0
    assert Dataset("shared").layout.load_game().params["komi"] == 5.5
    assert main([*command, "go(board_size=5)", "--komi", "5.5"]) == 2


def test_games_with_handicap_or_set_up_stones_are_imported(tmp_path: Path) -> None:
    report, lines = import_text(
        tmp_path,
        "(;SZ[5]KM[6.5]RE[B+3]HA[2]AB[bb][dd];W[cc];B[cb])"
        "(;SZ[5]KM[6.5]RE[W+R];B[aa];W[bb])"
        "(;SZ[5]KM[6.5]RE[B+9.5]AB[aa:ce]AW[ee];B[];W[])",
    )
    assert (report.games, dict(report.skipped)) == (3, {})
    assert report.accepted == {"handicap or set-up stones": 2}
    boards = []
    for line in lines:
        text = line.get("start")
        state = GO5.new_initial_state() if text is None else GO5.deserialize_state(text)
        boards.append("/".join(state.board_rows()))
        for action in line["moves"]:
            state.apply_action(action)
    assert boards == ["...../.X.../...../...X./.....", "/".join(["....."] * 5),
                      "XXX../XXX../XXX../XXX../XXX.O"]  # fmt: skip
    assert all_rows(tmp_path / "data")["value"].tolist() == [-1.0, 1.0, -1.0, 1.0, 1.0, -1.0]


def test_set_up_stones_appear_in_exported_sgf_and_on_the_last_board(tmp_path: Path) -> None:
    text = "(;SZ[5]KM[6.5]RE[B+9.5]AB[aa:ce]AW[ee];B[];W[])"
    import_text(tmp_path, text)
    (file,) = export_sgf(tmp_path / "data", tmp_path / "sgf")
    assert b"AW[ee]" in file.read_bytes()
    report = import_sgf(tmp_path / "sgf", tmp_path / "again", GO5, PLAIN)
    assert (report.games, report.accepted["handicap or set-up stones"]) == (1, 1)
    line = GameLine.from_json((tmp_path / "again" / "shard-000000.games.jsonl").read_text())
    boards = final_boards(GO5, [line])
    assert boards["ended"].tolist() == [True]
    assert boards["ownership"][0].sum() == 15 - 1


def test_a_rollout_policy_ignores_games_with_set_up_stones(tmp_path: Path) -> None:
    from pyengine.train.played_games import played_games

    file = tmp_path / "games.sgf"
    file.write_text("(;SZ[5]RE[B+3]HA[2]AB[bb][dd];W[cc];B[cb])(;SZ[5]RE[W+R];B[aa];W[bb])")
    assert [moves for _, moves in played_games(file, GO5)] == [(0, 6)]


KOMI = "(;SZ[5]KM[5.5]RE[B+];B[aa])(;SZ[5]KM[550]RE[B+];B[bb])(;SZ[5]KM[6.5]RE[B+];B[cc])" \
    "(;SZ[5]KM[]RE[B+];B[dd])(;SZ[9]KM[7.5]RE[B+];B[dd])"  # fmt: skip


def test_games_with_another_komi_are_counted(tmp_path: Path) -> None:
    report, _ = import_text(tmp_path, KOMI)
    assert (report.games, report.komi) == (4, 6.5)
    assert report.skipped == {"another board size": 1}
    assert report.accepted == {
        "another komi": 2, "a komi in an unusual form": 1, "unclear komi": 1,
    }  # fmt: skip
    assert "accepted 2: another komi, for example" in str(report)
    assert report.examples["another komi"].endswith("games.sgf, game 1: expected 6.5, got 5.5")


def test_the_shards_may_use_the_most_frequent_komi(tmp_path: Path) -> None:
    report, lines = import_text(tmp_path, KOMI, komi="file")
    assert (report.games, report.komi, len(lines)) == (2, 5.5, 2)
    assert report.skipped == {
        "another board size": 1,
        "another komi": 1,
        "missing or unclear komi": 1,
    }
    assert Dataset(tmp_path / "data").layout.load_game().params["komi"] == 5.5
    unusable = "(;SZ[5]KM[0]RE[Void];B[aa])(;SZ[5]KM[0]RE[B+];B[aa];W[aa])" * 3
    unusable += "(;SZ[5]KM[99999900]RE[B+];B[aa])" * 3
    report, _ = import_text(tmp_path / "some", unusable + KOMI, komi="file")
    assert (report.games, report.komi) == (2, 5.5)
    with pytest.raises(ConfigError, match=r'expected "game" for gomoku.* got "file"'):
        import_text(tmp_path, KOMI, GOMOKU, komi="file")


def test_the_gomoku_board_decides_the_result_and_a_contradiction_is_skipped(tmp_path: Path) -> None:
    right = "".join(
        f"(;GM[4]SZ[9]RE[{result}]{FIVE};W[ii])" for result in ("B+", "B+R", "B+T", "?", "")
    )
    _, lines = import_text(tmp_path / "right", right, GOMOKU)
    assert [(line["returns"][0], line["resigned"]) for line in lines] == [(1.0, -1)] * 5
    assert [line["positions"] for line in lines] == [9] * 5  # without the move after the end
    for result in ("W+", "W+R", "W+T", "0"):
        report, _ = import_text(tmp_path / "wrong", f"(;GM[4]SZ[9]RE[{result}]{FIVE})", GOMOKU)
        assert report.skipped == {"contradictory result": 1}
        assert f"RE[{result}]" in report.examples["contradictory result"]


def test_a_resignation_that_contradicts_the_result_is_skipped(tmp_path: Path) -> None:
    report, lines = import_text(tmp_path, "(;SZ[5]RE[W+R];B[aa];W[resign])(;SZ[5];B[aa];W[resign])")
    assert report.skipped == {"contradictory result": 1}
    assert [(line["returns"][0], line["resigned"]) for line in lines] == [(1.0, 1)]


def test_a_damaged_game_is_named_and_the_others_are_imported(tmp_path: Path) -> None:
    good = "(;SZ[5]RE[B+R];B[aa];W[bb])\n"
    report, lines = import_text(tmp_path, f"{good * 3}(;SZ[5]US[M[3d]]RE[B+];B[aa])\n{good * 3}")
    assert (report.games, len(lines), dict(report.skipped)) == (6, 6, {"unreadable": 1})
    assert "games.sgf, game 4: unexpected ']RE[B+];" in report.examples["unreadable"]
    report, _ = import_text(tmp_path / "two", f"(;SZ[5]B)\n{good}(;B[zz])" + "(;SZ[])" * 30)
    assert [name.partition(": ")[0].rpartition(" ")[2] for name in report.unreadable] == ["1", "3"]
    assert "games.sgf, game 3: [zz] is not a point on a 19x19 board" in str(report)


def test_rectangular_boards_are_imported_and_exported(tmp_path: Path) -> None:
    game = pyengine.load_game("go", rows=3, columns=5)
    report, lines = import_text(tmp_path, "(;SZ[5:3]RE[B+R];B[ec];W[aa])", game)
    assert (report.games, lines[0]["moves"]) == (1, [14, 0])
    (file,) = export_sgf(tmp_path / "data", tmp_path / "sgf")
    again = import_sgf(file, tmp_path / "again", game, PLAIN)
    assert (again.games, dict(again.skipped)) == (1, {})
