"""Progress of long work in one line: how much is done, and how much is left."""

from __future__ import annotations

from workbench.views.lines import Line, Span, line

CELLS = 20
"""Columns of a bar: five per cent each."""


SHORT = 10
"""Columns of a bar beside other words."""


def progress_bar(done: int, total: int, cells: int = SHORT) -> str:
    """Bar of what is done and left, as text; full if there is nothing to do."""
    full = int(cells * min(1.0, done / total)) if total else cells
    return "█" * full + "░" * (cells - full)


def progress_line(done: int, total: int, what: str) -> Line:
    """Bar, counts and percentage; ``what`` names what is counted, in the plural."""
    share = min(1.0, done / total) if total else 1.0
    bar = progress_bar(done, total, CELLS)
    return line(
        Span(bar.rstrip("░"), "accent"),
        Span("░" * bar.count("░"), "muted"),
        Span(f" {done:,} of {total:,} {what} · {share:.0%}", "muted"),
    )
