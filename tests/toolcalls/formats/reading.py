"""Reading texts in tests: what was found, said briefly, and the same for every way of cutting the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbench.ir import ToolDef
from workbench.toolcalls.formats import Prose, ProseOrCall, TextCall, get

Said = list[Any]
"""Prose as text; a call as (name, input, *problems), then "nested", then "id …"."""

TOOLS = (
    ToolDef(
        "read",
        None,
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "line": {"type": "integer"},
                "opts": {"type": "object"},
                "tags": {"type": "array"},
                "all": {"type": "boolean"},
                "x": {"type": "number"},
                "maybe": {"type": ["string", "null"]},
            },
        },
    ),
    ToolDef("ping", None, {"type": "object", "properties": {}}),
)


def findings(name: str, pieces: Iterable[str], tools: Sequence[ToolDef] = TOOLS) -> list[ProseOrCall]:
    """What a format finds, neighbouring prose joined."""
    parser = get(name).parser(tools)
    found = [f for piece in pieces for f in parser.feed(piece)]
    joined: list[ProseOrCall] = []
    for f in [*found, *parser.close()]:
        last = joined[-1] if joined else None
        if isinstance(f, Prose) and isinstance(last, Prose):
            assert last.end == f.start
            joined[-1] = Prose(last.text + f.text, last.start, f.end)
        else:
            joined.append(f)
    return joined


def said(name: str, text: str, tools: Sequence[ToolDef] = TOOLS) -> Said:
    """What a text says, briefly."""
    return [f.text if isinstance(f, Prose) else briefly(f) for f in findings(name, [text], tools)]


def briefly(call: TextCall) -> tuple[Any, ...]:
    nested = ("nested",) if call.is_nested else ()
    return (call.name, call.input, *call.problems, *nested, *((f"id {call.id}",) if call.id else ()))


def same_for_every_cut(name: str, text: str, tools: Sequence[ToolDef] = TOOLS) -> None:
    """Pieces of some sizes, and two pieces cut at every place, say what the whole text says; findings tile the text."""
    whole = findings(name, [text], tools)
    assert "".join(text[f.start : f.end] for f in whole) == text
    assert all(f.text == text[f.start : f.end] for f in whole if isinstance(f, Prose))
    for size in (1, 2, 3, 5, 16):
        assert findings(name, [text[at : at + size] for at in range(0, len(text), size)], tools) == whole, size
    for at in range(1, len(text)):
        assert findings(name, [text[:at], text[at:]], tools) == whole, text[:at]
