"""Which files an ONNX model is made of, and a digest of all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["external_files", "model_digest"]

# Fields of onnx.proto that lead to a tensor, by message: number of the field and what it holds.
_LEADS_TO = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor",
        6: "graph",
        10: "tensor",
        11: "graph",
        22: "sparse",
        23: "sparse",
    },
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types of protobuf


def model_digest(path: Path) -> str:
    """Return the SHA-256 of an ONNX file; of its weights too, where they are in other files.

    Raises:
        OSError: one of the files cannot be read.
        ValueError: the file is no ONNX.

    """
    content = path.read_bytes()
    digest = hashlib.sha256(content)
    for location in external_files(content):
        digest.update(f"{location}\0{_sha256_of(path.parent / location)}".encode())
    return digest.hexdigest()


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def external_files(content: bytes) -> list[str]:
    """Return where a model keeps tensors outside its file, relative to its folder; sorted.

    Raises ValueError where the bytes are no ONNX.
    """
    try:
        return sorted(set(_locations(memoryview(content), "model")))
    except (IndexError, RecursionError) as error:
        raise ValueError(f"expected an ONNX model, found no whole message: {error}") from error


def _locations(data: memoryview, message: str) -> Iterator[str]:
    leads_to = _LEADS_TO[message]
    for number, value in _fields(data):
        inner = leads_to.get(number)
        if inner == "entry":
            entry = {key: bytes(text) for key, text in _fields(value)}
            if entry.get(1) == b"location":
                yield entry.get(2, b"").decode("utf-8")
        elif inner is not None:
            yield from _locations(value, inner)


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The fields of a message that hold bytes: number and content."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at)
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
        if kind == _BYTES:
            size, at = _varint(data, at)
        if size is None or at + size > len(data):
            raise ValueError(f"expected an ONNX model, found no whole message at byte {at}")
        if kind == _BYTES:
            yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends. Raises IndexError."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
