"""How to play against oneself: :class:`SelfPlayConfig`."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Self

from pyengine import _core
from pyengine.base.arguments import check_type, found
from pyengine.base.integers import integer
from pyengine.base.settings import Settings
from pyengine.errors import ConfigError
from pyengine.games.game import as_game, load_game
from pyengine.search.config import SearchConfig

__all__ = ["SelfPlayConfig", "as_config"]


_GAMES = 64  # at once
_DEVICE_ROWS = 128  # of a device's batch, where nothing is given: small networks gain up to 256
_MOST_DEVICE_ROWS = 256
_DEFAULT_ROWS = SearchConfig().batch_size
_MOST_GAMES_AT_ONCE = 65535
_SIMULATIONS = 800  # where the search names no budget
_DIRICHLET_FRACTION = 0.25  # of the noise, where it names none [AlphaGo Zero]
_TEMPERATURE = 1.0  # of the first moves, where it names none [AlphaGo Zero]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfPlayConfig(Settings):
    """The settings of self-play.

    Immutable and validated: a value of another type or out of range raises
    :class:`~pyengine.ConfigError` that names the field.

    Attributes:
        search (SearchConfig, default SearchConfig()): of full searches. What it leaves at a
            search's default has self-play's: 800 simulations, ``dirichlet_fraction`` 0.25,
            ``temperature`` 1. With ``algorithm="gumbel"`` these two stay at 0, as the Gumbel noise
            explores and draws the move, and the policy target is ``improved_policy``. Its budget is
            in simulations, ``deterministic`` is refused (see ``seed`` below), its own ``seed`` is
            not read.
        noise (bool, default True): at the root of full searches; False sets the search's
            ``dirichlet_fraction`` to 0 and its ``gumbel_noise`` to False.
        concurrent_games (int in [1, 65535] or None, default None): games at once, whose searches
            share batches. None = 64; where the evaluator has a device, a game for each row of its
            batches, and a ``search.batch_size`` left at 8 is chosen with it (128 rows and 768
            games with neither given).
        temperature_moves (int >= 0, default 30): plies of a game at the search's ``temperature``;
            later moves are the most visited ones [AlphaGo Zero]. With ``algorithm="gumbel"`` the
            plies whose moves the noise draws; later it only explores.
        resign_threshold (float in [-1, 1] or None, default -0.9): a side resigns when the values
            of the root and of its best child are both below it; None = nobody resigns.
        resign_off_fraction (float in [0, 1], default 0.1): share of games that are played to the
            end, to measure false resignations [AlphaGo Zero].
        resign_false_positives (float in [0, 1], default 0.05): the threshold falls until no larger
            share of those games would have been resigned by a side that did not lose; by the
            newest 1,000 such games, of earlier calls into the same directory, too, from 20 on.
        full_search_fraction (float in (0, 1], default 1.0): probability that a move has a full
            search; positions of the others are no policy targets [KataGo, playout cap].
        fast_simulations (int >= 1, default 100): budget of the other searches, without noise and at
            a ``root_policy_temperature`` of 1.
        clear_before_full (bool, default False): whether a full search begins from a cleared tree,
            so that all visits of a policy target were made under its noise [KataGo]; else it goes
            on in what the search before left below the move that was played.
        forced_playouts (float in [0, 10**6], default 0.0): k: a root move of a full search gets at
            least sqrt(k * prior * visits) visits, which policy targets leave out, and which the
            draw of the move does; 0 = none [KataGo: 2]; of ``algorithm="puct"`` alone.
        record_surprise (bool, default False): whether records say how much their policy target
            surprised the network, so that a ``Dataset`` can draw by that [KataGo, policy surprise
            weighting]. Such data are of format 4.
        minimum_target_visits (int >= 0, default 16): a full search whose policy target has fewer
            visits, since a draw was proven, teaches all moves that draw in equal parts. A full
            search without a proof that gave most of its visits to moves known to lose, and fewer
            than this to the others, teaches the value alone. At most the search's simulations
            count; not of ``algorithm="gumbel"``.
        max_plies (int in [1, 65535] or None, default None): a game that has so many plies and no
            end is cut short: it is recorded without a result, its positions teach the policy and
            not the value, and the report's ``cut_short`` counts it. None = 65,535, since records
            count no further. A game that ends at its ``max_game_length`` has the result of its
            rules. Of a user's game ``max_plies`` must be below that by what a search looks ahead,
            which is an error beyond it.
        opening_random_moves (int in [0, 65534], default 0): a game begins with a number of random
            moves, drawn from 0 to this; below ``max_plies``.
        seed (int in [0, 2**64 - 1], default 0): the only source of random numbers. The same seed
            gives the same games only with ``search.threads=1`` and evaluation on the CPU, in a
            new directory. With several threads, or a device, the order in which leaves are
            evaluated depends on timing, and so do the games; ``deterministic`` does not help.

    Example:
        >>> from pyengine import SearchConfig, SelfPlayConfig
        >>> config = SelfPlayConfig(search=SearchConfig(simulations=200), concurrent_games=16)
        >>> config.search.simulations, config.search.dirichlet_fraction
        (200, 0.25)
    """

    search: SearchConfig = dataclasses.field(default_factory=SearchConfig)
    noise: bool = True
    concurrent_games: int | None = None
    temperature_moves: int = 30
    resign_threshold: float | None = -0.9
    resign_off_fraction: float = 0.1
    resign_false_positives: float = 0.05
    full_search_fraction: float = 1.0
    fast_simulations: int = 100
    clear_before_full: bool = False
    forced_playouts: float = 0.0
    record_surprise: bool = False
    minimum_target_visits: int = 16
    max_plies: int | None = None
    opening_random_moves: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Fill the search in and check all fields."""
        if not isinstance(self.search, SearchConfig):
            raise ConfigError(f"search: expected a SearchConfig, found {found(self.search)}")
        for name in ("noise", "record_surprise"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name}: expected a bool, found {found(getattr(self, name))}")
        object.__setattr__(self, "search", self._filled_in())
        _core.check_selfplay_config(self.as_core())

    @classmethod
    def alphago_zero(cls, game: Any) -> Self:
        """Return AlphaGo Zero's settings: 1,600 simulations of PUCT with a constant, no proofs.

        ``game``: a game or its name. On Go's board of 19x19 ``dirichlet_alpha`` is 0.03, elsewhere
        10 / legal actions.
        """
        played = load_game(game) if isinstance(game, str) else as_game(game)
        large = played.name == "go" and tuple(played.board_shape) == (19, 19)
        search = SearchConfig(
            simulations=1600,
            c_puct_base=None,
            fpu="value",
            fpu_value=0.0,
            solver=False,
            symmetry="random",
            dirichlet_alpha=0.03 if large else None,
        )
        return cls(search=search)

    @classmethod
    def fast(cls, game: Any, *, simulations: int = 600, fast_simulations: int = 100) -> Self:
        """Return settings that learn from fewer evaluations [KataGo, Wu 2019].

        A quarter of the moves has a full search whose visits are targets, the others a fast one
        that only plays on; noisy root moves get forced playouts, which the targets do not show;
        games begin with up to four random moves; proven positions end a search.

        Args:
            game: a game or its name; its length sets ``temperature_moves``.
            simulations: of a full search.
            fast_simulations: of a fast one.
        """
        played = load_game(game) if isinstance(game, str) else as_game(game)
        return cls(
            search=SearchConfig(simulations=simulations, solver=True),
            temperature_moves=_opening(played),
            full_search_fraction=0.25,
            fast_simulations=fast_simulations,
            forced_playouts=2.0,
            opening_random_moves=4,
        )

    @classmethod
    def gumbel(cls, game: Any, *, simulations: int = 32) -> Self:
        """Return settings that learn from few simulations [Gumbel AlphaZero, Danihelka 2022].

        Each search compares up to 16 moves that Gumbel noise draws without replacement. Its move is
        a sample in the first plies of a game, the policy target is ``improved_policy``; proven
        positions end a search. Games begin with up to four random moves, since the samples of a
        network that is sure of itself hardly differ.

        Args:
            game: a game or its name; its length sets ``temperature_moves``.
            simulations: of a search.
        """
        played = load_game(game) if isinstance(game, str) else as_game(game)
        return cls(
            search=SearchConfig(algorithm="gumbel", simulations=simulations, solver=True),
            temperature_moves=_opening(played),
            opening_random_moves=4,
        )

    def _filled_in(self) -> SearchConfig:
        """Return the search with self-play's defaults, without which all games would be equal."""
        search = self.search
        budget = search.simulations
        search = search.replace(
            simulations=_SIMULATIONS if budget is None and search.seconds is None else budget
        )
        if search.algorithm == "gumbel":
            return search.replace(
                dirichlet_fraction=search.dirichlet_fraction * self.noise,
                gumbel_noise=search.gumbel_noise and self.noise,
            )
        return search.replace(
            dirichlet_fraction=(search.dirichlet_fraction or _DIRICHLET_FRACTION) * self.noise,
            temperature=search.temperature or _TEMPERATURE,
        )

    def as_core(self) -> dict[str, Any]:
        """Return the fields as the C++ engine takes them."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del fields["noise"]  # the search says it
        del fields["record_surprise"]  # games have it whether it is recorded or not
        if self.concurrent_games is None:
            fields["concurrent_games"] = _GAMES
        return fields | {"search": self.search.as_core()}

    def sized(self, device_batches: int) -> Self:
        """Return the settings with games and rows of a batch chosen for an evaluator.

        ``device_batches``: those that its device serves at once, 0 where it has none. As many more
        wait for it, one is handed over and one is being filled; with a game for each of their
        rows no tree has two leaves in flight.
        """
        rows, games = self.search.batch_size, self.concurrent_games
        device_batches = integer("device_batches", device_batches, 0)
        if device_batches == 0:
            return self.replace(concurrent_games=_GAMES if games is None else games)
        under_way = 2 * device_batches + 2
        if rows == _DEFAULT_ROWS:
            fitting = _DEVICE_ROWS if games is None else max(1, games // under_way)
            rows = min(_MOST_DEVICE_ROWS, max(_DEFAULT_ROWS, 1 << (fitting.bit_length() - 1)))
        if games is None:
            games = min(_MOST_GAMES_AT_ONCE, max(_GAMES, under_way * rows))
        return self.replace(search=self.search.replace(batch_size=rows), concurrent_games=games)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed; raises ConfigError for an unknown one."""
        return dataclasses.replace(self, **changes) if changes else self

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, the search's in a dict of their own."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Read what :meth:`to_dict` returned; fields left out have their defaults.

        Raises ConfigError for what is no dict of these fields, or does not fit them.
        """
        check_type("fields", fields, Mapping, "a dict of settings")
        cls.check_names(fields)
        given = dict(fields)
        if isinstance(given.get("search"), dict):
            SearchConfig.check_names(given["search"])
            given["search"] = SearchConfig().replace(**given["search"])
        return cls().replace(**given)

    def fingerprint(self) -> str:
        """Return 12 hex digits that name these settings: equal settings, equal digits."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def _opening(game: Any) -> int:
    """Return the plies of a game that are drawn where its length decides."""
    plies: int = game.max_game_length()
    return min(30, max(4, plies // 4))


def as_config(config: SelfPlayConfig | None) -> SelfPlayConfig:
    """Return settings as they are given, or the defaults. Raises ConfigError for another type."""
    if config is None:
        return SelfPlayConfig()
    if not isinstance(config, SelfPlayConfig):
        raise ConfigError(f"config: expected a SelfPlayConfig, found {found(config)}")
    return config
