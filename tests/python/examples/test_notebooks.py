"""The notebooks are stored without outputs and run from the first cell to the last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NEEDS = {"train-and-watch": ("torch", "onnx", "pydantic", "matplotlib")}
MOST_BYTES = 8_000


def named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_a_notebook_is_small_and_has_no_outputs(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    for module in ("nbclient", "ipykernel", *NEEDS.get(path.stem, ("matplotlib",))):
        pytest.importorskip(module)
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, resources=resources).execute()
    pictures = [
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", ())
        if kind in ("image/png", "text/html")
    ]
    assert len(pictures) >= 1
