"""Where the elements of the long lists of a JSON object stand: what a request repeats of those before it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from workbench.wire.json_strings import decode

_MEMBER: Final = re.compile(rb'[ \t\r\n]*[{,][ \t\r\n]*"((?:[^"\\]|\\.)*+)"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_WHITE: Final = b" \t\r\n"


class Run(NamedTuple):
    """The elements of a list that holds objects alone. ``key``: of the list, as it is written; ``spans``: of bytes."""

    key: str
    spans: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        """Where the first begins."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where the last ends."""
        return self.spans[-1][1]


def runs(text: bytes) -> list[Run]:
    """The lists of objects, none of them empty, that are members of the object which a text is, in order.

    None of it where it takes more care to find them: no object, a key twice. The elements are no more than scanned.
    """
    from msgspec import MsgspecError, Raw
    from msgspec.json import decode as fast

    try:
        members = fast(text, type=dict[str, Raw])
        found, at = list[Run](), 0
        for raw in members.values():
            lead, value = _MEMBER.match(text, at), bytes(raw)
            if lead is None or not text.startswith(value, lead.end()):
                return []
            at = lead.end() + len(value)
            if value.startswith(b"["):
                spans = _objects(text, lead.end(), list(map(bytes, fast(value, type=list[Raw]))))
                found += [Run(decode(lead[1]), spans)] if spans else []
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
