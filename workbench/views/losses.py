"""Lines of a conversion: each loss, and each renamed id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.limits import SNIPPET
from workbench.safetext import clip
from workbench.views.lines import Line, Span, line

if TYPE_CHECKING:
    from workbench.convert import Loss


def loss_line(loss: Loss) -> Line:
    """A loss in one line."""
    return line(Span("! ", "warning"), Span(loss.what, "strong"), Span(f"  {loss.pointer or 'the whole'}", "muted"))


def id_line(new: str, old: str | None) -> Line:
    """A renamed id: new and old."""
    was = line(Span("had no id; named by its place", "muted")) if old is None else line(Span(f"was {old}", "muted"))
    return (Span("= ", "info"), Span(new, "strong"), Span("  "), *was)


def loss_words(loss: Loss) -> str:
    """Place, loss and replacement in one line of text."""
    what, instead = (clip(text, SNIPPET) for text in (loss.what, loss.instead))
    return f"{loss.pointer or 'the whole'}  {what}: {instead}"
