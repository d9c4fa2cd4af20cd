"""Former names work for one release and say what they are called now."""

from __future__ import annotations

import importlib
import sys

import pytest

import pyengine
from pyengine import train


def test_generation_is_self_play() -> None:
    sys.modules.pop("pyengine.generation", None)
    with pytest.warns(DeprecationWarning, match="pyengine.self_play"):
        old = importlib.import_module("pyengine.generation")
    assert old.SelfPlayer is pyengine.self_play.SelfPlayer


@pytest.mark.parametrize(("old", "new"), [("judge", "play_gate"), ("Judgement", "GateResult")])
def test_names_of_training(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"pyengine.train.{new}"):
        found = getattr(train, old)
    assert found is getattr(train, new)
    with pytest.raises(AttributeError, match="no attribute 'jury'"):
        _ = train.jury  # type: ignore[attr-defined]


def test_the_evaluator_of_openings() -> None:
    with pytest.warns(DeprecationWarning, match="evaluator="):
        old = pyengine.Openings(judge="uniform", max_value=0.5)
    assert old == pyengine.Openings(evaluator="uniform", max_value=0.5)
    with pytest.raises(pyengine.ConfigError, match="jury: no field of Openings"):
        pyengine.Openings(jury="uniform")  # type: ignore[call-arg]
