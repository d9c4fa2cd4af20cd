"""Moves by their names, and lists of moves as people write them."""

from __future__ import annotations

import re

from pyengine.base.checks import short_repr
from pyengine.errors import IllegalActionError
from pyengine.games.game import State

_NUMBER = re.compile(r"\d+\s*[.)]+")  # of a move: 12. or 12...
_RESULTS = frozenset(("1-0", "0-1", "1/2-1/2", "1/2", "*", "resign", "resigns"))
_PASSES = frozenset(("pass", "pa", "ps", "--"))
_BETWEEN = " ,;\t"


def find_action(state: State, text: str) -> int:
    """Return the action with a name, ignoring case. Raises IllegalActionError."""
    action = _named(text, _legal_names(state))
    return state.string_to_action(text) if action is None else action


def play_moves(state: State, text: str) -> tuple[list[int], str]:
    """Play a list of moves on ``state``; return the actions and the result written at its end.

    Moves are separated by blanks, commas or line ends, or follow each other directly
    (``f5d6c3``), with or without numbers (``1. D4 E5 2. ...``). Lines that begin with ``#`` are
    comments. A pass may be omitted if nothing else is legal.

    Raises:
        IllegalActionError: a move is unknown or illegal; the message gives its number.
    """
    actions: list[int] = []
    result = ""
    for line in text.splitlines():
        for word in [] if line.lstrip().startswith("#") else line.split():
            if word.lower() in _RESULTS and _named(word, _legal_names(state)) is None:
                result = word
            elif result:
                raise IllegalActionError(f"{short_repr(word)} follows the result {result}")
            else:
                _play_word(state, word, actions)
    return actions, result


def _legal_names(state: State) -> dict[str, int]:
    if state.is_terminal():
        return {}
    return {state.action_to_string(action): action for action in state.legal_actions()}


def _named(text: str, names: dict[str, int]) -> int | None:
    if text in names:  # names may differ only in case: bxc3 and Bxc3
        return names[text]
    matches = [action for name, action in names.items() if name.lower() == text.lower()]
    return matches[0] if len(matches) == 1 else None


def _play_word(state: State, word: str, actions: list[int]) -> None:
    """Play the moves in a word without blanks."""
    rest = word
    while rest := rest.strip(_BETWEEN):
        names = _legal_names(state)
        action, length = _first_move(rest, names)
        if action is None:
            length = _length_of_number(rest, names, len(actions))
            action = None if length else _omitted_pass(names)
        if action is None and not length:
            raise _no_move(state, rest, len(actions) + 1)
        rest = rest[length:]
        if action is not None:
            state.apply_action(action)
            actions.append(action)


def _first_move(text: str, names: dict[str, int]) -> tuple[int | None, int]:
    """Return the legal action whose name begins a text, and the length of the name."""
    whole = _named(text, names)
    if whole is not None:
        return whole, len(text)
    if text.lower() in _PASSES and "pass" in names:
        return names["pass"], len(text)
    if _NUMBER.match(text):
        return None, 0
    for name in sorted(names, key=len, reverse=True):
        following = text[len(name) :][:1]
        splits_number = following.isdigit() and name[-1:].isdigit() and not name.isdigit()
        if text.lower().startswith(name.lower()) and not splits_number:
            return names[name], len(name)
    return None, 0


def _length_of_number(text: str, names: dict[str, int], played: int) -> int:
    """Return the length of the move number that begins a text, 0 if there is none."""
    if number := _NUMBER.match(text):
        return number.end()
    numbered = text.isdecimal() and not any(name.isdigit() for name in names)
    is_next = numbered and text in (str(played + 1), str(played // 2 + 1))
    return len(text) if is_next else 0


def _omitted_pass(names: dict[str, int]) -> int | None:
    return names["pass"] if list(names) == ["pass"] else None


def _no_move(state: State, text: str, number: int) -> IllegalActionError:
    if state.is_terminal():
        return IllegalActionError(f"move {number}: {short_repr(text)} follows the end of the game")
    example = state.action_to_string(state.legal_actions()[0])
    return IllegalActionError(
        f"move {number}: {short_repr(text)} is not a legal move, expected for example {example}"
    )
