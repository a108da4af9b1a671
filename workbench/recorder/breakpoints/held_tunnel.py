"""A WebSocket whose messages breakpoints may hold, in the place of a plain ``SocketTunnel``.

Each direction is a queue: what waits for a decision, and behind it everything that came later, pings included. A
message is held for its type (``frame:TYPE``); the request of a turn is judged as a request over HTTP is; the response
of a turn is held from its first tool call to its end, and judged then. What nobody edits passes byte for byte.

The recording has what the client sent when it came, and what the client received when it left. If a message is edited
or dropped, a second connection is recorded at the hop after the breakpoint: what passed between here and the upstream;
of a connection that was open before a breakpoint was armed, what passed since then.
"""

from __future__ import annotations

import asyncio
import base64
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from workbench.errors import UsageError, WireError
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.limits import MAX_HELD_AHEAD, MAX_HELD_ANSWER
from workbench.protocols import REQUEST, RESPONSE
from workbench.recorder.breakpoints.gate import CONTINUE, DROP, EDIT, BreakpointGate, PauseTracker
from workbench.recorder.breakpoints.held_frames import HeldPart, PartReader
from workbench.recorder.breakpoints.held_turns import HeldTurns
from workbench.recorder.breakpoints.intercepted_events import EDITED, SocketChild
from workbench.recorder.breakpoints.kinds import frame_types
from workbench.recorder.capture.socket_state import SocketState
from workbench.recorder.events import RequestBytes, ResponseBytes, SafeListener
from workbench.recorder.relay.client_side import SocketSide
from workbench.recorder.relay.socket_tunnel import RECEIVED as _RECEIVED
from workbench.recorder.relay.socket_tunnel import SENT as _SENT
from workbench.recorder.relay.socket_tunnel import Handshake, SocketTunnel
from workbench.recorder.relay.upstream_connection import UpstreamConnection
from workbench.wire import BodyDigest, Exchange, ExchangeKind, Frame, HttpRequest, HttpResponse, deflate_of, loads

_SIDES = {_SENT: REQUEST, _RECEIVED: RESPONSE}
_MOST_NOTES = 20

DECLINED = (
    "opened without compression (permessage-deflate was not offered to the "
    "server), so that breakpoints can edit messages"
)
COMPRESSED = "messages in this direction are compressed together with earlier ones, so this message cannot be changed"
UNKNOWN = "messages of this open connection cannot be paused: the recording does not contain the whole connection"
STATE_SECONDS = 5.0
"""Seconds to wait for what the recording knows of an open connection: it writes every second at least."""

BEGUN = "the first bytes of this message have already been forwarded"


class _WaitingCount(NamedTuple):
    """Frames that wait behind a held message."""

    messages: int
    pings: int

    @property
    def words(self) -> str:
        if not self.messages:
            return ""
        more = f", {self.pings} of them pings" if self.pings else ""
        return f"{self.messages} later message{'' if self.messages == 1 else 's'} waited for it{more}"


class PausedFrames:
    """A part of one direction that waits for a decision, as an exchange that may be paused."""

    def __init__(self, tunnel: HeldTunnel, way: _Direction, part: HeldPart, id_: str) -> None:
        self._tunnel, self._way, self._part = tunnel, way, part
        self.tracker = PauseTracker(tunnel.gate, self, id_, tunnel.handshake.request)

    def actions(self) -> tuple[str, ...]:
        """Actions that can end the pause."""
        return (CONTINUE,) if self.limit else (CONTINUE, EDIT, DROP)

    @property
    def limit(self) -> str:
        """Why the message can only be passed on; empty if it can be changed."""
        if not self._way.reader.is_rewritable:
            return COMPRESSED
        return "" if self._part.is_whole else BEGUN

    @property
    def note(self) -> str:
        """What holding it means for the connection."""
        return (
            "later messages in this direction wait behind this message, including pings: a side that gets no pong "
            "may close the connection"
        )

    def held_body(self) -> tuple[bytes, int]:
        """The message (several: one in each line), and how many bytes of it are already sent: none."""
        return self._part.body(), 0

    def resume(self) -> None:
        """Pass the bytes on unchanged."""
        self._end("continued", None)

    def edit(self, body: bytes) -> None:
        """Pass another message on. Raises UsageError."""
        wire = self._part.with_body(body, is_masked=self._way.name == _SENT)
        self._end("edited" if self._way.name == _SENT else "the server's message was edited", wire)

    def answer(self, reply: Mapping[str, JsonValue], who: str) -> None:
        """Impossible: it is not among the actions."""
        raise UsageError("a simulator cannot answer a WebSocket message")

    def drop(self) -> None:
        """Pass nothing on but the control frames in front of the message."""
        self._end("dropped", b"".join(self._part.controls))

    def leave(self, why: str) -> None:
        """One side is gone."""
        self.tracker.end(why)

    def _end(self, how: str, wire: bytes | None) -> None:
        later = self._way.later.words
        self.tracker.end(f"{how}; {later}" if later else how)
        self._tunnel.apply_decision(self._way, self._part, wire, self.tracker.notes)


