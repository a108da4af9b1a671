"""The text of a request is well-formed Unicode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from workbench import regex
from workbench.contracts import Breaks, Finding, Severity
from workbench.protocols import REQUEST
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote

ENCODING = Rule("args.encoding", Severity.ERROR, "The text is not well-formed Unicode.", breaks=Breaks.CONVERSATION)

RULES = (ENCODING,)

MOST = 100
"""Damaged characters looked at in one body."""

_ESCAPE = regex.compile(
    rb"\\(?:u([dD][89abAB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|u([dD][c-fC-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_MAYBE = regex.compile(rb"\\u[dD][89a-fA-F]")


def check(case: RuleContext) -> Iterator[Finding]:
    """Half characters in the request: lone surrogate escapes, and bytes that are no UTF-8."""
    if (case.request is None and case.decoded.protocol is None) or not case.decoded.request_has(_is_damaged):
        return
    text = case.decoded.request_text
    reported: set[str] = set()
    for offset, what in islice(_damaged_places(text), MOST):
        pointer = case.decoded.request_index.pointer_at(offset)
        if pointer not in reported:
            reported.add(pointer)
            message = (
                f"the text contains {what}, which is not a character; providers refuse such bodies as invalid JSON"
            )
            around = text[max(0, offset - 30) : offset + 12].decode("utf-8", "replace")
            seen, values = f"at byte {offset}: {quote(around)}", _where(text, offset)
            yield case.finding(ENCODING, REQUEST, pointer, message, evidence=seen, values=values)


def _where(text: bytes, offset: int) -> dict[str, str]:
    """Line and column from one, character from zero, as parsers say it."""
    before = text[:offset].decode("utf-8", "replace")
    line = before.rpartition("\n")[2]
    return {"line": str(before.count("\n") + 1), "column": str(len(line) + 1), "char": str(len(before))}


def _is_damaged(text: bytes) -> bool:
    return any(True for _ in _damaged_places(text))


def _damaged_places(text: bytes) -> Iterator[tuple[int, str]]:
    if _MAYBE.search(text):
        for match in _ESCAPE.finditer(text):
            high, low, lone = match.groups()
            if (high and not low) or lone:
                yield match.start(), f"lone surrogate (\\u{(high or lone).decode()})"
    if text.isascii():
        return
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        yield error.start, f"bytes that are not UTF-8 ({text[error.start : error.end].hex(' ')})"
