"""Build the documentation site: ``python tools/make_site.py`` writes build/site.

The pages are copied to build/site-source at the paths they have in the checkout, with the files
that they link to, so that relative links need no change. A warning is an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
SOURCE = BUILD / "site-source"
PAGES = (
    *("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("docs/**/*.md", "[!.]*/README.md"),
)
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)")


def linked_files(page: Path) -> set[Path]:
    """Return the files of the checkout that a page links to."""
    links = LINK.findall(page.read_text(encoding="utf-8"))
    return {target for link in links if (target := (page.parent / link).resolve()).is_file()}


def copy_pages() -> None:
    """Copy the pages and the files that they link to."""
    pages = {page for pattern in PAGES for page in ROOT.glob(pattern)}
    files = pages.union(*map(linked_files, pages))
    for file in files:
        target = SOURCE / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def main() -> int:
    """Build the site and return the exit status of the generator."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    copy_pages()
    reference.write(SOURCE / "docs" / "reference")
    shutil.copytree(ROOT / "docs" / "site-theme", BUILD / "site-theme", dirs_exist_ok=True)
    config = shutil.copy(ROOT / "docs" / "site.toml", BUILD)
    zensical = Path(sys.executable).with_name("zensical")
    command = [zensical, "build", "--strict", "--clean", "--config-file", config]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
