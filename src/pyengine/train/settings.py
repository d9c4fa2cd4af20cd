"""Self-validating settings: frozen pydantic models whose errors are one-line ConfigErrors."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, NoReturn, Self, get_args, get_origin

from pydantic import (  # noqa: TID253  # imported only where the extra is needed
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WrapValidator,
)

from pyengine.base.checks import did_you_mean, short_repr
from pyengine.errors import ConfigError

#: Largest seed: it fits into 64 bits after any number of steps is added.
MOST_SEED = 2**62


def _as_given(value: Any, check: Any) -> Any:
    checked = check(value)
    return value if type(value) is int else checked


def _from_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


#: A finite number. Ints stay ints, so checkpoints preserve the values of a run file.
Number = Annotated[float, WrapValidator(_as_given)]

Strings = Annotated[tuple[str, ...], BeforeValidator(_from_list)]
PositiveNumbers = Annotated[tuple[Annotated[Number, Field(gt=0)], ...], BeforeValidator(_from_list)]
PositiveInts = Annotated[tuple[Annotated[int, Field(gt=0)], ...], BeforeValidator(_from_list)]


class Section(BaseModel):
    """A section of settings; the string below a field is its description.

    Raises ConfigError: ``section.field: expected WHAT, got VALUE``.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )

    section: ClassVar[str] = ""  #: its name in a run file

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Add ``name (values, default DEFAULT): description`` of each field to the docstring."""
        lines = [cleandoc(cls.__doc__ or ""), "", "Attributes:"]
        for name, field in cls.model_fields.items():
            values = expected(field.annotation, *field.metadata)
            default = "" if field.is_required() else f", default {field.default!r}"
            meaning = " ".join((field.description or "").split())
            lines.append(f"    {name} ({values}{default}): {meaning}")
        cls.__doc__ = "\n".join(lines)

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            cause = first.get("ctx", {}).get("error")
            if isinstance(cause, ConfigError):  # from a validator of several fields
                raise cause from None
            self._refuse_value(str(first["loc"][0]), values)

    @classmethod
    def _refuse_value(cls, name: str, values: Mapping[str, Any]) -> NoReturn:
        field = cls.model_fields.get(name)
        if field is None:
            known = list(cls.model_fields)
            raise ConfigError(
                f"{cls._path(name)}: no such setting{did_you_mean(name, known)} "
                f"(there are {', '.join(known)})"
            )
        cls.refuse(name, expected(field.annotation, *field.metadata), values.get(name))

    @classmethod
    def refuse(cls, name: str, expected: str, got: Any) -> NoReturn:
        """Raise the error of a field."""
        shown = repr(got) if isinstance(got, str) else short_repr(got)
        raise ConfigError(f"{cls._path(name)}: expected {expected}, got {shown}")

    @classmethod
    def _path(cls, name: str) -> str:
        return f"{cls.section}.{name}" if cls.section else name

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{self._path(name)} cannot be assigned: use replace({name}=...)")

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return {name: _plain(value) for name, value in self}

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**{**dict(self), **changes})


_WORDS = {
    int: ("an int", "ints"),
    float: ("a number", "numbers"),
    str: ("a string", "strings"),
    bool: ("true or false", ""),
}


def expected(annotation: Any, *metadata: Any, plural: bool = False) -> str:
    """Describe the valid values of a field: ``a number in [0, 1) or none``."""
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return expected(parts[0], *parts[1:], *metadata, plural=plural)
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(f'"{word}"' for word in parts)
    if NoneType in parts:
        return expected(parts[0], *metadata) + " or none"
    if get_origin(annotation) is tuple:
        return "a list of " + expected(parts[0], plural=True)
    if annotation in _WORDS:
        return _WORDS[annotation][plural] + _range(metadata)
    if get_origin(annotation) is Mapping:
        return "a table"
    return f"{'an' if annotation.__name__[0] in 'AEIOU' else 'a'} {annotation.__name__}"


def _range(metadata: tuple[Any, ...]) -> str:
    constraints = [limit for entry in metadata for limit in getattr(entry, "metadata", (entry,))]
    limits = {
        name: getattr(limit, name)
        for limit in constraints
        for name in ("ge", "gt", "le", "lt")
        if hasattr(limit, name)
    }
    low = limits.get("ge", limits.get("gt"))
    high = limits.get("le", limits.get("lt"))
    if high is None:
        return "" if low is None else f" {'>=' if 'ge' in limits else '>'} {low}"
    return f" in {'[' if 'ge' in limits else '('}{low}, {high}{']' if 'le' in limits else ')'}"


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return value.to_dict()
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def differences(first: Mapping[str, Any], second: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return ``section.field: VALUE is now VALUE`` for all differences between nested tables."""
    changes = []
    for key in sorted({*first, *second}):
        old, new = first.get(key), second.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            changes += differences(old, new, f"{prefix}{key}.")
        elif old != new:
            changes.append(f"{prefix}{key}: {old!r} is now {new!r}")
    return changes
