"""The external data of ONNX models, which are written byte by byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyengine import ModelError, ModelSpec, OnnxEvaluator, bundled_models
from pyengine.eval.onnx_files import external_files, model_digest
from tiny_models import TinyModel


def field(number: int, content: bytes | str) -> bytes:
    """Encode a protobuf field of bytes."""
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    return bytes((value,)) if value < 0x80 else bytes((value & 0x7F | 0x80,)) + varint(value >> 7)


def tensor(location: str | bytes) -> bytes:
    """Encode a tensor "w" with external data."""
    entry = field(13, field(2, location) + field(1, "location"))  # the value may come first
    return b"\x08\x03" + entry + field(13, field(1, "offset")) + b"\x70\x01" + field(8, "w")


def attribute(number: int, content: bytes) -> bytes:
    """Encode a node with an attribute."""
    return field(1, field(4, "Op") + field(5, field(1, "a") + field(number, content)))


def graph(content: bytes) -> bytes:
    """Encode a model with a graph."""
    return b"\x08\x08" + field(7, content) + field(14, field(1, "key") + field(2, "value"))


PLACES = {
    "initializer": lambda t: field(5, t),
    "sparse values": lambda t: field(15, field(1, t)),
    "sparse indices": lambda t: field(15, field(2, t)),
    "attribute": lambda t: attribute(5, t),
    "attribute list": lambda t: attribute(10, t),
    "sparse attribute": lambda t: attribute(22, field(1, t)),
    "sparse attribute list": lambda t: attribute(23, field(2, t)),
    "subgraph": lambda t: attribute(6, field(5, t)),
    "subgraph list": lambda t: attribute(11, attribute(6, field(5, t))),
}
OTHERS = {
    "function": lambda t: field(25, field(7, field(5, field(5, t)))),
    "function's default": lambda t: field(25, field(11, field(5, t))),
    "training": lambda t: field(20, field(2, field(5, t))),
    "second graph": lambda t: field(7, field(5, t)),
}
MODELS = {name: graph(make(tensor("weights"))) for name, make in PLACES.items()}
MODELS |= {name: graph(b"") + make(tensor("weights")) for name, make in OTHERS.items()}

OUTSIDE = ["/etc/passwd", "../secret", "a/../../secret", "link", "up/secret", "", ".", "a\0b"]
OUTSIDE += ["INSIDE"]  # an absolute name within the folder
OUTSIDE += ["//host/share", "*/_ORT_MEM_ADDR_/*", "circle"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a path for a model, beside links that lead outside and in a circle."""
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "circle").symlink_to("circle")
    return folder / "m.onnx"


@pytest.mark.parametrize("place", MODELS)
def test_external_data_is_found_anywhere_in_a_model(model: Path, place: str) -> None:
    model.write_bytes(MODELS[place])
    assert external_files(model) == (model.parent / "weights",)


@pytest.mark.parametrize("location", OUTSIDE)
def test_files_outside_the_folder_are_refused(model: Path, location: str) -> None:
    location = location.replace("INSIDE", str(model.with_name("weights")))
    model.write_bytes(graph(field(5, tensor(location))))
    for read in (external_files, OnnxEvaluator, model_digest):
        with pytest.raises(ModelError, match=r"m\.onnx: tensor 'w': expected a file in the model"):
            read(model)


def test_files_are_listed_once_and_links_within_the_folder_are_followed(model: Path) -> None:
    (model.parent / "inner").symlink_to("data")
    tensors = [field(5, tensor(name)) for name in ("inner", b"\xff", "sub/w", "inner")]
    model.write_bytes(graph(b"".join(tensors)))
    names = ("inner", os.fsdecode(b"\xff"), "sub/w")
    assert external_files(model) == tuple(model.parent / name for name in names)


def test_a_linked_model_may_have_linked_data(model: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "1").write_bytes(graph(field(5, tensor("weights"))))
    model.symlink_to(store / "1")
    (model.parent / "weights").symlink_to(store / "2")
    assert external_files(model) == (model.parent / "weights",)


def test_every_value_of_a_location_is_checked(model: Path) -> None:
    entry = field(2, "../secret") + field(1, "location") + field(2, "weights")
    model.write_bytes(graph(field(5, field(13, entry))))
    with pytest.raises(ModelError, match="secret"):
        external_files(model)


def deep() -> bytes:
    """Encode a model of nested graphs, deeper than protobuf parses."""
    inner = field(5, tensor("weights"))
    for _ in range(200):
        inner = attribute(6, inner)
    return graph(inner)


@pytest.mark.parametrize(
    "content", [b"", b"\x3a\x05", b"this is no ONNX file", b"\x08\x08", deep()]
)
def test_a_file_that_is_not_onnx_is_refused(model: Path, content: bytes) -> None:
    model.write_bytes(content)
    with pytest.raises(ModelError, match=r"m\.onnx is not an ONNX file"):
        external_files(model)


def test_a_path_that_is_not_a_file_is_refused(model: Path) -> None:
    pipe = model.with_name("pipe")
    os.mkfifo(pipe)
    for path in (model, model.parent, pipe):
        with pytest.raises(ModelError, match=r"does not exist|is not a file"):
            external_files(path)


def test_models_without_external_data_have_no_files() -> None:
    assert {external_files(path) for path in bundled_models().values()} == {()}


def test_external_data_written_by_onnx_is_found(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx writes the model")
    path = TinyModel().write(tmp_path / "m.onnx")
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="w", size_threshold=0)
    assert external_files(path) == (tmp_path / "w",)
    assert OnnxEvaluator(path, ModelSpec()).path == path


def test_the_digest_covers_all_files(model: Path) -> None:
    model.write_bytes(graph(field(5, tensor("weights"))))
    weights = model.parent / "weights"
    weights.write_bytes(b"first")
    first = model_digest(model)
    weights.write_bytes(b"other")
    other = model_digest(model)
    model.write_bytes(model.read_bytes() + b"\x08\x09")
    assert len({first, other, model_digest(model)}) == 3
