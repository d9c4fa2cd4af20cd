"""Wrong arguments of conversions: one clear error each, and no file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import conversion
from wrong_values import all_but, cases, check_refused, wrong

WEIGHTS = conversion.random_leela(1, 2, board_size=5)


def quantise(**given: Any) -> object:
    """Quantise a bundled network, with one argument that is wrong."""
    arguments = {"model": "tic_tac_toe", "out": "out.onnx", "game": "tic_tac_toe", **given}
    return conversion.quantise(**arguments)


@cases(
    [
        ("out", lambda v: quantise(out=v), all_but("text", "object", "function"), "out"),
        ("game", lambda v: quantise(game=v), all_but("text", "NUL"), "num_distinct_actions"),
        ("spec", lambda v: quantise(spec=v), all_but("None"), "spec"),
        ("positions", lambda v: quantise(positions=v), all_but("huge"), "positions"),
        ("games", lambda v: quantise(games=v), all_but("huge"), "games"),
        ("simulations", lambda v: quantise(simulations=v), all_but("huge"), "simulations"),
        (
            "match_seconds",
            lambda v: quantise(match_seconds=v),
            all_but("fraction", "huge"),
            "match_seconds",
        ),
        ("seed", lambda v: quantise(seed=v), all_but("huge"), "seed"),
        ("limits", lambda v: quantise(limits=v), all_but("None"), "limits"),
        (
            "on_progress",
            lambda v: quantise(on_progress=v),
            all_but("None", "function"),
            "on_progress",
        ),
        *(
            (
                name,
                lambda v, name=name: conversion.Limits(**{name: v}),
                all_but("fraction", "huge", "negative"),
                name,
            )
            for name in conversion.Limits.names()
        ),
        ("blocks", lambda v: conversion.random_leela(v, 2), all_but(), "blocks"),
        ("channels", lambda v: conversion.random_leela(1, v), all_but(), "channels"),
        ("size", lambda v: conversion.random_leela(1, 2, board_size=v), all_but(), "board_size"),
        ("random seed", lambda v: conversion.random_leela(1, 2, seed=v), all_but(), "seed"),
        ("leela_spec", conversion.leela_spec, all_but(), "weights"),
        ("write_leela", lambda v: conversion.write_leela(v, "out.gz"), all_but(), "weights"),
        ("leela_to_onnx", lambda v: conversion.leela_to_onnx(v, "out.onnx"), all_but(), "weights"),
    ]
)
def test_a_conversion_refuses(
    call: Any, values: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("onnx", reason="the extra convert is not installed")
    check_refused(call, values, said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("read", [conversion.read_leela, conversion.leela_to_onnx])
def test_a_file_of_weights_is_a_path(read: Any) -> None:
    values = wrong("None", "fraction", "list", "NUL")
    if read is conversion.read_leela:
        check_refused(read, values, "path", pyengine.EngineError)
    else:
        check_refused(lambda v: read(WEIGHTS, v), values, "path", pyengine.EngineError)


def test_a_bundled_network_is_quantised_by_its_name(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="the extra convert is not installed")
    report = conversion.quantise(
        "tic_tac_toe", tmp_path / "out.onnx", "tic_tac_toe", positions=32, games=0
    )
    assert report.quantised > 0
