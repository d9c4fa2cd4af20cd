"""The licences of what is installed with pyengine are those of docs/licences.md."""

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
#: Development tools alone: nothing of a release needs them.
EXTRAS = sorted(set(PROJECT["optional-dependencies"]) - {"dev"})

PERMISSIVE = re.compile(r"\b(MIT|BSD|Apache|PSF|Python Software Foundation|ISC)\b", re.IGNORECASE)
COPYLEFT = re.compile(r"GPL|General Public|MPL|Mozilla Public|EPL|CDDL|EUPL", re.IGNORECASE)


def tables() -> list[dict[str, str]]:
    """Return the licence of each package in the two tables: those asked for, the exceptions."""
    text = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    parts = text.split("with these exceptions")
    rows = [re.findall(r"^\| ([a-z0-9-]+) \|.*\| (.+) \|$", part, re.MULTILINE) for part in parts]
    return [{name: licence for name, licence in each if name != "package"} for each in rows]


ASKED, EXCEPTIONS = tables()


def requirements(name: str, extras: set[str]) -> list[Requirement]:
    """Return what an installed package needs here with some of its extras."""
    found = map(Requirement, metadata.requires(name) or [])
    return [
        one
        for one in found
        if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in extras | {""})
    ]


def installed_with(extras: list[str]) -> set[str]:
    """Return the installed packages that pyengine brings along."""
    seen: dict[str, set[str]] = {}
    todo = [(PROJECT["name"], set(extras))]
    while todo:
        name, asked = todo.pop()
        if name in seen and asked <= seen[name]:
            continue
        seen[name] = seen.get(name, set()) | asked
        try:
            needs = requirements(name, seen[name])
        except metadata.PackageNotFoundError:
            del seen[name]  # an extra that is not installed here
            continue
        todo += [(canonicalize_name(one.name), one.extras) for one in needs]
    return set(seen) - {PROJECT["name"]}


def said_by(name: str) -> str:
    """Return what an installed package says of its licence: expression, classifiers, first line."""
    about = metadata.metadata(name)
    expression = about.get("License-Expression")
    if expression:
        return expression
    classes = [c for c in about.get_all("Classifier", []) if c.startswith("License ::")]
    first = (about.get("License") or "").strip().split("\n")[0]
    return "; ".join([*classes, first])


def test_the_table_has_every_package_asked_for() -> None:
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][e] for e in EXTRAS)]
    names = {canonicalize_name(Requirement(text).name) for each in lists for text in each}
    assert set(ASKED) == names - {PROJECT["name"]}


@pytest.mark.parametrize("name", sorted(ASKED))
def test_a_package_has_the_licence_of_the_table(name: str) -> None:
    try:
        said = said_by(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")
    family = {"PSF-2.0": "Python Software Foundation|PSF"}.get(
        ASKED[name], ASKED[name].split("-")[0]
    )
    assert re.search(family, said), said


def test_what_is_brought_along_is_permissive_or_named() -> None:
    brought = {name: said_by(name) for name in installed_with(EXTRAS)}
    copyleft = {name: said for name, said in brought.items() if COPYLEFT.search(said)}
    assert {name for name in copyleft if name not in EXCEPTIONS} == set(), copyleft
    unclear = {
        name: said
        for name, said in brought.items()
        if not PERMISSIVE.search(said) and name not in EXCEPTIONS
    }
    assert unclear == {}
