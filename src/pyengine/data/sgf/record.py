"""SGF game records: main line, properties, replay, and the names of games and rules."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from pyengine.base.checks import shortened
from pyengine.data.sgf.collection import SgfError
from pyengine.data.sgf.values import Board, Result
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import Game, State, load_game

#: Private property with the text of the game, since the name of the rules is not precise enough.
EXACT_RULES = "PYENGINE"


@dataclass(frozen=True)
class SgfGame:
    """A game record.

    Attributes:
        number: number of the game in SGF (GM): 1 for Go, 4 for Gomoku and Renju.
        board: rows and columns.
        komi: komi in points (KM); None if missing or unclear.
        rules: name of the rules (RU), or "".
        handicap: number of handicap stones (HA).
        result: the result in RE, else from a resignation written as a move; None if unclear.
        resignation: the result from a resignation written as a move.
        result_text: RE as written in the file.
        players: names of Black and White (PB, PW), "" if missing.
        start: rows of the position before the first move, top row first; None for an empty board
            with Black to move.
        player: player to move before the first move, 0 or 1.
        moves: player and action of each move of the main line; the action is None for a pass.
        skipped: number of earlier moves in the main line that place handicap stones.
        exact_rules: the game as text, if pyengine wrote the record.
        notes: unusual properties by reason.
        tree: sgfmill's Coarse_game_tree with values in UTF-8.
    """

    number: int
    board: Board
    komi: float | None
    rules: str
    handicap: int
    result: Result | None
    resignation: Result | None
    result_text: str
    players: tuple[str, str]
    start: tuple[str, ...] | None
    player: int
    moves: tuple[tuple[int, int | None], ...]
    skipped: int
    exact_rules: str
    notes: dict[str, str]
    tree: Any

    @property
    def game_name(self) -> str:
        """The name of the record's game."""
        return next(name for name, number in _NUMBERS.items() if number == self.number)

    def game(self, named: str = "go") -> Game:
        """Return the game with the board, komi and rules of the record.

        Raises:
            SgfError: the record is of another game.
            ConfigError: the board or komi is out of range.

        """
        game = load_game(named)
        self.check_number(game)
        exact = self._exact_game(game.name)
        params = dict(rules_params(self.rules, game) if exact is None else exact.params)
        for name in ("board_size", "rows", "columns"):
            params.pop(name, None)
        rows, columns = self.board
        if rows == columns:
            params["board_size"] = rows
        elif game.name == "go":
            params |= {"rows": rows, "columns": columns}
        if self.komi is not None and "komi" in game.params:
            params["komi"] = self.komi
        loaded = load_game(named, **params)
        self.check_board(loaded)
        return loaded

    def check_number(self, game: Game) -> None:
        """Raise SgfError if the record is of another game."""
        if self.number != number_of(game):
            raise SgfError("another game", f"GM[{self.number}]")

    def check_board(self, game: Game) -> None:
        """Raise SgfError if the record has another board size."""
        rows, columns = game.board_shape
        if self.board != (rows, columns):
            raise SgfError(
                "another board size",
                f"expected {rows}x{columns}, got {self.board[0]}x{self.board[1]}",
            )

    def has_rules_of(self, game: Game) -> bool:
        """Return whether the record has the rules of ``game`` or no rules."""
        if not self.exact_rules:
            return not self.rules or _plain(self.rules) == _plain(rules_name(game))
        try:
            exact = self._exact_game(game.name)
        except ConfigError:
            return False
        return exact is not None and all(
            exact.params.get(name) == game.params.get(name) for name in _RULES
        )

    def replaced_rules(self, game: Game) -> str:
        """Return a note if the record has other rules than ``game``, else ""."""
        if self.has_rules_of(game):
            return ""
        if self.exact_rules:
            return f"the rules of {shortened(self.exact_rules)} were replaced by those of {game}"
        return f"the rules {shortened(self.rules)} were replaced by {rules_name(game) or game}"

    def _exact_game(self, name: str) -> Game | None:
        # The name is checked, so that a file cannot make this load other code.
        return load_game(self.exact_rules) if self.exact_rules.startswith(f"{name}(") else None

    def start_state(self, game: Game) -> State:
        """Return the position before the first move. Raises SgfError if it is not allowed."""
        if self.start is None:
            return game.new_initial_state()
        try:
            return game.state_from_board(list(self.start), self.player)
        except ConfigError as error:
            raise SgfError("start position not allowed", str(error)) from error

    def replay(self, game: Game) -> Replay:
        """Play the main line. Moves after the end of the game are dropped and noted.

        Raises SgfError for another game or board, an illegal move, or a move out of turn.
        """
        self.check_number(game)
        self.check_board(game)
        state = self.start_state(game)
        points = math.prod(game.board_shape)
        pass_action = points if game.num_distinct_actions() > points else None
        states: list[State] = []
        actions: list[int] = []
        for number, (player, move) in enumerate(self.moves, 1):
            if state.is_terminal():
                break
            if player != state.current_player():
                raise SgfError("a player moves twice", f"move {number}")
            action = pass_action if move is None else move
            states.append(state.clone())
            try:
                if action is None:
                    raise IllegalActionError("the game has no pass")
                state.apply_action(action)
            except IllegalActionError as error:
                raise SgfError("illegal move", f"move {number}: {error}") from error
            actions.append(action)
        return Replay(tuple(states), tuple(actions), state, self._replay_notes(game, len(actions)))

    def _replay_notes(self, game: Game, played: int) -> dict[str, str]:
        notes = dict(self.notes)
        if len(self.moves) > played:
            notes["moves after the end"] = f"{len(self.moves) - played} after move {played}"
        if self.start is not None:
            stones = "".join(self.start).replace(".", "")
            notes["handicap or set-up stones"] = f"{len(stones)} stones"
        komi = game.params.get("komi")
        if komi is not None and self.komi not in (None, komi):
            notes["another komi"] = f"expected {komi:g}, got {self.komi:g}"
        if not self.has_rules_of(game):
            exact = f"{EXACT_RULES}[{shortened(self.exact_rules)}]"
            notes["other rules"] = exact if self.exact_rules else f"RU[{shortened(self.rules)}]"
        return notes


