"""The external data of an ONNX model, and the last operators of its outputs.

An ONNX file can name other files that hold its tensors. ONNX Runtime before 1.24.1 opens any file,
such as ``/etc/passwd``, so the engine reads the names first and refuses files outside the model's
folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pyengine.base.checks import printable
from pyengine.base.files import sha256_of, unread
from pyengine.errors import ModelError

#: The fields that lead to tensors and outputs: number and type of message, "" = bytes. Protobuf
#: skips all other fields. Every field is repeated, so that a duplicate of a singular field is not
#: overlooked. Source: ``onnx.proto`` of ONNX 1.17.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Model": {"graph": (7, "Graph"), "training": (20, "Training"), "functions": (25, "Function")},
    "Training": {"initialization": (1, "Graph"), "algorithm": (2, "Graph")},
    "Function": {"node": (7, "Node"), "attribute": (11, "Attribute")},
    "Graph": {
        "node": (1, "Node"),
        "initializer": (5, "Tensor"),
        "output": (12, "Output"),
        "sparse_initializer": (15, "Sparse"),
    },
    "Output": {"name": (1, "")},
    "Node": {
        "input": (1, ""),
        "output": (2, ""),
        "operator": (4, ""),
        "attribute": (5, "Attribute"),
    },
    "Attribute": {
        "tensor": (5, "Tensor"),
        "graph": (6, "Graph"),
        "tensors": (10, "Tensor"),
        "graphs": (11, "Graph"),
        "sparse_tensor": (22, "Sparse"),
        "sparse_tensors": (23, "Sparse"),
    },
    "Sparse": {"values": (1, "Tensor"), "indices": (2, "Tensor")},
    "Tensor": {"name": (8, ""), "external_data": (13, "Entry")},
    "Entry": {"key": (1, ""), "value": (2, "")},
}

#: Operators that do not change the numbers of a tensor.
_UNCHANGING = frozenset(
    b"Cast DequantizeLinear Flatten Identity QuantizeLinear Reshape Squeeze Unsqueeze".split()
)


@dataclass(frozen=True)
class OnnxFile:
    """The parts of a model file that the engine needs before it opens the model."""

    #: The other files that hold tensors; they may not exist.
    weights: tuple[Path, ...]
    #: The operator that computes each output, ``{"value": "Tanh"}``. Operators such as Reshape do
    #: not count.
    last_operators: dict[str, str]


def read_onnx(path: Path) -> OnnxFile:
    """Read the graph of a model.

    Raises:
        ModelError: the file cannot be read, is not ONNX, or names a tensor's file outside the
            model's folder, also through a link. The folder of a linked model's target is allowed.

    """
    model = _parse(path)
    return OnnxFile(_weights(path, model), _last_operators(model))


def external_files(path: Path) -> tuple[Path, ...]:
    """Return :attr:`OnnxFile.weights` of a model. Raises ModelError as :func:`read_onnx` does."""
    return _weights(path, _parse(path))


def model_digest(path: Path) -> str:
    """Return the SHA-256 of a model file and its external data.

    Raises ModelError as :func:`read_onnx` does, OSError if a file cannot be read.
    """
    digest = hashlib.sha256(bytes.fromhex(sha256_of(path)))
    for file in external_files(path):
        digest.update(os.fsencode(file.relative_to(path.parent)) + b"\0")
        digest.update(bytes.fromhex(sha256_of(file)))
    return digest.hexdigest()


def _weights(path: Path, model: Any) -> tuple[Path, ...]:
    return tuple(
        dict.fromkeys(
            _inside(path, tensor, os.fsdecode(location))
            for tensor in _tensors(model)
            for entry in tensor.external_data
            if b"location" in entry.key
            for location in entry.value
        )
    )


def _last_operators(model: Any) -> dict[str, str]:
    sources = {
        output: (b"".join(node.operator), next(filter(None, node.input), b""))
        for graph in model.graph
        for node in graph.node
        for output in node.output
    }
    operators = {
        name: _last_operator(sources, name)
        for graph in model.graph
        for output in graph.output
        for name in output.name
    }
    return {_text(name): _text(operator) for name, operator in operators.items() if operator}


@cache
def _model_class() -> Any:
    """Return the class of the message "Model"; ONNX Runtime depends on protobuf."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="onnx_files.proto", package="pyengine")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            message.field.add(
                name=field,
                number=number,
                label=kinds.LABEL_REPEATED,
                type=kinds.TYPE_MESSAGE if kind else kinds.TYPE_BYTES,
                type_name=f".pyengine.{kind}" if kind else None,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pyengine.Model"))


def _parse(path: Path) -> Any:
    from google.protobuf.message import DecodeError

    shown = printable(str(path))
    if not path.is_file():  # opening a pipe would block
        raise ModelError(f"{shown} is not a file" if path.exists() else f"{shown} does not exist")
    try:
        model = _model_class().FromString(path.read_bytes())
    except OSError as error:
        raise ModelError(printable(unread(path, error))) from error
    except DecodeError as error:
        raise ModelError(f"{shown} is not an ONNX file or is damaged: {error}") from error
    if not model.graph:
        raise ModelError(f"{shown} is not an ONNX file: it has no graph")
    return model


def _tensors(message: Any) -> Iterator[Any]:
    if message.DESCRIPTOR.name == "Tensor":
        yield message
    for field, values in message.ListFields():
        if field.message_type is not None:
            for value in values:
                yield from _tensors(value)


def _last_operator(sources: dict[bytes, tuple[bytes, bytes]], tensor: bytes) -> bytes:
    for _ in range(len(sources)):  # a damaged graph may have a cycle
        operator, source = sources.get(tensor, (b"", b""))
        if operator not in _UNCHANGING:
            return operator
        tensor = source
    return b""


def _inside(model: Path, tensor: Any, name: str) -> Path:
    """Return the path of a tensor's file. Raises ModelError if it is outside the model's folder."""
    try:
        real = (model.parent / name).resolve()
        folders = model.parent.resolve(), model.resolve().parent
        inside = real not in folders and any(real.is_relative_to(folder) for folder in folders)
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL
        inside = False
    # ONNX Runtime reads "*..." as an address in its own memory.
    if not inside or name.startswith("*") or Path(name).is_absolute():
        raise ModelError(
            f"{printable(str(model))}: tensor {_text(b''.join(tensor.name))!r}: expected a file in "
            f"the model's folder, got {name!r}"
        )
    return model.parent / name


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
