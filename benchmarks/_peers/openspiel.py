"""OpenSpiel's MCTSBot on one thread: the tree alone in C++ and in Python, and UCT in C++.

Also UCT in OpenSpiel games for which the engine has no rules.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyengine

from . import environment, openspiel_source
from .environment import Environment, PeerError
from .pairs import SLICE, Timed, figures, repeated, timed
from .shared import Options, Report, check, in_turns, median, pace
from .worker import Worker

CONFIG = pyengine.SearchConfig(threads=1, solver=False)
#: One playout per leaf, with the UCT formula of the bot.
UCT = CONFIG.replace(algorithm="uct")
#: OpenSpiel's PUCT formula: a constant factor, and 0 for unvisited actions.
SAME = CONFIG.replace(c_puct=1.25, c_puct_base=None, fpu="value", fpu_value=0.0)
#: The Python bot gets a fraction of the simulations, because a smaller tree is no disadvantage.
PYTHON_PART = 10
PYTHON_ASKED = 25.0


@dataclass(frozen=True)
class Subject:
    """A game from its initial position.

    Attributes:
        name: display name.
        ours, theirs: name of the game in each library.
        simulations: simulations per search.
        asked: minimum ratio to the C++ bot.
        playouts: simulations per UCT search with one playout per leaf.
        asked_of_uct: minimum ratio to the C++ bot with UCT.
    """

    name: str
    ours: str
    theirs: str
    simulations: int
    asked: float
    playouts: int
    asked_of_uct: float


SUBJECTS = [
    Subject("tic_tac_toe", "tic_tac_toe", "tic_tac_toe", 100_000, 1.2, 50_000, 3.0),
    Subject("connect_four", "connect_four", "connect_four", 100_000, 2.5, 20_000, 10.0),
    Subject("othello", "othello", "othello", 50_000, 20.0, 5_000, 100.0),
    Subject("gomoku15", "gomoku", "gomoku(size=15)", 20_000, 4.5, 5_000, 30.0),
    Subject("go9", "go(board_size=9)", "go(board_size=9)", 20_000, 6.0, 5_000, 12.0),
    Subject("go19", "go", "go", 5_000, 5.0, 500, 25.0),
]


#: OpenSpiel games: name, game string, simulations. The Python bot gets a fraction of these.
FOREIGN = [
    ("hex7", "hex(board_size=7)", 20_000),
    ("breakthrough", "breakthrough", 10_000),
    ("clobber", "clobber", 20_000),
]
FOREIGN_ASKED = 0.7
FOREIGN_PYTHON_PART = 20


def build(peer: Environment, install: bool) -> Path:
    """Return the program that times the C++ bot. Compiles it if necessary. Raises PeerError."""
    folder = peer.folder / "openspiel-c++"
    program = folder / "build" / ("harness.exe" if os.name == "nt" else "harness")
    sources = {
        folder / "harness.cpp": openspiel_source.HARNESS,
        folder / "CMakeLists.txt": openspiel_source.CMAKE,
    }
    built = folder / "built.txt"  # compiled from these sources and packages
    mark = peer.packages + "".join(sources.values())
    if program.exists() and built.is_file() and built.read_text() == mark:
        return program
    if not install:
        raise PeerError(f"openspiel-c++: not built in {folder}; run once without --quick")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in sources.items():
        path.write_text(text.lstrip("\n"))
    environment.say(f"building OpenSpiel's C++ search in {folder}, about two minutes ...")
    cmake = str(peer.scripts / "cmake")
    configure = ["-S", str(folder), "-B", str(program.parent), "-G", "Ninja"]
    settings = ["-DCMAKE_BUILD_TYPE=Release", f"-DSITE_PACKAGES={peer.site_packages()}"]
    what = "openspiel-c++: cmake"
    environment.command(what, [cmake, *configure, *settings], peer.scripts)
    environment.command(what, [cmake, "--build", str(program.parent)], peer.scripts)
    built.write_text(mark)
    return program


def read(answer: str, simulations: int) -> Timed:
    """Return a bot's measurement, after checking its number of simulations.

    The bot's first simulation evaluates the root, and the children share the others.
    """
    words = answer.split()
    check("a bot answers with four numbers", len(words) == 4, answer)
    done, visits = int(words[0]), int(words[1])
    check(f"the bot makes {simulations} simulations", done == simulations, done)
    check("the bot's visits add up", visits == simulations - 1, visits)
    return Timed(done, float(words[2]), float(words[3]))


def search(
    name: str, config: pyengine.SearchConfig, evaluator: str = "uniform"
) -> Callable[[], Timed]:
    """Return a call that searches once with a new engine, like the bot with a new tree."""
    game = pyengine.load_game(name)
    state = game.new_initial_state()

    def once() -> Timed:
        with pyengine.Engine(game, evaluator, config=config) as engine:
            result: list[pyengine.SearchResult] = []

            def call() -> int:
                result.append(engine.search(state))
                return int(result[0].simulations)

            took = timed(call)
        visits = int(result[0].visits.sum())
        check("the engine makes as many simulations", took.done == config.simulations, took.done)
        check("the engine's visits add up", visits == config.simulations, visits)
        return took

    return once


def compare(
    subject: Subject, bot: Worker, simulations: int, asked: float, options: Options
) -> dict[str, Any]:
    """Return a row for the engine's default formula and for the bot's formula."""
    question = f"{subject.theirs} {simulations} puct"

    span = 0.0 if options.quick else SLICE

    def peer() -> Timed:
        return repeated(lambda: read(bot.ask(question), simulations), span)

    ours = search(subject.ours, CONFIG.replace(simulations=simulations))
    same = search(subject.ours, SAME.replace(simulations=simulations))
    if not options.quick:
        peer(), ours(), same()
    found = in_turns(
        pace(options, options.seconds),
        peer,
        lambda: repeated(ours, span),
        lambda: repeated(same, span),
    )
    theirs, own, alike = zip(*found, strict=True)
    each = [b.rate.wall / a.rate.wall for a, b in zip(theirs, alike, strict=True)]
    return figures(theirs, own, None if options.quick else asked) | {"same formula": median(each)}


def compare_uct(
    subject: Subject, bot: Worker, simulations: int, options: Options
) -> dict[str, Any]:
    """Return a row: both with one playout per leaf, and the engine on two threads and on one."""
    question = f"{subject.theirs} {simulations} uct"
    span = 0.0 if options.quick else SLICE
    config = UCT.replace(simulations=simulations)

    def peer() -> Timed:
        return repeated(lambda: read(bot.ask(question), simulations), span)

    sides = [search(subject.ours, config.replace(threads=count), "rollout") for count in (1, 2)]
    if not options.quick:
        peer(), sides[0](), sides[1]()
    one, two = (lambda side=side: repeated(side, span) for side in sides)
    found = in_turns(pace(options, options.seconds), peer, one, two)
    theirs, own, double = zip(*found, strict=True)
    each = [b.rate.wall / a.rate.wall for a, b in zip(own, double, strict=True)]
    asked = None if options.quick else subject.asked_of_uct
    return figures(theirs, own, asked) | {"two threads": median(each)}


def compare_foreign(text: str, bots: Worker, simulations: int, options: Options) -> dict[str, Any]:
    """Return a row for an OpenSpiel game: the engine, the C++ bot and the Python bot."""
    span = 0.0 if options.quick else SLICE

    def peer(rule: str, budget: int) -> Callable[[], Timed]:
        question = f"{text} {budget} {rule}"
        return lambda: repeated(lambda: read(bots.ask(question), budget), span)

    fast = peer("uct-c++", simulations)
    slow = peer("uct", max(simulations // FOREIGN_PYTHON_PART, 2))
    once = search(f"pyspiel:{text}", UCT.replace(simulations=simulations), "rollout")
    if not options.quick:
        fast(), slow(), once()
    found = in_turns(pace(options, options.seconds), fast, lambda: repeated(once, span), slow)
    theirs, own, python = zip(*found, strict=True)
    each = [b.rate.wall / a.rate.wall for a, b in zip(python, own, strict=True)]
    asked = None if options.quick else FOREIGN_ASKED
    return figures(theirs, own, asked) | {"python bot": median(each)}


def _foreign_rows(report: Report, options: Options, bots: Worker) -> None:
    for name, text, budget in FOREIGN:
        simulations = max(budget // 100, 50) if options.quick else budget
        with report.row(f"peers/{name}/openspiel-own/simulations={simulations}") as row:
            environment.say(row["name"])
            row.update(compare_foreign(text, bots, simulations, options))


def _uct_rows(report: Report, options: Options, bot: Worker) -> None:
    for subject in SUBJECTS:
        simulations = max(subject.playouts // 100, 20) if options.quick else subject.playouts
        with report.row(f"peers/{subject.name}/openspiel-uct/simulations={simulations}") as row:
            environment.say(row["name"])
            row.update(compare_uct(subject, bot, simulations, options))


def _rows(report: Report, options: Options, name: str, bot: Worker, python: bool) -> None:
    for subject in SUBJECTS:
        simulations = subject.simulations // (PYTHON_PART if python else 1)
        simulations = max(simulations // 100, 50) if options.quick else simulations
        with report.row(f"peers/{subject.name}/{name}/simulations={simulations}") as row:
            environment.say(row["name"])
            asked = PYTHON_ASKED if python else subject.asked
            row.update(compare(subject, bot, simulations, asked, options))


def run(report: Report, options: Options, folder: Path) -> None:
    """Compare with whichever bots are available."""
    peer = Environment("openspiel", folder)
    install = not options.quick
    peer.prepare(install)
    worker = Path(__file__).with_name("openspiel_worker.py")

    def compiled() -> None:
        with Worker([str(build(peer, install))]) as bot:
            _rows(report, options, "openspiel-c++", bot, python=False)
            _uct_rows(report, options, bot)

    def interpreted() -> None:
        with Worker([str(peer.python), "-P", str(worker)]) as bot:
            _rows(report, options, "openspiel-python", bot, python=True)

    def own_games() -> None:
        if importlib.util.find_spec("pyspiel") is None:
            raise PeerError("openspiel-own: its games also need open_spiel in this environment")
        with Worker([str(peer.python), "-P", str(worker)]) as bots:
            _foreign_rows(report, options, bots)

    for bots in (compiled, interpreted, own_games):
        environment.attempt(bots, report.notes)
