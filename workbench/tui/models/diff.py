"""Lines of the diff screen: what changed from one request of a conversation to the next, in meaning and in bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from workbench.diff import Difference, Hunk, ItemChange, ItemChangeKind, common
from workbench.safetext import clip, from_bytes
from workbench.tui.models.rows import LaidOut, fold_text
from workbench.tui.models.rowtable import StyledSpans, is_json
from workbench.views import Line, Span, byte_range, count, line, line_columns, plain, size, wrap
from workbench.wire import JsonIndex, dumps, loads

if TYPE_CHECKING:
    from workbench.ir import JsonValue

SIGNS = {
    ItemChangeKind.ADDED: ("+", "ok"),
    ItemChangeKind.REMOVED: ("-", "error"),
    ItemChangeKind.CHANGED: ("~", "warning"),
    ItemChangeKind.MOVED: (">", "warning"),
    ItemChangeKind.RESPELLED: ("=", "info"),
}
"""Kind of a change → its sign and style; its word is shown next to it."""

CONTEXT = 32
"""Bytes shown on either side of a difference."""

MOST_ROWS = 60
"""Rows of one range of bytes that are shown."""

_BACK = {"error": "broken", "ok": "related"}
"""Style of a side → background of the bytes that differ."""

_AT_ONCE = 256

_SEPARATORS = b", \r\n\t"

BRIEF = 16
"""Characters of each side of a change that is told in a line: at 80 columns both sides fit."""

MOST_TOLD = 20_000
"""Bytes of an element of which a line says what is in it, at most."""

MOST_SHOWN = 600
"""Characters of a value shown on either side."""


class RequestComparison(NamedTuple):
    """Two requests. ``before`` and ``after`` are indexes of exchanges."""

    before: int
    after: int
    difference: Difference
    is_same_conversation: bool = True


def title(compared: RequestComparison) -> list[Line]:
    """Numbers of both requests, the share of unchanged bytes, and if the history was kept."""
    found = compared.difference
    which = f" Request {compared.after + 1} compared with request {compared.before + 1}"
    begins = "" if compared.is_same_conversation else " · new conversation, same model"
    lengths = f" · {size(len(found.before))} → {size(len(found.after))}"
    first = line(Span(which, "strong"), Span(begins, "warning"))
    return [first, line(Span(" "), *verdict(found), Span(lengths, "muted"))]


def verdict(difference: Difference) -> Line:
    """The first difference, and the kind of request compared with the previous one."""
    if difference.first is None:
        return line(Span("= identical: sent again unchanged", "info"))
    share = f" · {int(difference.unchanged_share * 100)} % of the bytes unchanged"
    if not difference.is_read:
        return line(f"first difference at byte {difference.first:,}", Span(share, "muted"))
    earlier = [c for c in difference.changes if not is_new_turn(difference, c)]
    if not earlier:
        words = count(len(difference.changes), "message")
        return line(Span(f"✓ history kept; {words} added at the end", "ok"), Span(share, "muted"))
    if {c.kind for c in earlier} == {ItemChangeKind.RESPELLED}:
        words = f"= same meaning, different bytes from byte {difference.first:,} on"
        return line(Span(words, "info"), Span(share, "muted"))
    words = f"~ {count(len(earlier), 'change')} to the earlier request · first at byte {difference.first:,}"
    return line(Span(words, "warning"), Span(share, "muted"))


def is_new_turn(difference: Difference, change: ItemChange) -> bool:
    """True for an element added at the end of a list of messages: the normal growth of a conversation."""
    if change.kind is not ItemChangeKind.ADDED or change.after is None:
        return False
    parent, _, step = change.after.rpartition("/")
    if not step.isdecimal() or parent == "/tools":
        return False
    later = int(step)
    return all(
        c.kind is ItemChangeKind.ADDED
        for c in difference.changes
        if c.after and c.after.rpartition("/")[0] == parent and int(c.after.rpartition("/")[2]) > later
    )


def sorted_changes(difference: Difference) -> tuple[ItemChange, ...]:
    """Changes of earlier content first, then the new turns."""
    return tuple(sorted(difference.changes, key=lambda c: is_new_turn(difference, c)))


def change_line(change: ItemChange) -> Line:
    """A change in one line."""
    sign, style = SIGNS[change.kind]
    where = change.after or change.before or ""
    words = ", ".join(change.spelling)
    if change.kind is ItemChangeKind.MOVED:
        words = f"was {change.before}"
    elif change.details:
        words = detail_words(change.details[0].before, change.details[0].after, change.details[0].kind)
    return line(
        Span(f"{sign} {change.kind} ", style, 13),
        Span(change.label, "strong"),
        Span(f"  {where}", "muted"),
        Span(f"  {words}" if words else ""),
    )


def closed_line(change: ItemChange, places: Places, width: int) -> Line:
    """A change in one line; an added or removed element with the texts in it, as far as there is room."""
    own = change_line(change)
    room = width - line_columns(own)
    if change.kind not in (ItemChangeKind.ADDED, ItemChangeKind.REMOVED) or room < BRIEF:
        return own
    data = places.bytes_of(change)
    words = " · ".join(_texts(loads(data), change.label)) if len(data) <= MOST_TOLD else ""
    return (*own, Span(f"  {clip(words, room - 2)}", "muted")) if words else own


def _texts(value: JsonValue, label: str) -> Iterator[str]:
    """Every text in a value that is not its label."""
    if isinstance(value, str):
        if value != label and value.strip():
            yield " ".join(value.split())
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner, label)


def detail_words(before: JsonValue, after: JsonValue, kind: ItemChangeKind) -> str:
    """A difference in a few words."""
    if kind is ItemChangeKind.ADDED:
        return "added"
    if kind is ItemChangeKind.REMOVED:
        return "removed"
    if isinstance(before, str) and isinstance(after, str):
        at = common(before, after)
        return f"{len(before):,} → {len(after):,} characters, from character {at:,}"
    return f"{short(before, BRIEF)} → {short(after, BRIEF)}"


def short(value: JsonValue, most: int = 40) -> str:
    """The beginning of a value as JSON."""
    text = from_bytes(dumps(value))
    return text if len(text) <= most else f"{text[:most]}…"


def change_body(change: ItemChange, places: Places, width: int) -> list[Line]:
    """Details of a change; for an added or removed element its beginning."""
    if change.kind in (ItemChangeKind.ADDED, ItemChangeKind.REMOVED):
        _, style = SIGNS[change.kind]
        return wrap(fold_text(places.bytes_of(change), MOST_SHOWN), width, style, indent=4, most=8)
    lines: list[Line] = []
    for detail in change.details:
        sign, style = SIGNS[detail.kind]
        lines.append(line(Span(f"  {sign} ", style), Span(detail.pointer, "muted")))
        if detail.kind is not ItemChangeKind.ADDED:
            lines += wrap(f"- {excerpt(detail.before, detail.after)}", width, "error", indent=4, most=8)
        if detail.kind is not ItemChangeKind.REMOVED:
            lines += wrap(f"+ {excerpt(detail.after, detail.before)}", width, "ok", indent=4, most=8)
    return lines


def excerpt(value: JsonValue, other: JsonValue) -> str:
    """A value as JSON; of a long text, the part around the first difference from another."""
    if isinstance(value, str) and isinstance(other, str):
        at = common(value, other)
        start = max(0, at - CONTEXT)
        value = value[start : start + MOST_SHOWN]
        return ("…" if start else "") + from_bytes(dumps(value))
    return short(value, MOST_SHOWN)


def hunk_line(hunk: Hunk, where: str) -> Line:
    """A range of bytes that differs, in one line."""
    old, new = hunk.before[1] - hunk.before[0], hunk.after[1] - hunk.after[0]
    return line(
        Span(byte_range((hunk.after,)) if new else f"at byte {hunk.after[0]:,}", "strong"),
        Span(f"  -{old:,} +{new:,}"),
        Span(f"  {where}", "muted"),
    )


class Sides:
    """Both bodies of a difference, laid out for one width; rows are made as far as they are needed."""

    def __init__(self, difference: Difference, width: int) -> None:
        self.found, self.width = difference, width
        room = max(16, width - 4)
        self._sides = tuple(
            LaidOut(body, room, is_json=is_json(body)) for body in (difference.before, difference.after)
        )

    def lines(self, hunk: Hunk, around: int = 1) -> list[Line]:
        """The bytes of a range on either side, with rows above and below."""
        before, after = self._sides
        return one_below_the_other(
            range_rows(before, hunk.before, "- ", "error", around, is_alone=hunk.after[0] == hunk.after[1]),
            range_rows(after, hunk.after, "+ ", "ok", around, is_alone=hunk.before[0] == hunk.before[1]),
        )


class RangeRows(NamedTuple):
    """Laid-out rows of a range of bytes, and those above and below it."""

    above: Sequence[Line] = ()
    inside: Sequence[Line] = ()
    below: Sequence[Line] = ()


def range_rows(
    rows: LaidOut, span: tuple[int, int], sign: str, style: str, around: int = 1, *, is_alone: bool = False
) -> RangeRows:
    """The laid-out rows of a range of bytes, with rows above and below.

    Args:
        is_alone: nothing differs on the other side: a first row of which only the end differs, a comma, is not new.
    """
    start, end = span
    while rows.known_bytes <= end and not rows.extend(_AT_ONCE):
        pass
    if not rows.body or start == end:
        return RangeRows()
    rows.extend(around)
    first, last = rows.row_at(start), rows.row_at(end - 1)
    if is_alone and first < last and not rows.body[start : rows.bounds(first)[1]].strip(_SEPARATORS):
        first += 1
    marks = (StyledSpans(f"{style} {_BACK[style]}", (span,)),)

    def lines_of(start: int, end: int, sign: str) -> list[Line]:
        return [line(Span(f"  {sign}", style), *rows.line(row, marks)) for row in range(start, end)]

    above = lines_of(max(0, first - around), first, "  ")
    inside = lines_of(first, min(last + 1, first + MOST_ROWS), sign)
    if last + 1 > first + MOST_ROWS:
        return RangeRows(above, [*inside, line(Span(f"    … {last + 1 - first - MOST_ROWS:,} more rows", "muted"))])
    return RangeRows(above, inside, lines_of(last + 1, min(len(rows), last + 1 + around), "  "))


def one_below_the_other(old: RangeRows, new: RangeRows) -> list[Line]:
    """Both sides of a difference; rows around it that are the same on both sides are shown once."""
    if not old.inside or not new.inside:
        return [*chain(*old, *new)]
    same_above, same_below = _is_same(old.above, new.above), _is_same(old.below, new.below)
    return [
        *old.above,
        *old.inside,
        *(() if same_below else old.below),
        *(() if same_above else new.above),
        *new.inside,
        *new.below,
    ]


def _is_same(old: Sequence[Line], new: Sequence[Line]) -> bool:
    return [*map(plain, old)] == [*map(plain, new)]


class Places:
    """Maps changes to ranges of bytes and back."""

    def __init__(self, difference: Difference) -> None:
        self._before, self._index = JsonIndex(difference.before), JsonIndex(difference.after)
        self._hunks = difference.hunks
        self._starts = [hunk.after[0] for hunk in difference.hunks]

    def bytes_of(self, change: ItemChange) -> bytes:
        """The bytes of an item in the second body, or in the first if it was removed."""
        index, pointer = (self._before, change.before) if change.after is None else (self._index, change.after)
        span = index.span(pointer or "")
        return index.text[slice(*span)] if span else b""

    def pointer_of(self, hunk: Hunk) -> str:
        """Pointer of the value in the second body that contains a range."""
        return self._index.pointer_at(hunk.after[0])

    def hunk_of(self, change: ItemChange) -> int | None:
        """The first range that belongs to a change."""
        span = self._index.span(change.after) if change.after else None
        if span is None or not self._hunks:
            return None
        at = max(0, bisect_right(self._starts, span[0]) - 1)
        while at < len(self._hunks) and self._hunks[at].after[1] < span[0]:
            at += 1
        return at if at < len(self._hunks) and self._hunks[at].after[0] <= span[1] else None

    def offset_of(self, change: ItemChange) -> int | None:
        """The first byte of a change in the second body."""
        pointer = (
            change.details[0].pointer if change.details and change.kind is ItemChangeKind.CHANGED else change.after
        )
        span = self._index.span(pointer) if pointer else None
        span = span or (self._index.span(change.after) if change.after else None)
        return span[0] if span else None
