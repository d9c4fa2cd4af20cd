"""The learner's candidates after crashes and failed exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyengine import train
from pyengine.data.window import Piece
from pyengine.train.loop import part_learner, part_selfplay
from pyengine.train.loop.part import Part
from pyengine.train.loop.state import Best, RunFolder
from run_games import UNIFORM, Impatient, play_games, run_of

pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
pytest.importorskip("onnx", reason="export needs onnx: the extra train")


def learning(steps: int = 10, **changes: dict[str, Any]) -> train.RunFile:
    """Return a run with a candidate every ten steps."""
    return run_of(
        **{
            "run": {"steps": steps},
            "train": {"batch_size": 16},
            "window": {"minimum_positions": 20, "samples_per_position": 1000},
            "gate": {"every_steps": 10},
            **changes,
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return the folder of a run with some games."""
    folder, run = RunFolder(tmp_path), learning()
    folder.begin(run)
    play_games(folder, run, 20)
    return folder


def learn(folder: RunFolder, steps: int) -> dict[str, Any]:
    """Run the learner up to a step and return its final status."""
    part_learner.work(Impatient("learner", folder, learning(steps)))
    return folder.status("learner")


def test_a_learner_killed_before_an_export_exports_after_resuming(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = part_learner._write

    def die(part: Part, network: Any, path: Path, facts: dict[str, Any]) -> None:
        if facts["step"] > 0:
            raise KeyboardInterrupt
        real(part, network, path, facts)

    with monkeypatch.context() as patch:
        patch.setattr(part_learner, "_write", die)
        with pytest.raises(KeyboardInterrupt):
            learn(folder, 10)
    assert folder.candidates() == [0]
    learn(folder, 20)
    assert folder.candidates() == [0, 10, 20]


def test_the_learner_moves_its_window_and_verifies_each_shard_once(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    monkeypatch.setattr(Piece, "verify", lambda piece: verified.append(piece.path.name))
    run = learning()
    positions = part_learner._Positions(Impatient("learner", folder, run))
    (data,) = positions.open()
    before = data.games
    play_games(folder, run, 5)
    (again,) = positions.open()
    assert again is data  # it is not read again
    assert (data.games, positions.size) == (before + 5, len(data))
    assert verified == ["shard-000000.npy", "shard-000001.npy"]


def test_a_failed_export_is_published_and_the_learner_continues(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = part_learner._write

    def refuse(part: Part, network: Any, path: Path, facts: dict[str, Any]) -> None:
        if facts["step"] in (10, 30):
            raise train.TrainingError(f"{path.name} is not written")
        real(part, network, path, facts)

    with monkeypatch.context() as patch:
        patch.setattr(part_learner, "_write", refuse)
        assert learn(folder, 20)["failure"] is None
        assert folder.candidates() == [0, 20]
        assert learn(folder, 30)["failure"] == "candidate-00000030.onnx is not written"
    assert learn(folder, 40)["failure"] is None
    assert folder.candidates() == [0, 20, 30, 40]


def test_an_evaluator_without_a_network_waits_for_the_learner(folder: RunFolder) -> None:
    run = learning()
    part = Part("selfplay", folder, run)
    first = Best(name="rollout", sha256=None, step=0, generation=0, elo=0.0)
    positions = folder.counted(run)
    allowed = positions * 1000 // 16  # steps: samples_per_position / batch_size
    assert part_selfplay._waits_for_learner(part, first)
    folder.set_status("learner", {"step": allowed - 10})
    assert part_selfplay._waits_for_learner(part, first)
    folder.set_status("learner", {"step": allowed - 9})  # the next candidate needs more positions
    assert not part_selfplay._waits_for_learner(part, first)
    network = Best(name="candidate-00000010.onnx", sha256="0" * 64, step=10, generation=1, elo=0.0)
    folder.set_status("learner", {"step": 0})
    assert not part_selfplay._waits_for_learner(part, network)


def test_the_games_of_a_run_start_from_its_openings(tmp_path: Path) -> None:
    (tmp_path / "openings.txt").write_text("tic_tac_toe;moves=4,0\n")
    run = learning(selfplay={"openings": str(tmp_path / "openings.txt")})
    part = Part("selfplay", RunFolder(tmp_path / "run"), run)
    part.folder.begin(run)
    with part_selfplay._open_runners(part, UNIFORM) as runners:
        assert runners[0].player.openings == [run.games[0].new_initial_state([4, 0])]


def test_no_turn_of_the_first_evaluator_begins_when_the_learner_has_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = learning(
        game={"name": [f"gomoku(board_size={size},win_length=4)" for size in (5, 6)]},
        selfplay={"first": "uniform"},
        search={"simulations": 4},
        window={"minimum_positions": 20, "samples_per_position": 4},
    )
    folder = RunFolder(tmp_path)
    folder.begin(run)
    folder.set_best(Best(name="uniform", sha256=None, step=0, generation=0, elo=0.0))
    needed = 10 * 16 / 4  # steps per candidate * batch_size / samples_per_position
    turn, enough_before = part_selfplay._turn, []

    def has_enough() -> bool:
        every_game = all(folder.produced(name).full > 0 for name in run.game.name)
        return every_game and folder.counted(run) >= needed

    def observed_turn(*arguments: Any) -> None:
        enough_before.append(has_enough())
        turn(*arguments)

    monkeypatch.setattr(part_selfplay, "_FIRST_TURN_SECONDS", 0.0)
    monkeypatch.setattr(part_selfplay, "_turn", observed_turn)
    part_selfplay.work(Impatient("selfplay", folder, run))
    assert has_enough()
    assert enough_before
    assert not any(enough_before)
