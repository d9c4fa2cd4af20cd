"""GTP: what clients send, as read in their sources."""

from __future__ import annotations

import random
import re

import pytest

from gtp_dialogue import INFO, Dialogue, answers, responses
from pyengine.protocols.gtp import final_score
from pyengine.protocols.gtp.client import ClientSettings

_INFOS = r"(\ninfo move [^\n]+)+"
_CANDIDATE = r"info move \w\d+ visits \d+ "

#: What a client sends, and the form of the responses.
TRANSCRIPTS = {
    "Sabaki": [
        ("name", "= pyengine"),
        ("version", r"= \d+\.\d+.*"),
        ("protocol_version", "= 2"),
        ("list_commands", r"= analyze\n(.+\n)*genmove_analyze\n(.+\n)*set_free_handicap\n(.+\n*)*"),
        ("boardsize 5", "="),
        ("clear_board", "="),
        ("komi 0.5", "="),
        ("set_free_handicap A1 E5", "="),
        ("play W C3", "="),
        ("analyze B 10", rf"={_INFOS}"),
        (INFO, None),
        ("protocol_version", "= 2"),
        ("genmove_analyze B 10", rf"={_INFOS}\nplay \w+"),
        ("undo", "="),
        ("quit", "="),
    ],
    "Lizzie": [
        ("1 name", "=1 KataGo"),
        ("2 version", r"=2 \d+\.\d+.*"),
        ("3 boardsize 5", "=3"),
        ("4 komi 7.5", "=4"),
        ("5 kata-analyze 10 ownership true", rf"=5{_INFOS}"),
        (INFO, None),
        ("6 play B C3", "=6"),
        ("7 lz-analyze 10", rf"=7{_INFOS}"),
        (INFO, None),
        ("8 name", "=8 KataGo"),
        ("9 undo", "=9"),
        ("10 clear_board", "=10"),
        ("11 boardsize 7", "=11"),
        ("12 fixed_handicap 2", "=12 C3 E5"),
        ("13 time_settings 0 2 1", "=13"),
        ("14 genmove W", r"=14 \w+"),
        ("15 heatmap", r"\?15 unknown command"),
    ],
    "LizzieYzy": [
        ("name", "= KataGo"),
        ("version", r"= .*"),
        ("list_commands", r"= (.+\n?)*"),
        ("komi 7.5", "="),
        ("boardsize 5", "="),
        ("kata-get-param analysisWideRootNoise", r"\? unknown command"),
        ("kata-set-rules chinese", "="),
        ("kata-get-rules", r'= \{.*"ko": "SIMPLE".*\}'),
        ("play B C3", "="),
        ("kata-analyze W 10 ownership true pvVisits true movesOwnership true",
         rf"=(\n{_CANDIDATE}.* pv .* pvVisits [\d ]+)+"),
        (INFO, None),
        ("stop", "="),
        ("kata-analyze W 10 avoid W A1,B1 1 allow W A2,B2 1", rf"={_INFOS}"),
        (INFO, None),
        ("kata-raw-nn 0", r"= symmetry 0\nwhiteWin [^\n]+\n(.+\n?)*"),
        ("loadsgf", r"\? .*"),
    ],
    "q5Go": [
        ("protocol_version", "= 2"),
        ("boardsize 5", "="),
        ("clear_board", "="),
        ("komi 7.5", "="),
        ("known_command lz-analyze", "= true"),
        ("known_command kata-analyze", "= true"),
        ("known_command kata-set-rules", "= true"),
        ("known_command final_score", "= true"),
        ("kata-set-rules aga", "="),
        ("play black C3", "="),
        ("kata-analyze white 10", rf"={_INFOS}"),
        (INFO, None),
        ("known_command known_command", "= true"),
        ("time_left white 30 0", "="),
        ("genmove white", r"= \w+"),
        ("final_score", r"= [BW]\+[\d.]+"),
    ],
    "GoGui": [
        ("protocol_version", "= 2"),
        ("name", "= pyengine"),
        ("list_commands", r"= (.+\n?)*"),
        ("version", r"= .*"),
        ("gogui-analyze_commands", r"= (\w+/[^/]+/[^/\n]+\n?)+"),
        ("boardsize 5", "="),
        ("clear_board", "="),
        ("komi 6.5", "="),
        ("time_settings 0 1 0", "="),
        ("gogui-setup b A1 w B2", "="),
        ("gogui-setup_player w", "="),
        ("gogui-play_sequence w C3 B D4 w E5", "="),
        ("gg-undo 2", "="),
        ("gogui-interrupt", "="),
        ("genmove b", r"= \w+"),
        ("# interrupt", None),
        ("gogui-rules_board", r"= (\n[XO.]( [XO.]){4}){5}"),
        ("final_status_list dead", r"=.*(\n.*)*"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("client", TRANSCRIPTS)
def test_a_client_is_answered_as_it_expects(client: str):
    transcript = TRANSCRIPTS[client]
    name = "KataGo" if "Lizzie" in client else "pyengine"
    said = responses(*(step for step, _ in transcript), settings=ClientSettings(name))
    expected = [(step, form) for step, form in transcript if form is not None]
    assert len(said) == len(expected)
    for (step, form), response in zip(expected, said, strict=True):
        assert re.fullmatch(form.replace("= (\n", "=(\n"), response), (step, response)


# --- other games than Go

GAMES = {
    "gomoku(board_size=9)": ("J9", "9"),  # no I
    "othello": ("D6", "8"),  # rows count from the bottom
    "connect_four": ("A1", "7 6"),
    "tic_tac_toe": ("A3", "3"),
    "mnk(rows=3,columns=4,k=3)": ("D1", "4 3"),
}


@pytest.mark.parametrize("game", GAMES)
def test_gogui_plays_any_game_by_vertices(game: str):
    move, size = GAMES[game]
    dialogue = Dialogue(
        "gogui-rules_board_size", "gogui-rules_legal_moves", f"play b {move}",
        "gogui-rules_side_to_move", "genmove w", "gogui-rules_final_result", "undo", "undo",
        "known_command komi", "gogui-rules_game_id", game=game,
    )  # fmt: skip
    shape, legal, played, side, answer, result, _, _, komi, name = dialogue.run()
    assert shape == f"= {size}"
    assert move in legal.split()
    assert (played, side, result, komi) == ("=", "= white", "= unknown", "= false")
    assert re.fullmatch(r"= [A-HJ-T]\d+", answer)
    assert dialogue.session.state == dialogue.session.start
    assert name.strip("= ").isalpha()


def test_a_finished_game_has_a_result_and_no_moves():
    moves = ["play b a1", "play w b1", "play b a2", "play w b2", "play b a3"]
    *_, legal, result, refused, score = answers(
        *moves, "gogui-rules_legal_moves", "gogui-rules_final_result", "genmove w", "final_score",
        game="tic_tac_toe",
    )  # fmt: skip
    assert (legal, result, refused, score) == ("", "Black wins", "? the game is over", "B+")


def test_a_pass_that_is_forced_need_not_be_sent():
    dialogue = Dialogue("play b c4", "undo", game="othello(board_size=4)")
    rows = ["XO..", "....", "....", "...."]
    dialogue.session.set_position(dialogue.session.game.state_from_board(rows, 1))
    assert dialogue.run() == ["=", "="]
    assert dialogue.session.state.board_rows() == rows


# --- robustness

_WORDS = ["b", "w", "black", "pass", "A1", "c3", "E5", "T19", "1", "2", "5", "7", "-1", "1e9",
          "nan", "true", "avoid", "allow", "A1,B2", "ownership", "interval", "{", '{"ko":"SIMPLE"}',
          "japanese", "byoyomi", "dead", "\x00", "é", "#", ".", "/", "resign"]  # fmt: skip


def test_random_and_cut_lines_get_gtp_and_nothing_else(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(final_score, "_PLAYOUTS", 1)
    rng = random.Random(0)
    names = [name for name in Dialogue().client.commands if name != "quit"]

    def line() -> bytes:
        words = [rng.choice(names), *rng.choices(_WORDS, k=rng.randrange(5))]
        words = [str(rng.randrange(10**6)), *words] if rng.random() < 0.3 else words
        text = " ".join(words).encode()
        if rng.random() < 0.2:
            text = text[: rng.randrange(len(text))]
        if rng.random() < 0.1:
            text = rng.randbytes(rng.randrange(40)).replace(b"quit", b"")
        return text + b"\n"

    said = responses(*(line() for _ in range(10_000)), "name", b"nam", simulations=1)
    assert said[-2:] == ["= pyengine", "? unknown command"]
    assert len(said) > 8000
    assert capsys.readouterr().out == ""
    assert not any("Error" in response for response in said)
