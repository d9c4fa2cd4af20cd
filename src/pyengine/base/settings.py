"""Settings that know their fields: :class:`Settings`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

from pyengine.base.arguments import did_you_mean, shortened
from pyengine.errors import ConfigError


class Settings:
    """Base of a dataclass of settings: an unknown field raises ConfigError that names it.

    A dataclass by itself raises TypeError there.
    """

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Check the names; the dataclass does the rest."""
        cls.check_names(given)
        return super().__new__(cls)

    @classmethod
    def check_names(cls, given: Mapping[str, Any]) -> None:
        """Raise ConfigError for an unknown field."""
        known = cls.names()
        for name in given:
            if name not in known:
                meant = did_you_mean(str(name), known)
                raise ConfigError(
                    f"{shortened(str(name))}: unknown field of {cls.__name__}"
                    f"{f'{meant} The' if meant else '; the'} fields are {', '.join(sorted(known))}"
                )

    @classmethod
    def names(cls) -> list[str]:
        """Return the fields in their order."""
        return [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
