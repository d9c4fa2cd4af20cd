"""Writing games as SGF: new games, and continuations of a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pyengine._core import __version__
from pyengine.data.sgf.collection import SgfError, grammar
from pyengine.data.sgf.record import EXACT_RULES, SgfGame, number_of, rules_name
from pyengine.data.sgf.values import COLOURS, Board, move_of, point_text, read_move
from pyengine.errors import ConfigError
from pyengine.games.game import State

_OF_ROOTS = ("AP", "CA", "FF", "GM", "ST", "SZ")
#: Properties of which a node may have one.
_EXCLUSIVE = (("BM", "DO", "IT", "TE"), ("GB", "GW", "DM", "UC"))
_MARKS = ("CR", "MA", "SL", "SQ", "TR")  # on different points

#: A player, and an action (None for a pass).
_Move: TypeAlias = tuple[int, int | None]


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """What to add to a node; its own comment, marks and annotations stay.

    Attributes:
        comment: text.
        values: other properties with one value, such as ``{"BM": "1"}``.
        marks: points to mark, as actions, by property, such as ``{"TR": [40]}``.
        labels: labels of points.
        variations: lines from this position, with a comment on the first move.
    """

    comment: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, Sequence[int]] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    variations: Sequence[tuple[Sequence[int], str]] = ()


class _Node:
    """A node of the tree to write; its first child continues the main line."""

    def __init__(self, properties: Mapping[str, list[bytes]]) -> None:
        # sgfmill drops lowercase letters, so a lowercase name becomes empty.
        self.properties = {name: values for name, values in properties.items() if name}
        self._children: list[_Node] = []  # sgfmill's make_tree() uses this name

    @property
    def children(self) -> list[_Node]:
        return self._children

    def set(self, name: str, text: str) -> None:
        self.properties[name] = [grammar().escape_text(text.encode())]

    def comment(self, text: str) -> None:
        """Add a paragraph to the comment."""
        texts = [*self.properties.get("C", []), *([text.encode()] if text else [])]
        if text:
            texts[-1] = grammar().escape_text(texts[-1])
            self.properties["C"] = [b"\n\n".join(texts)]

    def annotate(self, annotation: Annotation, board: Board) -> None:
        """Add comment, values, marks and labels."""
        self.comment(annotation.comment)
        for name, value in annotation.values.items():
            group = next((group for group in _EXCLUSIVE if name in group), (name,))
            if not self.properties.keys() & set(group):
                self.set(name, value)
        marked = {value for name in _MARKS for value in self.properties.get(name, ())}
        for name, actions in annotation.marks.items():
            points = [point_text(action, board) for action in actions]
            if new := [point for point in points if point not in marked]:
                self.properties[name] = [*self.properties.get(name, []), *new]
        if annotation.labels and "LB" not in self.properties:
            self.properties["LB"] = [
                point_text(action, board) + b":" + label.encode()
                for action, label in annotation.labels.items()
            ]

    def move(self, board: Board) -> _Move | None:
        """Return the move of the node; None if missing or unreadable."""
        try:
            move = move_of(self.properties)
            return None if move is None else (move[0], read_move(move[1], board))
        except SgfError:
            return None

    def has_move(self) -> bool:
        """Return whether there is a move, readable or not, or a resignation."""
        return any(name in self.properties for name in COLOURS)

    def main_line(self) -> Iterator[_Node]:
        """Yield this node, its first child, and so on."""
        node = self
        yield node
        while node.children:
            node = node.children[0]
            yield node

    def before_move(self) -> _Node | None:
        """Return the last node of the main line before the next move or resignation."""
        line = (node for node in self.main_line() if node.children)
        return next((node for node in line if node.children[0].has_move()), None)


def write_sgf(
    start: State,
    actions: Sequence[int],
    *,
    result: str = "",
    texts: Mapping[str, str] | None = None,
    comments: Mapping[int, str] | None = None,
    annotations: Mapping[int, Annotation] | None = None,
    record: SgfGame | None = None,
    keep_rules: bool = False,
) -> bytes:
    """Return a game as SGF.

    Args:
        start: the start position, without moves before it.
        actions: the moves.
        result: text for RE; "" if the game is not over. If the game of a record is over and
            unchanged, its result is retained, which may account for dead stones.
        texts: other properties of the root, such as DT. They do not replace properties of the
            record, and are left out if its game is unchanged.
        comments: comments by ply; a comment is attached to the move made from that position.
        annotations: by ply: 0 is the start, 1 the position after the first move.
        record: a record that this game continues, from the same start. All its content is written.
            If the game leaves its main line, the game becomes the main line and the moves of the
            record become a variation.
        keep_rules: leave komi and rules of the record as they are.

    Raises ConfigError if SGF does not support the game or the start.
    """
    number_of(start.game)
    root = _Node({}) if record is None else _tree_of(record)
    board = start.game.board_shape
    line, end = _line(start, actions)
    unchanged = record is not None and line == list(record.moves[: len(line)])
    if record is not None and len(line) < len(record.moves) and not end.is_terminal():
        unchanged = False
    node = _start_node(root, 0 if record is None else record.skipped)
    nodes = [node]
    for ply, move in enumerate(line):
        node = _follow(node, move, board)
        nodes.append(node)
        if comments is not None and ply in comments:
            node.set("C", comments[ply])
    if not unchanged and (ahead := node.before_move()) is not None:
        ahead.children.insert(0, _Node({}))  # ends the main line here
    _annotate(nodes, start, actions, annotations or {})
    _describe(root, start, record, keep_rules)
    if record is not None and unchanged:
        recorded = record.result_text or str(record.resignation or "")
        result = recorded or result if end.is_terminal() else result or recorded
        unchanged = end.is_terminal() or result == recorded
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


def _annotate(
    nodes: Sequence[_Node],
    start: State,
    actions: Sequence[int],
    annotations: Mapping[int, Annotation],
) -> None:
    state = start.clone()
    for ply, node in enumerate(nodes):
        if annotation := annotations.get(ply):
            node.annotate(annotation, start.game.board_shape)
            for line, comment in annotation.variations:
                _add_variation(node, state, line, comment)
        if ply < len(actions):
            state.apply_action(actions[ply])


def _add_variation(node: _Node, state: State, actions: Sequence[int], comment: str) -> None:
    """Add a line after the main line, or to a variation that begins in the same way."""
    board = state.game.board_shape
    moves, _ = _line(state, actions)
    node = node.before_move() or node
    for ply, move in enumerate(moves):
        child = next((child for child in node.children if child.move(board) == move), None)
        if child is None:
            child = _move_node(move, board)
            node.children.append(child)
        if ply == 0:
            child.comment(comment)
        node = child


def _move_node(move: _Move, board: Board) -> _Node:
    player, point = move
    return _Node({COLOURS[player]: [b"" if point is None else point_text(point, board)]})


def _tree_of(record: SgfGame) -> _Node:
    """Return the nodes of a record; a move in the root moves to a new node.

    Root properties are dropped from all other nodes; :func:`_describe` sets those of the root.
    """
    root = _Node(record.tree.sequence[0])

    def build(_parent: _Node, properties: Mapping[str, list[bytes]]) -> _Node:
        return _Node({name: properties[name] for name in properties if name not in _OF_ROOTS})

    grammar().make_tree(record.tree, root, build, lambda parent, node: parent.children.append(node))
    if root.has_move():
        first = _Node(
            {name: root.properties.pop(name) for name in COLOURS if name in root.properties}
        )
        first.children.extend(root.children)
        root.children[:] = [first]
    return root


def _start_node(root: _Node, skipped: int) -> _Node:
    """Return the node before the first move, after set-up and handicap stones."""
    node = root
    for _ in range(skipped):
        node = (node.before_move() or node).children[0]
    return node.before_move() or (node if skipped else list(node.main_line())[-1])


def _follow(node: _Node, move: _Move, board: Board) -> _Node:
    """Return the node for a move after ``node``, existing or new, and make it the main line."""
    children = (node.before_move() or node).children
    child = next((child for child in children if child.move(board) == move), None)
    if child is None:
        child = _move_node(move, board)
    else:
        children.remove(child)
    children.insert(0, child)
    return child


def _describe(root: _Node, start: State, record: SgfGame | None, keep_rules: bool) -> None:
    """Set the properties of the root that describe the game and its start."""
    game = start.game
    rows, columns = game.board_shape
    root.set("FF", "4")
    root.set("GM", str(number_of(game)))
    root.set("CA", "UTF-8")
    root.set("AP", f"pyengine:{__version__}")
    root.set("SZ", f"{rows}" if rows == columns else f"{columns}:{rows}")
    if record is None or not keep_rules:
        root.set(EXACT_RULES, str(game))
        root.properties.pop("RU", None)
        if rules_name(game):
            root.set("RU", rules_name(game))
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
        raise ConfigError("SGF needs the game from its first move: save it as a .txt file instead")
    stones = "".join(start.board_rows())
    board = start.game.board_shape
    for name, stone in (("AB", "X"), ("AW", "O")):
        points = [point_text(i, board) for i, other in enumerate(stones) if other == stone]
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
