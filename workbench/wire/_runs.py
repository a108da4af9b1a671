"""Finds the element spans of long object lists in a JSON object, which requests repeat."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

from workbench import regex
from workbench.wire.json_strings import decode

_MEMBER: Final = regex.compile(rb'[ \t\r\n]*[{,][ \t\r\n]*"((?:[^"\\]|\\.)*+)"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_WHITE: Final = b" \t\r\n"
Span = tuple[int, int]


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
    found = list[ObjectList]()
    for key, spans in _lists(text) or ():
        if spans and all(text.startswith(b"{", start) for start, _ in spans):
            found.append(ObjectList(key, tuple(spans)))
    return found


def list_spans(text: bytes, keys: Collection[str]) -> list[Span] | None:
    """Ranges of the elements of these lists in an object, in order; None if they need the full parser."""
    lists = _lists(text)
    return None if lists is None else [span for key, spans in lists if key in keys for span in spans]


def _lists(text: bytes) -> list[tuple[str, list[Span]]] | None:
    """Members of an object that are lists, with the ranges of their elements."""
    from msgspec import MsgspecError, Raw
    from msgspec.json import decode as fast

    found, at = list[tuple[str, list[Span]]](), 0
    try:
        for raw in fast(text, type=dict[str, Raw]).values():
            lead, value = _MEMBER.match(text, at), bytes(raw)
            if lead is None or not text.startswith(value, lead.end()):
                return None
            at = lead.end() + len(value)
            if value.startswith(b"["):
                found.append((decode(lead[1]), list(_elements(text, lead.end() + 1, fast(value, type=list[Raw])))))
    except (MsgspecError, ValueError, RecursionError):
        return None
    return found if text[at:].strip(_WHITE) == b"}" else None


def _elements(text: bytes, at: int, elements: Sequence[Any]) -> Iterator[Span]:
    for raw in elements:
        element = bytes(raw)
        start = text.index(element[:1], at)  # only blanks and a comma are before it
        at = start + len(element)
        yield start, at
