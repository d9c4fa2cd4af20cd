"""Parts of an ONNX model that ONNX Runtime need not compute.

It computes all nodes of a model, whichever outputs it is asked for. So an output that no leaf of a
search needs is hidden from it, with the nodes that serve that output alone: their keys in the
file's protobuf encoding are changed to that of a field that a graph does not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pyengine.errors import ModelError
from pyengine.onnx_files import BadWireError, Wire, wire_of

__all__ = ["hidden_parts"]

# Numbers of the fields, as in onnx.proto of ONNX 1.17.
_GRAPH = 7  # of a model
_NODE, _OUTPUT = 1, 12  # of a graph
_INPUT_OF_NODE, _OUTPUT_OF_NODE, _ATTRIBUTE = 1, 2, 5
_GRAPHS = (6, 11)  # of an attribute: one, several
_NAME = 1  # of an output

_BYTES = 2  # wire type

#: A field of a graph: where its key is, where it starts and stops.
_Part = tuple[int, int, int]


def hidden_parts(path: Path, outputs: Sequence[str]) -> list[int]:
    """Return where in a model's file the keys are of some outputs and of what they alone need.

    Raises ModelError where the file cannot be read, is no ONNX or has no such output.
    """
    with wire_of(path) as (wire, size):
        named, nodes = _parts(wire, size)
        for name in outputs:
            if name not in named:
                raise ModelError(
                    f"the model {path} has no output {name!r}, which the spec names; "
                    f"found {', '.join(named)}"
                )
        needed = {name for name in named if name not in outputs}
        unneeded = _unneeded(wire, nodes, needed)
        return [named[name][0] for name in outputs] + [node[0] for node in unneeded]


def _parts(wire: Wire, size: int) -> tuple[dict[str, _Part], list[_Part]]:
    """The outputs of the graph by their names, and its nodes."""
    named: dict[str, _Part] = {}
    nodes: list[_Part] = []
    for number, start, stop in wire.messages(0, size):
        if number != _GRAPH:
            continue
        for field, first, last in wire.messages(start, stop):
            if field == _NODE:
                nodes.append((_key_before(wire, field, first, last), first, last))
            elif field == _OUTPUT:
                name = "".join(_texts(wire, first, last, _NAME))
                named[name] = (_key_before(wire, field, first, last), first, last)
    return named, nodes


def _key_before(wire: Wire, number: int, start: int, stop: int) -> int:
    """Where the key of a field is: before its size, which has 7 bits a byte."""
    size = max(1, -(-(stop - start).bit_length() // 7))
    key = start - size - 1
    if key < 0 or wire.bytes(key, key + 1) != bytes([number << 3 | _BYTES]):
        raise BadWireError(f"a size at byte {start} that is longer than it need be")
    return key


def _unneeded(wire: Wire, nodes: Sequence[_Part], needed: set[str]) -> list[_Part]:
    """The nodes on which none of the values that are needed depends."""
    left = list(reversed(nodes))  # a node comes after those whose outputs it reads
    while True:
        others = []
        for node in left:
            _, start, stop = node
            if needed.isdisjoint(_texts(wire, start, stop, _OUTPUT_OF_NODE)):
                others.append(node)
            else:
                needed.update(_read(wire, start, stop))
        if len(others) == len(left):
            return others
        left = others


def _read(wire: Wire, start: int, stop: int) -> Iterator[str]:
    """Values that a node reads, those inside its graphs included."""
    yield from _texts(wire, start, stop, _INPUT_OF_NODE)
    for number, first, last in wire.messages(start, stop):
        if number != _ATTRIBUTE:
            continue
        for inner, begin, end in wire.messages(first, last):
            if inner not in _GRAPHS:
                continue
            for field, a, b in wire.messages(begin, end):
                if field == _NODE:
                    yield from _read(wire, a, b)
                elif field == _OUTPUT:
                    yield from _texts(wire, a, b, _NAME)


def _texts(wire: Wire, start: int, stop: int, number: int) -> Iterator[str]:
    for field, first, last in wire.messages(start, stop):
        if field == number and last > first:  # an input that is left out has no name
            yield wire.bytes(first, last).decode("utf-8", "surrogateescape")
