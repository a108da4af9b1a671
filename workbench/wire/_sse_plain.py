"""Fast path for a whole event stream with one kind of line end: one regular expression, one match per block."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from workbench.limits import MAX_SSE_LINE
from workbench.wire._sse_block import SseBlock, SseEvent

BOM: Final = b"\xef\xbb\xbf"


class _Names(dict[bytes | None, str | None]):
    """Cache of event names by their bytes: a stream repeats a handful."""

    def __missing__(self, raw: bytes) -> str:
        name = self[raw] = raw.decode("utf-8", "replace")
        return name


@cache
def _blocks(end: bytes) -> re.Pattern[bytes]:
    """Pattern of a block and its blank lines: usual blocks as groups 1 (event) and 2 (data), others as group 3."""
    byte = rb"[^\r]" if end == b"\r\n" else rb"[^\n]"  # one excluded byte is three times as fast as two
    usual = rb"(?:event: ?+(" + byte + rb"*+)" + end + rb")?data: ?+(" + byte + rb"*+)" + end
    other = rb"((?:" + byte + rb"++" + end + rb")++)"
    return re.compile(rb"(?:" + usual + rb"|" + other + rb")(?:" + end + rb")++")


def plain_events(body: bytes, *, number: int = 0, base: int = 0) -> tuple[list[SseEvent], int]:
    """Blocks from the start of a body part that begins between blocks.

    Args:
        body: the body, or the part after ``base`` bytes of it.
        number: of the first block.
        base: offset of the part in the body.

    Returns:
        The blocks, and the number of bytes consumed; the careful reader continues there (0: at the start).
    """
    line_end = _line_end(body)
    last = body.rfind(line_end * 2) if line_end and len(body) <= MAX_SSE_LINE else -1
    at = len(BOM) if base == 0 and body.startswith(BOM) else 0
    while line_end and body.startswith(line_end, at):
        at += len(line_end)
    if last < at:
        return [], 0
    events: list[SseEvent] = []
    add, new, names = events.append, tuple.__new__, _Names({None: None})
    for n, found in enumerate(_blocks(line_end).finditer(body, at, last + 2 * len(line_end)), number):
        name, data, other = found.groups()
        if other is None:
            start, end = found.span(2)
            span = (base + start, base + end)
            add(new(SseEvent, (n, names[name], data, base + found.start(), span[1], (span,), None, None, (), True, ())))
        else:
            add(_careful(body, found.span(3), line_end, base).event(n, terminated=True))
    return events, last + 2 * len(line_end)


def _line_end(body: bytes) -> bytes:
    """Line end used by all lines; empty if they differ."""
    returns = body.count(b"\r")
    if not returns:
        return b"\n"
    return b"\r\n" if returns == body.count(b"\n") == body.count(b"\r\n") else b""


def _careful(body: bytes, span: tuple[int, int], line_end: bytes, base: int) -> SseBlock:
    at, stop = span
    block = SseBlock(base + at)
    while at < stop:
        end = body.index(line_end, at)
        block.add(body[at:end], base + at, base + end)
        at = end + len(line_end)
    return block
