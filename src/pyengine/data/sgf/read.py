"""Reading SGF games: from the nodes of the main line to a record."""

from __future__ import annotations

import os

from pyengine.base.checks import shortened
from pyengine.base.files import path_of, read_limited, unread
from pyengine.data.sgf.collection import SgfError, SgfTree, grammar, read_collection
from pyengine.data.sgf.record import EXACT_RULES, GAME_NUMBERS, SgfGame
from pyengine.data.sgf.values import (
    COLOURS,
    Board,
    Properties,
    Result,
    is_usual,
    move_of,
    points_of,
    read_komi,
    read_move,
    read_result,
    read_size,
    text_of,
)
from pyengine.errors import DataError


def read_sgf(file: str | os.PathLike[str] | bytes) -> SgfGame:
    """Return the first game of an SGF file; ``file`` is its path or content.

    Raises:
        DataError: the file cannot be read, or its first game is damaged or ambiguous.
        EngineError: sgfmill is missing; the message names the extra ``sgf``.

    Example:
        >>> from pyengine.data.sgf import read_sgf
        >>> record = read_sgf(b"(;SZ[9]KM[7,5]HA[2]AB[gc][cg];W[ee];B[gg])")
        >>> replay = record.replay(record.game())
        >>> replay.start.current_player(), [replay.end.action_to_string(a) for a in replay.actions]
        (1, ['E5', 'G3'])
        >>> record.notes
        {'a komi in an unusual form': 'KM[7,5], read as 7.5'}
    """
    if isinstance(file, bytes):
        return first_game(file)
    path = path_of("file", file)
    try:
        return first_game(read_limited(path))
    except SgfError as error:
        raise DataError(f"{path}: {error}") from error
    except OSError as error:
        raise DataError(unread(path, error)) from error


def first_game(content: bytes) -> SgfGame:
    """Return the first game in the content of a file. Raises SgfError if it is damaged."""
    trees = read_collection(content)
    game = read_game(next(trees))
    others = sum(1 for _ in trees)
    if others:
        game.notes["several games"] = f"read the first of {others + 1}"
    return game


def read_game(tree: SgfTree) -> SgfGame:
    """Return the record of a tree. Raises SgfError if it is damaged or unclear."""
    if tree.error is not None:
        raise tree.error
    nodes: list[Properties] = list(grammar().main_sequence_iter(tree.tree))
    notes = dict(tree.notes)

    def text(name: str) -> str:
        """Return the first value in the main line, which may be outside the root."""
        return next(filter(None, (text_of(node, name) for node in nodes if name in node)), "")

    number = text("GM") or "1"
    if not number.isdecimal() or len(number) > 3 or int(number) not in GAME_NUMBERS:
        raise SgfError("another game", f"GM[{shortened(number)}]")
    board = read_size(text("SZ"))
    line = _MainLine(board, notes)
    for node in nodes:
        line.add(node)
    if line.late_set_up:
        notes["set-up stones after the last move"] = line.late_set_up
    handicap = line.handicap(text("HA")) if number == "1" else 0
    player = line.player_at_start()
    result_text = text("RE")
    if not is_usual(result_text):
        notes["a result in an unusual form"] = f"RE[{shortened(result_text)}]"
    if any("KM" in node for node in nodes) and not text("KM"):
        notes["unclear komi"] = "KM[]"
    return SgfGame(
        number=int(number),
        board=board,
        komi=read_komi(text("KM"), notes) if text("KM") else None,
        rules=text("RU"),
        handicap=handicap,
        result=read_result(result_text) or line.resignation,
        resignation=line.resignation,
        result_text=result_text,
        players=(text("PB"), text("PW")),
        start=line.start(player),
        player=player,
        moves=tuple(line.moves),
        skipped=line.skipped,
        exact_rules=text(EXACT_RULES),
        notes=notes,
        tree=tree.tree,
    )


