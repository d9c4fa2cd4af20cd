"""Losses of a batch in parts against those of the whole, for tests of heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyengine.train import LossConfig

__all__ = ["assert_parts_are_the_whole"]


def assert_parts_are_the_whole(
    outputs: Any, batch: Mapping[str, Any], config: LossConfig, names: Sequence[str]
) -> None:
    """Check the total and named losses of 7 rows that are cut in two."""
    from torch import testing  # the callers have it

    from pyengine.train.loss import losses, losses_together

    whole = losses(outputs, batch, config)
    for cut in (2, 5):
        pieces = [slice(0, cut), slice(cut, 7)]
        parts = [{name: column[piece] for name, column in batch.items()} for piece in pieces]
        said = [{name: each[piece] for name, each in outputs[2].items()} for piece in pieces]
        cuts = [(outputs[0][p], outputs[1][p], one) for p, one in zip(pieces, said, strict=True)]
        found = losses_together(cuts, parts, config)
        for name in ("total", *names):
            testing.assert_close(getattr(found, name), getattr(whole, name))
