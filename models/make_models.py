"""Train the bundled networks from random weights by self-play, training and gating.

    python models/make_models.py --game connect4
    python models/make_models.py --game connect4 --resume      # after Ctrl-C

Runs models/runs/NAME.toml, copies the final network to models/NAME.onnx, draws its learning curve,
measures the network against its targets (targets.py) and writes the results to
models/manifest.toml. Needs the extras ``train`` and ``plot``.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import manifest
import readme
from measure.context import ROOT, Context, Progress
from targets import NAMES, context_for, measurements

import pyengine
from pyengine.base import machine
from pyengine.train import RunFile, RunProgress, plot_curve, train_run
from pyengine.train.json_files import read_lines
from pyengine.train.loop.curve import rated
from pyengine.train.loop.rating import Rating
from pyengine.train.loop.state import Best, RunFolder

HERE = Path(__file__).resolve().parent
_MAIN_GAME = {"gomoku": "gomoku(board_size=9)"}  # the board of the demo, not the first one
_OUTPUTS = ("*.onnx", "curves", "manifest.toml", "README.md")  # written by this script
_CURVE_POINTS = 40  # maximum number of points in the manifest; the picture has all

say = Progress()


def show(progress: RunProgress) -> None:
    """Show the progress of the run."""
    best = "no network yet" if progress.best is None else f"Elo {progress.best.elo:+.0f}"
    say(
        f"{progress.seconds / 60:.1f} minutes: {progress.games:,} games, "
        f"{progress.positions:,} positions, step {progress.step:,}, {best}"
    )


def bundle(name: str, folder: RunFolder, out: Path) -> Path:
    """Copy the network of a run to ``out``, write its manifest entry, and return its file.

    Raises ConfigError if the run has no network, or settings other than models/runs/NAME.toml.
    """
    committed, run = RunFile.from_toml(run_file(name)), folder.run()
    committed.refuse_changes(run)
    if committed.train.optimiser != run.train.optimiser:  # a resumed run may change its rates
        rates = f"boundaries {run.train.optimiser.boundaries}, rates {run.train.optimiser.rates}"
        raise pyengine.ConfigError(f"expected the rates of {run_file(name)}, got {rates}")
    best = folder.best()
    if best is None or not best.is_network:
        raise pyengine.ConfigError(f"the run {folder.path} has no network")
    path = out / f"{name}.onnx"
    path.write_bytes((folder.models / best.name).read_bytes())
    games = folder.run().game.name
    main_game = _MAIN_GAME.get(name, games[0])
    entry = {"game": main_game, "games": list(games), **manifest.describe(path)}
    entry["made"] = how_made(name, folder, best)
    manifest.update(out / "manifest.toml", name, entry)
    (out / "curves").mkdir(parents=True, exist_ok=True)
    plot_curve(folder.path, out / "curves" / f"{name}.svg")
    return path


def how_made(name: str, folder: RunFolder, best: Best) -> dict[str, Any]:
    """Return the description of a run for the manifest."""
    run = folder.run()
    produced = [folder.produced(game) for game in run.game.name]
    events = [line["event"] for line in read_lines(folder.log / "run.jsonl")]
    fit = rated(folder)
    strength = fit.get(best.step)
    return {
        "command": f"python models/make_models.py --game {name}",
        "run": f"runs/{name}.toml",
        "seed": run.run.seed,
        "commit": commit(),
        "machine": f"{machine.cores()} cores of {machine.cpu_name()}",
        "seconds": round(folder.seconds()),
        "sittings": events.count("begins"),
        "games": sum(part.games for part in produced),
        "positions": sum(part.positions for part in produced),
        "step": best.step,
        "generation": best.generation,
        "elo_above_first": round(best.elo if strength is None else strength.elo),
        "curve": curve_points(folder, fit),
    }


def curve_points(folder: RunFolder, fit: Mapping[int, Rating | None]) -> list[list[int]]:
    """Return ``[self-play games, Elo above the first network]`` of the run's accepted networks.

    ``fit`` maps steps to ratings; networks without a rating are left out.
    """
    accepted = [line for line in read_lines(folder.curve) if line["accepted"]]
    points = [(line["games"], rating.elo) for line in accepted if (rating := fit.get(line["step"]))]
    stride = max(1, -(-len(points) // _CURVE_POINTS))
    thinned = points[::-1][::stride][::-1]  # includes the last point
    return [[int(games), round(elo)] for games, elo in thinned]


def commit() -> str:
    """Return the commit of this checkout, marked "-dirty" if code or run files have changes."""
    outputs = (f":(exclude)models/{name}" for name in _OUTPUTS)
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *outputs)
    return (_git("rev-parse", "--short", "HEAD") or "unknown") + ("-dirty" if changed else "")


def _git(*words: str) -> str:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def measured(name: str, model: Path, context: Context) -> bool:
    """Measure a network and write each result to the manifest beside it.

    Returns False if something could not be measured, such as a match with an absent third-party
    network.
    """
    file, complete = model.with_name("manifest.toml"), True
    rows: list[dict[str, Any]] = []
    for measure in measurements(name, model, context):
        try:
            finding = measure()
        except pyengine.EngineError as error:
            say("")
            print(f"{measure.name}: not measured: {error}", file=sys.stderr)
            complete = False
            continue
        say("")
        print(finding, flush=True)
        rows.append(finding.to_dict())
        manifest.update(file, name, {**manifest.read(file)[name], "targets": rows})
    return complete


def run_file(name: str) -> Path:
    """Return the run file of a network."""
    return HERE / "runs" / f"{name}.toml"


def main() -> int:
    """Run the command line; return the exit status."""
    names = [name for name in NAMES if run_file(name).exists()]
    parser = argparse.ArgumentParser(description="Train a bundled network and measure it.")
    parser.add_argument("--game", choices=names, required=True, help="network to train")
    parser.add_argument("--directory", type=Path, help="folder of the run (default runs/NAME)")
    parser.add_argument("--resume", action="store_true", help="resume the run in the folder")
    parser.add_argument(
        "--only-measure", action="store_true", help="use the run's network without training"
    )
    parser.add_argument(
        "--out", type=Path, default=HERE, help="folder of NAME.onnx and manifest.toml"
    )
    parser.add_argument("--threads", type=int, default=1, help="search threads (default 1)")
    args = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        parser.error("the learning curve needs matplotlib: pip install 'pyengine-search[plot]'")
    directory = args.directory or Path("runs") / args.game
    again = "--only-measure" if args.only_measure else "--resume"
    try:
        if not args.only_measure:
            train_run(run_file(args.game), directory, resume=args.resume, on_progress=show)
            say("")
            again = "--only-measure"
        model = bundle(args.game, RunFolder(directory), args.out)
        complete = measured(args.game, model, context_for(args.game, model, args.threads))
        readme.update(args.out)
    except KeyboardInterrupt:
        say("")
        print(f"stopped: run the same command with {again} to resume", file=sys.stderr)
        return 130
    except pyengine.EngineError as error:
        say("")
        print(error, file=sys.stderr)
        return 2
    return 0 if complete else 2


if __name__ == "__main__":
    sys.exit(main())
