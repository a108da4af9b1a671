"""Values that can be copied for a selection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import WireError
from workbench.safetext import from_bytes
from workbench.tui.clipboard import CopyItem
from workbench.tui.models.findings import where
from workbench.views import REQUEST, RESPONSE, Line, Span, count, line, preview, size
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.models.http import HttpRow
    from workbench.tui.selection import ExchangeSelection


class CopyChoice(NamedTuple):
    """One thing to copy.

    Attributes:
        name: its name in the key table.
        hint: description at the current place.
        make: returns the data to copy; raises LocalProtocolError if that is impossible.
    """

    name: str
    hint: str
    make: Callable[[], CopyItem]


def choices(
    exchange_view: ExchangeView,
    selection: ExchangeSelection | None,
    side: str,
    finding: Finding | None,
    row: HttpRow | None,
) -> tuple[CopyChoice, ...]:
    """Everything that can be copied, in the order of the menu.

    Args:
        exchange_view: the open exchange.
        selection: the selection in it; None for none.
        side: side of the body that is shown.
        finding: the finding under the cursor.
        row: the row under the cursor of the HTTP pane, if that pane has the focus.
    """
    return tuple(_choices(exchange_view, selection, side, finding, row))


def _choices(
    exchange_view: ExchangeView,
    selection: ExchangeSelection | None,
    side: str,
    finding: Finding | None,
    row: HttpRow | None,
) -> Iterator[CopyChoice]:
    if row and row.label:
        yield _now("value", CopyItem("the value", row.value))
        yield _now("row", CopyItem("the row", f"{row.label}: {row.value}"))
    elif selection:
        yield from _of_selection(exchange_view, selection)
    body = body_of(exchange_view, side)
    if body:
        yield CopyChoice(
            "body", f"the whole {side}, {size(len(body))}", partial(CopyItem, "the body", body, _suffix(body))
        )
    if exchange_view.decoded.exchange.request:
        yield CopyChoice("curl", "the request as a command; API keys become variables", partial(_curl, exchange_view))
    if finding:
        yield _now("finding", CopyItem("the finding", finding_text(finding)))


def _of_selection(exchange_view: ExchangeView, selection: ExchangeSelection) -> Iterator[CopyChoice]:
    value = value_of(exchange_view, selection)
    if value is not None:
        yield _now("value", CopyItem("the value", value))
    place = f"{selection.exchange + 1}/{selection.side}{selection.pointer}"
    if selection.pointer:
        yield _now("pointer", CopyItem("the pointer", selection.pointer))
    yield _now("place", CopyItem("the place", place))
    if selection.spans:
        body = body_of(exchange_view, selection.side)
        data = b"".join(body[start:end] for start, end in selection.spans)
        pieces = f" in {count(len(selection.spans), 'piece')}" if len(selection.spans) > 1 else ""
        hint = f"as sent, {count(len(data), 'byte')}{pieces}"
        yield CopyChoice("bytes", hint, partial(CopyItem, "the bytes", data, "bin"))


def _now(name: str, copied: CopyItem) -> CopyChoice:
    text = copied.data if isinstance(copied.data, str) else f"{count(len(copied.data), 'byte')}"
    return CopyChoice(name, text, lambda: copied)


def _curl(exchange_view: ExchangeView) -> CopyItem:
    from workbench.formats.exporters import curl_command

    command = curl_command(exchange_view.decoded.exchange)
    return CopyItem("the curl command", command.text + "\n", "sh", command.notes)


def _suffix(body: bytes) -> str:
    return "json" if body[:1] in b"{[" else "bin"


def body_of(exchange_view: ExchangeView, side: str) -> bytes:
    """The content-decoded bytes of a side."""
    return exchange_view.decoded.request_text if side == REQUEST else exchange_view.decoded.response_text


def value_of(exchange_view: ExchangeView, selection: ExchangeSelection) -> str | None:
    """Decoded value of a selection: a string as its text, a part as its text, anything else as JSON."""
    number = exchange_view.node_at(selection)
    node = exchange_view.outline.nodes[number] if number is not None else None
    if node and node.part and (node.pointer == selection.pointer or selection.events):
        return node.text
    if selection.side == RESPONSE and exchange_view.decoded.events:
        return node.text if node and node.part else None
    index = exchange_view.decoded.request_index if selection.side == REQUEST else exchange_view.decoded.response_index
    place = index.find(selection.pointer) if selection.pointer else None
    if place is None or place.node.end < place.node.start:
        return None
    text = place.layer.text[place.node.start : place.node.end]
    try:
        value = loads(text)
    except WireError:
        return None
    return value if isinstance(value, str) else from_bytes(text)


def finding_text(finding: Finding) -> str:
    """A finding for a mail or an issue."""
    lines = [
        f"{finding.severity} {finding.rule}: {finding.message}",
        f"exchange {finding.exchange + 1}, {finding.side}, {where(finding)}",
        *(f"{label}: {text}" for label, text in (
            ("seen", finding.evidence), ("answer", finding.refusal), ("source", finding.source),
        ) if text),
    ]  # fmt: skip
    return "\n".join(lines)


def choice_line(key: str, word: str, choice: CopyChoice) -> Line:
    """A row of the menu."""
    return line(Span(f" {key}", "accent strong", 4), Span(word, "strong", 10), *preview(choice.hint, "muted"))
