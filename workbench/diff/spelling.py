"""Differences between two texts of the same JSON value: whitespace, key order, escapes, number spelling."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from workbench import regex

_TOKEN: Final = regex.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\],:]', re.DOTALL)
_KEY: Final = regex.compile(rb'("(?:[^"\\]|\\.)*")\s*:', re.DOTALL)

WHITESPACE, KEY_ORDER, ESCAPES, NUMBERS = "whitespace", "key order", "escapes", "number spelling"


def spellings(before: bytes, after: bytes) -> tuple[str, ...]:
    """Ways in which two texts of one value differ, most visible first; empty if the bytes are equal."""
    if before == after:
        return ()
    olds, news = _TOKEN.findall(before), _TOKEN.findall(after)
    found = []
    if Counter(_TOKEN.split(before)) != Counter(_TOKEN.split(after)):
        found.append(WHITESPACE)
    if _keys(before) != _keys(after):
        found.append(KEY_ORDER)
    found += [ESCAPES] if _tokens_starting(olds, b'"') != _tokens_starting(news, b'"') else []
    found += [NUMBERS] if _tokens_starting(olds, b"-0123456789") != _tokens_starting(news, b"-0123456789") else []
    return tuple(found)


def _keys(text: bytes) -> list[bytes]:
    from workbench.wire import dumps, loads

    return [dumps(loads(key)) for key in _KEY.findall(text)]


def _tokens_starting(tokens: list[bytes], firsts: bytes) -> Counter[bytes]:
    return Counter(token for token in tokens if token[0] in firsts)
