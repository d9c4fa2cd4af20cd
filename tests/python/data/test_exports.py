"""Training data in other formats, and people's games as training data."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, finished, write
from pyengine import ConfigError, DataError, EngineError, ModelSpec
from pyengine.base import files
from pyengine.data import Dataset, export_sgf, import_sgf

GO5 = pyengine.load_game("go", board_size=5, komi=6.5, max_game_length=60)
GOMOKU = pyengine.load_game("gomoku", board_size=9)
TURNED = ModelSpec(
    planes=("own[0]", "mover_sign", "opp[0:2]"), layout="NHWC", policy_rows="bottom_up"
)


@pytest.fixture(autouse=True)
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine dies here; a busy disk may take seconds for a sync."""
    monkeypatch.setattr(os, "fsync", lambda _number: None)


@pytest.fixture
def data(rng: random.Random, tmp_path: Path) -> Path:
    """Games of Go under a spec that turns everything, two shards or more."""
    games = [finished(GO5, TURNED, number, rng, full=0.5) for number in range(5)]
    return write(tmp_path / "data", GO5, TURNED, games, positions=120)


def all_rows(data: Path) -> Any:
    """Return the whole directory as one batch."""
    dataset = Dataset(data, full_only=False)
    return next(dataset.batches(len(dataset), shuffle=False, augment=False))


