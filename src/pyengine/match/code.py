"""A digest of the parts of a Python object that determine its behaviour: code and values.

The digest is the same in the next process, of the same minor version of Python. Libraries are known
by name alone. What is neither code nor plain values, such as a generator or an object of a library,
has no digest.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from abc import ABC
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Generic, Protocol

import numpy as np

Known = Callable[[Any], Any]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(...))
_BASES = {object, ABC, Generic, Protocol}  # without values of their own
_ANNOTATIONS = ("__annotate__", "__annotate_func__")
_LIBRARIES = tuple({sysconfig.get_path(n) for n in ("stdlib", "platstdlib", "purelib", "platlib")})


class NoDigestError(ValueError):
    """Something that has no digest."""


def digest_of(value: Any, known: Known = lambda value: None) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of an object's code and values.

    Args:
        value: any object.
        known: what stands for an object in place of its code and values, where it is not None.

    Raises NoDigestError, which names the part that has no digest.
    """
    where = type(value).__qualname__
    try:
        tree = _Reader(known).read(value, where)
    except RecursionError as error:
        raise NoDigestError(f"{where}, which is too deep") from error
    return hashlib.sha256(repr(tree).encode()).hexdigest()[:16]


class _Reader:
    """Turns objects into nested tuples of plain values; one that was met before is its number."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._met: dict[int, tuple[int, Any]] = {}  # with the object, whose id is not used again

    def read(self, value: Any, where: str) -> Any:
        """Return what stands for a value; ``where`` it was found is for messages."""
        if type(value) in _PLAIN:
            return value
        if type(value) not in (tuple, frozenset):  # equal ones may be one object or several
            if id(value) in self._met:
                return ("met", self._met[id(value)][0])
            self._met[id(value)] = (len(self._met), value)
        told = self._known(value)
        if told is not None:
            return ("known", repr(told))
        if name := _library_name(value):
            return ("library", name)
        return (type(value).__name__, *self._parts(value, where))

    def _parts(self, value: Any, where: str) -> Iterator[Any]:
        match value:
            case FunctionType():
                yield from self._function(value)
            case MethodType():
                yield from self._all((value.__func__, value.__self__), where)
            case staticmethod() | classmethod():
                yield self.read(value.__func__, where)
            case property():
                yield from self._all((value.fget, value.fset, value.fdel), where)
            case _ if type(value) is partial:
                yield from self._all((value.func, value.args, value.keywords), where)
            case type():
                yield from self._class(value)
            case _ if type(value) is np.ndarray and not value.dtype.hasobject:
                yield (value.shape, value.dtype.str, hashlib.sha256(value.tobytes()).hexdigest())
            case _ if type(value) in (tuple, list):
                yield from self._all(value, where)
            case _ if type(value) in (set, frozenset):
                yield from sorted(map(repr, self._all(value, where)))
            case _ if type(value) is dict:
                for key, held in value.items():
                    yield from (self.read(key, where), self.read(held, f"{where}[{key!r}]"))
            case _:
                yield from self._object(value, where)

    def _all(self, values: Any, where: str) -> Iterator[Any]:
        for value in values:
            yield self.read(value, where)

    def _function(self, function: FunctionType) -> Iterator[Any]:
        where = function.__qualname__
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            try:
                content = cell.cell_contents
            except ValueError:  # a name without a value
                continue
            yield self.read(content, f"{name} in {where}")
        own = (function.__defaults__, function.__kwdefaults__, vars(function))
        yield from self._all(own, where)
        for code in _codes(function.__code__):
            yield (code.co_code, code.co_exceptiontable, code.co_names, code.co_flags)
            yield (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
            yield from self._all((c for c in code.co_consts if not isinstance(c, CodeType)), where)
            for name in code.co_names:
                if name in function.__globals__:
                    yield self.read(function.__globals__[name], f"{name} in {where}")

    def _class(self, kind: type) -> Iterator[Any]:
        for base in kind.__mro__[1:]:
            yield self.read(base, base.__qualname__)
        for name, member in vars(kind).items():
            code = isinstance(member, FunctionType | staticmethod | classmethod | property)
            hidden = name.startswith(("__", "_abc_")) or isinstance(member, MemberDescriptorType)
            if (code and name not in _ANNOTATIONS) or not hidden:
                yield (name, self.read(member, f"{kind.__qualname__}.{name}"))

    def _object(self, value: Any, where: str) -> Iterator[Any]:
        kind = type(value)
        if any(_library_name(base) for base in kind.__mro__ if base not in _BASES):
            raise NoDigestError(f"{where} ({kind.__qualname__})")
        yield self.read(kind, kind.__qualname__)
        yield self.read(object.__getstate__(value), where)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _library_name(value: Any) -> str | None:
    """The name of a module, a class or a function of a library; None for all else."""
    if isinstance(value, ModuleType):
        return value.__name__ if _is_library(value) else None
    name, module = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
    owner = None if isinstance(value, type) else getattr(value, "__self__", None)
    if not isinstance(name, str) or "<" in name or not isinstance(owner, ModuleType | None):
        return None  # an object, a function in a function, a bound method
    home = sys.modules.get(module) if isinstance(module, str) else None
    return f"{module}.{name}" if home is not None and _is_library(home) else None


def _is_library(module: ModuleType) -> bool:
    if module.__name__.partition(".")[0] == "pyengine":
        return True
    spec = module.__spec__
    if spec is None:  # __main__
        return False
    return spec.origin in (None, "built-in", "frozen") or spec.origin.startswith(_LIBRARIES)
