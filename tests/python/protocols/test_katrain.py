"""KaTrain's own classes for engine and game, which speak to ``pyengine analysis``.

They come with `pip install --no-deps katrain pysgf chardet`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from katrain_stub import KaTrain, katrain_without_windows

pytest.importorskip("typer", reason="the extra cli is not installed")
pytest.importorskip("pysgf", reason="pysgf is not installed")
pytest.importorskip("katrain", reason="KaTrain is not installed")

SGF = (
    "(;GM[1]FF[4]SZ[9]KM[7]RU[japanese];B[ee];W[gc];B[cg];W[gg];B[cc];W[fe];B[ff];W[ge]"
    ";B[gf];W[hf];B[fg];W[gh];B[ed];W[fd];B[fc];W[gb];B[fh];W[gi];B[];W[])"
)
VISITS = 30


@pytest.fixture(scope="module")
def katrain() -> Iterator[KaTrain]:
    with katrain_without_windows() as katrain, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        yield katrain


@pytest.fixture(scope="module")
def engine(katrain: KaTrain) -> Iterator[Any]:
    from katrain.core.engine import KataGoEngine

    config = {
        "backend": "custom",
        "altcommand": f'"{sys.executable}" -m pyengine analysis --threads 2',
        "max_visits": VISITS,
        "fast_visits": 10,
        "max_time": 60.0,
        "wide_root_noise": 0.04,
        "_enable_ownership": True,
    }
    own = KataGoEngine(katrain, config)
    yield own
    own.katago_process.stdin.close()
    own.shutdown(finish=None)


def new_root() -> Any:
    from katrain.core.game import KaTrainSGF

    return KaTrainSGF.parse_sgf(SGF)


def test_katrain_reviews_a_whole_game(engine: Any, katrain: KaTrain):
    from katrain.core.game import Game

    game = Game(katrain, engine, move_tree=new_root())
    nodes = game.root.nodes_in_tree
    assert len(nodes) == 21
    katrain.wait_until(lambda: all(node.analysis_complete for node in nodes))
    for node in nodes:
        assert node.root_visits == VISITS
        assert 0 <= node.winrate <= 1
        assert (len(node.policy), len(node.ownership)) == (82, 81)
        best = node.candidate_moves[0]
        assert best["order"] == 0
        assert best["pv"][0] == best["move"]
    assert max(node.points_lost for node in nodes[1:]) > 1
    assert game.root.sgf(save_analysis=True).count("KT[") == 21


def test_katrain_ponders_and_stops(engine: Any, katrain: KaTrain):
    root = new_root()
    root.analyze(engine, ponder=True)
    katrain.wait_until(lambda: root.root_visits >= 2 * VISITS)
    child = root.children[0]
    child.analyze(engine)
    katrain.wait_until(lambda: child.analysis_complete)
    engine.stop_pondering()
    katrain.wait_until(lambda: root.analysis_complete)


def test_katrain_finds_alternatives_and_searches_a_region(engine: Any, katrain: KaTrain):
    root = new_root()
    root.analyze(engine, visits=2)
    katrain.wait_until(lambda: root.analysis_complete)
    known = set(root.analysis["moves"])
    root.analyze(engine, find_alternatives=True)
    katrain.wait_until(lambda: set(root.analysis["moves"]) > known)

    child = root.children[0]
    child.analyze(engine, region_of_interest=[0, 2, 0, 2])
    katrain.wait_until(lambda: bool(child.analysis["moves"]))
    corner = {f"{column}{row}" for column in "ABC" for row in (1, 2, 3)}
    assert set(child.analysis["moves"]) <= corner | {"pass"}
