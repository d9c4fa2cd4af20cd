"""Every command accepts games from modules, files and OpenSpiel; bad names are explained."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import pyengine
from commands import printed, run
from pyengine.data import Dataset
from tiny_models import TinyModel

GAME = '''
class Heap:
    """Players take one to three stones in turn; whoever takes the last one wins."""

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

    def action_to_string(self, action):
        return f"take{action + 1}"

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


def small():
    return SMALL


SMALL = Nim(5)
NUMBER = 3
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
    """Return the name of a game that can be loaded from the current directory."""
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


@pytest.mark.parametrize("moves", ["x(0,0) o(1,1)", "X(0,0) 4"])
def test_a_pyspiel_game_takes_names_with_commas_and_uses_playouts(moves: str) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    text = printed("search", "pyspiel:tic_tac_toe", "-n", "8", "--moves", moves)
    assert text.startswith("x..\n.o.\n")
    assert "with  rollout, " in text


COMMANDS = {
    "search": ("search", "GAME", "-n", "50", "--json"),
    "play": ("play", "GAME", "--human", "none", "-n", "20"),
    "solve": ("solve", "GAME", "--json"),
    "match": ("match", "GAME", "rollout", "random", "-g", "2", "--plies", "0", "-n", "10"),
    "selfplay": ("selfplay", "GAME", "-g", "2", "-n", "8", "-o", "shards", "--json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_accepts_the_game(name: str, command: str) -> None:
    text = printed(*(name if word == "GAME" else word for word in COMMANDS[command]))
    assert text
    assert " object at 0x" not in text


def test_self_play_data_can_be_read_with_the_game(name: str) -> None:
    printed(*(name if word == "GAME" else word for word in COMMANDS["selfplay"]))
    layout = Dataset("shards").layout
    assert layout.load_game() == pyengine.load_game(name)
    pyengine.games.game._LOADED.clear()
    if not name.startswith("pyspiel"):  # reading data never runs a user's code
        with pytest.raises(pyengine.ConfigError):
            layout.load_game()


@pytest.mark.parametrize("name", ["file", "pyspiel"], indirect=True)
def test_a_network_for_the_game_is_tuned(name: str) -> None:
    game = pyengine.load_game(name)
    model = TinyModel(planes=game.observation_shape, actions=game.num_distinct_actions())
    spec = pyengine.ModelSpec(planes=("observation",), policy="logits")
    Path("spec.json").write_text(spec.to_json())
    path = str(model.write(Path("tiny.onnx")))
    options = ["--spec", "spec.json", "--seconds", "0.1", "--json", "-"]
    assert json.loads(printed("bench", "--tune", path, "--game", name, *options))


@pytest.mark.parametrize("name", ["module"], indirect=True)
def test_a_network_for_the_game_is_trained(name: str) -> None:
    pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
    pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    Path("run.toml").write_text(RUN.format(name=name))
    assert run("train", "run.toml", "--directory", "run").status == 0
    networks = sorted(Path("run/models").glob("*.onnx"))
    state = pyengine.load_game(name).new_initial_state()
    with pyengine.Engine(state.game, networks[-1]) as engine:
        assert engine.search(state, simulations=20).action in state.legal_actions()


def test_the_same_name_is_the_same_game(name: str) -> None:
    game = pyengine.load_game(name)
    assert pyengine.load_game(name) == game
    assert pyengine.load_game(str(game)) == game


FILE = "games_of_mine/heaps.py"


@pytest.mark.parametrize("name", ["file"], indirect=True)
def test_a_game_in_a_file_is_searched_by_every_algorithm_and_solved(name: str) -> None:
    for algorithm in ("puct", "gumbel", "uct", "flat_ucb"):
        text = printed("search", name, "-n", "200", "--algorithm", algorithm, "--json")
        result = json.loads(text)
        assert (result["best"], result["config"]["algorithm"]) == ("take3", algorithm)
    solved = json.loads(printed("solve", name, "-p", "stones=9", "--json"))
    assert (solved["value"], solved["best"]) == (1.0, "take1")
    assert "moves: " in printed("solve", f"{FILE}:SMALL")  # the default text of a state
    assert "first player wins" in printed("play", f"{FILE}:small", "--human", "none", "-n", "50")


BAD_FILES = {"syntax.py": b"def game(:", "bytes.py": b"text = '\xff\xfe'"}


@pytest.mark.usefixtures("name")
@pytest.mark.parametrize("name", ["file"], indirect=True)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no_such_module:Game", "no_such_mod"),
        ("math:pi", "num_distinct_actions"),
        ("a b:Game", "package.module:NAME"),
        ("no/such.py:Game", "no/such.py"),
        (FILE, "NAME|without a"),
        (f"{FILE}:Nims", "did you mean Nim?"),
        (f"{FILE}:Nim(heaps=3)", "heaps"),
        (f"{FILE}:NUMBER", "num_distinct_actions"),
        *((f"{file}:Game", file) for file in BAD_FILES),
        ("pyspiel:chess2", "did you mean chess?"),
    ],
)
def test_a_bad_name_of_a_game_is_explained(text: str, words: str) -> None:
    if text.startswith("pyspiel"):
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    for file, content in BAD_FILES.items():
        Path(file).write_bytes(content)
    with pytest.raises(pyengine.ConfigError, match=words):
        pyengine.load_game(text)


@pytest.mark.parametrize(
    ("content", "error"),
    [("import not_there_at_all", ModuleNotFoundError), ("1 / 0", ZeroDivisionError)],
)
def test_exceptions_of_a_users_game_are_not_changed(
    content: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    for kind in ("module", "file"):
        path = tmp_path / f"failing_{error.__name__}_{kind}.py"
        path.write_text(content)
        with pytest.raises(error):
            pyengine.load_game(f"{path.stem if kind == 'module' else path}:Game")
