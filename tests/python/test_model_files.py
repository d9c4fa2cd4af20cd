"""The files of an ONNX model, found without the package onnx."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import bundled_models
from pyengine.model_files import external_files, model_digest
from tiny_models import TinyModel


def tensor(onnx: Any, location: str) -> Any:
    """Return a tensor whose numbers are elsewhere."""
    found = onnx.numpy_helper.from_array(np.zeros(3, np.float32), location)
    found.ClearField("raw_data")
    found.data_location = onnx.TensorProto.EXTERNAL
    found.external_data.add(key="offset", value="0")
    found.external_data.add(key="location", value=location)
    return found


def test_tensors_are_found_wherever_a_model_may_have_them() -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    helper = onnx.helper
    inner = helper.make_graph([], "inner", [], [], [tensor(onnx, "in a branch")])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=tensor(onnx, "of a constant")),
        helper.make_node("If", ["c"], ["d"], then_branch=inner, else_branch=inner),
    ]
    sparse = onnx.SparseTensorProto(values=tensor(onnx, "sparse"), indices=tensor(onnx, "indices"))
    graph = helper.make_graph(nodes, "outer", [], [], [tensor(onnx, "of the graph")])
    graph.sparse_initializer.append(sparse)
    function = helper.make_function(
        "own", "f", [], ["y"],
        [helper.make_node("Constant", [], ["y"], value=tensor(onnx, "in a function"))],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    model = helper.make_model(graph, functions=[function])
    expected = [
        "in a branch",
        "in a function",
        "indices",
        "of a constant",
        "of the graph",
        "sparse",
    ]
    assert external_files(model.SerializeToString()) == expected


def test_a_network_in_one_file_has_no_others() -> None:
    for path in bundled_models().values():
        assert external_files(path.read_bytes()) == []


def test_the_digest_covers_all_files(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    file, weights = tmp_path / "m.onnx", tmp_path / "weights"
    model = onnx.load(TinyModel().write(file))
    whole = model_digest(file)
    onnx.save(model, file, save_as_external_data=True, location="weights", size_threshold=0)
    first = model_digest(file)
    assert first != whole
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert model_digest(file) != first


def test_bytes_that_are_no_model_are_refused_or_read_to_their_end() -> None:
    rng = random.Random(6)
    good = bundled_models()["tic_tac_toe"].read_bytes()
    for size in (1, 10, 1000, len(good) - 1):
        with pytest.raises(ValueError, match="expected an ONNX model"):
            external_files(good[:size])
    for _ in range(300):
        bad = bytearray(good[:2000])
        for _ in range(5):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        with pytest.raises(ValueError):  # noqa: PT011  # some are no UTF-8
            external_files(bytes(bad))


def test_a_model_of_many_graphs_within_graphs_is_refused() -> None:
    graph = b""
    for _ in range(1000):
        for field in (b"\x32", b"\x2a", b"\x0a"):  # an attribute's graph, a node's, a graph's
            graph = field + _size(len(graph)) + graph
    with pytest.raises(ValueError, match="expected an ONNX model"):
        external_files(b"\x3a" + _size(len(graph)) + graph)


def _size(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
