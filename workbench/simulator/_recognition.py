"""Content that a scripted model recognises: codewords, quoted texts, the colour of a picture."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator

from workbench import regex
from workbench.ir import Media, ModelRequest, Part, Reasoning, Text, ToolResultIR

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
