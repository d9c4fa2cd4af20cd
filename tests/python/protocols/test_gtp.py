"""GTP: the specification's commands."""

from __future__ import annotations

import pytest

from gtp_dialogue import INFO, Dialogue, answers, responses
from pyengine.protocols.gtp.client import ClientSettings


@pytest.mark.parametrize(
    ("line", "response"),
    [
        ("protocol_version", "= 2"),
        ("12 protocol_version", "=12 2"),
        ("\tprotocol_version \x07 # a comment\r", "= 2"),
        ("7 nonsense", "?7 unknown command"),
        ("7", "?7 unknown command"),
        ("99999999999 name", "? unknown command"),
        ("known_command genmove", "= true"),
        ("known_command nonsense", "= false"),
        ("play b", "? expected a color and a move"),
        ("play red c3", "? invalid color"),
        ("play b i3", "? invalid coordinate"),
        ("play b c9", "? invalid coordinate"),
        ("play black C3", "="),
        ("boardsize 26", "? unacceptable size"),
        ("boardsize 1", "? unacceptable size"),
        ("komi x", "? expected a number"),
        ("undo", "? cannot undo"),
        ("set_free_handicap c3 c3", "? repeated vertex"),
        ("fixed_handicap 2", "? invalid number of stones"),
        ("loadsgf absent.sgf", "? cannot load file"),
        ("final_status_list happy", "? invalid status"),
        ("time_settings 1 2", "? expected 3 arguments"),
        ("kata-set-rules chess", "? unknown rules"),
    ],
)
def test_a_line_has_the_response_of_the_specification(line: str, response: str):
    (said,) = responses(line)
    assert said.startswith(response)


def test_lines_without_a_command_have_no_response():
    assert responses("", "# interrupt", "   ", "name") == ["= pyengine"]


def test_commands_after_quit_are_not_run():
    assert responses("quit", "name") == ["="]


def test_every_listed_command_is_known():
    (listed,) = answers("list_commands")
    names = listed.split("\n")
    known = answers(*(f"known_command {name}" for name in names))
    assert known == ["true"] * len(names)
    assert names == sorted(names)


def test_moves_are_generated_for_either_colour_and_can_be_undone():
    dialogue = Dialogue("genmove b", "genmove b", "genmove w", "reg_genmove b", "undo", "undo",
                        "undo", "undo")  # fmt: skip
    *moves, undone, _, _, too_many = dialogue.run()
    assert all(move.startswith("= ") for move in moves)
    assert (undone, too_many) == ("=", "? cannot undo")
    assert dialogue.session.state == dialogue.session.game.new_initial_state()


def test_moves_out_of_turn_set_up_a_position():
    dialogue = Dialogue("play b c3", "play b d3", "play b c4", "play w a1", "play w pass",
                        "play b pass", "play w e5")  # fmt: skip
    assert dialogue.run() == ["="] * 7
    assert dialogue.session.state.board_rows() == ["....O", "..X..", "..XX.", ".....", "O...."]


def test_a_game_without_moves_out_of_turn_says_who_is_to_move():
    lines = ("genmove w", "reg_genmove w", "play w 0", "genmove b", "genmove b")
    *refused, moved, again = responses(*lines, game="toy_games:matches", evaluator="rollout")
    assert all(text.startswith("? black is to move; ToyGame has no") for text in refused)
    assert len(refused) == 3
    assert moved.startswith("= ")
    assert again.startswith("? white is to move; ")


def test_an_illegal_move_changes_nothing():
    dialogue = Dialogue("play b c3", "play w c3", "gogui-play_sequence w a1 b a2 w a1")
    assert dialogue.run() == ["=", "? illegal move", "? illegal move"]
    assert len(dialogue.session.state.history()) == 1


def test_komi_changes_within_a_game_and_stays_for_the_next():
    dialogue = Dialogue("play b c3", "komi 6.5", "clear_board", "boardsize 6", "komi 3.75")
    dialogue.run()
    assert dialogue.session.game.params["komi"] == 4.0
    assert dialogue.session.game.params["max_game_length"] == 72


@pytest.mark.parametrize(
    ("size", "command", "vertices"),
    [
        ("9", "fixed_handicap 2", "C3 G7"),
        ("9", "fixed_handicap 5", "C3 G7 C7 G3 E5"),
        ("19", "fixed_handicap 9", "D4 Q16 D16 Q4 D10 Q10 K16 K4 K10"),
        ("8", "fixed_handicap 4", "C3 F6 C6 F3"),
        ("19", "place_free_handicap 20", "D4 Q16 D16 Q4 D10 Q10 K16 K4 K10"),
        ("13 9", "fixed_handicap 2", "D3 K7"),
    ],
)
def test_handicap_stones_have_their_usual_points(size: str, command: str, vertices: str):
    *_, placed, refused = answers(f"boardsize {size}", command, command)
    assert placed == vertices
    assert refused == "? board not empty"


def test_white_moves_first_in_a_handicap_game():
    dialogue = Dialogue("boardsize 9", "set_free_handicap c3 g7 e5", "play w d4", "undo")
    assert dialogue.run() == ["="] * 4
    assert dialogue.session.state.current_player() == 1


def test_a_rectangular_board_has_columns_first():
    dialogue = Dialogue("rectangular_boardsize 7 5", "play b g5", "play w g6")
    assert dialogue.run() == ["=", "=", "? invalid coordinate"]
    assert dialogue.session.game.board_shape == (5, 7)


