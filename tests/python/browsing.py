"""A browser for the tests of the page: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Return the path of the system's Chromium.

    Skips the module if it or Playwright is absent; fails if PYENGINE_BROWSER is "required".
    """
    path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if path is None:
        _absent("no Chromium is installed")
    try:
        import axe_playwright_python  # noqa: F401
        import playwright.sync_api  # noqa: F401
    except ImportError as error:
        _absent(f"{error.name} is not installed (extra: test)")
    return str(path)


def _absent(reason: str) -> None:
    if os.environ.get("PYENGINE_BROWSER") == "required":
        pytest.fail(f"PYENGINE_BROWSER is set to required, but {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@contextmanager
def started(path: str) -> Iterator[Any]:
    """Run a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


class Visit:
    """A visitor of the page, with storage of its own."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address = address
        self.problems: list[str] = []
        options = {"viewport": {"width": 1280, "height": 860}, **options}
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(15_000)

    def open(self, position: str = "", settings: str | None = None) -> Any:
        """Open a tab at a position, such as "game=othello&moves=d3"; return it when it is ready."""
        tab = self.context.new_page()
        if settings is not None:
            key = "localStorage['pyengine:settings']"
            tab.add_init_script(f"{key} ??= '{settings}'")
        tab.on("pageerror", lambda error: self.problems.append(str(error)))
        tab.on("console", self._log)
        tab.goto(f"{self.address}/#{position}")
        ready(tab)
        return tab

    def _log(self, message: Any) -> None:
        if message.type == "error":
            self.problems.append(message.text)


def ready(tab: Any) -> None:
    """Wait until a tab has its position."""
    tab.wait_for_selector("html[data-ready]")


def ply(tab: Any) -> int:
    """Return the number of moves before the position that a tab shows."""
    return int(tab.input_value("#ply"))


def wait_until(tab: Any, condition: str) -> None:
    """Wait until an expression is true. The page's policy forbids Playwright's own way."""
    end = time.monotonic() + 15
    while not tab.evaluate(condition):
        assert time.monotonic() < end, condition
        tab.wait_for_timeout(10)


def wait_for_ply(tab: Any, count: int) -> None:
    """Wait until a tab shows the position after a number of moves."""
    wait_until(tab, f"Number(document.querySelector('#ply').value) === {count}")


def status(tab: Any) -> str:
    """Return whose move it is, or the result."""
    return str(tab.inner_text("#status"))


def play_out(tab: Any, choose: Callable[[Any], Any]) -> str:
    """Play until the game ends; `choose` clicks a move. Return the result."""
    idle = "!document.querySelector('#status').textContent.endsWith('…')"
    for _ in range(300):
        wait_until(tab, idle)
        if tab.locator("#status.over").count():
            break
        count = ply(tab)
        choose(tab)
        wait_until(tab, f"Number(document.querySelector('#ply').value) > {count}")
    return status(tab)


def serious(tab: Any, rule: str | None = None) -> list[str]:
    """Return axe-core's serious findings, of all rules or of one."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], **({"runOnly": [rule]} if rule else {})}
    found = Axe().run(tab, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def save_picture(tab: Any, name: str) -> None:
    """Write a picture for the guides if PYENGINE_PICTURES names a folder."""
    folder = os.environ.get("PYENGINE_PICTURES")
    if folder:
        tab.screenshot(path=Path(folder) / f"{name}.jpg", type="jpeg", quality=70)
