"""All GPU measurements in one command that can be resumed."""

from __future__ import annotations

import functools
import importlib.metadata
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine.base import machine
from pyengine.base.extras import need
from pyengine.eval import runtime

if TYPE_CHECKING or __package__:
    from . import common, fresh, kept, nvidia
    from . import gpu_probes as probes
    from .common import Options, Report
    from .gpu_networks import Files, Halve, installed_halve
    from .gpu_plan import FULL, QUICK, Column, Grid, Wanted, asked_of_search, part_of, what_to_try
else:  # run as a script
    import common
    import fresh
    import gpu_probes as probes
    import kept
    import nvidia
    from common import Options, Report
    from gpu_networks import Files, Halve, installed_halve
    from gpu_plan import FULL, QUICK, Column, Grid, Wanted, asked_of_search, part_of, what_to_try

NAME = "gpu"
DESCRIPTION = "a GPU with and without the search: speed, latency, opening, memory, accuracy"

#: Time limit of a process in seconds, in case it hangs. A new process measures the remaining rows.
_PART = 300.0
#: Extra seconds to finish the row in progress.
_GRACE = 60.0
#: Seconds allowed for loading the CUDA libraries, which take gigabytes.
_LOADING = 180.0
#: Fields of the machine description that must match to resume a report.
_IDENTITY = (
    *("machine", "cpu", "pyengine", "onnxruntime"),
    *("device", "driver", "cuda", "measured"),
)
_CUDA_PACKAGES = (
    *("nvidia-cuda-runtime", "nvidia-cudnn-cu13"),
    *("nvidia-cuda-runtime-cu12", "nvidia-cudnn-cu12"),
)


@dataclass(frozen=True)
class Device:
    """The device under test.

    Attributes:
        provider: "cuda", "cpu" (called as a device is), or None.
        about: fields for the report's header.
        problem: why there is no GPU.
    """

    provider: str
    about: dict[str, str] = field(default_factory=dict)
    problem: str = ""


@functools.cache
def find_device(*, quick: bool) -> Device:
    """Return the first GPU. Without one, return the CPU in a quick run, else no provider."""
    measured = {"measured": "briefly" if quick else "in full"}
    problem = _cuda_problem()
    if problem is None:
        return Device("cuda", _describe_gpu() | measured)
    if quick:
        named = f"the CPU, called as a device: {machine.cpu_name()}"
        return Device("cpu", {"device": named, "driver": "none", "cuda": "none"} | measured)
    return Device("", {"device": "none"} | measured, problem)


def _cuda_problem() -> str | None:
    """Return why CUDA is unavailable. A separate process checks, and frees the GPU on exit."""
    problem = runtime.driver_problem()
    if problem is not None:
        return problem
    try:
        [found] = fresh.stream(probes.__file__, "device", seconds=_LOADING)
    except (fresh.FreshError, ValueError) as error:
        return str(error)
    return None if found["works"] else str(found["reason"])


def _describe_gpu() -> dict[str, str]:
    name, total, driver = nvidia.query("name", "memory.total", "driver_version") or ["unknown"] * 3
    wheels = ", ".join(f"{name} {version}" for name, version in _cuda_packages())
    return {
        "device": f"{name} ({total} MiB)",
        "driver": driver,
        "cuda": f"{nvidia.cuda_version() or 'unknown'} from the driver; {wheels or 'no wheels'}",
    }


def _cuda_packages() -> Iterator[tuple[str, str]]:
    for package in _CUDA_PACKAGES:
        try:
            yield package, importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue


def check_options(options: Options) -> None:
    """Raise an EngineError if the file of rows is damaged or from another device or version."""
    held = None if options.keep is None else kept.load(options.keep, NAME)
    if held is None or not held["rows"]:
        return
    here = common.describe_machine() | find_device(quick=options.quick).about
    there = held["machine"]
    if differing := [key for key in _IDENTITY if here.get(key) != there.get(key)]:
        found = "; ".join(f"{key}: {there.get(key)!r}, here {here.get(key)!r}" for key in differing)
        raise pyengine.ConfigError(
            f"{options.keep}: expected rows from this device and these versions, got others"
            f" ({found}); name another file"
        )


