"""The rules of Hex, against naive ones and against OpenSpiel's if it is installed."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyengine

SETTINGS = [(2, True), (3, False), (4, True), (7, False), (11, True), (19, False)]


class NaiveHex:
    """Hex as its rules are written: a dictionary of stones, and a search for a chain."""

    def __init__(self, size: int, swap: bool) -> None:
        self.size, self.swap = size, swap
        self.stones: dict[tuple[int, int], int] = {}
        self.plies = 0

    def legal_actions(self) -> list[int]:
        points = range(self.size * self.size)
        actions = [p for p in points if divmod(p, self.size) not in self.stones]
        return actions + [len(points)] * (self.swap and self.plies == 1)

    def play(self, action: int) -> None:
        if action == self.size * self.size:
            ((row, column),) = self.stones
            self.stones = {(column, row): 1}
        else:
            self.stones[divmod(action, self.size)] = self.plies % 2
        self.plies += 1

    def winner(self) -> int | None:
        return next((player for player in (0, 1) if self.connects(player)), None)

    def connects(self, player: int) -> bool:
        """Return whether a chain leads from row 0, or for the second player column 0, across."""
        own = {point for point, owner in self.stones.items() if owner == player}
        chain = [point for point in own if point[player] == 0]
        for row, column in chain:
            for down, right in [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)]:
                point = (row + down, column + right)
                if point in own and point not in chain:
                    chain.append(point)
        return any(point[player] == self.size - 1 for point in chain)

    def rows(self) -> list[str]:
        line = range(self.size)
        return ["".join(".XO"[self.stones.get((r, c), -1) + 1] for c in line) for r in line]


def hex_game(size: int, swap: bool = False) -> pyengine.Game:
    return pyengine.load_game("hex", board_size=size, swap=swap)


def random_games(size: int, swap: bool, games: int):
    """Yield all states of random games, each with the naive rules' position."""
    rng = random.Random(size)
    for _ in range(games):
        state, naive = hex_game(size, swap).new_initial_state(), NaiveHex(size, swap)
        yield state, naive
        while not state.is_terminal():
            swaps = swap and naive.plies == 1 and rng.random() < 0.5
            action = size * size if swaps else rng.choice(state.legal_actions())
            state.apply_action(action)
            naive.play(action)
            yield state, naive


def count_sequences(state: pyengine.State, plies: int) -> int:
    if plies == 0 or state.is_terminal():
        return int(plies == 0)
    total = 0
    for action in state.legal_actions():
        following = state.clone()
        following.apply_action(action)
        total += count_sequences(following, plies - 1)
    return total


def count_naive(size: int, swap: bool, actions: tuple[int, ...], plies: int) -> int:
    naive = NaiveHex(size, swap)
    for action in actions:
        naive.play(action)
    if plies == 0 or naive.winner() is not None:
        return int(plies == 0)
    legal = naive.legal_actions()
    return sum(count_naive(size, swap, (*actions, action), plies - 1) for action in legal)


@pytest.mark.parametrize(("size", "swap"), SETTINGS)
def test_random_games_break_no_promise(size: int, swap: bool) -> None:
    report = pyengine.check_game(hex_game(size, swap), games=5)
    assert report.ok, report


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("swap", [False, True])
def test_counts_of_move_sequences(size: int, swap: bool) -> None:
    start = hex_game(size, swap).new_initial_state()
    for plies in range(1, 6):
        assert count_sequences(start, plies) == count_naive(size, swap, (), plies)


@pytest.mark.parametrize(("size", "swap"), SETTINGS)
def test_games_are_those_of_the_naive_rules(size: int, swap: bool) -> None:
    for state, naive in random_games(size, swap, 3):
        winner = naive.winner()
        assert state.board_rows() == naive.rows()
        assert state.is_terminal() == (winner is not None)
        if winner is None:
            assert state.legal_actions() == naive.legal_actions()
            assert state.current_player() == naive.plies % 2
        else:
            assert state.returns() == [1 - 2 * winner, 2 * winner - 1]


@pytest.mark.parametrize("size", [3, 7])
def test_games_without_the_swap_are_those_of_open_spiel(size: int) -> None:
    spiel = pytest.importorskip("pyspiel", reason="the oracle needs open_spiel")
    other = spiel.load_game(f"hex(board_size={size})")
    for state, _ in random_games(size, False, 20):
        theirs = other.new_initial_state()
        for action in state.history():
            theirs.apply_action(action)
        assert theirs.is_terminal() == state.is_terminal()
        assert theirs.legal_actions() == state.legal_actions()
        assert not state.is_terminal() or theirs.returns() == state.returns()


