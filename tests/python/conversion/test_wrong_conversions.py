"""Wrong arguments of conversions: one clear error each, and no file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import conversion
from wrong_values import all_but, cases, check_refused, wrong

WEIGHTS = conversion.random_leela(1, 2, board_size=5)


def wrong_arguments(convert: Callable[..., object]) -> Iterator[tuple[str, Any, Any, str]]:
    """Yield rows of what is wrong for an argument that both conversions have."""
    for name, right in (
        ("out", ("text", "object", "function")),
        ("game", ("text", "NUL")),
        ("spec", ("None",)),
        ("positions", ("huge",)),
        ("games", ("huge",)),
        ("simulations", ("huge",)),
        ("match_seconds", ("fraction", "huge")),
        ("seed", ("huge",)),
        ("limits", ("None",)),
        ("on_progress", ("None", "function")),
    ):

        def call(value: Any, name: str = name) -> object:
            given = {"model": "tic_tac_toe", "out": "out.onnx", "game": "tic_tac_toe", name: value}
            return convert(**given)

        said = "num_distinct_actions" if name == "game" else name
        yield f"{convert.__name__} {name}", call, all_but(*right), said


@cases(
    [
        *wrong_arguments(conversion.quantise),
        *wrong_arguments(conversion.to_float16),
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


def changes() -> list[Callable[[Any, Any], object]]:
    """Return what makes a changed copy of a network."""
    return [
        lambda model, out: conversion.quantise(model, out, "tic_tac_toe", positions=32, games=0),
        lambda model, out: conversion.to_float16(model, out, "tic_tac_toe", positions=32, games=0),
        conversion.with_score_utility,
    ]


@pytest.mark.parametrize("change", changes(), ids=["int8", "float16", "score_utility"])
@pytest.mark.parametrize("name", ["net.onnx", "linked.onnx", "folder/../net.onnx"])
def test_a_copy_never_replaces_the_network(
    change: Callable[[Any, Any], object], name: str, tmp_path: Path
) -> None:
    pytest.importorskip("onnx", reason="the extra convert is not installed")
    source = tmp_path / "net.onnx"
    shutil.copyfile(pyengine.bundled_models()["tic_tac_toe"], source)
    (tmp_path / "folder").mkdir()
    (tmp_path / "linked.onnx").symlink_to(source)
    before = source.read_bytes()
    for given, out in ((source, tmp_path / name), (tmp_path / name, source)):
        with pytest.raises(pyengine.ConfigError, match=r"other than the input .* the same file"):
            change(given, out)
    assert source.read_bytes() == before
    assert (tmp_path / "linked.onnx").is_symlink()


def test_a_bundled_network_is_not_replaced_either(tmp_path: Path) -> None:
    link = tmp_path / "link.onnx"
    link.symlink_to(pyengine.bundled_models()["tic_tac_toe"])
    with pytest.raises(pyengine.ConfigError, match="other than the input"):
        conversion.quantise("tic_tac_toe", link, "tic_tac_toe", positions=32, games=0)


def test_a_copy_never_replaces_the_weights_of_the_network(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
    model = onnx.load(pyengine.bundled_models()["tic_tac_toe"])
    source, weights = tmp_path / "net.onnx", tmp_path / "net.weights"
    onnx.save(model, source, save_as_external_data=True, location=weights.name, size_threshold=0)
    with pytest.raises(pyengine.ConfigError, match=r"other than the input .*net\.weights"):
        conversion.quantise(source, weights, "tic_tac_toe", positions=32, games=0)


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
