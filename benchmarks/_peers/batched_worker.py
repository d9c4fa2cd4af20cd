"""Search a batch of positions, compiled for the CPU. Runs in the environment of mctx and pgx.

Reads a line of JSON with ``game``, ``policy``, ``simulations`` and ``positions`` (lists of moves).
After compilation, answers with ``legal`` (one mask per position). Answers each subsequent line
"search" with ``visits`` (sum over the root's children, per position), and ``wall`` and ``cpu`` in
seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pgx

POLICIES = {"gumbel": mctx.gumbel_muzero_policy, "muzero": mctx.muzero_policy}
IMPOSSIBLE = -1e9  # logit of an illegal move


def positions_of(env: Any, games: list[list[int]]) -> Any:
    """Return the batch of positions after these moves."""
    step = jax.jit(jax.vmap(env.step))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), len(games)))
    for ply in range(max(map(len, games))):
        moving = np.array([ply < len(moves) for moves in games])
        actions = np.array([moves[ply] if ply < len(moves) else 0 for moves in games], np.int32)
        state = where(moving, step(state, actions), state)
    return state


def where(mask: Any, new: Any, old: Any) -> Any:
    """Return the new states where the mask is true, and the old states elsewhere."""

    def choose(a: Any, b: Any) -> Any:
        return jnp.where(mask.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree_util.tree_map(choose, new, old)


def make_search(env: Any, policy: str, simulations: int, batch: int) -> Callable[..., Any]:
    """Return the compiled search, with equal priors, value 0, and the game itself as the model."""
    step = jax.vmap(env.step)
    zeros = jnp.zeros(batch)

    def logits(state: Any) -> Any:
        return jnp.where(state.legal_action_mask, 0.0, IMPOSSIBLE)

    def model(_: Any, key: Any, action: Any, state: Any) -> Any:
        moved = step(state, action)
        output = mctx.RecurrentFnOutput(
            reward=moved.rewards[jnp.arange(batch), state.current_player],
            discount=jnp.where(moved.terminated, 0.0, -1.0),
            prior_logits=logits(moved),
            value=zeros,
        )
        return output, moved

    def search(key: Any, state: Any) -> Any:
        output = POLICIES[policy](
            params=(),
            rng_key=key,
            root=mctx.RootFnOutput(prior_logits=logits(state), value=zeros, embedding=state),
            recurrent_fn=model,
            num_simulations=simulations,
            invalid_actions=~state.legal_action_mask,
        )
        return output.action, output.search_tree.summary().visit_counts.sum(axis=1)

    compiled: Callable[..., Any] = jax.jit(search)
    return compiled


def serve(question: dict[str, Any]) -> None:
    """Compile the requested search, then run it on each request."""
    env = pgx.make(question["game"])
    games = question["positions"]
    state = positions_of(env, games)
    search = make_search(env, question["policy"], question["simulations"], len(games))
    jax.block_until_ready(search(jax.random.PRNGKey(0), state))
    print(
        json.dumps({"legal": np.asarray(state.legal_action_mask).astype(int).tolist()}), flush=True
    )
    for number, line in enumerate(sys.stdin):
        if line.strip() != "search":
            return
        begun, used = time.perf_counter(), time.process_time()
        _, visits = jax.block_until_ready(search(jax.random.PRNGKey(number + 1), state))
        wall, cpu = time.perf_counter() - begun, time.process_time() - used
        answer = {"visits": np.asarray(visits).astype(int).tolist(), "wall": wall, "cpu": cpu}
        print(json.dumps(answer), flush=True)


for request in sys.stdin:
    serve(json.loads(request))
