"""The strength of each step of the run against the previous one and GNU Go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from measure.context import ROOT, Context
from measure.findings import Finding
from measure.gnugo import gnugo

import pyengine
from alphago.folder import Run
from alphago.play import PolicyPlayer
from pyengine.base.files import sha256_of
from pyengine.eval import Evaluator

__all__ = ["Step", "measure", "steps", "table"]

_PLIES = 4  # random moves per opening


@dataclass(frozen=True)
class Step:
    """A player of the table."""

    name: str
    player: Any  #: a match player


class _Parts:
    """Evaluators made from the products of the stages."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @cached_property
    def supervised(self) -> pyengine.OnnxEvaluator:
        return self._network("policy_sl")

    @cached_property
    def reinforced(self) -> pyengine.OnnxEvaluator:
        return self._network("policy_rl")

    @cached_property
    def value(self) -> pyengine.OnnxEvaluator:
        return self._network("value")

    def _network(self, name: str) -> pyengine.OnnxEvaluator:
        return pyengine.OnnxEvaluator(self._run.path(f"{name}.onnx"), providers=["cpu"], threads=1)

    def joined(self, mix: float) -> pyengine.MixedEvaluator:
        """Return supervised priors and ``(1 - mix) * value network + mix * playouts``."""
        network = pyengine.MixedEvaluator(self.supervised, self.value, mix=1)
        rollout = pyengine.RolloutEvaluator(policy=self._run.path("rollout_policy.npz"))
        return pyengine.MixedEvaluator(network, rollout, mix=mix)

    def uniform_playouts(self) -> pyengine.MixedEvaluator:
        """Return supervised priors and uniform playouts."""
        return pyengine.MixedEvaluator(self.supervised, pyengine.RolloutEvaluator(), mix=1)

    def alone(self, name: str) -> PolicyPlayer:
        evaluator = self.supervised if name == "policy_sl" else self.reinforced
        digest = sha256_of(self._run.path(f"{name}.onnx"))[:16]
        return PolicyPlayer(self._run.game, evaluator, f"{name} {digest}", self._run.settings.seed)


def steps(run: Run, context: Context) -> list[Step]:
    """Return the players in the order of the table."""
    parts, n = _Parts(run), run.settings.simulations

    def searched(evaluator: Evaluator) -> pyengine.Engine:
        return context.engine(run.game, evaluator, n)

    return [
        Step("supervised policy, no search", parts.alone("policy_sl")),
        Step("reinforced policy, no search", parts.alone("policy_rl")),
        Step(f"{n} simulations, uniform playouts", searched(parts.uniform_playouts())),
        *(
            Step(f"{n} simulations, lambda {mix:g}", searched(parts.joined(mix)))
            for mix in (1.0, 0.0, 0.5)
        ),
    ]


def measure(run: Run) -> Iterator[tuple[str, str, Finding]]:
    """Play all matches; yield the step, its opponent and the finding."""
    context = Context(
        work=run.path("matches"),
        shared=ROOT.parent / "shared",
        threads=run.threads,
        seed=run.settings.seed,
        say=run.say,
    )
    players = steps(run, context)
    try:
        yield from _against_each_other(run, context, players)
        yield from _against_gnugo(run, context, players)
    finally:
        for step in players:
            if isinstance(step.player, pyengine.Engine):
                step.player.close()


def _against_each_other(
    run: Run, context: Context, players: list[Step]
) -> Iterator[tuple[str, str, Finding]]:
    """Play each step against the previous one, and lambda 1/2 against 1, two steps before."""
    pairs = [*zip(players[1:], players, strict=False), (players[-1], players[-3])]
    for step, before in pairs:
        finding = context.play(
            f"{step.name} against {before.name}",
            step.player,
            before.player,
            run.settings.match_games,
            plies=_PLIES,
        )
        yield step.name, before.name, finding


def _against_gnugo(
    run: Run, context: Context, players: list[Step]
) -> Iterator[tuple[str, str, Finding]]:
    level = run.settings.gnugo_level
    with gnugo(level, run.settings.seed) as other:
        for step in players:
            finding = context.play(
                f"{step.name} against GNU Go",
                step.player,
                other,
                run.settings.match_games,
                plies=_PLIES,
            )
            yield step.name, f"GNU Go at level {level}", finding


def table(rows: list[tuple[str, str, Finding]]) -> str:
    """Return the table in Markdown."""
    lines = ["| step | against | score, 95 % | games |", "|---|---|---|---|"]
    for step, other, finding in rows:
        low, high = finding.interval or (finding.figure, finding.figure)
        score = f"{finding.figure:.1%} [{low:.1%}, {high:.1%}]"
        lines.append(f"| {step} | {other} | {score} | {finding.result} |")
    return "\n".join(lines) + "\n"
