"""The rules of Breakthrough, against OpenSpiel's if it is installed."""

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyengine

BOARDS = [
    "",
    "(rows=4,columns=2)",
    "(rows=5,columns=8)",
    "(rows=8,columns=3)",
    "(rows=6,columns=6)",
]
SMALL = "breakthrough(rows=5,columns=3)"


def spiel_game(game: pyengine.Game):
    """Return OpenSpiel's game, which has two rows of pawns only if there are six rows or more."""
    spiel = pytest.importorskip("pyspiel", reason="the oracle needs open_spiel")
    rows, columns = game.board_shape
    return spiel.load_game(f"breakthrough(rows={rows},columns={columns})")


def own_name(name: str, rows: int) -> str:
    """Return OpenSpiel's name of a move on our board: its first player moves down."""
    squares = re.findall(r"([a-h])(\d)", name)
    return "".join(f"{column}{rows + 1 - int(row)}" for column, row in squares)


def spiel_moves(state, rows: int) -> dict[str, int]:
    return {own_name(state.action_to_string(a), rows): a for a in state.legal_actions()}


def random_states(game: pyengine.Game, games: int):
    rng = random.Random(0)
    for _ in range(games):
        state = game.new_initial_state()
        yield state
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            yield state


def count_sequences(state: pyengine.State, plies: int) -> int:
    if plies == 0 or state.is_terminal():
        return int(plies == 0)
    return sum(count_sequences(after(state, a), plies - 1) for a in state.legal_actions())


def after(state: pyengine.State, action: int) -> pyengine.State:
    following = state.clone()
    following.apply_action(action)
    return following


@pytest.mark.parametrize("board", BOARDS)
def test_random_games_break_no_promise(board: str) -> None:
    report = pyengine.check_game(pyengine.load_game("breakthrough" + board), games=20)
    assert report.ok, report


@pytest.mark.parametrize(
    ("board", "counts"),
    [
        ("", [22, 484, 11_132]),
        ("(rows=6,columns=6)", [16, 256, 4_308]),
        ("(rows=6,columns=2)", [4, 16, 72, 308, 1_376, 5_676]),
    ],
)
def test_counts_of_move_sequences_are_those_of_open_spiel(board: str, counts: list[int]) -> None:
    start = pyengine.load_game("breakthrough" + board).new_initial_state()
    assert [count_sequences(start, plies + 1) for plies in range(len(counts))] == counts


@pytest.mark.parametrize("board", ["", "(rows=6,columns=6)", "(rows=7,columns=2)"])
def test_games_are_those_of_open_spiel(board: str) -> None:
    game = pyengine.load_game("breakthrough" + board)
    rows = game.board_shape[0]
    other = spiel_game(game)
    for state in random_states(game, 20):
        if not state.history():
            theirs = other.new_initial_state()
        else:
            last = state.action_to_string(state.history()[-1])
            theirs.apply_action(spiel_moves(theirs, rows)[last])
        assert theirs.is_terminal() == state.is_terminal()
        if state.is_terminal():
            assert theirs.returns() == state.returns()
        else:
            assert {state.action_to_string(a) for a in state.legal_actions()} == spiel_moves(
                theirs, rows
            ).keys()


def test_the_longest_game_is_within_the_limit() -> None:
    game = pyengine.load_game("breakthrough(rows=4,columns=2)")
    longest = max(len(state.history()) for state in random_states(game, 500))
    assert longest <= game.max_game_length()


def test_capturing_the_last_pawn_wins() -> None:
    game = pyengine.load_game("breakthrough(rows=8,columns=2)")
    ends = [state for state in random_states(game, 300) if state.is_terminal()]
    captured = [state for state in ends if "O" not in "".join(state.board_rows())]
    assert ends
    assert all(state.returns() == [1, -1] for state in captured)


def test_every_action_has_a_name_of_its_own() -> None:
    state = pyengine.load_game("breakthrough").new_initial_state()
    actions = range(state.game.num_distinct_actions())
    assert [state.string_to_action(state.action_to_string(a)) for a in actions] == list(actions)
    assert state.string_to_action("A2b3") == state.string_to_action("a2b3")
    with pytest.raises(pyengine.IllegalActionError):
        state.string_to_action("a2a4")


def test_the_symmetry_mirrors_the_columns() -> None:
    game = pyengine.load_game("breakthrough(rows=5,columns=4)")
    state = game.new_initial_state()
    assert game.num_symmetries == 2
    assert list(game.symmetry_points(1)[:4]) == [3, 2, 1, 0]
    for name, mirrored in [("a2b3", "d2c3"), ("b2b3", "c2c3"), ("d4c3", "a4b3")]:
        action = game.symmetry_action(1, state.string_to_action(name))
        assert state.action_to_string(action) == mirrored


