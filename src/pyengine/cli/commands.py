"""Functions with option groups as typer commands, whose help begins with examples."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_type_hints

from typer.core import TyperCommand
from typer.models import OptionInfo

from pyengine.cli import INTERRUPTED


class Command(TyperCommand):
    """A command whose error about a further argument names the option ``--model``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not any(parameter.name == "model" for parameter in self.params):
            return super().parse_args(ctx, args)
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if rest:
            ctx.fail(f"unexpected argument {rest[0]}; for an evaluator: --model {rest[0]}")
        return rest


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer in which each option group is replaced by its options.

    Its docstring begins with the examples: the lines that begin with ``pyengine``. Beside groups,
    other options get a panel with the command's name. Ctrl-C is handled here because typer versions
    differ in its exit status.
    """
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, type] = {}
    options: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if dataclasses.is_dataclass(kind := parameter.annotation):
            groups[parameter.name] = kind  # type: ignore[assignment]
            options += _options_of(kind)  # type: ignore[arg-type]
        else:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    if groups:
        title = function.__name__.capitalize()
        options = [each.replace(annotation=_in_panel(each.annotation, title)) for each in options]

    @functools.wraps(function)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{f.name: values.pop(f.name) for f in dataclasses.fields(kind)})
        try:
            function(**values)
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None

    run.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    run.__doc__ = _examples_first(inspect.getdoc(function) or "")
    return run


def summary_of(function: Callable[..., None]) -> str:
    """Return the first sentence of a command's docstring, for the list of commands."""
    return (inspect.getdoc(function) or "").split("\n\n")[0]


def _examples_first(doc: str) -> str:
    """Move the examples in a docstring to its start, in lines that typer does not join."""
    lines = doc.splitlines()
    examples = [line.strip() for line in lines if line.strip().startswith("pyengine ")]
    rest = "\n".join(line for line in lines if not line.strip().startswith("pyengine "))
    text = "\n\n".join(" ".join(block.split()) for block in re.split(r"\n{2,}", rest))
    return "\n".join(["\b", *examples, "", text]) if examples else text


def _options_of(group: type) -> Iterator[inspect.Parameter]:
    """Return the fields of a group as parameters, shown by --help in a separate panel."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        missing = field.default is dataclasses.MISSING
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if missing else field.default,
            annotation=_in_panel(hints[field.name], group.panel),  # type: ignore[attr-defined]
        )


def _in_panel(annotation: Any, panel: str) -> Any:
    """Return an annotation whose option --help shows in a panel."""
    kind, option = get_args(annotation)
    if isinstance(option, OptionInfo) and option.rich_help_panel is None:
        option = copy.copy(option)
        option.rich_help_panel = panel
    return Annotated[kind, option]
