"""The claims of the demo about its positions are true."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

import pyengine
from pyengine.cli import demo
from pyengine.cli.demo import SCENES, Scene, start_of
from pyengine.eval.bundled import model_of_game

CONNECT_FOUR, GOMOKU = SCENES


def after_action(state: pyengine.State, action: int) -> pyengine.State:
    state = state.clone()
    state.apply_action(action)
    return state


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
    def wins_in(state: pyengine.State, moves: int) -> bool:
        """Return whether the player to move can force a win within a number of moves."""
        children = [after_action(state, action) for action in state.legal_actions()]
        if any(child.is_terminal() and child.returns() != [0, 0] for child in children):
            return True
        return moves > 1 and any(
            not child.is_terminal()
            and all(
                not reply.is_terminal() and wins_in(reply, moves - 1)
                for reply in (after_action(child, a) for a in child.legal_actions())
            )
            for child in children
        )

    assert not wins_in(start_of(CONNECT_FOUR), 2)
    assert wins_in(start_of(CONNECT_FOUR), 3)


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


def test_the_demo_prints_boards_tables_and_speed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "SIMULATIONS", 200)
    monkeypatch.setattr(demo, "SCENES", [replace(scene, model="rollout") for scene in SCENES])
    assert demo.main() == 0
    text = capsys.readouterr().out
    for scene in SCENES:
        assert str(start_of(scene)) in text
        assert scene.lesson in text
    for word in ("prior", "value", "line: ", "200 simulations in", "solver"):
        assert text.count(word) >= len(SCENES)


def test_the_demo_requires_no_extra() -> None:
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('typer', 'rich', 'torch', 'onnx')))\n"
        "from pyengine.cli import demo\n"
        "demo.SIMULATIONS = 50\n"
        "sys.exit(demo.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
