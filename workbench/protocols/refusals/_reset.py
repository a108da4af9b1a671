"""Ends of rate limits: the waits that headers, bodies and texts state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.ir import JsonValue
from workbench.wire import Headers

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = regex.compile(
    r"(\d{1,9}(?:\.\d{1,12})?) ?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])",
    re.IGNORECASE,
)
_TOLD = regex.compile(
    r"(?:try again|retry|retrying|wait|available again|resets?|reset)(?: \w+){0,3}? "
    r"((?:\d[\d.]{0,14} ?[a-z]{1,12}(?:,? (?:and )?)?){1,4})",
    re.IGNORECASE,
)
_DIGITS = regex.compile(r"\d{1,9}(?:\.\d{1,12})?")
_MEMBERS = ("retrydelay", "retry_after", "retryafter", "retry_after_seconds", "resets_in_seconds", "reset_in")
DEEPEST = 8
LONGEST = 1e9
"""Seconds; a longer wait is a point in time, or nonsense."""


def duration(text: str) -> float | None:
    """Seconds of ``20``, ``1.5s``, ``6m0s``, ``2 minutes``; None for anything else."""
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return float(text)
    pieces = _PIECE.findall(text)
    return sum(float(number) * _UNITS[_unit(unit)] for number, unit in pieces) if pieces else None


def _unit(word: str) -> str:
    word = word.lower()
    return "ms" if word.startswith(("ms", "milli")) else word[0]


def told_wait(headers: Headers) -> float | None:
    """Seconds that ``retry-after-ms`` or ``Retry-After`` ask to wait; None where it is a date, or not there."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = (headers.get(name) or "").strip()
        try:
            wait = float(text) * unit
        except ValueError:
            continue
        if 0 <= wait < LONGEST:
            return wait
    return None


def reset(text: str, raw: JsonValue, headers: Headers | None) -> str:
    """End of the limit, in words: "in 20 s", "at 2026-11-22T10:00:00Z"; empty if nothing states it."""
    wait = told_wait(headers) if headers else None
    if wait is None:
        wait = next(_in_body(raw, DEEPEST), None)
    if wait is None and (told := _TOLD.search(text)):
        wait = duration(told[1])
    if wait is not None:
        return f"in {_show(wait)}"
    return next(_resets(headers), "") if headers else ""


def _in_body(value: JsonValue, depth: int) -> Iterator[float]:
    """Members that give a wait: RetryInfo of Google, Codex, gateways."""
    if isinstance(value, list) and depth:
        for item in value[:50]:
            yield from _in_body(item, depth - 1)
    if not isinstance(value, dict) or not depth:
        return
    for key, item in list(value.items())[:100]:
        if key.lower() in _MEMBERS and isinstance(item, str | int | float) and not isinstance(item, bool):
            wait = duration(str(item))
            if wait is not None and wait < LONGEST:
                yield wait
        yield from _in_body(item, depth - 1)


def _resets(headers: Headers) -> Iterator[str]:
    """Waits that the reset headers state: first of an exhausted limit, then of any."""
    found: Mapping[str, str] = {name.lower(): value.strip() for name, value in headers}
    resets = [(name, value) for name, value in found.items() if "ratelimit" in name and "reset" in name and value]
    resets.sort(key=lambda reset: found.get(reset[0].replace("reset", "remaining")) != "0")
    for name, value in [*resets, *((n, v) for n, v in found.items() if n == "retry-after" and v)]:
        wait = duration(value) if not re.search(r"\d{4}-\d\d-\d\d|\d:\d\d", value) else None
        if wait is None or wait >= LONGEST:
            yield f"at {value[:60]} ({name})"
        else:
            yield f"in {_show(wait)} ({name})"


def _show(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
