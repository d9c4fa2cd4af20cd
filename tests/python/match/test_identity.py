"""Whose games a record has: a match goes on between the same players alone."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, RandomPlayer
from tiny_models import TinyModel
from toy_games import Pairs, ToyGame, ToyState

ROLLS = random.Random(1)
DEPTH = [0]


def at(place: int) -> Callable[[Any], int]:
    """Return a function that plays the legal action of a place."""
    return lambda state: int(state.legal_actions()[place])


def by_depth(state: Any) -> int:
    """Play the legal action whose place a global list says."""
    return int(state.legal_actions()[DEPTH[0]])


class Fixed:
    """Plays the legal action of a place."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __call__(self, state: Any) -> int:
        """Choose."""
        return int(state.legal_actions()[self.place])


def merged(tmp_path: Path, one: Any, other: Any, game: str = "tic_tac_toe") -> bool:
    """Whether the record of one player is taken for that of the other."""
    file = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"

    def play(player: Any) -> None:
        pyengine.match(player, RandomPlayer(), game=game, games=2, record=file)

    play(one)
    try:
        play(other)
    except ConfigError as error:
        if "record of another match: a: " not in str(error):
            raise
        return False
    return True


def test_functions_are_their_code_and_their_values(tmp_path: Path) -> None:
    first: Any = lambda state: int(state.legal_actions()[0])  # noqa: E731
    last: Any = lambda state: int(state.legal_actions()[-1])  # noqa: E731
    assert not merged(tmp_path, first, last)
    assert not merged(tmp_path, at(0), at(-1))
    assert not merged(tmp_path, Fixed(0), Fixed(-1))
    assert not merged(tmp_path, Fixed(0).__call__, Fixed(-1).__call__)
    assert merged(tmp_path, at(0), at(0))
    assert merged(tmp_path, Fixed(-1), Fixed(-1))


