"""A network for Go 5x5 and its conversions, shared by all tests of conversions."""

from __future__ import annotations

from pathlib import Path

import pytest

from converted import ANYTHING, GAME, QUICK, add_final_board, changed
from pyengine import conversion


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a network with three blocks and the metadata "author"."""
    pytest.importorskip("onnx", reason="the extra convert is not installed")
    pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")
    path = tmp_path_factory.mktemp("conversion") / "net.onnx"
    conversion.leela_to_onnx(conversion.random_leela(3, 16, seed=4, board_size=5), path)
    return changed(path, path, lambda m: m.metadata_props.add(key="author", value="somebody"))


@pytest.fixture(scope="session")
def final_board_network(network: Path) -> Path:
    """Return a copy of the network that predicts ownership and score."""
    return changed(network, network.with_name("final_board.onnx"), add_final_board)


@pytest.fixture(scope="session")
def int8(network: Path) -> conversion.ConversionReport:
    """Return the report of the network's int8 copy."""
    out = network.with_name("int8.onnx")
    return conversion.quantise(network, out, GAME, limits=ANYTHING, **QUICK)


@pytest.fixture(scope="session")
def float16(network: Path) -> conversion.ConversionReport:
    """Return the report of the network's float16 copy."""
    out = network.with_name("float16.onnx")
    return conversion.to_float16(network, out, GAME, limits=ANYTHING, **QUICK)
