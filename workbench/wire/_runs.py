"""Finds the element spans of long object lists in a JSON object, which requests repeat."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from workbench import regex
from workbench.wire.json_strings import decode

_MEMBER: Final = regex.compile(rb'[ \t\r\n]*[{,][ \t\r\n]*"((?:[^"\\]|\\.)*+)"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_WHITE: Final = b" \t\r\n"


class ObjectList(NamedTuple):
    """A list with only objects. ``key``: as written; ``spans``: byte ranges of the elements."""

    key: str
    spans: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        """Start of the first element."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """End of the last element."""
        return self.spans[-1][1]


def runs(text: bytes) -> list[ObjectList]:
    """Members of an object that are non-empty lists of objects, in order.

    Empty if they need the full parser (not an object, a repeated key). The elements are only scanned.
    """
    from msgspec import MsgspecError, Raw
    from msgspec.json import decode as fast

    try:
        members = fast(text, type=dict[str, Raw])
        found, at = list[ObjectList](), 0
        for raw in members.values():
            lead, value = _MEMBER.match(text, at), bytes(raw)
            if lead is None or not text.startswith(value, lead.end()):
                return []
            at = lead.end() + len(value)
            if value.startswith(b"["):
                spans = _objects(text, lead.end(), list(map(bytes, fast(value, type=list[Raw]))))
                found += [ObjectList(decode(lead[1]), spans)] if spans else []
    except (MsgspecError, ValueError, RecursionError):
        return []
    return found if text[at:].strip(_WHITE) == b"}" else []


def _objects(text: bytes, at: int, elements: list[bytes]) -> tuple[tuple[int, int], ...]:
    spans = list[tuple[int, int]]()
    for element in elements:
        if not element.startswith(b"{"):
            return ()
        start = text.index(b"{", at)
        at = start + len(element)
        spans.append((start, at))
    return tuple(spans)
