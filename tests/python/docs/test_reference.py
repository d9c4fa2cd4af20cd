"""docs/reference: every field, plane and name is on a page, and its tables are current."""

from __future__ import annotations

import dataclasses

import pytest

import pyengine
from reference_pages import RECORDS, SETTINGS, TEXT, described, tool


@pytest.mark.parametrize("page", TEXT)
def test_the_tables_are_those_of_the_docstrings(page: str) -> None:
    if page == "command-line.md":
        pytest.importorskip("typer")
    assert tool.written(TEXT[page]) == TEXT[page], "run `make reference`"


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_docstring_describes_every_field(kind: type) -> None:
    fields = [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    assert sorted(entry.name for entry in described(kind)) == sorted(fields)
    assert all(len(entry.meaning) > 3 for entry in described(kind))


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_page_has_the_table_of_every_class(kind: type) -> None:
    table = "settings" if kind in SETTINGS else "fields"
    paths = {*RECORDS[kind], f"{kind.__module__}.{kind.__name__}"}
    markers = [f"<!-- {table}: {path} -->" for path in sorted(paths)]
    assert any(marker in text for marker in markers for text in TEXT.values()), markers


def test_a_field_without_a_row_is_noticed() -> None:
    config = pyengine.SearchConfig
    text = config.__doc__ or ""
    known = [field.name for field in config.fields()]
    assert [entry.name for entry in tool.blocks(text)["Attributes"]] == known
    changed = text.replace("    temperature (", "    temperatur (")
    assert [entry.name for entry in tool.blocks(changed)["Attributes"]] != known


def test_a_table_that_is_not_current_is_noticed() -> None:
    text = TEXT["search.md"]
    for changed in (
        text.replace("`c_puct` |", "`c_pukt` |"),
        text.replace("| `1.25` |", "| `1` |"),
    ):
        assert changed != text
        assert tool.written(changed) == text
