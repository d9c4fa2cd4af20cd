"""The files that an ONNX model reads its weights from, a digest of all, and its last operators.

An ONNX file can name other files that hold its tensors ("external data"). ONNX Runtime before
1.24.1 opens whatever is named, ``/etc/passwd`` for one, and hands it to the network as numbers. The
engine therefore reads the names first, from the file's protobuf encoding, and refuses those that
lead out of the model's folder.

Source of the field numbers: ``onnx.proto`` of ONNX 1.17; of the encoding:
https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import TypeAlias

from pyengine.base.files import sha256_of, why
from pyengine.errors import ModelError

__all__ = ["external_files", "last_operators", "model_digest"]

_MOST_DEPTH = 100  # messages within messages, as protobuf itself has it
_MOST_FIELDS = 4_000_000  # visited; a graph of 100,000 nodes has about 2 million

#: A kind of message: its fields that hold messages on the way to a tensor, by their numbers.
_Kind: TypeAlias = dict[int, "_Kind"]

_TENSOR: _Kind = {}
_SPARSE: _Kind = {1: _TENSOR, 2: _TENSOR}  # values, indices
_NODE: _Kind = {}
_GRAPH: _Kind = {1: _NODE, 5: _TENSOR, 15: _SPARSE}  # node, initializer, sparse_initializer
_ATTRIBUTE: _Kind = {
    5: _TENSOR,
    10: _TENSOR,  # t, tensors
    6: _GRAPH,
    11: _GRAPH,  # g, graphs
    22: _SPARSE,
    23: _SPARSE,  # sparse_tensor, sparse_tensors
}
_NODE[5] = _ATTRIBUTE  # attribute
_FUNCTION: _Kind = {7: _NODE, 11: _ATTRIBUTE}  # node, attribute_proto
_TRAINING: _Kind = {1: _GRAPH, 2: _GRAPH}  # initialization, algorithm
_MODEL: _Kind = {7: _GRAPH, 20: _TRAINING, 25: _FUNCTION}  # graph, training_info, functions

_NAME, _EXTERNAL_DATA = 8, 13  # of a tensor
_KEY, _VALUE = 1, 2  # of an entry of external_data

_GRAPH_OF_MODEL, _NODE_OF_GRAPH, _OUTPUT_OF_GRAPH = 7, 1, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATOR = 1, 2, 4
_OUTPUT_NAME = 1

#: Operators that leave the numbers of a tensor as they are.
_UNCHANGING = frozenset(
    b"Cast DequantizeLinear Flatten Identity QuantizeLinear Reshape Squeeze Unsqueeze".split()
)

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types


class _BadWireError(Exception):
    """What the bytes are instead of an ONNX file."""


class _Wire:
    """The fields of protobuf messages in a buffer.

    What protobuf would refuse is refused, and nothing is skipped that it would read: otherwise a
    file could show the two different tensors.
    """

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._data = data
        self._left = _MOST_FIELDS

    def messages(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield the fields that have bytes: their number, and where the bytes start and stop."""
        at = start
        while at < stop:
            self._left -= 1
            if self._left < 0:
                raise _BadWireError(f"more than {_MOST_FIELDS:,} fields")
            tag, at = self._varint(at, stop, 5)
            number, kind = tag >> 3, tag & 7
            if not 0 < number < 1 << 29:
                raise _BadWireError(f"field number {number} before byte {at}")
            if kind == _BYTES:
                size, at = self._varint(at, stop, 5)
                start_of_field, at = at, at + size
                if at > stop:
                    raise _BadWireError(f"a field of {size} bytes that ends beyond its message")
                yield number, start_of_field, at
            elif kind == _VARINT:
                _, at = self._varint(at, stop, 10)
            elif kind in (_FIXED32, _FIXED64):
                at += 4 if kind == _FIXED32 else 8
                if at > stop:
                    raise _BadWireError("a number that ends beyond its message")
            else:
                raise _BadWireError(f"wire type {kind} before byte {at}")

    def bytes(self, start: int, stop: int) -> bytes:
        """Return the bytes of a field."""
        return self._data[start:stop]

    def _varint(self, at: int, stop: int, most: int) -> tuple[int, int]:
        """Return an integer of at most ``most`` bytes, and where it ends."""
        if at < stop and (value := self._data[at]) < 0x80:  # most are one byte
            return value, at + 1
        value = 0
        for shift, position in enumerate(range(at, min(at + most, stop))):
            byte = self._data[position]
            value |= (byte & 0x7F) << 7 * shift
            if byte < 0x80:
                return value, position + 1
        raise _BadWireError(f"an integer at byte {at} without an end")


