"""UGI, the universal game interface: any game by the names of its moves."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from typing import Any

from pyengine import __version__
from pyengine.errors import ConfigError, EngineError, IllegalActionError
from pyengine.games.game import State
from pyengine.games.move_names import find_action, one_word_name
from pyengine.protocols.depth import simulations_of_depth
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Output
from pyengine.protocols.session import Session
from pyengine.protocols.words import first_word, whole_number
from pyengine.search.clock import Clock
from pyengine.search.config import SearchConfig
from pyengine.search.result import SearchResult
from pyengine.search.tree import names_of_line

_REPORT_EVERY = 1.0  # seconds
_CERTAIN = 100  # centipoints of a certain win
_MEBIBYTE = 1 << 20
_MOST_SECONDS, _MOST_NODES = 1e6, 2**32 - 1
_FIELDS = {field.name: field for field in SearchConfig.fields()}
_IN_FULL = {"stop_when_decided": False}  # a budget that the client wants to be spent
_RESULTS = {1: "p1win", -1: "p2win", 0: "draw"}
_PLAYERS = {"x": 0, "0": 0, "o": 1, "1": 1}
_POSITION = re.compile(r"(startpos|fen\s+(?P<fen>.*?))(\s+moves\b(?P<moves>.*))?", re.DOTALL)


class Ugi:
    """A dialogue in UGI.

    Args:
        session: the game; the protocol cannot change it.
        inbox: the client's lines.
        output: receives the replies.
        name: of the engine.

    """

    def __init__(self, session: Session, inbox: Inbox, output: Output, name: str) -> None:
        self._session, self._inbox, self._output = session, inbox, output
        self._name = name
        self._settings: dict[str, Any] = {}
        self._commands: dict[str, Callable[[str], None]] = {
            "ugi": self._identify,
            "isready": lambda _: self._ready(),
            "setoption": self._set_option,
            "uginewgame": lambda _: self._new_game(),
            "position": self._set_position,
            "go": self._go,
            "query": self._query,
        }

    def run(self) -> None:
        """Obey the client until ``quit`` or the end of its lines. Unknown lines are ignored."""
        for line in iter(self._inbox.read, None):
            word = first_word(line)
            if word == "quit":
                return
            if word in self._commands:
                try:
                    self._commands[word](line.strip()[len(word) :].strip())
                except EngineError as error:
                    self._say(f"error: {error}")

    def _say(self, message: str) -> None:
        self._output.write(f"info string {' '.join(message.split())}")

    # --- before the game

    def _identify(self, _: str) -> None:
        defaults = self._session.engine.config
        options = [
            f"option name {field} type string default {str(getattr(defaults, field)).lower()}"
            for field in _FIELDS
        ]
        author = "the pyengine authors"
        head = [f"id name {self._name} {__version__}", f"id author {author}"]
        self._output.write("\n".join([*head, *options, "ugiok"]))

    def _ready(self) -> None:
        self._output.write("readyok")

    def _set_option(self, text: str) -> None:
        match = re.fullmatch(r"name\s+(.*?)\s+value\s+(.*)", text)
        if match is None:
            raise ConfigError("expected setoption name NAME value VALUE")
        name, value = match[1].lower().replace(" ", "_"), match[2]
        if name == "hash":
            name, value = "memory_limit", str((whole_number(value) or 0) * _MEBIBYTE)
        if name not in _FIELDS:
            raise ConfigError(f"there is no option {match[1]}")
        changed = _setting(name, value)
        self._session.engine.config.replace(**changed)  # checks the value
        self._settings |= changed

    def _new_game(self) -> None:
        self._session.engine.clear()
        self._session.new_game(self._session.game)

    # --- the position

    def _set_position(self, text: str) -> None:
        match = _POSITION.fullmatch(text)
        if match is None:
            raise ConfigError("expected position startpos|fen POSITION [moves MOVES]")
        game = self._session.game
        start = game.new_initial_state() if match["fen"] is None else self._read(match["fen"])
        state = start.clone()
        actions = []
        for word in (match["moves"] or "").split():
            actions.append(_action_of(state, word))
            state.apply_action(actions[-1])
        self._session.set_position(start, actions)

    def _read(self, text: str) -> State:
        """Return the position of ``serialize()``, or of rows and player: ``X../.O./... x``."""
        game = self._session.game
        if ";" in text:
            return game.deserialize_state(text)
        rows, _, player = text.replace(",", " ").strip().rpartition(" ")
        if player.lower() not in _PLAYERS:
            raise ConfigError("fen: expected rows from the top and the player to move, x or o")
        return game.state_from_board(rows.split("/"), _PLAYERS[player.lower()])

    def _query(self, what: str) -> None:
        state = self._session.state
        over = state.is_terminal()
        answers = {
            "gameover": str(over).lower(),
            "p1turn": str(state.current_player() == 0).lower(),
            "result": _RESULTS[_sign(state.returns()[0])] if over else "none",
        }
        if what not in answers:
            raise ConfigError(f"query: expected {', '.join(answers)}, got {what}")
        self._output.write(f"response {answers[what]}")

    # --- the search

    def _go(self, text: str) -> None:
        best = "(none)"
        try:
            if self._session.state.is_terminal():
                raise ConfigError("the game is over")
            best = one_word_name(self._session.state, self._search(text.split()).action)
        except EngineError as error:
            self._say(f"error: {error}")
        self._output.write(f"bestmove {best}")

    def _search(self, words: list[str]) -> SearchResult:
        is_endless = "infinite" in words
        values = ((name, whole_number(value)) for name, value in itertools.pairwise(words))
        limits = self._limits({name: value for name, value in values if value is not None})
        until = self._inbox.until("stop", leaving="quit", at_end=is_endless, isready=self._ready)
        begin = time.monotonic()
        if is_endless:
            endless = {**self._settings, "simulations": None, "seconds": None}
            result = self._session.analyze(until, self._report, _REPORT_EVERY, **endless)
            if result is None:  # ended at once
                result = self._session.choose(simulations=1, seconds=None)
                self._report(result)
            return result
        due = begin + _REPORT_EVERY

        def goes_on(so_far: SearchResult) -> bool:
            nonlocal due
            if time.monotonic() >= due:
                due += _REPORT_EVERY
                self._report(so_far)
            return not until()

        result = self._session.choose(on_progress=goes_on, **(self._settings | limits))
        self._report(result)
        return result

    def _limits(self, numbers: dict[str, int]) -> dict[str, Any]:
        """Set the clocks and return the budget."""
        for player, clock in enumerate(("p1", "p2")):
            self._set_clock(player, numbers.get(f"{clock}time"), numbers.get(f"{clock}inc", 0))
        if "movetime" in numbers:
            return {"seconds": _seconds(numbers["movetime"]), **_IN_FULL, "simulations": None}
        if "nodes" in numbers:
            count = min(max(numbers["nodes"], 1), _MOST_NODES)
            return {"simulations": count, **_IN_FULL, "seconds": None}
        if "depth" in numbers:
            count = simulations_of_depth(numbers["depth"])
            return {"simulations": count, **_IN_FULL, "seconds": None}
        return {}

    def _set_clock(self, player: int, milliseconds: int | None, increment: int) -> None:
        if milliseconds is None:
            self._session.clocks[player] = None
            return
        clock = self._session.clocks[player]
        left, added = _seconds(milliseconds), _seconds(increment) if increment > 0 else 0.0
        if clock is None or clock.increment != added:
            clock = self._session.clocks[player] = Clock(left, increment=added)
        clock.set(left)

    def _report(self, result: SearchResult) -> None:
        rate = round(result.simulations / max(result.seconds, 1e-3))
        line = names_of_line(result.state, result.pv, one_word_name)
        self._output.write(
            f"info depth {len(result.pv)} time {round(1000 * result.seconds)} "
            f"nodes {result.simulations} nps {rate} score cp {round(_CERTAIN * result.value)} "
            f"pv {' '.join(line)}"
        )


def _seconds(milliseconds: int) -> float:
    return min(max(milliseconds, 1) / 1000, _MOST_SECONDS)


def _setting(name: str, text: str) -> dict[str, Any]:
    """Return a search setting from its text."""
    if text.lower() == "none" and _FIELDS[name].optional:
        return {name: None}
    value = text.lower() if text.lower() in ("true", "false") else text
    for written in (value, f'"{value}"'):
        try:
            return {name: getattr(SearchConfig.from_toml(f"{name} = {written}"), name)}
        except ConfigError as error:
            refused = error
    raise refused


def _action_of(state: State, word: str) -> int:
    """Return the action of a move, which may also be given by its number."""
    try:
        return find_action(state, word)
    except IllegalActionError:
        number = whole_number(word)
        if number is None or number not in state.legal_actions():
            raise
        return number


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
