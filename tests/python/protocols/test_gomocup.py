"""The protocol of Gomocup."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import pyengine
from dialogues import assert_matches, random_lines, replies, tiny_engines
from pyengine.errors import ConfigError
from pyengine.protocols.gomocup.brain import Brain
from pyengine.protocols.gomocup.limits import PROCESS_BYTES, Limits
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Output
from pyengine.protocols.session import EngineFor
from pyengine.search.config import SearchConfig

ROOT = Path(__file__).resolve().parents[3]
MOVE = r"\d+,\d+"
MESSAGE = r"MESSAGE depth \d+-\d+ ev -?\d+ n \d+ n/ms \d+ tm \d+ pv .+"
ERROR = "ERROR .+"
MEBIBYTE = 1 << 20
RANDOM = (
    *("START 5", "START", "BEGIN", "TURN", "1,1", "2,3", "2,3,1", "1,1,2", "BOARD", "DONE"),
    *("TAKEBACK", "PLAY", "INFO", "timeout_turn", "time_left", "rule 0", "rule 4", "RESTART"),
    *("ABOUT", "SWAP2BOARD", "RECTSTART 5,5", "max_memory 400000000", "0", "YXSTOP"),
)


def transcript(text: str | bytes, engines: EngineFor | None = None) -> list[str]:
    """Return the replies to commands that are separated by slashes."""

    def speak(inbox: Inbox, output: Output) -> None:
        Brain(engines or tiny_engines(), inbox, output, "pyengine").run()

    if isinstance(text, str):
        text = text.replace("/", "\r\n") + "\r\n"
    return replies(speak, text, newline="\r\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("START 9/BEGIN/TURN 0,0/END/BEGIN", ["OK", MESSAGE, MOVE, MESSAGE, MOVE]),
        ("ABOUT/", ['name="pyengine", version=".+", author=".+"']),
        ("START 4/START 21/START x/START", [ERROR] * 4),
        ("RECTSTART 7,7/RECTSTART 7,8/RECTSTART", ["OK", ERROR, ERROR]),
        ("BEGIN/TURN 1,1/RESTART/BOARD/DONE/TAKEBACK 1,1", [ERROR] * 5),
        ("START 9/TURN 9,0/TURN 1/TURN -1,0/TURN 1,1,1", ["OK", *[ERROR] * 4]),
        ("START 9/PLAY 1,2/TURN 1,2", ["OK", "1,2", ERROR]),
        ("START 9/PLAY 1,2/TAKEBACK 2,1/TAKEBACK 1,2/PLAY 1,2", ["OK", "1,2", ERROR, "OK", "1,2"]),
        ("START 9/PLAY 1,2/RESTART/PLAY 1,2", ["OK", "1,2", "OK", "1,2"]),
        ("HELLO/START 9/SUGGEST 1,1", ["UNKNOWN command", "OK", "UNKNOWN command"]),
        ("/  /start 9/yxstop", ["OK"]),
        ("INFO rule 2/START 9", [ERROR]),
        ("START 9/INFO rule 8/BEGIN/INFO rule 1/BEGIN", ["OK", ERROR, MESSAGE, MOVE]),
        ("INFO max_memory 1000/START 9", [ERROR]),
        ("INFO max_memory 400000000/START 9/INFO max_memory 0/BEGIN", ["OK", MESSAGE, MOVE]),
        ("START 9/INFO timeout_turn 0/INFO evaluate 1,1/INFO x/BEGIN", ["OK", MESSAGE, MOVE]),
        ("START 9/BOARD/0,0,3/DONE", ["OK", ERROR]),
        ("START 9/BOARD/0,0,1/0,0,2/DONE/BOARD/0,0/DONE/BOARD/9,9,1/DONE", ["OK", *[ERROR] * 3]),
        ("START 9/BOARD/0,0,2/1,1,2/DONE", ["OK", MESSAGE, MOVE]),
        ("START 9/BOARD/0,0,1", ["OK", ".+", MOVE]),
        ("START 9/BOARD/0,0,1/END/DONE/BEGIN", ["OK"]),
        ("START 9/START 8/PLAY 8,8/PLAY 7,7", ["OK", "OK", ERROR, "7,7"]),
        ("START 9/SWAP2BOARD/DONE", ["OK", f"{MOVE} {MOVE} {MOVE}"]),
        ("START 9/SWAP2BOARD/4,4/5,5/DONE", ["OK", ERROR]),
    ],
)
def test_a_dialogue(text: str, expected: list[str]):
    assert_matches(transcript(text), expected)


@pytest.mark.parametrize(
    ("stones", "reply"),
    [
        ("0,0,1/0,8,2/1,0,1/1,8,2/2,0,1/2,8,2/3,0,1/8,8,2", "4,0"),  # black, in order
        ("0,0,1/1,0,1/2,0,1/3,0,1/0,8,2/1,8,2/2,8,2/8,8,2", "4,0"),  # black, in any order
        ("0,8,2/0,0,1/1,8,2/1,0,1/4,8,2/2,0,1/7,7,2/3,0,1/8,4,2", "4,0"),  # white
        ("0,0,1/1,0,1/2,0,1/3,0,1", "4,0"),  # not a game: only the mover's stones
    ],
)
def test_the_stones_of_a_board_belong_to_the_engine_and_its_opponent(stones: str, reply: str):
    assert transcript(f"START 9/BOARD/{stones}/DONE", tiny_engines(1000))[-1] == reply


def test_a_takeback_gives_the_same_position_as_before():
    moves = transcript("START 9/BOARD/0,0,1/8,8,2/DONE")
    again = transcript(
        f"START 9/BOARD/0,0,1/8,8,2/DONE/TAKEBACK {moves[-1]}/BOARD/0,0,1/8,8,2/DONE"
    )
    assert again[-3] == "OK"
    assert again[2] == moves[-1]


@pytest.mark.parametrize(
    ("stones", "chosen"),
    [
        ("3,4/0,8/4,4/8,8/5,4", "SWAP"),  # black is better
        ("0,0/3,4/8,8/4,4/0,8", MOVE),  # white is better
    ],
)
def test_swap2_takes_the_better_colour(stones: str, chosen: str):
    engines = tiny_engines(300, "rollout")
    lines = transcript(f"START 9/SWAP2BOARD/{stones}/DONE", engines)
    assert_matches(lines, ["OK", chosen])


@pytest.mark.parametrize(
    ("info", "seconds"),
    [
        ([("timeout_turn", "1000")], (0.5, 0.9)),
        ([("timeout_turn", "100")], (0.02, 0.05)),
        ([("timeout_turn", "30000")], (29, 29.5)),
        ([("timeout_turn", "5000"), ("time_left", "3000")], (0, 0.5)),
        ([("timeout_turn", "5000"), ("time_left", "2147483647")], (4, 4.8)),
        ([("timeout_turn", "5000"), ("time_left", "-20")], (0, 0.01)),
        ([("timeout_match", "100000"), ("timeout_turn", "100000")], (0.5, 20)),
    ],
)
def test_a_move_takes_less_than_the_manager_allows(
    info: list[tuple[str, str]], seconds: tuple[float, float]
):
    limits = Limits()
    for key, value in info:
        limits.note(key, value)
    budget = limits.of_move(SearchConfig())["seconds"]
    if limits.clock is not None:
        budget = min(budget, limits.clock.budget(limits.game(15).new_initial_state()))
    assert seconds[0] <= budget <= seconds[1]


def test_a_slow_machine_gets_less_time_for_the_search():
    limits = Limits()
    limits.note("timeout_turn", "1000")
    first = limits.of_move(SearchConfig())["seconds"]
    assert limits.of_move(SearchConfig(), 0.2)["seconds"] == pytest.approx(first - 0.2)
    limits.learn_lag(0.3)
    assert limits.of_move(SearchConfig())["seconds"] < 0.7
    for _ in range(100):
        limits.learn_lag(0.0)
    assert limits.of_move(SearchConfig())["seconds"] == first


def test_tree_and_cache_fit_into_the_memory():
    limits = Limits()
    game = limits.game(19)
    assert limits.of_memory(game, SearchConfig()) == SearchConfig()
    limits.note("max_memory", str(350 * MEBIBYTE))
    config = limits.of_memory(game, SearchConfig())
    assert PROCESS_BYTES + config.memory_limit <= 350 * MEBIBYTE
    assert 10_000 < config.cache_entries < SearchConfig().cache_entries
    limits.note("max_memory", str(100 * MEBIBYTE))
    with pytest.raises(ConfigError):
        limits.of_memory(game, SearchConfig())


def test_random_lines_get_replies_of_the_protocol_alone():
    lines = transcript(random_lines(RANDOM))
    allowed = ("OK", "ERROR ", "UNKNOWN ", "MESSAGE ", "name=", "SWAP", *"0123456789")
    assert [line for line in lines if not line.startswith(allowed)] == []
    assert lines.count("OK") > 100


def test_managers_find_a_program_with_the_name_that_they_require():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, _, function = scripts["pbrain-pyengine"].partition(":")
    assert callable(getattr(import_module(module), function))


def test_two_brains_play_a_game_through_pygomo():
    pygomo = pytest.importorskip("pygomo", reason="pygomo-lib is not installed")
    options = ["--model", "uniform", "--simulations", "30", "--threads", "1"]
    arguments = ["-m", "pyengine", "gomocup", *options]
    state = pyengine.load_game("gomoku", board_size=7).new_initial_state()
    brains = [pygomo.EngineClient(sys.executable, args=arguments) for _ in range(2)]
    try:
        for brain in brains:
            assert brain.start(7, timeout=60)
            assert "pyengine" in brain.about(timeout=60)
            brain.configure(timeout_turn=5000, timeout_match=600_000, max_memory=350 << 20, rule=0)
        reply = brains[0].begin(timeout=60)
        while True:
            assert reply.search_info.pv[0] == reply.move
            x, y = reply.move.to_tuple()
            state.apply_action((6 - y) * 7 + x)  # legal, else it raises
            if state.is_terminal():
                break
            reply = brains[state.current_player()].turn(reply.move, timeout=60)
        assert brains[0].restart(timeout=60)
    finally:
        for brain in brains:
            brain.quit()
