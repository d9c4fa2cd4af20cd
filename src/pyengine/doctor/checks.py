"""The results of a self-test."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

Verdict: TypeAlias = Literal["PASS", "FAIL", "SKIP"]


@dataclass(frozen=True)
class Check:
    """The result of one check, with its measurements."""

    name: str
    verdict: Verdict
    detail: str
    data: dict[str, Any] = field(default_factory=dict)  #: JSON-compatible values

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return asdict(self)

    def __str__(self) -> str:
        """Return a one-line summary."""
        return f"{self.verdict}  {self.name}: {self.detail}"


def verdict(ok: bool, name: str, detail: str, **data: Any) -> Check:
    """Return a check that passed or failed."""
    return Check(name, "PASS" if ok else "FAIL", detail, data)


def skipped(name: str, detail: str) -> Check:
    """Return a check that could not run; the detail gives the reason."""
    return Check(name, "SKIP", detail)
