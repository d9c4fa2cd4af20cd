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
_WORD = re.compile(r"[^\s,;]*")


def one_word_name(state: State, action: int) -> str:
    """Return the name of a move, or its number if the name is empty or has blanks."""
    name = state.action_to_string(action)
    return name if len(name.split()) == 1 else str(action)


def find_action(state: State, text: str) -> int:
    """Return the action with a name, ignoring case. Raises IllegalActionError."""
    names = _legal_names(state)
    if text in names:  # names may differ only in case: bxc3 and Bxc3
        return names[text]
    matches = [action for name, action in names.items() if name.lower() == text.lower()]
    return matches[0] if len(matches) == 1 else state.string_to_action(text)


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
        rest = "" if line.lstrip().startswith("#") else line
        while rest := rest.strip(_BETWEEN):
            if result:
                raise IllegalActionError(f"{short_repr(_word(rest))} follows the result {result}")
            names = _legal_names(state)
            action, length = _next(rest, names, len(actions))
            if not length and _word(rest).lower() in _RESULTS:
                result, length = _word(rest), len(_word(rest))
            elif not length and action is None:
                action, length = _first_move(rest, names, whole=False)
            if action is None and not length:
                raise _no_move(state, _word(rest), len(actions) + 1)
            rest = rest[length:]
            if action is not None:
                state.apply_action(action)
                actions.append(action)
    return actions, result


def _word(text: str) -> str:
    word = _WORD.match(text)
    return "" if word is None else word[0]


def _legal_names(state: State) -> dict[str, int]:
    if state.is_terminal():
        return {}
    return {state.action_to_string(action): action for action in state.legal_actions()}


def _next(text: str, names: dict[str, int], played: int) -> tuple[int | None, int]:
    """Return the action at the start of a text, and the length of what names it.

    A move number has a length and no action; an omitted pass has an action and no length.
    """
    action, length = _first_move(text, names, whole=True)
    word = _word(text)
    if action is not None:
        return action, length
    if word.lower() in _PASSES and "pass" in names:
        return names["pass"], len(word)
    if number := _NUMBER.match(text):
        return None, number.end()
    has_numbers = any(name.isdigit() for name in names)
    if not has_numbers and word in (str(played + 1), str(played // 2 + 1)):
        return None, len(word)
    is_omitted = list(names) == ["pass"] and word.lower() not in _RESULTS
    return (names["pass"], 0) if is_omitted else (None, 0)


def _first_move(text: str, names: dict[str, int], *, whole: bool) -> tuple[int | None, int]:
    """Return the legal action whose name begins a text, and the length of the name.

    ``whole``: the name must not be followed by other letters. Otherwise it must not split a number.
    """
    fitting: list[tuple[int, bool, str]] = []
    for name in names:
        following = text[len(name) :][:1]
        is_whole = following == "" or following in _BETWEEN
        splits_number = following.isdigit() and name[-1:].isdigit() and not name.isdigit()
        if text[: len(name)].lower() == name.lower() and (is_whole if whole else not splits_number):
            fitting.append((len(name), text.startswith(name), name))
    if not fitting:
        return None, 0
    (length, exact, name), *others = sorted(fitting, reverse=True)
    if not exact and others and others[0][0] == length:  # they differ only in case
        return None, 0
    return names[name], length


def _no_move(state: State, text: str, number: int) -> IllegalActionError:
    if state.is_terminal():
        return IllegalActionError(f"move {number}: {short_repr(text)} follows the end of the game")
    example = state.action_to_string(state.legal_actions()[0])
    return IllegalActionError(
        f"move {number}: {short_repr(text)} is not a legal move, expected for example {example}"
    )
