"""SearchResult: its fields, policies, tree and text."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import pickle
import sys
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pyengine
from pyengine import SearchResult
from pyengine.games.notebook import state_picture
from pyengine.search.tree import SearchTree, signed
from toy_games import HIDDEN, Matches, ToyGame

SVG = "{http://www.w3.org/2000/svg}"


def searched(game: str = "connect_four", moves: tuple[int, ...] = (), **settings: Any) -> Any:
    settings = {"simulations": 300, "threads": 1, "solver": False, **settings}
    with pyengine.Engine(game, "rollout", **settings) as engine:
        return engine.search(engine.game.new_initial_state(moves))


@pytest.fixture(scope="module")
def result() -> SearchResult:
    return searched("othello", simulations=400)


def test_arrays_have_the_types_and_shapes_of_the_api(result: SearchResult) -> None:
    legal = result.state.legal_actions()
    assert result.actions.tolist() == legal
    kinds = {"actions": np.int32, "visits": np.uint32, "priors": np.float32, "q": np.float32}
    for name, kind in kinds.items():
        array = getattr(result, name)
        assert (array.dtype, array.shape) == (kind, (len(legal),))
    for policy in (result.policy, result.improved_policy, result.policy_at(1.0)):
        assert (policy.dtype, policy.shape) == (np.float32, (65,))
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        assert not policy[[a for a in range(65) if a not in legal]].any()
    shares = result.visits / result.visits.sum()
    np.testing.assert_allclose(result.policy[result.actions], shares, rtol=1e-6)


def test_policy_at_a_temperature_is_a_power_of_the_visits(result: SearchResult) -> None:
    visits = result.visits.astype(np.float64)
    for temperature in (0.25, 0.5, 1.0, 2.0, 10.0):
        weights = visits ** (1 / temperature)
        np.testing.assert_allclose(
            result.policy_at(temperature)[result.actions], weights / weights.sum(), rtol=1e-5
        )
    cold = result.policy_at(0.0)
    assert set(np.flatnonzero(cold)) == set(result.actions[visits == visits.max()])
    assert result.policy_at(1e-9).tolist() == cold.tolist()
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(pyengine.ConfigError, match="temperature"):
            result.policy_at(wrong)


def check_mean(result: SearchResult) -> None:
    visited = result.visits > 0
    total = (result.q[visited] * result.visits[visited]).sum() + result.network_value
    assert result.value == pytest.approx(total / (result.visits.sum() + 1), abs=1e-5)


def test_value_is_the_mean_of_the_visits_and_the_roots_own_evaluation(
    result: SearchResult,
) -> None:
    check_mean(result)
    assert np.isnan(searched(simulations=2).q).sum() == 5
    for simulations in (50, 100, 200):  # even if draws are known
        known = searched("tic_tac_toe", (1, 6), simulations=simulations, solver=True)
        if known.proven is None:
            check_mean(known)


def test_the_action_has_most_visits_and_begins_the_principal_variation(
    result: SearchResult,
) -> None:
    assert result.visits[result.actions.tolist().index(result.action)] == result.visits.max()
    assert result.pv[0] == result.action
    state = result.state.clone()
    for action in result.pv:
        assert action in state.legal_actions()
        state.apply_action(action)


def test_the_tree_agrees_with_the_columns(result: SearchResult) -> None:
    tree = result.tree(max_depth=2)
    assert tree.visits == result.visits.sum() + 1
    assert tree.action is None
    by_action = {child.action: child for child in tree.children}
    for i, action in enumerate(result.actions.tolist()):
        if result.visits[i]:
            child = by_action[action]
            assert child.visits == result.visits[i]
            assert child.q == pytest.approx(result.q[i])
            assert child.prior == pytest.approx(result.priors[i])
            assert child.name == result.state.action_to_string(action)
            below = sum(grandchild.visits for grandchild in child.children)
            assert child.visits == 1 + below
            assert all(not grandchild.children for grandchild in child.children)
    assert tree.to_move == 0
    nodes = [result.tree(max_depth=9, min_visits=20)]
    while nodes:
        node = nodes.pop()
        assert node.visits >= 20
        nodes += node.children
    assert result.tree(max_depth=0).children == []


def test_to_dict_is_json_with_all_values() -> None:
    text = json.dumps(searched(simulations=3).to_dict(), allow_nan=False)
    fields = json.loads(text)
    assert {"action", "value", "visits", "policy", "pv", "stop_reason"} <= fields.keys()
    assert [q is None for q in fields["q"]] == [visits == 0 for visits in fields["visits"]]
    assert None in fields["q"]
    assert fields["simulations"] == 3


def test_the_text_shows_the_board_a_table_and_the_line(result: SearchResult) -> None:
    text = str(result)
    assert str(result.state).strip() in text
    best = result.state.action_to_string(result.action)
    assert f"best {best}" in text
    assert "simulations/s" in text
    first_row = text.split("wins\n", 1)[1].splitlines()[0].split()
    assert first_row[0] == best
    assert int(first_row[1]) == result.visits.max()
    assert "SearchResult(action=" in repr(result)


def test_a_proof_is_in_the_text() -> None:
    result = searched(moves=(3, 0, 3, 0, 3, 0), solver=True)
    assert "proven win" in str(result)
    assert result.proven_moves()[result.action] == 1
    row = next(r for r in str(result).splitlines() if r.split()[:1] == ["4"])
    assert row.endswith("proven win")
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["proven"] == 1


def svg_of(html: str) -> ElementTree.Element:
    """Return the picture at the beginning of some HTML."""
    image = html.partition(">")[0]
    assert image.startswith('<img alt="the board" src="data:image/svg+xml;base64,')
    return ElementTree.fromstring(base64.b64decode(image.partition("base64,")[2].rstrip('"')))


def test_a_notebook_gets_a_picture_and_a_table() -> None:
    html = searched("connect_four", simulations=20)._repr_html_()
    assert svg_of(html).tag == f"{SVG}svg"
    assert "monospace" in html.partition(">")[2]  # a table is unreadable in a proportional font
    assert ">Red to move</pre>" in html


def test_a_tree_has_a_text_and_a_drawing(result: SearchResult) -> None:
    tree = result.tree()
    lines = str(tree).splitlines()
    best = max(tree.children, key=lambda child: child.visits)
    assert lines[0] == f"root  visits {tree.visits}"
    assert lines[1].startswith(f"  {best.name}  visits {best.visits}  q {best.q:+.3f}")
    assert lines[-1] == f"  and {len(tree.children) - 3} more"
    assert len(lines) <= 1 + 3 + 9 + 27 + 13
    assert repr(tree).startswith(f"SearchTree(root, visits={tree.visits}, q=")
    assert repr(tree).endswith(f"children={len(tree.children)})")
    assert json.loads(json.dumps(tree.to_dict()))["visits"] == tree.visits
    dot = tree.to_dot()
    assert dot.startswith("digraph")
    assert dot.count("->") == dot.count("label=") // 2
    assert [signed(value) for value in (-0.0002, -0.0006, 1.0)] == ["+0.000", "-0.001", "+1.000"]


def node_of(action: int | None, *children: SearchTree, q: float = 0.5) -> SearchTree:
    fields: dict[str, Any] = {"name": "", "to_move": 0, "visits": 3, "prior": 1.0, "proven": None}
    return SearchTree(action=action, q=q, children=list(children), **fields)


def test_names_of_moves_are_escaped_in_a_drawing() -> None:
    move = dataclasses.replace(node_of(7), name='say "1" \\ 2')
    assert r'[label="say \"1\" \\ 2\nN 3' in node_of(None, move).to_dot()


def test_a_move_without_a_name_is_shown_by_its_number() -> None:
    move = node_of(7)
    root = node_of(None, move)
    assert str(root) == "root  visits 3\n  7  visits 3  q +0.500"
    assert repr(move).startswith("SearchTree(7, visits=3")
    assert 'label="7\\nN 3' in root.to_dot()


def test_a_tree_may_be_deeper_than_the_recursion_limit() -> None:
    depth = 2 * sys.getrecursionlimit()
    tree, other = node_of(7, q=float("nan")), node_of(7)
    for _ in range(depth):
        tree, other = node_of(7, tree), node_of(7, other)
    assert tree != other
    for copied in (copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert copied == tree
        assert copied.children[0] is not tree.children[0]
    nodes, node = 1, tree.to_dict()
    while node["children"]:
        (node,) = node["children"]
        nodes += 1
    assert (nodes, node["q"]) == (depth + 1, None)
    assert tree.to_dot().count("->") == depth
    assert len(str(tree).splitlines()) == 4
    assert repr(tree).endswith("children=1)")


def test_a_snapshot_of_a_running_search_has_an_empty_tree() -> None:
    with pyengine.Engine("connect_four", "uniform", threads=1) as engine:
        snapshots = engine.analyze(engine.game.new_initial_state(), every=0.01)
        tree = next(snapshots).tree()
        snapshots.close()
    assert (tree.visits, tree.children) == (0, [])


def test_trees_are_compared_by_value_and_shape(result: SearchResult) -> None:
    assert result.tree() == result.tree()
    assert result.tree() != result.tree(max_depth=1)
    assert result.tree() != result
    leaf = node_of(1)
    assert node_of(None, node_of(1, leaf)) != node_of(None, leaf, leaf)


def picture_of(game: str, moves: Sequence[int], share: dict[int, float]) -> ElementTree.Element:
    """Return the picture of a state with the given visit shares."""
    state = pyengine.load_game(game).new_initial_state(moves)
    policy = np.zeros(state.game.num_distinct_actions(), np.float32)
    policy[list(share)] = list(share.values())
    return svg_of(state_picture(state, policy, max(share, key=lambda a: share[a])))


def texts(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


def test_a_column_shows_its_share_where_the_stone_would_land() -> None:
    picture = picture_of("connect_four", [3, 3], {3: 0.75, 0: 0.25})
    assert sorted(filter(None, texts(picture))) == [*"12", "25%", *"34567", "75%"]
    frame = picture.findall(f"{SVG}rect")[-1]
    share = next(text for text in picture.iter(f"{SVG}text") if text.text == "75%")
    # The column holds two stones, so this is the third row from below.
    assert float(frame.get("y", 0)) < float(share.get("y", 0)) < float(frame.get("y", 0)) + 32
    assert 3 * 32 < float(share.get("y", 0)) < 4 * 32


def test_a_picture_names_its_lines_and_marks_the_last_move() -> None:
    picture = picture_of("go(board_size=9)", [0, 80], {40: 1.0})
    assert [text for text in texts(picture) if text] == [*"987654321", *"ABCDEFGHJ", "100%"]
    rings = [c for c in picture.iter(f"{SVG}circle") if c.get("stroke") == "#e33"]
    stones = [c for c in picture.iter(f"{SVG}circle") if c.get("fill") in ("#111", "#fff")]
    assert [(c.get("cx"), c.get("cy")) for c in rings] == [
        (stones[1].get("cx"), stones[1].get("cy"))
    ]


@pytest.mark.parametrize(
    ("game", "moves", "shares", "percentages", "framed"),
    [
        ("gomoku(board_size=9)", [], {40: 0.6, 41: 0.4}, ["60%", "40%"], True),
        ("gomoku(board_size=9)", [], {40: 0.995, 41: 0.005}, ["100%"], True),  # rounds to 0
        ("go(board_size=5)", [25], {25: 0.9, 3: 0.1}, ["10%"], False),  # a pass has no point
    ],
)
def test_points_have_their_shares_and_the_best_a_frame(
    game: str, moves: list[int], shares: dict[int, float], percentages: list[str], framed: bool
) -> None:
    picture = picture_of(game, moves, shares)
    assert [text for text in texts(picture) if "%" in text] == percentages
    assert (list(picture)[-1].get("stroke") == "#c00") == framed


@pytest.mark.parametrize(
    ("game", "moves", "stones"),
    [
        ("tic_tac_toe", [4, 0], []),
        ("connect_four", [3, 3], ["#d9342b", "#fc0"]),
        ("othello", [], ["#fff", "#111", "#111", "#fff"]),
    ],
)
def test_stones_have_the_colours_and_letters_of_their_players(
    game: str, moves: list[int], stones: list[str]
) -> None:
    picture = picture_of(game, moves, {1: 1.0})
    stroked = [c for c in picture.iter(f"{SVG}circle") if c.get("stroke") == "#111"]
    filled = [c.get("fill") or "" for c in stroked]
    assert sorted(fill for fill in filled if fill != "none") == sorted(stones)
    letters = [text for text in texts(picture) if text in ("X", "O")]
    assert letters == ([] if stones else ["O", "X"])


@pytest.mark.parametrize(
    ("game", "moves", "turn"),
    [
        ("tic_tac_toe", [4], "O to move"),
        ("connect_four", [0, 1] * 3 + [0], "Red wins"),
        (
            "go(board_size=9)",
            [40, 81, 81],
            "Black wins by 73.5 (Black 81, White 0 + 7.5), after a pass",
        ),
    ],
)
def test_a_notebook_shows_a_states_board_and_the_player_to_move(
    game: str, moves: list[int], turn: str
) -> None:
    shown = pyengine.load_game(game).new_initial_state(moves)._repr_html_()
    assert shown.startswith('<img alt="the board"')
    assert f">{turn}</pre>" in shown


def test_a_result_fits_80_columns() -> None:
    lines = str(searched("gomoku", simulations=1000)).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert any(line.endswith(" ...") for line in lines)


def test_a_result_outlives_its_engine_and_can_be_pickled(result: SearchResult) -> None:
    again = pickle.loads(pickle.dumps(result))
    for field in dataclasses.fields(result):
        mine, other = getattr(result, field.name), getattr(again, field.name)
        if isinstance(mine, np.ndarray) and mine.dtype.names is None:
            np.testing.assert_array_equal(mine, other)
        elif not isinstance(mine, np.ndarray):
            assert mine == other
    assert str(again) == str(result)
    assert again.tree().to_dict() == result.tree().to_dict()
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.action = 3


def test_a_result_of_a_game_without_str_shows_no_address() -> None:
    class Wordless(Matches):
        history = HIDDEN

    for kind, words in ((Matches, "moves: none\n\n"), (Wordless, "  move ")):
        game = ToyGame(kind)
        state = game.new_initial_state()
        result = pyengine.Engine(game, "uniform", simulations=20).search(state)
        state.apply_action(0)  # the result has a copy
        assert str(result).startswith(words)
        assert " object at 0x" not in str(result)
        assert result._repr_html_().startswith("<pre")
        assert result.tree().children
        json.dumps(result.to_dict(), allow_nan=False)


def test_lines_begin_with_each_visited_move_and_follow_the_most_visits():
    state = pyengine.load_game("connect_four").new_initial_state()
    result = pyengine.search(state, evaluator="connect4", simulations=200, threads=1)
    lines = result.lines()
    assert [line.actions[0] for line in lines] == [
        int(result.actions[i]) for i in result.order() if result.visits[i]
    ]
    assert lines[0].actions == result.pv
    assert all(line.visits == sorted(line.visits, reverse=True) for line in lines)
    assert lines[0].visits[0] == result.visits.max()
    assert result.lines(2) == lines[:2]
