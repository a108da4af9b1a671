"""Reads the messages of one direction of a WebSocket from a copy of its bytes (RFC 6455, RFC 7692), and makes frames.

A reader never answers or writes. What is no legal stream is named with its offset, and the next frame is read.
Facts: a control frame may come between the fragments of a message, compressed or not; only the first fragment has the
bit of a compressed message; a stream may also have uncompressed messages; the parameters that count are those of
the 101 response.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.limits import MAX_DECODED_BODY
from workbench.named_tuple import NamedTuple

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

OPCODES: Final = {TEXT: "text", BINARY: "binary", CLOSE: "close", PING: "ping", PONG: "pong"}

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_LONGEST_CONTROL = 125
_PACKED = 0x40
"""Bit of a compressed message, in the first byte of its first frame."""

_TAIL = b"\x00\x00\xff\xff"
"""What a sender leaves off the end of each compressed message."""

_WINDOW = 1 << zlib.MAX_WBITS
"""Inflated bytes that a sender may refer back to (RFC 1951)."""

_PERMESSAGE = "permessage-deflate"
_NO_TAKEOVER = ("server_no_context_takeover", "client_no_context_takeover")
_DEFLATE = regex.compile(r"(?i)(?:^|,)\s*permessage-deflate\s*(?P<parameters>(?:;[^,]*)?)")


class Deflate(NamedTuple):
    """How messages of one direction are compressed: each by itself, or with the window of those before."""

    is_window_kept: bool = True


class SocketMessage(NamedTuple):
    """One message, or one control frame.

    Attributes:
        opcode: "text", "binary", "close", "ping" or "pong".
        data: payload, unmasked and inflated; as it was on the wire where it cannot be inflated.
        start, end: offsets of the start of its first and the end of its last frame, in the bytes of its direction.
    """

    opcode: str
    data: bytes
    start: int
    end: int


class _Frame(NamedTuple):
    start: int
    end: int
    first: int
    payload: bytes


class ReaderState(NamedTuple):
    """How far a reader is in its direction, for another one that continues there.

    Attributes:
        offset: bytes of all complete frames.
        held: bytes after them.
        begun: (start, end, first byte, payload) of each frame of a message that is not complete.
        window: the last inflated bytes, which later messages may refer to.
        is_window_lost: later messages cannot be inflated.
    """

    offset: int = 0
    held: bytes = b""
    begun: tuple[tuple[int, int, int, bytes], ...] = ()
    window: bytes = b""
    is_window_lost: bool = False


def deflate_of(extensions: str, side: str) -> Deflate | None:
    """The compression that a 101 response agrees on for what "client" or "server" sends; None if there is none.

    Args:
        extensions: value of its header ``Sec-WebSocket-Extensions``.
    """
    found = _DEFLATE.search(extensions)
    return Deflate(f"{side}_no_context_takeover" not in found["parameters"].lower()) if found else None


class MessageReader:
    """Reads what one side of a connection sends, piece by piece.

    Args:
        state: where another reader of the same direction was; None to begin with its first byte.

    Attributes:
        damage: what is not legal in it, one line each, with its offset.
    """

    def __init__(self, deflate: Deflate | None = None, state: ReaderState | None = None) -> None:
        stands = state or ReaderState()
        self.damage: list[str] = []
        self._deflate = deflate
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS, zdict=stands.window)
        self._inflated = deque([stands.window])  # the last messages: the window, and what of the oldest is before it
        self._inflated_size = len(stands.window)
        self._is_window_lost = stands.is_window_lost
        self._held = bytearray(stands.held)
        self._offset = stands.offset
        self._begun = [_Frame(*frame) for frame in stands.begun]

    def state(self) -> ReaderState:
        """Where it is."""
        begun = tuple((frame.start, frame.end, frame.first, frame.payload) for frame in self._begun)
        window = b"".join(self._inflated)[-_WINDOW:]
        return ReaderState(self._offset, bytes(self._held), begun, window, self._is_window_lost)

    @property
    def begun_at(self) -> int | None:
        """Offset of the first frame of a message that is not complete; None if there is none."""
        return self._begun[0].start if self._begun else None

    @property
    def waiting_bytes(self) -> int:
        """Bytes of a frame or message that is not complete."""
        return len(self._held) + sum(len(frame.payload) for frame in self._begun)

    def feed(self, data: bytes) -> list[SocketMessage]:
        """Add bytes; return the messages that end in them."""
        self._held += data
        return [message for frame in self._frames() for message in self._read(frame)]

    def _frames(self) -> Iterator[_Frame]:
        while (size := self._header_size()) and len(self._held) >= size + (length := self._length()):
            payload = bytes(self._held[size : size + length])
            if self._held[1] & 0x80:
                payload = _unmask(payload, bytes(self._held[size - 4 : size]))
            frame = _Frame(self._offset, self._offset + size + length, self._held[0], payload)
            del self._held[: size + length]
            self._offset = frame.end
            yield frame

    def _header_size(self) -> int:
        """Bytes of the header at the front; 0 if it is not complete."""
        if len(self._held) < 2:
            return 0
        size = 2 + {126: 2, 127: 8}.get(self._held[1] & 0x7F, 0) + (4 if self._held[1] & 0x80 else 0)
        return size if len(self._held) >= size else 0

    def _length(self) -> int:
        short = self._held[1] & 0x7F
        return short if short < 126 else int.from_bytes(self._held[2 : 4 if short == 126 else 10])

    def _read(self, frame: _Frame) -> Iterator[SocketMessage]:
        opcode, is_last = frame.first & 0x0F, bool(frame.first & 0x80)
        if opcode in (CLOSE, PING, PONG):
            if not is_last or len(frame.payload) > _LONGEST_CONTROL:
                self._note(frame, f"a {OPCODES[opcode]} frame is fragmented or longer than {_LONGEST_CONTROL} bytes")
            yield SocketMessage(OPCODES[opcode], frame.payload, frame.start, frame.end)
            return
        if opcode not in (CONTINUATION, TEXT, BINARY):
            self._note(frame, f"opcode {opcode} is not defined")
            return
        if opcode == CONTINUATION and not self._begun:
            self._note(frame, "a continuation frame without a message")
        elif opcode != CONTINUATION and self._begun:
            self._note(frame, "a new message before the last one is complete")
            self._begun.clear()
        self._begun.append(frame)
        if is_last:
            frames, self._begun = self._begun, []
            yield self._join(frames)

    def _join(self, frames: list[_Frame]) -> SocketMessage:
        first = frames[0]
        data, opcode = b"".join(frame.payload for frame in frames), OPCODES.get(first.first & 0x0F, "binary")
        if first.first & _PACKED:
            inflated = self._unpack_message(first, data)
            data, opcode = (data, "binary") if inflated is None else (inflated, opcode)
        if first.first & 0x30 or any(frame.first & 0x70 for frame in frames[1:]):
            self._note(first, "a reserved bit is set")
        return SocketMessage(opcode, data, first.start, frames[-1].end)

    def _unpack_message(self, frame: _Frame, data: bytes) -> bytes | None:
        """The message; None where it cannot be inflated."""
        if self._deflate is None:
            self._note(frame, "a compressed message, but no compression was negotiated")
            return None
        if self._is_window_lost:
            return None
        if not self._deflate.is_window_kept:
            self._begin_window()
        try:
            inflated = self._inflate.decompress(data + _TAIL, MAX_DECODED_BODY)
        except zlib.error as error:
            self._note(frame, f"a compressed message cannot be inflated ({error})")
            self._is_window_lost = self._deflate.is_window_kept
            return None
        if self._inflate.unconsumed_tail:
            self._note(frame, f"a message is longer than {MAX_DECODED_BODY:,} bytes when inflated")
            self._is_window_lost = self._deflate.is_window_kept
            return None
        self._keep(inflated)
        if self._inflate.eof:  # a last block: what follows is compressed anew
            self._begin_window()
        return inflated

    def _begin_window(self) -> None:
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._inflated.clear()
        self._inflated_size = 0

    def _keep(self, content: bytes) -> None:
        """Keep a message as long as later ones may refer to it; its bytes are not copied."""
        self._inflated.append(content)
        self._inflated_size += len(content)
        while self._inflated_size - len(self._inflated[0]) >= _WINDOW:
            self._inflated_size -= len(self._inflated.popleft())

    def _note(self, frame: _Frame, what: str) -> None:
        self.damage.append(f"byte {frame.start:,}: {what}")


def _unmask(payload: bytes, mask: bytes) -> bytes:
    if not payload or mask == b"\0\0\0\0":
        return payload
    key = (mask * (len(payload) // 4 + 1))[: len(payload)]
    return (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(len(payload))


def accept_deflate(offer: str) -> str:
    """What a server answers to the first offer of compression that it can accept; empty if there is none.

    It does as the client asks: a parameter of its own side has to be repeated (RFC 7692 7.1.1.1), and some clients
    refuse an answer that leaves one out. A smaller window is not offered by ``MessageDeflater``.
    """
    for each in offer.lower().split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        asked = {parameter.partition("=")[0].strip() for parameter in parameters}
        if name == _PERMESSAGE and "server_max_window_bits" not in asked:
            return "; ".join((name, *(each for each in _NO_TAKEOVER if each in asked)))
    return ""


class MessageDeflater:
    """Compresses the messages of one direction (RFC 7692).

    Args:
        deflate: how; with the window of earlier messages, or each alone.
    """

    def __init__(self, deflate: Deflate) -> None:
        self._is_window_kept = deflate.is_window_kept
        self._deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)

    def frame(self, opcode: str, payload: bytes) -> bytes:
        """One unmasked frame of a text or binary message."""
        if not self._is_window_kept:
            self._deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        packed = self._deflate.compress(payload) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        frame = frame_of(opcode, packed.removesuffix(_TAIL))
        return bytes((frame[0] | _PACKED,)) + frame[1:]


def frame_of(opcode: str, payload: bytes, mask: bytes = b"") -> bytes:
    """One unfragmented frame that is not compressed: of a server, or with the four bytes of a mask of a client."""
    first = 0x80 | next(number for number, name in OPCODES.items() if name == opcode)
    size, masked = len(payload), 0x80 if mask else 0
    if size < 126:
        head = bytes((first, masked | size))
    elif size < 1 << 16:
        head = bytes((first, masked | 126)) + size.to_bytes(2)
    else:
        head = bytes((first, masked | 127)) + size.to_bytes(8)
    return head + mask + (_unmask(payload, mask) if mask else payload)


def accept_key(key: str) -> str:
    """The value of ``Sec-WebSocket-Accept`` for a client's ``Sec-WebSocket-Key`` (RFC 6455 4.2.2)."""
    import base64
    import hashlib

    return base64.b64encode(hashlib.sha1(f"{key}{_GUID}".encode(), usedforsecurity=False).digest()).decode()


def close_payload(code: int, reason: str) -> bytes:
    """The payload of a close frame: the reason is cut to the 123 bytes that fit."""
    return code.to_bytes(2) + reason.encode("utf-8", "replace")[:123].decode("utf-8", "ignore").encode()


def close_of(payload: bytes) -> tuple[int, str]:
    """(code, reason) of a close frame; 1005 if it says none."""
    return (int.from_bytes(payload[:2]), payload[2:].decode("utf-8", "replace")) if len(payload) >= 2 else (1005, "")
