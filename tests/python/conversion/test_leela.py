"""Leela Zero weights: files, damaged files, ONNX against a naive reference, random networks."""

from __future__ import annotations

import gzip
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyengine
from converted import opened
from pyengine.conversion import (
    LeelaWeights,
    leela_spec,
    leela_to_onnx,
    random_leela,
    read_leela,
    write_leela,
)
from pyengine.conversion.leela import _conv
from pyengine.errors import ModelError

BLACK, WHITE = 0, 1
LINES = 1 + 4 + 2 * 8 + 14  # two blocks


@pytest.fixture(scope="module")
def weights() -> LeelaWeights:
    """Return a small network for a 5x5 board."""
    return random_leela(2, 6, seed=3, board_size=5)


@pytest.fixture
def lines(weights: LeelaWeights, tmp_path: Path) -> list[str]:
    """Return the lines of the network's file."""
    write_leela(weights, tmp_path / "whole.txt")
    return (tmp_path / "whole.txt").read_text().splitlines()


# --- a naive reference ---------------------------------------------------------------------------


def naive_planes(moves: list[tuple[int, int] | None], size: int) -> np.ndarray:
    """Return the 18 planes after moves without captures; (x, y) from the lower left corner."""
    planes = np.zeros((18, size, size))
    mover = len(moves) % 2
    for age in range(8):
        if age > len(moves):
            break
        for number, move in enumerate(moves[: len(moves) - age]):
            if move is not None:
                x, y = move
                planes[age + (0 if number % 2 == mover else 8), y, x] = 1
    planes[16 if mover == BLACK else 17] = 1
    return planes


def naive_forward(lines: list[str], planes: np.ndarray) -> tuple[np.ndarray, float]:
    """Return policy and value, computed from the lines of the file."""
    tensors = [np.array([float(word) for word in line.split()]) for line in lines[1:]]
    channels = len(tensors[1])

    def layer(x: np.ndarray, first: int, size: int) -> np.ndarray:
        weights, bias, mean, variance = tensors[first : first + 4]
        kernel = weights.reshape(len(bias), len(x), size, size)
        y = _conv(x[None], kernel)[0] + bias[:, None, None]
        return (y - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]

    x = np.maximum(layer(planes, 0, 3), 0)
    assert x.shape[0] == channels
    heads = len(tensors) - 14
    for block in range(4, heads, 8):
        inner = np.maximum(layer(x, block, 3), 0)
        x = np.maximum(x + layer(inner, block + 4, 3), 0)
    moves = np.maximum(layer(x, heads, 1), 0).ravel()
    logits = tensors[heads + 4].reshape(-1, len(moves)) @ moves + tensors[heads + 5]
    flat = np.maximum(layer(x, heads + 6, 1), 0).ravel()
    hidden = tensors[heads + 10].reshape(-1, len(flat)) @ flat + tensors[heads + 11]
    value = math.tanh(tensors[heads + 12] @ np.maximum(hidden, 0) + tensors[heads + 13][0])
    policy = np.exp(logits - logits.max())
    return policy / policy.sum(), value


def play(game: pyengine.Game, moves: list[tuple[int, int] | None]) -> pyengine.State:
    """Return the state after moves by (x, y) from the lower left corner, None = pass."""
    size = game.board_shape[0]
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(size * size if move is None else (size - 1 - move[1]) * size + move[0])
    return state


def on_actions(policy: np.ndarray, size: int) -> np.ndarray:
    """Return probabilities in the engine's order, top row first."""
    board = policy[:-1].reshape(size, size)[::-1]
    return np.append(board.ravel(), policy[-1])


LINES_OF_PLAY: list[list[tuple[int, int] | None]] = [
    [],
    [(0, 0)],
    [(1, 3), (4, 0), None],
    [(0, 1), (3, 3), (2, 0), (4, 4), None, (0, 4), (1, 1), (2, 2), (3, 0), (4, 2)],
]


# --- conversion ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "preset"), [(1, False), (2, False), (2, True)])
def test_the_onnx_file_equals_the_reference(
    weights: LeelaWeights, lines: list[str], tmp_path: Path, version: int, preset: bool
) -> None:
    pytest.importorskip("onnx")
    leela_to_onnx(replace(weights, version=version), tmp_path / "net.onnx")
    game = pyengine.load_game("go", board_size=5)
    spec = pyengine.ModelSpec.leela_zero(game) if preset else None
    network = opened(tmp_path / "net.onnx", spec)
    for moves in LINES_OF_PLAY:
        state = play(game, moves)
        probabilities, value = naive_forward(lines, naive_planes(moves, 5))
        expected = on_actions(probabilities, 5)
        illegal = np.setdiff1d(np.arange(26), state.legal_actions())
        expected[illegal] = 0
        if version == 2 and not preset and state.current_player() == WHITE:
            value = -value  # the file's value is for Black, which the preset ignores
        policy, values = network.evaluate([state])
        np.testing.assert_allclose(policy[0], expected / expected.sum(), atol=2e-5)
        assert values[0] == pytest.approx(value, abs=2e-5)


