"""Invalid text: lone surrogates from Python, and files with bytes that are not UTF-8."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import (
    ConfigError,
    EngineError,
    EvaluationError,
    IllegalActionError,
    ModelError,
    ModelSpec,
    OnnxEvaluator,
    SearchConfig,
    load_game,
)
from pyengine.games import as_game
from tiny_models import TinyModel
from toy_games import Matches, ToyGame

LONE = "\udcff"  # a lone surrogate, which is not a character
REPLACEMENT = "\ufffd"

GO = load_game("go", board_size=9)
START = GO.new_initial_state()


class Unprintable:
    """Returns invalid text as its description."""

    def __repr__(self) -> str:
        return LONE


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: load_game(LONE), ConfigError),
        (lambda: load_game(f"go({LONE}=9)"), ConfigError),
        (lambda: load_game("go", **{LONE: 9}), ConfigError),
        (lambda: load_game("go", board_size=LONE), ConfigError),
        (lambda: load_game("go", board_size=Unprintable()), ConfigError),
        (lambda: START.string_to_action(LONE), IllegalActionError),
        (lambda: GO.deserialize_state(LONE), ConfigError),
        (lambda: GO.state_from_board([LONE] * 9), ConfigError),
        (lambda: GO.state_from_board(["." * 9] * 9, ko=LONE), ConfigError),
        (lambda: ModelSpec(planes=(LONE,)), ConfigError),
        (lambda: ModelSpec(pass_index=Unprintable()), ConfigError),  # type: ignore[arg-type]
        (lambda: SearchConfig(seed=Unprintable()), ConfigError),  # type: ignore[arg-type]
    ],
)
def test_an_error_shows_a_replacement_for_a_surrogate(
    call: Callable[[], object], error: type[Exception]
) -> None:
    with pytest.raises(error, match=REPLACEMENT):
        call()


@pytest.mark.parametrize("letter", ["ж", "€", "😀"])
def test_a_long_text_is_cut_between_characters(letter: str) -> None:
    for shift in range(4):
        text = "a" * shift + letter * 300
        for serialised in (text, f"{GO};{text}", f"{START.serialize()}{text}"):
            with pytest.raises(ConfigError) as error:
                GO.deserialize_state(serialised)
            assert REPLACEMENT not in str(error.value)


class Odd(Matches):
    """A game whose names are invalid text."""

    def __str__(self) -> str:
        return LONE

    def action_to_string(self, action: int) -> str:
        return f"{action}{LONE}"


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", LONE])
def test_an_impossible_file_name_is_not_an_evaluator(name: str) -> None:
    with pytest.raises(ConfigError, match="is neither a file nor one of"):
        pyengine.Engine(GO, name)


def test_invalid_names_of_a_python_game_are_replaced() -> None:
    state = as_game(ToyGame(Odd)).new_initial_state()
    assert str(state) == REPLACEMENT
    assert state.action_to_string(1) == "1" + REPLACEMENT
    assert state.string_to_action("1" + LONE) == 1
    with pytest.raises(IllegalActionError, match=REPLACEMENT):
        state.string_to_action("nothing")


def test_an_unprintable_answer_of_a_game_is_an_error() -> None:
    class Bad(Matches):
        def current_player(self) -> Any:
            return Unprintable()

    with pytest.raises(ConfigError, match=REPLACEMENT):
        pyengine.Engine(ToyGame(Bad), "uniform")


class SilentError(Exception):
    """An error whose text cannot be read."""

    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize("raised", [RuntimeError(LONE), SilentError()])
def test_an_exception_without_valid_text_is_reported_by_its_type(raised: Exception) -> None:
    def fail(planes: Any) -> Any:
        raise raised

    with pytest.raises(EvaluationError, match=type(raised).__name__) as error:
        pyengine.Engine(GO, fail).search(START, simulations=4)
    assert error.value.__cause__ is raised


def damaged(path: Path, name: bytes, model: TinyModel) -> Path:
    """Write a model in which a name is not UTF-8."""
    content = model.write(path).read_bytes()
    assert name in content
    path.write_bytes(content.replace(name, b"\xff\xfe\x80" + name[3:]))
    return path


@pytest.mark.parametrize("name", ["the_input", "the_value", "Flatten", "before_the_value"])
def test_a_model_with_an_invalid_name_raises_at_most_an_engine_error(
    name: str, tmp_path: Path
) -> None:
    model = TinyModel(names=("the_input", "the_policy", "the_value"))
    file = damaged(tmp_path / "model.onnx", name.encode(), model)
    game = load_game("tic_tac_toe")
    try:
        evaluator = OnnxEvaluator(file)
        evaluator.evaluate([game.new_initial_state()])
        pyengine.Engine(game, evaluator)
        repr(evaluator)
    except EngineError as error:
        str(error).encode()


def test_a_model_with_any_damaged_byte_raises_at_most_an_engine_error(tmp_path: Path) -> None:
    content = TinyModel().write(tmp_path / "model.onnx").read_bytes()
    state = load_game("tic_tac_toe").new_initial_state()
    rng = np.random.default_rng(1)
    letters = [i for i, byte in enumerate(content) if chr(byte).isalpha()]
    for place in rng.choice(letters, 30, replace=False):
        (tmp_path / "bad.onnx").write_bytes(content[:place] + b"\xff" + content[place + 1 :])
        try:
            OnnxEvaluator(tmp_path / "bad.onnx").evaluate([state])
        except EngineError as error:
            str(error).encode()


def test_settings_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    in_model = TinyModel(metadata={"pyengine.spec": '{"layout": "abcdefgh"}'})
    with pytest.raises(EngineError):
        OnnxEvaluator(damaged(tmp_path / "inside.onnx", b"abcdefgh", in_model))
    beside = TinyModel().write(tmp_path / "model.onnx")
    beside.with_suffix(".spec.json").write_bytes(b'{"layout": "\xff"}')
    with pytest.raises(ModelError, match="expected text in UTF-8"):
        OnnxEvaluator(beside)
    (tmp_path / "search.toml").write_bytes(b'fpu = "\xff"')
    with pytest.raises(ConfigError, match="not UTF-8 text"):
        SearchConfig.from_toml(tmp_path / "search.toml")
