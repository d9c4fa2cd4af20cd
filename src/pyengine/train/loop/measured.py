"""Measurements before a quick run: facts about the game, and the speed of this machine."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from statistics import fmean

import torch  # noqa: TID253  # imported only where the extra is needed

from pyengine.data.layout import Layout
from pyengine.errors import EngineError
from pyengine.eval.evaluators import as_evaluator
from pyengine.eval.spec import ModelSpec, planes_shape
from pyengine.games.game import Game, load_game
from pyengine.selfplay import SelfPlayer
from pyengine.train.loop.quick import GameFacts, Rates, quick_run, run_name
from pyengine.train.loop.run_configs import RunConfig
from pyengine.train.loop.runfile import RunFile
from pyengine.train.network import Network, new_network
from pyengine.train.onnx_export import export
from pyengine.train.point_actions import point_actions

_PLANES = (  # of a board, and of one on which pieces move
    ("own[0]", "opp[0]", "legal", "first_to_move", "ones"),
    ("own[0]", "opp[0]", "first_to_move", "ones"),
)
_RANDOM_GAMES = 20
_SECONDS = 1.5  # of each measurement
_GAIN = 1.1  # of bfloat16 over float32, above which the learner uses it
_UNKNOWN = Rates(playouts=1e4, simulations=1e4, samples=1e4)


def measured_run(name: str, minutes: float) -> str:
    """Return the run file that fits a game, some minutes and this machine, in a few seconds."""
    RunConfig(minutes=minutes)  # refuses wrong ones
    facts = game_facts(load_game(name), name)
    rates = rates_of(RunFile.from_toml(quick_run(minutes, facts, _UNKNOWN)))
    return quick_run(minutes, facts, rates)


def game_facts(game: Game, name: str) -> GameFacts:
    """Return the facts about a game that was loaded by a name."""
    rng = random.Random(0)
    divided = point_actions(game.board_shape, game.num_distinct_actions())
    symmetric = game.num_symmetries > 1 and divided is not None and divided.per_point == 1
    return GameFacts(
        name=name,
        title=run_name(game.name),
        planes=_planes(game),
        grid=symmetric or (game.has_board and divided is not None),
        plies=fmean(_random_plies(game, rng) for _ in range(_RANDOM_GAMES)),
    )


def _planes(game: Game) -> tuple[str, ...]:
    """Return the planes of the board, or a user's own."""
    for planes in _PLANES:
        try:
            Layout.of(game, ModelSpec(planes=planes))
        except EngineError:
            continue
        return planes
    return ("observation",)


def _random_plies(game: Game, rng: random.Random) -> int:
    """Return the length of a random game."""
    state, plies = game.new_initial_state(), 0
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        plies += 1
    return plies


def rates_of(run: RunFile) -> Rates:
    """Return what one core does in a second with the settings of a run."""
    game = run.games[0]
    planes, *board = planes_shape(game, run.spec)
    shape = (board[0], board[1])
    network = new_network(run.train, planes, shape, game.num_distinct_actions())
    network.to(memory_format=torch.channels_last)
    batch = (run.train.learner.batch_size, planes, *shape)
    samples = {half: _samples(network, batch, half=half) for half in (False, True)}
    half = samples[True] > _GAIN * samples[False]
    with tempfile.TemporaryDirectory(prefix="pyengine-") as folder:
        path = Path(folder) / "untrained.onnx"
        export(network, run.games, run.spec, path)
        simulations = _simulations(run, str(path))
    return Rates(
        playouts=_simulations(run, "rollout"),
        simulations=simulations,
        samples=samples[half],
        precision="bfloat16" if half else "float32",
    )


def _simulations(run: RunFile, evaluator: str) -> float:
    """Return the simulations a second of self-play with an evaluator."""
    config = run.selfplay_config(0)
    player = SelfPlayer(run.games[0], as_evaluator(evaluator), config, spec=run.spec)
    end = time.monotonic() + _SECONDS
    player.run(1 << 40, lambda games: [*games, time.monotonic() < end][-1])
    return player.report().per_second("simulations")


def _samples(network: Network, shape: tuple[int, ...], *, half: bool) -> float:
    """Return how many positions a second one thread trains on, in batches of a shape."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    network.half = half
    try:
        network.train()
        planes = torch.rand(*shape).contiguous(memory_format=torch.channels_last)
        _step(network, planes)  # allocates memory
        steps, begin = 0, time.monotonic()
        while (seconds := time.monotonic() - begin) < _SECONDS:
            _step(network, planes)
            steps += 1
    finally:
        torch.set_num_threads(threads)
        network.half = False
    return shape[0] * steps / seconds


def _step(network: Network, planes: torch.Tensor) -> None:
    outputs = network(planes)
    torch.stack([output.mean() for output in outputs if output is not None]).sum().backward()
