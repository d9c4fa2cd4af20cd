"""A program may exit while searches run: no abort, no hang, no output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

_SECONDS = 30.0  # time for a program to start, search briefly and exit on a busy machine
_AT_ONCE = 6  # programs
_REPEATS = int(os.environ.get("PYENGINE_EXIT_REPEATS", "1"))

_BEGIN = """
import sys, threading, time
import numpy
import pyengine
from toy_games import Pairs, ToyGame

SECONDS = dict(seconds=1e6)

def answer_of(actions):
    def answer(batch):
        time.sleep(0.001)
        return numpy.full((len(batch), actions), 1 / actions), numpy.zeros(len(batch))
    return answer

def often(engine, state, report, settings):  # reports 10,000 times a second
    return engine._parts.searcher.search(state, settings, report, 1e-4, None, None)

def in_background(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    time.sleep(0.15)
    return thread

"""

_OURS = "game, answer = pyengine.load_game('connect_four'), answer_of(7)\n"
_PYTHONS = "game, answer = ToyGame(Pairs), answer_of(20)\n"

#: Games and evaluators that may need the GIL during a search.
_EVALUATORS = {
    "uniform": _OURS + "evaluator = 'uniform'",
    "network": _OURS + "evaluator = 'connect4'",
    "callable": _OURS + "evaluator = answer",
    "states": _OURS + "evaluator = pyengine.StateEvaluator(answer)",
    "mixed": _OURS + "evaluator = pyengine.MixedEvaluator(answer, 'rollout')",
    "python game": _PYTHONS + "evaluator = 'rollout'",
    "python game and callable": _PYTHONS + "evaluator = pyengine.StateEvaluator(answer)",
}

_ENGINE = """
state = game.new_initial_state()
engine = pyengine.Engine(game, evaluator, threads=2)
"""

#: Work that continues while the program exits.
_WORK = {
    "a long search": "in_background(lambda: engine.search(state, **SECONDS))",
    "short searches": """
in_background(lambda: [engine.search(state, simulations=50) for _ in iter(int, 1)])
""",
    "on_progress": """
in_background(lambda: often(engine, state, lambda result: None, SECONDS))
""",
    "search_many": "in_background(lambda: engine.search_many([state] * 20, **SECONDS))",
    "an analysis in a daemon thread": """
in_background(lambda: [None for _ in engine.analyze(state, every=0.001)])
""",
    "an unfinished analysis": """
analysis = engine.analyze(state, every=0.01)
next(analysis)
""",
    "an abandoned analysis": """
for result in engine.analyze(state, every=0.01):
    break
""",
    "an analysis in a cycle": """
class Keeper: pass
keeper = Keeper()
keeper.itself = keeper
keeper.analysis = engine.analyze(state, every=0.01)
next(keeper.analysis)
""",
    "several engines": """
engines = [pyengine.Engine(game, evaluator, threads=1) for _ in range(3)]
for one in engines:
    in_background(lambda one=one: one.search(state, **SECONDS))
in_background(lambda: [engine.stats() for _ in iter(int, 1)])
""",
    "self-play": """
from pyengine.selfplay import SelfPlayer
config = pyengine.SelfPlayConfig(
    search=pyengine.SearchConfig(simulations=100, threads=2), concurrent_games=8
)
player = SelfPlayer(game, evaluator, config, spec=pyengine.ModelSpec(planes=("ones",)))
in_background(lambda: player.run(10**6, lambda games: [None for _ in games]))
""",
    "an evaluation": """
one = pyengine.eval.evaluators.as_evaluator(evaluator)
in_background(lambda: [one.evaluate([state] * 64, game=game) for _ in iter(int, 1)])
""",
}


#: Code that does not return while the program exits.
_STUCK = {
    "sleeps": "time.sleep(100)",
    "computes": "while True: pass",
    "naps": "while True: time.sleep(0.001)",
    "wakes too late": "time.sleep(2.4)",
}

_SLOW_END = """
class Slow:  # delays the end of the interpreter
    def __init__(self):
        self.time = time
    def __del__(self):
        end = self.time.monotonic() + 0.5
        while self.time.monotonic() < end:
            self.time.sleep(0.01)

slow = Slow()
sticks = False
"""

#: Where that code is called from.
_CALLERS = {
    "callable": _OURS
    + """
def evaluator(batch):
    stuck()
    return answer(batch)
""",
    "on_progress": _OURS + "evaluator = 'connect4'",
    "python game": """
class Stuck(Pairs):
    def legal_actions(self):
        stuck()
        return super().legal_actions()

game, evaluator = ToyGame(Stuck), 'rollout'
""",
    "search in a callable": _OURS
    + """
inner, start = pyengine.Engine(game, 'uniform'), game.new_initial_state()
def evaluator(batch):
    often(inner, start, lambda result: stuck(), dict(simulations=20000))
    return answer(batch)
""",
}

#: Programs with their expected exit code and output.
_PROGRAMS = {
    "sys.exit": ("import sys", _WORK["a long search"] + "\nsys.exit(3)", 3),
    "sys.exit during an analysis": (
        "",
        "for result in engine.analyze(state, every=0.01): sys.exit(3)",
        3,
    ),
    "os._exit": ("import os", _WORK["a long search"] + "\nos._exit(5)", 5),
    "an exception": ("", _WORK["a long search"] + "\nsys.excepthook = print\n1 / 0", 1),
    "SIGTERM": (
        "import os, signal",
        _WORK["a long search"] + "\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(5)",
        -15,
    ),
    "a thread that is joined": (
        "",
        """
def work():
    assert engine.search(state, seconds=0.5).stop_reason == "seconds"

threading.Thread(target=work).start()
""",
        0,
    ),
    "a thread that an older hook joins": (
        """
import atexit

leaving = []

def join():
    leaving.append(True)
    thread.join(10)
    assert not thread.is_alive()

atexit.register(join)
""",
        """
def work():
    while not leaving:
        engine.search(state, simulations=100)

thread = in_background(work)
""",
        0,
    ),
    "an older hook that searches": (
        """
import atexit

def work():
    assert engine.search(state, simulations=100).visits.sum() == 100
    try:
        next(engine.analyze(state))
    except pyengine.EngineError as error:
        assert "the program is ending" in str(error)
    else:
        raise AssertionError("analyze() cannot have a thread now")

atexit.register(work)
""",
        "",
        0,
    ),
    "an older hook that closes an analysis": (
        "import atexit\natexit.register(lambda: analysis.close())",
        _WORK["an unfinished analysis"],
        0,
    ),
    "a newer hook that closes an analysis": (
        "import atexit",
        _WORK["an unfinished analysis"] + "\natexit.register(analysis.close)",
        0,
    ),
    "games that are created and dropped": (
        "",
        """
def work():
    while True:
        made = pyengine.games.as_game(ToyGame(Pairs))
        pyengine.Engine(made, 'rollout', threads=2).search(
            made.new_initial_state(), simulations=5
        )

in_background(work)
in_background(work)
""",
        0,
    ),
    "games played without a search": (
        "",
        """
def work():
    made = pyengine.games.as_game(ToyGame(Pairs))
    while True:
        position = made.new_initial_state()
        while not position.is_terminal():
            position.apply_action(position.legal_actions()[0])

in_background(work)
in_background(work)
""",
        0,
    ),
    "self-play that writes": (
        "import tempfile",
        """
config = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=20, threads=2))
folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
in_background(lambda: pyengine.selfplay(
    "tic_tac_toe", "uniform", games=10**6, out=folder.name, config=config
))
""",
        0,
    ),
}

_FORKED = """
import os
child = os.fork()
if child == 0:
    begun = time.monotonic()
    own = pyengine.Engine(game, evaluator, threads=2)
    in_background(lambda: own.search(state, **SECONDS))
    atexit.register(lambda: print(time.monotonic() - begun < 1.5, flush=True))
    sys.exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7
