"""Results of tool servers side by side with the tool results that the model received, for ``show --as mcp``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules import Inspector
    from workbench.views import Line, ToolPassage

WIDTH = 120
"""Columns of a line; both sides have half of it."""

NONE = "no tool result in this exchange could be matched to a recorded tool server"


def passages(inspector: Inspector, indices: Sequence[int]) -> list[ToolPassage]:
    """The passages that begin or end in some exchanges."""
    from workbench.views import passage_of

    for _ in inspector.steps():
        pass
    links = [link for row in inspector.rows for link in reversed(row.tool_links)]
    found = []
    for link in links:
        if link.model_exchange in indices or link.exchange in indices:
            call, request = inspector.read_exchange(link.exchange), inspector.read_exchange(link.model_exchange)
            if call and request:
                found.append(passage_of(link, call, request))
    return found


def as_text(tool_passages: Sequence[ToolPassage]) -> Iterator[str]:
    """Each passage: its facts, then both bodies side by side."""
    from workbench.views import column_text, passage_facts, passage_line

    for passage in tool_passages:
        yield column_text(passage_line(passage.link))
        yield from (f"  {column_text(each)}" for each in passage_facts(passage))
        yield from _columns(passage)
        yield ""
    if not tool_passages:
        yield NONE


def _columns(passage: ToolPassage) -> Iterator[str]:
    """The result of a tools/call side by side with the tool result in the next request."""
    from workbench.safetext import cells, visible
    from workbench.views import column_text, json_layout_lines

    half = (WIDTH - 5) // 2
    lost = [part.pointer for part in passage.link.lost]
    lines: list[Line] = list(json_layout_lines(_value(passage.received), lost, half))
    right: list[Line] = list(json_layout_lines(_value(passage.result), (), half))
    yield f"  {'the server returned':<{half}} │ the model received"
    for one, other in zip_longest(lines, right, fillvalue=()):
        text = column_text(one)
        yield f"  {text}{' ' * max(0, half - cells(visible(text)))} │ {column_text(other)}".rstrip()


def _value(body: bytes) -> JsonValue:
    from workbench.errors import WireError
    from workbench.wire import loads

    try:
        return loads(body)
    except WireError:
        return body.decode("utf-8", "backslashreplace")


def as_json(tool_passages: Sequence[ToolPassage]) -> list[JsonValue]:
    """Each passage as one object."""
    return [_passage(passage) for passage in tool_passages]


def _passage(passage: ToolPassage) -> JsonValue:
    link = passage.link
    return {
        "server": link.server,
        "tool": link.tool,
        "exchange": link.exchange,
        "seconds": passage.seconds,
        "sent": _value(passage.sent),
        "received": _value(passage.received) if passage.received else None,
        "told": {
            "exchange": link.model_exchange,
            "pointer": link.pointer,
            "id": link.call_id,
            "result": _value(passage.result),
        },
        "stated": link.is_stated,
        "lost": [
            {"kind": part.kind, "pointer": part.pointer, "bytes": part.size, "characters": part.piece and [*part.piece]}
            for part in link.lost
        ],
    }
