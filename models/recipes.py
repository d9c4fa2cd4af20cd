"""How each bundled network is made: the game, the rounds of searching, the size of the network."""

from __future__ import annotations

from dataclasses import dataclass

from pyengine import ModelSpec

#: What all bundled networks read. The mover's stones say everything; ``ones`` shows the edge to a
#: convolution that pads with zeros, ``first_to_move`` the parity that decides Connect Four.
SPEC = ModelSpec(planes=("own[0]", "opp[0]", "legal", "first_to_move", "ones"))


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round: games are played by searches, then a network is trained on their positions.

    A round without ``mix`` searches with playouts alone. A later one searches with the network of
    the round before: ``mix`` is the weight of the playouts in its values (0 = the network alone).
    """

    shards: int  #: files of ``games`` games each
    games: int = 256  #: played side by side; one file
    simulations: int  #: a move
    rollouts: int  #: playouts a leaf
    mix: float | None = None
    blocks: int  #: residual blocks of the network trained afterwards
    channels: int  #: of every convolution in them
    epochs: float  #: over the positions of this and the earlier rounds
    minutes: tuple[float, float]  #: most minutes for searching and for training, --minutes scales


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A bundled network."""

    name: str  #: the file is NAME.onnx
    game: str  #: text form for load_game
    rounds: tuple[Round, ...]
    opening_plies: int  #: every game starts with 0 to so many random moves
    temperature_plies: int  #: so many further moves are drawn in proportion to the visits
    stray: float  #: probability of a random move later on, so that mistakes are met too

    @property
    def minutes(self) -> float:
        """Most minutes that the recipe asks for."""
        return sum(sum(round_.minutes) for round_ in self.rounds)


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="tic_tac_toe",
            game="tic_tac_toe",
            opening_plies=5,
            temperature_plies=4,
            stray=0.1,
            rounds=(
                Round(shards=24, simulations=600, rollouts=2, blocks=2, channels=24, epochs=40,
                      minutes=(1, 4)),
            ),
        ),
        Recipe(
            name="connect4",
            game="connect_four",
            opening_plies=8,
            temperature_plies=8,
            stray=0.04,
            rounds=(
                Round(shards=40, simulations=1600, rollouts=4, blocks=3, channels=32, epochs=6,
                      minutes=(10, 6)),
                Round(shards=12, simulations=200, rollouts=4, mix=0.3, blocks=4, channels=48,
                      epochs=8, minutes=(15, 20)),
            ),
        ),
        Recipe(
            name="gomoku",
            game="gomoku(board_size=9)",
            opening_plies=6,
            temperature_plies=8,
            stray=0.04,
            rounds=(
                Round(shards=16, simulations=1600, rollouts=1, blocks=3, channels=32, epochs=8,
                      minutes=(12, 6)),
                Round(shards=16, simulations=200, rollouts=4, mix=0.3, blocks=4, channels=48,
                      epochs=8, minutes=(15, 20)),
            ),
        ),
    )
}  # fmt: skip
