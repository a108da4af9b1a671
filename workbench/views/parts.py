"""Parts of a message as text, and texts on one line."""

from __future__ import annotations

from workbench.ir import JsonValue, Media, Opaque, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.views.lines import Line, Span
from workbench.wire import dumps

PREVIEW = 600
"""Characters of a text that fit on one line, at most."""


def part_text(part: Part) -> str:
    """Content of a part as text."""
    match part:
        case Text():
            return part.text
        case Reasoning():
            return part.text if part.text is not None else _json(part.data)
        case ToolCallIR():
            return part.raw if part.raw is not None else _json(part.input)
        case ToolResultIR():
            return "\n".join(part_text(inner) for inner in part.content)
        case Media():
            return part.url or part.file_id or f"{len(part.data or '')} characters of base64"
        case Opaque():
            return _json(part.value)


def _json(value: JsonValue) -> str:
    return "" if value is None else dumps(value).decode("utf-8", "backslashreplace")


def preview(text: str, style: str = "") -> Line:
    """The beginning of a text on one line; line ends are shown as signs."""
    spans: list[Span] = []
    for part in text[:PREVIEW].split("\n"):
        spans += [Span(" ⏎ ", "muted")] if spans else []
        spans.append(Span(part, style))
    return tuple(spans)
