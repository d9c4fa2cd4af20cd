"""Train and measure the Gomoku network that evaluates positions from 17 hand-crafted features.

    python models/gomoku17.py --seed 1
    python models/gomoku17.py --measure --seed 2      # measure the same network with another seed

It learns only from uniformly random games. A position is worth 0.75 to Black if Black won the game,
0.25 if White won, 0.5 after a draw; the last position is worth 1 or 0. To measure the network,
Black always plays to the position of highest value, final positions included, against a random
White.

A value w in [0, 1] for Black becomes the value 2w - 1 for the first player, in [-1, 1]. The
features do not contain the player to move, so the file's spec has ``value_for="first_player"``. All
values in the library are for the player to move, as with any network.

Ctrl-C stops it; the same command resumes from the last checkpoint. Needs the extra ``train``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import manifest
import numpy as np
import numpy.typing as npt

import pyengine
from pyengine import train
from pyengine.match import RandomPlayer, ValuePlayer

HERE = Path(__file__).resolve().parent
NAME = "gomoku17"
GAME = "gomoku"  # 15x15, five or more in a row

LEAST, TARGET_GAMES = 0.99, 1000  #: target: Black's share of wins, and the number of games
WON, LOST, DRAWN = 0.75, 0.25, 0.5  #: value for Black of positions before the last


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All settings."""

    games: int = 5000  #: random games to learn from, about 110 positions per game
    last_share: float = 0.1  #: share of last positions in a batch; the rest may be any
    blocks: int = 1  #: residual blocks of the network
    filters: int = 32  #: channels of the residual tower
    steps: int = 1000  #: training steps
    batch_size: int = 256  #: positions per step
    learning_rate: float = 2e-3  #: peak of a half cosine

    def training(self, seed: int) -> train.TrainConfig:
        """Return the settings of network, optimiser and learner."""
        return train.TrainConfig(
            network=train.NetworkConfig.convolutional(
                kind="value", blocks=self.blocks, filters=self.filters
            ),
            optimiser=train.OptimiserConfig(
                kind="adamw",
                weight_decay=1e-4,
                schedule="cosine",
                learning_rate=self.learning_rate,
                warm_up=100,
                total_steps=self.steps,
            ),
            learner=train.LearnerConfig(
                batch_size=self.batch_size,
                seed=seed,
                device="cpu",
                threads=1,
                checkpoint_steps=500,
                keep=1,
            ),
        )


# --- training positions


def worth(result: float, last: bool) -> float:
    """Return a position's value for Black, in [0, 1].

    Args:
        result: result of the game for Black: 1 won, 0 drawn, -1 lost.
        last: whether the position ends the game.

    """
    if result == 0:
        return DRAWN
    if last:
        return 1.0 if result > 0 else 0.0
    return WON if result > 0 else LOST


def random_game(game: pyengine.Game, rng: np.random.Generator) -> tuple[list[int], float]:
    """Play a random game; return its moves and the result for the first player."""
    state, player = game.new_initial_state(), RandomPlayer(rng)
    while not state.is_terminal():
        state.apply_action(player(state))
    return state.history(), float(state.returns()[0])


