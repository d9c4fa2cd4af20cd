"""Count the instructions of simulations and playouts under valgrind, and compare with a table.

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
COUNTED = "measured_*"


class CountError(Exception):
    """valgrind or the program did not do what was expected."""


@dataclass(frozen=True)
class Kind:
    """What is counted.

    Attributes:
        table: its name in the file.
        repeats: simulations or playouts.
        games: those of ``GAMES`` that are counted.
    """

    table: str
    repeats: int
    games: tuple[str, ...]


PLAYED = tuple(name for name in GAMES if name != "gomoku15_renju")
#: By the program's name for it.
KINDS = {
    "search": Kind("instructions", 10_000, tuple(GAMES)),
    "uct": Kind("uct", 1_000, PLAYED),
    "playouts": Kind("playouts", 500, PLAYED),
}


@dataclass(frozen=True)
class Count:
    """Instructions a simulation or playout, and the compiler that made them."""

    instructions: float
    compiler: str


#: By table, then by game.
Counts = dict[str, dict[str, Count]]


def count(program: Path, what: str, game: str, repeats: int) -> Count:
    """Run the program under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        command = [
            *("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"),
            *("--collect-atstart=no", f"--toggle-collect={COUNTED}"),
            *(str(program), what, game, str(repeats)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        text = out.read_text() if out.exists() else ""
    found = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    if done.returncode != 0 or found is None or int(found[1]) == 0:
        raise CountError(f"{what} {game}: expected a count, got none: {done.stdout}{done.stderr}")
    return Count(int(found[1]) / repeats, f"{done.stdout.strip()} {platform.machine()}")


def count_all(program: Path) -> Counts:
    """Count everything, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        counting = {
            kind.table: {
                name: pool.submit(count, program, what, GAMES[name], kind.repeats)
                for name in kind.games
            }
            for what, kind in KINDS.items()
        }
        return {
            table: {name: one.result() for name, one in games.items()}
            for table, games in counting.items()
        }


def compiler_of(counts: Counts) -> str:
    """Return the compiler of what was counted."""
    return next(one.compiler for games in counts.values() for one in games.values())


def write_table(counts: Counts, file: Path) -> None:
    """Write what was counted as the new table."""
    lines = [
        "# Instructions a simulation (callgrind; uniform evaluator, solver off, one thread; a new",
        f"# tree of {KINDS['search'].repeats} simulations from the start; the path with AVX2, no",
        "# AVX-512, as valgrind has it). A processor without AVX2 exceeds these by another path.",
        f"# [uct]: the same of UCT, one playout a leaf, {KINDS['uct'].repeats} simulations.",
        "# [playouts]: a playout from the start of the game.",
        "# A change of more than 3 % is written here with `make instructions UPDATE=1`, and its",
        "# reason stands in the commit's message.",
        f'compiler = "{compiler_of(counts)}"',
    ]
    for table, games in counts.items():
        lines += ["", f"[{table}]"]
        lines += [f"{name} = {round(one.instructions)}" for name, one in games.items()]
    file.write_text("\n".join(lines) + "\n")


def differences(
    counts: Counts, known_counts: dict[str, dict[str, int]]
) -> list[tuple[str, str, bool]]:
    """Return for each count: its name, a line that tells the change, whether it is too large."""
    found = []
    for table, games in counts.items():
        for game, one in games.items():
            name = f"{table} {game}"
            if (known := known_counts.get(table, {}).get(game)) is None:
                found.append((name, f"{one.instructions:,.0f}, not in the table", True))
                continue
            change = one.instructions / known - 1
            line = f"{one.instructions:10,.0f}  committed {known:10,}  {change:+7.2%}"
            found.append((name, line, abs(change) > TOLERANCE))
    return found


def compare(counts: Counts, file: Path) -> int:
    """Print the differences; return the exit status."""
    with file.open("rb") as opened:
        table = tomllib.load(opened)
    compiler = compiler_of(counts)
    same = compiler == table["compiler"]
    rows = differences(counts, table)
    for name, line, too_large in rows:
        print(f"{name:28} {line}{'  BEYOND 3 %' if too_large else ''}")
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
