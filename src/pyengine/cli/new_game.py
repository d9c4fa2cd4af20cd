"""``pyengine new-game``: write the project of a game in C++."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from pyengine import _core
from pyengine.base.checks import short_repr
from pyengine.cli.output import show
from pyengine.errors import ConfigError
from pyengine.eval.bundled import bundled_models
from pyengine.games.game import registered_games

_TEMPLATES = Path(_core.__file__).parent / "templates"
_STARTER = "starter"
#: Files of the starter that a project made from another example has, too.
_SHARED = ("README.md", ".github/workflows/test.yml")


def new_game(
    name: Annotated[str, Argument(help="The game's name: lower-case letters, digits and _.")],
    example: Annotated[
        Literal["hex", "breakthrough"] | None,
        Option(help="Start from this game's rules. Default: three in a row."),
    ] = None,
    directory: Annotated[
        Path | None, Option("--directory", "-d", help="The folder to write. Default: NAME.")
    ] = None,
) -> None:
    """Write the project of a game in C++, which pip builds without rebuilding pyengine.

    pyengine new-game amazons

    pyengine new-game mygame --example breakthrough
    """
    folder = directory or Path(name)
    files = project(name, example or _STARTER)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} exists: expected a new or empty folder")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8", newline="\n")
    show(f"The rules are in {folder / f'{name}.h'}. To build and test:")
    show(f"    cd {folder} && pip install '.[test]' && pytest")


def project(name: str, example: str) -> dict[str, str]:
    """Return the files of a game's project by path. Raises ConfigError for an unusable name."""
    if not re.fullmatch(r"[a-z](_?[a-z0-9]+)*", name):
        raise ConfigError(
            "NAME: expected lower-case letters and digits, with single _ between them, "
            f"got {short_repr(name)}"
        )
    if name in registered_games() or name in bundled_models():
        raise ConfigError(f"NAME: expected a new name, got {name}, which is taken")
    sources = [(example, path) for path in _files(example)]
    if example != _STARTER:
        sources += [(_STARTER, path) for path in _SHARED]
    return {
        _renamed(path, template, name): _renamed(
            (_TEMPLATES / template / path).read_text("utf-8"), template, name
        )
        for template, path in sources
    }


def _files(template: str) -> list[str]:
    folder = _TEMPLATES / template
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def _renamed(text: str, template: str, name: str) -> str:
    """Replace the name of a template and of its class with those of the game."""
    of_class = "".join(part.capitalize() for part in name.split("_")) + "Game"
    text = re.sub(rf"\b{template.capitalize()}\b", of_class, text)
    # A test may compare with OpenSpiel's game of that name.
    spiel = r'(?<!spiel\.load_game\(")(?<!spiel\.load_game\(f")'
    return re.sub(rf"{spiel}(?<![a-zA-Z]){template}(?![a-zA-Z])", name, text)
