"""Make the bundled networks from nothing but this engine.

    python models/make_models.py --game connect4 --work build/models

Rounds of self-play and training, as models/recipes.py says; the first round searches with random
playouts alone. Everything on the way is kept under ``--work``: interrupted with Ctrl-C, the same
command goes on where it was. Needs the extra ``train``.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import manifest
import torch
from network import Network, train
from positions import load_shards, make_shards, seconds_of, shard_paths
from recipes import RECIPES, SPEC, Recipe
from strength import (
    Score,
    bare_policy,
    losses_to_anybody,
    match,
    random_player,
    searcher,
)
from to_onnx import export

import pyengine

HERE = Path(__file__).resolve().parent
SIMULATIONS = 100  # of both sides in the matches


def say(text: str) -> None:
    """Show progress; a text that begins with a carriage return replaces the line."""
    sys.stderr.write(text)
    sys.stderr.flush()


def evaluator_of(recipe: Recipe, number: int, work: Path) -> Any:
    """Return what the searches of a round judge with: playouts, later the last network as well."""
    round_ = recipe.rounds[number]
    rollout = pyengine.RolloutEvaluator(round_.rollouts)
    if round_.mix is None:
        return rollout
    network = pyengine.OnnxEvaluator(
        work / f"round{number - 1}.onnx", providers=["CPUExecutionProvider"], threads=1
    )
    return pyengine.MixedEvaluator(network, rollout, round_.mix) if round_.mix else network


def make(recipe: Recipe, work: Path, seed: int, minutes: float | None) -> Path:
    """Run the rounds that are not done yet and return the last one's ONNX file."""
    scale = (minutes or recipe.minutes) / recipe.minutes
    for number, round_ in enumerate(recipe.rounds):
        if (work / f"round{number}.json").exists():
            continue
        evaluator = evaluator_of(recipe, number, work)
        make_shards(recipe, number, evaluator, work, seed, scale * round_.minutes[0], say)
        learn(recipe, number, work, seed, scale * round_.minutes[1])
    return work / f"round{len(recipe.rounds) - 1}.onnx"


def learn(recipe: Recipe, number: int, work: Path, seed: int, minutes: float) -> None:
    """Train the network of a round on the positions so far, write it, and how it went."""
    round_, game = recipe.rounds[number], pyengine.load_game(recipe.game)
    shards = [shard_paths(work, earlier) for earlier in range(number + 1)]
    data = load_shards([path for paths in shards for path in paths])
    torch.manual_seed(seed)
    network = Network(
        data["planes"].shape[1],
        game.board_shape,
        game.num_distinct_actions(),
        round_.blocks,
        round_.channels,
    )
    say(f"round {number}: training on {len(data['policy'])} positions\n")
    epochs, seconds = train(
        network,
        data,
        epochs=round_.epochs,
        minutes=minutes,
        seed=seed + number,
        checkpoint=work / f"round{number}.pt",
        say=say,
    )
    path = work / f"round{number}.onnx"
    worst = export(network, game, SPEC, path)
    say(f"round {number}: {path.stat().st_size} bytes, ONNX within {worst:.1e} of PyTorch\n")
    done = {
        "positions": len(data["policy"]),
        "epochs": round(epochs, 1),
        "search_seconds": round(seconds_of(shards[number])),
        "training_seconds": round(seconds),
    }
    (work / f"round{number}.json").write_text(json.dumps(done))


def how_made(recipe: Recipe, work: Path, seed: int, minutes: float | None) -> dict[str, Any]:
    """Return the manifest's account of the rounds."""
    command = f"python models/make_models.py --game {recipe.name} --seed {seed}"
    if len(recipe.rounds) < len(RECIPES[recipe.name].rounds):
        command += f" --rounds {len(recipe.rounds)}"
    rounds = []
    for number, round_ in enumerate(recipe.rounds):
        settings = {
            name: value
            for name, value in asdict(round_).items()
            if value is not None and name not in ("minutes", "epochs", "shards", "games")
        }
        done = json.loads((work / f"round{number}.json").read_text())
        rounds.append({"network_before": round_.mix is not None, **settings, **done})
    return {
        "command": command if minutes is None else f"{command} --minutes {minutes:g}",
        "seed": seed,
        "torch": torch.__version__,
        "rounds": rounds,
    }


