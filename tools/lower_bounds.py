"""Print the oldest versions that pyproject.toml allows as pip constraints.

Usage: ``python tools/lower_bounds.py EXTRA... > constraints.txt`` (``make oldest``).
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent


def lower_bounds(project: dict, extras: list[str]) -> Iterator[str]:
    """Yield ``name==version`` for each requirement; exit if one has no lower bound."""
    texts = list(project["dependencies"])
    for extra in extras:
        texts += project["optional-dependencies"][extra]
    for requirement in map(Requirement, texts):
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        if requirement.name == project["name"]:  # extras of this package
            yield from lower_bounds({**project, "dependencies": []}, sorted(requirement.extras))
            continue
        bounds = [bound.version for bound in requirement.specifier if bound.operator == ">="]
        if len(bounds) != 1:
            sys.exit(f"expected one lower bound (>=), got {requirement}")
        yield f"{requirement.name}=={bounds[0]}"


if __name__ == "__main__":
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    print(*lower_bounds(tomllib.loads(text)["project"], sys.argv[1:]), sep="\n")
