"""How two texts of the same JSON value differ: whitespace, key order, escapes, number spelling."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\],:]', re.DOTALL)
_KEY: Final = re.compile(rb'("(?:[^"\\]|\\.)*")\s*:', re.DOTALL)

WHITESPACE, KEY_ORDER, ESCAPES, NUMBERS = "whitespace", "key order", "escapes", "number spelling"


def spellings(before: bytes, after: bytes) -> tuple[str, ...]:
    """In what two texts of one value differ, most visible first; empty where they are the same bytes."""
    if before == after:
        return ()
    olds, news = _TOKEN.findall(before), _TOKEN.findall(after)
    found = []
    if Counter(_TOKEN.split(before)) != Counter(_TOKEN.split(after)):
        found.append(WHITESPACE)
    if _keys(before) != _keys(after):
        found.append(KEY_ORDER)
    found += [ESCAPES] if _of(olds, b'"') != _of(news, b'"') else []
    found += [NUMBERS] if _of(olds, b"-0123456789") != _of(news, b"-0123456789") else []
    return tuple(found)


def _keys(text: bytes) -> list[bytes]:
    from workbench.wire import dumps, loads

    return [dumps(loads(key)) for key in _KEY.findall(text)]


def _of(tokens: list[bytes], firsts: bytes) -> Counter[bytes]:
    return Counter(token for token in tokens if token[0] in firsts)