def how_strong(recipe: Recipe, path: Path, games: int, seed: int) -> dict[str, Any]:
    """Play the matches of the manifest."""
    game = pyengine.load_game(recipe.game)
    network = pyengine.OnnxEvaluator(path, providers=["CPUExecutionProvider"], threads=1)
    player = searcher(game, network, SIMULATIONS, seed)
    found: dict[str, Any] = {"simulations": SIMULATIONS, "games": games}
    opponents = {
        "rollout": searcher(game, "rollout", SIMULATIONS, seed + 1),
        "rollout_10x": searcher(game, "rollout", 10 * SIMULATIONS, seed + 1),
    }
    for name, opponent in opponents.items():
        found[name] = _row(match(game, player, opponent, games=games, seed=seed))
        say(f"against {name}: {found[name]}\n")
    bare = match(game, bare_policy(network), random_player(seed), games=games, seed=seed)
    found["bare_policy_against_random"] = _row(bare)
    say(f"bare policy against random: {found['bare_policy_against_random']}\n")
    if recipe.name == "tic_tac_toe":
        players = {"search": searcher(game, network, 50, seed), "bare_policy": bare_policy(network)}
        for name, player in players.items():
            lines, lost = losses_to_anybody(game, player)
            found[f"{name}_against_every_line"] = {"lines": lines, "losses": lost}
            say(f"{name} against every line of play: {lost} of {lines} lost\n")
        found["search_against_every_line"]["simulations"] = 50
    return found


def _row(score: Score) -> dict[str, Any]:
    mean, error = round(score.score, 3), score.error
    return {
        "wins": score.wins,
        "draws": score.draws,
        "losses": score.losses,
        "score": mean,
        "interval": [round(max(0.0, mean - error), 3), round(min(1.0, mean + error), 3)],
    }


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Make the bundled networks.")
    parser.add_argument("--game", choices=[*RECIPES, "all"], default="all", help="network to make")
    parser.add_argument("--minutes", type=float, help="most minutes a network (default: recipe's)")
    parser.add_argument("--rounds", type=int, help="stop after so many rounds (default: recipe's)")
    parser.add_argument("--seed", type=int, default=1, help="of games, weights, order (default 1)")
    parser.add_argument("--work", type=Path, default=Path("build/models"), help="kept on the way")
    parser.add_argument("--out", type=Path, default=HERE, help="for NAME.onnx and manifest.toml")
    parser.add_argument("--games", type=int, default=400, help="of each match (default 400)")
    args = parser.parse_args()
    if args.minutes is not None and not args.minutes > 0:
        parser.error(f"--minutes: expected a number > 0, found {args.minutes:g}")
    if args.rounds is not None and args.rounds < 1:
        parser.error(f"--rounds: expected at least 1, found {args.rounds}")
    torch.set_num_threads(1)
    names = list(RECIPES) if args.game == "all" else [args.game]
    try:
        for name in names:
            recipe = RECIPES[name]
            bundle(replace(recipe, rounds=recipe.rounds[: args.rounds]), args)
    except KeyboardInterrupt:
        say("\nstopped; the same command goes on from here\n")
        return 130
    return 0


def bundle(recipe: Recipe, args: argparse.Namespace) -> None:
    """Make a network, copy it to its place and describe it in the manifest."""
    work = args.work / f"{recipe.name}-{args.seed}"
    say(f"{recipe.name}: {recipe.game}, work in {work}\n")
    made = make(recipe, work, args.seed, args.minutes)
    path = args.out / f"{recipe.name}.onnx"
    path.write_bytes(made.read_bytes())
    entry = {"game": recipe.game, **manifest.describe(path)}
    entry["made"] = how_made(recipe, work, args.seed, args.minutes)
    entry["strength"] = how_strong(recipe, path, args.games, args.seed)
    manifest.update(args.out / "manifest.toml", recipe.name, entry)


if __name__ == "__main__":
    sys.exit(main())
