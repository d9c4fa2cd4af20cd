"""Measurements of the suite ``gpu``, each kind in a separate process.

A process yields ``{"begin": name}`` before each row and then the row, so that a crash or a timeout
costs only one row.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pyengine
from pyengine import OnnxEvaluator, SearchConfig, _core
from pyengine.base import machine
from pyengine.eval import Evaluator, runtime
from pyengine.eval.spec import spec_of_model
from pyengine.selfplay import SelfPlayer

if TYPE_CHECKING or __package__:
    from . import fresh, gpu_bare, networks, nvidia, saturation, selfplay
    from .common import check, reason_of
    from .gpu_plan import settings_of
    from .intervals import counted, median, median_columns
    from .pairs import Pace, in_turns
else:  # run as a script
    import fresh
    import gpu_bare
    import networks
    import nvidia
    import saturation
    from common import check, reason_of
    from gpu_plan import settings_of
    from intervals import counted, median, median_columns
    from pairs import Pace, in_turns

    import selfplay

MIB = 1 << 20
_MEMORY = 4 << 30  # memory cap of the trees, on a machine with at least four times as much
_POLL = 3e-4  # seconds between two polls of a counter
_LONGEST = 600.0  # upper limit in seconds for a search that is stopped much earlier
_SLICE_SHARE = 0.15  # minimum time of a slice, as a fraction of the time per row
_SLICE = 2.0  # maximum time of a slice in seconds


@dataclass(frozen=True)
class Place:
    """A network on a device, and the measurement time.

    Attributes:
        provider: "cuda", or "cpu" called as a device is.
        precision: "float32" or "float16".
        file, reference, one_size: the network, its float32 version, and its version for the
            largest batch size only.
        game: the game as text.
        seconds: approximate time per row.
        slices, slice_batches: see ``gpu_plan.Grid``.
    """

    provider: str
    precision: str
    file: str
    reference: str
    one_size: str
    game: str
    seconds: float
    slices: int
    slice_batches: int

    @property
    def slice_seconds(self) -> float:
        """The minimum time of a slice."""
        return _SLICE_SHARE * self.seconds

    def open(self, file: str | None = None, *, graphs: bool = False) -> Evaluator:
        """Open this network or another file on the device, optionally with CUDA graphs."""
        path = Path(file or self.file)
        if self.provider == "cuda":
            options = {"enable_cuda_graph": "1"} if graphs else {}
            return OnnxEvaluator(path, providers=[("cuda", options)])
        model = _core.open_onnx(
            path,
            library=runtime.find_library(),
            providers=[("cpu", {})],
            device_id=0,
            max_batch=0,
            threads=0,
            as_device=True,
            graphs="working" if graphs else "",
        )
        spec = spec_of_model(model, path, None)
        return Evaluator(_core.onnx_evaluator([model], spec), spec)

    def used_bytes(self) -> int | None:
        """Return the bytes in use on the device, or None if unknown."""
        if self.provider == "cuda":
            return nvidia.used_bytes()
        return fresh.resident() if fresh.knows_memory() else None

    @contextmanager
    def watched(self, figures: dict[str, Any]) -> Iterator[None]:
        """Record the GPU utilisation during the block, or None if unknown."""
        if self.provider != "cuda":
            yield
            figures["gpu %"] = None
            return
        with nvidia.watched() as utilisation:
            yield
        figures["gpu %"] = utilisation.percent


def bare(place: Place) -> Callable[..., dict[str, Any]]:
    """Measure ONNX Runtime without the engine."""
    network = networks.Candidate(Path(place.file), place.game).open()
    settings = settings_of(place.provider, place.precision)

    def measure(batch: int) -> dict[str, Any]:
        return gpu_bare.measure(network, place.provider, settings, batch, place.slice_seconds)

    return measure


def search(place: Place) -> Callable[..., dict[str, Any]]:
    """Measure rows per second in a search of one tree or of many trees concurrently."""
    evaluator, game = place.open(), pyengine.load_game(place.game)

    def measure(
        trees: int,
        batch: int,
        threads: int,
        bare: float | None,
        same: float | None,
        settings: str | None,
    ) -> dict[str, Any]:
        length = max(place.slice_seconds, place.slice_batches * batch / (bare or 1e9))
        with _engine(game, evaluator, trees, batch, threads) as engine:
            figures: dict[str, Any] = {}
            with place.watched(figures):
                marks = _search(engine, trees, place.slices, min(length, _SLICE))
        return _figures(marks, threads, bare, same) | figures | {"bare settings": settings}

    return measure


def graphs(place: Place) -> Callable[..., dict[str, Any]]:
    """Measure rows per second in a search with and without CUDA graphs, alternately."""
    game = pyengine.load_game(place.game)
    evaluators = {title: place.open(graphs=title == "with") for title in ("without", "with")}

    def measure(trees: int, batch: int, threads: int) -> dict[str, Any]:
        def rate(title: str) -> float:
            with _engine(game, evaluators[title], trees, batch, threads) as engine:
                marks = _search(engine, trees, slices, min(place.slice_seconds, _SLICE))
                providers[title] = engine.stats()["provider"]
            return float(_figures(marks, threads, None, None)["rows/s"])

        slices = max(1, place.slices // 2)  # each round has two measurements
        providers: dict[str, str] = {}
        rounds = in_turns(Pace(0.0, 2, 2), lambda: rate("without"), lambda: rate("with"))
        without, with_graphs = (median(list(rates)) for rates in zip(*rounds, strict=True))
        return {
            "ratio": median([b / a for a, b in rounds]),
            "rows/s": with_graphs,
            "without": without,
            "provider": providers["with"],
        }

    return measure


def _engine(
    game: pyengine.Game, evaluator: Evaluator, trees: int, batch: int, threads: int
) -> pyengine.Engine:
    """Return an engine that has opened all batch sizes."""
    config = SearchConfig(
        batch_size=batch,
        in_flight=in_flight_of(trees, batch),
        threads=threads,
        cache_entries=0,
        memory_limit=_memory(),
    )
    engine = pyengine.Engine(game, evaluator, config=config)
    engine.search_many(saturation.openings(game, 1), simulations=1)
    return engine


def _search(engine: pyengine.Engine, trees: int, slices: int, length: float) -> list[Mark]:
    """Search the trees until enough slices of that length have passed. Return the marks."""
    states = saturation.openings(engine.game, trees)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.search_many, states, seconds=_LONGEST)
        try:
            marks = _marks(engine, running, slices, length)
        finally:
            engine.stop()
    for result in running.result():
        saturation.check_result(result)
    return marks


def in_flight_of(trees: int, batch: int) -> int:
    """Return leaves in flight per tree: four batches for one tree, eight in total for many."""
    return 4 * batch if trees == 1 else max(16, 8 * batch // trees)


def _memory() -> int:
    there = machine.memory_bytes()
    return min(_MEMORY, there // 4) if there else _MEMORY


@dataclass(frozen=True)
class Mark:
    """The counters of an engine right after a batch."""

    at: float
    stats: dict[str, Any]


def _marks(engine: pyengine.Engine, running: Future[Any], slices: int, length: float) -> list[Mark]:
    """Return the marks between slices of a search. The warm-up before the first is not counted."""
    marks: list[Mark] = []
    begun = time.perf_counter()
    for number in range(1, slices + 2):
        while time.perf_counter() < begun + number * length and not running.done():
            time.sleep(_POLL)
        marks.append(_mark(engine, running))
        begun += max(0.0, marks[-1].at - (begun + number * length))  # a batch took longer
    return marks


def _mark(engine: pyengine.Engine, running: Future[Any]) -> Mark:
    """Wait for the next batch, so that slices contain whole batches."""
    before = engine.stats()["evaluations"]
    while not running.done():
        stats = engine.stats()
        if stats["evaluations"] > before:
            return Mark(time.perf_counter(), stats)
        time.sleep(_POLL)
    running.result()  # raises the error that ended the search
    check("the search goes on until it is stopped", False)
    raise AssertionError


def _figures(
    marks: list[Mark], threads: int, bare: float | None, same: float | None
) -> dict[str, Any]:
    rates = [
        (b.stats["evaluations"] - a.stats["evaluations"]) / (b.at - a.at)
        for a, b in itertools.pairwise(marks)
    ]
    first, last = marks[0], marks[-1]

    def between(counter: str) -> float:
        return float(last.stats[counter] - first.stats[counter])

    rows = between("evaluations")
    ratio = median_columns("ratio", [rate / bare for rate in rates]) if bare else {}
    return {
        **ratio,
        "of engine's": median(rates) / same if same else None,
        "rows/s": median(rates),
        "fill": rows / max(1.0, between("batches")),
        "padding": between("padding") / (rows + between("padding")),
        "waiting": between("waiting_seconds") / (threads * (last.at - first.at)),
    }


def latency(place: Place) -> Callable[..., dict[str, Any]]:
    """Measure the time of a search of one tree that starts from scratch."""
    evaluator, game = place.open(), pyengine.load_game(place.game)
    state = game.new_initial_state()

    def measure(batch: int, simulations: int) -> dict[str, Any]:
        times = []
        with pyengine.Engine(game, evaluator, batch_size=batch, cache_entries=0) as engine:
            for _ in range(place.slices + 1):
                engine.clear()
                begun = time.perf_counter()
                result = engine.search(state, simulations=simulations)
                times.append(1e3 * (time.perf_counter() - begun))
                saturation.check_result(result)
        return median_columns("ms", times[1:])

    return measure


def self_play(place: Place) -> Callable[..., dict[str, Any]]:
    """Measure self-play, assuming one row per simulation and one move per point of the board.

    Few games, if any, finish in the time.
    """
    evaluator, game = place.open(), pyengine.load_game(place.game)

    def measure(batch: int, bare: float | None) -> dict[str, Any]:
        config = selfplay.config_for(game, batch, machine.cores())
        player = SelfPlayer(game, evaluator, config)
        selfplay.play_for(player, place.seconds / 4)
        figures: dict[str, Any] = {}
        with place.watched(figures):
            turn = selfplay.play_for(player, 2 * place.seconds)
        rate = turn.rate.wall
        moves = rate / selfplay.SIMULATIONS
        return {
            "ratio": rate / bare if bare else None,
            "rows/s": rate,
            "fill": turn.rows / max(1, turn.batches),
            "moves/s": moves,
            "games/s": moves / int(np.prod(game.board_shape)),
            **figures,
        }

    return measure


def opening(place: Place) -> Callable[..., dict[str, Any]]:
    """Measure the time until a network on an initialized device answers at all batch sizes."""
    game = pyengine.load_game(place.game)
    state = game.new_initial_state()

    def once(batch: int) -> float:
        begun = time.perf_counter()
        with pyengine.Engine(game, place.open(), batch_size=batch) as engine:
            engine.search(state, simulations=1)
        return 1e3 * (time.perf_counter() - begun)

    def measure(batch: int) -> dict[str, Any]:
        first = once(batch)
        return {
            **median_columns("ms", [once(batch) for _ in range(place.slices)]),
            "first ms": first,
        }

    return measure


def memory(place: Place) -> Callable[..., dict[str, Any]]:
    """Measure the memory for all batch sizes and for the largest alone."""
    game = pyengine.load_game(place.game)
    state = game.new_initial_state()

    def grown(held: ExitStack, file: str, batch: int) -> float | None:
        gc.collect()
        before = place.used_bytes()
        engine = held.enter_context(pyengine.Engine(game, place.open(file), batch_size=batch))
        engine.search(state, simulations=1)
        after = place.used_bytes()
        return None if before is None or after is None else (after - before) / MIB

    def measure(batch: int) -> dict[str, Any]:
        with ExitStack() as held:  # all stay open, or freed memory would be reused by the next
            grown(held, place.one_size, batch)  # initializes the device and its libraries
            one = grown(held, place.one_size, batch)
            everything = grown(held, place.file, batch)
        weights = Path(place.file).stat().st_size / MIB
        if one is None or everything is None:
            return {"MiB of weights": weights}
        times = 1 + (everything - one) / weights
        return {
            "x weights": times,
            **counted(times).columns(),
            "MiB": everything,
            "MiB of one size": one,
            "MiB of weights": weights,
        }

    return measure


def parity(place: Place) -> Callable[..., dict[str, Any]]:
    """Compare the device's answers with those of the float32 network on the CPU."""
    game = pyengine.load_game(place.game)
    device = place.open()
    cpu = OnnxEvaluator(place.reference, providers=["cpu"], threads=machine.cores())

    def measure(positions: int) -> dict[str, Any]:
        states = networks.random_states(game, positions, seed=1)
        policy, value = device.evaluate(states, batch_size=positions)
        right_policy, right_value = cpu.evaluate(states)
        check("outputs are finite", bool(np.isfinite(policy).all() and np.isfinite(value).all()))
        off_policy = float(np.abs(policy - right_policy).max())
        off_value = float(np.abs(value - right_value).max())
        off = max(off_policy, off_value)
        return {
            "off": off,
            **counted(off).columns(),
            "off policy": off_policy,
            "off value": off_value,
            "same first %": 100 * float(np.mean(policy.argmax(1) == right_policy.argmax(1))),
        }

    return measure


