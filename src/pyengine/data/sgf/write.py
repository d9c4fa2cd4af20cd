"""Writes games as SGF: new ones, and continuations of a record with all that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyengine._core import __version__
from pyengine.data.sgf.collection import SgfError, grammar
from pyengine.data.sgf.record import EXACT_RULES, SgfGame
from pyengine.data.sgf.rules import number_of, rules_name
from pyengine.data.sgf.values import COLOURS, Board, move_of, read_move
from pyengine.errors import ConfigError
from pyengine.games.game import State

_OF_ROOTS = ("AP", "CA", "FF", "GM", "ST", "SZ")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

#: A player, and an action or None for a pass.
_Move: TypeAlias = tuple[int, int | None]


class _Node:
    """A node of the tree that is written; its first child is the main line."""

    def __init__(self, properties: Mapping[str, list[bytes]]) -> None:
        # sgfmill drops small letters, so a name that has no others is empty.
        self.properties = {name: values for name, values in properties.items() if name}
        self._children: list[_Node] = []  # the name that sgfmill's make_tree() uses

    @property
    def children(self) -> list[_Node]:
        return self._children

    def set(self, name: str, text: str) -> None:
        self.properties[name] = [grammar().escape_text(text.encode())]

    def move(self, board: Board) -> _Move | None:
        """The move of the node; None without one that can be read."""
        try:
            move = move_of(self.properties)
            return None if move is None else (move[0], read_move(move[1], board))
        except SgfError:
            return None

    def has_move(self) -> bool:
        """Whether there is a move, or what stands in the place of one."""
        return any(name in self.properties for name in COLOURS)

    def main_line(self) -> Iterator[_Node]:
        """This node, its first child, and so on."""
        node = self
        yield node
        while node.children:
            node = node.children[0]
            yield node

    def before_move(self) -> _Node | None:
        """The node of the main line, from this one on, before the next move or resignation."""
        line = (node for node in self.main_line() if node.children)
        return next((node for node in line if node.children[0].has_move()), None)


def write_sgf(
    start: State,
    actions: Sequence[int],
    *,
    result: str = "",
    texts: Mapping[str, str] | None = None,
    comments: Mapping[int, str] | None = None,
    record: SgfGame | None = None,
) -> bytes:
    """Return a game as SGF.

    Args:
        start: where it begins, without moves before it.
        actions: the moves.
        result: as in RE; "" while the game goes on. If a record's game is over and unchanged, its
            own result stands, which may count dead stones.
        texts: other properties of the root, such as DT. They do not replace those of the record,
            and are left out if its game is unchanged.
        comments: by the number of moves before a position; a comment stands at the move made there.
        record: a record that this game continues, from the same start. All that it holds is
            written. If the game leaves its main line, the game becomes the main line and the moves
            of the record a variation.

    Raises ConfigError for a game or a start that SGF does not have.
    """
    number_of(start.game)
    root = _Node({}) if record is None else _tree_of(record)
    board = start.game.board_shape
    line, end = _line(start, actions)
    unchanged = record is not None and line == list(record.moves[: len(line)])
    if record is not None and len(line) < len(record.moves) and not end.is_terminal():
        unchanged = False
    node = _start_node(root, 0 if record is None else record.skipped)
    for ply, move in enumerate(line):
        node = _follow(node, move, board)
        if comments is not None and ply in comments:
            node.set("C", comments[ply])
    if not unchanged and (ahead := node.before_move()) is not None:
        ahead.children.insert(0, _Node({}))  # the main line ends here; what follows is a variation
    _describe(root, start, record)
    if record is not None and unchanged:
        own = record.result_text or str(record.resignation or "")
        result = own or result if end.is_terminal() else result or own
        unchanged = end.is_terminal() or result == own
    _set_result(root, result)
    for name, text in (texts or {}).items():
        if not unchanged and not any(name in node.properties for node in root.main_line()):
            root.set(name, text)
    sgf = grammar()
    tree = sgf.make_coarse_game_tree(root, lambda n: n.children, lambda n: n.properties)
    return bytes(sgf.serialise_game_tree(tree))


def _line(start: State, actions: Sequence[int]) -> tuple[list[_Move], State]:
    rows, columns = start.game.board_shape
    state, line = start.clone(), []
    for action in actions:
        line.append((state.current_player(), None if action == rows * columns else action))
        state.apply_action(action)
    return line, state


def _tree_of(record: SgfGame) -> _Node:
    """Return the nodes of a record; a move in its root goes to a node of its own.

    Only the root keeps properties of a root, which :func:`_describe` sets.
    """
    root = _Node(record.tree.sequence[0])

    def build(_parent: _Node, properties: Mapping[str, list[bytes]]) -> _Node:
        return _Node({name: properties[name] for name in properties if name not in _OF_ROOTS})

    grammar().make_tree(record.tree, root, build, lambda parent, one: parent.children.append(one))
    if root.has_move():
        first = _Node(
            {name: root.properties.pop(name) for name in COLOURS if name in root.properties}
        )
        first.children.extend(root.children)
        root.children[:] = [first]
    return root


def _start_node(root: _Node, skipped: int) -> _Node:
    """Return the node of the position before the first move, set-up and handicap included."""
    node = root
    for _ in range(skipped):
        node = (node.before_move() or node).children[0]
    return node.before_move() or (list(node.main_line())[-1] if not skipped else node)


def _follow(node: _Node, move: _Move, board: Board) -> _Node:
    """Return the node of a move after a node: of the main line, of a variation, or a new one."""
    children = (node.before_move() or node).children
    same = next((child for child in children if child.move(board) == move), None)
    if same is None:
        player, point = move
        same = _Node({COLOURS[player]: [b"" if point is None else _point(point, board)]})
    else:
        children.remove(same)  # it becomes the main line
    children.insert(0, same)
    return same


def _describe(root: _Node, start: State, record: SgfGame | None) -> None:
    """Set the properties of the root that say which game this is, and where it begins."""
    game = start.game
    rows, columns = game.board_shape
    for name, text in (
        ("FF", "4"),
        ("GM", str(number_of(game))),
        ("CA", "UTF-8"),
        ("AP", f"pyengine:{__version__}"),
        ("SZ", f"{rows}" if rows == columns else f"{columns}:{rows}"),
        ("RU", rules_name(game)),
        (EXACT_RULES, str(game)),
    ):
        root.set(name, text)
    if not rules_name(game):
        del root.properties["RU"]
    if "komi" in game.params and (record is None or record.komi != game.params["komi"]):
        root.set("KM", format(game.params["komi"], "g"))
    if str(start) != str(game.new_initial_state()):
        if record is None:
            _set_up(root, start)
        for node in root.main_line():
            node.properties.pop("PL", None)
        root.set("PL", COLOURS[start.current_player()])


def _set_up(root: _Node, start: State) -> None:
    if start.history():
        raise ConfigError("SGF: expected a game from its first move; save it as a .txt file")
    stones = "".join(start.board_rows())
    for name, stone in (("AB", "X"), ("AW", "O")):
        points = [_point(i, start.game.board_shape) for i, one in enumerate(stones) if one == stone]
        if points:
            root.properties[name] = points
    black = stones.count("X")
    if start.game.name == "go" and black > 1 and "O" not in stones and start.current_player() == 1:
        root.set("HA", str(black))


def _set_result(root: _Node, result: str) -> None:
    for node in root.main_line():
        node.properties.pop("RE", None)
    if result:
        root.set("RE", result)


def _point(action: int, board: Board) -> bytes:
    row, column = divmod(action, board[1])
    return f"{_LETTERS[column]}{_LETTERS[row]}".encode()
