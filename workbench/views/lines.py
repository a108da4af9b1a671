"""Lines as plain values: a line is spans of untrusted text, each with the name of a style.

Views build lines; the app paints them, the command line prints their text. Style names are words of one table; they
are joined with spaces if several apply ("string lit").

Lines of a conversion: each loss, and each renamed id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from workbench import regex
from workbench.limits import SNIPPET
from workbench.safetext import clip

if TYPE_CHECKING:
    from workbench.convert import Loss


STYLES = (
    "muted", "strong", "accent", "key", "string", "number", "word",
    "error", "warning", "info", "ok",
    "call", "result", "reasoning", "role", "form",
    "lit", "block", "related", "broken", "doubtful", "match", "here", "cursor", "cursor-blurred", "tab",
)  # fmt: skip

LINK = "link:"
"""Begins a style name that makes its text a link to the address that follows; only for addresses of our own data."""

ADDRESS = regex.compile(r"https?://[!-~]+?(?=[.,;:)\]']*(?:\s|$))")
"""An address in a text, without the punctuation behind it."""

JSON_GAPS = (',"', ",{", ",[", ',\\"')
"""Where text without spaces is broken over lines: behind the commas of compact JSON."""


class Span(NamedTuple):
    """A piece of a line.

    Attributes:
        text: untrusted text; it is made safe when it is painted.
        style: names of ``STYLES``, joined by spaces; also ``LINK`` with an address.
        width: columns to fill exactly: padded on the right, on the left when negative; 0 for as many as the text takes.
        is_bytes: the text comes from ``safetext.from_bytes``.
    """

    text: str
    style: str = ""
    width: int = 0
    is_bytes: bool = False


Line = tuple[Span, ...]
BLANK: Line = ()


def line(*spans: Span | str) -> Line:
    """A line of spans; a plain string is a span without style."""
    return tuple(Span(s) if isinstance(s, str) else s for s in spans)


def behind(head: Line, more: Line, width: int) -> Line:
    """Add words to a line, which is cut if both do not fit; it keeps at least half of the width."""
    from workbench.safetext import cells, clip, visible

    room = max(width // 2, width - 2 - sum(cells(visible(span.text)) for span in more))
    spans: list[Span] = []
    for span in head:
        columns = abs(span.width) or cells(visible(span.text[: room + 1]))
        spans.append(span if columns <= room else Span(clip(span.text, room), span.style))
        room -= columns
        if room <= 0:
            break
    return (*spans, Span("  "), *more)


MOST_EMPTY = 30
"""Columns at the end of a line that are left empty rather than a fact is cut, at most."""


def whole_facts(of: Line, width: int, most_empty: int = MOST_EMPTY) -> Line:
    """A line of facts, without its last ones if not all fit: a fact is not cut in its middle.

    Facts are separated by `` · `` or two spaces. A fact that would leave much of the line empty is cut when painted.
    """
    from workbench.safetext import cells, visible

    text = plain(of).rstrip()
    if any(span.width for span in of) or cells(visible(text)) <= width:
        return of
    text = visible(text)[: width - 1]
    end = max(text.rfind(" · "), text.rfind("  "))
    if end < max(width // 2, width - most_empty):
        return of
    return (*_beginning(of, len(text[:end].rstrip())), Span(" …", "muted"))


MOST_UNUSED = 16
"""Columns at the end of a row of a list that are left empty rather than a fact is cut, at most."""


LONG = 4
"""Widths of a row from which on what it holds is a text, cut wherever the row ends."""


def whole_tail(of: Line, width: int) -> Line:
    """A row of a list: what follows its columns without its last facts, if not all fit."""
    start = next((n for n in range(len(of), 0, -1) if of[n - 1].width), 0)
    room = width - line_columns(of[:start])
    is_long = sum(len(span.text) for span in of[start:]) > LONG * width  # text, not facts
    if room <= MOST_UNUSED or is_long or line_columns(of[start:]) <= room:
        return of
    return (*of[:start], *whole_facts(of[start:], room, MOST_UNUSED))


def strip_ends(of: Line) -> Line:
    """A line without blanks at its beginning and its end."""
    spans = list(of)
    while spans and not (text := spans[0].text.lstrip()):
        del spans[0]
    if spans:
        spans[0] = spans[0]._replace(text=text)
    while spans and not (text := spans[-1].text.rstrip()):
        del spans[-1]
    if spans:
        spans[-1] = spans[-1]._replace(text=text)
    return tuple(spans)


def _beginning(of: Line, size: int) -> Iterator[Span]:
    """The first characters of a line."""
    for span in of:
        yield span._replace(text=span.text[:size])
        size -= len(span.text)
        if size <= 0:
            return


def plain(of: Line) -> str:
    """The text of a line, untrusted."""
    return "".join(span.text for span in of)


def column_text(of: Line) -> str:
    """The text of a line with its columns padded, for output without styles; untrusted."""
    from workbench.safetext import cells, visible

    parts = []
    for span in of:
        room = " " * max(0, abs(span.width) - cells(visible(span.text)))
        parts.append(room + span.text if span.width < 0 else span.text + room)
    return "".join(parts).rstrip()


def mark_matches(of: Line, needle: re.Pattern[str], style: str) -> Line:
    """Add a style to everything in a line that matches, also across spans."""
    found = [m.span() for m in needle.finditer(plain(of)) if m.end() > m.start()]
    spans: list[Span] = []
    at = 0
    for span in of:
        inside = [(max(a - at, 0), min(b - at, len(span.text))) for a, b in found if b > at and a < at + len(span.text)]
        spans += _cut(span, inside, style) if inside else [span]
        at += len(span.text)
    return tuple(spans)


def _cut(span: Span, found: list[tuple[int, int]], style: str) -> list[Span]:
    """The pieces of a span. One of a fixed width is not split: painting cuts or pads it at its end."""
    both = f"{span.style} {style}".strip()
    if span.width:
        return [span._replace(style=both)]
    edges = sorted({0, len(span.text), *(edge for pair in found for edge in pair)})
    return [
        span._replace(text=span.text[a:b], style=both if any(x <= a < y for x, y in found) else span.style)
        for a, b in pairwise(edges)
    ]


def link_addresses(lines: Iterable[Line], text: str) -> list[Line]:
    """Wrapped lines of a text of our own, with its addresses as links, also those that are broken over lines."""
    found = [(m.start(), m.end(), m[0]) for m in ADDRESS.finditer(text)]
    if not found:
        return list(lines)
    at, result = 0, []
    for each in lines:
        spans: list[Span] = []
        for span in each:
            if span.text.isspace():
                spans.append(span)
                continue
            pieces: list[tuple[str, str]] = []
            for char in span.text:
                if not char.isspace():
                    at = text.find(char, at) + 1 or len(text)
                address = next((where for start, end, where in found if start < at <= end), "")
                if pieces and pieces[-1][1] == address:
                    pieces[-1] = (pieces[-1][0] + char, address)
                else:
                    pieces.append((char, address))
            spans += [
                span._replace(text=words, style=f"{span.style} {LINK}{address}".strip() if address else span.style)
                for words, address in pieces
            ]
        result.append(tuple(spans))
    return result


def wrap(text: str, width: int, style: str = "", *, indent: int = 0, most: int = 1000) -> list[Line]:
    """Untrusted text as lines of at most ``width`` columns, broken at its own line ends, then at spaces and commas.

    Args:
        text: text of any size; only ``most`` lines of it are read.
        width: columns, indent included.
        style: style of the whole text.
        indent: columns before each line.
        most: maximum number of lines; if there are more, the last line says so.
    """
    from workbench.safetext import cells

    room = max(8, width - indent)
    margin = (Span(" " * indent),) if indent else ()
    lines: list[Line] = []
    start = 0
    while start < len(text) and len(lines) < most:
        stop = text.find("\n", start, start + room + 1)
        piece = text[start : start + room] if stop < 0 else text[start:stop]
        while cells(piece) > room:
            piece = piece[: -max(1, (cells(piece) - room) // 8)]
        after = start + len(piece)
        if after < len(text) and text[after] not in "\n ":
            half = start + room // 3 + 1
            gap = max(text.rfind(" ", half, after), *(text.rfind(pair, half, after + 1) for pair in JSON_GAPS))
            if gap < 0:
                gap = _gap_before_word(text, start, half, room)
            if gap >= 0:
                after = gap + (text[gap] != " ")
                piece = text[start:after]
        start = after + (after < len(text) and text[after] in "\n ")
        lines.append((*margin, Span(piece, style)))
    if start < len(text):
        lines.append((*margin, Span(f"… {len(text) - start:,} more characters", "muted")))
    return lines


def _gap_before_word(text: str, start: int, end: int, room: int) -> int:
    """The last space after a word in a range, if the word behind it, such as an address, fits into a line; else -1."""
    space = text.rfind(" ", start + 1, end)
    if space < 0 or text[start:space].isspace():
        return -1
    word = text[space + 1 : space + room + 2].partition(" ")[0].partition("\n")[0]
    return space if len(word) <= room else -1


SIGN = "! "
"""A sign in front of a line, below which nothing continues."""


def hang(of: Line, width: int, *, most: int = 6) -> list[Line]:
    """A line that is too long as several: what follows its columns is broken, and continues below its beginning.

    Columns are the spans up to the last one of a fixed width; without one, up to the first that ends with a gap. Where
    they take more than half of the width, only a sign in front is one; a line without fixed widths then continues a
    little to the right.
    """
    start = next((n for n in range(len(of), 0, -1) if of[n - 1].width), 0)
    start = start or next((n for n, span in enumerate(of, 1) if span.text.endswith("  ") and span.text.strip()), 0)
    has_sign = len(of) > 1 and len(of[0].text) == len(SIGN) and of[0].text.endswith(" ")
    if has_sign and (not start or line_columns(of[:start]) > width // 2):
        start = 1
    while start < len(of) and of[start].text.isspace():
        start += 1
    indent, rest = line_columns(of[:start]), of[start:]
    if indent > width // 2 and not any(span.width for span in of):
        start, indent, rest = 0, len(SIGN), of
    text, at, lines = plain(rest), 0, list[Line]()
    if not text or indent > width // 2:
        return [of]
    for row in wrap(text, width, indent=indent, most=most):
        is_part = not row[-1].style
        begin = text.find(row[-1].text, at) if is_part else at
        end = begin + len(row[-1].text) if is_part else at
        before = (Span(" " * indent),) if lines else of[:start]
        lines.append((*before, *_between(rest, begin, end)) if is_part else row)
        at = end
    return lines


def line_columns(of: Line) -> int:
    """Columns that a line takes, the room of its columns included."""
    from workbench.safetext import cells, visible

    return sum(abs(span.width) or cells(visible(span.text)) for span in of)


def is_longer(of: Line, width: int) -> bool:
    """True if a line takes more columns than there are."""
    return line_columns(of) > width


def _between(of: Line, start: int, end: int) -> Iterator[Span]:
    """The characters of a line from one to before another."""
    for span in of:
        piece = span.text[max(0, start) : max(0, end)]
        if piece:
            yield span._replace(text=piece)
        start, end = start - len(span.text), end - len(span.text)


def join_lines(parts: Iterable[Line], between: Span) -> Line:
    """Put lines one after the other on one line, with a span between."""
    out: list[Span] = []
    for part in parts:
        if part:
            out += [between, *part] if out else part
    return tuple(out)


def loss_line(loss: Loss) -> Line:
    """A loss in one line."""
    return line(Span("! ", "warning"), Span(loss.what, "strong"), Span(f"  {loss.pointer or 'whole body'}", "muted"))


def id_line(new: str, old: str | None) -> Line:
    """A renamed id: new and old."""
    was = (
        line(Span("had no id; the new id is derived from the position of the call", "muted"))
        if old is None
        else line(Span(f"was {old}", "muted"))
    )
    return (Span("= ", "info"), Span(new, "strong"), Span("  "), *was)


def loss_words(loss: Loss) -> str:
    """Place, loss and replacement in one line of text."""
    what, instead = (clip(text, SNIPPET) for text in (loss.what, loss.instead))
    return f"{loss.pointer or 'the whole'}  {what}: {instead}"
