"""Training data: speed of random batches and size on disk, compared with npz and Parquet."""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pyengine
from pyengine import ModelSpec, _core
from pyengine.data import Dataset, FinishedGame, ShardWriter
from pyengine.data.manifest import read_games

if TYPE_CHECKING or __package__:
    from . import common
    from .common import Options, Report, check
    from .intervals import counted, median, median_columns
    from .pairs import Rate, pace, samples
else:  # run as a script
    import common
    from common import Options, Report, check
    from intervals import counted, median, median_columns
    from pairs import Rate, pace, samples

NAME = "data"
DESCRIPTION = "positions per second in random batches of training data, and size on disk"

BATCH = 256
ROUNDS = 6
#: Visits per search, distributed over the moves as unevenly as in self-play with a network.
SIMULATIONS = 800
UNEVENNESS = 0.03
PLIES = 240  # plies per game
POSITIONS = 20_000

RATE = 20_000.0  # target in positions per second on one core
SMALLER = 8.0  # target: times smaller than float32 planes


def random_game(game: Any, spec: ModelSpec, number: int, rng: random.Random) -> FinishedGame:
    """Return a game of random moves with visit counts like those of a search."""
    state = game.new_initial_state()
    states = []
    for _ in range(PLIES):
        if state.is_terminal():
            break
        states.append(state.clone())
        state.apply_action(rng.choice(state.legal_actions()[:-1] or state.legal_actions()))
    n, actions = len(states), game.num_distinct_actions()
    draw = np.random.default_rng(rng.randrange(2**32))
    visits = draw.multinomial(SIMULATIONS, draw.dirichlet([UNEVENNESS] * actions, n))
    bits, fill, dense = _core.encode_planes(states, spec)
    winner = rng.choice((1.0, -1.0))
    moves = np.array(state.history(), np.uint16)
    return FinishedGame(
        number=number,
        returns=(winner, -winner),
        moves=moves,
        bits=bits,
        fill=fill,
        dense=dense,
        visits=visits.astype(np.uint16),
        root_value=draw.uniform(-1, 1, n).astype(np.float32),
        network_value=draw.uniform(-1, 1, n).astype(np.float32),
        ply=np.arange(n, dtype=np.uint16),
        action=moves,
        to_move=np.array([one.current_player() for one in states], np.uint8),
        full=np.ones(n, np.uint8),
    )


def make_shards(directory: Path, game: Any, spec: ModelSpec, positions: int) -> Path:
    """Write random games until the dataset has enough positions. Return its directory."""
    rng = random.Random(0)
    with ShardWriter(directory, game, spec, seconds=1e9) as writer:
        while writer.positions < positions:
            writer.add(random_game(game, spec, writer.games, rng))
    return directory


def check_rows(dataset: Dataset, directory: Path, game: Any, spec: ModelSpec) -> None:
    """Compare the rows of the first game with the encoder's output for its moves."""
    moves = read_games(directory / "shard-000000.games.jsonl")[0].moves
    for ply in range(0, len(moves), 10):
        row = dataset[ply]
        tensor = game.new_initial_state(moves[:ply]).observation_tensor(spec)
        check("a row has the planes of its position", np.array_equal(row["planes"], tensor), ply)
        total = float(row["policy"].sum())
        check("a policy sums to 1", abs(total - 1) < 1e-5, total)


def check_columns(dataset: Dataset, columns: dict[str, Any]) -> None:
    """Compare the first rows of a file with the dataset's rows."""
    for number in range(3):
        for name, value in dataset[number].items():
            same = np.array_equal(columns[name][number].ravel(), np.ravel(value))
            check(f"the file has the same {name}", same, number)


def shard_batches(dataset: Dataset, augment: bool) -> Iterator[int]:
    """Yield the sizes of random batches drawn from all shards."""
    rng = np.random.default_rng(0)
    while True:
        yield len(dataset.sample(BATCH, rng, augment)["value"])


def file_batches(files: list[Path], load: Callable[[Path], Any]) -> Iterator[int]:
    """Yield the sizes of batches shuffled within one file, because each file is read as a whole."""
    rng = np.random.default_rng(0)
    while True:
        for file in files:
            columns = load(file)
            order = rng.permutation(len(columns["value"]))
            for begin in range(0, len(order), BATCH):
                chosen = order[begin : begin + BATCH]
                batch = {name: values[chosen] for name, values in columns.items()}
                yield len(batch["value"])


