"""Test the installed package: a search with each bundled network, doctor, and a benchmark suite.

Usage: ``python tools/try_wheel.py`` in an environment with the wheel and its extra ``cli``, and
without a compiler on PATH. Exits with an error if a test fails.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("c++", "g++", "clang++", "cl", "cmake")


def search_bundled_networks() -> None:
    """Search the initial position with each bundled network that is meant for search."""
    import pyengine
    from pyengine.eval.bundled import game_of_model, is_for_search

    assert ROOT / "src" not in Path(pyengine.__file__).resolve().parents, "expected a wheel"
    bundled = list(Path(pyengine.__file__).parent.parent.glob("pyengine_search.libs/*"))
    assert not bundled, f"expected no bundled libraries, got {bundled}"
    for name, path in pyengine.bundled_models().items():
        game = game_of_model(name)
        if game is None or not is_for_search(name):
            continue
        with pyengine.Engine(game, path) as engine:
            result = engine.search(game.new_initial_state(), simulations=100)
        assert int(result.visits.sum()) == 100, result
        move = result.action_name(result.action)
        print(f"  {name}: move {move} after {result.simulations} simulations")


def run(*command: str) -> None:
    """Run the ``pyengine`` command; exit with its output if it fails."""
    script = Path(sysconfig.get_path("scripts")) / "pyengine"
    done = subprocess.run([script, *command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        output = done.stdout + done.stderr
        sys.exit(f"pyengine {' '.join(command)}: exit status {done.returncode}\n{output}")
    print(f"  pyengine {' '.join(command)}: ok")


def main() -> None:
    """Run all tests."""
    present = [name for name in COMPILERS if shutil.which(name)]
    compilers = f"with {', '.join(present)}" if present else "without a compiler"
    print(f"{platform.python_implementation()} {platform.python_version()}, {compilers}")
    search_bundled_networks()
    run("doctor")
    run("bench", "tree", "--quick")


if __name__ == "__main__":
    main()
