"""A bar of long work in one line: how much is done, and what is left."""

from __future__ import annotations

from workbench.views.lines import Line, Span, line

CELLS = 20
"""Columns of a bar: five per cent each."""


def progress_line(done: int, total: int, what: str) -> Line:
    """Bar, counts and percentage; ``what`` names what is counted, in the plural."""
    share = min(1.0, done / total) if total else 1.0
    full = int(share * CELLS)
    return line(
        Span("█" * full, "accent"),
        Span("░" * (CELLS - full), "muted"),
        Span(f" {done:,} of {total:,} {what} · {share:.0%}", "muted"),
    )
