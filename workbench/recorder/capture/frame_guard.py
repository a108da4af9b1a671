"""Redaction of the messages of a WebSocket that is open: releases only those that can have no piece of a secret.

Each message is searched alone, and the texts that several messages of the server carry in pieces are joined, as those
of a stream; a client sends whole ones. What a guard hands on does not depend on when it is asked. A text ends with the
turns of the connection at the latest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from workbench.lazy_dataclass import replace
from workbench.wire import Frame, Redactor
from workbench.wire.secrets import StreamedTexts, lines_of


class _ServerMessages:
    """What the server sends."""

    def __init__(self) -> None:
        self._texts = StreamedTexts()
        self._waiting: list[Frame] = []
        self._size = self._next_search_size = 0

    def add(self, frame: Frame) -> None:
        self._waiting.append(frame)
        self._size += len(frame.data)

    def take(self, redactor: Redactor, *, is_quiet: bool) -> list[Frame]:
        """Messages that are settled, redacted; ``is_quiet``: no text continues."""
        if not self._waiting or (self._size < self._next_search_size and not is_quiet):
            return []
        data = [frame.data for frame in self._waiting]
        lines = lines_of(data)
        end = len(lines) if is_quiet else self._texts.settled_length(lines, redactor.seen)
        count = lines.count(b"\n", 0, end)
        self._next_search_size = (
            0 if count else 2 * self._size
        )  # what may be a long secret is not read with each of its pieces
        safe = list(redactor.messages(data, self._texts, count)) if count else []
        self._texts.advance(lines[:end])
        if is_quiet:
            self._texts = StreamedTexts()
        first_messages, self._waiting = self._waiting[:count], self._waiting[count:]
        self._size = sum(len(frame.data) for frame in self._waiting)
        return [_with(frame, text) for frame, text in zip(first_messages, safe, strict=True)]


class FrameGuard:
    """Both directions of one connection, in the order in which their messages were complete."""

    def __init__(self) -> None:
        self._order = deque[Frame]()
        self._received = _ServerMessages()
        self._settled = deque[Frame]()  # of the server

    def add(self, frame: Frame) -> None:
        """Take the next message."""
        self._order.append(frame)
        if frame.direction == "received":
            self._received.add(frame)

    def take(self, redactor: Redactor, *, is_quiet: bool) -> Iterator[tuple[Frame, Frame]]:
        """The next messages that may be written, each as it came and as it is written.

        Args:
            is_quiet: no text continues: the connection is over, or the model has nothing more to say.
        """
        self._settled += self._received.take(redactor, is_quiet=is_quiet)
        while self._order and (self._settled or self._order[0].direction == "sent"):
            frame = self._order.popleft()
            is_sent = frame.direction == "sent"
            yield frame, _with(frame, redactor.message(frame.data)) if is_sent else self._settled.popleft()


def _with(frame: Frame, data: bytes) -> Frame:
    return frame if data is frame.data else replace(frame, data=data)