@dataclass(frozen=True)
class Replay:
    """The replayed main line of a record.

    Attributes:
        states: position before each move.
        actions: the moves.
        end: the last position.
        notes: notes of the record, and its differences from the game.
    """

    states: tuple[State, ...]
    actions: tuple[int, ...]
    end: State
    notes: dict[str, str]

    @property
    def start(self) -> State:
        """The position before the first move."""
        return self.states[0] if self.states else self.end


# Names of games and rules

#: Game numbers in SGF (GM); 4 is Gomoku and Renju.
_NUMBERS = {"go": 1, "gomoku": 4}
GAME_NUMBERS = tuple(_NUMBERS.values())

#: Superko and suicide by the names of area-scoring Go rules in RU. The Chinese rules forbid
#: repetition; servers implement this as positional superko or as the simple ko rule.
_GO: dict[str, tuple[str, bool]] = {
    "Chinese": ("positional", False),
    "Tromp-Taylor": ("positional", True),
    "AGA": ("situational", False),
    "NZ": ("situational", True),
}
_RULES = ("superko", "suicide", "rule", "win_length")  # parameters of games
_GO_NAMES = {rules: name for name, rules in _GO.items()} | {("simple", False): "Chinese"}
_GOMOKU = ("freestyle", "standard", "renju")

#: Other spellings of names, in lowercase letters only.
_OTHER_NAMES = {
    "cn": "chinese",
    "chineseogs": "chinese",
    "中国": "chinese",
    "中國": "chinese",
    "中国规则": "chinese",
    "tt": "tromptaylor",
    "newzealand": "nz",
    "bga": "aga",
    "french": "aga",
}


def check_in_sgf(game: str) -> None:
    """Raise ConfigError unless SGF supports a game, given as text."""
    if game.partition("(")[0] not in _NUMBERS:
        raise ConfigError(f"SGF supports {' and '.join(_NUMBERS)}, got {game}")


def number_of(game: Game) -> int:
    """Return the number of a game in SGF. Raises ConfigError if SGF does not support it."""
    check_in_sgf(str(game))
    return _NUMBERS[game.name]


def rules_name(game: Game) -> str:
    """Return the usual name of a game's rules, or ""."""
    if game.name == "gomoku":
        return str(game.params["rule"]).capitalize()
    return _GO_NAMES.get((str(game.params["superko"]), bool(game.params["suicide"])), "")


def rules_params(name: str, game: Game) -> dict[str, Any]:
    """Return the parameters for rules by their name; {} if the game does not support them."""
    known = _plain(name)
    if game.name == "gomoku":
        return {"rule": known} if known in _GOMOKU else {}
    for go_name, (superko, suicide) in _GO.items():
        if known == _plain(go_name):
            return {"superko": superko, "suicide": suicide}
    return {}


def _plain(name: str) -> str:
    plain = re.sub(r"[\W\d_]|rules?$", "", name.strip().lower())
    return _OTHER_NAMES.get(plain, plain)