def test_what_a_function_reads_belongs_to_it(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    pyengine.match(by_depth, RandomPlayer(), game="tic_tac_toe", games=2, record=file)
    DEPTH[0] = -1
    try:
        with pytest.raises(ConfigError, match="another match"):
            pyengine.match(by_depth, RandomPlayer(), game="tic_tac_toe", games=2, record=file)
    finally:
        DEPTH[0] = 0


def test_code_is_the_same_in_the_next_process(tmp_path: Path) -> None:
    (tmp_path / "players.py").write_text(
        "WORDS = {'one', 'two', 'three'}\n"
        "def first(state, among=frozenset('abc')):\n"
        "    return state.legal_actions()[0] if 'x' not in {'one', 'two', 'four'} else len(WORDS)\n"
    )
    program = (
        "import players; from pyengine.match.code import digest_of as d; print(d(players.first))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(found) == 1


def test_a_network_that_a_closure_holds_is_looked_at_too(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    file.write_bytes(pyengine.bundled_models()["tic_tac_toe"].read_bytes())
    network = pyengine.OnnxEvaluator(file)

    def player(state: Any) -> int:
        return int(network.evaluate([state])[0][0].argmax())

    os.utime(file, (1, 1))
    with pytest.raises(ConfigError, match="found it written since"):
        pyengine.match(
            player, RandomPlayer(), game="tic_tac_toe", games=2, record=tmp_path / "games.jsonl"
        )


def test_what_cannot_be_told_needs_an_identity_and_without_a_record_anything_plays(
    tmp_path: Path,
) -> None:
    def player(state: Any) -> int:
        return int(ROLLS.choice(state.legal_actions()))

    file = tmp_path / "games.jsonl"
    arguments: dict[str, Any] = {"game": "tic_tac_toe", "games": 2}
    assert pyengine.match(player, RandomPlayer(), **arguments).games == 2
    with pytest.raises(ConfigError, match=r"a: .*ROLLS in .*attribute identity"):
        pyengine.match(player, RandomPlayer(), **arguments, record=file)
    player.identity = "rolls, first version"  # type: ignore[attr-defined]
    pyengine.match(player, RandomPlayer(), **arguments, record=file)
    pyengine.match(player, RandomPlayer(), **arguments, record=file)
    player.identity = "rolls, second version"  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="first version"):
        pyengine.match(player, RandomPlayer(), **arguments, record=file)


def engine(evaluator: Any) -> pyengine.Engine:
    """Return an engine for tic-tac-toe that searches little."""
    return pyengine.Engine("tic_tac_toe", evaluator, simulations=4, threads=1)


def test_evaluators_are_their_functions(tmp_path: Path) -> None:
    def evaluate(value: float) -> Callable[[Any], Any]:
        return lambda planes: ([[0.0] * 9] * len(planes), [value] * len(planes))

    def states(value: float) -> pyengine.StateEvaluator:
        return pyengine.StateEvaluator(evaluate(value))

    assert not merged(tmp_path, engine(evaluate(0.0)), engine(evaluate(0.5)))
    assert merged(tmp_path, engine(evaluate(0.5)), engine(evaluate(0.5)))
    assert not merged(tmp_path, engine(states(0.0)), engine(states(0.5)))


def test_a_mixed_evaluator_is_its_parts(tmp_path: Path) -> None:
    models = []
    for bias in (0, 1):
        folder = tmp_path / f"models{bias}"
        folder.mkdir()
        content = bytearray(TinyModel().write(folder / "m.onnx").read_bytes())
        content[content.index(b"\x4a") + 9] ^= bias  # among the weights
        (folder / "m.onnx").write_bytes(content)
        models.append(pyengine.OnnxEvaluator(folder / "m.onnx", pyengine.ModelSpec()))

    def mixed(model: Any, rollouts: int = 1, mix: float = 0.5) -> pyengine.Engine:
        rollout = pyengine.RolloutEvaluator(rollouts)
        return engine(pyengine.MixedEvaluator(model, rollout, mix))

    assert not merged(tmp_path, mixed(models[0]), mixed(models[1]))
    assert not merged(tmp_path, mixed(models[0]), mixed(models[0], mix=0.25))
    assert not merged(tmp_path, mixed(models[0]), mixed(models[0], rollouts=2))
    assert merged(tmp_path, mixed(models[0]), mixed(models[0]))


def test_priors_of_a_rollout_policy_are_its_weights(tmp_path: Path) -> None:
    def player(weight: float) -> pyengine.Engine:
        none = np.zeros(65536)
        policy = pyengine.RolloutPolicy(none, none, {"atari": weight})
        return pyengine.Engine("go(board_size=3)", pyengine.PolicyEvaluator(policy), simulations=4)

    assert not merged(tmp_path, player(0.5), player(1.0), "go(board_size=3)")
    assert merged(tmp_path, player(0.5), player(0.5), "go(board_size=3)")


def test_weights_in_another_file_belong_to_a_network(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    file, weights = tmp_path / "m.onnx", tmp_path / "weights"
    model = onnx.load(TinyModel().write(file))
    onnx.save(model, file, save_as_external_data=True, location="weights", size_threshold=0)
    one = engine(pyengine.OnnxEvaluator(file, pyengine.ModelSpec()))
    games = tmp_path / "games.jsonl"
    pyengine.match(one, RandomPlayer(), games=2, record=games)
    weights.write_bytes(bytes(weights.stat().st_size))
    other = engine(pyengine.OnnxEvaluator(file, pyengine.ModelSpec()))
    with pytest.raises(ConfigError, match="another match: a: "):
        pyengine.match(other, RandomPlayer(), games=2, record=games)


@pytest.mark.parametrize("same_time", [False, True])
def test_a_network_that_was_written_since_it_was_opened_is_refused(
    same_time: bool, tmp_path: Path
) -> None:
    file = tmp_path / "m.onnx"
    content = bytearray(pyengine.bundled_models()["tic_tac_toe"].read_bytes())
    file.write_bytes(content)
    times = file.stat()
    player = engine(file)
    if same_time:
        content[len(content) // 2] ^= 1  # of a weight
        file.write_bytes(content)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    else:
        os.utime(file, (1, 1))
    with pytest.raises(ConfigError, match="found it written since"):
        pyengine.match(player, RandomPlayer(), games=2, record=tmp_path / "games.jsonl")


def test_an_engine_with_code_of_its_own_needs_an_identity(tmp_path: Path) -> None:
    class Careless(pyengine.Engine):
        pass

    with Careless("tic_tac_toe", "uniform", simulations=2) as player:
        with pytest.raises(ConfigError, match="code of its own"):
            pyengine.match(player, RandomPlayer(), games=2, record=tmp_path / "games.jsonl")
        player.identity = "careless"  # type: ignore[attr-defined]
        pyengine.match(player, RandomPlayer(), games=2, record=tmp_path / "games.jsonl")


def test_games_of_one_name_are_told_apart_by_their_rules(tmp_path: Path) -> None:
    class Single(ToyState):
        actions = 20

        def is_terminal(self) -> bool:
            return len(self.moves) == 19

    record = tmp_path / "games.jsonl"
    pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Pairs), games=2, record=record)
    pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Pairs), games=2, record=record)
    with pytest.raises(ConfigError, match="rules: expected"):
        pyengine.match(RandomPlayer(), RandomPlayer(), game=ToyGame(Single), games=2, record=record)
