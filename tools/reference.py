"""Write the reference of the package, generated from its docstrings, as HTML.

Usage: ``python tools/reference.py FOLDER``. Without PyTorch, names that need it are left out.
"""

import contextlib
import importlib
import sys
from pathlib import Path

import pdoc

from pyengine import EngineError

# pdoc adds the rooms that are also functions, such as pyengine.match.
ROOMS = ("conversion", "data", "data.sgf", "distributed", "eval", "exact", "games", "train")
MODULES = ("pyengine", *(f"pyengine.{room}" for room in ROOMS), "pyengine.train.loop.run_configs")


def main() -> None:
    """Write the reference to the folder given as an argument."""
    for name in MODULES:
        module = importlib.import_module(name)
        # pdoc sees only loaded names, and some are loaded on first use.
        for public in getattr(module, "__all__", ()):
            with contextlib.suppress(EngineError):  # PyTorch is missing
                vars(module)[public] = getattr(module, public)
    pdoc.render.configure(docformat="google", show_source=False)
    pdoc.pdoc(*MODULES, output_directory=Path(sys.argv[1]))


if __name__ == "__main__":
    main()
