"""Lines of the reasoning pane: the ledger of one request, and what its answer brought in."""

from __future__ import annotations

from workbench.chain.ledger import Entry, Ledger, Sent
from workbench.tui.lines import Line, Span, line, wrap
from workbench.tui.models.words import count, event_range

LOOK: dict[Sent, tuple[str, str]] = {
    Sent.SENT: ("✓", "ok"),
    Sent.MISSING: ("✗", "error"),
    Sent.EMPTY: ("✗", "error"),
    Sent.ALTERED: ("✗", "error"),
    Sent.NOT_OWED: ("·", "muted"),
}
"""What a request did with reasoning → glyph and style; the word stands beside them."""


def entry_line(entry: Entry) -> Line:
    """One turn: what happened, whether it is owed, and where it came in."""
    glyph, style = LOOK[entry.sent]
    if not entry.owed and entry.sent not in (Sent.SENT, Sent.NOT_OWED):
        glyph, style = "!", "warning"
    return line(
        Span(f"{glyph} ", style),
        Span(str(entry.sent), style, 9),
        Span(f"turn {entry.turn + 1}", "strong", 8),
        Span("owed" if entry.owed else "not owed", "" if entry.owed else "muted", 9),
        Span(_received(entry), "muted"),
    )


def entry_body(entry: Entry, width: int) -> list[Line]:
    """Why it is owed, in which carrier it travels, and how it begins."""
    made: list[Line] = []
    if entry.why:
        made += wrap(entry.why, width, indent=2)
    where = "not in this request" if entry.message is None else f"message {entry.message + 1}"
    carrier = f"carrier {entry.carrier}" if entry.carrier else "no reasoning known"
    made += wrap(f"{where} · {carrier}", width, "muted", indent=2)
    if entry.text:
        made += wrap(entry.text[: 4 * width], width, "reasoning", indent=2, most=3)
    return made


def summary(ledger: Ledger) -> str:
    """``1 owed, 1 not sent``."""
    owed = [e for e in ledger.entries if e.owed]
    lost = sum(e.sent is not Sent.SENT for e in owed)
    if not owed:
        return "nothing owed" if ledger.entries else ""
    return f"{len(owed)} owed, {f'{lost} broken' if lost else 'all sent'}"


def came_in(ledger: Ledger) -> str:
    """What the answer brought, in words; empty when nothing."""
    return f"the answer brought {count(len(ledger.came_in), 'piece')} of reasoning" if ledger.came_in else ""


def nothing(ledger: Ledger | None, contract: str, width: int) -> list[Line]:
    """Why there are no lines."""
    brought = came_in(ledger) if ledger else ""
    first = wrap(brought, width, "reasoning") if brought else []
    return [*first, *wrap(f"no turn of this history owes reasoning under contract {contract}", width, "muted")]


def _received(entry: Entry) -> str:
    if entry.received_in is None:
        return "known from the history only"
    size = f", {count(len(entry.text), 'character')}" if entry.text else ""
    events = f", {event_range(entry.received_events)}" if entry.received_events else ""
    return f"from exchange {entry.received_in + 1}{events}{size}"
