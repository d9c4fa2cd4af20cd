"""The licences of pyengine's dependencies match docs/licences.md."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: All but "dev", which contains only development tools.
EXTRAS = sorted(set(PROJECT["optional-dependencies"]) - {"dev"})

PERMISSIVE = re.compile(r"\b(MIT|BSD|Apache|PSF|Python Software Foundation|ISC)\b", re.IGNORECASE)
COPYLEFT = re.compile(r"GPL|General Public|MPL|Mozilla Public|EPL|CDDL|EUPL", re.IGNORECASE)


def tables() -> list[dict[str, str]]:
    """Return the licences by package in the two tables: the requirements and the exceptions."""
    text = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    parts = text.split("with these exceptions")
    rows = [re.findall(r"^\| ([a-z0-9-]+) \|.*\| (.+) \|$", part, re.MULTILINE) for part in parts]
    return [{name: licence for name, licence in table if name != "package"} for table in rows]


REQUIRED, EXCEPTIONS = tables()


def requirements(name: str, extras: set[str]) -> list[Requirement]:
    """Return the requirements of an installed package with some of its extras."""
    return [
        requirement
        for requirement in map(Requirement, metadata.requires(name) or [])
        if requirement.marker is None
        or any(requirement.marker.evaluate({"extra": extra}) for extra in extras | {""})
    ]


def installed_with(extras: list[str]) -> set[str]:
    """Return the installed packages that pyengine depends on, directly or indirectly."""
    seen: dict[str, set[str]] = {}
    todo = [(PROJECT["name"], set(extras))]
    while todo:
        name, requested = todo.pop()
        if name in seen and requested <= seen[name]:
            continue
        seen[name] = seen.get(name, set()) | requested
        try:
            needs = requirements(name, seen[name])
        except metadata.PackageNotFoundError:
            del seen[name]  # not installed here
            continue
        todo += [(canonicalize_name(needed.name), needed.extras) for needed in needs]
    return set(seen) - {PROJECT["name"]}


def declared_licence(name: str) -> str:
    """Return the licence in an installed package's metadata."""
    about = metadata.metadata(name)
    expression = about.get("License-Expression")
    if expression:
        return expression
    classes = [c for c in about.get_all("Classifier", []) if c.startswith("License ::")]
    first = (about.get("License") or "").strip().split("\n")[0]
    return "; ".join(filter(None, [*classes, first])) or licence_in_files(name)


def licence_in_files(name: str) -> str:
    """Return the first line of the licence that an installed package contains."""
    files = [path for path in metadata.files(name) or [] if path.name.startswith("LICENSE")]
    return files[0].read_text().strip().split("\n")[0] if files else ""


def test_the_table_lists_every_requirement() -> None:
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][e] for e in EXTRAS)]
    names = {canonicalize_name(Requirement(text).name) for texts in lists for text in texts}
    assert set(REQUIRED) == names - {PROJECT["name"]}


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_a_package_has_the_licence_of_the_table(name: str) -> None:
    try:
        licence = declared_licence(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")
    family = {"PSF-2.0": "Python Software Foundation|PSF"}.get(
        REQUIRED[name], REQUIRED[name].split("-")[0]
    )
    assert re.search(family, licence), licence


def test_dependencies_are_permissive_or_listed_as_exceptions() -> None:
    licences = {name: declared_licence(name) for name in installed_with(EXTRAS)}
    copyleft = {name: text for name, text in licences.items() if COPYLEFT.search(text)}
    assert {name for name in copyleft if name not in EXCEPTIONS} == set(), copyleft
    unclear = {
        name: text
        for name, text in licences.items()
        if not PERMISSIVE.search(text) and name not in EXCEPTIONS
    }
    assert unclear == {}
