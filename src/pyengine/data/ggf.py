"""Othello games in GGF, the format of the GGS server and of NBoard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyengine.base.checks import shortened
from pyengine.errors import ConfigError, DataError, IllegalActionError
from pyengine.games.game import State, load_game
from pyengine.games.move_names import find_action
from pyengine.games.outcomes import winner_of

_HEAD = re.compile(r"\(\s*;\s*GM\s*\[\s*Othello\s*\]", re.IGNORECASE)
_GAME = re.compile(r"\(\s*;(?:[^\[\]]|\[[^\]]*\])*?;\s*\)")  # ;) may be in a value
_PROPERTY = re.compile(r"([A-Z]{1,2})\s*\[([^\]]*)\]")
_STONES = str.maketrans({"*": "X", "O": "O", "-": "."})
_LETTERS = str.maketrans({"X": "*", "O": "O", ".": "-"})
_PASSES = ("pa", "pas", "pass")
_RESULT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(?::\s*([a-z]))?")
_WITHOUT_SCORE = {"r": "R", "t": "T"}


@dataclass(frozen=True)
class GgfGame:
    """An Othello game.

    Attributes:
        start: the first position.
        actions: the moves.
        players: the names of Black and White, "" if unknown.
        result: the result as in SGF, such as ``"B+4"`` or ``"W+T"``; "" if unknown.
        notes: what was unusual.
    """

    start: State
    actions: tuple[int, ...]
    players: tuple[str, str] = ("", "")
    result: str = ""
    notes: tuple[str, ...] = ()


def is_ggf(text: str) -> bool:
    """Return whether a text holds a game in GGF."""
    return _HEAD.search(text) is not None


def read_ggf(text: str) -> GgfGame:
    """Return the first game in a text. A pass may be omitted.

    Raises DataError if the game is damaged, illegal, or a variant such as anti-Othello.

    Example:
        >>> from pyengine.data.ggf import read_ggf
        >>> board = "8 " + 27 * "-" + "O*------*O" + 27 * "-" + " *"
        >>> game = read_ggf(f"(;GM[Othello]BO[{board}]B[F5/0.5/2]W[D6];)")
        >>> [game.start.action_to_string(action) for action in game.actions]
        ['f5', 'd6']
    """
    heads = list(_HEAD.finditer(text))
    if not heads:
        raise DataError("expected a game that begins with (;GM[Othello]")
    whole = _GAME.match(text, heads[0].start())
    if whole is None:
        raise DataError("the game is truncated: expected ;) at its end")
    pairs = [(name, value.strip()) for name, value in _PROPERTY.findall(whole[0])]
    values = dict(reversed(pairs))  # the first of each name
    kind = values.get("TY", "8").lstrip("0123456789").lower()
    if "a" in kind:
        raise DataError(f"expected Othello, got anti-Othello (TY[{shortened(values['TY'])}])")
    start = _start(values.get("BO", ""))
    several = (f"several games: read the first of {len(heads)}",) if len(heads) > 1 else ()
    return GgfGame(
        start,
        tuple(_moves(start.clone(), pairs)),
        (values.get("PB", ""), values.get("PW", "")),
        _result(values.get("RE", "")),
        several,
    )


def _start(board: str) -> State:
    """Return the position of a BO: size, points from the top, player to move."""
    size, _, rest = board.strip().partition(" ")
    points = "".join(rest.split())
    if not size.isdecimal() or len(size) > 2 or set(points) - set("*O-"):
        raise DataError(f"BO[{shortened(board)}]: expected a size, points of *O- and a player")
    side = int(size)
    if len(points) != side * side + 1 or points[-1] == "-":
        raise DataError(f"BO: expected {side * side} points and the player to move")
    rows = [points[i * side : (i + 1) * side].translate(_STONES) for i in range(side)]
    try:
        game = load_game("othello", board_size=side)
        initial = game.new_initial_state()
        if initial.board_rows() == rows and points[-1] == "*":
            return initial
        return game.state_from_board(rows, "*O".index(points[-1]))
    except ConfigError as error:
        raise DataError(f"BO: {error}") from error


def _moves(state: State, pairs: Sequence[tuple[str, str]]) -> list[int]:
    actions: list[int] = []
    for name, value in pairs:
        if name not in ("B", "W"):
            continue
        move = value.partition("/")[0].strip()
        number = len(actions) + 1
        is_pass = move.lower() in _PASSES
        if state.is_terminal() and is_pass:
            continue  # the passes of both players end the game already
        if state.is_terminal():
            raise DataError(f"move {number}: {name}[{shortened(value)}] follows the end")
        if "BW".index(name) != state.current_player() and _must_pass(state):
            actions.append(_play(state, "pass", number))
        if "BW".index(name) != state.current_player():
            raise DataError(f"move {number}: {name}[{shortened(value)}] is out of turn")
        actions.append(_play(state, "pass" if is_pass else move, number))
    return actions


def _must_pass(state: State) -> bool:
    return [state.action_to_string(action) for action in state.legal_actions()] == ["pass"]


def _play(state: State, move: str, number: int) -> int:
    try:
        action = find_action(state, move)
        state.apply_action(action)
    except IllegalActionError as error:
        raise DataError(f"move {number}: {shortened(move)} is not legal") from error
    return action


def _result(text: str) -> str:
    """Return RE, Black's lead in discs, in the form of SGF; "" if there is none."""
    match = _RESULT.match(text)
    if match is None:
        return ""
    lead = float(match[1])
    if lead == 0:
        return "0"
    return f"{'B' if lead > 0 else 'W'}+{_WITHOUT_SCORE.get(match[2], format(abs(lead), 'g'))}"


def write_ggf(start: State, actions: Sequence[int], *, players: tuple[str, str] = ("", "")) -> str:
    """Return a game of Othello in GGF, in one line; the result is written if the game is over.

    ``start``: the first position. Raises ConfigError for another game.
    """
    game = start.game
    if game.name != "othello" or not game.has_board:
        raise ConfigError(f"GGF supports othello, got {game}")
    size = game.board_shape[0]
    points = "".join(start.board_rows()).translate(_LETTERS)
    to_move = "*O"[max(start.current_player(), 0)]
    state = start.clone()
    moves = []
    for action in actions:
        name = state.action_to_string(action)
        move = "PA" if name == "pass" else name.upper()
        moves.append(f"{'BW'[state.current_player()]}[{move}]")
        state.apply_action(action)
    names = [name.replace("[", "(").replace("]", ")") for name in players]
    return (
        f"(;GM[Othello]PC[pyengine]PB[{names[0]}]PW[{names[1]}]RE[{_lead(state)}]TY[{size}]"
        f"BO[{size} {points} {to_move}]{''.join(moves)};)"
    )


def _lead(state: State) -> str:
    """Return Black's lead at the end of a game, empty points to the winner; ``?`` before."""
    if not state.is_terminal():
        return "?"
    points = "".join(state.board_rows())
    winner = winner_of(state)
    if winner is None:
        return "0"
    loser = points.count("OX"[winner])
    return format((len(points) - 2 * loser) * (1 - 2 * winner), "+d")
