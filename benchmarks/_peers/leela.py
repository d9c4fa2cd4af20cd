"""Leela Zero on the CPU, with the same network, 19x19 positions and visits."""

from __future__ import annotations

import importlib
import itertools
import os
import random
from pathlib import Path
from typing import Any

import numpy as np

import pyengine

from . import environment
from .environment import PeerError
from .gtp import LeelaZero
from .pairs import Timed, figures, timed
from .shared import Options, Report, check, in_turns, pace, thread_counts

#: Blocks, channels and visits of a search that takes Leela Zero a few seconds.
NETWORKS = ((5, 64, 800), (6, 96, 400), (10, 128, 200))
ASKED = 2.0
#: Moves before a position. In the middle game, no evaluation serves two symmetric positions.
PLIES = 100
QUICK_VISITS = 20


def program(install: bool) -> str:
    """Return the path of Leela Zero, from Debian's package if necessary. Raises PeerError."""
    names = ("leelaz", "leela-zero")
    found = environment.find_program(*names)
    apt = environment.find_program("apt-get")
    if found is None and install and apt is not None and _is_root():
        environment.say("installing Debian's package leela-zero ...")
        environment.command("leela-zero: apt-get update", [apt, "update", "-q"])
        environment.command("leela-zero: apt-get", [apt, "install", "-y", "-q", "leela-zero"])
        found = environment.find_program(*names)
    if found is None:
        raise PeerError("leela-zero: leelaz is not installed; as root: apt-get install leela-zero")
    return found


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def networks(folder: Path, blocks: int, channels: int) -> tuple[Path, Path]:
    """Return a random network as a Leela Zero file and as ONNX, creating them if necessary."""
    text = folder / "networks" / f"{blocks}x{channels}.txt"
    model = text.with_suffix(".onnx")
    if text.is_file() and model.is_file():
        return text, model
    try:
        conversion = importlib.import_module("pyengine.conversion")
        environment.say(f"creating a network of {blocks} blocks and {channels} channels ...")
        text.parent.mkdir(parents=True, exist_ok=True)
        weights = conversion.random_leela(blocks, channels)
        conversion.write_leela(weights, text)
        conversion.leela_to_onnx(weights, model)
    except (ImportError, pyengine.EngineError) as error:
        raise PeerError(f"leela-zero: no network of {blocks}x{channels}: {error}") from error
    return text, model


def position(game: pyengine.Game, seed: int, plies: int = PLIES) -> pyengine.State:
    """Return a middle-game position of random moves, determined by the seed."""
    chance = random.Random(seed)
    state = game.new_initial_state()
    for _ in range(plies):
        points = state.legal_actions()[:-1]  # no passes
        state.apply_action(chance.choice(points))
    return state


def moves(game: pyengine.Game, state: pyengine.State) -> list[str]:
    """Return the moves of a position in GTP notation."""
    replay = game.new_initial_state()
    words = []
    for action in state.history():
        words.append(replay.action_to_string(action))
        replay.apply_action(action)
    return words


def check_same_network(
    peer: LeelaZero, evaluator: pyengine.OnnxEvaluator, state: pyengine.State
) -> None:
    """Check that win rate and first choice agree for the same position and network."""
    theirs = peer.analyse()
    policy, value = evaluator.evaluate([state])
    winrate = (float(value[0]) + 1) / 2
    move = state.action_to_string(int(np.argmax(policy[0])))
    check(f"Leela Zero's win rate is {winrate:.4f}", abs(theirs.winrate - winrate) < 1e-3, theirs)
    check(f"Leela Zero's first choice is {move}", theirs.move == move, theirs)


def ours(
    evaluator: pyengine.OnnxEvaluator, state: pyengine.State, config: pyengine.SearchConfig
) -> Timed:
    """Search a position with a new engine and count the root's visits."""
    with pyengine.Engine("go", evaluator, config=config) as engine:
        found: list[pyengine.SearchResult] = []

        def call() -> int:
            found.append(engine.search(state))
            return int(found[0].visits.sum())

        took = timed(call)
    check("the engine makes as many simulations", found[0].simulations == config.simulations)
    check("the engine's visits add up", took.done == config.simulations, took.done)
    return took


def theirs(
    peer: LeelaZero,
    evaluator: pyengine.OnnxEvaluator,
    state: pyengine.State,
    config: pyengine.SearchConfig,
) -> Timed:
    """Search a position with Leela Zero, after checking that both evaluate it alike."""
    peer.set_position(moves(pyengine.load_game("go"), state))
    check_same_network(peer, evaluator, state)
    took = peer.search("bw"[state.current_player()])
    visits, most = config.simulations or 0, 2 * (config.threads or 1)
    check(f"Leela Zero makes {visits} visits", visits <= took.done <= visits + most, took.done)
    return took


def compare(
    peer: LeelaZero, model: Path, threads: int, visits: int, options: Options
) -> dict[str, Any]:
    """Return a row. Each round has a new position, because Leela Zero caches evaluations."""
    game = pyengine.load_game("go")
    config = pyengine.SearchConfig(simulations=visits, threads=threads)
    evaluator = pyengine.OnnxEvaluator(model, providers=["CPUExecutionProvider"])
    for_them, for_us = itertools.count(1), itertools.count(1)  # seeds
    found = in_turns(
        pace(options, options.seconds),
        lambda: theirs(peer, evaluator, position(game, next(for_them)), config),
        lambda: ours(evaluator, position(game, next(for_us)), config),
    )
    them, us = zip(*found, strict=True)
    return figures(them, us, None if options.quick else ASKED)


def run(report: Report, options: Options, folder: Path) -> None:
    """Compare with every network and thread count. A quick run compares one of each."""
    leelaz = program(not options.quick)
    report.notes.append(environment.version_of(leelaz).partition("  ")[0])
    sizes = NETWORKS[:1] if options.quick else NETWORKS
    for blocks, channels, visits in sizes:
        text, model = networks(folder, blocks, channels)
        count = QUICK_VISITS if options.quick else visits
        for threads in thread_counts()[: 1 if options.quick else None]:
            name = f"peers/go19/leela-zero-{blocks}x{channels}/visits={count},threads={threads}"
            environment.say(name)
            with report.row(name) as row, LeelaZero(leelaz, text, threads, count) as peer:
                row.update(compare(peer, model, threads, count, options))
