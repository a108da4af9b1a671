"""Lines of the conversion screen: a request or response in another protocol, and its losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.models.rowtable import Range
from workbench.views import Line, Span, count, line, size

if TYPE_CHECKING:
    from workbench.convert import Conversion


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
    """Target of a conversion, its losses, renamed ids and sizes; the source is named above the original."""
    converted = view.converted
    losses = Span(count(len(converted.losses), "loss"), "warning") if converted.losses else Span("no loss", "ok")
    return line(
        Span(f" {view.side.capitalize()} {view.exchange + 1} → {converted.protocol}", "strong"),
        Span("   "),
        losses,
        Span(f" · {count(len(converted.ids), 'id')} renamed" if converted.ids else "", "info"),
        Span(" · identical" if converted.body == view.body else "", "ok"),
        Span(f" · {size(len(view.body))} → {size(len(converted.body))}", "muted"),
    )


def source_title(view: ConversionView, *, has_other: bool = False) -> Line:
    """Title of the original. ``has_other``: the converted body has no room beside it, and comes by a key."""
    other = Span(f"· tab: {view.converted.protocol} " if has_other else "", "muted")
    return line(f" {view.source}, original ", other)


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
    """The protocols that fit in one row, the chosen one marked and visible; with its number if not all fit."""
    at, first, last = targets.index(current), 0, len(targets)
    is_whole = _columns(targets) <= width
    number = "" if is_whole else f"{at + 1} of {len(targets)} "
    while first < at and _columns(targets[first : at + 1]) + len(number) > width:
        first += 1
    while last > at + 1 and _columns(targets[first:last]) + len(number) > width:
        last -= 1
    spans = [Span(f" {number}", "muted")]
    for name in targets[first:last]:
        is_chosen = name == current
        spans += [Span(f"▸{name}" if is_chosen else f" {name}", "tab strong" if is_chosen else "muted"), Span(" ")]
    return tuple(spans)


def _columns(names: tuple[str, ...]) -> int:
    return 1 + sum(len(name) + 2 for name in names)
