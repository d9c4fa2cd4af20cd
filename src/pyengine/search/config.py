"""How to search: :class:`SearchConfig`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from pyengine import _core
from pyengine.base.arguments import check_type, text_is_a_name
from pyengine.base.files import read_limited, unread
from pyengine.base.settings import Settings
from pyengine.errors import ConfigError

__all__ = ["SearchConfig"]

#: Fields younger than records of matches and gates, whose names are fingerprints.
_ADDED_LATER = ("dirichlet_shaped", "root_policy_temperature")

SymmetryMode: TypeAlias = Literal["none", "random", "average", "root_average", "fill"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchConfig(Settings):
    """The settings of a search.

    Immutable and validated: a value of another type or out of range raises
    :class:`~pyengine.ConfigError` that names the field. ``float`` fields take ints too. Any field
    may be given to a search as a keyword argument, for that call.

    Attributes:
        simulations (int in [1, 2**32 - 1] or None, default None): budget: visits added to the
            tree. With neither budget 800.
        seconds (float > 0 or None, default None): budget: wall time; alone it is the only limit.
            With both budgets the search ends at whichever is reached first.
        algorithm ("puct", "gumbel", "uct" or "flat_ucb", default "puct"): the rule that selects a
            child: PUCT [AlphaZero]; Gumbel AlphaZero with sequential halving at the root; UCB1 at
            every node, without priors; UCB1 among the moves of the root, without a tree.
        c_puct (float > 0, default 1.25): weight of exploration, c(n) = c_puct + c_puct_factor *
            ln((1 + n + c_puct_base) / c_puct_base) [AlphaZero, pb_c_init].
        c_puct_base (float > 0 or None, default 19652.0): see ``c_puct``; None makes c(n) the
            constant ``c_puct`` [AlphaZero, pb_c_base; AlphaGo Zero: None].
        c_puct_factor (float >= 0, default 1.0): see ``c_puct`` [KataGo, lc0].
        fpu ("value", "parent" or "reduction", default "reduction"): value of a child without
            visits: the constant ``fpu_value``, the value of its parent, or the value of its parent
            minus ``fpu_value`` * sqrt(sum of the priors of visited children) [KataGo, lc0].
        fpu_value (float in [-2, 2], default 0.25): see ``fpu``; AlphaGo Zero: ``fpu="value"``,
            ``fpu_value=0``.
        choose ("visits" or "mean", default "visits"): the move played at temperature 0: the one
            with most visits (with ``algorithm="gumbel"`` the winner of sequential halving), or the
            one with the best mean value.
        exploration ("standard", "alphago" or "log", default "standard"): the exploration term.
            "alphago" is ``c_puct`` * P / (1 + N), of ``algorithm="puct"`` [AlphaGo, 2016]; "log" is
            ``uct_c`` * ln(n / (1 + N)), of "uct" and "flat_ucb".
        uct_c (float >= 0, default 2**-0.5): weight of exploration in UCB1, W / N + uct_c *
            sqrt(2 * ln(n) / N), where a win counts 1, a draw 1/2 and a loss 0 [Kocsis and
            Szepesvári, 2006].
        expand_probability (float in (0, 1], default 1.0): of "uct": at a node with moves not yet
            tried, the probability of trying one of them; else the walk descends.
        threads (int in [0, 1024], default 0): worker threads, the calling one included; 0 = all
            cores that the process may use. With an evaluator on a device never more than cores.
        batch_size (int in [1, 4096], default 8): rows of one evaluator call [AlphaGo Zero].
        in_flight (int in [1, 65535] or None, default None): most leaves of one tree that wait for
            the evaluator at once, whatever the number of threads; None = 2 * ``batch_size``.
        collision ("virtual_visit" or "virtual_loss", default "virtual_visit"): what a leaf in
            flight changes on its path: visits in the exploration term alone, or also
            ``virtual_loss`` losses in Q.
        virtual_loss (float >= 0, default 1.0): losses that a leaf in flight counts for, with
            ``collision="virtual_loss"``.
        symmetry ("none", "random", "average", "root_average" or "fill", default "random"): board
            symmetries under which a leaf is evaluated: the identity; one at random; the mean over
            all; the mean over all at the root and one at random elsewhere; one at random, and more
            where a batch has rows left over. Evaluators without planes ignore it.
        dirichlet_alpha (float > 0 or None, default None): of the noise in the priors of the root;
            None = 10 / legal actions.
        dirichlet_fraction (float in [0, 1], default 0.0): share of that noise; 0 = none, 0.25 in
            self-play [AlphaGo Zero].
        dirichlet_shaped (bool, default False): whether half of the noise's concentration goes to
            the moves whose logarithm of the prior is above the mean, in proportion to how far
            [KataGo, shaped Dirichlet noise]; else every move has the same. With
            ``algorithm="puct"`` alone.
        root_policy_temperature (float > 0, default 1.0): the priors of the root are prior ** (1 /
            this), normalised, before the noise [SAI; KataGo: 1.25 falling to 1.1]; above 1 they
            are flatter. With ``algorithm="puct"`` alone: ``"gumbel"`` makes its
            ``improved_policy`` of the priors, UCB1 reads none.
        temperature (float >= 0, default 0.0): of the move choice: probabilities are visits ** (1 /
            temperature), normalised, with ``algorithm="gumbel"`` improved_policy ** (1 /
            temperature); moves proven to lose have 0, a proven win is played. 0 = the move that
            ``choose`` names, with "gumbel" the winner of sequential halving.
        reuse_tree (bool, default True): whether a search continues the tree of the one before.
        cache_entries (int in [0, 2**32], default 2**17): evaluations that the engine's cache
            holds; 0 = no cache, or given to one call: the cache is not read.
        memory_limit (int >= 2**23, default 2**31): bytes of trees, cache and batches, a hard cap:
            a search that reaches it goes on without adding nodes.
        solver (bool, default True): whether proven wins, losses and draws are backed up as such.
        deterministic (bool, default False): the same results for the same calls on a new engine
            at any number of threads, on the same machine and provider, with budgets in simulations.
        seed (int in [0, 2**64 - 1], default 0): the only source of randomness; the k-th search of
            an engine uses the stream (seed, k). Several threads give other results from run to
            run, unless ``deterministic``.
        endgame_solver_empties (int in [0, 64], default 0): leaves with at most so many empty points
            are solved exactly by alpha-beta, in place of an evaluation; 0 = none. Not for Go and
            users' games. Each worker has a table of 1 MiB for it beside ``memory_limit``.
        gumbel_actions (int in [1, 65535], default 16): of "gumbel": moves of the root that are
            drawn and compared [mctx, max_num_considered_actions].
        gumbel_c_visit (float >= 0, default 50.0): of "gumbel" and ``improved_policy`` [mctx,
            maxvisit_init].
        gumbel_c_scale (float >= 0, default 0.1): of "gumbel" and ``improved_policy`` [mctx,
            value_scale].
        gumbel_noise (bool, default True): of "gumbel": whether the moves of the root are drawn at
            random, for self-play; else the ones with the largest priors are taken, which plays
            better.

    Example:
        >>> import pyengine
        >>> config = pyengine.SearchConfig(simulations=1600, threads=2)
        >>> config.replace(seed=1).seed
        1
        >>> pyengine.SearchConfig(c_puct=0)
        Traceback (most recent call last):
            ...
        pyengine.ConfigError: c_puct: expected a number > 0, found 0
    """

    simulations: int | None = None
    seconds: float | None = None
    algorithm: Literal["puct", "gumbel", "uct", "flat_ucb"] = "puct"
    c_puct: float = 1.25
    c_puct_base: float | None = 19652.0
    c_puct_factor: float = 1.0
    fpu: Literal["value", "parent", "reduction"] = "reduction"
    fpu_value: float = 0.25
    choose: Literal["visits", "mean"] = "visits"
    exploration: Literal["standard", "alphago", "log"] = "standard"
    uct_c: float = 2**-0.5
    expand_probability: float = 1.0
    threads: int = 0
    batch_size: int = 8
    in_flight: int | None = None
    collision: Literal["virtual_visit", "virtual_loss"] = "virtual_visit"
    virtual_loss: float = 1.0
    symmetry: SymmetryMode = "random"
    dirichlet_alpha: float | None = None
    dirichlet_fraction: float = 0.0
    dirichlet_shaped: bool = False
    root_policy_temperature: float = 1.0
    temperature: float = 0.0
    reuse_tree: bool = True
    cache_entries: int = 1 << 17
    memory_limit: int = 2 << 30
    solver: bool = True
    deterministic: bool = False
    seed: int = 0
    endgame_solver_empties: int = 0
    gumbel_actions: int = 16
    gumbel_c_visit: float = 50.0
    gumbel_c_scale: float = 0.1
    gumbel_noise: bool = True

    def __post_init__(self) -> None:
        """Check all fields; numbers of NumPy become Python's, which TOML and JSON know."""
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, f.name, value.item())
        _core.check_search_config(self.as_core())

    def as_core(self) -> dict[str, Any]:
        """Return the fields as the C++ engine takes them."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if fields["in_flight"] is None:
            fields["in_flight"] = 0
        elif isinstance(fields["in_flight"], int) and fields["in_flight"] == 0:
            raise ConfigError("in_flight: expected 1 .. 65535 or None, found 0")
        return fields

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed; raises ConfigError for an unknown one."""
        return dataclasses.replace(self, **changes) if changes else self

    def fingerprint(self) -> str:
        """Return 12 hex digits that name these settings: equal settings, equal digits.

        A field that was added later counts where it is not at its default, so that settings keep
        the digits that they had before.
        """
        fields = dataclasses.asdict(self)
        for field in dataclasses.fields(self):
            if field.name in _ADDED_LATER and fields[field.name] == field.default:
                del fields[field.name]
        import hashlib

        text = json.dumps(fields, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_toml(self) -> str:
        """Return all fields as TOML; those that are None are left out."""
        fields = dataclasses.asdict(self)
        lines = [f"{key} = {_toml_value(v)}" for key, v in fields.items() if v is not None]
        # TOML has no null: what is None while its default is not must be said.
        lines += [
            f'{f.name} = "none"'
            for f in dataclasses.fields(self)
            if fields[f.name] is None and f.default is not None
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, source: str | Path) -> Self:
        """Read TOML text, or a file by its Path; fields left out have their defaults."""
        import tomllib

        try:
            check_type("source", source, str | Path, "TOML text, or the Path of a file")
            text = read_limited(source).decode() if isinstance(source, Path) else source
            fields = tomllib.loads(text)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(unread(Path(source), error)) from error
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise ConfigError(
                f"a search configuration: not TOML: {error}{text_is_a_name(source)}"
            ) from error
        optional = {f.name for f in dataclasses.fields(cls) if "None" in str(f.type)}
        for name in optional & fields.keys():
            if fields[name] == "none":
                fields[name] = None
        return cls().replace(**fields)


def _toml_value(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else repr(value)
