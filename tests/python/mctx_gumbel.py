"""Tables of random priors and values, searched by mctx's Gumbel MuZero and by the engine.

A case is a table: a node's row has its priors, its value, and the row that each action leads to.
The numbers come from a hash of the case's seed. Priors are fractions of 4096, which the engine's
16 bits represent exactly, and sum to 1; values are multiples of 2^-20. So both sides use the same
numbers, mctx in double precision.

``python tests/python/mctx_gumbel.py FILE`` writes mctx's results, for machines without mctx.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROWS = 512  # per table
PARTS = 4096
MASK = (1 << 64) - 1


@dataclasses.dataclass(frozen=True)
class Shape:
    """Array shapes that mctx compiles for: all cases of a shape are searched together."""

    actions: int
    simulations: int
    considered: int = 16


SHAPES = (
    Shape(5, 16),
    Shape(7, 50),
    Shape(9, 400),
    Shape(13, 32),
    Shape(16, 100),
    Shape(17, 64),
    Shape(19, 30, considered=8),
    Shape(24, 200),
    Shape(30, 16),
    Shape(30, 64),
    Shape(30, 400, considered=5),
    Shape(82, 200),
)
CASES = 32  # of a shape
WEIGHTS = 4  # cases per shape whose policy target is written too


def numbers(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """Return pseudorandom numbers that are the same on every machine: SplitMix64."""
    steps = np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        x = np.uint64(seed * 0x9E3779B97F4A7C15 & MASK) + steps * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclasses.dataclass(frozen=True)
class Table:
    """Priors float64[ROWS, A] and values float64[ROWS] for the player to move, both exact."""

    priors: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]


def table(actions: int, seed: int) -> Table:
    """Return the table of a case. Odd seeds have peaked priors."""
    drawn = numbers(seed, ROWS * (actions + 1)).reshape(ROWS, actions + 1)
    weights = (drawn[:, :actions] % np.uint64(1000)).astype(np.int64) + 1
    if seed % 2:
        weights = weights**3
    parts = 1 + weights * (PARTS - actions) // weights.sum(axis=1, keepdims=True)
    parts[np.arange(ROWS), weights.argmax(axis=1)] += PARTS - parts.sum(axis=1)
    values = (drawn[:, actions] >> np.uint64(43)).astype(np.float64) / 2**20 - 1.0
    return Table(parts / PARTS, values)


def next_row(row: Any, action: Any) -> Any:
    """Return the row of a node's child."""
    return (row * 37 + action * 101 + 11) % ROWS


def seed_of(shape: Shape, case: int) -> int:
    """Return the seed of a case; seeds are unique."""
    return (SHAPES.index(shape) + 1) * 1000 + case


def search_by_mctx(shape: Shape, cases: int = CASES) -> list[dict[str, Any]]:
    """Return visits and action of mctx.gumbel_muzero_policy without noise."""
    import jax
    import jax.numpy as jnp
    import mctx

    jax.config.update("jax_enable_x64", True)
    tables = [table(shape.actions, seed_of(shape, case)) for case in range(cases)]
    logits = jnp.log(jnp.array([t.priors for t in tables]))
    values = jnp.array([t.values for t in tables])
    every = jnp.arange(cases)

    def step(_params: Any, _key: Any, action: Any, row: Any) -> Any:
        after = next_row(row, action)
        output = mctx.RecurrentFnOutput(
            reward=jnp.zeros(cases),
            discount=-jnp.ones(cases),
            prior_logits=logits[every, after],
            value=values[every, after],
        )
        return output, after

    output = mctx.gumbel_muzero_policy(
        params=(),
        rng_key=jax.random.PRNGKey(0),
        root=mctx.RootFnOutput(
            prior_logits=logits[:, 0], value=values[:, 0], embedding=jnp.zeros(cases, dtype=int)
        ),
        recurrent_fn=step,
        num_simulations=shape.simulations,
        max_num_considered_actions=shape.considered,
        gumbel_scale=0.0,
    )
    visits = np.asarray(output.search_tree.summary().visit_counts).astype(int)
    return [
        {
            "visits": visits[i].tolist(),
            "action": int(output.action[i]),
            "weights": np.asarray(output.action_weights[i]).round(6).tolist(),
        }
        for i in range(cases)
    ]


def main() -> None:
    """Write mctx's results for all shapes."""
    text = []
    for shape in SHAPES:
        print(shape, file=sys.stderr)
        for i, result in enumerate(search_by_mctx(shape)):
            if i >= WEIGHTS:
                del result["weights"]
            case = {**dataclasses.asdict(shape), "case": i, **result}
            text.append(json.dumps(case, separators=(",", ":")))
    Path(sys.argv[1]).write_text("[\n" + ",\n".join(text) + "\n]\n")


if __name__ == "__main__":
    main()