def test_the_swap_mirrors_the_stone_and_gives_it_to_the_second_player() -> None:
    state = hex_game(3, swap=True).new_initial_state()
    assert 9 not in state.legal_actions()
    state.apply_action(state.string_to_action("b1"))
    state.apply_action(state.string_to_action("swap"))
    assert state.board_rows() == ["...", "O..", "..."]
    assert state.current_player() == 0
    assert 9 not in state.legal_actions()


@pytest.mark.parametrize("swap", [False, True])
def test_every_action_has_a_name_of_its_own(swap: bool) -> None:
    state = hex_game(19, swap).new_initial_state()
    actions = range(state.game.num_distinct_actions())
    names = [state.action_to_string(action) for action in actions]
    assert (names[0], names[18], names[19]) == ("a1", "s1", "a2")
    assert [state.string_to_action(name) for name in names] == list(actions)


def test_the_symmetry_is_half_a_turn() -> None:
    game = hex_game(5, swap=True)
    assert game.num_symmetries == 2
    assert list(game.symmetry_points(1)) == list(reversed(range(25)))
    assert [game.symmetry_action(1, action) for action in (0, 7, 25)] == [24, 17, 25]


@pytest.mark.parametrize("swap", [False, True])
def test_networks_see_the_last_eight_boards(swap: bool) -> None:
    spec = pyengine.ModelSpec(planes=("first[0:8]", "second[0:8]"))
    boards: list[list[str]] = []
    for state, _ in random_games(4, swap, 20):
        boards = [*(boards if state.history() else []), state.board_rows()]
        before = boards[::-1][:8]
        planes = state.observation_tensor(spec).reshape(2, 8, 4, 4)
        for stones, shown in zip("XO", planes, strict=True):
            for rows, plane in zip(before, shown, strict=False):
                expected = [[cell == stones for cell in row] for row in rows]
                np.testing.assert_array_equal(plane, expected)
            assert not shown[len(before) :].any()


def test_planes_of_gomoku_are_refused() -> None:
    state = hex_game(7).new_initial_state()
    with pytest.raises(pyengine.ModelError, match="its symmetries are not reflections"):
        state.observation_tensor(pyengine.ModelSpec.gomoku17())


def test_training_data_are_turned_with_their_policies(tmp_path) -> None:
    search = pyengine.SearchConfig(simulations=16)
    config = pyengine.SelfPlayConfig(search=search)
    pyengine.selfplay(hex_game(4), "rollout", games=4, out=tmp_path, config=config)
    data = pyengine.Dataset(tmp_path)
    numbers = np.arange(len(data))
    plain, turned = (data.rows(numbers, np.full(len(data), k, np.uint8)) for k in (0, 1))
    np.testing.assert_array_equal(turned["planes"], plain["planes"][..., ::-1, ::-1])
    np.testing.assert_array_equal(turned["policy"], plain["policy"][:, ::-1])


def test_a_graph_of_positions_can_be_searched() -> None:
    game = hex_game(4)
    engine = pyengine.Engine(game, "rollout", graph=True)
    result = engine.search(game.new_initial_state(), simulations=20_000)
    assert pyengine.solve(game.new_initial_state([result.action])).value == -1


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_first_player_wins_unless_the_second_may_swap(size: int) -> None:
    assert pyengine.solve(hex_game(size).new_initial_state()).value == 1
    assert pyengine.solve(hex_game(size, swap=True).new_initial_state()).value == -1


def test_only_some_openings_win_on_3x3() -> None:
    game = hex_game(3)
    values = [pyengine.solve(game.new_initial_state([action])).value for action in range(9)]
    naive = [-1.0 if wins_after(NaiveHex(3, False), action) else 1.0 for action in range(9)]
    assert values == naive


def wins_after(naive: NaiveHex, *actions: int) -> bool:
    """Return whether the player of the last action wins with best play."""
    position = NaiveHex(naive.size, naive.swap)
    for action in actions:
        position.play(action)
    if position.winner() is not None:
        return True
    return not any(wins_after(naive, *actions, action) for action in position.legal_actions())


def test_a_client_that_speaks_gtp_may_swap() -> None:
    pytest.importorskip("typer", reason="the commands need the extra cli")
    command = [sys.executable, "-m", "pyengine", "gtp", "hex(board_size=3,swap=True)"]
    lines = "play b a3\nplay w swap\nplay b pass\nplay b a3\nquit\n"
    answers = subprocess.run(
        command, input=lines, capture_output=True, text=True, check=True
    ).stdout.split("\n\n")
    assert [answer[:1] for answer in answers[:4]] == ["=", "=", "?", "?"]


def test_the_run_file_fits_the_game() -> None:
    pytest.importorskip("pydantic", reason="run files need the extra train")
    from pyengine.train.loop.runfile import RunFile

    text = (Path(__file__).parents[1] / "train.toml").read_text(encoding="utf-8")
    run = RunFile.from_toml(text)
    assert [game.name for game in run.games] == ["hex"]
