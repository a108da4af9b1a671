"""Cuts one direction of a WebSocket into parts that can be held: each a whole message with what was sent before it.

Nothing is rewritten: the joined bytes of all parts are the bytes that came. A ping between the fragments of a message
belongs to the part of that message, because its bytes cannot leave before the fragments in front of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from workbench.errors import UsageError
from workbench.lazy_dataclass import dataclass, field
from workbench.limits import MAX_HELD_REQUEST
from workbench.recorder.breakpoints.gate import Reasons
from workbench.wire import Deflate, MessageReader, ReaderState, SocketMessage, frame_of

_CONTROL = ("close", "ping", "pong")
_TEXT = "text"


@dataclass(slots=True)
class HeldPart:
    """Bytes of one direction up to the end of a message, or of several that are held together.

    Attributes:
        wire: the bytes, as they came.
        messages: the messages that end in them, control frames included.
        is_whole: all bytes of its messages are in it: else some have left before, for want of memory.
        number: turn that one of its messages belongs to; 0 for none.
        reasons: why it waits.
        is_open: more messages will be added to it.
        is_judged: nothing more is to be asked about it.
    """

    wire: bytes
    messages: list[SocketMessage]
    is_whole: bool = True
    number: int = 0
    reasons: Reasons = ()
    is_open: bool = False
    is_judged: bool = False
    controls: list[bytes] = field(default_factory=list)

    @property
    def data(self) -> list[SocketMessage]:
        """Its messages without control frames."""
        return [message for message in self.messages if message.opcode not in _CONTROL]

    @property
    def pings(self) -> int:
        """Number of pings in it."""
        return sum(message.opcode == "ping" for message in self.messages)

    def add(self, other: HeldPart) -> None:
        """Take the bytes that follow."""
        self.wire += other.wire
        self.messages += other.messages
        self.controls += other.controls
        self.is_whole = self.is_whole and other.is_whole

    def body(self) -> bytes:
        """The message; if there are several, one in each line."""
        return b"\n".join(message.data for message in self.data)

    def with_body(self, body: bytes, *, is_masked: bool) -> bytes:
        """Bytes that say this instead, uncompressed; control frames stay. Raises UsageError."""
        data = self.data
        texts = [body] if len(data) == 1 else [line for line in body.splitlines() if line.strip()]
        if not all(texts) or not texts:
            raise UsageError("an empty message cannot be sent", hint="drop the message instead")
        opcode = data[0].opcode
        for text in texts if opcode == _TEXT else ():
            try:
                text.decode()
            except UnicodeDecodeError:
                raise UsageError("the message is not UTF-8, but WebSocket text frames must be") from None
        frames = [frame_of(opcode, text, os.urandom(4) if is_masked else b"") for text in texts]
        return b"".join((*self.controls, *frames))


class PartReader:
    """Reads the parts of one direction.

    Args:
        deflate: how its messages are compressed.
        state: where another reader was, whose bytes have left; None to begin with the first byte.

    Attributes:
        is_rewritable: a message can be changed or left out: no later one needs it to be inflated.
    """

    def __init__(self, deflate: Deflate | None, state: ReaderState | None = None) -> None:
        self.is_rewritable = deflate is None or not deflate.is_window_kept
        self._reader = MessageReader(deflate, state)
        self._waiting = bytearray()
        self._bytes_in_parts = state.offset + len(state.held) if state else 0  # bytes of the direction in parts already
        self._is_whole = not self.is_inside  # nothing of the message that comes has left
        self._pending: list[SocketMessage] = []  # control frames inside it

    @property
    def is_inside(self) -> bool:
        """A message has begun that is not complete."""
        return bool(self._reader.waiting_bytes) or self._reader.begun_at is not None

    def pass_by(self, data: bytes) -> list[SocketMessage]:
        """Read bytes that have left already; returns the messages that end in them."""
        self._bytes_in_parts += len(data)
        messages = self._reader.feed(data)
        self._is_whole = not self.is_inside
        return messages

    def feed(self, data: bytes) -> Iterator[HeldPart]:
        """Add bytes; yields the parts that end in them."""
        self._waiting += data
        messages = self._reader.feed(data)
        for n, message in enumerate(messages):
            self._pending.append(message)
            if message.opcode not in _CONTROL or not self._is_inside(message, messages[n + 1 :]):
                yield self._part(message.end)
        if len(self._waiting) > MAX_HELD_REQUEST:
            yield self._part(self._bytes_in_parts + len(self._waiting), is_message=False)

    def _is_inside(self, control: SocketMessage, later: Sequence[SocketMessage]) -> bool:
        """A message had begun before this control frame, and ends after it."""
        started_at = self._reader.begun_at
        return (started_at is not None and started_at < control.start) or any(
            message.start < control.start for message in later
        )

    def rest(self) -> HeldPart | None:
        """What came after the last message; None if nothing did."""
        return self._part(self._bytes_in_parts + len(self._waiting), is_message=False) if self._waiting else None

    def _part(self, end: int, *, is_message: bool = True) -> HeldPart:
        start, size = self._bytes_in_parts, end - self._bytes_in_parts
        wire = bytes(self._waiting[:size])
        del self._waiting[:size]
        self._bytes_in_parts = end
        messages, self._pending = self._pending, []
        controls = [m for m in messages if m.opcode in _CONTROL and m.start >= start]
        is_whole, self._is_whole = self._is_whole and is_message, is_message
        return HeldPart(wire, messages, is_whole, controls=[wire[m.start - start : m.end - start] for m in controls])
