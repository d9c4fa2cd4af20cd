"""Network files for the suite ``gpu``: random weights in float32 and float16."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyengine
from pyengine import conversion
from pyengine.base.extras import need
from pyengine.conversion.float16 import float32_nodes, write_half
from pyengine.conversion.onnx_graph import prepare, without_weights
from pyengine.eval.spec import METADATA_KEY, ModelSpec

if TYPE_CHECKING or __package__:
    from .gpu_plan import Subject
else:  # run as a script
    from gpu_plan import Subject

#: Converts a float32 network file (first argument) to a float16 file (second argument).
Halve: TypeAlias = Callable[[Path, Path], object]


def installed_halve() -> Halve:
    """Return the package's float16 converter.

    It skips the checks of ``to_float16``, which play games on the CPU. Random weights have no
    playing strength to lose, and the suite compares the outputs itself.
    """

    def halve(full: Path, half: Path) -> None:
        model, _, shape = prepare(full, half)
        text = {entry.key: entry.value for entry in without_weights(full).metadata_props}
        reading = ModelSpec.from_json(text[METADATA_KEY])
        game = pyengine.load_game("go", board_size=shape[-1])
        write_half(model, float32_nodes(model), half, full, reading, [game])

    return halve


class Files:
    """Network files in a folder, created on first use."""

    def __init__(self, folder: Path, halve: Halve | None) -> None:
        """``halve`` writes float16 files. None = float16 is unavailable."""
        self._folder = folder
        self._halve = halve

    def precisions(self) -> list[str]:
        """Return the available precisions."""
        return ["float32"] if self._halve is None else ["float32", "float16"]

    def file(self, subject: Subject, precision: str) -> Path:
        """Return a network's file. Raises EngineError if the extra ``convert`` is not installed."""
        path = self._folder / f"{subject.name}_{subject.board}_{precision}.onnx"
        if path.exists():
            return path
        if precision == "float32":
            weights = conversion.random_leela(
                subject.blocks, subject.channels, board_size=subject.board
            )
            conversion.leela_to_onnx(weights, path)
        else:
            assert self._halve is not None
            self._halve(self.file(subject, "float32"), path)
        return path

    def of_one_size(self, subject: Subject, precision: str, rows: int) -> Path:
        """Return a copy of the network with a fixed batch size."""
        path = self._folder / f"{subject.name}_{subject.board}_{precision}_{rows}.onnx"
        if not path.exists():
            onnx = need("onnx", "convert")
            model = onnx.load(self.file(subject, precision))
            for tensor in (*model.graph.input, *model.graph.output):
                tensor.type.tensor_type.shape.dim[0].dim_value = rows
            onnx.save(model, path)
        return path
