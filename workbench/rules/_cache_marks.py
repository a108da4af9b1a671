"""Where a request asks for a prompt to be cached."""

from __future__ import annotations

import re

from workbench.decode import Decoded

_MARK = re.compile(rb'(?<!\\)"(?:cache_control|cachePoint)"\s*:\s*\{')
_PLACE = re.compile(
    r"(?:/tools/\d+(?:/function)?|/toolConfig/tools/\d+|/system/\d+|/messages/\d+(?:/content/\d+){0,2})?"
    r"(?:/toolResult/content/\d+)?/(?:cache_control|cachePoint)"
)
_ORDER = ("/tools/", "/toolConfig/", "/system/", "")


def marks(decoded: Decoded) -> list[str]:
    """Pointers of every cache mark, in the order in which providers cache: tools, system, messages."""
    text = decoded.request_text
    if not _MARK.search(text):
        return []
    found = (decoded.request_index.pointer_at(m.start() + 1) for m in _MARK.finditer(text))
    places = dict.fromkeys(pointer for pointer in found if _PLACE.fullmatch(pointer))
    return sorted(places, key=lambda pointer: next(n for n, head in enumerate(_ORDER) if pointer.startswith(head)))
