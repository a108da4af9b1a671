"""Numbers, sizes, times and ranges in words."""

from __future__ import annotations

REQUEST, RESPONSE = "request", "response"

SEVERITY_GLYPH = {"error": "✗", "warning": "!", "info": "·"}
"""A glyph for each severity; its word is shown next to it if there is room."""


def count(number: int, noun: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def size(octets: int) -> str:
    """``812 B``, ``3.1 kB``, ``5.0 MB``."""
    if octets < 1000:
        return f"{octets} B"
    return f"{octets / 1000:.1f} kB" if octets < 1_000_000 else f"{octets / 1_000_000:.1f} MB"


def duration(seconds: float | None) -> str:
    """``0.1 s``, ``82 s``; empty where unknown."""
    if seconds is None:
        return ""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:.0f} s"


def byte_range(spans: tuple[tuple[int, int], ...]) -> str:
    """``bytes 187–301``; several ranges are named by their number."""
    if not spans:
        return ""
    if len(spans) > 1:
        return f"{len(spans)} pieces in bytes {min(s for s, _ in spans):,}–{max(e for _, e in spans):,}"
    return f"bytes {spans[0][0]:,}–{spans[0][1]:,}"


def event_range(events: tuple[int, ...]) -> str:
    """``event 3``, ``events 3–41``: numbers as in findings, from zero."""
    if not events:
        return ""
    return f"event {events[0]}" if len(set(events)) == 1 else f"events {min(events)}–{max(events)}"
