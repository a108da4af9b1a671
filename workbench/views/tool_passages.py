"""A tool's result on its way to the model: what the server returned, next to what the model received."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.protocols import WirePlace
from workbench.protocols.mcp import response_message
from workbench.provenance import escape
from workbench.views.lines import Line, Span, line, wrap
from workbench.views.words import REQUEST, count, duration, size
from workbench.wire import JsonIndex

if TYPE_CHECKING:
    from workbench.chain import LostPart, ToolLink
    from workbench.ir import JsonValue
    from workbench.protocols import DecodedExchange
    from workbench.rules import InspectedExchange

Range = tuple[int, int]

WORDS = {
    "structured": "the structured content",
    "part": "part of the content",
    "cut": "part of the text",
    "shadowed": "text: the client forwards the structured content instead",
}
"""Kind of a lost part → what it is."""


class ToolPassage(NamedTuple):
    """One link with the bytes of both ends.

    Attributes:
        sent, received: the messages to the server and from it; empty where there is none.
        lost: ranges of ``received`` that did not reach the model.
        received_at: first byte of ``received`` in the body that carried it.
        result: the tool result in the model's request; ``result_at`` is its first byte there.
        seconds: that the server took; None if unknown.
    """

    link: ToolLink
    sent: bytes
    received: bytes
    lost: tuple[Range, ...]
    received_at: int
    result: bytes
    result_at: int
    seconds: float | None


def links_of(rows: Sequence[InspectedExchange], index: int, most: int = 64) -> list[ToolLink]:
    """Links to show with an exchange: for a ``tools/call`` its own, else those of its conversation, the nearest ones.

    Args:
        rows: all of the session that is inspected.
    """
    here = rows[index]
    if here.conversation is None:
        behind = (link for row in rows[index:] for link in row.tool_links)
        return [link for link in behind if link.exchange == index][:1]
    near = [row for row in rows if row.conversation == here.conversation and row.tool_links]
    near.sort(key=lambda row: abs(row.index - index))
    found = [link for row in near[:most] for link in reversed(row.tool_links)][:most]
    return sorted(found, key=lambda link: (link.model_exchange, link.exchange))


def passage_of(link: ToolLink, call: DecodedExchange, decoded: DecodedExchange) -> ToolPassage:
    """The bytes of a link; ``call`` is the exchange with the server, ``decoded`` that whose request has the result."""
    lost = [_place(call, part) for part in link.lost]
    first, last = decoded.place(REQUEST, link.pointer).span or (0, 0)
    return ToolPassage(
        link,
        call.request_text,
        response_message(call),
        tuple(sorted(span for spans in lost for span in spans)),
        max(0, call.response_text.find(response_message(call))),
        decoded.request_text[first:last],
        first,
        call.exchange.duration,
    )


def _place(call: DecodedExchange, part: LostPart) -> tuple[Range, ...]:
    span = JsonIndex(response_message(call)).span(part.pointer)
    place = WirePlace((span,) if span else ())
    return (place.cut(response_message(call), *part.piece) if part.piece and span else place).spans


def passage_line(link: ToolLink) -> Line:
    """A link in one line: sign, server and tool, what is lost."""
    missing = sum(part.size for part in link.lost)
    sign, style = ("!", "warning") if missing else ("✓", "ok")
    words = _words(missing)
    name = Span(f"{link.server} · {link.tool}", "strong")
    return line(Span(f"{sign} ", style), name, Span(f"  {link.call_id or ''}  ", "muted"), Span(words, style))


def _words(missing: int) -> str:
    return f"{size(missing)} did not reach the model" if missing else "everything reached the model"


def passage_words(link: ToolLink, width: int) -> list[Line]:
    """A link in words, for the row of its call."""
    missing = sum(part.size for part in link.lost)
    style = "warning" if missing else "muted"
    return wrap(f"{_words(missing)} (R: request and response) · {link.server} · {link.tool}", width, style, indent=2)


def passage_facts(passage: ToolPassage) -> Iterator[Line]:
    """Each part of a passage that is lost, then exchanges, sizes and time."""
    link = passage.link
    for part in link.lost:
        yield line(Span("! ", "warning"), Span(f"{part.pointer}", "strong"), Span(f"  {_missing(part)}"))
    delay = "" if passage.seconds is None else f" in {duration(passage.seconds)}"
    sizes = f"{size(len(passage.sent))} sent, {size(len(passage.received))} received{delay}"
    where = (
        f"tools/call in exchange {link.exchange + 1}: {sizes} · sent to the model in exchange "
        f"{link.model_exchange + 1} {link.pointer}"
    )
    yield line(Span(f"{where}: {size(len(passage.result))}", "muted"))
    yield line(Span(f"matched {link.how}", "muted" if link.is_stated else "warning"))


def _missing(part: LostPart) -> str:
    if part.form:
        return f"{count(part.size, 'byte')} reached the model in a different form: {part.form}"
    piece = f" (characters {part.piece[0]:,} to {part.piece[1]:,})" if part.piece else ""
    return f"{count(part.size, 'byte')}{piece} did not reach the model: {WORDS[part.kind]}"


def json_layout_lines(value: JsonValue, lost: Sequence[str], width: int) -> Iterator[Line]:
    """A JSON value, laid out; lines of lost places begin with ``!``.

    Args:
        lost: pointers in it.
    """
    for pointer, depth, text in _json_lines(value, "", 0, ""):
        is_lost = any(pointer == each or pointer.startswith(f"{each}/") for each in lost)
        lines = wrap(text, max(width - 2, 16), "warning" if is_lost else "", indent=min(2 * depth, width // 2))
        yield from ((Span("! " if is_lost else "  ", "warning"), *each) for each in lines)


def _json_lines(value: JsonValue, pointer: str, depth: int, name: str) -> Iterator[tuple[str, int, str]]:
    """Pointer, depth and text of each line of a value."""
    if not isinstance(value, dict | list) or not value:
        yield pointer, depth, f"{name}{json.dumps(value, ensure_ascii=False)}"
        return
    first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield pointer, depth, f"{name}{first}"
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        label = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(value, dict) else ""
        yield from _json_lines(inner, f"{pointer}/{escape(str(key))}", depth + 1, label)
    yield pointer, depth, last
