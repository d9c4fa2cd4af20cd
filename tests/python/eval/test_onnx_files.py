"""Which files an ONNX model may read its weights from; the models are bytes made by hand."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from pathlib import Path

import pytest

from pyengine import ModelError, ModelSpec, OnnxEvaluator, bundled_models
from pyengine.eval import onnx_files
from pyengine.eval.onnx_files import external_files, model_digest
from tiny_models import TinyModel


def field(number: int, content: bytes | str) -> bytes:
    """Return a field of bytes."""
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    """Return an integer as protobuf has it."""
    found = b""
    while value >= 0x80:
        found, value = found + bytes((value & 0x7F | 0x80,)), value >> 7
    return found + bytes((value,))


def tensor(location: str | bytes) -> bytes:
    """Return a tensor "w" of a file; its name is written last."""
    where = field(13, field(1, "location") + field(2, location)) + field(13, field(1, "offset"))
    return b"\x08\x03" + where + b"\x70\x01" + field(8, "w")


def attribute(number: int, content: bytes) -> bytes:
    """Return a node with an attribute."""
    return field(1, field(4, "Op") + field(5, field(1, "a") + field(number, content)))


def graph(content: bytes) -> bytes:
    """Return a model with a graph."""
    return b"\x08\x08" + field(7, content) + field(14, field(1, "key") + field(2, "value"))


PLACES = {
    "initializer": lambda t: graph(field(5, t)),
    "sparse values": lambda t: graph(field(15, field(1, t))),
    "sparse indices": lambda t: graph(field(15, field(2, t))),
    "attribute": lambda t: graph(attribute(5, t)),
    "attribute list": lambda t: graph(attribute(10, t)),
    "sparse attribute": lambda t: graph(attribute(22, field(1, t))),
    "sparse attribute list": lambda t: graph(attribute(23, field(2, t))),
    "subgraph": lambda t: graph(attribute(6, field(5, t))),
    "subgraph list": lambda t: graph(attribute(11, attribute(6, field(5, t)))),
    "function": lambda t: field(25, field(7, field(5, field(5, t)))),
    "function's default": lambda t: field(25, field(11, field(5, t))),
    "training": lambda t: field(20, field(2, field(5, t))),
    "second graph": lambda t: graph(b"") + field(7, field(5, t)),
}

OUTSIDE = ["/etc/passwd", "../secret", "a/../../secret", "link", "up/secret", "", "a\0b"]
OUTSIDE += ["C:\\secret", "C:secret", "\\\\host\\share\\secret", "//host/share", "..\\secret"]
OUTSIDE += ["*/_ORT_MEM_ADDR_/*", "circle"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A place for a model, with links beside it that lead out and into a circle."""
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "circle").symlink_to("circle")
    return folder / "m.onnx"


@pytest.mark.parametrize("place", PLACES)
def test_tensors_are_found_wherever_onnx_has_them(model: Path, place: str) -> None:
    model.write_bytes(PLACES[place](tensor("sub/weights")))
    assert external_files(model) == (model.parent / "sub" / "weights",)
    model.write_bytes(PLACES[place](tensor("../secret")))
    with pytest.raises(ModelError, match=r"m\.onnx: the tensor 'w' .*'\.\./secret'"):
        external_files(model)


@pytest.mark.parametrize("location", OUTSIDE)
def test_files_outside_the_folder_are_refused(model: Path, location: str) -> None:
    model.write_bytes(graph(field(5, tensor(location))))
    with pytest.raises(ModelError, match="the tensor 'w' must have its data in a file of the"):
        external_files(model)
    with pytest.raises(ModelError, match="the tensor 'w' must have its data in a file of the"):
        OnnxEvaluator(model)


def test_files_are_named_once_and_links_within_the_folder_followed(model: Path) -> None:
    (model.parent / "inner").symlink_to("data")
    given = [field(5, tensor(name)) for name in ("inner", b"\xff", "inner")]
    model.write_bytes(graph(b"".join(given)))
    assert external_files(model) == (model.parent / "inner", model.parent / os.fsdecode(b"\xff"))


def test_a_model_behind_a_link_has_its_data_behind_links(model: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "1").write_bytes(graph(field(5, tensor("weights"))))
    model.symlink_to(store / "1")
    (model.parent / "weights").symlink_to(store / "2")
    assert external_files(model) == (model.parent / "weights",)


def test_the_value_may_come_before_the_key_and_every_value_counts(model: Path) -> None:
    entry = field(2, "weights") + field(1, "location") + field(2, "../secret")
    model.write_bytes(graph(field(5, field(13, entry))))
    with pytest.raises(ModelError, match="secret"):
        external_files(model)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "an empty file"),
        (b"\x3a\x05", "ends beyond its message"),
        (b"\x3a" + b"\xff" * 10, "an integer at byte 1 without an end"),
        (b"\xba\x80\x80\x80\x10\x00", "field number"),  # 7 to a reader that keeps 32 bits
        (b"\x3b\x2a\x00\x3c", "wire type 3"),
        (b"\x02\x00", "field number 0"),
        (b"\x09\x00", "a number that ends beyond its message"),
        (b"this is no ONNX file", "expected ONNX"),
    ],
)
def test_what_is_no_onnx_is_refused(model: Path, content: bytes, found: str) -> None:
    model.write_bytes(content)
    with pytest.raises(ModelError, match=f"m.onnx.*{found}"):
        external_files(model)


def test_what_is_no_file_is_refused(model: Path) -> None:
    for path, found in ((model, "nothing"), (model.parent, "a directory")):
        with pytest.raises(ModelError, match=f"expected an ONNX file at .*{found}"):
            external_files(path)
    os.mkfifo(model)
    with pytest.raises(ModelError, match="no regular file"):
        external_files(model)


def test_hostile_files_end_at_a_bound(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = field(5, tensor("weights"))
    for _ in range(200):
        deep = attribute(6, deep)
    model.write_bytes(graph(deep))
    with pytest.raises(ModelError, match="more than 100 messages within messages"):
        external_files(model)
    monkeypatch.setattr(onnx_files, "_MOST_FIELDS", 1000)
    model.write_bytes(graph(b"\x10\x00" * 1001))
    with pytest.raises(ModelError, match="more than 1,000 fields"):
        external_files(model)


def test_models_without_external_data_have_no_files(tmp_path: Path) -> None:
    for path in bundled_models().values():
        assert external_files(path) == ()
    assert external_files(TinyModel().write(tmp_path / "tiny.onnx")) == ()


def test_onnx_itself_writes_what_is_found(tmp_path: Path) -> None:
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


def test_damaged_models_are_refused_or_read_to_their_end(tmp_path: Path) -> None:
    rng = random.Random(6)
    good = bundled_models()["tic_tac_toe"].read_bytes()[:2000]
    path = tmp_path / "m.onnx"
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(5):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        path.write_bytes(bad)
        with suppress(ModelError):
            external_files(path)
