"""Games of other packages are found by their entry points."""

from __future__ import annotations

import ctypes
import importlib
import pyexpat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pyengine
from pyengine import _core
from pyengine.games.game import load_recorded_game
from pyengine.games.installed import installed_games

Install = Callable[..., None]


class Capsule(ctypes.Structure):
    """The content of a module's capsule: ``GameCapsule`` of plugin/game_code.h."""

    _fields_ = (
        ("fingerprint", ctypes.c_char_p),
        ("compiler", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
    )


def capsule_of(content: Capsule) -> object:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(content), b"pyengine.game", None)


OLD = Capsule(b"headers: 0.0.9 abc\nC++ library: none\n", b"tcc 0.9", None)

MODULE = """
class Heap:
    def __init__(self, left, player=0):
        self.left, self.player = left, player
    def current_player(self): return self.player
    def legal_actions(self): return list(range(min(3, self.left)))
    def apply_action(self, action):
        self.left, self.player = self.left - action - 1, 1 - self.player
    def is_terminal(self): return self.left == 0
    def returns(self): return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]
    def clone(self): return Heap(self.left, self.player)

class Heaps:
    def __init__(self, stones=7): self.stones = stones
    def num_distinct_actions(self): return 3
    def new_initial_state(self): return Heap(self.stones)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a package with entry points."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "heaps_of_test.py").write_text(MODULE)
    (tmp_path / "broken_of_test.py").write_text("import a_module_that_does_not_exist")

    def write(package: str, **games: str) -> None:
        folder = tmp_path / f"{package}-1.5.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
        lines = [f"{name} = {value}" for name, value in games.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[pyengine.games]", *lines, ""]))
        importlib.invalidate_caches()
        installed_games.cache_clear()

    yield write
    installed_games.cache_clear()
    sys.modules.pop("heaps_of_test", None)


def test_a_python_game_has_the_name_of_its_entry_point(install: Install) -> None:
    install("heaps", heaps="heaps_of_test:Heaps")
    assert "heaps" in pyengine.registered_games()
    game = pyengine.load_game("heaps(stones=9)")
    assert str(game) == "heaps(stones=9)"
    assert pyengine.load_game("heaps", stones=9) is game
    result = pyengine.Engine(game, "rollout").search(game.new_initial_state(), simulations=200)
    assert result.action == 0  # leaves eight


def test_an_unknown_game_is_reported_with_the_installed_ones(install: Install) -> None:
    install("heaps", heaps="heaps_of_test:Heaps")
    with pytest.raises(pyengine.ConfigError, match=r"expected one of .*go, .*, heaps$"):
        pyengine.load_game("xiangqi")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("broken_of_test", r"game 'wrong' of heaps 1\.5: No module named 'a_module"),
        ("heaps_of_test:Missing", r"game 'wrong' of heaps 1\.5: .*no attribute 'Missing'"),
        ("heaps_of_test", r"game 'wrong' of heaps 1\.5: expected a module with PYENGINE_GAME"),
    ],
)
def test_an_entry_point_without_a_game_is_an_error_with_its_package(
    install: Install, value: str, message: str
) -> None:
    install("heaps", wrong=value)
    with pytest.raises(pyengine.ConfigError, match=message):
        pyengine.load_game("wrong")


def test_a_name_of_two_packages_is_refused(install: Install) -> None:
    install("heaps", heaps="heaps_of_test:Heaps")
    install("piles", heaps="heaps_of_test:Heaps")
    with pytest.raises(pyengine.ConfigError, match=r"several packages .* (heaps|piles) 1\.5, "):
        pyengine.load_game("heaps")


def test_a_module_built_for_other_headers_is_refused_with_both_sides(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("heaps", heaps="heaps_of_test")
    module = importlib.import_module("heaps_of_test")
    monkeypatch.setattr(module, "__pyengine_game__", capsule_of(OLD), raising=False)
    with pytest.raises(
        pyengine.ConfigError, match=r"headers: 0\.0\.9 abc there, .+ here.*tcc 0\.9"
    ):
        pyengine.load_game("heaps")


def test_only_capsules_of_games_are_added() -> None:
    with pytest.raises(TypeError):
        _core.add_game(object(), "heaps")
    with pytest.raises(pyengine.ConfigError, match="expected the capsule of a game"):
        _core.add_game(pyexpat.expat_CAPI, "heaps")


def test_a_built_in_game_cannot_be_replaced(install: Install) -> None:
    install("heaps", go="heaps_of_test:Heaps")
    with pytest.warns(UserWarning, match=r"ignored the game go of heaps 1\.5"):
        assert "go" in pyengine.registered_games()
    assert pyengine.load_game("go").board_shape == (19, 19)


def test_recorded_data_do_not_call_a_python_game(install: Install) -> None:
    install("heaps", heaps="heaps_of_test:Heaps")
    with pytest.raises(pyengine.ConfigError, match="is not loaded"):
        load_recorded_game("heaps(stones=5)")
    pyengine.load_game("heaps(stones=5)")
    assert load_recorded_game("heaps(stones=5)").name == "Heaps"


def test_the_wheel_has_what_a_game_in_cpp_is_built_with() -> None:
    include = Path(pyengine.get_include())
    assert (include / "pyengine" / "plugin" / "game.h").is_file()
    assert (include / "pyengine" / "plugin" / "headers.h").is_file()
    assert (Path(pyengine.get_cmake_dir()) / "pyengine-config.cmake").is_file()