def load_npz(file: Path) -> dict[str, Any]:
    """Return the columns of an npz file."""
    with np.load(file) as columns:
        return dict(columns)


def load_parquet(file: Path) -> dict[str, Any]:
    """Return the columns of a Parquet file. Rows of planes and policies are flat."""
    table = importlib.import_module("pyarrow.parquet").read_table(file).combine_chunks()
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        lists = name in ("planes", "policy")
        flat = (column.flatten() if lists else column).to_numpy(zero_copy_only=False)
        columns[name] = flat.reshape(len(column), -1) if lists else flat
    return columns


def rates(batches: Iterator[int], options: Options) -> dict[str, float]:
    """Return median positions per second, by wall-clock time and by processor time."""
    seconds = 0.02 if options.quick else options.seconds / ROUNDS
    next(batches)

    def once() -> Rate:
        begun, used = time.perf_counter(), time.process_time()
        total = next(batches)
        while time.perf_counter() - begun < seconds:
            total += next(batches)
        return Rate(total / (time.perf_counter() - begun), total / (time.process_time() - used))

    found = samples(pace(options, least=ROUNDS), once)
    return {
        **median_columns("positions/s", [rate.wall for rate in found]),
        "cpu positions/s": median([rate.cpu for rate in found]),
    }


def sizes(files: list[Path], dataset: Dataset) -> dict[str, float]:
    """Return bytes per position and the size ratio of its float32 planes to those bytes."""
    each = sum(file.stat().st_size for file in files) / len(dataset)
    return {"smaller": dataset[0]["planes"].nbytes / each, "bytes/position": each}


def save_npz(directory: Path, dataset: Dataset, rows: int) -> list[Path]:
    """Write the dataset as uncompressed npz files with the given number of rows per file."""
    directory.mkdir()
    files = []
    for batch in dataset.batches(rows, shuffle=False, augment=False):
        files.append(directory / f"{len(files)}.npz")
        np.savez(files[-1], **batch)
    return files


def measure_shards(report: Report, data: Path, dataset: Dataset, options: Options) -> None:
    """Measure the shards, which have targets."""
    game = dataset.layout.load_game()
    files = sorted([*data.glob("shard-*"), data / "manifest.json"])
    for augment in (True, False):
        with report.row(f"data/go19/shards/batch={BATCH},augment={augment}") as row:
            check_rows(dataset, data, game, dataset.spec)
            if augment:
                row["asked"] = RATE
            row.update(rates(shard_batches(dataset, augment), options))
    with report.row("data/go19/shards/size") as row:
        row["asked"] = SMALLER
        found = sizes(files, dataset)
        row.update(found | counted(found["smaller"]).columns())


def measure_files(report: Report, data: Path, dataset: Dataset, options: Options) -> None:
    """Measure the other formats, for comparison."""
    rows = min(4096, len(dataset))
    makers: dict[str, Callable[[], list[Path]]] = {
        "npz": lambda: save_npz(data.with_name("plain"), dataset, rows),
        "npz compressed": lambda: pyengine.convert(data, "npz", on_progress=lambda *_: None),
    }
    if importlib.util.find_spec("pyarrow"):
        makers["parquet"] = lambda: pyengine.convert(data, "parquet", on_progress=lambda *_: None)
    else:
        report.notes.append("no Parquet: pyarrow is not installed (extra `parquet`)")
    for name, make in makers.items():
        with report.row(f"data/go19/{name}/batch={BATCH},augment=False") as row:
            files = make()
            load = load_parquet if name == "parquet" else load_npz
            check_columns(dataset, load(files[0]))
            row.update(rates(file_batches(files, load), options))
            row.update(sizes(files, dataset))


def run(report: Report, options: Options) -> None:
    """Measure the shards, then the files they are converted to."""
    game, spec = pyengine.load_game("go"), ModelSpec.alphago_zero()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        make_shards(data, game, spec, 300 if options.quick else POSITIONS)
        dataset = Dataset(data)
        measure_shards(report, data, dataset, options)
        measure_files(report, data, dataset, options)
    report.notes.append(
        f"Go 19x19 with AlphaGo Zero's 17 planes, {len(dataset):,} positions, one thread; shards:"
        " random rows of all shards; npz and Parquet: each file read as a whole, then shuffled;"
        " smaller: ratio of the planes as float32 to the file; npz and Parquet store float32 planes"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
