"""Count the instructions of simulations and playouts under valgrind, and compare with a table.

Usage: instructions.py PROGRAM [--update]. PROGRAM is built from benchmarks/cpp/instructions; the
table is benchmarks/instructions.toml. Unlike times, counts do not depend on the machine's load.
valgrind lacks AVX-512, so the AVX2 code is measured; without AVX2 it is the slower portable code.

Exits 1 if a count differs by more than the tolerance. With a compiler other than the table's,
differences are only printed.
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
    "hex7": "hex(board_size=7)",
    "hex7_outside": "outside:hex(board_size=7)",  # from another library, as games outside the wheel
}
#: The pattern also matches clones of a function that the compiler specialized.
COUNTED = "measured_*"


class CountError(Exception):
    """valgrind or the program failed."""


@dataclass(frozen=True)
class Kind:
    """A kind of measurement."""

    table: str  #: in the TOML file
    repeats: int  #: number of simulations or playouts
    games: tuple[str, ...]  #: keys of ``GAMES``


PLAYED = tuple(name for name in GAMES if name != "gomoku15_renju")
#: By the name of the program's argument.
KINDS = {
    "search": Kind("instructions", 10_000, tuple(GAMES)),
    "uct": Kind("uct", 1_000, PLAYED),
    "playouts": Kind("playouts", 500, PLAYED),
}


@dataclass(frozen=True)
class Count:
    """Instructions per simulation or playout, and the compiler."""

    instructions: float
    compiler: str


#: By table and game.
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
    total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    if done.returncode != 0 or total is None or int(total[1]) == 0:
        raise CountError(f"{what} {game}: no instructions counted: {done.stdout}{done.stderr}")
    return Count(int(total[1]) / repeats, f"{done.stdout.strip()} {platform.machine()}")


def count_all(program: Path) -> Counts:
    """Make all measurements, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        counting = {
            kind.table: {
                name: pool.submit(count, program, what, GAMES[name], kind.repeats)
                for name in kind.games
            }
            for what, kind in KINDS.items()
        }
        return {
            table: {name: future.result() for name, future in games.items()}
            for table, games in counting.items()
        }


def compiler_of(counts: Counts) -> str:
    """Return the compiler of the measured program."""
    games = next(iter(counts.values()))
    return next(iter(games.values())).compiler


def write_table(counts: Counts, file: Path) -> None:
    """Write the counts as the new table."""
    lines = [
        "# Instructions per simulation (callgrind; uniform evaluator, solver off, one thread, new",
        f"# tree of {KINDS['search'].repeats} simulations from the start, AVX2 without AVX-512).",
        "# Without AVX2 the counts are higher.",
        f"# [uct]: UCT with one playout per leaf, {KINDS['uct'].repeats} simulations.",
        "# [playouts]: a playout from the start of the game.",
        "# Record a change of more than 3 % with `make instructions UPDATE=1` and explain it in",
        "# the commit message.",
        f'compiler = "{compiler_of(counts)}"',
    ]
    for table, games in counts.items():
        lines += ["", f"[{table}]"]
        lines += [f"{name} = {round(result.instructions)}" for name, result in games.items()]
    file.write_text("\n".join(lines) + "\n")


def differences(
    counts: Counts, known_counts: dict[str, dict[str, int]]
) -> list[tuple[str, str, bool]]:
    """Return the name of each count, a line about its change, and whether that is too large."""
    rows = []
    for table, games in counts.items():
        for game, result in games.items():
            name = f"{table} {game}"
            if (known := known_counts.get(table, {}).get(game)) is None:
                rows.append((name, f"{result.instructions:,.0f}, not in the table", True))
                continue
            change = result.instructions / known - 1
            line = f"{result.instructions:10,.0f}  committed {known:10,}  {change:+7.2%}"
            rows.append((name, line, abs(change) > TOLERANCE))
    return rows


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
        print(f"not an error: the table is for {table['compiler']}, this is {compiler}")
        return 0
    print("to accept the new counts, run: make instructions UPDATE=1")
    return 1


def main(arguments: list[str]) -> int:
    """Run the command line and return the exit status."""
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