def external_files(model: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files, beside the model's own, that an ONNX model reads tensors from.

    They are in the order in which the file names them first, each once; whether they exist is not
    looked at. The weights inside the model's file are skipped, not read.

    Raises:
        ModelError: the file cannot be read or is no ONNX; or a tensor's file is outside the
            model's folder, also by way of a link; names the tensor and the path. Where the model
            itself is a link, links of its data may lead to that file's folder.

    """
    path = Path(model)
    with _opened(path) as (wire, size):
        named = list(_named(wire, size))
    return tuple(dict.fromkeys(_inside(path, tensor, location) for tensor, location in named))


def last_operators(model: str | os.PathLike[str]) -> dict[str, str]:
    """Return the operator that computes each output, by the output's name: ``{"value": "Tanh"}``.

    Those that leave numbers as they are, such as Reshape, are looked through. Outputs that no node
    computes are left out. Raises ModelError as :func:`external_files` does.
    """
    made: dict[bytes, tuple[bytes, bytes]] = {}
    outputs: list[bytes] = []
    with _opened(Path(model)) as (wire, size):
        for graph, *inside in wire.messages(0, size):
            if graph != _GRAPH_OF_MODEL:
                continue
            for kind, start, stop in wire.messages(*inside):
                if kind == _NODE_OF_GRAPH:
                    made.update(_made_by(wire, start, stop))
                elif kind == _OUTPUT_OF_GRAPH:
                    named = wire.messages(start, stop)
                    outputs += (
                        wire.bytes(a, b) for number, a, b in named if number == _OUTPUT_NAME
                    )
    found = {name: _last_operator(made, name) for name in outputs}
    return {_text(name): _text(operator) for name, operator in found.items() if operator}


def _made_by(wire: _Wire, start: int, stop: int) -> dict[bytes, tuple[bytes, bytes]]:
    """Return a node's outputs, each with the node's operator and its first input."""
    operator = source = b""
    outputs = []
    for number, first, last in wire.messages(start, stop):
        if number == _NODE_OUTPUT:
            outputs.append(wire.bytes(first, last))
        elif number == _NODE_OPERATOR:
            operator = wire.bytes(first, last)
        elif number == _NODE_INPUT and not source:
            source = wire.bytes(first, last)
    return dict.fromkeys(outputs, (operator, source))


def _last_operator(made: dict[bytes, tuple[bytes, bytes]], tensor: bytes) -> bytes:
    """Return the operator that computes a tensor's numbers; b"" where none does."""
    for _ in range(len(made)):  # a damaged graph may have a cycle
        operator, source = made.get(tensor, (b"", b""))
        if operator not in _UNCHANGING:
            return operator
        tensor = source
    return b""


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def model_digest(model: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a model: of its file, and of the files that it reads weights from.

    Raises:
        ModelError: as :func:`external_files` does.
        OSError: one of the files cannot be read.

    """
    path = Path(model)
    others = external_files(path)
    whole = hashlib.sha256(bytes.fromhex(sha256_of(path)))
    for other in others:
        whole.update(os.fsencode(other.relative_to(path.parent)) + b"\0")
        whole.update(bytes.fromhex(sha256_of(other)))
    return whole.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[tuple[_Wire, int]]:
    """Open a model's file and yield its fields and its size. Raises ModelError."""
    try:
        _check_file(path)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield _Wire(data), len(data)
    except OSError as error:
        raise ModelError(f"{_shown(path)} cannot be read: {why(error, path)}") from error
    except _BadWireError as error:
        raise ModelError(
            f"{_shown(path)} is no ONNX file, or a damaged one: expected ONNX, found {error}"
        ) from None


def _check_file(path: Path) -> None:
    if path.is_file() and path.stat().st_size:
        return
    found = "nothing"
    if path.is_file():
        found = "an empty file"
    elif path.is_dir():
        found = "a directory"
    elif path.exists():
        found = "no regular file"  # a pipe, whose opening would wait
    raise ModelError(f"expected an ONNX file at {_shown(path)}, found {found}")


def _named(wire: _Wire, size: int) -> Iterator[tuple[str, bytes]]:
    """Yield the tensors whose numbers are elsewhere, with the name of that file, as given."""
    open_messages = [(_MODEL, wire.messages(0, size))]
    while open_messages:
        kind, fields = open_messages[-1]
        for number, start, stop in fields:
            inner = kind.get(number)
            if inner is _TENSOR:
                yield from _locations(wire, start, stop)
            elif inner is not None:
                if len(open_messages) == _MOST_DEPTH:
                    raise _BadWireError(f"more than {_MOST_DEPTH} messages within messages")
                open_messages.append((inner, wire.messages(start, stop)))
                break
        else:
            open_messages.pop()


def _locations(wire: _Wire, start: int, stop: int) -> Iterator[tuple[str, bytes]]:
    """Yield a tensor's name with each file that it names.

    ``data_location``, which says whether that counts, is not looked at: protobuf merges a message
    that is given twice, so it may stand elsewhere.
    """
    name, entries = b"", []
    for number, first, last in wire.messages(start, stop):
        if number == _NAME:
            name = wire.bytes(first, last)
        elif number == _EXTERNAL_DATA:
            entries.append((first, last))
    for first, last in entries:
        given = [(number, wire.bytes(a, b)) for number, a, b in wire.messages(first, last)]
        if (_KEY, b"location") in given:
            for number, value in given:
                if number == _VALUE:
                    yield name.decode("utf-8", "replace"), value


def _inside(model: Path, tensor: str, location: bytes) -> Path:
    """Return the path of a tensor's file. Raises ModelError where it leaves the model's folder."""
    name = os.fsdecode(location)
    problem = _problem(name) or _way_out(model, name)
    if problem is None:
        return model.parent / name
    raise ModelError(
        f"{_shown(model)}: the tensor {tensor!r} must have its data in a file of the model's "
        f"folder, found {name!r}, {problem}"
    )


def _way_out(model: Path, name: str) -> str | None:
    """Return which link leads out of the model's folder; None where none does."""
    try:
        real = (model.parent / name).resolve()
        folders = model.parent.resolve(), model.resolve().parent
    except (OSError, RuntimeError) as error:  # the latter: links in a circle, in Python 3.11
        return why(error)
    inside = any(real.is_relative_to(folder) for folder in folders)
    return None if inside else f"a link to {_shown(real)}"


def _shown(path: Path) -> str:
    """Return a path as text that can be printed: bytes that are no UTF-8 become U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", str(path))


def _problem(name: str) -> str | None:
    """Return what keeps a name from being a path below a folder, on any system."""
    if not name or "\0" in name:
        return "which is no file's name"
    windows = PureWindowsPath(name)  # splits at both kinds of slash
    if windows.anchor:
        return "an absolute path"
    if ".." in windows.parts:
        return "a path upwards"
    if windows.parts[:1] == ("*",):  # how ONNX Runtime writes an address in its own memory
        return "which is no file's name"
    return None
