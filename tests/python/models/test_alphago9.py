"""The AlphaGo pipeline on 9x9: its parts, and a small run of all stages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from conftest import SHARED
from pyengine import Dataset
from pyengine.eval import RolloutPolicy

torch = pytest.importorskip("torch", reason="the run needs the extra train")
torch.set_num_threads(1)  # these networks are small
pytest.importorskip("onnx", reason="the run needs the extra train")

TEACHER = SHARED / "nets" / "go9x9_pyaq.onnx"


@pytest.fixture
def run(tmp_path: Path) -> Any:
    from alphago.folder import Run
    from alphago.settings import QUICK

    return Run(folder=tmp_path, settings=QUICK, teacher=TEACHER, say=lambda _: None)


def equal(states: Any) -> Any:
    """Return the uniform policy."""
    return pyengine.UniformEvaluator().evaluate(states)[0]


def test_actions_are_drawn_with_their_probabilities() -> None:
    from alphago.play import drawn

    rows = np.tile(np.array([0.0, 0.5, 0.0, 0.3, 0.2], np.float32), (20_000, 1))
    counts = np.bincount(drawn(rows, np.random.default_rng(0)), minlength=5)
    assert counts[[0, 2]].tolist() == [0, 0]
    np.testing.assert_allclose(counts / 20_000, rows[0], atol=0.02)


def test_a_policy_player_draws_moves_reproducibly() -> None:
    from alphago.play import PolicyPlayer

    game = pyengine.load_game("tic_tac_toe")
    states = [game.new_initial_state([move]) for move in range(9)]
    players = [PolicyPlayer(game, pyengine.UniformEvaluator(), "x", seed) for seed in range(60)]
    chosen = np.array([[c.action for c in player.search_many(states)] for player in players])
    again = np.array([[c.action for c in players[7].search_many(states[::-1])]])
    assert (again[0, ::-1] == chosen[7]).all()
    for move in range(9):
        assert set(chosen[:, move]) == set(range(9)) - {move}


def test_a_game_of_the_value_network_yields_one_position_with_its_result(run: Any) -> None:
    from alphago.value_games import play_value_games

    play_value_games(run, "value_games", equal, equal)
    data = Dataset(run.path("value_games"))
    assert data.games == len(data) == run.settings.value_games
    lines = [line for piece in data.pieces for line in piece.lines()]
    batch = data.rows(np.arange(len(data)))
    assert len(set(batch["ply"].tolist())) > 5
    assert batch["ply"].max() <= run.settings.value_plies
    for line, ply, value in zip(lines, batch["ply"], batch["value"], strict=True):
        end = run.game.new_initial_state(line.moves)
        mover = run.game.new_initial_state(line.moves[:ply]).current_player()
        assert value == end.returns()[mover]


def test_policy_gradient_makes_the_moves_of_won_games_more_likely(run: Any) -> None:
    from alphago import reinforce as module

    from pyengine.train import Network

    torch.manual_seed(0)
    game, settings = run.game, run.settings
    planes = len(settings.spec.planes)
    config = settings.network("alphago_zero")
    network = Network(config, planes, game.board_shape, game.num_distinct_actions()).eval()
    rng = np.random.default_rng(0)
    moves, results = module._play(game, settings.spec, network, network, settings, rng)
    assert len(results) == settings.reinforce_games
    assert {move.game for move in moves} == set(range(len(results)))
    assert all(move.legal[move.action] for move in moves)
    results[:] = np.arange(len(results)) % 2  # as if every other game had been won
    before = chances(module, network, moves)
    optimiser = torch.optim.SGD(network.parameters(), lr=1e-3)
    module._step(network, optimiser, moves, results)
    gained = chances(module, network, moves) - before
    won = np.array([results[move.game] == 1 for move in moves])
    assert gained[won].mean() > 0 > gained[~won].mean()


def chances(module: Any, network: Any, moves: Any) -> Any:
    """Return the log probabilities of the moves played."""
    planes, legal = (np.stack([getattr(m, name) for m in moves]) for name in ("planes", "legal"))
    with torch.no_grad():
        logs = module._log_policy(network, planes, legal).numpy()
    return logs[np.arange(len(moves)), [m.action for m in moves]]


def test_a_folder_with_other_settings_is_refused(run: Any) -> None:
    from dataclasses import replace

    run.begin()
    run.begin()
    other = replace(run, settings=replace(run.settings, blocks=2))
    with pytest.raises(pyengine.ConfigError, match="other settings: blocks"):
        other.begin()
    longer = replace(run, settings=replace(run.settings, match_games=10, simulations=3))
    longer.begin()  # these settings affect only the table


@pytest.mark.slow
@pytest.mark.skipif(not TEACHER.exists(), reason="no ../shared/nets/go9x9_pyaq.onnx")
def test_all_stages_write_their_products_once(tmp_path: Path) -> None:
    import alphago9

    command = ["--directory", str(tmp_path), "--quick", "--teacher", str(TEACHER)]
    command += ["--filters", "8"]
    assert alphago9.main([*command, "--until", "value.onnx"]) == 0
    products = [stage.product for stage in alphago9.STAGES[:-1]]
    written = {name: (tmp_path / name).stat().st_mtime_ns for name in products}
    assert RolloutPolicy.load(tmp_path / "rollout_policy.npz").features["capture_stone"] != 0
    if shutil.which("gnugo", path="/usr/games:/usr/bin:/bin") is None:
        pytest.skip("no GNU Go for the table: apt-get install gnugo")
    assert alphago9.main(command) == 0
    assert written == {name: (tmp_path / name).stat().st_mtime_ns for name in products}
    table = (tmp_path / "table.md").read_text().splitlines()
    assert len(table) == 2 + 6 + 6
    assert alphago9.main([*command, "--match-games", "4"]) == 0  # rewrites only the table
    assert (tmp_path / "table.md").read_text().splitlines() != table
    assert written == {name: (tmp_path / name).stat().st_mtime_ns for name in products}
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert (settings["teacher"], settings["blocks"], settings["filters"]) == (TEACHER.name, 1, 8)


@pytest.mark.slow
@pytest.mark.parametrize("priors", ["neither", "policy", "both"])
def test_a_rollout_policy_is_measured_at_equal_time(
    priors: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import rollouts

    zeros = np.zeros(65536)
    file = tmp_path / "policy.npz"
    RolloutPolicy(zeros, zeros, {"capture_stone": 1.0}).save(file)
    sizes = ["--simulations", "40", "--games", "4", "--ratio", "2", "--work", str(tmp_path)]
    rollouts.main([str(file), "--json", *sizes, "--priors", priors])
    finding = json.loads(capsys.readouterr().out)
    assert finding["count"] == 4
    assert finding["name"].startswith("20 simulations by the policy against 40")
    assert finding["name"].endswith(f"its priors: {priors}")
