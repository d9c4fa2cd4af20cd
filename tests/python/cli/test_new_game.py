"""``pyengine new-game`` writes a complete project. tools/plugins.sh builds such projects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import printed, run

FILES = {
    ".github/workflows/test.yml",
    "CMakeLists.txt",
    "README.md",
    "pyproject.toml",
    "tests/test_amazons.py",
    "amazons.cpp",
    "amazons.h",
}


@pytest.mark.parametrize("example", ["starter", "hex", "breakthrough"])
def test_a_project_has_all_files_and_only_its_own_name(tmp_path: Path, example: str) -> None:
    folder = tmp_path / "project"
    options = [] if example == "starter" else ["--example", example]
    assert "pip install" in printed("new-game", "amazons", *options, "--directory", folder)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.*")}
    assert files.keys() >= FILES
    text = "\n".join(path.read_text() for path in files.values() if path.is_file())
    assert "class AmazonsGame" in text
    assert 'kName = "amazons"' in text
    assert 'amazons = "pyengine_amazons"' in text
    others = re.findall(rf".*(?<![a-z]){example}(?![a-z]).*", text)
    assert all("spiel.load_game(" in line for line in others)


@pytest.mark.parametrize(
    "name", ["", "Amazons", "9lines", "a-b", "a_", "a__b", "../amazons", "go", "go9"]
)
def test_unusable_names_are_refused(tmp_path: Path, name: str) -> None:
    done = run("new-game", name, "--directory", tmp_path / "project")
    assert done.status == 2
    assert not (tmp_path / "project").exists()


def test_files_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    done = run("new-game", "amazons", "--directory", tmp_path)
    assert done.status == 2
    assert "expected a new or empty folder" in done.words
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
