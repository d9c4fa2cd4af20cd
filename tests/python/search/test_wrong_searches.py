"""Wrong arguments of engines, searches, settings and solvers raise one clear error each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.exact import minimax
from pyengine.match import tune
from wrong_values import all_but, cases, check_refused, wrong

STATE = pyengine.load_game("tic_tac_toe").new_initial_state()
ENGINE = pyengine.Engine("tic_tac_toe", "uniform", simulations=4, threads=1)
RESULT = ENGINE.search(STATE)
NO_NUMBER = wrong("None", "text", "bytes", "NaN", "list", "dict", "object", "function", "array")


@cases(
    [
        ("game", lambda v: pyengine.Engine(v, "uniform"), all_but(), ""),
        ("config", lambda v: pyengine.Engine(STATE.game, "uniform", config=v),
         all_but("None"), "config: expected a SearchConfig"),
        ("state", ENGINE.search, all_but(), ""),
        ("on_progress", lambda v: ENGINE.search(STATE, on_progress=v),
         all_but("None", "function"), "on_progress: expected a function"),
        ("states", ENGINE.search_many, all_but("list", "dict", "tuple", "array"), "state"),
        ("a state of states", lambda v: ENGINE.search_many([v]), all_but(), ""),
        ("analyze", ENGINE.analyze, all_but(), "a state of tic_tac_toe"),
        ("every", lambda v: ENGINE.analyze(STATE, every=v), all_but("fraction"), "every"),
        ("policy_at", RESULT.policy_at, {**NO_NUMBER, "negative": -1}, "temperature"),
        ("max_depth", lambda v: RESULT.tree(max_depth=v), all_but("huge"), "max_depth"),
        ("min_visits", lambda v: RESULT.tree(min_visits=v), all_but("huge"), "min_visits"),
        ("c_puct", lambda v: pyengine.SearchConfig(c_puct=v), NO_NUMBER, "c_puct"),
        ("from_toml", pyengine.SearchConfig.from_toml,
         all_but("text", "NUL"), "expected TOML text"),
        ("from_toml, text", pyengine.SearchConfig.from_toml, wrong("text", "NUL"), "invalid TOML"),
        ("from_json", pyengine.ModelSpec.from_json, all_but(), "spec"),
        ("minimax", minimax, all_but(), "minimax: expected a state"),
        ("solve", lambda v: pyengine.solve(v), all_but(), ""),
        ("tune", tune, all_but(), "engine: expected an Engine"),
        ("tune, seconds", lambda v: tune(ENGINE, v),
         {**NO_NUMBER, "negative": -1}, "seconds"),
    ]
)  # fmt: skip
def test_a_search_refuses_wrong_arguments(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said)


def test_advance_refuses_what_is_not_an_action() -> None:
    with pyengine.Engine("tic_tac_toe", "uniform", simulations=4) as engine:
        engine.search(STATE)
        check_refused(
            engine.advance, all_but(), "action", (pyengine.ConfigError, pyengine.IllegalActionError)
        )


@pytest.mark.parametrize(
    ("name", "message"), [("missing.toml", "missing.toml does not exist"), (".", "cannot be read")]
)
def test_an_unreadable_file_of_settings_is_named(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=message):
        pyengine.SearchConfig.from_toml(tmp_path / name)


@cases(
    [
        ("OnnxEvaluator", pyengine.OnnxEvaluator, all_but("text", "NUL"), "path"),
        ("OnnxEvaluator, missing", pyengine.OnnxEvaluator, wrong("text"), "junk"),
        ("CallbackEvaluator", pyengine.CallbackEvaluator, all_but("function"), "callable"),
        ("StateEvaluator", pyengine.StateEvaluator, all_but("function"), "callable"),
        ("RolloutEvaluator", pyengine.RolloutEvaluator, all_but("huge"), "rollouts"),
        ("MixedEvaluator", lambda v: pyengine.MixedEvaluator("uniform", "rollout", v),
         all_but("fraction"), "mix"),
    ]
)  # fmt: skip
def test_an_evaluator_refuses_wrong_arguments(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said, (pyengine.ConfigError, pyengine.ModelError))


class NoArray:
    """A tensor that requires a gradient, which NumPy cannot convert."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("Use tensor.detach().numpy() instead.")


def test_an_answer_that_is_no_array_gives_numpys_reason() -> None:
    engine = pyengine.Engine("tic_tac_toe", lambda planes: (NoArray(), np.zeros(len(planes))))
    with pytest.raises(pyengine.EvaluationError, match=r"Use tensor\.detach"):
        engine.search(STATE, simulations=2)
