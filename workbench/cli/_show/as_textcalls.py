"""The textcalls view of ``show``: tool calls in the texts of a response."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from workbench.cli._output import cut, number
from workbench.ir import Reasoning, Text
from workbench.protocols import RESPONSE
from workbench.wire import schema_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.ir import JsonValue, ToolDef
    from workbench.rules import Detail
    from workbench.toolcalls.formats import TextCall


class TextPiece(NamedTuple):
    """A range of a text: a tool call, a control marker outside any call, or prose."""

    kind: str
    start: int
    end: int
    call: TextCall | None = None


class AnswerText(NamedTuple):
    """One text of the response; its pieces cover all of it."""

    pointer: str
    carrier: str
    text: str
    pieces: list[TextPiece]


def texts(detail: Detail, parser: str | None) -> Iterator[AnswerText]:
    """Texts and readable reasoning of the response."""
    request = detail.decoded.request
    tools = request.tools if request else ()
    for message in detail.decoded.messages(RESPONSE):
        for part in message.parts:
            if isinstance(part, Text | Reasoning) and part.text:
                carrier = "text" if isinstance(part, Text) else f"reasoning ({part.carrier})"
                yield AnswerText(message.absolute(part), carrier, part.text, pieces(part.text, tools, parser))


def pieces(text: str, tools: Sequence[ToolDef], parser: str | None) -> list[TextPiece]:
    """Split a text by the parser of one format; with None by text that is meant as a call in any format."""
    from workbench.toolcalls.formats import TextCall, find_calls, get, stray_markers

    if parser is None:
        calls = find_calls(text, tools, is_thought_shown=True)
    else:
        reader = get(parser).parser(tools)
        calls = tuple(f for f in (*reader.feed(text), *reader.close()) if isinstance(f, TextCall))
    marked = [TextPiece("call", c.start, c.end, c) for c in calls]
    marked += [TextPiece("marker", d.start, d.end) for d in stray_markers(text, calls)]
    found, at = list[TextPiece](), 0
    for piece in sorted(marked, key=lambda p: p.start):
        if at < piece.start:
            found.append(TextPiece("prose", at, piece.start))
        found.append(piece)
        at = piece.end
    return [*found, TextPiece("prose", at, len(text))] if at < len(text) else found


def as_json(detail: Detail, parser: str | None) -> dict[str, JsonValue]:
    """``{"parser", "texts": […]}``."""
    return {
        "parser": parser,
        "texts": [
            {
                "pointer": read.pointer,
                "carrier": read.carrier,
                "pieces": [_piece_as_json(read.text, piece) for piece in read.pieces],
            }
            for read in texts(detail, parser)
        ],
    }


def _piece_as_json(text: str, piece: TextPiece) -> JsonValue:
    head: dict[str, JsonValue] = {
        "kind": piece.kind,
        "start": piece.start,
        "end": piece.end,
        "text": text[piece.start : piece.end],
    }
    call = piece.call
    if call is None:
        return head
    problems = [
        {"problem": problem, "start": place[0] if place else None, "end": place[1] if place else None}
        for problem, place in zip_longest(call.problems, call.places)
    ]
    return head | {
        "format": call.format,
        "name": call.name,
        "id": call.id,
        "arguments": call.input,
        "raw": call.raw,
        "in_reasoning": call.is_nested,
        "problems": problems,
    }


def as_text(detail: Detail, parser: str | None) -> Iterator[str]:
    """A line for each piece; below a tool call its arguments and faults."""
    empty = True
    for read in texts(detail, parser):
        empty = False
        calls = sum(piece.call is not None for piece in read.pieces)
        size = f"{read.carrier}, {number(len(read.text), 'character')}, {number(calls, 'call')}"
        yield f"  {read.pointer or RESPONSE}  {size}"
        for piece in read.pieces:
            place = f"    {f'{piece.start}–{piece.end}':<11}"
            if piece.call:
                yield from _call_lines(read.text, place, piece.call)
            else:
                yield f"{place} {piece.kind:<6} {_quote(read.text[piece.start : piece.end])}"
    if empty:
        yield "  the response has no text"


def _call_lines(text: str, place: str, call: TextCall) -> Iterator[str]:
    words = [call.format, call.name or "(no name)", call.id or "", "in the reasoning" if call.is_nested else ""]
    yield f"{place} call   {'  '.join(cut(word, 60) for word in words if word)}"
    if isinstance(call.input, dict):
        for key, value in call.input.items():
            yield f"      {cut(key, 60)} = {_quote(value)}  {schema_type(value)}"
        if not call.input:
            yield "      no arguments"
    elif call.input is None:
        yield f"      unreadable arguments: {_quote(call.raw)}"
    else:
        yield f"      {_quote(call.input)}  {schema_type(call.input)}"
    for problem, where in zip_longest(call.problems, call.places):
        at = f"  at {where[0]}–{where[1]}: {_quote(text[where[0] : where[1]])}" if where else ""
        yield f"      ! {problem}{at}"


def _quote(value: JsonValue) -> str:
    return cut(json.dumps(value, ensure_ascii=False))
