"""The page in a real browser."""

from __future__ import annotations

import json
import random
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pyengine
from browsing import (
    Visit,
    chromium,
    play_out,
    ply,
    ready,
    save_picture,
    serious,
    started,
    status,
    wait_for_ply,
    wait_until,
)
from serving import served

_CHROMIUM = chromium()

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "src" / "pyengine" / "serve" / "page"
OWN = f"{ROOT / 'examples' / 'own_game.py'}:Domineering"
GO = "game=go(board_size=9,komi=7)"
MIDDLE = f"{GO}&moves=E5 E3 G4 C4"
PEOPLE = '{"players": ["person", "person"]}'
WEAKEST = {"connect_four": "level:1", "gomoku": "level:1", "othello": "level:1"}
WEAK = json.dumps(
    {"strengths": {"tic_tac_toe": "simulations:50", OWN: "simulations:50", **WEAKEST}}
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started(_CHROMIUM) as browser:
        yield browser


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served("--threads", "1", "--game", OWN) as address:
        yield address


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    visit = Visit(browser, address)
    yield visit
    visit.context.close()
    assert visit.problems == []


def late(name: str) -> str:
    """Return a position a few moves before the end of a random game."""
    state, moves = pyengine.load_game(name).new_initial_state(), []
    rng = random.Random(name)
    while not state.is_terminal():
        action = rng.choice(state.legal_actions())
        moves.append(state.action_to_string(action))
        state.apply_action(action)
    return f"game={name}&moves={' '.join(moves[: len(moves) - 6])}"


def click_cell(tab: Any) -> None:
    cells = tab.locator(".point.legal")
    if cells.count():
        cells.first.click()
    else:
        tab.click("#pass")


def click_pass(tab: Any) -> None:
    tab.click("#pass")


def click_move(tab: Any) -> None:
    tab.locator("#board .move").first.click()


def analyse(tab: Any) -> None:
    tab.click("#analyse")
    wait_until(tab, "/\\d\\d visits/.test(document.querySelector('.summary').textContent)")


# Play


@pytest.mark.parametrize(
    ("position", "settings", "choose"),
    [
        ("game=tic_tac_toe", WEAK, click_cell),
        (late("connect_four"), WEAK, click_cell),
        (late("gomoku"), WEAK, click_cell),
        (late("othello"), WEAK, click_cell),
        (late("mnk(rows=3,columns=4,k=3)"), WEAK, click_cell),
        (f"{GO}&moves=E5", PEOPLE, click_pass),
        (f"game={OWN}", WEAK, click_move),
    ],
)
def test_a_game_is_played_to_its_end(
    visit: Visit, position: str, settings: str, choose: Any
) -> None:
    tab = visit.open(position, settings)
    result = play_out(tab, choose)
    assert re.search(r"wins|draw", result, re.IGNORECASE), result
    assert tab.locator(".point.legal").count() == 0


def test_a_board_is_played_by_keyboard_alone(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe", PEOPLE)
    tab.locator(".point[tabindex='0']").focus()
    tab.keyboard.press("Enter")
    wait_for_ply(tab, 1)
    tab.keyboard.press("ArrowUp")
    assert (
        tab.evaluate("document.activeElement.getAttribute('aria-label')") == "b1, empty, legal move"
    )
    tab.keyboard.press("Enter")
    wait_for_ply(tab, 2)
    tab.evaluate("document.activeElement.blur()")
    for key, count in [("ArrowLeft", 1), ("Home", 0), ("End", 2), ("u", 1), ("n", 1), ("Enter", 0)]:
        tab.keyboard.press(key)
        wait_for_ply(tab, count)


def test_a_game_ends_by_resignation_and_on_time(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe", '{"players": ["person", "person"], "clock": "1+0"}')
    tab.click("#resign")
    tab.click("dialog .main")
    assert status(tab) == "O wins: X resigned"
    tab.click("#new")
    tab.wait_for_selector("text=O wins on time")


def test_undo_takes_back_the_move_and_the_engines_answer(visit: Visit) -> None:
    tab = visit.open("game=connect_four", WEAK)
    tab.locator("[data-cell='5,3']").click()
    wait_for_ply(tab, 2)
    tab.click("#undo")
    wait_for_ply(tab, 0)
    assert tab.locator("#moves button").count() == 0


def test_undo_amid_a_game_keeps_the_moves_after_it(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe&moves=b2 a1 c3", PEOPLE)
    tab.click("#back")
    wait_for_ply(tab, 2)
    tab.click("#undo")
    wait_for_ply(tab, 1)
    assert tab.locator("#moves .move").count() == 3
    tab.click("#last")
    wait_for_ply(tab, 3)
    tab.click("#undo")
    wait_for_ply(tab, 2)
    assert tab.locator("#moves .move").count() == 2


@pytest.mark.parametrize("command", ["#new", "#game", "#resign"])
def test_a_game_is_not_lost_without_a_question(visit: Visit, command: str) -> None:
    tab = visit.open("game=tic_tac_toe&moves=b2 a1", PEOPLE)
    if command == "#game":
        tab.select_option(command, "othello")
    else:
        tab.click(command)
    tab.click("dialog >> text=Cancel")
    tab.wait_for_selector("dialog", state="hidden")
    assert (ply(tab), status(tab)) == (2, "X to move")
    assert tab.input_value("#game") == "tic_tac_toe"


def test_another_move_at_an_earlier_position_is_a_variation(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe&moves=b2 a1 c3", PEOPLE)
    tab.click("#back")
    wait_for_ply(tab, 2)
    tab.locator("[data-cell='0,2']").click()
    wait_for_ply(tab, 3)
    assert tab.locator(".variation .move[aria-current]").inner_text().endswith("c1")
    tab.click("text=Make main line")
    assert tab.locator(".variation .move").inner_text().endswith("c3")


def test_a_position_is_set_up_and_played_from(visit: Visit) -> None:
    tab = visit.open("game=connect_four", PEOPLE)
    tab.click("#setup")
    tab.locator("[data-cell='5,0']").click()
    tab.get_by_label("Place").select_option("o")
    tab.locator("[data-cell='5,1']").click()
    tab.click("text=Play from here")
    wait_until(tab, "location.hash.includes('start=')")
    assert tab.locator("#setup-bar").is_hidden()
    assert tab.get_attribute("[data-cell='5,1']", "aria-label") == "column 2, row 1, Yellow"
    tab.locator("[data-cell='0,2']").click()
    wait_for_ply(tab, 1)


def test_another_game_ends_the_setting_up(visit: Visit) -> None:
    tab = visit.open("game=connect_four", PEOPLE)
    tab.click("#setup")
    tab.select_option("#game", "tic_tac_toe")
    tab.wait_for_selector("#setup-bar", state="hidden")
    tab.locator("[data-cell='0,2']").click()
    wait_for_ply(tab, 1)


def test_each_game_keeps_its_network_and_strength(visit: Visit) -> None:
    def chosen() -> list[str]:
        labels = ("Strength of the engine", "Network")
        return [tab.get_by_label(label, exact=True).input_value() for label in labels]

    tab = visit.open("game=connect_four")
    tab.get_by_label("Strength of the engine").select_option("seconds:5")
    before = chosen()
    tab.select_option("#game", OWN)
    wait_until(tab, "document.title.startsWith('Domineering')")
    assert chosen() == ["simulations:400", "rollout"]
    tab.select_option("#game", "connect_four")
    wait_until(tab, "!document.title.startsWith('Domineering')")
    assert chosen() == before
    assert before[1] not in ("rollout", "uniform")


def test_a_clock_can_be_taken_away_during_a_turn(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe", '{"players": ["person", "person"], "clock": "60+0"}')
    click_cell(tab)
    tab.wait_for_selector(".clock:text('1:00')")
    tab.get_by_label("Clock", exact=True).select_option("none")
    tab.wait_for_timeout(300)  # longer than a tick
    assert tab.locator(".clock").all_inner_texts() == ["", ""]


# Analysis


def test_a_refused_analysis_is_switched_off(visit: Visit) -> None:
    def refuse(channel: Any) -> None:
        answer = {"type": "error", "error": "Too many searches"}
        channel.on_message(
            lambda text: channel.send(json.dumps({"id": json.loads(text)["id"], **answer}))
        )

    visit.context.route_web_socket("**/api/live", refuse)
    tab = visit.open("game=tic_tac_toe")
    tab.click("#analyse")
    tab.wait_for_selector("#problem:text('Too many searches')")
    assert tab.get_attribute("#analyse", "aria-pressed") == "false"


def with_fields(**fields: Any) -> Any:
    """Return a route that adds fields to the server's answers."""

    def add(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), **fields})

    return add


def test_the_page_offers_what_the_server_allows(visit: Visit) -> None:
    visit.context.route("**/api/games", with_fields(max_simulations=1000))
    tab = visit.open("game=tic_tac_toe")
    for label in ("Strength of the engine", "Length of the analysis"):
        texts = tab.get_by_label(label).locator("option").all_inner_texts()
        assert not {"3,200 simulations", "20,000 visits"} & set(texts)
    tab.click("#tab-think")
    tab.get_by_role("button", name="The tree").click()
    assert tab.get_by_label("Simulations").input_value() == "800"


def test_a_game_with_other_parameters_has_the_networks_that_the_server_names(visit: Visit) -> None:
    entry = {"networks": ["go9"], "levels": []}
    visit.context.route("**/api/position", with_fields(entry=entry))
    tab = visit.open("game=go(board_size=9,komi=6)")
    network = tab.get_by_label("Network", exact=True)
    assert network.locator("option").first.inner_text() == "go9"
    assert network.input_value() == "go9"


@pytest.mark.parametrize("heat", ["visits", "prior", "q", "ownership"])
def test_an_analysis_is_drawn_on_the_board(visit: Visit, heat: str) -> None:
    tab = visit.open(MIDDLE, f'{{"heat": "{heat}"}}')
    analyse(tab)
    tab.wait_for_selector(".owned" if heat == "ownership" else ".spot", state="attached")
    tab.wait_for_selector(".figures tbody tr:nth-child(2):visible")
    if heat == "visits":
        wait_until(tab, "document.querySelector('.summary').textContent.includes(',')")
        save_picture(tab, "browser-analysis")


def test_the_line_under_the_pointer_is_numbered_stones(visit: Visit) -> None:
    tab = visit.open(MIDDLE)
    analyse(tab)
    wait_until(tab, "document.querySelector('.figures .pv:not(th)').textContent !== ''")
    tab.hover(".figures tbody tr:first-child")
    tab.wait_for_selector(".ghost .count:text('2')")


def test_a_proven_win_is_shown_as_proven(visit: Visit) -> None:
    tab = visit.open("game=connect_four&moves=1 2 1 2 1 2")
    tab.click("#analyse")
    tab.wait_for_selector("text=Win proven for Red")
    assert tab.locator(".figures td.proven").first.inner_text() == "win proven"


def test_a_review_lists_the_largest_losses_first(visit: Visit) -> None:
    tab = visit.open("game=connect_four&moves=4 4 1 4 1 2 1 7 1")
    tab.click("#review")
    tab.wait_for_selector(".losses li")
    losses = [float(text) for text in re.findall(r"lost ([\d.]+)%", tab.inner_text(".losses"))]
    assert losses == sorted(losses, reverse=True)
    assert tab.locator("#graph .series").count() >= 1
    first = tab.inner_text(".losses li:first-child b")
    tab.click(".losses li:first-child button")
    wait_for_ply(tab, int(first.split(".")[0]) - 1)


def test_a_review_ends_when_another_game_opens(visit: Visit) -> None:
    tab = visit.open("game=othello&moves=d3 c3 c4 c5")
    tab.click("#review")
    tab.wait_for_selector("#reviewed progress")
    tab.evaluate("location.hash = 'game=tic_tac_toe&moves=b2 a1'")
    wait_until(tab, "document.title.startsWith('Tic')")
    tab.wait_for_timeout(1000)
    assert tab.locator("#reviewed *").count() == 0


# Files and storage


def test_a_go_game_comes_from_sgf_and_goes_to_sgf(visit: Visit) -> None:
    tab = visit.open("game=othello")
    tab.click("#files")
    tab.fill("#file-text", "(;GM[1]SZ[9]KM[7];B[ee](;W[ec];B[cc])(;W[gc];B[gg]))")
    tab.get_by_role("button", name="Load", exact=True).click()
    wait_for_ply(tab, 3)
    assert tab.locator(".variation").inner_text().split() == ["2G7", "3G3"]
    assert tab.input_value("#game") == "go(board_size=9,komi=7)"
    tab.click("#files")
    with tab.expect_download() as saved:
        tab.click("text=Save as SGF")
    assert saved.value.suggested_filename.endswith(".sgf")
    assert ";B[ee];W[ec];B[cc]" in Path(saved.value.path()).read_text().replace("\n", "")


def test_another_game_comes_from_moves_and_goes_to_moves(visit: Visit) -> None:
    tab = visit.open("game=othello")
    tab.click("#files")
    tab.fill("#file-text", "d3 c3 c4")
    tab.get_by_role("button", name="Load", exact=True).click()
    wait_for_ply(tab, 3)
    tab.click("#files")
    with tab.expect_download() as saved:
        tab.click("text=Save as moves")
    text = Path(saved.value.path()).read_text()
    tab.fill("#file-text", text)
    tab.get_by_role("button", name="Load", exact=True).click()
    tab.click("dialog >> text=Cancel")
    assert tab.input_value("#file-text") == text
    tab.get_by_role("button", name="Load", exact=True).click()
    tab.get_by_role("button", name="Replace", exact=True).click()
    tab.wait_for_selector("dialog", state="hidden")
    assert "moves=d3+c3+c4" in tab.url
    tab.click("#files")
    tab.fill("#file-text", "z9")
    tab.get_by_role("button", name="Load", exact=True).click()
    tab.wait_for_selector("dialog .problem:has-text('z9')")
    visit.problems.clear()  # the browser logs the refusal


def test_a_reload_and_a_closed_tab_lose_nothing(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe&moves=b2 a1 c3", PEOPLE)
    tab.click("#back")
    wait_for_ply(tab, 2)
    tab.locator("[data-cell='0,2']").click()
    wait_for_ply(tab, 3)
    tab.reload()
    ready(tab)
    assert (ply(tab), tab.locator(".variation").count()) == (3, 1)
    url = tab.url
    tab.close()
    tab = visit.open(url.split("#")[1])
    assert (ply(tab), tab.locator(".variation").count()) == (3, 1)


def test_move_names_may_have_spaces_and_slashes(browser: Any, tmp_path: Path) -> None:
    source = (ROOT / "examples" / "own_game.py").read_text()
    file = tmp_path / "words.py"
    file.write_text(
        source.replace(
            'return f"{COLUMNS[action % SIZE]}', 'return f"at {COLUMNS[action % SIZE]} / '
        )
    )
    with served("--threads", "1", "--game", f"{file}:Domineering") as address:
        visit = Visit(browser, address)
        tab = visit.open("", PEOPLE)
        tab.locator("#board .move").first.click()
        wait_for_ply(tab, 1)
        url = tab.url
        tab.close()
        tab = visit.open(url.split("#")[1])
        assert ply(tab) == 1
        tab.click("#tab-think")
        tab.get_by_role("button", name="The tree").click()
        wait_until(tab, "document.querySelector('.node .figures')?.textContent.startsWith('801')")
        node = tab.locator(".node.on-path").nth(1)
        [move] = json.loads(node.get_attribute("data-key"))
        node.click()
        assert "/" in move
        assert tab.locator(".details h3").inner_text() == move
        visit.context.close()
        assert visit.problems == []


def test_a_full_storage_forgets_old_games(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe", PEOPLE)
    tab.evaluate(
        """() => {
            const text = JSON.stringify({ time: 0, text: "x".repeat(10_000) });
            let i = 0;
            try { for (; ; i += 1) localStorage[`pyengine:tab:${i}`] = text; } catch {}
            try { for (; ;) localStorage.rest = `${localStorage.rest ?? ""}x`; } catch {}
        }"""
    )
    click_cell(tab)
    wait_for_ply(tab, 1)
    record = "localStorage[`pyengine:tab:${sessionStorage['pyengine:name']}`]"
    assert '"a1"' in tab.evaluate(record)


def test_two_tabs_show_two_games(visit: Visit) -> None:
    tabs = [visit.open("game=tic_tac_toe", PEOPLE), visit.open("game=othello", PEOPLE)]
    for tab in tabs:
        click_cell(tab)
        wait_for_ply(tab, 1)
    analyse(tabs[0])
    analyse(tabs[1])
    for tab, game in zip(tabs, ["tic_tac_toe", "othello"], strict=True):
        tab.reload()
        ready(tab)
        assert (tab.input_value("#game"), ply(tab)) == (game, 1)


def test_the_page_goes_on_after_the_server_was_killed(browser: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with served("--port", port, "--threads", "1") as address:
        visit = Visit(browser, address)
        tab = visit.open("game=tic_tac_toe", PEOPLE)
        click_cell(tab)
        wait_for_ply(tab, 1)
        tab.click("#analyse")
        tab.wait_for_selector(".spot", state="attached")
    tab.wait_for_selector("text=The server does not answer")
    with served("--port", port, "--threads", "1"):
        tab.wait_for_selector("#problem", state="hidden")
        click_cell(tab)
        wait_for_ply(tab, 2)
        tab.reload()
        ready(tab)
        assert ply(tab) == 2
        visit.context.close()


# How it thinks


def test_each_simulation_is_shown_term_by_term(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe&moves=a1 b2&tab=think")
    tab.wait_for_selector("text=Simulation 1 of 32")
    tab.get_by_label("Simulation", exact=True).fill("14")
    chosen = tab.locator("details[open] .chosen")
    sums = [
        float(text.replace("−", "-"))
        for text in tab.locator("details[open] td:nth-child(6)").all_inner_texts()
    ]
    assert float(chosen.locator("td:nth-child(6)").inner_text()) == max(sums)
    move = chosen.locator("th").inner_text().split()[0]
    path = tab.locator(".node.on-path .name").all_text_contents()
    assert path[:2] == ["root", move]
    assert tab.locator(".step").nth(2).locator("tbody tr").count() == len(path)
    tab.wait_for_selector(".leaf svg[aria-label^='Board after']")
    tab.evaluate("document.activeElement.blur()")
    save_picture(tab, "browser-steps")
    tab.get_by_label("Algorithm").select_option("uct")
    tab.wait_for_selector("text=UCT takes the move")


def test_a_node_of_the_tree_opens_with_its_figures_and_board(visit: Visit) -> None:
    tab = visit.open("game=connect_four&moves=4 4 3&tab=think")
    tab.get_by_role("button", name="The tree").click()
    tab.wait_for_selector(".node")
    wait_until(tab, "document.querySelector('.node .figures').textContent.startsWith('801')")
    save_picture(tab, "browser-tree")
    key = tab.locator(".node.on-path").nth(1).get_attribute("data-key")
    [move] = json.loads(key)
    node = tab.locator(f".node[data-key='{key}']")
    children = tab.locator(f".node[data-key^='{key[:-1]},']")
    node.click()
    assert tab.locator(".details h3").inner_text() == move
    tab.wait_for_selector(f".details svg[aria-label='Board after {move}']")
    assert tab.locator(".details .facts").inner_text().split()[:3] == ["N", "visits", visits(node)]
    assert (node.get_attribute("aria-expanded"), children.count() > 0) == ("true", True)
    while node.get_attribute("aria-expanded") == "true":  # shows all children, then closes
        node.click()
    assert children.count() == 0


def visits(node: Any) -> str:
    return str(node.locator(".figures").text_content()).split(" · ")[0]


def test_four_algorithms_search_one_position_side_by_side(visit: Visit) -> None:
    tab = visit.open("game=connect_four&moves=4 4 3&tab=think")
    tab.get_by_role("button", name="Side by side").click()
    tab.wait_for_selector(".column:nth-child(4) .best", state="attached")
    assert [each.get_attribute("data-algorithm") for each in tab.locator(".column").all()] == [
        "uct",
        "puct",
        "gumbel",
        "alphabeta",
    ]
    save_picture(tab, "browser-compare")


# Training


def test_a_run_is_shown_with_its_curve_and_games(browser: Any, run: Path) -> None:
    with served("--threads", "1", "--run", str(run)) as address:
        visit = Visit(browser, address)
        tab = visit.open("tab=training")
        tab.wait_for_selector("text=40 games, 300 positions")
        assert tab.locator(".charts .chart").count() == 2
        tab.locator(".games button").nth(1).click()
        last = int(tab.get_attribute("[aria-label='Move of the game']", "max"))
        tab.get_by_label("Move of the game").fill("2")
        tab.wait_for_selector(f"text=move 2 of {last}")
        assert serious(tab) == []
        tab.click("text=Open on the board")
        wait_for_ply(tab, 2)
        visit.context.close()
        assert visit.problems == []


# Every screen and reader


@pytest.mark.parametrize(("scheme", "rule"), [("light", None), ("dark", "color-contrast")])
def test_axe_has_no_serious_finding(
    browser: Any, address: str, scheme: str, rule: str | None
) -> None:
    visit = Visit(browser, address, color_scheme=scheme)
    tab = visit.open(MIDDLE)
    analyse(tab)
    assert serious(tab, rule) == []
    tab.click("#files")
    assert serious(tab, rule) == []
    tab.keyboard.press("Escape")
    tab.click("#tab-think")
    for view in ("Step by step", "The tree", "Side by side"):
        tab.get_by_role("button", name=view).click()
        tab.wait_for_selector(".step, .node, .column")
        assert serious(tab, rule) == []
    visit.context.close()
    assert visit.problems == []


def test_a_phone_shows_all_without_scrolling_sideways(browser: Any, address: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    visit = Visit(browser, address, **phone)
    tab = visit.open("game=othello", WEAK)
    tab.locator("[data-cell='2,3']").tap()
    wait_for_ply(tab, 2)
    analyse(tab)
    tab.evaluate("scrollTo(0, 0)")
    save_picture(tab, "browser-phone")
    width = "document.documentElement.scrollWidth"
    assert tab.evaluate(width) == 390
    tab.tap("#tab-think")
    tab.wait_for_selector(".step")
    assert tab.evaluate(width) == 390
    visit.context.close()
    assert visit.problems == []


def test_the_theme_follows_the_system_or_the_switch(visit: Visit) -> None:
    tab = visit.open("game=tic_tac_toe")
    shade = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(shade)
    tab.emulate_media(color_scheme="dark")
    dark = tab.evaluate(shade)
    assert light != dark
    tab.click("#theme")  # light
    assert tab.evaluate(shade) == light
    tab.reload()
    ready(tab)
    assert tab.evaluate(shade) == light


def test_the_page_is_small_and_loads_nothing_from_other_hosts(visit: Visit) -> None:
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 300_000
    addresses: list[str] = []
    visit.context.on("request", lambda request: addresses.append(request.url))
    visit.open("game=tic_tac_toe")
    assert [each for each in addresses if not each.startswith(visit.address)] == []
