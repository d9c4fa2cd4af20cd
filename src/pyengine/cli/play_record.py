"""Games of the terminal in files: a list of moves, or SGF for Go and Gomoku."""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path
from typing import Any

from pyengine.cli.looks import look_of
from pyengine.data.sgf import SgfRules, sgfmill
from pyengine.errors import ConfigError, DataError
from pyengine.files import check_output, read_limited, write_durably
from pyengine.games import Game, State
from pyengine.outcomes import Lost, outcome_text, sgf_result

__all__ = ["load", "record_path", "save"]

_HEAD = "pyengine game"


def record_path(game: Game, now: datetime.datetime) -> Path:
    """Return where a game that begins now is kept while it is played."""
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    state = os.environ.get(variable) or Path("~").expanduser() / ".local" / "state"
    name = f"{game.name}-{now:%Y%m%d-%H%M%S-%f}.txt"
    return Path(state) / "pyengine" / "games" / name


def save(path: Path, start: State, actions: list[int], lost: Lost | None) -> None:
    """Write the game: SGF where the name ends so, else a list of moves.

    ``lost`` says who lost without a last move. Where names of moves cannot be read back one by one,
    since they have spaces or several moves have the same, the list of moves has their numbers too.

    Raises ConfigError where there can be no such file or the game has no SGF, DataError where it
    cannot be written.
    """
    check_output(path)
    text = _sgf(start, actions, lost) if _is_sgf(path) else _moves(start, actions, lost)
    try:
        write_durably(path, [text])
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error


def load(path: Path, game: Game) -> State:
    """Return the last position of a game that :func:`save` wrote.

    Raises DataError for what is no such file, or of another game.
    """
    try:
        content = read_limited(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        return _of_sgf(content, game) if _is_sgf(path) else _of_moves(content.decode(), game)
    except (ValueError, KeyError) as error:  # IllegalActionError too
        raise DataError(f"{path}: expected a game of {game}, found {error}") from error


def _is_sgf(path: Path) -> bool:
    return path.suffix.lower() == ".sgf"


def _moves(start: State, actions: list[int], lost: Lost | None) -> bytes:
    names, state, readable = [], start.clone(), True
    for action in actions:
        name = state.action_to_string(action)
        readable = readable and _names_alone(state, name, action)
        names.append(" ".join(name.split()))
        state.apply_action(action)
    look = look_of(start.game)
    result = outcome_text(state, lambda player: look.player(player, drawn=False), lost)
    lines = [_HEAD, f"game: {start.game}", f"moves: {' '.join(names)}", f"result: {result}"]
    if not readable:
        lines.insert(3, f"actions: {' '.join(map(str, actions))}")
    if start.serialize() != start.game.new_initial_state().serialize():
        lines.insert(2, f"start: {start.serialize()}")
    return "".join(f"{line}\n" for line in lines).encode()


def _names_alone(state: State, name: str, action: int) -> bool:
    """Return whether a name among others in a line is read back as the action."""
    if name.split() != [name]:
        return False
    try:
        return int(state.string_to_action(name)) == action
    except ValueError:  # IllegalActionError
        return False


def _of_moves(text: str, game: Game) -> State:
    head, _, body = text.partition("\n")
    if head.strip() != _HEAD:
        raise ValueError(f"{head[:40]!r} in the first line instead of {_HEAD!r}")
    entries = dict(line.split(":", 1) for line in body.splitlines() if ":" in line)
    if entries["game"].strip() != str(game):
        raise ValueError(f"one of {entries['game'].strip()}")
    start = entries.get("start")
    state = game.new_initial_state() if start is None else game.deserialize_state(start.strip())
    if "actions" in entries:
        for number in entries["actions"].split():
            state.apply_action(int(number))
        return state
    for name in entries["moves"].split():
        state.apply_action(state.string_to_action(name))
    return state


def _sgf(start: State, actions: list[int], lost: Lost | None) -> bytes:
    rules = SgfRules.of(start.game)
    if str(start) != str(start.game.new_initial_state()):
        raise ConfigError("SGF: expected a game from the empty board; save it as a .txt file")
    record = sgfmill("sgf").Sgf_game(size=rules.size)
    root = record.get_root()
    root.set_raw("GM", b"%d" % rules.number)
    if "komi" in start.game.params:
        root.set("KM", start.game.params["komi"])
    root.set("RU", str(start.game))
    state = start.clone()
    for action in actions:
        node = record.extend_main_sequence()
        node.set_move("bw"[state.current_player()], rules.move(action))
        state.apply_action(action)
    if result := sgf_result(state, lost):
        root.set("RE", result)
    return bytes(record.serialise())


def _of_sgf(content: bytes, game: Game) -> State:
    rules = SgfRules.of(game)
    record: Any = sgfmill("sgf").Sgf_game.from_bytes(content)
    if record.get_size() != rules.size:
        raise ValueError(f"a board of {record.get_size()}x{record.get_size()}")
    nodes = record.get_main_sequence()
    root = nodes[0]
    number = root.get("GM") if root.has_property("GM") else 1
    if number != rules.number:
        raise ValueError(f"one of another game, GM[{number}]")
    if any(node.has_setup_stones() for node in nodes):
        raise ValueError("stones that no move placed (AB, AW)")
    komi = game.params.get("komi")
    if komi is not None and root.has_property("KM") and root.get("KM") != komi:
        raise ValueError(f"a komi of {root.get('KM'):g}")
    state = game.new_initial_state()
    for node in nodes:
        colour, move = node.get_move()
        if colour is None:
            continue
        if "bw".index(colour) != state.current_player():
            raise ValueError(f"a move of the other player at ply {len(state.history())}")
        action = rules.action(move)
        if action is None:
            raise ValueError(f"a pass at ply {len(state.history())}")
        state.apply_action(action)
    return state
