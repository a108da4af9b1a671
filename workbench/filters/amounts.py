"""Numbers as people type them: plain, sizes, durations, classes of status."""

from __future__ import annotations

import re

from workbench import regex
from workbench.filters.keys import Kind

_NUMBER = regex.compile(r"(\d{1,15}(?:\.\d{1,6})?)([A-Za-z]*)", re.ASCII)
_CLASS = regex.compile(r"[1-5]xx", re.ASCII | re.IGNORECASE)

UNITS: dict[Kind, dict[str, float]] = {
    Kind.NUMBER: {"": 1},
    Kind.STATUS: {"": 1},
    Kind.SIZE: {
        "": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9,
        "ki": 2**10, "kib": 2**10, "mi": 2**20, "mib": 2**20, "gi": 2**30, "gib": 2**30,
    },
    Kind.SECONDS: {"": 1, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600},
}  # fmt: skip

EXPECTED = {
    Kind.NUMBER: "a number such as 40, >40, 40..60",
    Kind.STATUS: "a status such as 400, >=400, 4xx",
    Kind.SIZE: "a size such as 812, >100k, 1M..5M",
    Kind.SECONDS: "a time such as >2s, <300ms, 1s..5s",
}
"""Words for the error message, by kind."""


def amount(kind: Kind, text: str) -> float | None:
    """Value of a number as typed; None if it is not a number."""
    found = _NUMBER.fullmatch(text)
    unit = UNITS[kind].get(found[2].lower()) if found else None
    return float(found[1]) * unit if found and unit is not None else None


def status_class(text: str) -> int | None:
    """The first digit of ``4xx``."""
    return int(text[0]) if _CLASS.fullmatch(text) else None
