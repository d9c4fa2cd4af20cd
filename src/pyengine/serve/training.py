"""What a training run has reached so far, read from its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pyengine.base.checks import short_repr
from pyengine.base.extras import need
from pyengine.data.manifest import Manifest, games_name, read_games
from pyengine.errors import ConfigError, EngineError
from pyengine.games.board_layout import game_look
from pyengine.games.game import Game, load_recorded_game
from pyengine.games.outcomes import outcome_text

_MOST_GAMES = 50
_MOST_LOSSES = 500  # points of the picture


class Training:
    """The runs that a server shows, by name. Their folders are only read.

    Raises ConfigError if a folder holds no run.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._runs: dict[str, Any] = {}
        if not folders:
            return
        state = need("pyengine.train.loop.state", "train")
        for path in folders:
            folder = state.RunFolder(path)
            folder.run()
            self._runs[_free_name(path.resolve().name, self._runs)] = folder

    @property
    def names(self) -> list[str]:
        """The names of the runs."""
        return list(self._runs)

    def to_dict(self, name: str) -> dict[str, Any]:
        """Return curve, losses, status and newest games of a run as JSON-compatible values."""
        if name not in self._runs:
            raise ConfigError(
                f"run: expected one of {', '.join(self._runs) or 'none'}, got {short_repr(name)}"
            )
        folder = self._runs[name]
        best = folder.best()
        return {
            "name": name,
            "curve": _curve(folder),
            "losses": _losses(folder),
            "status": {part: words(folder.status(part)) for part, words in _WORDS.items()},
            "best": None if best is None else vars(best),
            "seconds": folder.seconds(),
            "games": list(_games(folder)),
        }


def _free_name(name: str, taken: Any) -> str:
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _curve(folder: Any) -> list[dict[str, Any]]:
    """Return a point per candidate: training step, games of self-play so far, Elo, accepted."""
    fit = need("pyengine.train.loop.curve", "train").rated(folder)
    points = []
    for line in folder.evaluations():
        rating = fit.get(line["step"])
        points.append(
            {
                "step": line["step"],
                "games": line["games"],
                "elo": None if rating is None else rating.elo,
                "error": None if rating is None else rating.error,
                "accepted": line["accepted"],
                "generation": line["generation"],
            }
        )
    return points


def _losses(folder: Any) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = need("pyengine.train.json_files", "train").read_lines(
        folder.checkpoints / "log.jsonl"
    )
    return lines[:: len(lines) // _MOST_LOSSES + 1]


def _selfplay_words(status: dict[str, Any]) -> str:
    rate = float(status.get("positions_per_second") or 0)
    return f"{status['games']:,} games, {status['positions']:,} positions, {rate:.1f} positions/s"


def _learner_words(status: dict[str, Any]) -> str:
    words = f"step {status['step']:,}"
    if status.get("policy") is not None and status.get("value") is not None:
        words += f", loss: policy {status['policy']:.3f}, value {status['value']:.3f}"
    return words


def _gate_words(status: dict[str, Any]) -> str:
    return str(status["state"])


def _or_nothing(words: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
    """Return "" for a part that has not reported yet."""

    def checked(status: dict[str, Any]) -> str:
        try:
            return words(status)
        except (KeyError, TypeError, ValueError):
            return ""

    return checked


_WORDS = {
    "selfplay": _or_nothing(_selfplay_words),
    "learner": _or_nothing(_learner_words),
    "gate": _or_nothing(_gate_words),
}


def _games(folder: Any) -> Iterator[dict[str, Any]]:
    """Yield the newest games of self-play, the newest first."""
    left = _MOST_GAMES
    for text in folder.run().game.name:
        data = folder.data(text)
        try:
            game, manifest = load_recorded_game(text), Manifest.read(data)
            for shard in reversed(manifest.shards):
                for line in reversed(read_games(data / games_name(shard.file))):
                    if left == 0:
                        return
                    left -= 1
                    yield _game(game, text, line)
        except (EngineError, OSError):  # no games yet, or a shard that was just removed
            continue


def _game(game: Game, text: str, line: Any) -> dict[str, Any]:
    state, moves = line.start_state(game), []
    for action in line.moves:
        moves.append(state.action_to_string(action))
        state.apply_action(action)
    return {"id": line.number, "game": text, "moves": moves, "result": _result(state, line)}


def _result(state: Any, line: Any) -> str:
    names = game_look(state.game).names
    if line.resigned >= 0:
        return f"{names[line.resigned]} resigns"
    return outcome_text(state, names.__getitem__, None)
