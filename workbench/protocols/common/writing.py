"""Complete responses written as streams, with the same writer as responses that are still arriving."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.ir import ModelResponse, Part, Reasoning, Text, ToolCallIR
from workbench.protocols import StreamWriter
from workbench.wire import dumps

Cut = Callable[[str], Iterable[str]]
"""Cuts a string into the pieces in which it is written."""


def write_stream(writer: StreamWriter, response: ModelResponse, cut: Cut = lambda text: (text,)) -> bytes:
    """Stream of an answer in normal form: one delta per string, or several if the string is divided."""
    pieces = []
    if response.messages or not response.error:
        pieces.append(writer.start(response))
    for number, message in enumerate(response.messages):
        pieces.append(writer.choice(number))
        pieces += (write_part(writer, part, cut) for part in message.parts)
    return b"".join((*pieces, writer.end(response)))


def write_part(writer: StreamWriter, part: Part, cut: Cut = lambda text: (text,)) -> bytes:
    """A part at once."""
    pieces = (writer.grow(piece) for piece in cut(string_of(part)) if piece)
    return b"".join((writer.open(part), *pieces, writer.close(part)))


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
