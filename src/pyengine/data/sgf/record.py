"""A game record in SGF: its main line, its properties and its replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyengine.base.arguments import shortened
from pyengine.data.sgf.collection import SgfError
from pyengine.data.sgf.rules import number_of, rules_params, same_params, same_rules
from pyengine.data.sgf.values import Board, Result
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import Game, State, load_game

#: A property of ours: the text of the game, since a usual name of rules does not say all of them.
EXACT_RULES = "PYENGINE"


@dataclass(frozen=True)
class SgfGame:
    """A game record.

    Attributes:
        number: SGF's of the game (GM): 1 Go, 4 Gomoku and Renju.
        board: rows and columns.
        komi: points (KM); None if there is none or it is unclear.
        rules: their name (RU), or "".
        handicap: stones (HA); 0 = none.
        result: of RE, else of a resignation in the place of a move; None if unclear.
        resignation: the result by a resignation in the place of a move.
        result_text: RE as it is written.
        start: rows of the position before the first move, top row first; None for an empty board
            with Black to move.
        player: to move there, 0 or 1.
        moves: the player and the action of each move of the main line, None for a pass.
        skipped: moves of the main line before those, which place handicap stones.
        exact_rules: the text of the game, if pyengine wrote the record.
        notes: by reason, what is unusual and was accepted.
        tree: sgfmill's Coarse_game_tree, its values in UTF-8.
    """

    number: int
    board: Board
    komi: float | None
    rules: str
    handicap: int
    result: Result | None
    resignation: Result | None
    result_text: str
    start: tuple[str, ...] | None
    player: int
    moves: tuple[tuple[int, int | None], ...]
    skipped: int
    exact_rules: str
    notes: dict[str, str]
    tree: Any

    def game(self, named: str = "go") -> Game:
        """Return the game with the board, the komi and the rules of the record.

        Raises:
            SgfError: the record is of another game.
            ConfigError: its board or komi is out of the game's range.

        """
        game = load_game(named)
        self.check_number(game)
        params = dict(rules_params(self.rules, game) or {})
        exact = self._exact_game(game.name)
        if exact is not None:
            params = dict(exact.params)
        rows, columns = self.board
        if rows == columns:
            params = {key: params[key] for key in params if key not in ("rows", "columns")}
            params["board_size"] = rows
        elif game.name == "go":
            params = {key: params[key] for key in params if key != "board_size"}
            params |= {"rows": rows, "columns": columns}
        if self.komi is not None and "komi" in game.params:
            params["komi"] = self.komi
        loaded = load_game(named, **params)
        self.check_board(loaded)
        return loaded

    def check_number(self, game: Game) -> None:
        """Raise SgfError unless the record is of a game."""
        if self.number != number_of(game):
            raise SgfError("another game", f"GM[{self.number}]")

    def check_board(self, game: Game) -> None:
        """Raise SgfError unless the record has the board of a game."""
        rows, columns = game.board_shape
        if self.board != (rows, columns):
            raise SgfError(
                "another board size",
                f"expected {rows}x{columns}, got {self.board[0]}x{self.board[1]}",
            )

    def has_rules_of(self, game: Game) -> bool:
        """Return whether the record has the rules of a game, or names none."""
        if not self.exact_rules:
            return not self.rules or same_rules(self.rules, game)
        try:
            exact = self._exact_game(game.name)
        except ConfigError:
            return False
        return exact is not None and same_params(exact, game)

    def _exact_game(self, name: str) -> Game | None:
        """Return the game whose text pyengine wrote; no text of a file loads other code."""
        return load_game(self.exact_rules) if self.exact_rules.startswith(f"{name}(") else None

    def start_state(self, game: Game) -> State:
        """Return the position before the first move. Raises SgfError if the rules forbid it."""
        if self.start is None:
            return game.new_initial_state()
        try:
            return game.state_from_board(list(self.start), self.player)
        except ConfigError as error:
            raise SgfError("a start that the rules do not allow", str(error)) from error

    def replay(self, game: Game) -> Replay:
        """Play the main line. Moves after the game is over are dropped and noted.

        Raises SgfError for another game or board, an illegal move, or a move out of turn.
        """
        self.check_number(game)
        self.check_board(game)
        state = self.start_state(game)
        pass_action = _pass_action(game)
        states: list[State] = []
        actions: list[int] = []
        for number, (player, move) in enumerate(self.moves, 1):
            if state.is_terminal():
                break
            if player != state.current_player():
                raise SgfError("somebody moves twice", f"move {number}")
            action = pass_action if move is None else move
            states.append(state.clone())
            try:
                if action is None:
                    raise IllegalActionError("a pass")
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
            notes["handicap or set-up stones"] = f"{_count(self.start)} stones"
        komi = game.params.get("komi")
        if komi is not None and self.komi not in (None, komi):
            notes["another komi"] = f"expected {komi:g}, got {self.komi:g}"
        if not self.has_rules_of(game):
            exact = f"{EXACT_RULES}[{shortened(self.exact_rules)}]"
            notes["other rules"] = exact if self.exact_rules else f"RU[{shortened(self.rules)}]"
        return notes


@dataclass(frozen=True)
class Replay:
    """The main line of a record as it was played.

    Attributes:
        states: before each move.
        actions: the moves.
        end: the last position.
        notes: those of the record, and its differences from the game.
    """

    states: tuple[State, ...]
    actions: tuple[int, ...]
    end: State
    notes: dict[str, str]

    @property
    def start(self) -> State:
        """The position before the first move."""
        return self.states[0] if self.states else self.end


def _pass_action(game: Game) -> int | None:
    rows, columns = game.board_shape
    return rows * columns if game.num_distinct_actions() > rows * columns else None


def _count(rows: Sequence[str]) -> int:
    return sum(stone != "." for row in rows for stone in row)