def test_the_onnx_file_contains_its_spec_and_accepts_any_batch(
    weights: LeelaWeights, tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx")
    spec = leela_to_onnx(weights, tmp_path / "net.onnx")
    model = onnx.load(tmp_path / "net.onnx")
    (entry,) = model.metadata_props
    assert entry.key == "pyengine.spec"
    assert pyengine.ModelSpec.from_json(entry.value) == spec == leela_spec(weights)
    assert spec == pyengine.ModelSpec.leela_zero()
    (planes,) = model.graph.input
    assert planes.type.tensor_type.shape.dim[0].dim_param == "N"
    assert "BatchNormalization" not in {node.op_type for node in model.graph.node}


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "version"), [("w.txt", 1), ("w.txt.gz", 2)])
def test_written_weights_are_read_back(
    weights: LeelaWeights, tmp_path: Path, name: str, version: int
) -> None:
    weights = replace(weights, version=version)
    write_leela(weights, tmp_path / name)
    read = read_leela(tmp_path / name)
    assert read.version == version
    assert (len(read.blocks), read.channels, read.board_size) == (2, 6, 5)
    for expected, actual in zip(weights.tensors(), read.tensors(), strict=True):
        np.testing.assert_array_equal(expected, actual)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_gzip_is_detected_by_content_and_line_ends_are_ignored(
    weights: LeelaWeights, lines: list[str], tmp_path: Path
) -> None:
    write_leela(weights, tmp_path / "w.gz")
    (tmp_path / "w.gz").rename(tmp_path / "network")
    (tmp_path / "w.txt").write_bytes("\r\n".join([*lines, "", ""]).encode())
    for name in ("network", "w.txt"):
        assert read_leela(tmp_path / name).channels == 6


def replaced(number: int, line: str) -> Callable[[list[str]], list[str]]:
    """Return a function that replaces a line of a file."""
    return lambda lines: [*lines[: number - 1], line, *lines[number:]]


def shorter(number: int) -> Callable[[list[str]], list[str]]:
    """Return a function that drops the last number of a line."""
    return lambda lines: replaced(number, lines[number - 1].rpartition(" ")[0])(lines)


DAMAGED: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    **{
        f"version {version!r}": (replaced(1, version), "a first line of '1' or '2'")
        for version in ("3", "1.0", "", "1 2")
    },
    **{
        f"{count} lines": (lambda lines, count=count: lines[:count], "19 lines and 8 per block")
        for count in (1, 18, LINES - 1)
    },
    **{
        f"line {number} short": (
            shorter(number),
            r"line \d+: .*expected \d.* numbers, got \d+|lines",
        )
        for number in (2, 3, 4, LINES - 10, LINES - 4, LINES)
    },
    **{
        f"word {word}": (
            lambda lines, word=word: replaced(2, f"{word} {lines[1]}")(lines),
            "line 2: .*(could not convert|expected finite float32 numbers)",
        )
        for word in ("x", "1,5", "nan", "1e99", "0x10", "１")
    },
    "a negative variance": (
        lambda lines: replaced(5, "-0.5 " + lines[4].partition(" ")[2])(lines),
        "line 5: expected variances of at least 0, got -0.5",
    ),
    "a board that is not square": (replaced(LINES - 8, "0 " * 28), "line 26: expected 28 x"),
    "17 planes": (replaced(2, "0 " * (17 * 9 * 6)), "line 2: expected 6 x 18 x 3 x 3 numbers"),
    "lines after an empty one": (lambda lines: [*lines, "", "0"], "lines"),
    "too many lines": (lambda _: ["1", *["0"] * 1000], "line 820: expected at most 100 blocks"),
    "too long a line": (
        replaced(2, "0 " * (9 * 1024**2 + 2)),
        "line 2: expected at most 100 blocks",
    ),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_with_its_line(
    lines: list[str], tmp_path: Path, damage: Callable[[list[str]], list[str]], message: str
) -> None:
    path = tmp_path / "damaged.txt"
    path.write_text("\n".join(damage(lines)) + "\n", "utf-8")
    with pytest.raises(ModelError, match=f"{re.escape(str(path))}.*({message})"):
        read_leela(path)


