"""External programs as players: what they are told, what they answer, how they fail."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pyengine
from commands import command_of, printed, run
from pyengine import Clock, ConfigError, EngineError, IllegalActionError
from pyengine.conversion import random_leela, write_leela
from pyengine.games.outcomes import Loss
from pyengine.match import RESIGN, GomocupPlayer, GtpPlayer, RandomPlayer, UgiPlayer

FAKE = Path(__file__).with_name("fake_program.py")
GO = "go(board_size=5)"
GOMOKU = "gomoku(board_size=5)"
PLAYERS: dict[str, tuple[Callable[..., Any], str]] = {
    "gtp": (GtpPlayer, GO),
    "gomocup": (GomocupPlayer, GOMOKU),
    "ugi": (UgiPlayer, GOMOKU),
}

Command = Callable[..., str]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def command(log: Path) -> Command:
    """Return a function that returns the command of a fake program."""

    def joined(protocol: str, fault: str = "") -> str:
        return command_of(sys.executable, "-S", "-E", str(FAKE), protocol, str(log), fault)

    return joined


def lines_of(log: Path) -> list[str]:
    """Return the lines that the programs have read."""
    return [line.partition(" ")[2] for line in log.read_text().splitlines()]


def highest(state: Any) -> int:
    """Play the last point, never a pass."""
    height, width = state.game.board_shape
    return int(max(action for action in state.legal_actions() if action < height * width))


def state_after(game: str, *moves: str) -> pyengine.State:
    state = pyengine.load_game(game).new_initial_state()
    for move in moves:
        state.apply_action(state.string_to_action(move))
    return state


# --- what a program is told


def test_a_gtp_program_is_told_the_board_and_only_the_moves_that_it_does_not_know(
    command: Command, log: Path
) -> None:
    with GtpPlayer(command("gtp")) as player:
        for moves in ([], ["A1", "E5"], ["A1", "E5", "B2"], ["A1", "E5", "D4", "C4"], ["C3"]):
            player(state_after(GO, *moves))
        player(state_after("go(board_size=7,komi=0.5)"))
    assert lines_of(log) == [
        "list_commands", "boardsize 5", "clear_board", "komi 7.5", "genmove black",
        "play white E5", "genmove black",
        "undo", "play black B2", "genmove white",
        "undo", "undo", "play black D4", "play white C4", "genmove black",
        "clear_board", "komi 7.5", "play black C3", "genmove white",
        "boardsize 7", "clear_board", "komi 0.5", "genmove black",
        "quit",
    ]  # fmt: skip


def test_a_gomocup_program_is_sent_the_position_or_the_last_move(
    command: Command, log: Path
) -> None:
    with GomocupPlayer(command("gomocup"), seconds=0.5) as player:
        for moves in ([], ["A5", "E1"], ["A5", "E1", "C3"], []):
            player(state_after(GOMOKU, *moves))
    assert lines_of(log) == [
        "START 5", "INFO max_memory 0", "INFO game_type 2", "INFO rule 0",
        "INFO timeout_turn 500", "INFO timeout_match 0", "INFO time_left 2147483647", "BEGIN",
        "TURN 4,4",
        "RESTART", "BOARD", "0,0,2", "4,4,1", "2,2,2", "DONE",
        "RESTART", "BEGIN",
        "END",
    ]  # fmt: skip


def test_a_ugi_program_is_sent_all_moves(command: Command, log: Path) -> None:
    with UgiPlayer(command("ugi"), seconds=0.5) as player:
        player(state_after(GOMOKU))
        player.prepare(state_after(GOMOKU, "A1", "E5"))
        player.search_on_clock(state_after(GOMOKU, "A1", "E5"), Clock(60, 2))
    assert [line for line in lines_of(log) if line != "isready"] == [
        "ugi", "uginewgame", "position startpos", "go movetime 500",
        "position startpos moves A1 E5", "go p1time 60000 p2time 60000 p1inc 2000 p2inc 2000",
        "quit",
    ]  # fmt: skip


def test_stones_of_a_board_that_was_set_up_are_played_one_by_one(
    command: Command, log: Path
) -> None:
    for protocol in ("gtp", "gomocup"):
        player_of, game = PLAYERS[protocol]
        rows = ["X....", "..O..", ".....", ".....", "....X"]
        state = pyengine.load_game(game).state_from_board(rows, 1)
        state.apply_action(1)
        with player_of(command(protocol)) as player:
            player(state)
    assert [line for line in lines_of(log) if line.startswith("play ")] == [
        "play black A5",
        "play white C4",
        "play black E1",
        "play white B5",
    ]
    assert [line for line in lines_of(log) if "," in line] == ["0,0,1", "2,1,2", "4,4,1", "1,0,2"]
    state = pyengine.load_game("othello").state_from_board(["........"] * 7 + [".....XO."])
    for unable in (GtpPlayer(command("gtp")), UgiPlayer(command("ugi"))):
        with pytest.raises(ConfigError), unable as player:
            player(state)


@pytest.mark.parametrize(
    ("game", "fault", "answer"),
    [
        ("gomoku(board_size=9)", "", "A1"),
        ("gomoku(board_size=9)", "lists vertices", "A1"),
        ("tic_tac_toe", "", "a1"),
    ],
)
def test_moves_are_named_as_the_program_lists_them(
    command: Command, game: str, fault: str, answer: str
) -> None:
    state = pyengine.load_game(game).new_initial_state()
    with GtpPlayer(command("gtp", fault)) as player:
        assert state.action_to_string(player(state)) == answer
    if fault:
        with pytest.raises(ConfigError), GtpPlayer(command("gtp", fault)) as player:
            player(pyengine.load_game("connect_four").new_initial_state())


@pytest.mark.parametrize(
    ("clock", "lines"),
    [
        (Clock(60), ["time_settings 60 0 0", "time_left black 60 0"]),
        (Clock(60, 2), ["time_settings 60 2 1", "time_left black 60 0"]),
        (Clock(0, periods=3, period_seconds=9), ["time_settings 0 9 1", "time_left black 9 3"]),
        (
            Clock(0, period_seconds=90, period_moves=20),
            ["time_settings 0 90 20", "time_left black 90 20"],
        ),
    ],
    ids=repr,
)
def test_a_gtp_program_is_told_the_time(
    command: Command, log: Path, clock: Clock, lines: list[str]
) -> None:
    with GtpPlayer(command("gtp")) as player:
        player.prepare(state_after(GO))
        player.search_on_clock(state_after(GO), clock)
    assert [line for line in lines_of(log) if line.startswith("time")] == lines


def test_a_gomocup_program_is_told_the_time(command: Command, log: Path) -> None:
    clock = Clock(60)
    clock.spend(20)
    with GomocupPlayer(command("gomocup")) as player:
        player.prepare(state_after(GOMOKU))
        player.search_on_clock(state_after(GOMOKU), clock)
    times = [line for line in lines_of(log) if "time" in line]
    assert times == ["INFO timeout_turn 40000", "INFO timeout_match 60000", "INFO time_left 40000"]


# --- failures


FAILURES = [
    ("crashes", EngineError, "ended with status 3; the end of its stderr: out of | memory"),
    ("hangs", EngineError, "no answer within"),
    ("talks on", EngineError, "no answer within"),
    ("answers nonsense", EngineError, "expected "),
    ("plays illegally", IllegalActionError, "illegal move"),
    ("refuses", EngineError, ""),
]


@pytest.mark.parametrize("protocol", PLAYERS)
@pytest.mark.parametrize(("fault", "error", "words"), FAILURES, ids=[each[0] for each in FAILURES])
def test_an_error_names_the_program_and_the_end_of_its_stderr(
    command: Command, protocol: str, fault: str, error: type[Exception], words: str
) -> None:
    player_of, game = PLAYERS[protocol]
    timeout = 0.5 if fault in ("hangs", "talks on", "refuses") else 60
    state = pyengine.load_game(game).new_initial_state([0, 20])  # A1 is taken in each protocol
    with (
        pytest.raises(error, match="python") as caught,
        player_of(command(protocol, fault), timeout=timeout) as player,
    ):
        player(state)
    assert words in str(caught.value)


@pytest.mark.parametrize("protocol", PLAYERS)
def test_a_program_that_ends_between_its_moves_is_started_again(
    command: Command, log: Path, protocol: str
) -> None:
    player_of, game = PLAYERS[protocol]
    state = pyengine.load_game(game).new_initial_state()
    with player_of(command(protocol, "ends after a move")) as player:
        assert [player(state), player(state)] == [player(state)] * 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GtpPlayer("no_such_program --gtp"), "no_such_program does not exist"),
        (lambda: GtpPlayer(""), "expected a program"),
        (lambda: GtpPlayer("'x"), "No closing quotation"),
        (lambda: GtpPlayer(5), "command"),  # type: ignore[arg-type]
        (lambda: GtpPlayer("python3", timeout=0), "timeout"),
        (lambda: GomocupPlayer("python3", seconds=-1), "seconds"),
        (lambda: GomocupPlayer("python3", processes=0), "processes"),
    ],
)
def test_a_wrong_player_is_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make()


def test_gomocup_programs_play_gomoku_alone(command: Command) -> None:
    with pytest.raises(ConfigError), GomocupPlayer(command("gomocup")) as player:
        player(pyengine.load_game("tic_tac_toe").new_initial_state())


# --- matches


@pytest.mark.parametrize("protocol", PLAYERS)
def test_a_program_plays_concurrent_games_in_processes_of_its_own(
    command: Command, log: Path, protocol: str
) -> None:
    player_of, _ = PLAYERS[protocol]
    game = "gomoku(board_size=5)"
    with player_of(command(protocol), processes=2) as player:
        result = pyengine.match(player, RandomPlayer(1), game=game, games=2, openings=[[12]])
    assert result.games == 2
    lines = log.read_text().splitlines()
    processes = {line.partition(" ")[0] for line in lines}
    assert len(processes) == 2
    # Each process keeps to its game: there is no third start.
    starts = (" clear_board", " BOARD", " BEGIN", " uginewgame")
    assert sum(line.endswith(starts) for line in lines) == 2


def test_a_resignation_ends_the_game_and_is_resumed_from_the_record(
    command: Command, tmp_path: Path
) -> None:
    def play(games: int) -> pyengine.MatchResult:
        record = tmp_path / "games.jsonl"
        with GtpPlayer(command("gtp", "resigns")) as player:
            return pyengine.match(player, highest, game=GO, games=games, record=record)

    first, second = play(2), play(4)
    assert (first.losses, second.losses, second.resignations) == (2, 4, (4, 0))
    assert second.records[:2] == first.records
    assert "(4 resigned by a)" in str(second)


def test_a_function_may_resign() -> None:
    result = pyengine.match(lambda _: RESIGN, highest, game=GO, games=2)
    assert [record.loss for record in result.records] == [Loss.resigns] * 2


@pytest.mark.parametrize("protocol", PLAYERS)
@pytest.mark.parametrize("fault", ["sleeps", "hangs"])
def test_a_program_whose_flag_falls_loses_on_time(
    command: Command, protocol: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("gtp", "gomocup", "ugi", "player"):
        monkeypatch.setattr(f"pyengine.match.external.{module}.GRACE", 0.5)
    player_of, game = PLAYERS[protocol]
    with player_of(command(protocol, fault)) as player:
        result = pyengine.match(RandomPlayer(), player, game=game, games=1, clock=Clock(0.1))
    assert (result.wins, result.losses_on_time) == (1, (0, 1))
    assert "lost on time by b" in str(result)


def test_engines_search_for_the_budgets_of_their_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    plies = []

    def budget(_: Clock, state: pyengine.State) -> float:
        plies.append(len(state.history()))
        return 0.001

    monkeypatch.setattr(Clock, "budget", budget)
    with pyengine.Engine("connect_four", "rollout", threads=1) as engine:
        result = pyengine.match(engine, RandomPlayer(), games=1, clock=Clock(600))
    assert plies == list(range(4, 4 + len(result.records[0].moves), 2))
    assert result.losses_on_time == (0, 0)


def test_a_record_identifies_a_program_by_command_name_and_version(
    command: Command, tmp_path: Path
) -> None:
    for protocol, (player_of, _) in PLAYERS.items():
        with player_of(command(protocol)) as player:
            assert player.identity.startswith(f"{protocol}:{command(protocol)} (Fake 1.0)")


# --- the command


def test_the_command_plays_against_programs_and_on_time(command: Command) -> None:
    fake = command("gomocup")
    text = printed(
        "match", "gomoku(board_size=5)", "random", f"gomocup:{fake}",
        *["--games", "2", "--plies", "0", "--clock", "9s+0.1"],
    )  # fmt: skip
    assert "2 games: +" in text
    assert printed("match", GO, f"gtp:{command('gtp', 'resigns')}", "random", "--games", 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gtp:no_such_program", "random"], "no_such_program does not exist"),
        (["gtp:", "random"], "expected a program"),
        (["random", "gtp:python3", "--set-b", "solver=false"], "need a player that searches"),
        (["random", "random", "--clock", "5+"], "expected a time such as"),
    ],
)
def test_wrong_use_exits_with_2(arguments: list[str], words: str) -> None:
    done = run("match", GO, *arguments)
    assert done.status == 2
    assert words in done.words


# --- real programs


def installed(program: str) -> str:
    """Return the path of a program, or skip the test."""
    path = shutil.which(program) or shutil.which(program, path="/usr/games")
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


def test_gnu_go_plays_a_match() -> None:
    command = f"{installed('gnugo')} --mode gtp --level 1 --chinese-rules --capture-all-dead"
    with GtpPlayer(command, processes=2) as gnugo:
        assert "GNU Go" in gnugo.identity
        result = pyengine.match(gnugo, RandomPlayer(), game=GO, games=2)
        on_time = pyengine.match(gnugo, RandomPlayer(), game=GO, games=1, clock=Clock(9, 1))
    assert result.wins == 2
    assert on_time.losses_on_time == (0, 0)


def test_leela_zero_plays_a_match(tmp_path: Path) -> None:
    leelaz = installed("leelaz")
    write_leela(random_leela(1, 8, seed=1), tmp_path / "weights.txt")
    arguments = f"--gtp --cpu-only --noponder -t 1 -v 2 -w {tmp_path / 'weights.txt'}"
    with GtpPlayer(f"{leelaz} {arguments}") as leela:
        assert "Leela Zero" in leela.identity
        game = "go(max_game_length=12)"
        result = pyengine.match(leela, RandomPlayer(), game=game, games=2, clock=Clock(60, 1))
    assert result.games == 2