@dataclass(slots=True)
class _Direction:
    """One direction.

    Attributes:
        queue: parts that have not left; the first one waits for a decision, or for its end.
        paused: the first one, while a person is to decide.
        judging: the check of the first one.
        has_ended: its sender sends nothing more.
        begun: bytes here of a message whose first bytes had left before messages could be held; None behind it.
    """

    name: str
    reader: PartReader
    queue: deque[HeldPart]
    paused: PausedFrames | None = None
    judging: asyncio.Task[None] | None = None
    has_ended: bool = False
    begun: int | None = None

    def without_open_message(self, data: bytes, part: HeldPart | None) -> bytes:
        """Bytes that came, without those of a message that had begun before; ``part`` is the first one that ended."""
        if self.begun is None:
            return data
        self.begun += len(data)
        if part is None:
            return b""
        after, self.begun = self.begun - len(part.wire), None
        return data[len(data) - after :]

    @property
    def later(self) -> _WaitingCount:
        """Number of messages, and of pings, that wait behind the first part."""
        behind = list(self.queue)[1:]
        return _WaitingCount(sum(len(part.messages) for part in behind), sum(part.pings for part in behind))

    @property
    def held_bytes(self) -> int:
        """Bytes that wait behind a decision."""
        return sum(len(part.wire) for part in self.queue) if self.paused or self.judging else 0


