"""What the page shows of a training run."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pydantic", reason="the extra train is not installed")

from pyengine.errors import ConfigError
from serving import Client


def test_a_run_is_shown_with_its_newest_games(run: Path) -> None:
    with Client(runs=[run], threads=1) as client:
        assert client.get("/api/training").json() == {"runs": ["toes"]}
        shown = client.get("/api/training/toes").json()
        assert [point["step"] for point in shown["curve"]] == [20]
        assert shown["curve"][0]["elo"] > 100
        assert [loss["step"] for loss in shown["losses"]] == [10, 20, 30]
        assert shown["status"] == {
            "selfplay": "40 games, 300 positions, 12.5 positions/s",
            "learner": "",
            "gate": "",
        }
        games = shown["games"]
        assert len({game["id"] for game in games}) == 50
        assert max(game["id"] for game in games) == 59
        for game in games[:5]:
            position = {"game": game["game"], "moves": game["moves"]}
            assert client.ask("/api/position", position=position)["result"] == game["result"]


@pytest.mark.parametrize("name", ["other", "..%2ftoes"])
def test_only_the_runs_given_are_shown(run: Path, name: str) -> None:
    with Client(runs=[run], threads=1) as client:
        assert client.get(f"/api/training/{name}").status_code in (400, 404)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run\.toml does not exist"):
        Client(runs=[tmp_path])