class _MainLine:
    """The set-up stones and moves of a main line, collected node by node."""

    def __init__(self, board: Board, notes: dict[str, str]) -> None:
        self.board = board
        self.notes = notes
        self.stones: dict[int, str] = {}
        self.to_move = ""  # from PL
        self.moves: list[tuple[int, int | None]] = []
        self.skipped = 0
        self.resignation: Result | None = None
        self.late_set_up = ""

    def add(self, node: Properties) -> None:
        if "" in node:  # sgfmill drops lowercase letters, per FF[3]
            value = shortened(node[""][0].decode())
            raise SgfError("unreadable", f"[{value}] belongs to a property in lowercase")
        for name, stone in (("AB", "X"), ("AW", "O"), ("AE", ".")):
            if name not in node:
                continue
            points = list(points_of(node, name, self.board))
            if points and self.moves:
                self.late_set_up = f"{name} after move {len(self.moves)}"
            elif points:
                self.stones.update(dict.fromkeys(points, stone))
        if "PL" in node and not self.moves:
            self.to_move = text_of(node, "PL")[:1].upper()
            if self.to_move not in COLOURS:
                self.notes["unclear player to move"] = f"PL[{shortened(text_of(node, 'PL'))}]"
        move = move_of(node)
        if move is not None:
            self._add_move(*move)

    def _add_move(self, player: int, value: str) -> None:
        if self.late_set_up:
            raise SgfError("set-up stones after the first move", self.late_set_up)
        if self.resignation is not None:
            self.notes["moves after the end"] = "after a resignation"
        elif value.strip().lower() in ("resign", "resigns", "resigned"):
            self.resignation = Result(1 - player, "resign")
            self.notes["a resignation as a move"] = f"{COLOURS[player]}[{shortened(value)}]"
        else:
            move = read_move(value, self.board)
            self.moves.append((player, move))
            if move is None and value not in ("", "tt"):
                self.notes["a pass in an unusual form"] = f"{COLOURS[player]}[{shortened(value)}]"

    def handicap(self, text: str) -> int:
        """Return the handicap (HA); its stones may be the first moves, all of them Black's."""
        if not text:
            return 0
        if not text.isdecimal() or len(text) > 3:
            self.notes["unclear handicap"] = f"HA[{shortened(text)}]"
            return 0
        handicap = int(text)
        if handicap < 2:
            return 0
        black = sum(stone == "X" for stone in self.stones.values())
        if not self.stones:
            colours = [player for player, _ in self.moves[: handicap + 1]]
            points = [move for _, move in self.moves[:handicap] if move is not None]
            black_first = colours in ([0] * handicap, [0] * handicap + [1])
            if len(set(points)) != handicap or not black_first:
                raise SgfError("handicap without stones", f"HA[{text}]")
            self.stones = dict.fromkeys(points, "X")
            del self.moves[:handicap]
            self.skipped = handicap
            self.notes["handicap stones as moves"] = f"HA[{text}]"
        elif black != handicap:
            self.notes["handicap differs from the stones"] = f"HA[{text}], {black} stones"
        return handicap

    def player_at_start(self) -> int:
        """Return the player to move at the start.

        This is the player of the first move, else the one in PL, else White after a handicap.
        """
        stones = [stone for stone in self.stones.values() if stone != "."]
        named = COLOURS.index(self.to_move) if self.to_move in COLOURS else None
        if not self.moves:
            return int(bool(stones) and "O" not in stones) if named is None else named
        first = self.moves[0][0]
        if not stones and first == 1 and named != 1:
            raise SgfError("White begins", "move 1")
        if named not in (None, first):
            self.notes["PL contradicts the first move"] = f"PL[{self.to_move}]"
        return first

    def start(self, player: int) -> tuple[str, ...] | None:
        """Return the rows of the position before the first move; None for the standard start."""
        rows, columns = self.board
        points = [self.stones.get(point, ".") for point in range(rows * columns)]
        if player == 0 and set(points) == {"."}:
            return None
        return tuple("".join(points[i * columns : (i + 1) * columns]) for i in range(rows))
