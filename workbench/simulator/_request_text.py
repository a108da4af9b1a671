"""Parts of a request that a scripted model reads: the user's last text, the last results, the size.

Content that a scripted model recognises: codewords, quoted texts, the colour of a picture.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator, Sequence

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Media, ModelRequest, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.limits import BYTES_PER_TOKEN
from workbench.wire import dumps

SHOWN = 400
"""Most characters of a text that answers repeat."""

ERROR = regex.compile(r'\bError: |"(?:is_error"\s*:\s*true|error"\s*:)')
"""Marks a failed result, if the protocol has no error flag."""


def input_tokens(request: ModelRequest) -> int:
    """Estimated number of tokens of a request: texts, calls, results and tools."""
    texts = [str(part) if not isinstance(part, Text | Reasoning) else part.text or "" for part in _parts(request)]
    tools = [as_json({"name": t.name, "description": t.description, "schema": t.schema}) for t in request.tools]
    return tokens(texts) + tokens(tools) + 4 * len(request.messages)


def _parts(request: ModelRequest) -> Iterator[Part | str]:
    for part in (*request.system, *(p for m in request.messages for p in m.parts)):
        if isinstance(part, ToolResultIR):
            yield from part.content
        elif isinstance(part, ToolCallIR):
            yield f"{part.name}{part.raw if part.raw is not None else as_json(part.input)}"
        else:
            yield part


def tokens(texts: Iterator[str] | Sequence[str]) -> int:
    """Estimated number of tokens of some texts."""
    return sum(-(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN) for text in texts)


def user_words(request: ModelRequest) -> str:
    """The user's last text."""
    for message in reversed(request.messages):
        words = " ".join(p.text for p in message.parts if isinstance(p, Text)).strip()
        if words and message.role in ("user", "items"):
            return words
    return ""


def last_results(request: ModelRequest) -> list[ToolResultIR]:
    """Results after the last answer of the model."""
    found: list[ToolResultIR] = []
    for message in reversed(request.messages):
        if message.role in ("assistant", "model") or any(True for _ in message.tool_calls()):
            break
        found[:0] = [result for _, result in message.tool_results()]
    return found


def is_error(result: ToolResultIR) -> bool:
    """The result is an error."""
    return bool(result.is_error) or (result.is_error is None and bool(ERROR.search(result_text(result))))


def result_text(result: ToolResultIR) -> str:
    """Beginning of a result's text."""
    pictures = (colour(p) for p in result.content if isinstance(p, Media))
    texts = " ".join((*(p.text for p in result.content if isinstance(p, Text)), *pictures)).strip()
    return texts[:SHOWN] or "no text"


def as_json(value: JsonValue) -> str:
    """A value as JSON text; empty if it cannot be encoded."""
    try:
        return dumps(value).decode("utf-8", "surrogatepass")
    except LocalProtocolError:
        return ""


_CODEWORD = regex.compile(r"\bcodeword is ([\w-]+)")
_ASKED = regex.compile(r"\bWhat is the codeword\b", re.IGNORECASE)
_QUOTED = regex.compile(r"<text>(.*?)</text>", re.DOTALL)
_COLOURS = {b"\xff\0\0": "red", b"\0\xff\0": "green", b"\0\0\xff": "blue"}


def asks_codeword(words: str) -> bool:
    """The user only asks for the codeword."""
    return bool(_ASKED.search(words))


def codewords(request: ModelRequest) -> list[str]:
    """Every codeword in the request, in order."""
    parts = (*request.system, *(part for m in request.messages for part in m.parts))
    return list(dict.fromkeys(found for text in _texts(parts) for found in _CODEWORD.findall(text)))


def quoted_texts(words: str) -> list[str]:
    """Texts that are to be written verbatim."""
    return _QUOTED.findall(words)


def colour(media: Media) -> str:
    """Colour of the first pixel of an eight-bit RGB PNG without filters; empty if unknown."""
    try:
        data = base64.b64decode(media.data or "")
        start = data.index(b"IDAT")
        size = int.from_bytes(data[start - 4 : start])
        first = zlib.decompressobj().decompress(data[start + 4 : start + 4 + size], 4)
    except (ValueError, zlib.error):
        return ""
    return _COLOURS.get(bytes(first[1:4]), "")


def _texts(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text | Reasoning):
            yield part.text or ""
        elif isinstance(part, ToolResultIR):
            yield from _texts(part.content)
