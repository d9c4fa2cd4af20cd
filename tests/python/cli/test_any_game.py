"""Every command takes every game: a module's, a file's, OpenSpiel's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import pyengine
from pyengine.data import Dataset
from tiny_models import TinyModel

pytest.importorskip("typer", reason="the extra cli is not installed")

from typer.testing import CliRunner

from pyengine.cli.app import app

GAME = '''
class Heap:
    """Whoever takes the last of the stones, one to three at a time, wins."""

    def __init__(self, left, player=0):
        self.left, self.player = left, player

    def current_player(self):
        return self.player

    def legal_actions(self):
        return list(range(min(3, self.left)))

    def apply_action(self, action):
        self.left, self.player = self.left - action - 1, 1 - self.player

    def is_terminal(self):
        return self.left == 0

    def returns(self):
        return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]

    def clone(self):
        return Heap(self.left, self.player)

    def observation_tensor(self):
        return [float(self.left == count) for count in range(9)]


class Nim:
    observation_tensor_shape = (9, 1, 1)

    def __init__(self, stones=7):
        self.stones = stones

    def num_distinct_actions(self):
        return 3

    def max_game_length(self):
        return self.stones

    def new_initial_state(self):
        return Heap(self.stones)
'''

NAMES = {
    "module": "games_of_mine.heaps:Nim",
    "parameters": "games_of_mine.heaps:Nim(stones=6)",
    "file": "games_of_mine/heaps.py:Nim",
    "pyspiel": "pyspiel:hex(board_size=3)",
}

RUN = """
[run]
steps = 4
[game]
name = "{name}"
planes = ["observation"]
[network]
kind = "alphago_zero"
blocks = 1
filters = 8
[selfplay]
preset = "fast"
concurrent_games = 8
[search]
simulations = 8
threads = 1
[train]
batch_size = 32
threads = 1
checkpoint_steps = 4
[window]
minimum_positions = 64
start = 64
samples_per_position = 32
[gate]
mode = "latest"
every_steps = 4
games = 2
simulations = 2
"""


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a game's name, in whose folder the commands run."""
    text = NAMES[request.param]
    if text.startswith("pyspiel"):
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    package = tmp_path / "games_of_mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "heaps.py").write_text(GAME)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("games_of_mine", "games_of_mine.heaps"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(pyengine.games.game, "_LOADED", {})
    return text


def run(*arguments: str) -> str:
    """Run a command; return what it prints."""
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("moves", ["x(0,0) o(1,1)", "X(0,0) 4"])
def test_moves_whose_names_have_commas_are_played(moves: str) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    text = run("search", "pyspiel:tic_tac_toe", "-n", "8", "--moves", moves)
    assert text.startswith("x..\n.o.\n")


def test_a_game_of_others_with_the_name_of_ours_is_not_given_our_network() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    assert "with  rollout, " in run("search", "pyspiel:tic_tac_toe", "-n", "8")


COMMANDS = {
    "search": ("search", "GAME", "-n", "50", "--json"),
    "play": ("play", "GAME", "--human", "none", "-n", "20"),
    "solve": ("solve", "GAME", "--json"),
    "match": ("match", "GAME", "rollout", "random", "-g", "2", "--plies", "0", "-n", "10"),
    "selfplay": ("selfplay", "GAME", "-g", "2", "-n", "8", "-o", "shards", "--json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_it(name: str, command: str) -> None:
    assert run(*(name if word == "GAME" else word for word in COMMANDS[command]))


def test_its_self_play_is_read_back_and_its_game_found(name: str) -> None:
    run(*(name if word == "GAME" else word for word in COMMANDS["selfplay"]))
    layout = Dataset("shards").layout
    assert layout.load_game() == pyengine.load_game(name)
    pyengine.games.game._LOADED.clear()
    if not name.startswith("pyspiel"):  # data run no code
        with pytest.raises(pyengine.ConfigError, match="that this program has loaded"):
            layout.load_game()


def test_a_network_of_it_is_tuned(name: str) -> None:
    game = pyengine.load_game(name)
    model = TinyModel(planes=game.observation_shape, actions=game.num_distinct_actions())
    spec = pyengine.ModelSpec(planes=("observation",), policy="logits")
    Path("spec.json").write_text(spec.to_json())
    path = str(model.write(Path("tiny.onnx")))
    found = run(
        "bench", "--tune", path, "--game", name, "--spec", "spec.json", "-s", "0.5", "--json", "-"
    )
    assert json.loads(found)


@pytest.mark.parametrize("name", ["module", "pyspiel"], indirect=True)
def test_a_network_of_it_is_trained_from_nothing(name: str) -> None:
    pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
    pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    Path("run.toml").write_text(RUN.format(name=name))
    run("train", "run.toml", "--directory", "run")
    networks = sorted(Path("run/models").glob("*.onnx"))
    state = pyengine.load_game(name).new_initial_state()
    with pyengine.Engine(state.game, networks[-1]) as engine:
        assert engine.search(state, simulations=20).action in state.legal_actions()


def test_the_same_name_is_the_same_game(name: str) -> None:
    game = pyengine.load_game(name)
    assert pyengine.load_game(name) == game
    assert pyengine.load_game(str(game)) == game


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no_such_module:Game", "expected package.module:NAME or FILE.py:NAME, found 'no_such_mod"),
        ("math:Game", "math: expected one of .*, found 'Game'"),
        ("math:pi", "needs num_distinct_actions"),
        ("math:sqrt", r"math:sqrt cannot be called with \{\}"),
        ("a b:Game", "expected package.module:NAME, found 'a b:Game'"),
        ("collections:Counter(1)", "expected NAME=VALUE, each once"),
        ("no/such.py:Game", "expected FILE.py:NAME .* found no file 'no/such.py'"),
        ("fractions:Game", "fractions: expected the name of a game, found 'Game'"),
    ],
)
def test_a_name_of_no_game_says_what_is_expected(text: str, words: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=words):
        pyengine.load_game(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pyspiel:chess2", "pyspiel registers, found 'chess2'; did you mean chess?"),
        ("pyspiel:hex(size=3)", r"pyspiel does not load hex\(size=3\): .*size"),
        ("pyspiel:kuhn_poker", "games with chance are not supported"),
    ],
)
def test_a_name_of_no_game_of_open_spiel_says_so(text: str, words: str) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    with pytest.raises(pyengine.ConfigError, match=words):
        pyengine.load_game(text)


def test_what_a_module_lacks_itself_passes_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    (tmp_path / "lacking_game.py").write_text("import not_there_at_all")
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        pyengine.load_game("lacking_game:Game")
