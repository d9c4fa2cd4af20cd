"""The part of ``pyengine train`` that learns a rollout policy of Go from games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.cli.progress import games_bar
from pyengine.train import RolloutFitProgress, rollout_policy
from pyengine.train.rollout_policy_fit import OnFitProgress

__all__ = ["EPOCHS", "train_rollout_policy"]

EPOCHS = 8


def train_rollout_policy(
    games: Sequence[Path], output: Path | None, game: str | None, epochs: int, as_json: bool
) -> None:
    """Learn from games, write the policy, and say how it does on games held out."""
    if output is None:
        raise common.usage("--rollout-policy needs --output, the file to write")
    for path in games:
        if not path.exists():
            raise common.usage(f"{path} does not exist")
    common.output_file(output)
    played = None if game is None else common.game_from(game, None)
    with _progress(epochs) as show:
        fit = rollout_policy(games, output, game=played, epochs=epochs, on_progress=show)
    if as_json:
        values = {"games": fit.games, "positions": fit.positions, "left_out": fit.left_out}
        common.print_json({**values, "held_out": asdict(fit.held_out), "policy": str(output)})
        return
    common.console().print(Text(f"{fit}\n{output}"))


@contextmanager
def _progress(epochs: int) -> Iterator[OnFitProgress | None]:
    """Show a bar of epochs on a terminal."""
    with games_bar(epochs) as bar:
        if bar is None:
            yield None
            return
        update = bar

        def show(told: RolloutFitProgress) -> None:
            update(told.epoch, f"epochs, log-likelihood {told.log_likelihood:.3f}")

        yield show
