"""Settings that fit a run into a few minutes: :func:`quick_run`."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

_NETWORKS = ((20, 3, 32), (60, 4, 48), (math.inf, 4, 64))  # up to so many minutes: blocks, filters
_START_SECONDS = 10.0  # until the parts have imported PyTorch and play
_GAMES = 4_000  # of self-play that a run should have time for
_SIMULATIONS = (16, 128)  # range of a full search
_MOST_PLAYOUTS = 4  # of a full search before there is a network, per simulation afterwards
_REUSE = 1.3  # visits of a search, relative to its new simulations
_FULL, _FAST = 0.5, 0.25  # share of full searches, and simulations of the others relative to them
_BATCH = 128
_SAMPLES = (2.0, 8.0)  # range of samples per position
_CANDIDATES = 12  # in a run

_HEADS = {
    "convolutional": "",
    "alphago_zero": "policy_filters = 8\nvalue_filters = 4\nvalue_hidden = 64\n",
}

_TEMPLATE = """\
# {minutes:g} minutes, games of {plies:.0f} plies. A core of this machine does in a second:
# {rates.playouts:,.0f} simulations with playouts, {rates.simulations:,.0f} with the network,
# {rates.samples:,.0f} samples. Expected: {positions:,.0f} positions, {steps:,.0f} steps.
[run]
name = {title}
minutes = {minutes:g}

[game]
name = {name}
planes = {planes}

[network]
kind = "{kind}"
blocks = {blocks}
filters = {filters}
value = "wdl"
{heads}
[selfplay]
{first}
preset = "fast"
full_search_fraction = {full}
fast_simulations = {fast}
opening_random_moves = {opening}
temperature_moves = {sampled}
concurrent_games = 64
resign_threshold = "none"

[search]
simulations = {simulations}
threads = 1  # the learner uses the other core
batch_size = 64
in_flight = 1
cache_entries = 262144
symmetry = "none"

[train]
batch_size = {batch}
threads = 1
precision = "{rates.precision}"
checkpoint_steps = {every}

[train.optimiser]
kind = "adamw"
schedule = "cosine"
learning_rate = 2e-3
final_fraction = 0.1
total_steps = {steps:.0f}
weight_decay = 1e-3
warm_up = {warm_up}

[train.loss]
root_value_mix = 0.5

[train.average]
kind = "ema"
decay = 0.99

[window]
minimum_positions = {minimum}
start = {start}
samples_per_position = {samples:.2g}
full_only = false  # fast searches train the value

[gate]
mode = "latest"
every_steps = {every}
games = 20
simulations = 32
against = 3
threads = 1
batch_size = 32
"""


@dataclass(frozen=True, kw_only=True)
class GameFacts:
    """The properties of a game that determine the settings of a quick run."""

    name: str  #: in its text form
    title: str  #: of the run
    planes: tuple[str, ...]
    grid: bool  #: whether each action but a pass belongs to a point of the board
    plies: float  #: mean length of random games


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What one core of this machine does in a second."""

    playouts: float  #: simulations of self-play with random playouts
    simulations: float  #: simulations of self-play with the network
    samples: float  #: positions that the learner trains on
    precision: str = "float32"  #: of the learner, at this rate


def run_name(game: str) -> str:
    """Return the name of a quick run of a game."""
    return f"{game}-quick"


def quick_run(minutes: float, facts: GameFacts, rates: Rates) -> str:
    """Return the run file that makes use of so many minutes, as TOML.

    Self-play has one core and the learner another.
    """
    seconds = max(_START_SECONDS, 60 * minutes - _START_SECONDS)
    cost = (_FULL + (1 - _FULL) * _FAST) / _REUSE  # of a move, relative to a full search
    moves = rates.simulations * seconds / cost  # of searches with one simulation
    simulations = round(_clamp(moves / (_GAMES * facts.plies), _SIMULATIONS))
    positions = moves / simulations
    samples = _clamp(rates.samples * seconds / positions, _SAMPLES)
    steps = min(rates.samples * seconds, samples * positions) / _BATCH
    every = max(10, round(steps / _CANDIDATES))
    needed = _BATCH * every / samples  # positions for the first candidate
    blocks, filters = _network(minutes)
    kind = "convolutional" if facts.grid else "alphago_zero"
    return _TEMPLATE.format(
        minutes=minutes,
        rates=rates,
        plies=facts.plies,
        positions=positions,
        title=json.dumps(facts.title),
        name=json.dumps(facts.name),
        planes=json.dumps(list(facts.planes)),
        kind=kind,
        blocks=blocks,
        filters=filters,
        heads=_HEADS[kind],
        first=_first(simulations, samples, cost, rates),
        full=_FULL,
        simulations=simulations,
        fast=max(4, round(_FAST * simulations)),
        opening=max(1, round(facts.plies / 6)),
        sampled=max(1, round(facts.plies / 3)),
        batch=_BATCH,
        steps=max(1.0, steps),
        every=every,
        warm_up=min(100, every),
        minimum=max(1, round(needed / 2)),
        start=max(1, round(2 * needed)),
        samples=samples,
    )


def _network(minutes: float) -> tuple[int, int]:
    """Return the blocks and filters of the network that so many minutes can train."""
    return next((blocks, filters) for limit, blocks, filters in _NETWORKS if minutes <= limit)


def _first(simulations: int, samples: float, cost: float, rates: Rates) -> str:
    """Return who plays the first games: playouts, unless they are slower than a network.

    They search as long as the learner can use all their positions.
    """
    if rates.playouts < rates.simulations / 2:
        return 'first = "random"'
    fitting = rates.playouts * samples / (cost * rates.samples)
    most = round(_clamp(fitting, (simulations, _MOST_PLAYOUTS * simulations)))
    return f'first = "rollout"\nfirst_simulations = {most}'


def _clamp(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])
