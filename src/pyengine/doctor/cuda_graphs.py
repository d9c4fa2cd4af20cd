"""Can a network's calls be captured as CUDA graphs, and what do they gain?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyengine.doctor.checks import Check, failed, passed, skipped
from pyengine.doctor.device import random_states, rate
from pyengine.errors import EngineError
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import Game
from pyengine.search.engine import Engine

__all__ = ["graph_check"]

_NAME = "CUDA graphs"


def graph_check(
    game: Game,
    plain: Evaluator,
    graphs: Evaluator,
    *,
    batches: Sequence[int] = (8, 64),
    callers: Sequence[int] = (1, 2),
    seconds: float = 0.2,
    tolerance: float = 5e-3,
) -> Check:
    """Compare a network with itself where its calls were to be captured: answers, and speed.

    Args:
        game, plain, graphs: the network on a device, without CUDA graphs and with them.
        batches: rows.
        callers: threads that ask at once; the best counts.
        seconds: of each measurement.
        tolerance: of probabilities and values, absolute.

    """
    states = random_states(game, max(batches))
    gains = []
    try:
        for batch in batches:
            with Engine(game, graphs, batch_size=batch) as engine:
                provider = engine.stats()["provider"]
            if "with CUDA graphs" not in provider or "without CUDA graphs" in provider:
                return skipped(_NAME, f"are not used: the network runs on {provider}")
            asked = states[:batch]
            answers = (one.evaluate(asked, batch_size=batch) for one in (plain, graphs))
            off = max(float(np.abs(a - b).max()) for a, b in zip(*answers, strict=True))
            if not off <= tolerance:
                return failed(
                    _NAME,
                    f"change the answers to {batch} positions by up to {off:.1e}, allowed "
                    f"{tolerance:.1e}",
                )
            fast, slow = (
                max(rate(one, asked, count, seconds) for count in callers)
                for one in (graphs, plain)
            )
            gains.append(f"{fast / slow:.2f} times as many positions/s in batches of {batch}")
    except EngineError as error:
        return failed(_NAME, str(error))
    return passed(
        _NAME,
        f"{', '.join(gains)} (providers=[('cuda', {{'enable_cuda_graph': '1'}})])",
    )
