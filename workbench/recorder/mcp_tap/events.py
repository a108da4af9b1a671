"""Events that a tap hands to the process that records: kinds, and their form in a pipe."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

SENT, RECEIVED, STDERR, LOST_SENT, LOST_RECEIVED, LOST_STDERR, ENDED, HELD_SENT, HELD_RECEIVED, GONE = range(10)
"""Kinds of events: bytes of a stream; a number of bytes of it that were not kept; the exit status of the server;
a held line with its number before it; the number of a held line that waits for nothing any more."""

LOST = LOST_SENT - SENT
"""Difference between the kind of bytes that were not kept and that of bytes that were."""

Note = Callable[[int, bytes], None]
"""Takes the kind of an event and its data."""

HEAD = struct.Struct("!BdQ")
"""Kind, seconds since the connection began, and bytes that follow."""

_READ = 1 << 20


class TapeEvent(NamedTuple):
    """One event: its kind, the seconds since the connection began, and bytes (for some kinds a number)."""

    kind: int
    at: float
    data: bytes

    @property
    def number(self) -> int:
        """The data as a number, or the number of a held line."""
        return int(self.data.partition(b"\n")[0])


class TapeReader:
    """Reads events back from the bytes of a pipe, however these are cut."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._unread = bytearray()

    def batches(self) -> Iterator[list[TapeEvent]]:
        """Events as they come, several at a time, until the pipe ends; one that is cut is dropped."""
        while piece := self._read(_READ):
            self._unread += piece
            if events := list(self._whole()):
                yield events

    def _whole(self) -> Iterator[TapeEvent]:
        at = 0
        while len(self._unread) - at >= HEAD.size:
            kind, seconds, size = HEAD.unpack_from(self._unread, at)
            if len(self._unread) - at - HEAD.size < size:
                break
            at += HEAD.size + size
            yield TapeEvent(kind, seconds, bytes(self._unread[at - size : at]))
        del self._unread[:at]
