"""The documented fields, defaults and ranges of settings match the code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

import pyengine
from described import RECORDS, SETTINGS, described, evaluated
from pyengine.errors import ConfigError
from pyengine.train import LearnerConfig, OptimiserConfig
from pyengine.train.loop import runfile
from pyengine.train.loop.run_configs import RunConfig
from pyengine.train.settings import Section

#: Classes of the core, whose defaults are declared only there.
BOUND = (pyengine.SearchConfig, pyengine.SelfPlayConfig)
ROOT = Path(__file__).resolve().parents[3]


def entries(kinds: list[type]) -> list[Any]:
    """Return a test parameter for each field of the classes."""
    return [
        pytest.param(kind, entry, id=f"{kind.__name__}.{entry.name}")
        for kind in kinds
        for entry in described(kind)
    ]


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_docstring_describes_every_field(kind: type) -> None:
    fields = [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    assert sorted(entry.name for entry in described(kind)) == sorted(fields)
    assert all(len(entry.meaning) > 3 for entry in described(kind))


def test_the_guide_lists_the_settings_that_may_change_in_a_run() -> None:
    page = (ROOT / "docs" / "guides" / "training.md").read_text()
    text = page.split("These may change: ", 1)[1].split("\n\n", 1)[0]
    free: dict[str, set[str]] = {}
    for part in text.split(";"):
        names = set(re.findall(r"`([a-z_]+)`", part))
        free |= dict.fromkeys(re.findall(r"`\[([a-z._]+)\]`", part), names)
    assert free == {
        "run": {"seed"},  # all but this
        "distributed": set(),  # all
        "train": set(LearnerConfig.FREE),
        "train.optimiser": set(OptimiserConfig.FREE),
        "search": set(runfile._FREE_SEARCH),
        "gate.search": set(runfile._FREE_SEARCH),
        "gate": set(runfile._FREE_GATE),
    }
    assert set(RunConfig.model_fields) == {*RunConfig.FREE, "seed"}


@pytest.mark.parametrize(("kind", "entry"), entries(SETTINGS))
def test_defaults(kind: type, entry: Any) -> None:
    field = next(field for field in dataclasses.fields(kind) if field.name == entry.name)
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    if entry.default == f"{type(default).__name__}()":
        assert default == type(default)()
        return
    documented = evaluated(entry.default)
    assert (documented, type(documented)) == (default, type(default))


#: Other settings that a field requires.
BESIDE: dict[str, dict[str, Any]] = {
    "GateConfig.games": {"mode": "latest"},
    "OptimiserConfig.schedule": {"total_steps": 1},
    "Openings.moves": {"evaluator": "uniform"},
    "Openings.max_value": {"evaluator": "uniform"},
}


def accepted(kind: type, name: str, value: Any) -> bool:
    """Return whether a field accepts a value."""
    others = dict(BESIDE.get(f"{kind.__name__}.{name}", {}))
    if name == "value_kind" and value == "log_probs":
        others["value"] = ("win", "draw", "loss")
    if name == "schedule" and value == "steps":
        others["rates"] = [1.0]
    if name == "processes":  # must divide the batch size
        others["batch_size"] = value
    try:
        kind(**{**others, name: value})
    except (ConfigError, TypeError):
        return False
    return True


_INTERVAL = re.compile(r"(int|float) in ([\[(])(.+), (.+)([\])])( or None)?")
_BOUND = re.compile(r"(int|float) (>=?) (.+?)( or None)?")


def samples(values: str) -> tuple[list[Any], list[Any]]:
    """Return values inside a range and values outside it."""
    if interval := _INTERVAL.fullmatch(values):
        kind, left, low, high, right, none = interval.groups()
        least, most = evaluated(low), evaluated(high)
        step = 1 if kind == "int" else 1e-6
        inside = [least + step, most - step if most > least + step else least + step]
        outside = [least - step if kind == "int" else least - 0.01, most + 1]
        (inside if left == "[" else outside).append(least)
        (inside if right == "]" else outside).append(most)
    elif bound := _BOUND.fullmatch(values):
        kind, sign, low, none = bound.groups()
        least = evaluated(low)
        inside, outside = [least + 1], [least - 1]
        (inside if sign == ">=" else outside).append(least)
    elif words := re.findall(r'"(\w+)"', values):
        none = "None" if values.endswith("or None") else None
        return [*words, *([None] if none else [])], ["unknown", 1]
    else:
        return {
            "bool": ([True, False], [1, "true", None]),
            "str": (["a"], [1, None]),
            "str or None": (["a", None], [1]),
        }.get(values, ([], []))
    (inside if none else outside).append(None)
    return inside, outside


#: Classes that also reject numbers of another type, such as a bool for an int.
TYPED = (Section, *BOUND)


#: Ranges that samples() cannot parse or that depend on another field.
IN_WORDS = {
    '"standard", "alphago" or "log"',
    "float",
    "table",
    "tuple of str",
    "list of str",
    "list of float > 0",
    "list of int > 0",
    '"scalar" or tuple of str',
    "evaluator or None",
    "SearchConfig",
    "NetworkConfig",
    "LossConfig",
    "OptimiserConfig",
    "AverageConfig",
    "LearnerConfig",
}


@pytest.mark.parametrize(("kind", "entry"), entries([*SETTINGS, *BOUND]))
def test_ranges(kind: type, entry: Any) -> None:
    if entry.values in IN_WORDS:
        return
    inside, outside = samples(entry.values)
    assert inside, f"cannot parse the range {entry.values!r}"
    for value in inside:
        assert accepted(kind, entry.name, value), f"{value!r} is refused"
    if issubclass(kind, TYPED) and entry.values.startswith(("int", "float")):
        outside += ["1", True, *([1.5] if entry.values.startswith("int") else [])]
    for value in outside:
        assert not accepted(kind, entry.name, value), f"{value!r} is accepted"


@pytest.mark.parametrize(("kind", "entry"), entries(SETTINGS))
def test_errors_list_the_documented_choices(kind: type, entry: Any) -> None:
    if not entry.values.startswith('"') or "tuple" in entry.values:
        return
    with pytest.raises(ConfigError) as error:
        kind(**{**BESIDE.get(f"{kind.__name__}.{entry.name}", {}), entry.name: "unknown"})
    expected = str(error.value).split(", got")[0].split("expected")[-1]
    words = set(re.findall(r"[\"'](\w+)[\"']", expected)) - {entry.name}
    assert words
    assert words <= set(re.findall(r'"(\w+)"', entry.values))
