"""Try the installed package as a user would: a search on each bundled network, doctor, a suite.

Usage: ``python tools/try_wheel.py`` with the Python of an environment that has the wheel and its
extra ``cli``, and no compiler on PATH. Ends with an error where something does not work.
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
    """Search the initial position with each bundled network that a search can use."""
    import pyengine
    from pyengine.eval.bundled import game_of_model, is_for_search

    assert ROOT / "src" not in Path(pyengine.__file__).resolve().parents, "expected a wheel"
    grafted = list(Path(pyengine.__file__).parent.parent.glob("pyengine_search.libs/*"))
    assert not grafted, f"expected no library of others, got {grafted}"
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
    """Run the command ``pyengine`` and show what it says where it fails."""
    script = Path(sysconfig.get_path("scripts")) / "pyengine"
    done = subprocess.run([script, *command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        told = done.stdout + done.stderr
        sys.exit(f"pyengine {' '.join(command)}: exit status {done.returncode}\n{told}")
    print(f"  pyengine {' '.join(command)}: well")


def main() -> None:
    """Try everything."""
    found = [name for name in COMPILERS if shutil.which(name)]
    compilers = f"with {', '.join(found)} at hand" if found else "without a compiler"
    print(f"{platform.python_implementation()} {platform.python_version()}, {compilers}")
    search_bundled_networks()
    run("doctor")
    run("bench", "tree", "--quick")


if __name__ == "__main__":
    main()
