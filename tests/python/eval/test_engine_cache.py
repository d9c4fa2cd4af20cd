"""The cache of TensorRT engines: one folder per network, whatever the file is called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyengine import ModelError, ModelSpec, OnnxEvaluator
from pyengine.eval import engine_cache, runtime
from pyengine.eval.engine_cache import engine_folder
from tiny_models import TinyModel


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "caches"
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(folder))
    return folder


def test_networks_with_other_weights_or_versions_have_other_folders(
    caches: Path, tmp_path: Path
) -> None:
    """A learner writes many networks with the same graph to one path."""
    file = TinyModel().write(tmp_path / "m.onnx")
    folder = engine_folder(file, "1.31.1")
    assert folder is not None
    assert folder.parent == caches / "pyengine" / "tensorrt"
    assert engine_folder(file, "1.31.1") == folder
    assert engine_folder(file, "1.32.0") != folder
    renamed = tmp_path / "renamed.onnx"
    renamed.write_bytes(file.read_bytes())
    assert engine_folder(renamed, "1.31.1") == folder
    other = bytearray(file.read_bytes())
    at = other.index(b"wp") - 8  # within the weights, which are written before their name
    other[at] ^= 1
    file.write_bytes(other)
    assert engine_folder(file, "1.31.1") != folder


def test_weights_in_another_file_also_determine_the_folder(caches: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    file, weights = tmp_path / "m.onnx", tmp_path / "weights"
    model = onnx.load(TinyModel().write(file))
    onnx.save(model, file, save_as_external_data=True, location="weights", size_threshold=0)
    folder = engine_folder(file, "1.31.1")
    assert folder is not None
    assert engine_folder(file, "1.31.1") == folder
    weights.write_bytes(bytes(weights.stat().st_size))
    assert engine_folder(file, "1.31.1") not in (None, folder)
    weights.unlink()
    assert engine_folder(file, "1.31.1") is None
    assert engine_folder(tmp_path / "absent.onnx", "1.31.1") is None
    assert not caches.exists()


def test_the_least_recently_used_folders_are_removed(
    caches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_cache, "MOST_NETWORKS", 2)
    folders = []
    for name in ("a", "b", "c"):
        file = TinyModel(metadata={"name": name}).write(tmp_path / name)
        folder = engine_folder(file, "1")
        assert folder is not None
        (folder / "rows").mkdir(parents=True)
        os.utime(folder, (len(folders), len(folders)))
        folders.append(folder)
    timings = caches / "pyengine" / "tensorrt" / "sm90.timing"
    timings.touch()
    engine_cache.keep(folders[0])
    assert [folder.exists() for folder in folders] == [True, False, True]
    assert timings.exists()


def test_an_unavailable_provider_leaves_no_folder(caches: Path, tmp_path: Path) -> None:
    file = TinyModel().write(tmp_path / "m.onnx")
    if "TensorrtExecutionProvider" not in runtime.runtime_report().problems:
        pytest.skip("TensorRT works here")
    with pytest.raises(ModelError):
        OnnxEvaluator(file, ModelSpec(), providers=["tensorrt"])
    assert not caches.exists()
    engine_cache.keep(caches / "absent")  # no error
