"""Behaviour that all conversions share: metadata, checks, refusals, files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pyengine
from converted import ANYTHING, GAME, NOTHING, QUICK, changed, fix_batch, spec_of
from pyengine import conversion
from pyengine.conversion import ConversionReport, quantise, to_float16
from pyengine.conversion.onnx_graph import check_float32
from pyengine.errors import ConfigError, EngineError, ModelError
from wrong_values import all_but, cases, check_refused, wrong

onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")

Convert = Callable[..., ConversionReport]
both = pytest.mark.parametrize("convert", [quantise, to_float16])
TINY: dict[str, Any] = {"game": "tic_tac_toe", "positions": 32, "games": 0}


def metadata(path: Path | None) -> dict[str, str]:
    return {entry.key: entry.value for entry in onnx.load(path).metadata_props}


# --- the copy


@pytest.mark.parametrize("kind", ["int8", "float16"])
def test_a_copy_has_the_interface_and_metadata_of_the_original(
    network: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    report = request.getfixturevalue(kind)
    assert report.passed
    assert json.loads(json.dumps(report.to_dict()))["path"] == str(report.path)
    spec = spec_of(network)
    assert spec_of(report.path) == spec
    entries = metadata(report.path)
    assert entries["author"] == "somebody"
    assert pyengine.ModelSpec.from_json(entries["pyengine.spec"]) == spec
    assert json.loads(entries[f"pyengine.{kind}"])["positions"] == 32
    before, after = onnx.load(network).graph, onnx.load(report.path).graph
    assert list(before.output) == list(after.output)
    assert [entry.name for entry in after.input] == ["planes"]
    engine = pyengine.Engine(GAME, report.path, threads=1)
    assert engine.search(engine.game.new_initial_state(), simulations=50).visits.sum() == 50


@both
def test_a_copy_keeps_a_fixed_batch_and_an_explicit_spec(
    network: Path, tmp_path: Path, convert: Convert
) -> None:
    def change(model: Any) -> None:
        fix_batch(model)
        model.ClearField("metadata_props")

    source = changed(network, tmp_path / "in.onnx", change)
    spec = spec_of(network).replace(value_for="first_player")
    out = tmp_path / "out.onnx"
    convert(source, out, GAME, spec=spec, limits=ANYTHING, **QUICK)
    assert spec_of(out) == spec
    (planes,) = onnx.load(out).graph.input
    assert planes.type.tensor_type.shape.dim[0].dim_value == 4


# --- the checks


def test_a_network_that_fails_is_not_written(network: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    out.write_text("an older file")
    options: dict[str, Any] = {"positions": 32, "games": 2, "write_undecided": True}
    report = quantise(network, out, GAME, limits=NOTHING, **options)
    assert (report.outcome, report.path) == ("failed", None)
    assert report.match is None
    assert "policy, mean" in {c.name for c in report.checks if c.outcome == "failed"}
    assert out.read_text() == "an older file"


@pytest.mark.parametrize(("convert", "write"), [(quantise, False), (to_float16, True)])
def test_a_match_too_short_to_decide_is_undecided(
    network: Path, tmp_path: Path, convert: Convert, write: bool
) -> None:
    out = tmp_path / "out.onnx"
    short: dict[str, Any] = {"positions": 32, "games": 2, "simulations": 4, "limits": ANYTHING}
    report = convert(network, out, GAME, write_undecided=write, **short)
    assert report.match is not None
    assert (report.match.games, report.match.names[1]) == (2, "original")
    assert (report.outcome, report.passed) == ("undecided", False)
    assert report.to_dict()["checks"][-1]["outcome"] == "undecided"
    assert report.path == (out if write else None)
    assert out.exists() == write
    if write:
        assert '"outcome": "undecided"' in "".join(metadata(out).values())


def test_a_match_that_finishes_no_game_is_undecided(network: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    report = quantise(network, out, GAME, positions=32, match_seconds=1e-9, limits=ANYTHING)
    assert report.outcome == "undecided"
    assert "no game finished" in report.checks[-1].detail


# --- refusals


@pytest.mark.parametrize("name", ["int8", "float16"])
def test_a_converted_network_is_refused(
    tmp_path: Path, name: str, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue(name).path
    with pytest.raises(ModelError, match=f"float32 network, got {name} already"):
        quantise(source, tmp_path / "out.onnx", GAME, **QUICK)


def test_a_network_for_another_board_is_refused_before_any_game(
    network: Path, tmp_path: Path
) -> None:
    stages: list[str] = []
    with pytest.raises(ModelError, match=r"does not fit the game: .*9,9.*got .*5,5"):
        quantise(
            network, tmp_path / "out.onnx", "go(board_size=9)",
            on_progress=lambda stage, _: stages.append(stage), **QUICK,
        )  # fmt: skip
    assert stages == []


def test_a_game_with_too_few_positions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    conversion.leela_to_onnx(conversion.random_leela(1, 4, board_size=2), path)
    with pytest.raises(ConfigError, match="at least 32 distinct positions to calibrate on"):
        quantise(path, tmp_path / "out.onnx", "go(board_size=2)", positions=100, games=0)


def test_an_input_of_int8_is_refused(network: Path) -> None:
    model = onnx.load(network)
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT8
    with pytest.raises(ModelError, match="got int8 already, in 'planes'"):
        check_float32(model, network)


def test_without_the_extra_the_error_names_it(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = conversion.random_leela(0, 1, board_size=5)
    monkeypatch.setitem(sys.modules, "onnx", None)
    for call in (
        lambda out: quantise(network, out, GAME, **QUICK),
        lambda out: conversion.leela_to_onnx(weights, out),
    ):
        with pytest.raises(EngineError, match=r"onnx: pip install 'pyengine-search\[convert\]'"):
            call(tmp_path / "out.onnx")


@pytest.mark.parametrize("stage", ["games", "match"])
def test_ctrl_c_leaves_nothing_behind(network: Path, tmp_path: Path, stage: str) -> None:
    def interrupt(reached: str, _done: float) -> None:
        if reached == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quantise(
            network, tmp_path / "out.onnx", GAME, limits=ANYTHING,
            positions=32, games=2, on_progress=interrupt,
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def argument(name: str) -> Callable[[Any], object]:
    """Return a conversion as a function of one argument."""
    arguments = {"model": "tic_tac_toe", "out": "out.onnx", "game": "tic_tac_toe"}
    return lambda value: quantise(**{**arguments, name: value})


def size(name: str) -> Callable[[Any], object]:
    """Return random weights as a function of one argument."""
    return lambda value: conversion.random_leela(**{"blocks": 1, "channels": 2, name: value})


WEIGHTS = conversion.random_leela(0, 1, board_size=5)
PATHS = wrong("None", "fraction", "list", "NUL")
NO_NUMBER = all_but("fraction", "huge", "negative")


@cases(
    [
        ("out", argument("out"), all_but("text", "object", "function"), "out"),
        ("game", argument("game"), all_but("text", "NUL"), "num_distinct_actions"),
        ("spec", argument("spec"), all_but("None"), "spec"),
        ("positions", argument("positions"), {**all_but("huge"), "few": 31}, "positions"),
        ("games", argument("games"), all_but("huge"), "games"),
        ("simulations", argument("simulations"), {**all_but("huge"), "0": 0}, "simulations"),
        ("match_seconds", argument("match_seconds"), {**all_but("fraction", "huge"), "0": 0},
         "match_seconds"),
        ("seed", argument("seed"), all_but("huge"), "seed"),
        ("limits", argument("limits"), all_but(), "limits"),
        ("on_progress", argument("on_progress"), all_but("None", "function"), "on_progress"),
        ("a limit", lambda v: conversion.Limits(regret=v), NO_NUMBER, "regret"),
        ("margin", lambda v: conversion.Limits(margin=v), {**NO_NUMBER, "0": 0, "-1": -1},
         "margin"),
        ("blocks", size("blocks"), all_but(), "blocks"),
        ("channels", size("channels"), {**all_but(), "0": 0}, "channels"),
        ("board_size", size("board_size"), {**all_but(), "large": 20}, "board_size"),
        ("random seed", size("seed"), all_but(), "seed"),
        ("leela_spec", conversion.leela_spec, all_but(), "weights"),
        ("write_leela", lambda v: conversion.write_leela(v, "out.gz"), all_but(), "weights"),
        ("leela_to_onnx", lambda v: conversion.leela_to_onnx(v, "out.onnx"), all_but(), "weights"),
        ("path to read", conversion.read_leela, PATHS, "path"),
        ("path to write", lambda v: conversion.leela_to_onnx(WEIGHTS, v), PATHS, "path"),
    ]
)  # fmt: skip
def test_a_wrong_argument_is_refused_and_leaves_no_file(
    call: Any, values: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refused(call, values, said)
    assert list(tmp_path.iterdir()) == []


# --- a copy never replaces its source

CHANGES: dict[str, Callable[[Any, Any], object]] = {
    "int8": lambda model, out: quantise(model, out, **TINY),
    "float16": lambda model, out: to_float16(model, out, **TINY),
    "score_utility": conversion.with_score_utility,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_copy_never_replaces_a_file_of_the_network(
    change: Callable[[Any, Any], object], tmp_path: Path
) -> None:
    bundled = pyengine.bundled_models()["tic_tac_toe"]
    source, weights = tmp_path / "net.onnx", tmp_path / "weights"
    onnx.save(
        onnx.load(bundled), source,
        save_as_external_data=True, location=weights.name, size_threshold=0,
    )  # fmt: skip
    link, to_bundled = tmp_path / "link.onnx", tmp_path / "bundled.onnx"
    link.symlink_to(source)
    to_bundled.symlink_to(bundled)
    before = source.read_bytes()
    for model, out in (
        (source, source), (source, link), (link, source), (source, weights),
        ("tic_tac_toe", to_bundled),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match="would replace the input"):
            change(model, out)
    assert source.read_bytes() == before
    assert link.is_symlink()


def test_a_bundled_network_is_converted_by_its_name(tmp_path: Path) -> None:
    assert quantise("tic_tac_toe", tmp_path / "out.onnx", **TINY).converted > 0