MEASURES: dict[str, Callable[[Place], Callable[..., dict[str, Any]]]] = {
    "bare": bare,
    "search": search,
    "graphs": graphs,
    "latency": latency,
    "selfplay": self_play,
    "opening": opening,
    "memory": memory,
    "parity": parity,
}


def rows(
    part: str, place: dict[str, Any], wanted: list[dict[str, Any]], left: float
) -> Iterator[dict[str, Any]]:
    """Measure the rows of a part. No row starts after ``left`` seconds.

    Stops after an error, which may have left the device's context unusable, so that the next row
    gets a new process.
    """
    end = time.monotonic() + left
    try:
        measure = MEASURES[part](Place(**place))
    except Exception as error:  # the other parts still run
        for row in wanted:
            yield {"begin": row["name"]}
            yield {"name": row["name"], "failed": reason_of(error)}
        return
    for row in wanted:
        if time.monotonic() > end:
            return
        name = row["name"]
        yield {"begin": name}
        try:
            figures = measure(**row["knobs"])
        except Exception as error:
            yield {"name": name, "failed": reason_of(error)}
            return
        asked = {} if row["asked"] is None else {"asked": row["asked"]}
        yield {"name": name, **asked, **figures}
        if gpu_bare.has_failed(figures):
            return


def device() -> Iterator[dict[str, Any]]:
    """Report whether CUDA works, and if not, why."""
    report = runtime.runtime_report()
    yield {"works": report.provider == runtime.CUDA, "reason": report.reason}


if __name__ == "__main__":
    fresh.answers({"rows": rows, "device": device})
