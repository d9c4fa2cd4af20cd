"""The networks of the suites: loading, bare ONNX Runtime sessions, and a check of outputs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import pyengine
from pyengine import ModelSpec
from pyengine.eval.bundled import game_of_model

if TYPE_CHECKING or __package__:
    from .common import Options, Report, check
else:  # run as a script
    from common import Options, Report, check

Floats = npt.NDArray[np.float32]

CPU = "CPUExecutionProvider"

_GOMOKU = ModelSpec(planes=("own[0]", "opp[0]", "last[0]", "first_to_move"))
#: Third-party networks by file name, with their game and spec.
THIRD_PARTY = {
    "go9x9_pyaq": (
        "go(board_size=9,komi=7.0,superko=simple)",
        ModelSpec(
            planes=("own[0]", "opp[0]", "own[1]", "opp[1]", "own[2]", "opp[2]", "first_to_move"),
            rows="bottom_up",
            policy_rows="bottom_up",
            policy="probs",
        ),
    ),
    "gomoku8x8_5": ("gomoku(board_size=8)", _GOMOKU),
    "gomoku6x6_4": ("gomoku(board_size=6,win_length=4)", _GOMOKU),
    "othello8x8_ludax": ("othello", ModelSpec(planes=("own[0]", "opp[0]"))),
    "connect4_sunshine": (
        "connect_four",
        ModelSpec(
            planes=("own[0]", "opp[0]"),
            policy="log_probs",
            value=("draw", "win", "loss"),
            value_kind="log_probs",
        ),
    ),
}


@dataclass
class Network:
    """A network and its game, opened by the engine on the CPU."""

    name: str
    path: Path
    game: pyengine.Game
    evaluator: pyengine.OnnxEvaluator

    @property
    def spec(self) -> ModelSpec:
        """How the network reads a position."""
        spec = self.evaluator.spec
        assert spec is not None
        return spec


@dataclass(frozen=True)
class Candidate:
    """A network not yet opened: its file, its game as text, and its spec (None = from the file)."""

    path: Path
    game: str
    spec: ModelSpec | None = None

    def open(self) -> Network:
        """Open it with the engine on the CPU."""
        game = pyengine.load_game(self.game)
        evaluator = pyengine.OnnxEvaluator(self.path, spec=self.spec, providers=["cpu"])
        return Network(self.path.stem, self.path, game, evaluator)


def find_networks(report: Report, options: Options) -> list[Network]:
    """Open the user's network, or the bundled networks and those in the folder.

    A network that cannot be opened adds a failed row. A missing ``THIRD_PARTY`` network adds a
    note.
    """
    found = []
    for candidate in _candidates(report, options):
        with report.attempt(f"{report.name}/{candidate.path.stem}"):
            found.append(candidate.open())
    if not found:
        report.notes.append(
            "no network to measure: no bundled network opens, and neither --model nor --models"
            " (or PYENGINE_SHARED) names a valid one"
        )
    return found


def _candidates(report: Report, options: Options) -> list[Candidate]:
    if options.model is not None:
        with report.attempt(f"{report.name}/{options.model.stem}"):
            return [Candidate(options.model, options.game or "", _read_spec(options.spec))]
        return []
    bundled = []
    for name, path in pyengine.bundled_models().items():
        with report.attempt(f"{report.name}/{name}"):
            if (game := game_of_model(name)) is not None:
                bundled.append(Candidate(path, str(game)))
    return bundled + _third_party(report, options)


def _third_party(report: Report, options: Options) -> list[Candidate]:
    """Return the known networks in a folder. Name the missing ones in a note."""
    folder = options.models
    if folder is None and "PYENGINE_SHARED" in os.environ:
        folder = Path(os.environ["PYENGINE_SHARED"]) / "nets"
    if folder is None:
        return []
    files = {name: folder / f"{name}.onnx" for name in sorted(THIRD_PARTY)}
    if absent := [name for name, file in files.items() if not file.exists()]:
        report.notes.append(f"not measured, missing from {folder}: {', '.join(absent)}")
    return [
        Candidate(file, *THIRD_PARTY[name]) for name, file in files.items() if name not in absent
    ]


def _read_spec(path: Path | None) -> ModelSpec | None:
    return None if path is None else ModelSpec.from_json(path.read_text("utf-8"))


def random_states(game: pyengine.Game, count: int, seed: int = 0) -> list[pyengine.State]:
    """Return non-terminal states from the middle of random games."""
    rng = np.random.default_rng(seed)
    longest = min(40, game.num_distinct_actions() // 2)
    states: list[pyengine.State] = []
    while len(states) < count:
        state = game.new_initial_state()
        for _ in range(int(rng.integers(longest))):
            following = state.clone()
            following.apply_action(int(rng.choice(following.legal_actions())))
            if following.is_terminal():
                break
            state = following
        states.append(state)
    return states


def open_session(network: Network) -> Any:
    """Open a plain ONNX Runtime session with the engine's settings."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    settings.enable_cpu_mem_arena = False
    settings.log_severity_level = 4
    return onnxruntime.InferenceSession(str(network.path), settings, providers=[CPU])