def test_the_clock_of_the_player_to_move_limits_a_search():
    dialogue = Dialogue("time_settings 100 0 0", "time_left b 0 0", "genmove b", "cputime",
                        simulations=10**9)  # fmt: skip
    *_, seconds = dialogue.run()
    assert float(seconds[1:]) < 20
    black, white = dialogue.session.clocks
    assert black is not None
    assert white is not None
    assert white.left == 100


@pytest.mark.parametrize(
    ("settings", "clock"),
    [
        ("time_settings 0 1 0", "None"),
        ("time_settings 0 0 0", "None"),
        ("time_settings 60 0 0", "Clock(60)"),
        ("time_settings 0 5 1", "Clock(0, period_seconds=5, period_moves=1)"),
        ("kgs-time_settings none", "None"),
        ("kgs-time_settings byoyomi 60 30 5", "Clock(60, periods=5, period_seconds=30)"),
        ("kgs-time_settings byoyomi 60 30 0", "Clock(60)"),
        ("kgs-time_settings byoyomi 60 0 5", "Clock(60)"),
        ("kgs-time_settings canadian 60 30 5", "Clock(60, period_seconds=30, period_moves=5)"),
        ("kata-time_settings fischer 60 2.5", "Clock(60, increment=2.5)"),
        ("kata-time_settings absolute 1e30", "Clock(1e+07)"),
    ],
)
def test_time_settings_make_a_clock(settings: str, clock: str):
    dialogue = Dialogue(settings)
    assert dialogue.run() == ["="]
    assert repr(dialogue.session.clocks[0]) == clock


def test_an_engine_resigns_only_if_asked_to():
    lost = ["boardsize 3", "komi 100"]
    playouts = {"evaluator": "rollout", "simulations": 50}
    assert answers(*lost, "genmove b", **playouts)[-1] != "resign"
    resigning = ClientSettings(resign_below=0.1)
    assert answers(*lost, "genmove b", settings=resigning, **playouts)[-1] == "resign"


def test_an_interrupt_ends_a_search_with_a_move():
    move, name = answers("genmove b", "# interrupt", "name", simulations=10**9)
    assert move
    assert name == "pyengine"


@pytest.mark.parametrize(
    ("command", "charged"),
    [("genmove b", True), ("reg_genmove b", False), ("pyengine-line", False)],
)
def test_only_moves_that_are_played_take_time_from_the_clock(command: str, charged: bool):
    dialogue = Dialogue("time_settings 100 0 0", command)
    dialogue.run()
    assert (dialogue.session.clocks[0].left < 100) is charged


def test_stop_ends_pondering():
    dialogue = Dialogue("genmove b", "stop", settings=ClientSettings(ponder=True))
    dialogue.run()
    assert dialogue.client.pondered is None


def test_pondering_prepares_the_next_search():
    ponder = ClientSettings(ponder=True)
    dialogue = Dialogue("genmove b", "lz-analyze 1", INFO, "quit", settings=ponder)
    assert dialogue.run()[0].startswith("= ")


DEAD = ["play b b1", "play b b2", "play b b3", "play b b4", "play b b5", "play w a3"]


def test_dead_stones_are_found_by_playouts():
    *_, score, dead, alive, white = answers(
        *DEAD, "final_score", "final_status_list dead", "final_status_list alive",
        "final_status_list white_territory",
    )  # fmt: skip
    assert score == "B+24.5"
    assert dead == "A3"
    assert sorted(alive.split()) == ["B1", "B2", "B3", "B4", "B5"]
    assert white == ""


def test_a_finished_game_is_counted_by_the_ownership_of_a_network():
    walls = [f"play {colour} {column}{row}" for row in range(1, 10)
             for colour, column in (("b", "e"), ("w", "f"))]  # fmt: skip
    inside = ["b c3", "w g3", "b c7", "w g7", "b d5", "w h5", "b b5", "w h8", "b b8", "w h2"]
    dead = ["b c1", "w b2", "b h6", "w pass", "b pass"]
    moves = [f"play {move}" for move in (*inside, *dead)]
    *_, score, stones = answers(
        *walls, *moves, "final_score", "final_status_list dead",
        evaluator="go9", game="go(board_size=9,komi=7)",
    )  # fmt: skip
    assert (score, sorted(stones.split())) == ("B+2", ["B2", "H6"])


def test_a_cleanup_move_is_no_pass_before_dead_stones_are_captured():
    *_, move = answers(*DEAD, "kgs-genmove_cleanup b", simulations=30)
    assert move != "pass"


def test_sgf_is_loaded_up_to_a_move(tmp_path):
    file = tmp_path / "a game.sgf"
    file.write_text("(;GM[1]SZ[7]KM[3.5]RU[AGA]AB[aa][bb]PL[W];W[cc];B[dd];W[])")
    dialogue = Dialogue(f"loadsgf {file} 3", "showboard")
    assert dialogue.run()[0] == "="
    assert dialogue.session.state.board_rows()[:4] == ["X......", ".X.....", "..O....", "...X..."]
    assert dialogue.session.game.params["komi"] == 3.5
    assert Dialogue(f"loadsgf {file}").run() == ["="]


def test_rules_are_set_and_read_by_the_names_of_katago(capsys):
    *_, rules = answers("kata-set-rules japanese", "kata-set-rule suicide true", "kata-get-rules")
    assert '"ko": "SIMPLE"' in rules
    assert '"suicide": true' in rules
    assert "scored by area" in capsys.readouterr().err
