"""Quantiles of the Student t distribution."""

from __future__ import annotations

__all__ = ["student"]

#: By degrees of freedom from 1.
_FEW = (
    12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23,
    2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09,
)  # fmt: skip


def student(freedom: int) -> float:
    """Return half the width of a two-sided 95 % interval, in standard errors of the mean.

    Args:
        freedom: degrees of freedom, at least 1; above 20 Fisher's series around the normal
            distribution's 1.96 is exact to three digits.
    """
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    return 1.960 + 2.372 / freedom + 2.823 / freedom**2
