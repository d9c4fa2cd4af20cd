"""Rules of Go by the names and keys of KataGo."""

from __future__ import annotations

from typing import Any

import pytest

import pyengine
from pyengine.protocols.rules import rules_from_parts, rules_named


@pytest.mark.parametrize(
    ("name", "superko", "suicide", "handicap_of_3", "warns"),
    [
        ("tromp-taylor", "positional", True, 0, False),
        ("Chinese", "simple", False, 3, False),
        ("chinese-ogs", "positional", False, 3, False),
        ("AGA", "situational", False, 2, False),
        (" New_Zealand ", "situational", True, 0, False),
        ("japanese", "simple", False, 0, True),
        ("Stone Scoring", "simple", False, 0, True),
    ],
)
def test_a_name_stands_for_rules(
    name: str, superko: str, suicide: bool, handicap_of_3: int, warns: bool
):
    rules = rules_named(name)
    assert (rules.superko, rules.suicide) == (superko, suicide)
    assert rules.points_for_handicap(3) == handicap_of_3
    assert bool(rules.warning) == warns


def test_rules_can_be_given_by_their_parts():
    parts = {"ko": "SITUATIONAL", "scoring": "AREA", "tax": "NONE", "suicide": True}
    more = {"hasButton": False, "whiteHandicapBonus": "N-1", "friendlyPassOk": True, "komi": 6.5}
    rules = rules_from_parts(parts | more)
    assert (rules.superko, rules.suicide, rules.bonus, rules.komi) == (
        "situational",
        True,
        "N-1",
        6.5,
    )
    assert not rules.warning
    assert rules_from_parts({"hasButton": True}).warning


@pytest.mark.parametrize(
    "parts", [{"ko": "NEVER"}, {"suicide": 1}, {"komi": "six"}, {"what": 0}, {"tax": []}]
)
def test_unknown_parts_are_refused(parts: dict[str, Any]):
    with pytest.raises(pyengine.ConfigError):
        rules_from_parts(parts)