@dataclass
class Work:
    """The rows of a run, measured part by part.

    Attributes:
        report: report that receives the rows.
        options: options of the run.
        provider: see Device.
        files: network files.
        end: monotonic time after which no further row starts.
        late: whether that time has passed.
    """

    report: Report
    options: Options
    provider: str
    files: Files
    end: float
    late: bool = False

    def row(self, name: str) -> dict[str, Any]:
        """Return a measured row, or an empty one if it is missing or failed."""
        named = (row for row in self.report.rows if row["name"] == name and "failed" not in row)
        return next(named, {})

    def measure(self, part: str, column: Column, wanted: Sequence[Wanted]) -> None:
        """Measure the missing rows. A crashed process costs only the row in progress."""
        left = [one for one in wanted if not self.row(one.name)]
        while left and not self.late:
            if time.monotonic() >= self.end:
                self.late = True
                return
            seen: list[str] = []
            try:
                self._stream(part, column, left, seen)
            except Exception as error:  # the other rows and parts still run
                at = seen[-1] if seen else f"{column.title}/{part}"
                if not self.row(at):  # else it died between two rows
                    self._add({"name": at, "failed": common.reason_of(error)})
            if not seen:
                self.late = time.monotonic() >= self.end
                return
            left = [one for one in left if one.name not in seen]

    def _stream(self, part: str, column: Column, left: list[Wanted], seen: list[str]) -> None:
        """Add the rows of a process as they arrive. ``seen`` collects the names of started rows."""
        rows = [{"name": one.name, "knobs": dict(one.knobs), "asked": one.asked} for one in left]
        place = self._place(column)
        seconds = min(_PART, max(0.0, self.end - time.monotonic()))
        stream = fresh.stream(
            probes.__file__,
            "rows",
            seconds=seconds + _GRACE,
            part=part,
            place=place,
            wanted=rows,
            left=seconds,
        )
        try:
            for said in stream:
                if "begin" in said:
                    seen.append(said["begin"])
                    common.announce(said["begin"])
                else:
                    self._add(said)
        finally:
            stream.close()
            common.announce("")

    def _place(self, column: Column) -> dict[str, Any]:
        common.announce(f"{column.title}: network files")
        subject, grid = column.subject, column.grid
        most = max(grid.batches)
        return {
            "provider": self.provider,
            "precision": column.precision,
            "file": str(self.files.file(subject, column.precision)),
            "reference": str(self.files.file(subject, "float32")),
            "one_size": str(self.files.of_one_size(subject, column.precision, most)),
            "game": subject.game,
            "seconds": grid.share * self.options.seconds,
            "slices": grid.slices,
            "slice_batches": grid.slice_batches,
        }

    def _add(self, row: dict[str, Any]) -> None:
        self.report.rows.append(row)
        self.save()

    def save(self) -> None:
        """Write the report."""
        if self.options.keep is not None:
            kept.save(self.options.keep, NAME, self.report.to_dict())


def measure_column(work: Work, column: Column) -> None:
    """Measure a network in one precision, part by part."""
    work.measure("bare", column, column.bare())
    work.measure("opening", column, column.opening())
    work.measure("memory", column, column.memory())
    sweep = column.threads()
    work.measure("search", column, _beside_bare(work, column, sweep))
    best = _best_threads(work, column.grid, sweep)
    work.measure("search", column, _beside_bare(work, column, column.batches(best)))
    work.measure("graphs", column, column.graphs())
    work.measure("latency", column, column.latency())
    work.measure("selfplay", column, _beside_bare(work, column, column.selfplay(), same=False))
    work.measure("parity", column, column.parity())


def _beside_bare(
    work: Work, column: Column, wanted: list[Wanted], *, same: bool = True
) -> list[Wanted]:
    """Return rows with the rate of bare ONNX Runtime at their batch size."""
    complete = []
    for one in wanted:
        found = work.row(column.bare_name(one.knobs["batch"]))
        beside = {"bare": found.get("rows/s")}
        if same:
            beside |= {"same": found.get("engine's rows/s"), "settings": found.get("bare settings")}
        complete.append(Wanted(one.name, {**one.knobs, **beside}, one.asked))
    return complete


def _best_threads(work: Work, grid: Grid, sweep: list[Wanted]) -> dict[int, int]:
    """Return the best thread count for each number of trees, and set the targets of those rows."""
    best = dict.fromkeys(grid.trees, machine.cores())
    for trees, batch in grid.trees.items():
        found = [
            (row, one.knobs["threads"])
            for one in sweep
            if one.knobs["trees"] == trees and (row := work.row(one.name))
        ]
        if not found:
            continue
        row, best[trees] = max(found, key=lambda pair: pair[0]["rows/s"])
        for other, _ in found:
            for title in ("asked", "bar"):
                other.pop(title, None)
        if (asked := asked_of_search(trees, batch)) is not None and "ratio" in row:
            row["asked"] = asked
    work.save()
    return best


def run(report: Report, options: Options, halve: Halve | None = None) -> None:
    """Measure every network in every precision, except rows already in the file.

    ``halve`` writes float16 files. None = use the package's converter if available.
    """
    check_options(options)
    # Load the rows before anything can end the run, because its end rewrites the file.
    held = None if options.keep is None else kept.load(options.keep, NAME)
    report.rows += [row for row in (held or {}).get("rows", []) if "failed" not in row]
    device = find_device(quick=options.quick)
    report.machine.update(device.about)
    report.group = part_of
    if not device.provider:
        report.notes.append(f"missing: a working GPU ({device.problem}); --quick works without one")
        return
    try:
        need("onnx", "convert")
    except pyengine.EngineError as error:
        report.notes.append(f"missing: {error}")
        return
    grid = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder), halve or installed_halve())
        end = time.monotonic() + 60 * options.minutes
        work = Work(report, options, device.provider, files, end)
        for subject in grid.subjects:
            for precision in files.precisions():
                measure_column(work, Column(subject, precision, grid))
    _add_notes(work)


def _add_notes(work: Work) -> None:
    notes = work.report.notes
    if len(work.files.precisions()) == 1:
        notes.append("float16 is skipped: pyengine.conversion in this build does not support it")
    if work.late:
        how = (
            "run the same command to resume"
            if work.options.keep
            else "use --json FILE to save rows"
        )
        notes.append(f"unfinished after {work.options.minutes:g} minutes: {how}")
    notes += what_to_try(work.report.rows)
    notes.append(
        "bare: the best of ONNX Runtime's settings, called from Python by one thread or two;"
        " ratio: rows/s inside the search relative to it, in slices of one search after its start;"
        " of engine's: relative to bare with the engine's own settings; gpu %: time with a kernel"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments, check_options)


if __name__ == "__main__":
    sys.exit(main())