def test_npz_files_have_the_rows(data: Path) -> None:
    files = pyengine.convert(data, "npz")
    assert len(files) == len(list(data.glob("shard-*.npy"))) > 1
    assert {file.parent for file in files} == {data.with_name("data-npz")}
    loaded = [np.load(file) for file in files]
    for name, expected in all_rows(data).items():
        found = np.concatenate([one[name] for one in loaded])
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_parquet_files_have_the_rows(data: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    files = pyengine.convert(data, "parquet", data.with_name("tables"))
    tables = [parquet.read_table(file) for file in files]
    shape = json.loads(tables[0].schema.metadata[b"pyengine.planes"])
    assert shape == [5, 5, 4]
    for name, expected in all_rows(data).items():
        parts = [np.array(table[name].to_pylist(), expected.dtype) for table in tables]
        found = np.concatenate(parts).reshape(expected.shape)
        np.testing.assert_array_equal(found, expected)


def test_output_that_is_there_is_replaced_only_when_told(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = pyengine.convert(data, "npz", out)
    with pytest.raises(ConfigError, match=r"out must be new or empty, .*found files"):
        pyengine.convert(data, "npz", out)
    first[0].write_bytes(b"")
    assert pyengine.convert(data, "npz", out, overwrite=True) == first
    assert np.load(first[0])["value"].size > 0


def test_an_unknown_format_is_refused(data: Path) -> None:
    with pytest.raises(ConfigError, match="'npz' or 'parquet', found 'csv'"):
        pyengine.convert(data, "csv")
    assert not data.with_name("data-csv").exists()


def test_progress_is_told_after_each_file(data: Path) -> None:
    told: list[tuple[int, int]] = []
    files = pyengine.convert(data, "npz", on_progress=lambda *done: told.append(done))
    assert told == [(i + 1, len(files)) for i in range(len(files))]


def test_a_damaged_shard_is_not_converted(data: Path) -> None:
    shard = data / "shard-000001.npy"
    content = shard.read_bytes()
    shard.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DataError, match=r"shard-000001.npy is damaged"):
        pyengine.convert(data, "npz")
    assert [file.name for file in data.with_name("data-npz").iterdir()] == ["shard-000000.npz"]


@pytest.fixture
def full_disk() -> Path:
    """A device on which there is never any space."""
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("no /dev/full here")
    return device


def fill_up(monkeypatch: pytest.MonkeyPatch, name: str, full_disk: Path) -> None:
    """Let the disk be full while this file is written."""
    real = files.temporary_beside

    def temporary_beside(path: Path) -> Path:
        temporary = real(path)
        if path.name == name:
            temporary.unlink()
            temporary.symlink_to(full_disk)
        return temporary

    monkeypatch.setattr(files, "temporary_beside", temporary_beside)


@pytest.mark.parametrize("to", ["npz", "parquet"])
def test_a_full_disk_names_the_file_and_leaves_nothing_of_it(
    to: str, data: Path, tmp_path: Path, full_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if to == "parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    out.mkdir()
    fill_up(monkeypatch, f"shard-000001.{to}", full_disk)
    with pytest.raises(DataError, match=rf"shard-000001\.{to} cannot be written: .*[Nn]o space"):
        pyengine.convert(data, to, out, overwrite=True)
    assert [file.name for file in out.iterdir()] == [f"shard-000000.{to}"]


def test_a_full_disk_leaves_whole_sgf_files_alone(
    rng: random.Random, tmp_path: Path, full_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sgf = pytest.importorskip("sgfmill.sgf")
    games = [finished(GOMOKU, PLAIN, number, rng) for number in range(3)]
    out = tmp_path / "out"
    out.mkdir()
    fill_up(monkeypatch, "game-000001.sgf", full_disk)
    (out / "game-000001.sgf").write_text("(;SZ[9])")
    with pytest.raises(DataError, match=r"game-000001\.sgf cannot be written: .*[Nn]o space"):
        export_sgf(write(tmp_path / "data", GOMOKU, PLAIN, games), out, overwrite=True)
    assert sorted(file.name for file in out.iterdir()) == ["game-000000.sgf", "game-000001.sgf"]
    assert (out / "game-000001.sgf").read_text() == "(;SZ[9])"
    sgf.Sgf_game.from_bytes((out / "game-000000.sgf").read_bytes())


def test_a_directory_that_cannot_be_made_is_named(
    data: Path, rng: random.Random, tmp_path: Path
) -> None:
    pytest.importorskip("sgfmill")
    file = tmp_path / "file"
    file.write_text("somebody's")
    games = write(tmp_path / "games", GOMOKU, PLAIN, [finished(GOMOKU, PLAIN, 0, rng)])
    for out in (file, file / "below"):
        with pytest.raises(DataError, match=f"{out.name} cannot be written"):
            pyengine.convert(data, "npz", out)
        with pytest.raises(DataError, match=f"{out.name} cannot be written"):
            export_sgf(games, out)
    assert file.read_text() == "somebody's"


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("pyarrow", "pyengine.convert(sys.argv[1], 'parquet')", "parquet"),
        ("sgfmill", "pyengine.data.export_sgf(sys.argv[1])", "sgf"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    module: str, call: str, extra: str, data: Path
) -> None:
    code = f"import sys; sys.modules['{module}'] = None; import pyengine.data; {call}"
    done = subprocess.run([sys.executable, "-c", code, str(data)], capture_output=True, text=True)
    message = f"this needs the package {module}.*: pip install 'pyengine-search[{extra}]'"
    assert re.search(re.escape(message).replace(r"\.\*", ".*"), done.stderr)
    assert EngineError.__name__ in done.stderr


# --- SGF out


def moves_of(record: Any, game: Any) -> list[int]:
    """Actions of a record, by the names of the moves."""
    state = game.new_initial_state()
    rows = game.board_shape[0]
    letters = "ABCDEFGHJKLMNOPQRST" if game.name == "go" else "ABCDEFGHIJKLMNOPQRST"
    actions = []
    for node in record.get_main_sequence():
        colour, move = node.get_move()
        if colour is None:
            continue
        assert colour == "bw"[state.current_player()]
        name = "pass" if move is None else f"{letters[move[1]]}{move[0] + 1}"
        assert move is None or move[0] < rows
        actions.append(state.string_to_action(name))
        state.apply_action(actions[-1])
    return actions


def test_a_users_game_has_no_sgf_wherever_it_is(tmp_path: Path) -> None:
    write(tmp_path / "data", GOMOKU, PLAIN, [])
    manifest = tmp_path / "data" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("gomoku(", "games.py:Mine("))
    with pytest.raises(ConfigError, match=r"^SGF is for go and gomoku, got games\.py:Mine"):
        export_sgf(tmp_path / "data")


@pytest.mark.parametrize("game", [GO5, GOMOKU], ids=lambda game: game.name)
def test_sgfmill_reads_the_games_back(game: Any, rng: random.Random, tmp_path: Path) -> None:
    sgf = pytest.importorskip("sgfmill.sgf")
    games = [finished(game, PLAIN, number, rng, full=0.5) for number in range(4)]
    games.append(finished(game, PLAIN, 4, rng, plies=8, returns=(-1.0, 1.0), resigned=0))
    files = export_sgf(write(tmp_path / "data", game, PLAIN, games))
    assert [file.name for file in files] == [f"game-{n:06d}.sgf" for n in range(5)]
    for file, one in zip(files, games, strict=True):
        record = sgf.Sgf_game.from_bytes(file.read_bytes())
        assert moves_of(record, game) == one.moves.tolist()
        expected = {1.0: "b", -1.0: "w", 0.0: None}[one.returns[0]]
        assert record.get_winner() == expected
        nodes = record.get_main_sequence()
        texts = [node.get("C") for node in nodes if node.has_property("C")]
        assert len(texts) == len(one.visits)
        assert texts[0].startswith(f"value {one.root_value[0]:+.3f}, network")
    root = record.get_root()
    assert root.get("RE") == "W+R"
    assert root.get_raw("GM") == (b"1" if game.name == "go" else b"4")
    if game.name == "go":
        assert record.get_komi() == 6.5


def test_a_game_that_was_cut_short_has_no_result_in_sgf(rng: random.Random, tmp_path: Path) -> None:
    games = [finished(GOMOKU, PLAIN, 0, rng, plies=5, cut_short=True)]
    (file,) = export_sgf(write(tmp_path / "data", GOMOKU, PLAIN, games))
    assert "RE[Void]" in file.read_text()
    with pytest.raises(ConfigError, match="no result"):
        import_sgf(file, tmp_path / "back", GOMOKU, PLAIN).check_taken(file, GOMOKU)


def test_the_games_to_look_at_can_be_chosen(rng: random.Random, tmp_path: Path) -> None:
    pytest.importorskip("sgfmill")
    games = [finished(GOMOKU, PLAIN, number, rng) for number in range(6)]
    data = write(tmp_path / "data", GOMOKU, PLAIN, games, positions=100)
    newest = export_sgf(data, tmp_path / "newest", games=2, comments=False)
    assert [file.name for file in newest] == ["game-000004.sgf", "game-000005.sgf"]
    assert b"C[" not in newest[0].read_bytes()
    some = export_sgf(data, tmp_path / "some", games=[3, 1])
    assert [file.name for file in some] == ["game-000003.sgf", "game-000001.sgf"]
    with pytest.raises(ConfigError, match="has no game 9; found 6 games"):
        export_sgf(data, tmp_path / "none", games=[9])
    with pytest.raises(ConfigError, match="some must be new or empty"):
        export_sgf(data, tmp_path / "some")


def test_sgf_is_for_go_and_gomoku(rng: random.Random, tmp_path: Path) -> None:
    pytest.importorskip("sgfmill")
    data = write(tmp_path / "data", TIC, PLAIN, [finished(TIC, PLAIN, 0, rng)])
    with pytest.raises(ConfigError, match="SGF is for go and gomoku, got tic_tac_toe"):
        export_sgf(data)
