"""A review as text, SGF and HTML."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from typing import Any

import pytest

import pyengine
from pyengine.data.game_file import GameFile, game_in
from pyengine.review import Review, review_game
from pyengine.review.html import review_html
from pyengine.review.sgf import review_sgf

pytest.importorskip("rich", reason="the extra cli is not installed")
pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")

from rich.console import Console
from sgfmill import sgf

from pyengine.review.text import review_text

RECORD = (
    "(;GM[1]SZ[9]KM[7]RU[Japanese]PB[<i>A & B</i>]PW[柯洁 \\] x]RE[B+R]C[start];B[ee]C[mine]"
    ";W[gc]TR[ee](;B[aa];W[cg];B[gg]BM[1];W[ai])(;B[cc]C[other]))"
)


def review_of(content: bytes, game: str | None = None, model: str = "go9", n: int = 30) -> Review:
    file = game_in(content, "x.sgf" if game is None else "x.txt", game and pyengine.load_game(game))
    settings: dict[str, Any] = {"simulations": n, "deterministic": True}
    with pyengine.Engine(file.game, model, **settings) as engine:
        return review_game(file, engine, model=model)


@pytest.fixture(scope="module")
def go() -> Review:
    return review_of(RECORD.encode())


@pytest.fixture(scope="module")
def othello() -> Review:
    return review_of(b"f5d6c3d3c4f4", "othello", "othello")


@pytest.fixture(scope="module")
def without_board() -> Review:
    pytest.importorskip("pyspiel", reason="OpenSpiel is absent")
    nim = pyengine.load_game("pyspiel:nim")
    file = GameFile(nim, nim.new_initial_state(), (3, 1))
    with pyengine.Engine(nim, "rollout", simulations=20) as engine:
        return review_game(file, engine, model="rollout")


def text_of(review: Review, *, blocks: bool = True) -> str:
    console = Console(width=80, soft_wrap=True, highlight=False, record=True, no_color=True)
    with console.capture() as capture:
        for part in review_text(review, blocks=blocks):
            console.print(part)
    return capture.get()


# --- text


@pytest.mark.parametrize("name", ["go", "othello", "without_board"])
@pytest.mark.parametrize("blocks", [True, False])
def test_text_fits_80_columns(name: str, blocks: bool, request: pytest.FixtureRequest) -> None:
    text = text_of(request.getfixturevalue(name), blocks=blocks)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert blocks or not re.search("[▁-█]", text)


def test_text_with_long_names_fits_80_columns(go: Review) -> None:
    file = dataclasses.replace(go.file, players=("A" * 100, "B " * 50), result="R" * 100)
    text = text_of(dataclasses.replace(go, file=file))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


def test_text_lists_the_worst_moves_before_all_moves(go: Review) -> None:
    text = text_of(go)
    assert text.index("The worst moves") < text.index("average of") < text.index("Black wins")
    worst = text.partition("The worst moves")[2].splitlines()[2].split()
    assert worst[:3] in (["3", "Black", "A9"], ["6", "White", "A1"])
    assert "<i>A & B</i> (Black)" in text


# --- SGF


def test_sgf_keeps_the_record_and_adds_comments_variations_and_marks(go: Review) -> None:
    game = sgf.Sgf_game.from_bytes(review_sgf(go))
    root, first, second, third, _, fifth, _ = game.get_main_sequence()
    assert root.get("KM") == 7
    assert root.get_raw("RU") == b"Japanese"
    assert not root.has_property("PYENGINE")
    assert root.get("C").startswith("start\n\n")
    assert "<i>A & B</i>" in root.get("C")
    assert first.get("C").startswith("mine\n\nMove 1, Black E5")
    assert (4, 4) in second.get("TR")  # row and column from the bottom, as in the file
    assert third.get("BM") in (1, 2)
    assert third.get("SQ") == {(8, 0)}
    assert len(third.get("TR")) == 1
    assert fifth.get_raw("BM") == b"1"  # of the record
    lines = [child.get("C") for child in second if child is not third]
    assert any(text == "other" for text in lines)
    assert any(text.startswith("A: Black wins") for text in lines)
    assert second.get("LB")[0][1] == "A"
    assert float(third.get_raw("SBKV")) < 50
    assert third.get("V") < 0


def test_sgf_of_the_review_is_read_again(go: Review) -> None:
    again = game_in(review_sgf(go), "x.sgf")
    assert (again.actions, again.players) == (go.file.actions, go.file.players)
    assert again.game.params["komi"] == 7


def test_sgf_of_a_list_of_moves_names_the_rules() -> None:
    review = review_of(b"C3 pass B2", "go(board_size=5,komi=2.5)", "uniform", 4)
    game = sgf.Sgf_game.from_bytes(review_sgf(review))
    assert (game.get_size(), game.get_komi()) == (5, 2.5)
    assert [node.get_move()[1] for node in game.get_main_sequence()[1:]] == [(2, 2), None, (1, 1)]


def test_sgf_of_a_game_that_it_lacks_is_refused(othello: Review) -> None:
    with pytest.raises(pyengine.ConfigError, match="SGF supports go and gomoku"):
        review_sgf(othello)


# --- HTML


class Page(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("name", ["go", "othello", "without_board"])
def test_the_page_loads_nothing(name: str, request: pytest.FixtureRequest) -> None:
    page = review_html(request.getfixturevalue(name))
    for tag, attributes in Page(page).tags:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert not {"src", "href", "srcset", "action"} & attributes.keys()
    addresses = set(re.findall(r"https?://[^\"' ]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert "<!--" not in page


def test_every_text_of_the_file_is_escaped(go: Review) -> None:
    page = review_html(go)
    assert "<i>" not in page
    assert "&lt;i&gt;A &amp; B&lt;/i&gt;" in page
    assert "<i>A & B</i> (Black) - 柯洁 ] x (White)" in Page(page).text


def test_the_page_has_a_row_a_board_and_a_text_for_each_position(go: Review) -> None:
    page = review_html(go)
    rows = [attributes for tag, attributes in Page(page).tags if tag == "tr"]
    numbers = {attributes["data-ply"] for attributes in rows if "data-ply" in attributes}
    assert numbers == {str(number) for number in range(1, 7)}
    data = re.search(r'id="data">(.*?)</script>', page)
    assert data is not None
    assert data[1].count("Move ") == 6


def test_a_page_of_100_moves_is_below_300_kb() -> None:
    game = pyengine.load_game("go")
    names = [game.new_initial_state().action_to_string(i) for i in range(0, 300, 3)]
    review = review_of(" ".join(names).encode(), "go", "uniform", 8)
    assert len(review_html(review).encode()) < 300_000