"""


def program(evaluator: str, work: str, before: str = "") -> str:
    return f"{before}\n{_BEGIN}{_EVALUATORS[evaluator]}{_ENGINE}{work}"


def start(code: str) -> subprocess.Popen[str]:
    """Start a program in a separate process."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(programs: Sequence[str]) -> list[tuple[int, str, str]]:
    """Run programs, several at once; return exit code, output and errors of each."""
    ended = []
    for first in range(0, len(programs), _AT_ONCE):
        for process in [start(code) for code in programs[first : first + _AT_ONCE]]:
            try:
                out, errors = process.communicate(timeout=_SECONDS)
                ended.append((process.returncode, out, errors))
            except subprocess.TimeoutExpired:
                process.kill()
                ended.append((-9, "", f"did not end within {_SECONDS:.0f} s"))
    return ended


def check_quiet(programs: dict[str, str]) -> None:
    ended = dict(zip(programs, run(list(programs.values())), strict=True))
    assert ended == dict.fromkeys(programs, (0, "", ""))


def test_a_program_exits_quietly_during_any_work() -> None:
    check_quiet({name: program("python game and callable", work) for name, work in _WORK.items()})


def test_a_program_exits_quietly_while_every_evaluator_searches() -> None:
    searches = [
        f"{setup}{_ENGINE}in_background(lambda one=engine, at=state: one.search(at, **SECONDS))"
        for setup in _EVALUATORS.values()
    ]
    check_quiet({"all": "\n".join([_BEGIN, *searches])})


@pytest.mark.slow
def test_a_program_exits_quietly_during_any_work_of_each_evaluator() -> None:
    for _ in range(_REPEATS):
        check_quiet(
            {
                f"{name}, {evaluator}": program(evaluator, work)
                for name, work in _WORK.items()
                for evaluator in _EVALUATORS
            }
        )


def test_a_program_does_not_wait_forever_for_user_code() -> None:
    def stuck(caller: str, code: str) -> str:
        body = f"def stuck(*_):\n    if not sticks: return\n    {code}\n"
        progress = ", on_progress=stuck" if caller == "on_progress" else ""
        work = (
            "engine.search(state, simulations=10)\nsticks = True\n"
            f"in_background(lambda: engine.search(state{progress}, **SECONDS))"
        )
        return _BEGIN + _SLOW_END + body + _CALLERS[caller] + _ENGINE + work

    pairs = [("callable", code) for code in _STUCK]
    pairs += [(caller, "computes") for caller in _CALLERS if caller != "callable"]
    check_quiet({f"{caller} {code}": stuck(caller, _STUCK[code]) for caller, code in pairs})


def test_a_program_keeps_its_exit_code() -> None:
    programs = [program("network", work, before) for before, work, _ in _PROGRAMS.values()]
    ended = {
        name: (code, errors)
        for name, (code, _, errors) in zip(_PROGRAMS, run(programs), strict=True)
    }
    assert ended == {name: (code, "") for name, (_, _, code) in _PROGRAMS.items()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_waits_only_for_its_own_searches() -> None:
    quiet = "import atexit, warnings\nwarnings.simplefilter('ignore')\n"
    forked = program("callable", _WORK["a long search"] + _FORKED, quiet)
    assert run([forked]) == [(0, "True\n", "")]
