"""Writing changed leaves back into the bytes they were read from, and not a byte more.

A value is replaced in place. Of a string only the characters that differ are replaced, so that the escapes of
the others stay. In a stream the change goes into the pieces it falls on; the pieces of its unchanged beginning and end
stay as they are. Functions raise as ``changes`` does, and LocalProtocolError for a value that is not on the wire.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Message
from workbench.named_tuple import NamedTuple
from workbench.protocols.common.changes import LeafChange, differs, leaf_changes
from workbench.wire import (
    Framing,
    JsonIndex,
    SseEvent,
    loads,
    read_stream,
    read_untyped,
    rewrite,
    string_slice_span,
    writer_like,
)


class _Splice(NamedTuple):
    """Bytes ``start`` to ``end`` of the original become ``new``; ``is_inside``: inside a string, without its quotes."""

    start: int
    end: int
    new: JsonValue
    is_inside: bool = False


class _Piece(NamedTuple):
    """A JSON string of the stream: its byte range, quotes included, and its text."""

    span: tuple[int, int]
    text: str


def encode(before: Sequence[Message], after: Sequence[Message], original: bytes) -> bytes:
    """The body ``original``, which says ``before``, saying ``after``."""
    index = JsonIndex(original)
    found = leaf_changes(before, after)
    return _splice(original, (_cut(change, original, index.span(change.pointer + change.below)) for change in found))


def agree(old_value: object, new_value: object, names: Iterable[str]) -> None:
    """Refuse an edit of something that is not a separate value on the wire, but computed from other values."""
    wrong = next((name for name in names if differs(getattr(old_value, name), getattr(new_value, name))), None)
    if wrong:
        raise LocalProtocolError(f"{wrong!r} cannot be written back", hint="edit the key that the value was read from")


def encode_stream(before: Sequence[Message], after: Sequence[Message], original: bytes) -> bytes:
    """The stream ``original``, however it is framed, which adds up to ``before``, adding up to ``after``."""
    return write_changes(list(leaf_changes(before, after)), original)


def write_changes(found: Sequence[LeafChange], original: bytes) -> bytes:
    """The stream with changes made at the pieces that each of them names."""
    if not found:
        return original
    stream = _Stream(original)
    return stream.splice([cut for change in found for cut in stream.cuts(change)])


class _Stream:
    """A stream and its text. Where lengths and checksums frame it, the text is what is in the frames, joined."""

    def __init__(self, original: bytes) -> None:
        self.body = self.original = original
        found = read_untyped(original)
        if found.framing is None:  # one JSON object that its content type called a stream
            found = read_stream(original, framing=Framing.NDJSON)
        self.framed = found.events
        self.events = found.events
        self.is_counted = found.framing is Framing.AWS
        if self.is_counted:
            self.original = b"".join(event.data or b"" for event in self.framed)
            self.events = tuple(_unframe(self.framed))

    def splice(self, cuts: Sequence[_Splice]) -> bytes:
        """The stream with every cut made."""
        if not self.is_counted:
            return _splice(self.body, cuts)
        by_event: dict[int, list[_Splice]] = {}
        for cut in cuts:
            number = bisect_right(self.events, cut.start, key=lambda event: event.start) - 1
            start = self.events[number].start
            by_event.setdefault(number, []).append(cut._replace(start=cut.start - start, end=cut.end - start))
        data = {number: _splice(self.framed[number].data or b"", mine) for number, mine in by_event.items()}
        return rewrite(self.body, self.framed, data)

    def cuts(self, change: LeafChange) -> Iterator[_Splice]:
        """Replacements in the stream for one change."""
        segments = change.segments
        if not segments:
            raise LocalProtocolError("this value cannot be changed in a stream", where=change.pointer + change.below)
        event, pointer = segments[0]
        if change.below or not isinstance(change.old, str):
            yield _cut(change, self.original, self._span(event, pointer + change.below))
            return
        if not isinstance(change.new, str):
            raise LocalProtocolError("text in a stream can only be replaced by other text", where=change.pointer)
        pieces = [self._piece(*segment) for segment in segments]
        start, end, new = _narrow(change.old, change.new, change.slice)
        yield from _spread(self.original, pieces, start, end, new)

    def _span(self, event: int, pointer: str) -> tuple[int, int] | None:
        return self.events[event].span(pointer) if event < len(self.events) else None

    def _piece(self, event: int, pointer: str) -> _Piece:
        span = self._span(event, pointer)
        if span is None:
            raise _absent(pointer)
        return _Piece(span, loads(self.original[span[0] : span[1]]))


def _unframe(events: Iterable[SseEvent]) -> Iterator[SseEvent]:
    """The events as written in their data, joined."""
    at = 0
    for event in events:
        end = at + len(event.data or b"")
        yield SseEvent(event.number, event.name, event.data, at, end, ((at, end),))
        at = end


def _cut(change: LeafChange, text: bytes, span: tuple[int, int] | None) -> _Splice:
    """The replacement in a body, or in one event, for one change of the value at ``span``."""
    if span is None:
        raise _absent(change.pointer + change.below)
    if isinstance(change.old, str) and isinstance(change.new, str):
        start, end, new = _narrow(change.old, change.new, change.slice)
        return _string_cut(text, span, start, end, new)
    return _Splice(*span, change.new)


def _narrow(old: str, new: str, piece: tuple[int, int] | None) -> tuple[int, int, str]:
    """(start, end, text): the characters of the whole string that have to be replaced, and by what."""
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    offset = piece[0] if piece else 0
    return offset + first, offset + len(old) - last, new[first : len(new) - last]


def _common(a: str, b: str) -> int:
    """Count the characters that two texts have in common at their beginning."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def _spread(text: bytes, pieces: Sequence[_Piece], start: int, end: int, new: str) -> Iterator[_Splice]:
    """Replace characters of a string that was joined from pieces: the first piece touched takes the new text."""
    begins = [0, *accumulate(len(piece.text) for piece in pieces)]
    number = min(max(bisect_right(begins, start) - 1, 0), len(pieces) - 1)
    while number < len(pieces) and (begins[number] < end or new):
        at = begins[number]
        yield _string_cut(text, pieces[number].span, max(start - at, 0), min(end - at, len(pieces[number].text)), new)
        number, new = number + 1, ""


def _string_cut(text: bytes, span: tuple[int, int], start: int, end: int, new: str) -> _Splice:
    """Replace characters ``start`` to ``end`` of the JSON string at ``span``."""
    return _Splice(*string_slice_span(text, span, start, end), new, is_inside=True)


def _splice(text: bytes, cuts: Iterable[_Splice]) -> bytes:
    """The text with every cut made, in the style it is written in."""
    writer, pieces, at = writer_like(text), list[bytes](), 0
    for cut in sorted(cuts, key=lambda c: c[:2]):
        if cut.start < at:
            raise LocalProtocolError("two changes overlap", where=f"byte {cut.start}", hint="apply one edit at a time")
        new = writer(cut.new)
        pieces += (text[at : cut.start], new[1:-1] if cut.is_inside else new)
        at = cut.end
    return b"".join((*pieces, text[at:]))


def _absent(pointer: str) -> LocalProtocolError:
    return LocalProtocolError("no value to change there", where=pointer, hint="add the value as JSON")