def test_a_damaged_gzip_file_is_refused(weights: LeelaWeights, tmp_path: Path) -> None:
    write_leela(weights, tmp_path / "w.gz")
    data = (tmp_path / "w.gz").read_bytes()
    for damaged in (
        data[: len(data) // 2],
        data[:3],
        b"\x1f\x8b" + data[100:],
        data[:-4] + b"abcd",
    ):
        (tmp_path / "w.gz").write_bytes(damaged)
        with pytest.raises(ModelError, match="the gzip file is damaged"):
            read_leela(tmp_path / "w.gz")


@pytest.mark.parametrize("data", [b"", b"\n\n", gzip.compress(b"", mtime=0), bytes(range(256))])
def test_files_without_weights_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "w").write_bytes(data)
    for path in (tmp_path / "w", tmp_path / "absent.txt", tmp_path):
        with pytest.raises(ModelError, match=r"expected|does not exist"):
            read_leela(path)


# --- random weights ------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name, seed in (("a.gz", 1), ("b.gz", 1), ("c.gz", 2)):
        write_leela(random_leela(1, 4, seed=seed, board_size=4), tmp_path / name)
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.gz", "b.gz", "c.gz"))
    assert a == b != c


def test_a_deep_random_network_has_preferences_and_looks_at_the_board(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    edge = 9
    leela_to_onnx(random_leela(10, 16, seed=5, board_size=edge), tmp_path / "net.onnx")
    network = opened(tmp_path / "net.onnx")
    game = pyengine.load_game("go", board_size=edge)
    rng = np.random.default_rng(0)
    states = []
    for _ in range(16):
        state = game.new_initial_state()
        for _ in range(edge * edge // 2):
            state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
        states.append(state)
    policy, value = network.evaluate(states)
    best = policy.max(axis=1)
    assert (best > 3 / edge**2).all()
    assert np.median(best) < 0.7
    assert len(set(policy.argmax(axis=1))) > 4
    assert value.std() > 0.1
    assert np.abs(value).max() < 0.999


# --- the program itself --------------------------------------------------------------------------


def leelaz() -> str:
    """Return the program, or skip the test."""
    program = shutil.which("leelaz") or shutil.which("leelaz", path="/usr/games")
    if program is None:
        pytest.skip("the program leelaz is not installed (Debian: leela-zero)")
    return program


def heatmaps(path: Path, moves: list[str]) -> list[tuple[np.ndarray, float]]:
    """Return Leela Zero's probabilities [362], bottom row first, and winrate after each move."""
    colours = ("b", "w")
    commands = [
        line
        for i, move in enumerate(moves)
        for line in (f"play {colours[i % 2]} {move}", "heatmap 0")
    ]
    done = subprocess.run(
        [leelaz(), "--gtp", "--cpu-only", "--noponder", "-t", "1", "-w", str(path)],
        input="\n".join([*commands, "quit", ""]),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    output = done.stderr + done.stdout
    tables = re.findall(
        r"((?:^(?: *\d+){19} *\n){19})^pass: *(\d+)\n^winrate: *([0-9.]+)$", output, re.M
    )
    assert len(tables) == len(moves), output
    results = []
    for board, passing, winrate in tables:
        rows = np.array([line.split() for line in board.splitlines()], np.float64)
        results.append((np.append(rows[::-1].ravel(), float(passing)) / 1000, float(winrate)))
    return results


def test_leela_zero_evaluates_like_the_converted_network(tmp_path: Path) -> None:
    leelaz()
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    write_leela(random_leela(2, 16, seed=7), tmp_path / "w.txt.gz")
    spec = leela_to_onnx(read_leela(tmp_path / "w.txt.gz"), tmp_path / "net.onnx")
    session = runtime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    network = opened(tmp_path / "net.onnx")
    state = pyengine.load_game("go").new_initial_state()
    moves = ["Q16", "D4", "C3", "R3", "C4", "D3", "pass", "E17", "C2", "F1", "K10"]
    for move, (heat, winrate) in zip(moves, heatmaps(tmp_path / "w.txt.gz", moves), strict=True):
        state.apply_action(state.string_to_action(move))
        _, value = network.evaluate([state])
        assert (1 + value[0]) / 2 == pytest.approx(winrate, abs=2e-5)
        (logits,) = session.run(["policy"], {"planes": state.observation_tensor(spec)[None]})
        policy = np.exp(logits[0] - logits.max())
        policy /= policy.sum()
        # Leela Zero prints thousandths, rounded down.
        legal = state.legal_actions()
        theirs, ours = on_actions(heat, 19)[legal], on_actions(policy, 19)[legal]
        assert (theirs <= ours + 2e-5).all()
        assert (theirs > ours - 1e-3 - 2e-5).all()
