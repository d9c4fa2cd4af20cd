"""search, selfplay, match and doctor are both functions and packages."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import pytest

import pyengine
from conftest import ROOT

ROOMS = ("search", "selfplay", "match", "doctor")
ORDERS = {
    "a module first": "import pyengine.search.config as c; c.SearchConfig; import pyengine",
    "a module afterwards": "import pyengine; import pyengine.search.config as c; c.SearchConfig",
    "the room as a name": "from pyengine import search; search.Engine; import pyengine",
    "a lazy room first": "import pyengine.match.play as p; p.match; import pyengine",
    "a lazy room by its use": "import pyengine; pyengine.match; import pyengine.match.play as p",
    "another room first": "import pyengine.data.writer, pyengine.selfplay.player",
}


@pytest.mark.parametrize("order", ORDERS)
def test_rooms_are_callable_in_every_order_of_imports(order: str) -> None:
    rooms = " and ".join(f"callable(pyengine.{room}.{room})" for room in ROOMS)
    callables = " and ".join(f"callable(pyengine.{room})" for room in ROOMS)
    code = f"""
{ORDERS[order]}
state = pyengine.load_game("tic_tac_toe").new_initial_state()
assert pyengine.search(state, evaluator="uniform", simulations=2).simulations == 2
assert {rooms} and {callables}
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("room", ROOMS)
def test_a_callable_room_has_the_signature_and_docstring_of_its_function(room: str) -> None:
    package = getattr(pyengine, room)
    function = getattr(package, room)
    assert inspect.signature(package) == inspect.signature(function)
    assert inspect.getdoc(package) == inspect.getdoc(function)
    assert pickle.loads(pickle.dumps(package)) is package


def test_modules_not_used_by_a_search_are_imported_lazily() -> None:
    code = """
import sys, pyengine
rooms = ("data", "selfplay", "match", "train", "conversion", "distributed", "doctor", "cli")
assert not [room for room in rooms if f"pyengine.{room}" in sys.modules]
assert not {"importlib.metadata", "tomllib", "sqlite3", "multiprocessing"} & sys.modules.keys()
assert {"match", "Dataset", "MatchResult"} <= set(dir(pyengine))
assert all(hasattr(pyengine, name) for name in pyengine.__all__)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
