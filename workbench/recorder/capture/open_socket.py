"""A WebSocket while it is open: its messages, of which those that no secret can reach any more leave for the file."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import SocketTurns
from workbench.recorder.capture.frame_guard import FrameGuard
from workbench.recorder.capture.socket_state import SocketState
from workbench.wire import (
    TURNS,
    Exchange,
    ExchangeKind,
    Frame,
    MessageReader,
    Redactor,
    close_of,
    deflate_of,
)


class OpenSocket:
    """Both directions of one connection. A message is kept until it is in the file and its turn is over.

    Args:
        handshake: the exchange whose response was 101, as it came: not redacted.
    """

    def __init__(self, handshake: Exchange) -> None:
        extensions = handshake.response.headers.get("sec-websocket-extensions") if handshake.response else ""
        self._turns = SocketTurns(replace(handshake, kind=ExchangeKind.WEBSOCKET))
        self._readers = {
            direction: MessageReader(deflate_of(extensions or "", side))
            for direction, side in (("sent", "client"), ("received", "server"))
        }
        self._guard = FrameGuard()
        self._ready = deque[Frame]()  # redacted, and not known to be in the file
        self._written = 0
        self._recent = deque[Frame]()  # as they came, from the first turn that is not over
        self._frame_count = 0
        self._closings: list[str] = []
        self._redacted = Counter[str]()
        self._known: int | None = None

    @property
    def turn_count(self) -> int:
        """Number of its turns."""
        return len(self._turns)

    @property
    def has_messages(self) -> bool:
        """It holds messages: of a turn that is not over, or some that are not in the file."""
        return bool(self._recent or self._ready)

    @property
    def meta(self) -> Mapping[str, JsonValue]:
        """What is said of it in the file beside its messages."""
        return {TURNS: len(self._turns)} if len(self._turns) else NOTHING

    def feed(self, direction: str, data: bytes, at: float) -> None:
        """Take bytes of one direction ("sent" or "received", seen from the client)."""
        for message in self._readers[direction].feed(data):
            frame = Frame(direction, message.opcode, message.data, at)
            self._frame_count += 1
            self._turns.add(frame)
            self._guard.add(frame)
            self._recent.append(frame)
            if frame.opcode == "close":
                who = "client" if direction == "sent" else "server"
                code, why = close_of(frame.data)
                self._closings.append(f"the {who} closed the connection with {code}{f' ({why})' if why else ''}")

    def state(self) -> SocketState:
        """What continues here."""
        turn, first = self._turns.first_open()
        readers = {direction: reader.state() for direction, reader in self._readers.items()}
        frames = (
            tuple(self._recent)[len(self._recent) - (self._frame_count - first) :] if first < self._frame_count else ()
        )
        return SocketState(readers, turn, frames, self._frame_count)

    def turns(self, first: int) -> Iterator[tuple[int, Exchange]]:
        """Turns from a number on, with their numbers, which count from one."""
        for number in range(first, len(self._turns) + 1):
            yield number, self._turns.exchange(number)

    def over(self, numbers: Iterable[int], *, at_end: bool) -> Iterator[tuple[int, Exchange]]:
        """Those of these turns that are over; all at the end of the connection."""
        for number in numbers:
            if at_end or self._turns.is_over(number):
                yield number, self._turns.exchange(number)

    def writable_frames(self, redactor: Redactor, *, at_end: bool) -> Sequence[Frame]:
        """Messages without secrets that are safe to write and not known to be in the file."""
        if self._known is None:
            self._known = len(redactor.seen)
        for frame, safe in self._guard.take(redactor, is_quiet=at_end or self._turns.are_complete):
            self._redacted[frame.direction] += frame.data != safe.data
            self._ready.append(safe)
        return tuple(self._ready)

    def drop_written(self, count: int) -> None:
        """Forget messages: so many, from the first one, are in the file."""
        for _ in range(count - self._written):
            self._ready.popleft()
        self._written = count
        _, first = self._turns.first_open()
        for _ in range(len(self._recent) - (self._frame_count - first)):
            self._recent.popleft()

    def has_learned(self, redactor: Redactor) -> bool:
        """True if secrets have become known since the first message left: one that is written may have them."""
        return self._known is not None and self._known != len(redactor.seen)

    def close(self, exchange: Exchange) -> Exchange:
        """The connection as it stays in the file, but for its messages, from the exchange of its handshake."""
        notes = [exchange.note, *self._closings, *self._damage_notes(), *self._redaction_notes()]
        return replace(exchange, meta={**exchange.meta, **self.meta}, note="; ".join(filter(None, notes)))

    def _redaction_notes(self) -> Iterator[str]:
        """Directions whose messages are not kept as they were."""
        for direction, count in sorted(self._redacted.items()):
            if count:
                what = f"{count:,} message{'' if count == 1 else 's'} {direction}"
                yield f"{what} contained secrets, which were replaced; the raw bytes in this direction were not kept"

    def _damage_notes(self) -> Iterator[str]:
        for direction, reader in self._readers.items():
            if reader.damage:
                more = f" and {len(reader.damage) - 1} more" if len(reader.damage) > 1 else ""
                yield f"the WebSocket frames {direction} are not valid: {reader.damage[0]}{more}"
            if reader.waiting_bytes:
                yield f"the WebSocket frames {direction} end inside a message: {reader.waiting_bytes:,} bytes arrived"
