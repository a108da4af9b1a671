"""One block of an event stream: its fields and their positions."""

from __future__ import annotations

from typing import NamedTuple

from workbench.wire.json_index import JsonIndex, Span


class SseEvent(NamedTuple):
    """One block.

    Attributes:
        number: position in the stream from zero; blocks of only comments count, runs of blank lines do not.
        name: value of the last ``event`` field; None if there is none.
        data: values of the ``data`` fields joined by LF; None if there are none.
        start, end: byte range in the body from the first byte of the first line to the last byte of the last line,
            without its line end and the blank line.
        data_spans: byte range of the value of each ``data`` field.
        id: value of the last ``id`` field (fields with NUL are void).
        retry: value of the last numeric ``retry`` field, milliseconds.
        comments: comment lines without colon and first space.
        others: (name, value) of unknown fields, in order; browsers and SDKs ignore them.
        terminated: a blank line followed. False for a cut last block, which a browser would discard.
    """

    number: int
    name: str | None
    data: bytes | None
    start: int
    end: int
    data_spans: tuple[Span, ...]
    id: str | None = None
    retry: int | None = None
    comments: tuple[bytes, ...] = ()
    terminated: bool = True
    others: tuple[tuple[str, bytes], ...] = ()

    def span(self, pointer: str) -> Span | None:
        """Byte range in the body of a pointer into the JSON of ``data``; it may cover several lines."""
        found = JsonIndex(self.data).span(pointer) if self.data is not None else None
        if found is None:
            return None
        return self._place(found[0]), self._place(found[1] - 1) + 1

    def _place(self, offset: int) -> int:
        for start, end in self.data_spans:
            if offset <= end - start:
                return start + offset
            offset -= end - start + 1
        return self.end


class SseBlock:
    """Lines of one block while they arrive."""

    __slots__ = ("comments", "data", "end", "id", "name", "others", "retry", "spans", "start")

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.name: str | None = None
        self.id: str | None = None
        self.retry: int | None = None
        self.data: list[bytes] = []
        self.spans: list[Span] = []
        self.comments: list[bytes] = []
        self.others: list[tuple[str, bytes]] = []

    def add(self, line: bytes, start: int, end: int) -> None:
        """Add a non-blank line; ``end`` is past the bytes read if it exceeded the limit."""
        field, colon, value = line.partition(b":")
        at = start + len(field) + len(colon)
        if value.startswith(b" "):
            value, at = value[1:], at + 1
        self.end = end
        if field == b"data":
            self.data.append(value)
            self.spans.append((at, at + len(value)))
        elif field == b"event":
            self.name = value.decode("utf-8", "replace")
        elif not field:
            self.comments.append(value)
        elif field == b"id" and b"\0" not in value:
            self.id = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit() and len(value) < 19:
            self.retry = int(value)
        elif colon and field not in (b"id", b"retry"):
            self.others.append((field.decode("utf-8", "replace"), value))

    def event(self, number: int, *, terminated: bool) -> SseEvent:
        return SseEvent(
            number,
            self.name,
            b"\n".join(self.data) if self.spans else None,
            self.start,
            self.end,
            tuple(self.spans),
            self.id,
            self.retry,
            tuple(self.comments),
            terminated,
            tuple(self.others),
        )
