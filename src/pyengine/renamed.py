"""Former names, which keep working for one release with a warning."""

from __future__ import annotations

import warnings

__all__ = ["warn_renamed"]


def warn_renamed(old: str, new: str, *, depth: int = 3) -> None:
    """Warn that a name has another one now. ``depth``: frames up to the caller who uses it."""
    warnings.warn(
        f"{old} is now {new}; the old name ends with the next release",
        DeprecationWarning,
        stacklevel=depth,
    )
