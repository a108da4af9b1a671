"""Whole answers as streams, through the writer that writes those which are still arriving."""

from __future__ import annotations

from workbench.adapters import StreamWriter
from workbench.ir import ModelResponse, Part, Reasoning, Text, ToolCallIR
from workbench.wire.jsontext import dumps


def write_stream(writer: StreamWriter, response: ModelResponse) -> bytes:
    """The stream of an answer in normal form; one piece for each string."""
    pieces = []
    if response.messages or not response.error:
        pieces.append(writer.start(response))
    for number, message in enumerate(response.messages):
        pieces.append(writer.choice(number))
        pieces += (write_part(writer, part) for part in message.parts)
    return b"".join((*pieces, writer.end(response)))


def write_part(writer: StreamWriter, part: Part) -> bytes:
    """A part at once."""
    text = string_of(part)
    return b"".join((writer.open(part), writer.grow(text) if text else b"", writer.close(part)))


def string_of(part: Part) -> str:
    """The string of a part that grows in a stream: its text, or the arguments of a call."""
    if isinstance(part, Text | Reasoning):
        return part.text or ""
    if not isinstance(part, ToolCallIR):
        return ""
    if part.raw is not None:
        return part.raw
    if part.format.endswith("custom") or part.input is None:
        return "" if part.input is None else str(part.input)
    return dumps(part.input).decode("utf-8", "surrogatepass")
