"""Checks of single parameters, whose errors name the parameter and what was given, in a line."""

from __future__ import annotations

import os
from numbers import Real
from typing import Any, Collection, Iterable

import numpy as np

_MOST = 60


def shown(value: Any) -> str:
    """The value in a line of limited length."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST else f"{text[:_MOST]}..."


def kind(value: Any) -> str:
    """The name of its type."""
    return type(value).__name__


def integer(value: Any, name: str) -> int:
    """1 or more. Raises TypeError, ValueError."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{name} {shown(value)}: is {kind(value)}; expected an int")
    if value < 1:
        raise ValueError(f"{name} {value}: is too small; expected 1 or more")
    return int(value)


def path_or_name(value: Any, name: str) -> str | os.PathLike[str]:
    """Raises TypeError."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} {shown(value)}: is {kind(value)}; expected a text")
    return value


def number(value: Any, name: str) -> float:
    """Finite or not. Raises TypeError, ValueError."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} {shown(value)}: is {kind(value)}; expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} {shown(value)}: is too large; expected a number") from None


def word(value: Any, name: str, words: Collection[str], others: str = "") -> None:
    """Raises ValueError unless it is one of the words. `others`: what else is allowed."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} {shown(value)}: is unknown; expected {', '.join(map(repr, words))}{others}")


def several(values: Any, name: str, what: str) -> list[Any]:
    """Its items, at least one; a text is none. Raises TypeError, ValueError."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"{name} {shown(values)}: is {kind(values)}; expected several {what}")
    items = list(values)
    if not items:
        raise ValueError(f"{name} {shown(values)}: is empty; expected {what}")
    return items
