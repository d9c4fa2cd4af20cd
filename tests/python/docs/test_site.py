"""The navigation of the documentation site is complete."""

from __future__ import annotations

import tomllib
from typing import Any

from conftest import ROOT

SITE = tomllib.loads((ROOT / "docs" / "site.toml").read_text(encoding="utf-8"))["project"]


def pages(nav: Any) -> list[str]:
    """Return the pages of a part of the navigation."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in pages(part)]


def test_the_navigation_has_every_page_once() -> None:
    listed = [page for page in pages(SITE["nav"]) if not page.startswith("docs/reference/")]
    written = [page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")]
    folders = [page.relative_to(ROOT).as_posix() for page in ROOT.glob("[!.]*/README.md")]
    top = [page.name for page in ROOT.glob("*.md")]
    assert sorted(listed) == sorted({*written, *folders, *top})
