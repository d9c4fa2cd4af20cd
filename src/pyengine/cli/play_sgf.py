"""Games of the terminal as SGF: the main line of Go or Gomoku, and stones set before it."""

from __future__ import annotations

from typing import Any

from pyengine.data.sgf import SgfRules, sgfmill
from pyengine.errors import ConfigError
from pyengine.games import Game, State, load_game
from pyengine.outcomes import Lost, sgf_result

__all__ = ["sgf_of", "sgf_rules", "state_of_sgf"]

_COLOURS = "bw"  # of the players


def sgf_of(start: State, actions: list[int], lost: Lost | None) -> bytes:
    """Return a game as SGF. Raises ConfigError where SGF has no such game or start."""
    rules = SgfRules.of(start.game)
    record = sgfmill("sgf").Sgf_game(size=rules.size)
    root = record.get_root()
    root.set_raw("GM", b"%d" % rules.number)
    if "komi" in start.game.params:
        root.set("KM", start.game.params["komi"])
    root.set("RU", str(start.game))
    if str(start) != str(start.game.new_initial_state()):
        if start.history():
            raise ConfigError("SGF: expected a game from its first move; save it as a .txt file")
        _set_stones(root, start, rules)
    state = start.clone()
    for action in actions:
        node = record.extend_main_sequence()
        node.set_move(_COLOURS[state.current_player()], rules.move(action))
        state.apply_action(action)
    if result := sgf_result(state, lost):
        root.set("RE", result)
    return bytes(record.serialise())


def _set_stones(root: Any, start: State, rules: SgfRules) -> None:
    stones: dict[str, list[Any]] = {"X": [], "O": [], ".": []}
    for point, stone in enumerate("".join(start.board_rows())):
        stones[stone].append(rules.move(point))
    root.set_setup_stones(stones["X"], stones["O"])
    root.set("PL", _COLOURS[start.current_player()])


def sgf_rules(content: bytes, game: Game) -> dict[str, Any]:
    """Return the parameters of a game that SGF names; the others have their defaults.

    Raises ValueError for what is no SGF, ConfigError for a game that SGF does not have.
    """
    number = SgfRules.of(game).number
    record: Any = sgfmill("sgf").Sgf_game.from_bytes(content)
    root = record.get_root()
    _check_number(root, number)
    rules = root.get("RU") if root.has_property("RU") else ""
    if rules.startswith(f"{game.name}("):  # as sgf_of() writes it
        return load_game(rules).params
    params = {"board_size": record.get_size()}
    if "komi" in game.params and root.has_property("KM"):
        params["komi"] = root.get("KM")
    return params


def _check_number(root: Any, expected: int) -> None:
    number = root.get("GM") if root.has_property("GM") else 1
    if number != expected:
        raise ValueError(f"one of another game, GM[{number}]")


def state_of_sgf(content: bytes, game: Game) -> State:
    """Return the last position of the main line.

    Raises ValueError for what is no SGF, or of another game.
    """
    rules = SgfRules.of(game)
    record: Any = sgfmill("sgf").Sgf_game.from_bytes(content)
    if record.get_size() != rules.size:
        raise ValueError(f"a board of {record.get_size()}x{record.get_size()}")
    nodes = record.get_main_sequence()
    root = nodes[0]
    _check_number(root, rules.number)
    if any(node.has_setup_stones() for node in nodes[1:]):
        raise ValueError("stones set after the first move (AB, AW, AE)")
    komi = game.params.get("komi")
    if komi is not None and root.has_property("KM") and root.get("KM") != komi:
        raise ValueError(f"a komi of {root.get('KM'):g}")
    moves = [move for move in (node.get_move() for node in nodes) if move[0] is not None]
    state = _start(root, moves, game, rules)
    for colour, move in moves:
        if state.is_terminal():
            raise ValueError(f"a move after the end, at ply {len(state.history())}")
        if _COLOURS.index(colour) != state.current_player():
            raise ValueError(f"a move of the other player at ply {len(state.history())}")
        action = rules.action(move)
        if action is None:
            raise ValueError(f"a pass at ply {len(state.history())}")
        state.apply_action(action)
    return state


def _start(root: Any, moves: list[Any], game: Game, rules: SgfRules) -> State:
    """Return the position before the moves: of an empty board, or of the stones set at the root."""
    if not root.has_setup_stones():
        return game.new_initial_state()
    black, white, _ = root.get_setup_stones()
    rows = [["."] * rules.size for _ in range(rules.size)]
    for stone, points in (("X", black), ("O", white)):
        for row, column in points:
            rows[rules.size - 1 - row][column] = stone
    if moves:
        player = moves[0][0]
    elif root.has_property("PL"):
        player = root.get("PL")
    else:
        player = "b" if white else "w"  # a handicap
    return game.state_from_board(["".join(row) for row in rows], _COLOURS.index(player))
