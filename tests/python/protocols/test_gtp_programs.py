"""GTP against real programs: GNU Go, Sabaki's client and gomill. Each is skipped if absent."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gtp_dialogue import answers

ENGINE = [sys.executable, "-m", "pyengine", "gtp", "go(board_size=5)", "-m", "uniform", "-n", "20"]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def program(name: str) -> str:
    """Return the path of a program; skip the test if it is absent."""
    path = shutil.which(name, path=f"{os.environ['PATH']}{os.pathsep}/usr/games")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


# --- GNU Go


@pytest.fixture
def gnugo() -> Iterator[subprocess.Popen[str]]:
    command = [program("gnugo"), "--mode", "gtp", "--chinese-rules"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def ask(process: subprocess.Popen[str], command: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{command}\n")
    process.stdin.flush()
    return "".join(iter(process.stdout.readline, "\n")).strip()


def test_gnu_go_accepts_every_move_and_sees_the_same_stones(gnugo: subprocess.Popen[str]):
    setup = ["boardsize 7", "komi 5.5", "clear_board"]
    said = answers(*setup, *("genmove b", "genmove w") * 20, "showboard")
    for command in setup:
        assert ask(gnugo, command) == "="
    for number, move in enumerate(said[3:-1]):
        assert ask(gnugo, f"play {'bw'[number % 2]} {move}") == "="
    shown = re.findall(r"^ \d ([.XO ]+) \d$", said[-1], re.MULTILINE)
    ours = {
        (f"{'ABCDEFG'[c]}{7 - r}", stone)
        for r, row in enumerate(shown)
        for c, stone in enumerate(row.split())
        if stone != "."
    }
    stones = {"X": ask(gnugo, "list_stones black"), "O": ask(gnugo, "list_stones white")}
    theirs = {(point, s) for s, text in stones.items() for point in text.split()[1:]}
    assert len(shown) == 7
    assert ours == theirs


# --- Sabaki's client

SABAKI = """
const {Controller, ControllerStateTracker} = require('@sabaki/gtp')
const [program, ...args] = JSON.parse(process.argv[1])
const controller = new Controller(program, args)
const tracker = new ControllerStateTracker(controller)
const send = (name, ...args) => controller.sendCommand({name, args})

async function main() {
  controller.start()
  const said = {}
  for (const name of ['name', 'protocol_version', 'list_commands'])
    said[name] = (await send(name)).content
  const play = (colour, vertex) => ({name: 'play', args: [colour, vertex]})
  const handicap = {name: 'set_free_handicap', args: ['A1', 'E5']}
  await tracker.sync({komi: 6.5, boardsize: [5, 5], history: [handicap, play('W', 'C3')]})
  await tracker.sync({komi: 0.5, boardsize: [5, 5], history: [play('B', 'C3'), play('B', 'D4')]})
  said.infos = []
  const analysis = controller.sendCommand({name: 'analyze', args: ['W', '5']}, ({line}) => {
    said.infos.push(line)
    if (said.infos.filter(x => x.startsWith('info ')).length === 2) send('protocol_version')
  })
  await analysis
  said.move = []
  await controller.sendCommand({name: 'genmove_analyze', args: ['W', '5']},
                               ({line}) => said.move.push(line))
  said.history = tracker.state.history
  await controller.stop(2000)
  console.log(JSON.stringify(said))
}
main()
"""


def test_the_client_of_sabaki_keeps_the_engine_in_step():
    node, npm = program("node"), program("npm")
    root = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=True)
    environment = {"NODE_PATH": root.stdout.strip()} | ENVIRONMENT
    found = [node, "-e", "require.resolve('@sabaki/gtp')"]
    if subprocess.run(found, env=environment, capture_output=True).returncode:
        pytest.skip("the npm package @sabaki/gtp is not installed globally")
    done = subprocess.run(
        [node, "-e", SABAKI, json.dumps(ENGINE)],
        env=environment, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert (said["name"], said["protocol_version"]) == ("pyengine", "2")
    assert "genmove_analyze" in said["list_commands"].split("\n")
    assert sum(line.startswith("info move ") for line in said["infos"]) >= 2
    assert re.fullmatch(r"play [A-E]\d", [line for line in said["move"] if line][-1])
    assert [entry["args"][0] for entry in said["history"]] == ["B", "B", "W"]


# --- gomill

#: Where gomill, which is written in Python 2, needs more than lib2to3.
GOMILL_FIXES = {
    r'\.(?:de|en)code\(["\']?(?:utf-8|ascii|[a-z_]*encoding)?["\']?(?:, *["\'][a-z]+["\'])?\)': "",
    r"string\.maketrans": "str.maketrans",
    r"subprocess\.Popen\(": "subprocess.Popen(universal_newlines=True, args=",
    r"division\.compiler_flag": "0",
    r"if not isinstance\(i, int\) or isinstance\(i, int\):": "if not isinstance(i, int):",
}

CONTROL_FILE = """
competition_type = 'playoff'
board_size = 5
komi = 0.5
players = {{name: Player({command!r}) for name in ('a', 'b')}}
matchups = [Matchup('a', 'b', number_of_games=2, alternating=True)]
"""


@pytest.mark.filterwarnings("ignore")
def test_the_ringmaster_of_gomill_plays_a_match(tmp_path: Path):
    gomill = importlib.util.find_spec("gomill")
    if gomill is None or gomill.origin is None or importlib.util.find_spec("lib2to3") is None:
        pytest.skip("gomill or lib2to3 is not installed")
    package = tmp_path / "gomill"
    shutil.copytree(Path(gomill.origin).parent, package)
    convert = [sys.executable, "-m", "lib2to3", "--write", "--nobackups", "--no-diffs", package]
    subprocess.run(convert, check=True, capture_output=True)
    for file in package.glob("*.py"):
        text = file.read_text("utf-8")
        for old, new in GOMILL_FIXES.items():
            text = re.sub(old, new, text)
        file.write_text(text, "utf-8")
    (tmp_path / "match.ctl").write_text(CONTROL_FILE.format(command=ENGINE))
    main = "from gomill import ringmaster_command_line; ringmaster_command_line.main()"
    environment = ENVIRONMENT | {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}",
    }
    played = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", main, "match.ctl", "run"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert played.returncode == 0, played.stdout + played.stderr
    report = (tmp_path / "match.report").read_text()
    assert "(2/2 games)" in report
    assert "forfeit" not in report