@pytest.mark.parametrize("board", BOARDS)
def test_a_mirrored_game_has_mirrored_boards_actions_and_results(board: str) -> None:
    game = pyengine.load_game("breakthrough" + board)
    for state in random_states(game, 10):
        mirrored = [game.symmetry_action(1, action) for action in state.history()]
        mirror = game.new_initial_state(mirrored)
        assert mirror.board_rows() == [row[::-1] for row in state.board_rows()]
        assert mirror.is_terminal() == state.is_terminal()
        if state.is_terminal():
            assert mirror.returns() == state.returns()
        else:
            images = [game.symmetry_action(1, action) for action in state.legal_actions()]
            assert sorted(mirror.legal_actions()) == sorted(images)


def test_networks_see_the_last_eight_boards() -> None:
    game = pyengine.load_game(SMALL)
    spec = pyengine.ModelSpec(planes=("first[0:8]", "second[0:8]"))
    boards: list[list[str]] = []
    for state in random_states(game, 50):
        boards = [*(boards if state.history() else []), state.board_rows()]
        before = boards[::-1][:8]
        planes = state.observation_tensor(spec).reshape(2, 8, 5, 3)
        for stones, shown in zip("XO", planes, strict=True):
            for rows, plane in zip(before, shown, strict=False):
                expected = [[cell == stones for cell in row] for row in rows]
                np.testing.assert_array_equal(plane, expected)
            assert not shown[len(before) :].any()


@pytest.mark.parametrize("plane", ["last[0]", "legal"])
def test_planes_of_points_do_not_show_its_moves(plane: str) -> None:
    state = pyengine.load_game("breakthrough").new_initial_state()
    with pytest.raises(pyengine.ModelError, match="its actions are not points"):
        state.observation_tensor(pyengine.ModelSpec(planes=(plane,)))


def test_training_data_are_mirrored_with_their_policies(tmp_path) -> None:
    game = pyengine.load_game(SMALL)
    search = pyengine.SearchConfig(simulations=16)
    config = pyengine.SelfPlayConfig(search=search)
    pyengine.selfplay(game, "rollout", games=4, out=tmp_path, config=config)
    data = pyengine.Dataset(tmp_path)
    numbers = np.arange(len(data))
    plain, mirrored = (data.rows(numbers, np.full(len(data), k, np.uint8)) for k in (0, 1))
    np.testing.assert_array_equal(mirrored["planes"], plain["planes"][..., ::-1])
    images = [game.symmetry_action(1, action) for action in range(game.num_distinct_actions())]
    np.testing.assert_array_equal(mirrored["policy"][:, images], plain["policy"])


def test_a_graph_of_positions_can_be_searched() -> None:
    game = pyengine.load_game(SMALL)
    engine = pyengine.Engine(game, "rollout", graph=True)
    assert engine.search(game.new_initial_state(), simulations=2_000).visits.sum() > 0


@pytest.mark.parametrize("board", ["(rows=4,columns=2)", "(rows=5,columns=2)"])
def test_solve_finds_the_outcome_with_best_play(board: str) -> None:
    game = pyengine.load_game("breakthrough" + board)
    start = game.new_initial_state()

    known: dict[str, bool] = {}

    def wins(state: pyengine.State) -> bool:
        """Return whether the player to move wins with best play."""
        if state.is_terminal():
            return False
        key = str(state)
        if key not in known:
            known[key] = not all(wins(after(state, action)) for action in state.legal_actions())
        return known[key]

    assert pyengine.solve(start).value == (1 if wins(start) else -1)


def test_a_client_that_speaks_gtp_names_both_squares() -> None:
    pytest.importorskip("typer", reason="the commands need the extra cli")
    command = [sys.executable, "-m", "pyengine", "gtp", "breakthrough"]
    lines = "play b a2b3\nplay w A7A6\nplay b a2\nplay b pass\nquit\n"
    answers = subprocess.run(
        command, input=lines, capture_output=True, text=True, check=True
    ).stdout.split("\n\n")
    assert [answer[:1] for answer in answers[:4]] == ["=", "=", "?", "?"]


def test_the_run_file_fits_the_game() -> None:
    pytest.importorskip("pydantic", reason="run files need the extra train")
    from pyengine.train.loop.runfile import RunFile

    text = (Path(__file__).parents[1] / "train.toml").read_text(encoding="utf-8")
    run = RunFile.from_toml(text)
    assert [game.name for game in run.games] == ["breakthrough"]
