"""The reasoning pane: the ledger of one request, and what its answer brought in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.chain.ledger import Entry, Ledger, Sent
from workbench.tui.models.view import Items, View
from workbench.tui.selection import Lights, Selection
from workbench.views.lines import Line, Span, line, wrap
from workbench.views.words import count, event_range

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView

LOOK: dict[Sent, tuple[str, str]] = {
    Sent.SENT: ("✓", "ok"),
    Sent.MISSING: ("✗", "error"),
    Sent.EMPTY: ("✗", "error"),
    Sent.ALTERED: ("✗", "error"),
    Sent.NOT_OWED: ("·", "muted"),
}
"""What a request did with reasoning → glyph and style; the word stands beside them."""


class ReasoningView(View):
    """Ledger entries of a request: reasoning received, required and sent."""

    def __init__(self, opened: ExchangeView) -> None:
        self.opened = opened
        self.ledger = opened.detail.ledger
        self.facts = (summary(self.ledger), came_in(self.ledger))

    def count(self) -> int:
        return len(self.ledger.entries)

    def head(self, item: int) -> Line:
        return entry_line(self.ledger.entries[item])

    def body(self, item: int, width: int) -> list[Line]:
        return entry_body(self.ledger.entries[item], width)

    def nothing(self, width: int) -> list[Line]:
        contract = self.opened.detail.contract.label
        words = f"no response of a model in the history: contract {contract} requires no reasoning"
        return wrap(came_in(self.ledger), width, "reasoning") + wrap(self.opened.silence(words), width, "muted")

    def selection(self, item: int) -> Selection:
        return self.opened.at_entry(self.ledger.entries[item])

    def origin(self, item: int) -> tuple[int, tuple[int, ...]] | None:
        entry = self.ledger.entries[item]
        came_in = entry.received_in
        return None if came_in is None or came_in == self.opened.index else (came_in, entry.received_events)

    def lit(self, lights: Lights) -> tuple[Items, Items]:
        return lights.entries, lights.turn


def entry_line(entry: Entry) -> Line:
    """One turn: what happened, and whether it is owed."""
    glyph, style = LOOK[entry.sent]
    if not entry.owed and entry.sent not in (Sent.SENT, Sent.NOT_OWED):
        glyph, style = "!", "warning"
    return line(
        Span(f"{glyph} ", style),
        Span(str(entry.sent), style, max(9, len(entry.sent) + 1)),
        Span(f"turn {entry.turn + 1}", "strong"),
        Span(
            "" if entry.sent is Sent.NOT_OWED else "  required" if entry.owed else "  not required",
            "" if entry.owed else "muted",
        ),
    )


def entry_body(entry: Entry, width: int) -> list[Line]:
    """Why it is owed, where it came from, in which carrier it travels, and how it begins."""
    made: list[Line] = []
    if entry.why:
        made += wrap(entry.why, width, indent=2)
    where = "turn is not in this request" if entry.message is None else f"message {entry.message + 1}"
    facts = [where, entry.carrier, _received(entry)] if entry.carrier else [where, "no reasoning seen"]
    made += wrap(" · ".join(facts), width, "muted", indent=2)
    if entry.text:
        made += wrap(entry.text[: 4 * width], width, "reasoning", indent=2, most=3)
    return made


def summary(ledger: Ledger) -> str:
    """``sent 0 of 1``."""
    owed = [e for e in ledger.entries if e.owed]
    if not owed:
        return "none required" if ledger.entries else ""
    return f"sent {sum(e.sent is Sent.SENT for e in owed)} of {len(owed)}"


def came_in(ledger: Ledger) -> str:
    """Number of reasoning blocks in the response, in words; empty if none."""
    return f"the response contains {count(len(ledger.came_in), 'reasoning block')}" if ledger.came_in else ""


def _received(entry: Entry) -> str:
    if entry.received_in is None:
        return "received before this session"
    size = f", {count(len(entry.text), 'character')}" if entry.text else ""
    events = f", {event_range(entry.received_events)}" if entry.received_events else ""
    return f"from exchange {entry.received_in + 1}{events}{size}"
