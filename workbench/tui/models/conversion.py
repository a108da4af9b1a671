"""Lines of the conversion screen: a request or response in another protocol, and its losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.safetext import cells
from workbench.tui.models.rowtable import Range
from workbench.views import Line, Span, count, line, loss_line, plain, size, wrap

if TYPE_CHECKING:
    from workbench.convert import Conversion, Loss


class ConversionView(NamedTuple):
    """One side of an exchange, and its conversion to another protocol.

    Attributes:
        exchange: index in the session, from zero.
        side: "request" or "response".
        source: its protocol.
        body: its content-decoded bytes.
        converted: the conversion, with its losses.
        places: byte ranges in ``body`` of each loss.
        read: the converted body as text; differs from its bytes for a binary stream only.
    """

    exchange: int
    side: str
    source: str
    body: bytes
    converted: Conversion
    places: tuple[tuple[Range, ...], ...]
    read: bytes


def headline(view: ConversionView) -> Line:
    """Protocols of a conversion, its losses, renamed ids and sizes."""
    converted = view.converted
    losses = Span(count(len(converted.losses), "loss"), "warning") if converted.losses else Span("no loss", "ok")
    return line(
        Span(f" {view.side.capitalize()} {view.exchange + 1}", "strong"),
        Span(f"   {view.source} → {converted.protocol}   ", "muted"),
        losses,
        Span(f" · {count(len(converted.ids), 'id')} renamed" if converted.ids else "", "info"),
        Span(" · identical" if converted.body == view.body else "", "ok"),
        Span(f" · {size(len(view.body))} → {size(len(converted.body))}", "muted"),
    )


def target_title(view: ConversionView, *, has_other: bool = False) -> Line:
    """Title of the converted body. ``has_other``: the original has no room beside it, and comes by a key."""
    converted = view.converted
    if has_other:
        return line(f" {converted.protocol} ", Span("· tab: the original ", "muted"))
    opened = " · decoded events of a binary stream" if view.read != converted.body else ""
    return line(
        f" {converted.protocol} ", Span(f"{converted.path}{opened}{' ' if converted.path or opened else ''}", "muted")
    )


def readable(body: bytes, content_type: str) -> bytes:
    """A body as text: the events of a stream in binary framing, one after the other; other bodies unchanged."""
    from workbench.wire import Framing, read_stream

    stream = read_stream(body, content_type)
    if stream.framing is not Framing.AWS:
        return body
    return b"".join(b"event: %s\ndata: %s\n\n" % ((e.name or "").encode(), e.data or b"") for e in stream.events)


def file_name(view: ConversionView) -> str:
    """Suggested name for a file of the converted body."""
    converted = view.converted
    kind = converted.content_type.partition(";")[0]
    ends = {"application/json": "json", "text/event-stream": "sse", "application/x-ndjson": "ndjson"}
    return f"{view.side}-{view.exchange + 1}.{converted.protocol}.{ends.get(kind, 'bin')}"


def choices(targets: tuple[str, ...], current: str, width: int) -> Line:
    """The protocols, the chosen one marked and visible."""
    at = targets.index(current)
    first = 0
    while first < at and sum(len(name) + 2 for name in targets[first : at + 1]) > width - 4:
        first += 1
    spans = [Span(" …" if first else " ", "muted")]
    for name in targets[first:]:
        is_chosen = name == current
        spans += [Span(f"▸{name}" if is_chosen else f" {name}", "tab strong" if is_chosen else "muted"), Span(" ")]
    return tuple(spans)


def loss_body(loss: Loss, width: int) -> list[Line]:
    """Replacement of a loss; before it the text of its line if that line is cut."""
    lines = wrap(loss.instead, width, "info", indent=2, most=8)
    if cells(plain(loss_line(loss))) <= width:
        return lines
    what = wrap(loss.what, width, "strong", indent=2, most=8) if cells(loss.what) + 2 > width else []
    return [*what, *wrap(loss.pointer, width, "muted", indent=2, most=8), *lines]
