"""Plan of the suite ``gpu``: measurements, targets, and advice for rows that miss them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyengine.base import machine

if TYPE_CHECKING or __package__:
    from .bars import bar_of
else:  # run as a script
    from bars import bar_of

#: Number of simulations in the latency measurement.
SIMULATIONS = 1600
#: Targets for one tree at a batch of 64, and for many trees at batches of 8 and more.
ONE_TREE_ASKED, MANY_TREES_ASKED = 0.85, 0.95
ONE_TREE_BATCH, LEAST_BATCH = 64, 8
#: At larger batches the kernels run longer than their launches, which is what CUDA graphs save.
MOST_GRAPH_BATCH = 256
#: Targets for AlphaGo Zero's network: 1,600 simulations, opening, memory as a multiple of the
#: weights.
LATENCY_ASKED, OPENING_ASKED, MEMORY_ASKED = 150.0, 2000.0, 2.0
#: Largest allowed difference of a probability or value from the CPU's, by precision. TensorFloat-32
#: keeps 10 bits of each factor.
PARITY_ASKED = {"float32": 5e-3, "float16": 2e-2}

#: Named settings of ONNX Runtime's CUDA provider. The last one fails if the network cannot be
#: captured in a CUDA graph.
CUDA_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "engine": {"cudnn_conv_algo_search": "HEURISTIC", "prefer_nhwc": "1"},
    "heuristic": {"cudnn_conv_algo_search": "HEURISTIC", "prefer_nhwc": "0"},
    "exhaustive": {"cudnn_conv_algo_search": "EXHAUSTIVE", "prefer_nhwc": "0"},
    "exhaustive,nhwc": {"cudnn_conv_algo_search": "EXHAUSTIVE", "prefer_nhwc": "1"},
    "default": {"cudnn_conv_algo_search": "DEFAULT", "prefer_nhwc": "0"},
    "no tf32": {"cudnn_conv_algo_search": "HEURISTIC", "prefer_nhwc": "1", "use_tf32": "0"},
    "graph": {
        "cudnn_conv_algo_search": "HEURISTIC",
        "prefer_nhwc": "1",
        "enable_cuda_graph": "1",
    },
}
#: The engine's default setting. The CPU has no settings.
ENGINE = "engine"
GRAPH = "graph"


@dataclass(frozen=True)
class Subject:
    """A network of random weights.

    Attributes:
        blocks, channels, board: size of a tower like Leela Zero's, and of the Go board.
        full_size: whether the targets for AlphaGo Zero's network apply.
    """

    blocks: int
    channels: int
    board: int
    full_size: bool = False

    @property
    def name(self) -> str:
        """Blocks and filters."""
        return f"{self.blocks}x{self.channels}"

    @property
    def game(self) -> str:
        """The game as text."""
        return f"go(board_size={self.board})"


@dataclass(frozen=True)
class Grid:
    """Measurements for each network.

    Attributes:
        subjects: the networks.
        batches: batch sizes.
        trees: numbers of concurrent trees, with the batch size for comparing thread counts.
        latency_batches: batch sizes of the latency measurement.
        simulations: simulations of the latency measurement.
        selfplay_batch: batch size in self-play.
        positions: number of positions compared with the CPU.
        slices: slices of a search, each of which gives a rate.
        slice_batches: minimum number of batches in a slice.
        share: fraction of the time per row in the options.
    """

    subjects: tuple[Subject, ...]
    batches: tuple[int, ...]
    trees: Mapping[int, int]
    latency_batches: tuple[int, ...]
    simulations: int
    selfplay_batch: int
    positions: int
    slices: int
    slice_batches: int
    share: float


FULL = Grid(
    subjects=(Subject(3, 48, 9), Subject(6, 96, 19), Subject(20, 256, 19, full_size=True)),
    batches=(1, 8, 16, 64, 256, 1024),
    trees={1: 64, 64: 256, 512: 1024},
    latency_batches=(16, 32, 64),
    simulations=SIMULATIONS,
    selfplay_batch=256,
    positions=64,
    slices=6,
    slice_batches=12,
    share=1.0,
)
QUICK = Grid(
    subjects=(Subject(1, 8, 9),),
    batches=(1, 8),
    trees={1: 8, 16: 8},
    latency_batches=(8,),
    simulations=40,
    selfplay_batch=8,
    positions=8,
    slices=2,
    slice_batches=2,
    share=0.1,
)


@dataclass(frozen=True)
class Wanted:
    """A row to measure.

    Attributes:
        name: name of the row.
        knobs: arguments of its measurement.
        asked: target for its figure. None = for comparison only.
    """

    name: str
    knobs: Mapping[str, Any] = field(default_factory=dict)
    asked: float | None = None


@dataclass(frozen=True)
class Column:
    """A network in one precision, and the rows to measure on it."""

    subject: Subject
    precision: str
    grid: Grid

    @property
    def title(self) -> str:
        """Prefix of the row names."""
        return f"gpu/go{self.subject.board}/{self.subject.name},{self.precision}"

    def bare(self) -> list[Wanted]:
        """Return the rows of ONNX Runtime without a search."""
        return [Wanted(self.bare_name(batch), {"batch": batch}) for batch in self.grid.batches]

    def bare_name(self, batch: int) -> str:
        """Return the name of the ONNX Runtime row at this batch size."""
        return f"{self.title}/bare,batch={batch}"

    def threads(self) -> list[Wanted]:
        """Return the searches that compare thread counts."""
        return [
            self.search(trees, batch, threads, asked=None)
            for trees, batch in self.grid.trees.items()
            for threads in thread_counts()
        ]

    def batches(self, best: Mapping[int, int]) -> list[Wanted]:
        """Return the searches at other batch sizes, with the best thread count for their trees."""
        return [
            self.search(trees, batch, best[trees], asked=asked_of_search(trees, batch))
            for trees, main in self.grid.trees.items()
            for batch in self.grid.batches
            if batch != main
        ]

    def search(self, trees: int, batch: int, threads: int, asked: float | None) -> Wanted:
        """Return one search row."""
        knobs = {"trees": trees, "batch": batch, "threads": threads}
        text = ",".join(f"{name}={value}" for name, value in knobs.items())
        return Wanted(f"{self.title}/search,{text}", knobs, asked)

    def graphs(self) -> list[Wanted]:
        """Return the searches with and without CUDA graphs at small batch sizes."""
        trees = max(self.grid.trees)
        return [
            Wanted(
                f"{self.title}/graphs,batch={batch}",
                {"trees": trees, "batch": batch, "threads": machine.cores()},
            )
            for batch in self.grid.batches
            if LEAST_BATCH <= batch <= MOST_GRAPH_BATCH
        ]

    def latency(self) -> list[Wanted]:
        """Return the latency searches of one tree."""
        count = self.grid.simulations
        asked = LATENCY_ASKED if self.subject.full_size else None
        return [
            Wanted(
                f"{self.title}/latency,simulations={count},batch={batch}",
                {"batch": batch, "simulations": count},
                asked,
            )
            for batch in self.grid.latency_batches
        ]

    def selfplay(self) -> list[Wanted]:
        """Return the self-play row."""
        batch = self.grid.selfplay_batch
        return [Wanted(f"{self.title}/selfplay,batch={batch}", {"batch": batch})]

    def opening(self) -> list[Wanted]:
        """Return the row that times opening a network with all batch sizes."""
        asked = OPENING_ASKED if self.subject.full_size else None
        most = max(self.grid.batches)
        return [Wanted(f"{self.title}/opening,batch={most}", {"batch": most}, asked)]

    def memory(self) -> list[Wanted]:
        """Return the row for the memory of all batch sizes, next to that of the largest alone."""
        asked = MEMORY_ASKED if self.subject.full_size else None
        most = max(self.grid.batches)
        return [Wanted(f"{self.title}/memory,batch={most}", {"batch": most}, asked)]

    def parity(self) -> list[Wanted]:
        """Return the row that compares the outputs with the CPU's."""
        count = self.grid.positions
        asked = PARITY_ASKED[self.precision]
        return [Wanted(f"{self.title}/parity,positions={count}", {"positions": count}, asked)]