class HeldTunnel(SocketTunnel):
    """A WebSocket whose messages may be held.

    Args:
        handshake: of the connection.
        gate: the armed breakpoints.
        state: what is known of the connection if it was open before; None if it begins.
    """

    def __init__(
        self,
        client: SocketSide,
        listener: SafeListener,
        handshake: Handshake,
        connection: UpstreamConnection,
        *,
        is_full: bool,
        gate: BreakpointGate,
        state: SocketState | None = None,
    ) -> None:
        super().__init__(client, listener, handshake, connection, is_full=is_full)
        self.gate = gate
        extensions = handshake.response.headers.get("sec-websocket-extensions") or ""
        self._ways = {
            name: _Direction(name, PartReader(deflate_of(extensions, side), state and state.readers[name]), deque())
            for name, side in ((_SENT, "client"), (_RECEIVED, "server"))
        }
        protocol = gate.protocol_of(handshake.request.url) or ""
        self._turns = HeldTurns(_as_exchange(gate.exchange_id(handshake.key), handshake), protocol, state)
        self._child = SocketChild(listener, handshake, EDITED)
        self._notes = [DECLINED] if handshake.is_declined else []
        self._is_client_full = False
        self._upstream_end: tuple[Exception | None] | None = None

    def continue_from(self, other: SocketTunnel) -> None:
        """Take the place of a tunnel that held nothing; what it copied has left."""
        super().continue_from(other)
        for name, data in other.copies or ():
            for message in self._ways[name].reader.pass_by(data):
                self._turns.add(Frame(name, message.opcode, message.data, self._loop.time()))
        for way in self._ways.values():
            way.begun = 0 if way.reader.is_inside else None
        self._turns.skip_requests()
        self._notes.append(f"a breakpoint was armed after {self._turns.messages:,} messages had already been forwarded")

    # -- bytes

    @property
    def waiting_bytes(self) -> int:
        """Bytes of the client that wait behind a decision."""
        return self._ways[_SENT].held_bytes

    def request_data(self, data: bytes) -> bytes:
        """Take bytes of the client, which leave with the end of their message."""
        if data and not self._is_over:
            self._sent_digests.add_received(data)
            self._listener.on_event(RequestBytes(self._key, self._loop.time(), data))
            self._take(self._ways[_SENT], data)
        return b""

    def response_data(self, data: bytes) -> None:
        if data and not self._is_over:
            self._received_digests.add_received(data)
            self._take(self._ways[_RECEIVED], data)

    def _take(self, way: _Direction, data: bytes) -> None:
        parts = list(way.reader.feed(data))
        if way.name == _RECEIVED and (fresh := way.without_open_message(data, parts[0] if parts else None)):
            self._child.add(ResponseBytes(0, self._loop.time(), fresh))
        for part in parts:
            self._sort(way, part)
        self._advance(way)

    def _sort(self, way: _Direction, part: HeldPart) -> None:
        """Queue a part, with the reasons to hold it that its type gives."""
        for message in part.messages:
            value = _value(message.data)
            number = self._turns.add(Frame(way.name, message.opcode, message.data, self._loop.time()))
            part.number = number or part.number
            if message in part.data:
                part.reasons += self.gate.frame_reasons(_SIDES[way.name], frame_types(value, message.opcode))
        if way.name == _RECEIVED:
            part.is_open = self._has_first_call(part)
        open_part = way.queue[-1] if way.queue and way.queue[-1].is_open else None
        if open_part is None:
            way.queue.append(part)
        else:
            open_part.add(part)
            open_part.reasons += part.reasons
            is_too_long = len(open_part.wire) > MAX_HELD_ANSWER
            open_part.is_open = not is_too_long and not self._turns.is_complete(open_part.number)
            open_part.is_judged |= is_too_long

    def _has_first_call(self, part: HeldPart) -> bool:
        """The part begins the first tool call of a response whose responses are to be judged."""
        if not part.number or RESPONSE not in self.gate.armed_sides:
            return False
        return self._turns.has_first_call(part.number, (message.data for message in part.data))

    # -- decisions

    def _advance(self, way: _Direction) -> None:
        """Let everything leave that nothing holds."""
        while way.queue and not way.paused and not way.judging and not self._is_over:
            part = way.queue[0]
            if part.is_open:
                break
            if self._must_judge(way, part):
                part.is_judged = True
                way.judging = self._loop.create_task(self._judge(way, part), name="check a message")
            elif part.reasons and part.data:
                self._pause(way, part)
            else:
                way.queue.popleft()
                self._leave(way, part.wire)
        self._update_reading()
        self._end_way(way)

    def _must_judge(self, way: _Direction, part: HeldPart) -> bool:
        if part.is_judged or not part.number or _SIDES[way.name] not in self.gate.armed_sides or self.gate.is_tool_hop:
            return False
        if way.name == _RECEIVED:
            if not self._turns.is_complete(part.number):
                return False
            return self._turns.take_call(part.number)
        return self._turns.is_new_request(part.number)

    async def _judge(self, way: _Direction, part: HeldPart) -> None:
        """Ask whether a breakpoint wants the request or the response of a turn."""
        words: dict[str, JsonValue] = {}
        if way.name == _RECEIVED:
            answer = self._turns.response(part.number)
            words = {
                "status": answer.status, "reason": "", "headers": answer.headers.items, "version": "",
                "body": base64.b64encode(answer.body.raw).decode(),
            }  # fmt: skip
        tracker = PausedFrames(self, way, part, self._id(part)).tracker
        reasons, why = await tracker.evaluate(_SIDES[way.name], **words)
        way.judging = None
        if self._is_over:
            return
        if why:
            tracker.report_unjudged(why)
            self._add_notes(tracker.notes)
        part.reasons += reasons
        self._advance(way)

    def _id(self, part: HeldPart) -> str:
        """Id of the turn that a part belongs to, else of the connection."""
        connection = self.gate.exchange_id(self._key)
        return f"{connection}.{part.number}" if part.number else connection

    def _pause(self, way: _Direction, part: HeldPart) -> None:
        way.paused = PausedFrames(self, way, part, self._id(part))
        way.paused.tracker.begin(_SIDES[way.name], part.reasons, has_head=True)

    def apply_decision(self, way: _Direction, part: HeldPart, wire: bytes | None, notes: list[str]) -> None:
        """Let a paused part leave: as it came, or as other bytes."""
        way.paused = None
        way.queue.popleft()
        self._add_notes(notes)
        self._leave(way, part.wire, wire)
        self._advance(way)

    def _leave(self, way: _Direction, came: bytes, other: bytes | None = None) -> None:
        """Send bytes on, as they came or others in their place, and record them."""
        now, sent = self._loop.time(), came if other is None else other
        if other is not None:
            self._child.show()
        if way.name == _SENT:
            if not self._connection.transport.is_closing():
                self._connection.transport.write(sent)
            self._sent_digests.add_sent(sent)
            if way.begun is None:
                self._child.add(RequestBytes(0, now, sent))
            way.begun = None
        else:
            self._client.write(sent)
            self._received_digests.add_sent(sent)
            self._listener.on_event(ResponseBytes(self._key, now, sent))

    def _add_notes(self, notes: list[str]) -> None:
        self._notes += notes[: _MOST_NOTES - len(self._notes)]

    # -- reading, and the end

    def set_client_full(self, is_full: bool) -> None:
        self._is_client_full = is_full
        self._update_reading()

    def _update_reading(self) -> None:
        """Read from a side only as much as can be passed on, or held."""
        transport = self._connection.transport
        is_held = self._ways[_RECEIVED].held_bytes > MAX_HELD_AHEAD
        if not transport.is_closing():
            transport.pause_reading() if self._is_client_full or is_held else transport.resume_reading()
        self._client.update_reading()

    def end_of_client(self) -> bool:
        self._ways[_SENT].has_ended = True
        return True if self._is_held(self._ways[_SENT]) else super().end_of_client()

    def end_of_upstream(self) -> bool:
        self._ways[_RECEIVED].has_ended = True
        return True if self._is_held(self._ways[_RECEIVED]) else super().end_of_upstream()

    def upstream_closed(self, error: Exception | None) -> None:
        received = self._ways[_RECEIVED]
        if error is None and self._is_held(received):
            self._upstream_end = (error,)
            return
        super().upstream_closed(error)

    def _is_held(self, way: _Direction) -> bool:
        """True while something of it waits for a decision; a response that will not be complete passes."""
        if way.queue and way.queue[-1].is_open:
            way.queue[-1].is_open, way.queue[-1].is_judged = False, True
        elif not way.queue and (rest := way.reader.rest()):
            way.queue.append(rest)
        has_ended, way.has_ended = way.has_ended, False
        self._advance(way)
        way.has_ended = has_ended
        return bool(way.queue)

    def _end_way(self, way: _Direction) -> None:
        """Pass an end on that waited behind what was held."""
        if not way.has_ended or way.queue or self._is_over:
            return
        way.has_ended = False
        if rest := way.reader.rest():
            self._leave(way, rest.wire)
        if way.name == _RECEIVED and self._upstream_end:
            super().upstream_closed(*self._upstream_end)
        elif not (super().end_of_client() if way.name == _SENT else super().end_of_upstream()):
            self.stop("")
            self._client.finish(keeps=False)

    def _end(self, why: str) -> None:
        if self._is_over:
            return
        for way in self._ways.values():
            if way.judging:
                way.judging.cancel()
            if way.paused:
                way.paused.leave(why or "the connection ended")
                self._add_notes(way.paused.tracker.notes)
                way.paused = None
        now, received = self._loop.time(), self._ways[_RECEIVED]
        rest = received.reader.rest()
        for part in (*received.queue, *((rest,) if rest else ())):  # it came, and did not reach the client
            self._listener.on_event(ResponseBytes(self._key, now, part.wire))
        super()._end(why)
        self._child.end(now, why)

    def _digests(self) -> Mapping[str, BodyDigest]:
        """Those of both directions; none where a message was changed: the connection behind it has what passed."""
        return NOTHING if self._child.is_shown else super()._digests()

    def _note(self, why: str) -> str:
        return "; ".join(filter(None, (why, *self._notes)))


async def hold_open(tunnel: SocketTunnel, gate: BreakpointGate) -> HeldTunnel | None:
    """A tunnel that may hold messages, in the place of one that was open before; None if that is impossible.

    What passes until the recording has told where it is, passes unheld.
    """
    tunnel.copies = []
    try:
        state = await asyncio.wait_for(asyncio.wrap_future(gate.read_socket(tunnel.handshake.key)), STATE_SECONDS)
        if tunnel.is_over:
            return None
        if state is None:
            raise TimeoutError
        return tunnel.replaced_by(partial(HeldTunnel, gate=gate, state=state))
    except TimeoutError:
        gate.report_unjudged(gate.exchange_id(tunnel.handshake.key), UNKNOWN)
        return None
    finally:
        tunnel.copies = None


def _as_exchange(id_: str, handshake: Handshake) -> Exchange:
    head, answer = handshake.request, handshake.response
    request, answered = HttpRequest(head.method, head.url, head.headers), HttpResponse(answer.status, answer.headers)
    return Exchange(id_, request, answered, kind=ExchangeKind.WEBSOCKET)


def _value(data: bytes) -> JsonValue:
    try:
        return loads(data) if data[:1] in (b"{", b"[") else None
    except WireError:
        return None
