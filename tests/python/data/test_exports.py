"""Export of training data: npz, Parquet, SGF."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, all_rows, finished, write
from pyengine import ConfigError, DataError, EngineError, ModelSpec
from pyengine.base import files
from pyengine.data import export_sgf, import_sgf

GO5 = pyengine.load_game("go", board_size=5, komi=6.5, max_game_length=60)
GOMOKU = pyengine.load_game("gomoku", board_size=9)
TURNED = ModelSpec(
    planes=("own[0]", "mover_sign", "opp[0:2]"), layout="NHWC", policy_rows="bottom_up"
)


def export(data: Path, to: str, out: Path, **options: Any) -> list[Path]:
    if to == "sgf":
        return export_sgf(data, out, **options)
    return pyengine.convert(data, to, out, **options)


@pytest.fixture
def data(rng: random.Random, tmp_path: Path) -> Path:
    """Games of Go in several shards, with a spec that changes every order."""
    games = [finished(GO5, TURNED, number, rng, full=0.5) for number in range(5)]
    return write(tmp_path / "data", GO5, TURNED, games, positions=40)


@pytest.fixture
def gomoku(rng: random.Random, tmp_path: Path) -> Path:
    """A directory with six games of Gomoku."""
    games = [finished(GOMOKU, PLAIN, number, rng, plies=20) for number in range(6)]
    return write(tmp_path / "gomoku", GOMOKU, PLAIN, games)


def test_npz_files_contain_the_rows(data: Path) -> None:
    done: list[tuple[int, int]] = []
    files = pyengine.convert(data, "npz", on_progress=lambda *counts: done.append(counts))
    assert len(files) == len(list(data.glob("shard-*.npy"))) > 1
    assert done == [(i + 1, len(files)) for i in range(len(files))]
    assert {file.parent for file in files} == {data.with_name("data-npz")}
    loaded = [np.load(file) for file in files]
    for name, expected in all_rows(data).items():
        columns = np.concatenate([one[name] for one in loaded])
        assert columns.dtype == expected.dtype
        np.testing.assert_array_equal(columns, expected)


def test_parquet_files_have_the_rows(data: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    files = pyengine.convert(data, "parquet", data.with_name("tables"))
    tables = [parquet.read_table(file) for file in files]
    assert json.loads(tables[0].schema.metadata[b"pyengine.planes"]) == [5, 5, 4]
    for name, expected in all_rows(data).items():
        parts = [np.array(table[name].to_pylist(), expected.dtype) for table in tables]
        np.testing.assert_array_equal(np.concatenate(parts).reshape(expected.shape), expected)


def test_existing_output_is_replaced_only_on_request(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = pyengine.convert(data, "npz", out)
    with pytest.raises(ConfigError, match=r"out has files: .*overwrite=True"):
        pyengine.convert(data, "npz", out)
    first[0].write_bytes(b"")
    assert pyengine.convert(data, "npz", out, overwrite=True) == first
    assert np.load(first[0])["value"].size > 0


def test_a_damaged_shard_is_not_converted(data: Path) -> None:
    shard = data / "shard-000001.npy"
    content = shard.read_bytes()
    shard.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DataError, match=r"shard-000001.npy is damaged"):
        pyengine.convert(data, "npz")
    assert [file.name for file in data.with_name("data-npz").iterdir()] == ["shard-000000.npz"]


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("shard-000001.npz", "numpy"),
        ("shard-000001.parquet", "pyarrow"),
        ("game-000001.sgf", "sgfmill"),
    ],
)
def test_a_full_disk_names_the_file_and_changes_no_other(
    name: str, package: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    full, real = Path("/dev/full"), files.temporary_beside
    if not full.exists():
        pytest.skip("/dev/full is missing")

    def temporary_beside(path: Path) -> Path:
        temporary = real(path)
        if path.name == name:
            temporary.unlink()
            temporary.symlink_to(full)
        return temporary

    monkeypatch.setattr(files, "temporary_beside", temporary_beside)
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")
    with pytest.raises(DataError, match=rf"{name} cannot be written: .*[Nn]o space"):
        export(data, Path(name).suffix[1:], out, overwrite=True)
    assert sorted(file.name for file in out.iterdir()) == [name.replace("1", "0"), name]
    assert (out / name).read_text() == "mine"


def test_the_error_names_a_directory_that_cannot_be_created(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("user data")
    for out in (file, file / "below"):
        with pytest.raises(DataError, match=f"{out.name} cannot be written"):
            pyengine.convert(data, "npz", out)
    assert file.read_text() == "user data"


def test_the_error_for_a_missing_package_names_the_extra(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, to in (("pyarrow.parquet", "parquet"), ("sgfmill.sgf_grammar", "sgf")):
        monkeypatch.setitem(sys.modules, module, None)  # type: ignore[arg-type]
        with pytest.raises(EngineError, match=rf"pip install 'pyengine-search\[{to}\]'"):
            export(data, to, data / "out")


# SGF


def moves_of(record: Any, game: Any) -> list[int]:
    """Return the actions of a record of alternating moves."""
    rows, columns = game.board_shape
    moves = [node.get_move() for node in record.get_main_sequence()[1:]]
    assert [colour for colour, _ in moves] == list(("bw" * len(moves))[: len(moves)])
    return [
        rows * columns if at is None else (rows - 1 - at[0]) * columns + at[1] for _, at in moves
    ]


@pytest.mark.parametrize("game", [GO5, GOMOKU], ids=lambda game: game.name)
def test_sgfmill_reads_the_games_back(game: Any, rng: random.Random, tmp_path: Path) -> None:
    sgf = pytest.importorskip("sgfmill.sgf")
    games = [finished(game, PLAIN, number, rng, full=0.5) for number in range(3)]
    games.append(finished(game, PLAIN, 3, rng, plies=8, returns=(-1.0, 1.0), resigned=0))
    files = export_sgf(write(tmp_path / "data", game, PLAIN, games))
    assert [file.name for file in files] == [f"game-{n:06d}.sgf" for n in range(4)]
    for file, expected in zip(files, games, strict=True):
        record = sgf.Sgf_game.from_bytes(file.read_bytes())
        assert moves_of(record, game) == expected.moves.tolist()
        assert record.get_winner() == {1.0: "b", -1.0: "w", 0.0: None}[expected.returns[0]]
        nodes = record.get_main_sequence()
        texts = [node.get("C") for node in nodes if node.has_property("C")]
        assert len(texts) == len(expected.visits)
        assert texts[0].startswith(f"value {expected.root_value[0]:+.3f}, network")
    root = record.get_root()
    assert root.get("RE") == "W+R"
    assert root.get_raw("GM") == (b"1" if game.name == "go" else b"4")
    if game.name == "go":
        assert record.get_komi() == 6.5


def test_a_game_cut_short_has_no_result_in_sgf(rng: random.Random, tmp_path: Path) -> None:
    games = [finished(GOMOKU, PLAIN, 0, rng, plies=5, cut_short=True)]
    (file,) = export_sgf(write(tmp_path / "data", GOMOKU, PLAIN, games))
    assert "RE[Void]" in file.read_text()
    with pytest.raises(ConfigError, match="no result"):
        import_sgf(file, tmp_path / "back", GOMOKU, PLAIN).check_taken(file, GOMOKU)


def test_games_to_export_can_be_chosen(gomoku: Path, tmp_path: Path) -> None:
    newest = export_sgf(gomoku, tmp_path / "newest", games=2, comments=False)
    assert [file.name for file in newest] == ["game-000004.sgf", "game-000005.sgf"]
    assert b"C[" not in newest[0].read_bytes()
    chosen = export_sgf(gomoku, tmp_path / "some", games=[3, 1])
    assert [file.name for file in chosen] == ["game-000003.sgf", "game-000001.sgf"]
    with pytest.raises(ConfigError, match="has 6 games, but no game 9"):
        export_sgf(gomoku, tmp_path / "none", games=[9])


def test_sgf_supports_go_and_gomoku(gomoku: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "data", TIC, PLAIN, [])
    with pytest.raises(ConfigError, match="SGF supports go and gomoku, got tic_tac_toe"):
        export_sgf(data)
    manifest = gomoku / "manifest.json"  # a user-defined game
    manifest.write_text(manifest.read_text().replace("gomoku(", "games.py:Mine("))
    with pytest.raises(ConfigError, match=r"^SGF supports go and gomoku, got games\.py:Mine"):
        export_sgf(gomoku)