@dataclass
class RandomGames:
    """Positions of random games, encoded when sampled; a ``TrainingData``.

    Attributes:
        results: results for the first player.
        last_share: share of last positions in a sample; the rest are drawn from all positions
            after the first move, last positions included.

    """

    game: pyengine.Game
    moves: Sequence[Sequence[int]]
    results: Sequence[float]
    last_share: float = 0.0
    spec: pyengine.ModelSpec = field(init=False)

    def __post_init__(self) -> None:
        """Count the positions and load the board's symmetries."""
        self.spec = pyengine.ModelSpec.gomoku17(self.game)
        self._ends = np.cumsum([len(moves) for moves in self.moves])
        self._turned = [self.game.symmetry_points(k) for k in range(self.game.num_symmetries)]

    @classmethod
    def play(
        cls,
        game: pyengine.Game,
        games: int,
        seed: int,
        last_share: float = 0.0,
        on_progress: Callable[[int], object] | None = None,
    ) -> RandomGames:
        """Play random games, each determined by the seed and its number."""
        played = []
        for number in range(games):
            played.append(random_game(game, np.random.default_rng((seed, number))))
            if on_progress is not None and (number + 1) % 500 == 0:
                on_progress(number + 1)
        return cls(game, [moves for moves, _ in played], [r for _, r in played], last_share)

    def __len__(self) -> int:
        """Return the number of positions."""
        return int(self._ends[-1])

    def sample(
        self, size: int, rng: np.random.Generator, augment: bool = True
    ) -> dict[str, npt.NDArray[Any]]:
        """Return random positions.

        ``planes`` float32 [N,17,H,W]; ``value`` float32 [N], ``2 * worth - 1``, for the first
        player; ``policy`` float32 [N,A], all 0, since no moves are learned.
        """
        places = rng.integers(len(self), size=size)
        numbers = np.searchsorted(self._ends, places, side="right")
        plies = self._ends[numbers] - places  # 1 to the length of the game
        lasts = rng.random(size) < self.last_share
        turns = rng.integers(len(self._turned) if augment else 1, size=size)
        planes, values = [], []
        for number, ply, last, turn in zip(numbers, plies, lasts, turns, strict=True):
            moves, result = self.moves[number], self.results[number]
            length = len(moves) if last else ply
            points = self._turned[turn]
            state = self.game.new_initial_state([points[move] for move in moves[:length]])
            planes.append(state.observation_tensor(self.spec))
            values.append(2 * worth(result, length == len(moves)) - 1)
        return {
            "planes": np.stack(planes),
            "policy": np.zeros((size, self.game.num_distinct_actions()), np.float32),
            "value": np.array(values, np.float32),
        }


# --- games of Black against random moves


@dataclass(frozen=True)
class Score:
    """Results of Black's games."""

    wins: int
    draws: int
    losses: int
    mean_plies: float  #: plies per game

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the winning probability."""
        z, n = 1.959963984540054, self.games
        share = self.wins / n
        middle = share + z * z / (2 * n)
        half = z * ((share * (1 - share) + z * z / (4 * n)) / n) ** 0.5
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def play_black(
    game: pyengine.Game,
    black: Any,
    games: int,
    seed: int,
    concurrent: int = 32,
    on_progress: Callable[[int, int], object] | None = None,
) -> Score:
    """Play games from the empty board against a random White.

    Args:
        game: the game.
        black: a player with ``search_many(states)``.
        games: number of games.
        seed: seed of White's moves.
        concurrent: games played at the same time, whose positions are evaluated together.
        on_progress: called with the numbers of finished games and of wins.

    Ctrl-C returns the finished games; it is raised if there are none.
    """
    waiting = [(game.new_initial_state(), RandomPlayer((seed, number))) for number in range(games)]
    running: list[tuple[pyengine.State, RandomPlayer]] = []
    over: list[pyengine.State] = []
    try:
        while waiting or running:
            while waiting and len(running) < concurrent:
                running.append(waiting.pop(0))
            _move(black, running)
            over += [state for state, _ in running if state.is_terminal()]
            running = [pair for pair in running if not pair[0].is_terminal()]
            if on_progress is not None:
                on_progress(len(over), sum(state.returns()[0] > 0 for state in over))
    except KeyboardInterrupt:
        if not over:
            raise
    results = np.array([state.returns()[0] for state in over])
    lengths = [len(state.history()) for state in over]
    return Score(*(int((results == value).sum()) for value in (1, 0, -1)), float(np.mean(lengths)))


def _move(black: Any, games: Sequence[tuple[pyengine.State, RandomPlayer]]) -> None:
    """Make a move of Black and, unless the game is over, of White in each game."""
    choices = black.search_many([state for state, _ in games])
    for (state, white), choice in zip(games, choices, strict=True):
        state.apply_action(choice.action)
        if not state.is_terminal():
            state.apply_action(white(state))


# --- the command


def say(text: str) -> None:
    """Write progress to standard error."""
    sys.stderr.write(text)
    sys.stderr.flush()


def learn(recipe: Recipe, seed: int, folder: Path, path: Path) -> train.ExportReport:
    """Train, or resume from the last checkpoint in the folder, and write the network."""
    game = pyengine.load_game(GAME)

    def count(done: int) -> None:
        say(f"\rrandom games: {done} of {recipe.games} ")

    def show(report: train.StepReport) -> None:
        say(f"\rstep {report.step} of {recipe.steps}: squared error {report.value:.4f} ")

    data = RandomGames.play(game, recipe.games, seed, recipe.last_share, count)
    say(f"\n{len(data)} positions\n")
    config = recipe.training(seed)
    with train.Learner(config, data, folder, resume=True, on_progress=show) as learner:
        learner.train(max(0, recipe.steps - learner.step))
        say("\n")
        return train.export(learner.exported, game, data.spec, path, value_for="first_player")


def measure(path: Path, games: int, seed: int) -> Score:
    """Let the network play Black; it also evaluates finished positions."""
    network = pyengine.OnnxEvaluator(path, providers=["CPUExecutionProvider"], threads=1)
    black = ValuePlayer(network, ends="evaluator", batch_size=16)
    score = play_black(
        pyengine.load_game(GAME),
        black,
        games,
        seed,
        on_progress=lambda over, won: say(f"\r{over} of {games} games, {won} won "),
    )
    say("\n")
    return score


def entry_of(path: Path, recipe: Recipe, seed: int) -> dict[str, Any]:
    """Return the network's entry in the manifest."""
    return {
        "game": GAME,
        **manifest.describe(path),
        "purpose": "value",  # for a player without a search
        "made": {
            "command": f"python models/{NAME}.py --seed {seed}",
            "seed": seed,
            **asdict(recipe),
        },
    }


