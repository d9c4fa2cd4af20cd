"""Count the instructions of a simulation under valgrind and compare them with the committed ones.

Usage: instructions.py PROGRAM [--update]. PROGRAM is built from benchmarks/cpp/instructions; the
table is benchmarks/instructions.toml. Counts repeat to a few instructions on any load, which times
do not. valgrind has no AVX-512: what is guarded is the code that processors with AVX2 alone run. On
a processor without AVX2 the portable scan is counted, which executes more.

Exit status 1 when a game differs by more than the tolerance and the compiler is the table's; with
another compiler the difference is only told.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "benchmarks" / "instructions.toml"
SIMULATIONS = 10_000
TOLERANCE = 0.03
GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four": "connect_four",
    "othello": "othello",
    "gomoku15": "gomoku",
    "gomoku15_renju": 'gomoku(rule="renju")',
    "go9": "go(board_size=9)",
    "go19": "go",
}
#: The whole name where the compiler made a copy of the function for its only call.
COUNTED = "measured_search*"


class CountError(Exception):
    """valgrind or the program did not do what was expected."""


@dataclass(frozen=True)
class Count:
    """Instructions a simulation, and the compiler that made them."""

    instructions: float
    compiler: str


def count(program: Path, game: str) -> Count:
    """Run the program under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        command = [
            *("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"),
            *("--collect-atstart=no", f"--toggle-collect={COUNTED}"),
            *(str(program), game, str(SIMULATIONS)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        text = out.read_text() if out.exists() else ""
    found = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    if done.returncode != 0 or found is None or int(found[1]) == 0:
        raise CountError(f"{game}: expected a count, found none: {done.stdout}{done.stderr}")
    return Count(int(found[1]) / SIMULATIONS, f"{done.stdout.strip()} {platform.machine()}")


def count_all(program: Path) -> dict[str, Count]:
    """Count every game, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        counting = {name: pool.submit(count, program, game) for name, game in GAMES.items()}
        return {name: one.result() for name, one in counting.items()}


def write_table(counts: dict[str, Count], file: Path) -> None:
    """Write what was counted as the new table."""
    compiler = next(iter(counts.values())).compiler
    lines = [
        "# Instructions a simulation (callgrind; uniform evaluator, solver off, one thread; a new",
        f"# tree of {SIMULATIONS} simulations from the start; the path with AVX2, no AVX-512, as",
        "# valgrind has it). A processor without AVX2 runs another path and exceeds these.",
        "# A change of more than 3 % is written here with `make instructions UPDATE=1`, and its",
        "# reason stands in the commit's message.",
        f'compiler = "{compiler}"',
        "",
        "[instructions]",
        *(f"{name} = {round(one.instructions)}" for name, one in counts.items()),
    ]
    file.write_text("\n".join(lines) + "\n")


def differences(counts: dict[str, Count], table: dict[str, int]) -> list[tuple[str, str, bool]]:
    """Return for each game: its name, a line that tells the change, whether it is too large."""
    found = []
    for name, one in counts.items():
        if (known := table.get(name)) is None:
            found.append((name, f"{one.instructions:,.0f}, not in the table", True))
            continue
        change = one.instructions / known - 1
        line = f"{one.instructions:10,.0f}  committed {known:10,}  {change:+7.2%}"
        found.append((name, line, abs(change) > TOLERANCE))
    return found


def compare(counts: dict[str, Count], file: Path) -> int:
    """Print the differences; return the exit status."""
    with file.open("rb") as opened:
        table = tomllib.load(opened)
    compiler = next(iter(counts.values())).compiler
    same = compiler == table["compiler"]
    rows = differences(counts, table["instructions"])
    for name, line, too_large in rows:
        print(f"{name:16} {line}{'  BEYOND 3 %' if too_large else ''}")
    if not any(too_large for _, _, too_large in rows):
        return 0
    if not same:
        print(f"only told, not an error: the table is of {table['compiler']}, this is {compiler}")
        return 0
    print("make it cheaper, or write the new figures with: make instructions UPDATE=1")
    return 1


def main(arguments: list[str]) -> int:
    """Run from the command line."""
    if not arguments or arguments[1:] not in ([], ["--update"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        counts = count_all(Path(arguments[0]))
        if arguments[1:]:
            write_table(counts, TABLE)
            print(TABLE.read_text(), end="")
            return 0
        return compare(counts, TABLE)
    except (CountError, OSError) as error:
        print(f"instructions: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
