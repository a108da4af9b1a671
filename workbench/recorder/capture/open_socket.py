"""A WebSocket while it is open: its messages, read from a copy of its bytes, and the turns in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from workbench.protocols import SocketTurns
from workbench.wire import TURNS, Exchange, ExchangeKind, Frame, MessageReader, Redactor, close_of, deflate_of

_START, _END = b"data: ", b"\n\n"


class OpenSocket:
    """Both directions of one connection.

    Args:
        handshake: the exchange whose response was 101, as it came: not redacted.

    Attributes:
        frames: its messages, in the order in which they were complete.
    """

    def __init__(self, handshake: Exchange) -> None:
        agreed = handshake.response.headers.get("sec-websocket-extensions") if handshake.response else ""
        self.frames: list[Frame] = []
        self._turns = SocketTurns(replace(handshake, kind=ExchangeKind.WEBSOCKET))
        self._readers = {
            direction: MessageReader(deflate_of(agreed or "", side))
            for direction, side in (("sent", "client"), ("received", "server"))
        }

    @property
    def count(self) -> int:
        """Number of its turns."""
        return len(self._turns)

    def feed(self, direction: str, data: bytes, at: float) -> None:
        """Take bytes of one direction ("sent" or "received", seen from the client)."""
        for message in self._readers[direction].feed(data):
            frame = Frame(direction, message.opcode, message.data, at)
            self.frames.append(frame)
            self._turns.add(frame)

    def turns(self, first: int) -> Iterator[tuple[int, Exchange]]:
        """Turns from a number on, with their numbers, which count from one."""
        for number in range(first, len(self._turns) + 1):
            yield number, self._turns.exchange(number)

    def over(self, numbers: Iterable[int], *, at_end: bool) -> Iterator[tuple[int, Exchange]]:
        """Those of these turns that are over; all at the end of the connection."""
        for number in numbers:
            if at_end or self._turns.is_over(number):
                yield number, self._turns.exchange(number)

    def close(self, exchange: Exchange, redactor: Redactor) -> Exchange:
        """The connection as it stays in the file, from the exchange of its handshake."""
        notes = [exchange.note, *self._close_notes(), *self._damage_notes()]
        frames = tuple(_safe(self.frames, redactor))
        meta = {**exchange.meta, TURNS: len(self._turns)} if len(self._turns) else exchange.meta
        return replace(exchange, frames=frames, meta=meta, note="; ".join(filter(None, notes)))

    def _close_notes(self) -> Iterator[str]:
        for frame in self.frames:
            if frame.opcode == "close":
                who = "client" if frame.direction == "sent" else "server"
                code, why = close_of(frame.data)
                yield f"the {who} closed it with {code}{f' ({why})' if why else ''}"

    def _damage_notes(self) -> Iterator[str]:
        for direction, reader in self._readers.items():
            if reader.damage:
                more = f" and {len(reader.damage) - 1} more" if len(reader.damage) > 1 else ""
                yield f"the WebSocket frames {direction} are not valid: {reader.damage[0]}{more}"
            if reader.waiting_bytes:
                yield f"the WebSocket frames {direction} end inside a message: {reader.waiting_bytes:,} bytes arrived"


def _safe(frames: list[Frame], redactor: Redactor) -> Iterable[Frame]:
    """The messages without secrets, also those that are split over several: a stand-in has the length of its secret."""
    safe: dict[int, Frame] = {}
    for direction in ("sent", "received"):
        texts = [(n, f) for n, f in enumerate(frames) if f.direction == direction and b"\n" not in f.data]
        joined = b"".join(_START + frame.data + _END for _, frame in texts if frame.opcode == "text")
        made, found = redactor.text(joined)
        if not found or len(made) != len(joined):
            continue
        at = 0
        for n, frame in texts:
            if frame.opcode == "text":
                at += len(_START)
                safe[n] = replace(frame, data=made[at : at + len(frame.data)])
                at += len(frame.data) + len(_END)
    return redactor.exchange(Exchange("", frames=tuple(safe.get(n, frame) for n, frame in enumerate(frames)))).frames
