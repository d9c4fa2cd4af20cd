"""The networks of the suites: where they are, bare ONNX Runtime on them, and a check of answers."""

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
from pyengine.bundled import game_of_model, is_for_search

if TYPE_CHECKING or __package__:
    from .common import Options, check
else:  # run as a file
    from common import Options, check

Floats = npt.NDArray[np.float32]

CPU = "CPUExecutionProvider"

_GOMOKU = ModelSpec(planes=("own[0]", "opp[0]", "last[0]", "first_to_move"))
#: Networks trained by others, by the name of the file: game and spec.
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
    """A network with its game, opened by the engine on the CPU."""

    name: str
    path: Path
    game: pyengine.Game
    evaluator: pyengine.OnnxEvaluator

    @property
    def spec(self) -> ModelSpec:
        """How it reads a position."""
        spec = self.evaluator.spec
        assert spec is not None
        return spec


def find_networks(options: Options) -> list[Network]:
    """Open the user's network, or the bundled ones and those of the folder of networks."""
    if options.model is not None:
        game = pyengine.load_game(options.game or "")
        return [_open(options.model, game, _read_spec(options.spec))]
    found = []
    for name, path in pyengine.bundled_models().items():
        if (known := game_of_model(name)) is not None and is_for_search(name):
            found.append(_open(path, known, None))
    folder = options.models
    if folder is None and "PYENGINE_SHARED" in os.environ:
        folder = Path(os.environ["PYENGINE_SHARED"]) / "nets"
    if folder is not None:
        found += [
            _open(path, pyengine.load_game(game_text), spec)
            for path in sorted(folder.glob("*.onnx"))
            if path.stem in THIRD_PARTY
            for game_text, spec in [THIRD_PARTY[path.stem]]
        ]
    return found


def _read_spec(path: Path | None) -> ModelSpec | None:
    return None if path is None else ModelSpec.from_json(path.read_text("utf-8"))


def _open(path: Path, game: pyengine.Game, spec: ModelSpec | None) -> Network:
    evaluator = pyengine.OnnxEvaluator(path, spec=spec, providers=["cpu"])
    return Network(path.stem, path, game, evaluator)


def random_states(game: pyengine.Game, count: int, seed: int = 0) -> list[pyengine.State]:
    """Return states in the middle of random games, none of them terminal."""
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
    """Open ONNX Runtime's own session with the engine's settings."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    settings.enable_cpu_mem_arena = False
    settings.log_severity_level = 4
    return onnxruntime.InferenceSession(str(network.path), settings, providers=[CPU])


def bare_calls(network: Network, batch: int, threads: int) -> list[Callable[[], int]]:
    """Return a call of bare ONNX Runtime for each thread: a session and an IoBinding of its own.

    A call judges ``batch`` rows of planes that are there already, and returns ``batch``.
    """
    return [_bare_call(network, batch) for _ in range(threads)]


def _bare_call(network: Network, batch: int) -> Callable[[], int]:
    session = open_session(network)
    binding = session.io_binding()
    planes = input_planes(network, session, random_states(network.game, batch))
    binding.bind_cpu_input(session.get_inputs()[0].name, planes)
    for name in output_names(network, session):
        binding.bind_output(name)

    def call() -> int:
        session.run_with_iobinding(binding)
        return batch

    return call


def input_planes(network: Network, session: Any, states: Sequence[pyengine.State]) -> Floats:
    """Return the planes of states in the shape and type that the model declares."""
    wanted = session.get_inputs()[0]
    planes = np.stack([state.observation_tensor(network.spec) for state in states])
    row = [size if isinstance(size, int) else -1 for size in wanted.shape[1:]]
    number = np.float16 if "float16" in wanted.type else np.float32
    return planes.reshape([len(states), *row]).astype(number)


def output_names(network: Network, session: Any) -> list[str]:
    """Return the names of policy and value: as the spec says, by name, else by size."""
    names = [output.name for output in session.get_outputs()]
    wanted = [network.spec.policy_output or "policy", network.spec.value_output or "value"]
    return wanted if set(wanted) <= set(names) else names[:2]


def check_answers(network: Network, count: int = 16) -> None:
    """The engine's judgements are ONNX Runtime's outputs, decoded here once more, within 1e-4."""
    states = random_states(network.game, count, seed=1)
    policy, value = network.evaluator.evaluate(states)
    check("outputs are finite", bool(np.isfinite(policy).all() and np.isfinite(value).all()))
    session = open_session(network)
    planes = input_planes(network, session, states)
    raw_policy, raw_value = session.run(
        output_names(network, session), {session.get_inputs()[0].name: planes}
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
    """Return the value for the mover from a row of a value output."""
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