def target_of(score: Score, seed: int) -> dict[str, Any]:
    """Return the measurement, compared with the target if there are enough games."""
    share, (low, high) = score.wins / score.games, score.interval
    target = {"least": LEAST, "reached": share >= LEAST} if score.games >= TARGET_GAMES else {}
    return {
        "name": "games won by Black, one move ahead by value, against random moves",
        "figure": share,
        "interval": [round(low, 4), round(high, 4)],
        "count": score.games,
        "result": f"{score.wins} won, {score.draws} drawn, {score.losses} lost",
        **target,
        "mean_plies": round(score.mean_plies, 2),
        "seed": seed,
    }


def enter(file: Path, entry: dict[str, Any], score: Score, seed: int) -> None:
    """Write an entry and its target to the manifest, unless it has a target from more games."""
    if score.games >= max((row["count"] for row in entry.get("targets", ())), default=0):
        manifest.update(file, NAME, {**entry, "targets": [target_of(score, seed)]})


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Train the Gomoku value network on 17 features.")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    parser.add_argument("--work", type=Path, default=Path("build/models"), help="checkpoints")
    parser.add_argument("--out", type=Path, default=HERE, help="output folder")
    parser.add_argument("--games", type=int, default=1000, help="games to measure (default 1000)")
    parser.add_argument("--measure", action="store_true", help="only measure the existing network")
    args = parser.parse_args()
    if args.games < 1 or args.seed < 0:
        parser.error("expected --games of at least 1 and --seed of at least 0")
    recipe, path, file = Recipe(), args.out / f"{NAME}.onnx", args.out / "manifest.toml"
    try:
        if args.measure:
            entry = manifest.read(file).get(NAME, {})
        else:
            export = learn(recipe, args.seed, args.work / f"{NAME}-{args.seed}", path)
            say(f"{path}: ONNX within {export.difference:.1e} of PyTorch\n")
            entry = entry_of(path, recipe, args.seed)
        score = measure(path, args.games, args.seed)
    except KeyboardInterrupt:
        say("\nstopped: run the same command to resume from the last checkpoint\n")
        return 130
    low, high = score.interval
    print(
        f"Black won {score.wins} of {score.games} games against random moves "
        f"({low:.2%} to {high:.2%}), drew {score.draws}; {score.mean_plies:.1f} plies per game"
    )
    if score.games < args.games:
        say(f"stopped after {score.games} of {args.games} games\n")
        return 130
    if entry.get("sha256") == manifest.describe(path)["sha256"]:
        enter(file, entry, score, args.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
