"""GTP: commands that show a search while it runs."""

from __future__ import annotations

import io
import re

import pytest

from gtp_dialogue import INFO, answers, responses
from pyengine.protocols.gtp.syntax import Response
from pyengine.protocols.lines import Output

_LEELA = re.compile(
    r"info move [A-E][1-5] visits \d+ winrate \d+ prior \d+ lcb \d+ order 0 pv( [A-E][1-5]| pass)+"
)
_KATA = re.compile(
    r"info move [A-E][1-5] visits \d+ utility -?\d\.\d+ winrate \d\.\d+ scoreMean -?\d+\.\d+ "
    r"scoreStdev \d+\.\d+ scoreLead -?\d+\.\d+ scoreSelfplay -?\d+\.\d+ prior \d\.\d+ lcb \d\.\d+ "
    r"utilityLcb -?\d\.\d+ order 0 pv( [A-E][1-5]| pass)+"
)


@pytest.mark.parametrize(
    ("command", "form"),
    [("lz-analyze", _LEELA), ("kata-analyze", _KATA), ("analyze", _KATA)],
)
@pytest.mark.parametrize("end", ["name", "", "# interrupt", "stop"])
def test_an_analysis_reports_until_the_next_line(command: str, form: re.Pattern[str], end: str):
    first, *rest = responses(f"5 {command} b 1 maxmoves 1", INFO, INFO, end)
    head, *reports = first.split("\n")
    assert head == "=5"
    assert len(reports) >= 2
    assert all(form.fullmatch(report) for report in reports)
    assert len(rest) == (end in ("name", "stop"))


@pytest.mark.parametrize("prefix", ["", "lz-", "kata-"])
def test_a_generated_move_is_analysed_to_its_end(prefix: str):
    shown, board = answers(f"{prefix}genmove_analyze w 1", "name", simulations=300)
    *reports, played = shown.split("\n")
    assert reports
    assert all(report.startswith("info move ") for report in reports)
    assert re.fullmatch(r"play [A-E][1-5]", played)
    assert board == "pyengine"


@pytest.mark.parametrize(
    ("restriction", "moves"),
    [
        ("allow b a1,c3 1", {"A1"}),  # c3 is occupied
        ("allow b a1 1 allow b b1 1", {"A1", "B1"}),
        ("allow b a1,b1 1 avoid b a1 1", {"B1"}),
    ],
)
def test_moves_are_allowed_and_avoided(restriction: str, moves: set[str]):
    _, shown, _ = answers("play w c3", f"lz-analyze b 1 {restriction}", INFO, INFO, "name")
    listed = set(re.findall(r"info move (\w+)", shown))
    assert listed == moves


def test_moves_of_the_player_who_is_not_to_move_are_not_restricted(capsys):
    shown, _ = answers("lz-analyze b 1 allow w a1 1 avoid b b1 5", INFO, INFO, "name")
    assert len(set(re.findall(r"info move (\w+)", shown))) == 25  # with pass, without B1
    assert "first move alone" in capsys.readouterr().err


def test_a_report_without_moves_does_not_end_the_response():
    stream = io.BytesIO()
    response = Response(Output(stream), "7")
    response.begin()
    response.line("")
    response.line("info move A1")
    response.end()
    assert stream.getvalue() == b"=7\ninfo move A1\n\n"


def test_an_evaluator_that_fails_does_not_end_the_dialogue(capsys):
    def broken(_planes):
        raise ValueError("out of order")

    said = responses("genmove b", "kata-genmove_analyze b 1", "name", evaluator=broken)
    assert said[0].startswith("? ")
    assert said[1:] == ["=", "= pyengine"]
    assert "kata-genmove_analyze: " in capsys.readouterr().err


def test_an_analysis_without_a_move_left_is_refused():
    _, refused = answers("play w c3", "kata-analyze b allow b c3 1")
    assert refused == "? no move is left to search"


def test_parts_of_a_report_come_in_the_order_of_katago():
    flags = "ownership true pvVisits true movesOwnership true rootInfo true"
    _, _, shown, _ = answers(
        "play b e5", "play w c3", f"kata-analyze b 1 maxmoves 2 {flags}", INFO, INFO, "name",
        evaluator="go9", game="go(board_size=9,komi=7)",
    )  # fmt: skip
    line = shown.split("\n")[-1]
    parts = re.findall(r"info move|pvVisits|movesOwnership|rootInfo|(?<= )ownership", line)
    each = ["info move", "pvVisits", "movesOwnership"]
    assert parts == [*each, *each, "rootInfo", "ownership"]
    assert len(line.rpartition("ownership")[2].split()) == 81


def test_an_analysis_for_the_other_player_keeps_the_game():
    *_, moves = answers("play b c3", "lz-analyze b 1", INFO, "gogui-rules_side_to_move")
    assert moves == "white"


def test_a_finished_game_of_go_is_still_analysed():
    shown = answers("play b pass", "play w pass", "lz-analyze 1", INFO, "name")[2]
    assert shown.startswith("info move")


def test_the_raw_network_sees_the_position_for_white():
    raw = answers("boardsize 9", "play b e5", "kata-raw-nn 0", evaluator="uniform")[-1]
    fields = raw.split()
    assert fields[:4] == ["symmetry", "0", "whiteWin", "0.500000"]
    policy = fields[fields.index("policy") + 1 : fields.index("policyPass")]
    assert (len(policy), policy.count("NAN")) == (81, 1)