def bare_calls(network: Network, batch: int, threads: int) -> list[Callable[[], int]]:
    """Return a bare ONNX Runtime call per thread, each with a separate session and IoBinding.

    A call evaluates ``batch`` preallocated rows of planes and returns ``batch``.
    """
    return [_bare_call(network, batch) for _ in range(threads)]


def _bare_call(network: Network, batch: int) -> Callable[[], int]:
    session = open_session(network)
    binding = session.io_binding()
    planes = input_planes(network, session, random_states(network.game, batch))
    binding.bind_cpu_input(input_of(network, session).name, planes)
    for name in output_names(network, session):
        binding.bind_output(name)

    def call() -> int:
        session.run_with_iobinding(binding)
        return batch

    return call


def input_of(network: Network, session: Any) -> Any:
    """Return the planes in the shape declared by the file."""
    inputs = {given.name: given for given in session.get_inputs()}
    return inputs[network.spec.input or next(iter(inputs))]


def input_planes(network: Network, session: Any, states: Sequence[pyengine.State]) -> Floats:
    """Return the planes of states in the model's input format.

    The game and the spec determine shape and layout, because a file may leave height and width
    open. The file determines the number type, and whether a row is flat.
    """
    wanted = input_of(network, session)
    planes = np.stack([state.observation_tensor(network.spec) for state in states])
    if len(wanted.shape) == 2:
        planes = planes.reshape(len(states), -1)
    numbers = {"tensor(float16)": np.float16, "tensor(int8)": np.int8}
    return planes.astype(numbers.get(wanted.type, np.float32))


def output_names(network: Network, session: Any) -> list[str]:
    """Return the names of the policy and value outputs: from the spec, by name, or by shape.

    The shapes are those of one evaluated row, because a file may leave dimensions unspecified.
    """
    names = [output.name for output in session.get_outputs()]
    wanted = [network.spec.policy_output or "policy", network.spec.value_output or "value"]
    if set(wanted) <= set(names):
        return wanted
    planes = input_planes(network, session, [network.game.new_initial_state()])
    row = session.run(names, {input_of(network, session).name: planes})
    sizes = {name: np.size(output) for name, output in zip(names, row, strict=True)}
    numbers = 1 if network.spec.value == "scalar" else len(network.spec.value)
    return [_only_of_size(sizes, size) for size in (network.game.num_distinct_actions(), numbers)]


def _only_of_size(sizes: dict[str, int], wanted: int) -> str:
    found = [name for name, size in sizes.items() if size == wanted]
    check(f"one output has {wanted} numbers a row", len(found) == 1, sizes)
    return found[0]


def check_answers(network: Network, count: int = 16) -> None:
    """Check the engine's evaluations against independently decoded outputs, within 1e-4."""
    states = random_states(network.game, count, seed=1)
    policy, value = network.evaluator.evaluate(states)
    check("outputs are finite", bool(np.isfinite(policy).all() and np.isfinite(value).all()))
    session = open_session(network)
    planes = input_planes(network, session, states)
    raw_policy, raw_value = session.run(
        output_names(network, session), {input_of(network, session).name: planes}
    )
    for i, state in enumerate(states):
        expected = decode_policy(network, state, np.asarray(raw_policy[i], np.float64).ravel())
        off = float(np.abs(expected - policy[i]).max())
        check("policy equals ONNX Runtime's within 1e-4", off < 1e-4, off)
        off = abs(decode_value(network, state, np.ravel(raw_value[i])) - float(value[i]))
        check("value equals ONNX Runtime's within 1e-4", off < 1e-4, off)


def decode_policy(
    network: Network, state: pyengine.State, raw: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return probabilities over the legal actions from a row of a policy output."""
    spec = network.spec
    height, width = network.game.board_shape
    actions = network.game.num_distinct_actions()
    place = np.arange(actions)
    if spec.policy_rows == "bottom_up" and actions >= height * width:
        board = np.arange(height * width).reshape(height, width)[::-1].ravel()
        place = np.concatenate([board, place[height * width :]])
    check("the pass is the last of the policy", spec.pass_index in (None, actions - 1))
    legal = np.asarray(state.legal_actions())
    row = raw[place[legal]]
    weights = row if spec.policy == "probs" else np.exp(row - row.max())
    result = np.zeros(actions)
    result[legal] = weights / weights.sum()
    return result


def decode_value(network: Network, state: pyengine.State, raw: Any) -> float:
    """Return the value for the player to move from a row of a value output."""
    spec = network.spec
    numbers = np.asarray(raw, np.float64)
    if spec.value == "scalar":
        value = float(numbers[0])
        if spec.value_kind == "probs":
            value = 2 * value - 1
        elif spec.value_kind == "logits":
            value = math.tanh(value)
    else:
        if spec.value_kind != "probs":
            numbers = np.exp(numbers - numbers.max())
        share = dict(zip(spec.value, numbers / numbers.sum(), strict=True))
        value = float(share["win"] - share["loss"])
    turned = spec.value_for == "first_player" and state.current_player() == 1
    return -value if turned else value
