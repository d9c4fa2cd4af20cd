"""Pictures of states, results and trees."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import pyengine
from pyengine.search.result import SearchResult
from pyengine.search.tree import SearchTree
from toy_games import Pairs, ToyGame


@pytest.fixture(scope="module")
def result() -> SearchResult:
    state = pyengine.load_game("go(board_size=9)").new_initial_state([40, 22])
    return pyengine.search(state, evaluator="go9", simulations=200)


def texts(svg: str) -> list[str]:
    """Return the texts of a well-formed picture."""
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_state_has_a_picture_of_its_board() -> None:
    state = pyengine.load_game("connect_four").new_initial_state([3, 3])
    assert state.to_svg().count("<circle") == 3  # two discs and the ring on the last one
    assert texts(state.to_svg())[-7:] == list("1234567")


@pytest.mark.parametrize("heat", ["visits", "prior"])
def test_shares_are_drawn_on_the_points_of_moves(result: SearchResult, heat: str) -> None:
    values = {"visits": result.policy[result.actions], "prior": result.priors}[heat]
    points = [v for a, v in zip(result.actions, values, strict=True) if a < 81]
    drawn = [text for text in texts(result.to_svg(heat)) if text.endswith("%")]  # type: ignore[arg-type]
    assert sorted(drawn) == sorted(f"{v:.0%}" for v in points if f"{v:.0%}" != "0%")


def test_q_is_drawn_on_each_visited_point(result: SearchResult) -> None:
    visited = sum(result.visits[result.actions < 81] > 0)
    drawn = [text for text in texts(result.to_svg("q")) if re.fullmatch(r"[+-]\.\d\d", text)]
    assert len(drawn) == visited


def test_ownership_is_for_the_first_player(result: SearchResult) -> None:
    state = result.state.clone()
    state.apply_action(result.action)
    again = pyengine.search(state, evaluator="go9", simulations=1)
    for each in (result, again):
        assert each.ownership is not None
        sign = 1 if each.state.current_player() == 0 else -1
        black = (sign * each.ownership > 0.1).sum()
        drawn = re.findall(
            r'width="([\d.]+)" height="[\d.]+" fill="#111"', each.to_svg("ownership")
        )
        assert sum(float(side) > 0.55 * 32 * 0.1 for side in drawn) == pytest.approx(black, abs=1)


def test_without_heat_only_the_selected_move_is_framed(result: SearchResult) -> None:
    assert result.to_svg().count('stroke="#c00"') == 1
    assert not [text for text in texts(result.to_svg()) if "%" in text]


def test_a_tree_is_drawn_down_to_its_most_visited_nodes(result: SearchResult) -> None:
    tree = result.tree(max_depth=9)
    drawn = texts(tree.to_svg(max_nodes=20))
    assert sum(text.startswith("N ") for text in drawn) == 20
    visits = sorted((node.visits for _, node in tree._nodes()), reverse=True)
    shown = [int(re.sub(r"\D", "", text.split()[1])) for text in drawn if text.startswith("N ")]
    assert sorted(shown, reverse=True) == visits[:20]
    hidden = sum(int(text) for text in drawn if re.fullmatch(r"\+\d+", text))
    assert hidden == sum(len(node.children) for node in drawn_nodes(tree, 20)) - 19


def drawn_nodes(tree: SearchTree, count: int) -> list[SearchTree]:
    """Return the most visited nodes; those with equal visits in the order of the picture."""
    nodes, pending = [], [tree]
    while len(nodes) < count:
        best = max(pending, key=lambda node: node.visits)
        pending.remove(best)
        pending += best.children
        nodes.append(best)
    return nodes


def test_a_tree_without_visits_has_a_picture() -> None:
    tree = SearchTree(
        action=None, name="", to_move=None, visits=0, prior=0, q=float("nan"), proven=None
    )
    assert texts(tree.to_svg()) == ["root", "N 0"]
    assert tree._repr_html_().startswith("<img")


def test_what_has_no_picture_is_refused() -> None:
    own = pyengine.search(
        ToyGame(Pairs).new_initial_state(), evaluator="uniform", game=ToyGame(Pairs), simulations=9
    )
    state = pyengine.load_game("tic_tac_toe").new_initial_state()
    uniform = pyengine.search(state, evaluator="uniform", simulations=9)
    with pytest.raises(pyengine.ConfigError, match="to_svg: expected a game with a board"):
        own.to_svg("visits")
    with pytest.raises(pyengine.ConfigError, match="heat: expected a network that predicts"):
        uniform.to_svg("ownership")
    with pytest.raises(pyengine.ConfigError, match="heat: expected one of"):
        uniform.to_svg("heat")  # type: ignore[arg-type]
    with pytest.raises(pyengine.ConfigError, match="max_nodes: expected an int"):
        uniform.tree().to_svg(0)


def test_matches_and_solutions_are_shown_in_notebooks() -> None:
    solved = pyengine.solve(pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4]))
    assert solved._repr_html_().startswith("<img")
    played = pyengine.match("random", "random", game="tic_tac_toe", games=2)
    assert played._repr_html_().startswith("<img")
    assert "2 games" in played._repr_html_()
