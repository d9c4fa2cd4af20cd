"""The demo's claims about its positions are true."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyengine
from pyengine.cli import demo
from pyengine.cli.demo import SCENES, Scene, start_of
from pyengine.eval.bundled import model_of_game

CONNECT_FOUR, GOMOKU = SCENES


def after(scene: Scene, *moves: str) -> pyengine.State:
    """Return the position of a scene after further moves."""
    state = start_of(scene)
    for move in moves:
        state.apply_action(state.string_to_action(move))
    return state


def value_after(*moves: str) -> float:
    """Return the exact value for the player to move after moves in the first scene."""
    return pyengine.solve(after(CONNECT_FOUR, *moves)).value


def test_in_connect_four_one_move_wins_and_all_others_lose() -> None:
    state = start_of(CONNECT_FOUR)
    names = [state.action_to_string(action) for action in state.legal_actions()]
    values = {name: -value_after(name) for name in names}
    assert values.pop(CONNECT_FOUR.best) == 1
    assert set(values.values()) == {-1}
    assert value_after(CONNECT_FOUR.natural, CONNECT_FOUR.best) == -1, "the refutation"


def test_the_win_in_connect_four_takes_three_moves() -> None:
    state = start_of(CONNECT_FOUR)
    stones_at_the_end = len(state.history()) + 5
    score = 22 - (stones_at_the_end + 1) // 2  # Pons: 1 for a win with the last of 21 stones
    assert pyengine.solve(state, score=True).value == score


@pytest.mark.parametrize(("moves", "proven"), [(("F5",), -1), (("F5", "G5"), 1), (("F6",), 1)])
def test_in_gomoku_the_four_wins_and_the_open_three_loses(
    moves: tuple[str, ...], proven: int
) -> None:
    """Values are for the player to move, which is O after F5 and after F6."""
    result = pyengine.search(
        after(GOMOKU, *moves),
        evaluator="rollout",
        simulations=200_000,
        deterministic=True,
        memory_limit=1 << 29,
    )
    assert result.proven == proven


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.model)
def test_the_bundled_network_of_the_game_finds_the_winning_move(scene: Scene) -> None:
    if scene.model not in pyengine.bundled_models():
        pytest.skip(f"the network {scene.model} is not bundled with this build")
    state = start_of(scene)
    assert model_of_game(state.game) == scene.model
    result = pyengine.search(
        state, evaluator=scene.model, simulations=demo.SIMULATIONS, deterministic=True
    )
    assert result.action_name(result.action) == scene.best


def test_the_demo_prints_boards_tables_and_speed_without_any_extra() -> None:
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('typer', 'rich', 'torch', 'onnx')))\n"
        "from dataclasses import replace\n"
        "from pyengine.cli import demo\n"
        "demo.SIMULATIONS = 200\n"
        "demo.SCENES = [replace(scene, model='rollout') for scene in demo.SCENES]\n"
        "demo.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for scene in SCENES:
        assert str(start_of(scene)) in done.stdout
        assert scene.lesson in done.stdout
    for word in ("prior", "value", "line: ", "200 simulations in", "solver"):
        assert done.stdout.count(word) >= len(SCENES)
