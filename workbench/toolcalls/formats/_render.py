"""Shared by all formats for writing calls and results as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Protocol

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Text, ToolCallIR, ToolResultIR
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.wire import dumps


class _Format(Protocol):
    name: str

    def parser(self) -> TextParser: ...


def arguments_of(call: ToolCallIR) -> dict[str, JsonValue]:
    """Arguments of a call that can be written.

    Raises:
        LocalProtocolError: they are not an object, or could not be read.
    """
    if call.input is None and not (call.raw or "").strip():
        return {}
    if not isinstance(call.input, dict):
        raise LocalProtocolError(
            f"the arguments of {call.name!r} are not an object",
            hint="repair the arguments before they are written as text",
        )
    return call.input


def name_of(call: ToolCallIR, forbidden: str = "") -> str:
    """The name of a call that can be written.

    Raises:
        LocalProtocolError: it has none, or one with characters that the format cannot carry.
    """
    if not call.name or call.name != call.name.strip() or any(c in forbidden for c in call.name):
        raise LocalProtocolError(f"a call to {call.name!r} cannot be written in this format", hint="rename the tool")
    return call.name


def json_text(value: JsonValue) -> str:
    """JSON as chat templates write it: a blank after ``:`` and ``,``, and only required escapes.

    Raises:
        LocalProtocolError: the value is no JSON value, or nested too deeply to write.
    """
    dumps(value)  # says what cannot be written
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise LocalProtocolError("a number that JSON cannot express", hint="JSON has no NaN or Infinity") from None


def result_text(result: ToolResultIR) -> str:
    """The text of a result. Raises LocalProtocolError for media, which no text format carries."""
    texts = [p.text for p in result.content if isinstance(p, Text)]
    if len(texts) != len(result.content):
        raise LocalProtocolError(
            "a tool result with content other than text", hint="text formats support only text in tool results"
        )
    return "\n".join(texts)


def attribute(name: str) -> str:
    """A name as an attribute value. Raises LocalProtocolError for characters that it cannot contain."""
    if not name or any(c in name for c in "\"'<>\n"):
        raise LocalProtocolError(f"the name {name!r} cannot be written in a tag", hint="rename the tool or parameter")
    return f'"{name}"'


def raw_or_json(value: JsonValue) -> str:
    """A string unchanged, other values as JSON."""
    return value if isinstance(value, str) else json_text(value)


def invokes(
    calls: Sequence[ToolCallIR], named: Callable[[str], str], render: Callable[[JsonValue], str], prefix: str = ""
) -> list[str]:
    """The lines of ``<invoke name=…>`` elements, a line for each tag and parameter."""
    lines = []
    for call in calls:
        lines.append(f"<{prefix}invoke name={named(name_of(call))}>")
        for key, value in arguments_of(call).items():
            lines.append(f"<{prefix}parameter name={named(key)}>{render(value)}</{prefix}parameter>")
        lines.append(f"</{prefix}invoke>")
    return lines


def unambiguous(
    text_format: _Format, text: str, calls: Sequence[ToolCallIR], render: Callable[[JsonValue], str]
) -> str:
    """The text, if it reads as exactly these calls: the formats have no escapes, so a value may break its own markup.

    Args:
        text_format: reads it; without tools every value is text.
        text: what would be written.
        calls: what it has to say.
        render: how a value is written.

    Raises:
        LocalProtocolError: a value or key holds what the format takes for markup.
    """
    parser = text_format.parser()
    found = [f for f in (*parser.feed(text), *parser.close()) if isinstance(f, TextCall)]
    expected = [(c.name, {k: render(v) for k, v in arguments_of(c).items()}) for c in calls]
    read = [(f.name, {k: render(v) for k, v in (f.input or {}).items()}) for f in found]
    if read != expected or any(f.problems for f in found):
        raise LocalProtocolError(
            f"{text_format.name} has no escape for its own tags, but an argument contains them",
            hint="send the call in a protocol with JSON arguments",
        )
    return text
