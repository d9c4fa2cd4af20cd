"""The files that an ONNX model reads its weights from, a digest of all, and its last operators.

An ONNX file can name other files that hold its tensors ("external data"). ONNX Runtime before
1.24.1 opens whatever is named, ``/etc/passwd`` for example, so the engine reads the names first and
refuses those that lead out of the model's folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pyengine.base.arguments import printable
from pyengine.base.files import sha256_of, unread
from pyengine.errors import ModelError

#: The fields on the way to a tensor or an output: number and kind of message, "" = bytes. The rest
#: of a file is unknown to these messages and skipped. All fields are lists: a file that gives a
#: single field twice shows both. Source: ``onnx.proto`` of ONNX 1.17.
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

#: Operators that leave the numbers of a tensor as they are.
_UNCHANGING = frozenset(
    b"Cast DequantizeLinear Flatten Identity QuantizeLinear Reshape Squeeze Unsqueeze".split()
)


def external_files(model: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files, beside the model's own, that an ONNX model reads tensors from, each once.

    Whether they exist is not checked.

    Raises:
        ModelError: the file cannot be read or is not ONNX; or a tensor's file is outside the
            model's folder, also through a link. If the model itself is a link, links of its data
            may lead to that file's folder.

    """
    path = Path(model)
    return tuple(
        dict.fromkeys(
            _inside(path, tensor, os.fsdecode(location))
            for tensor in _tensors(_read(path))
            for entry in tensor.external_data
            if b"location" in entry.key
            for location in entry.value
        )
    )


def last_operators(model: str | os.PathLike[str]) -> dict[str, str]:
    """Return the operator that computes each output, by the output's name: ``{"value": "Tanh"}``.

    Those that leave numbers as they are, such as Reshape, are looked through. Outputs that no node
    computes are left out. Raises ModelError if the file cannot be read or is not ONNX.
    """
    graphs = _read(Path(model)).graph
    made = {
        output: (b"".join(node.operator), next(filter(None, node.input), b""))
        for graph in graphs
        for node in graph.node
        for output in node.output
    }
    found = {
        name: _last_operator(made, name)
        for graph in graphs
        for output in graph.output
        for name in output.name
    }
    return {_text(name): _text(operator) for name, operator in found.items() if operator}


def model_digest(model: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a model: of its file, and of the files that it reads weights from.

    Raises ModelError as :func:`external_files` does, OSError if one of the files cannot be read.
    """
    path = Path(model)
    others = external_files(path)
    whole = hashlib.sha256(bytes.fromhex(sha256_of(path)))
    for other in others:
        whole.update(os.fsencode(other.relative_to(path.parent)) + b"\0")
        whole.update(bytes.fromhex(sha256_of(other)))
    return whole.hexdigest()


@cache
def _model_class() -> Any:
    """Return the class of the message "Model"; ONNX Runtime brings protobuf."""
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


def _read(path: Path) -> Any:
    from google.protobuf.message import DecodeError

    if not path.is_file():  # opening a pipe would wait
        found = "no regular file" if path.exists() else "nothing"
        raise ModelError(f"expected an ONNX file at {_shown(path)}, got {found}")
    try:
        model = _model_class().FromString(path.read_bytes())
    except OSError as error:
        raise ModelError(printable(unread(path, error))) from error
    except DecodeError as error:
        raise ModelError(f"{_shown(path)} is not an ONNX file, or is damaged: {error}") from error
    if not model.graph:
        raise ModelError(f"{_shown(path)} is not an ONNX file: it has no graph")
    return model


def _tensors(message: Any) -> Iterator[Any]:
    if message.DESCRIPTOR.name == "Tensor":
        yield message
    for field, values in message.ListFields():
        if field.message_type is not None:
            for value in values:
                yield from _tensors(value)


def _last_operator(made: dict[bytes, tuple[bytes, bytes]], tensor: bytes) -> bytes:
    """Return the operator that computes a tensor's numbers; b"" if none does."""
    for _ in range(len(made)):  # a damaged graph may have a cycle
        operator, source = made.get(tensor, (b"", b""))
        if operator not in _UNCHANGING:
            return operator
        tensor = source
    return b""


def _inside(model: Path, tensor: Any, name: str) -> Path:
    """Return the path of a tensor's file. Raises ModelError if it leaves the model's folder."""
    try:
        real = (model.parent / name).resolve()
        folders = model.parent.resolve(), model.resolve().parent
        inside = real not in folders and any(real.is_relative_to(folder) for folder in folders)
    except (OSError, RuntimeError, ValueError):  # links in a circle, a NUL
        inside = False
    if not inside or name.startswith("*"):  # to ONNX Runtime, an address in its own memory
        raise ModelError(
            f"{_shown(model)}: tensor {_text(b''.join(tensor.name))!r}: expected a file in the "
            f"model's folder, got {name!r}"
        )
    return model.parent / name


def _shown(path: Path) -> str:
    return printable(str(path))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
