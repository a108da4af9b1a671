"""Redaction of bodies that grow: releases only bytes that can no longer become part of a secret.

What a guard hands on, joined, is the beginning of what ``Redactor.exchange`` makes of the whole body as long as no
secret was found in a compressed one; from there on such a body is held until it is whole. Whatever a guard cannot read
it holds too.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from workbench.limits import MAX_DECODED_BODY
from workbench.wire import PRELUDE, AwsTexts, Redaction, Redactor, detect_encoding, framing_of, is_messages
from workbench.wire.secrets import StreamedTexts

_SLICE = 1024
"""Bytes unpacked at a time, because not every decoder can be asked for less than all: a kilobyte grows to 32 MB."""


class Guard(Protocol):
    """Watches one body."""

    def feed(self, data: bytes) -> bytes:
        """More of the body came; returns what may be written now."""
        ...


class RedactedRest(NamedTuple):
    """What follows the bytes of a body that have left.

    Attributes:
        settled: how many have left, unchanged.
        text: those behind, redacted.
        found: places of stand-ins in the whole body.
    """

    settled: int
    text: bytes
    found: Sequence[Redaction]


class TextGuard:
    """A body in no coding: whole lines leave, redacted, but for deltas that may end in the middle of a secret.

    Of AWS event streams whole messages do.

    Attributes:
        settled_bytes: how many bytes have left.
        has_found: a secret was among them.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known = len(redactor.seen)
        self._waiting = bytearray()
        self._again = 0
        self._stream = StreamedTexts()
        self._is_messages: bool | None = None
        self.settled_bytes = 0
        self.has_found = False

    def feed(self, data: bytes) -> bytes:
        """Redacted lines, as far as nothing that is still to come changes them."""
        self._waiting += data
        if self._is_messages is None and self._waiting and self._waiting[0] > 1:
            self._is_messages = False  # a message of its length is longer than any may be: texts are shown at once
        if self._is_messages is None and len(self._waiting) >= PRELUDE:
            self._is_messages = is_messages(bytes(self._waiting[:PRELUDE]))
        if len(self._waiting) < self._again or self._is_messages is None or not (self._is_messages or b"\n" in data):
            return b""
        body = bytes(self._waiting)
        messages = AwsTexts(body) if self._is_messages else None
        text = messages.text if messages else body
        read = self._stream.settled_length(text[: self._redactor.settled_length(text)], self._redactor.seen)
        read, settled_bytes = messages.end(read) if messages else (read, read)
        self._again = 0 if settled_bytes else 2 * len(body)  # an open member may go on for megabytes: look again rarely
        if not settled_bytes:
            return b""
        del self._waiting[:settled_bytes]
        self.settled_bytes += settled_bytes
        safe, found = self._redactor.text(body, self._stream)  # of the rest too: it may end what begins before it
        self._stream.advance(text[:read])
        self.has_found |= any(mark.start < settled_bytes for mark in found)
        return safe[:settled_bytes]

    def finish(self, rest: bytes) -> RedactedRest | None:
        """End the body with these bytes; None if all of it has to be searched."""
        is_known = len(self._redactor.seen) == self._known  # else what left may have a secret that is known by now
        if self._is_messages or self.has_found or not (self.settled_bytes and is_known):
            return None
        text, found = self._redactor.text(bytes(self._waiting) + rest, self._stream)
        at = self.settled_bytes
        return RedactedRest(at, text, [mark._replace(start=mark.start + at, end=mark.end + at) for mark in found])


class PackedGuard:
    """A compressed body: its bytes leave unchanged, after later ones that unpack to clean text.

    A piece of a compressed body can hold the beginning of a block that unpacks only with the next piece. So a piece
    leaves when a later one has added more text that is settled too.
    """

    def __init__(self, redactor: Redactor, unpack: Callable[[bytes], bytes]) -> None:
        self._text = TextGuard(redactor)
        self._unpack = unpack
        self._unpacked = 0
        self._waiting = deque[tuple[bytes, int]]()  # a piece, and how much text there was with it
        self._is_stopped = False

    def feed(self, data: bytes) -> bytes:
        """The pieces that are known to be clean, raw."""
        if self._is_stopped:
            return b""
        if not self._read(data):
            self._is_stopped = True
            self._waiting.clear()
            return b""
        self._waiting.append((data, self._unpacked))
        return b"".join(self._clean())

    def _read(self, data: bytes) -> bool:
        """Unpack and check a piece; False if it has a secret or cannot be read."""
        try:
            for at in range(0, len(data), _SLICE):
                text = self._unpack(data[at : at + _SLICE])
                self._unpacked += len(text)
                self._text.feed(text)
        except Exception:  # three libraries, each with an error of its own; the same for all: it cannot be read
            return False
        return not self._text.has_found and self._unpacked <= MAX_DECODED_BODY

    def _clean(self) -> Iterator[bytes]:
        while self._waiting:
            piece, unpacked = self._waiting[0]
            later = next((more for _, more in self._waiting if more > unpacked), None)
            if later is None or later > self._text.settled_bytes:
                return
            yield piece
            self._waiting.popleft()


class _WithholdingGuard:
    """A body that cannot be read while it arrives: all of it waits for the end."""

    def feed(self, data: bytes) -> bytes:
        return b""


class BodyGuard:
    """Chooses the guard that a body needs, by its first bytes."""

    def __init__(self, redactor: Redactor, encoding: str) -> None:
        self._redactor = redactor
        self._encoding = encoding
        self._first = b""
        self._guard: Guard | None = None

    def feed(self, data: bytes) -> bytes:
        """Add bytes of the body; returns what may be written now."""
        if self._guard is None:
            self._first += data
            if len(self._first) < 4:  # a magic number has as many
                return b""
            self._guard = self._choose_guard()
            data, self._first = self._first, b""
        return self._guard.feed(data)

    def finish(self, rest: bytes, whole: bytes) -> RedactedRest | None:
        """End the body, ``whole``, with these bytes; None if all of it has to be searched."""
        is_stream = isinstance(self._guard, TextGuard) and framing_of(whole) is not None
        return self._guard.finish(rest) if isinstance(self._guard, TextGuard) and is_stream else None

    def _choose_guard(self) -> Guard:
        label = self._encoding.strip().lower()
        actual = detect_encoding(self._first, label)
        if actual in ("", "identity") and label in ("", "identity"):
            return TextGuard(self._redactor)
        if actual in _UNPACKERS and label in (actual, f"x-{actual}"):
            return PackedGuard(self._redactor, _UNPACKERS[actual]())
        return _WithholdingGuard()


def _gzip() -> Callable[[bytes], bytes]:
    decoder = zlib.decompressobj(31)

    def unpack(data: bytes) -> bytes:
        text = decoder.decompress(data)
        if decoder.unused_data:
            raise ValueError("a second compressed member follows")
        return text

    return unpack


def _brotli() -> Callable[[bytes], bytes]:
    import brotli  # type: ignore[import-untyped]

    unpack: Callable[[bytes], bytes] = brotli.Decompressor().process
    return unpack


def _zstd() -> Callable[[bytes], bytes]:
    import zstandard

    decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    return decoder.decompress


_UNPACKERS: dict[str, Callable[[], Callable[[bytes], bytes]]] = {"gzip": _gzip, "br": _brotli, "zstd": _zstd}


def unpacker(label: str) -> Callable[[bytes], bytes] | None:
    """A function that unpacks the pieces of one body in a content coding; None if the coding cannot be followed.

    What it returns raises an error of its library for what it cannot read.
    """
    factory = _UNPACKERS.get(label.strip().lower().removeprefix("x-"))
    return factory() if factory else None
