"""How to search: :class:`SearchConfig`."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from pyengine import _core
from pyengine.errors import ConfigError
from pyengine.settings import Settings

__all__ = ["SearchConfig"]

SymmetryMode: TypeAlias = Literal["none", "random", "average", "root_average", "fill"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchConfig(Settings):
    """The settings of a search; see the field comments for unit, range and source.

    Immutable and validated: a value of another type or out of range raises
    :class:`~pyengine.ConfigError` that names the field. ``float`` fields take ints too.
    """

    simulations: int | None = None  #: budget, >= 1; neither budget = 800
    seconds: float | None = None  #: budget, > 0; both = whichever ends first
    algorithm: Literal["puct"] = "puct"
    c_puct: float = 1.25  #: > 0 [AlphaZero, pb_c_init]
    c_puct_base: float | None = 19652.0  #: > 0 [AlphaZero, pb_c_base]; None = constant c [AGZ]
    c_puct_factor: float = 1.0  #: >= 0
    fpu: Literal["value", "parent", "reduction"] = "reduction"  #: value of an unvisited child
    fpu_value: float = 0.25  #: in [-2, 2]; AlphaGo Zero: fpu="value", fpu_value=0
    threads: int = 0  #: workers; 0 = all cores that the process may use
    batch_size: int = 8  #: rows of one evaluator call, 1..4096 [AlphaGo Zero]
    in_flight: int | None = None  #: most leaves of one tree waiting at once; 2 * batch_size
    collision: Literal["virtual_visit", "virtual_loss"] = "virtual_visit"
    virtual_loss: float = 1.0  #: losses that a leaf in flight counts for, >= 0
    symmetry: SymmetryMode = "random"
    dirichlet_alpha: float | None = None  #: > 0; None = 10 / legal actions
    dirichlet_fraction: float = 0.0  #: share of noise in the root's priors; 0.25 in self-play
    temperature: float = 0.0  #: of the move choice, >= 0; 0 = most visits
    reuse_tree: bool = True
    cache_entries: int = 1 << 17  #: of the engine's cache; 0 = none, in a call: not read
    memory_limit: int = 2 << 30  #: bytes of trees and the engine's cache, a hard cap; >= 8 MiB
    solver: bool = True  #: back up proven wins, losses and draws as such
    deterministic: bool = False  #: the same results at any number of threads
    seed: int = 0  #: 0..2^64-1, the only source of randomness
    gumbel_c_visit: float = 50.0  #: of improved_policy, >= 0 [mctx]
    gumbel_c_scale: float = 0.1  #: of improved_policy, >= 0 [mctx]

    def __post_init__(self) -> None:
        """Check all fields; numbers of NumPy become Python's, which TOML and JSON know."""
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, f.name, value.item())
        if self.algorithm != "puct":
            raise ConfigError(f'algorithm: expected "puct", found {self.algorithm!r}')
        _core.check_search_config(self.as_core())

    def as_core(self) -> dict[str, Any]:
        """Return the fields as the C++ engine takes them."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del fields["algorithm"]
        if fields["in_flight"] is None:
            fields["in_flight"] = 0
        elif fields["in_flight"] == 0:
            raise ConfigError("in_flight: expected 1 .. 65535 or None, found 0")
        return fields

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed; raises ConfigError for an unknown one."""
        return dataclasses.replace(self, **changes) if changes else self

    def fingerprint(self) -> str:
        """Return 12 hex digits that name these settings: equal settings, equal digits."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
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
        try:
            text = source.read_text("utf-8") if isinstance(source, Path) else source
            fields = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"a search configuration: not TOML: {error}") from error
        optional = {f.name for f in dataclasses.fields(cls) if "None" in str(f.type)}
        for name in optional & fields.keys():
            if fields[name] == "none":
                fields[name] = None
        return cls().replace(**fields)


def _toml_value(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else repr(value)