def thread_counts() -> list[int]:
    """Return 1, 2, 4, 8 and 16 up to the number of cores, and twice the number of cores."""
    cores = machine.cores()
    return [*(n for n in (1, 2, 4, 8, 16) if n <= cores), 2 * cores]


def asked_of_search(trees: int, batch: int) -> float | None:
    """Return the target for the ratio to bare ONNX Runtime."""
    if trees == 1:
        return ONE_TREE_ASKED if batch == ONE_TREE_BATCH else None
    return MANY_TREES_ASKED if batch >= LEAST_BATCH else None


def settings_of(provider: str, precision: str) -> Mapping[str, Mapping[str, str]]:
    """Return the settings to try. TensorFloat-32 applies only to float32."""
    if provider != "cuda":
        return {ENGINE: {}}
    return {
        name: options
        for name, options in CUDA_SETTINGS.items()
        if precision == "float32" or "use_tf32" not in options
    }


def what_to_try(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return one line of advice for each row below its target."""
    lines = []
    for row in rows:
        bar = bar_of(row)
        if bar is not None and bar.reached < 1:
            limit = "at most" if bar.at_most else "at least"
            lines.append(
                f"{bar.row}: {bar.title} {_short(bar.measured)}, required {limit}"
                f" {_short(bar.asked)}. Try: {_advice(row)}"
            )
    return lines


def part_of(row: Mapping[str, Any]) -> str:
    """Return the part that a row belongs to."""
    return str(row["name"]).split("/")[-1].split(",")[0]


def _short(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _advice(row: Mapping[str, Any]) -> str:
    part = part_of(row)
    if part == "search":
        return _search_advice(row)
    if part == "latency" and "float32" in row["name"]:
        return f"float16, {_ADVICE[part]}"
    return _ADVICE[part]


def _search_advice(row: Mapping[str, Any]) -> str:
    """Describe what limits a search, with the cheapest remedy first."""
    if (row["of engine's"] or 0.0) >= row["asked"]:  # None: the engine's own setting failed
        if row["bare settings"] == GRAPH:
            return "CUDA graphs (`providers=[('cuda', {'enable_cuda_graph': '1'})]`)"
        return f"the provider's settings {row['bare settings']!r} (`providers=[('cuda', {{...}})]`)"
    batch = int(str(row["name"]).split("batch=")[1].split(",")[0])
    if row["fill"] < 0.9 * batch:
        return "a larger in_flight, or more trees: batches are not full"
    if row["waiting"] < 0.1:
        return "more threads, up to the number of cores: no thread waits for the device"
    return "fewer threads or larger batches: threads wait while the device is idle"


_ADVICE = {
    "latency": "another batch_size, with in_flight at two to four times the batch",
    "opening": "a smaller batch_size: faster powers of two below it get separate sessions",
    "memory": "a smaller batch_size: each faster power of two below it holds a copy of the weights",
    "parity": "NVIDIA_TF32_OVERRIDE=0, which keeps full float32 precision; float16 has 11 bits",
}
