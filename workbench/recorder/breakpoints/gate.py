"""The armed breakpoints and the pauses of one recorder: shared by intercepted exchanges and controllers."""

from __future__ import annotations

import asyncio
import base64
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from workbench import regex
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols.clients import ClientWaits, client_of, facts_of
from workbench.recorder.breakpoints.judge_client import JudgeClient
from workbench.recorder.breakpoints.open_tool_calls import OpenToolCalls
from workbench.recorder.events import RequestHead
from workbench.wire import Headers

if TYPE_CHECKING:
    from workbench.recorder.breakpoints.kinds import Breakpoint
    from workbench.recorder.capture.socket_state import SocketState


MOST_ENDED = 10_000
"""Exchanges that are over and that the judge was not told of: if it has none, nobody asks for them."""

HEADERS = ("x-stainless-read-timeout", "x-stainless-timeout", "x-server-timeout")


NODE_FETCH = ClientWaits(300.0, 300.0, source="default of Node's fetch (openai/openai-node#2153)")
"""An SDK that Node runs, whatever it says itself."""

UNKNOWN = "unknown"

_SECONDS = regex.compile(r"[0-9]{1,7}(?:\.[0-9]{1,6})?")


class ClientTimeout(NamedTuple):
    """Client timeout in seconds (None if unknown) and how we know it."""

    seconds: float | None
    words: str


def client_timeout(headers: Headers, client: str, *, has_head: bool = False) -> ClientTimeout:
    """The shortest known timeout that applies to a client.

    Args:
        headers: of its request.
        client: its name, see ``clients.known_clients.client_of``.
        has_head: it has the head of its response, and waits for more of the body.
    """
    is_script = (headers.get("x-stainless-lang") or "") == "js"
    known = facts_of(client).waits
    if not known.source and is_script and headers.get("x-stainless-runtime") == "node":
        known = NODE_FETCH
    limits = [] if is_script and has_head else _stated_timeouts(headers)
    if (seconds := known.body if has_head else known.head) is not None:
        limits.append(ClientTimeout(seconds, known.source))
    return min(limits, key=lambda limit: limit.seconds or 0, default=ClientTimeout(None, UNKNOWN))


def tool_timeout(client: str) -> ClientTimeout:
    """How long a client waits for the result of a tool."""
    waits = facts_of(client).waits
    return ClientTimeout(waits.tool, UNKNOWN if waits.tool is None else waits.source)


def _stated_timeouts(headers: Headers) -> list[ClientTimeout]:
    stated = ((name, headers.get(name) or "") for name in HEADERS)
    return [
        ClientTimeout(float(s), f"stated by the client ({name})")
        for name, s in stated
        if _SECONDS.fullmatch(s) and float(s)
    ]


RECORDING = "recording"
"""Answers a held ``tools/call`` with a recorded result: of this session, or of ``recording:FILE``."""

_SIMULATOR = regex.compile(r"sim:(\S+)")
_RECORDING = regex.compile(RECORDING + r"(?::(.+))?")

CONTINUE, EDIT, ANSWER, DROP = "continue", "edit", "answer", "drop"


class PausedExchange(Protocol):
    """An exchange that waits for a decision."""

    def actions(self) -> tuple[str, ...]:
        """Actions that can end the pause."""
        ...

    def held_body(self) -> tuple[bytes, int]:
        """The held body without content coding, and how many bytes of it are already sent."""
        ...

    @property
    def limit(self) -> str:
        """Why not every action can end the pause; empty if each can."""
        ...

    @property
    def note(self) -> str:
        """What the pause means for the connection, in a sentence without a full stop; empty for nothing."""
        ...

    def resume(self) -> None:
        """Pass the message on unchanged."""
        ...

    def edit(self, body: bytes) -> None:
        """Pass this body on instead. Raises UsageError if that is impossible."""
        ...

    def answer(self, reply: Mapping[str, JsonValue], who: str) -> None:
        """Respond to the client with this. Raises UsageError if that is impossible."""
        ...

    def drop(self) -> None:
        """Abort the client's connection."""
        ...


class UnreadSocket(Protocol):
    """A WebSocket whose messages nobody holds."""

    @property
    def socket_url(self) -> str:
        """The URL of its handshake; empty once it is over."""
        ...

    async def hold_messages(self) -> None:
        """Hold its messages where a breakpoint wants it, from now on."""
        ...


class JudgeLike(Protocol):
    """Evaluates breakpoints, see ``JudgeClient``."""

    def start(self) -> object:
        """Prepare for questions."""
        ...

    async def ask(self, verb: str, **words: JsonValue) -> Mapping[str, JsonValue]:
        """The answer to a question, or {"unjudged": WHY}."""
        ...

    def close(self) -> None:
        """End the judge."""
        ...


@dataclass(frozen=True, slots=True)
class Pause:
    """One pause; ``description`` is its PAUSE object for controllers, see ``breakpoints.remote``."""

    id: int
    description: Mapping[str, JsonValue]
    exchange: PausedExchange


class BreakpointGate:
    """Holds armed breakpoints and paused exchanges, and asks the judge. For one event loop.

    Args:
        run: prefix of the ids of the recording's exchanges.
        out: its file.
        client: name of the client that was started; empty if unknown.
        judge: evaluates breakpoints; None for a separate process that follows the file.
        is_tool_hop: what passes are messages of tool servers, not requests to models.

    Attributes:
        listeners: receive every event (see ``breakpoints.remote``).
        before_judging: called before a question: the judge answers once the exchange is in the file.
        trouble: why breakpoints do not work; empty if they do.
        client: name of the client, for those that do not name themselves in each request.
        tool_calls: calls under way, and streams for their responses.
        declines_compression: WebSockets that may be held are opened without compression, so that messages can be
            edited.
        open_sockets: WebSockets that were opened when no breakpoint could hold their messages.
        read_socket: asks the recording what it knows of one, by its key.
        hop: name of the hop of the whole recording.
    """

    def __init__(
        self, run: str, out: Path, *, client: str = "", judge: JudgeLike | None = None, is_tool_hop: bool = False
    ) -> None:
        self.listeners: set[Callable[[Mapping[str, JsonValue]], None]] = set()
        self.before_judging: Callable[[], None] = lambda: None
        self.trouble = ""
        self.is_tool_hop = is_tool_hop
        self.tool_calls = OpenToolCalls()
        self.declines_compression = False
        self.open_sockets: set[UnreadSocket] = set()
        self.read_socket: Callable[[int], Future[SocketState | None]] = lambda key: _unknown()
        self._run, self.client, self.hop = run, client, ""
        self._epoch = time.time() - time.monotonic()
        self._ended = deque[str](maxlen=MOST_ENDED)
        self._armed: dict[str, Breakpoint] = {}
        self._pauses: dict[int, Pause] = {}
        self._count = 0
        self._judge: JudgeLike = judge or JudgeClient(out, self._judge_is_gone)

    # What is armed

    def arm(self, name: str) -> None:
        """Arm a breakpoint. Raises UsageError."""
        from workbench.recorder.breakpoints.kinds import parse

        armed = parse(name)
        self._armed.update({each.name: each for each in armed})
        self.trouble = ""
        if any(each.sides or each.tool_sides for each in armed):
            self._judge.start()
        self._emit({"event": "armed", "armed": self.armed_names})

    async def hold_open_sockets(self) -> None:
        """Have armed breakpoints hold messages of WebSockets that are open already."""
        due = [each for each in self.open_sockets if each.socket_url and self.holds_frames(each.socket_url)]
        await asyncio.gather(*(each.hold_messages() for each in due))

    def disarm(self, name: str) -> None:
        """Disarm a breakpoint. Paused exchanges stay paused. Raises UsageError."""
        names = [*self._armed] if name == "all" else [name]
        for each in names:
            if each not in self._armed:
                raise UsageError(f"{each!a} is not armed", hint=f"armed: {', '.join(self._armed) or 'nothing'}")
            del self._armed[each]
        self._emit({"event": "armed", "armed": self.armed_names})

    @property
    def armed_names(self) -> list[str]:
        """Names of the armed breakpoints."""
        return [*self._armed]

    def sides_to_hold(self, method: bytes, url: str) -> frozenset[str]:
        """Sides of an exchange that may be held; empty if no breakpoint for this hop is armed, or none can apply."""
        if not self._armed or method != b"POST" or not (self.is_tool_hop or self.protocol_of(url)):
            return frozenset()
        return self.armed_sides

    @property
    def armed_sides(self) -> frozenset[str]:
        """Sides that an armed breakpoint checks at this hop."""
        return frozenset().union(*(each.sides_at(is_tool_hop=self.is_tool_hop) for each in self._armed.values()))

    def holds_frames(self, url: str) -> bool:
        """True if an armed breakpoint may hold messages of a WebSocket that is opened now."""
        if any(each.frame_sides for each in self._armed.values()):
            return True
        from workbench import protocols

        name = self.protocol_of(url) if self.armed_sides and not self.is_tool_hop else None
        return name is not None and protocols.get(name).splitter is not None

    def frame_reasons(self, side: str, types: Sequence[str]) -> tuple[Mapping[str, JsonValue], ...]:
        """Reasons to pause a message of a WebSocket by its type."""
        return tuple(r._asdict() for each in self._armed.values() for r in each.frame_reasons(side, types))

    def protocol_of(self, url: str) -> str | None:
        """The protocol that a URL belongs to; None if to none."""
        from workbench import protocols

        return next((adapter.name for adapter in protocols.every() if adapter.claims_url(url)), None)

    # What is judged

    def exchange_id(self, key: int) -> str:
        """Id of an exchange in the session."""
        return f"{self._run}-{key}"

    def note_end(self, key: int) -> None:
        """An exchange is over: what begins after it is judged with it, once it is in the file."""
        self._ended.append(self.exchange_id(key))

    def words_of_request(self, head: RequestHead, body: bytes, at: float) -> JsonValue:
        """A request as the judge takes it; ``at``: when it began, by the loop's clock."""
        return {
            "method": head.method, "url": head.url, "headers": head.headers.items, "version": head.http_version,
            "body": base64.b64encode(body).decode(), "started_at": self._epoch + at, "hop": head.hop or self.hop,
            "client": client_of(head.headers.get("user-agent") or "", self.client),
        }  # fmt: skip

    async def judge(
        self, exchange: str, side: str, **words: JsonValue
    ) -> tuple[tuple[Mapping[str, JsonValue], ...], str]:
        """Reasons to pause this side of an exchange, and why it could not be judged; each may be empty.

        Args:
            words: further members of the question; without ``request`` the judge finds that in the file.
        """
        names = [n for n, each in self._armed.items() if side in each.sides_at(is_tool_hop=self.is_tool_hop)]
        if not names:
            return (), ""
        ended = [self._ended.popleft() for _ in range(len(self._ended))]
        if ended or "request" not in words:
            self.before_judging()
        judgement = await self._judge.ask(side, exchange=exchange, kinds=names, ended=ended, **words)
        return tuple(judgement.get("reasons", ())), judgement.get("unjudged", "")

    def report_unjudged(self, exchange: str, why: str) -> None:
        """Report an exchange that continues without having been judged."""
        self._emit({"event": "unjudged", "exchange": exchange, "why": why})

    def _judge_is_gone(self, words: str) -> None:
        self._armed.clear()
        self.trouble = words
        self._emit({"event": "trouble", "text": words})
        self._emit({"event": "armed", "armed": []})

    # What is paused

    @property
    def pauses(self) -> list[Mapping[str, JsonValue]]:
        """Descriptions of all pauses for controllers, oldest first."""
        return [self._describe(pause) for pause in self._pauses.values()]

    def pause(
        self, exchange: PausedExchange, id_: str, head: RequestHead, side: str,
        reasons: tuple[Mapping[str, JsonValue], ...], *, quiet: float, has_head: bool,
    ) -> int:  # fmt: skip
        """Add a pause and report it; returns its id.

        Args:
            id_: of the exchange, in the session.
            quiet: seconds since the client last sent or received something.
            has_head: it has the head of its response.
        """
        self._count += 1
        client = client_of(head.headers.get("user-agent") or "", self.client)
        if self.is_tool_hop and not client:
            client = self._agent
        waits = tool_timeout(client) if self.is_tool_hop else client_timeout(head.headers, client, has_head=has_head)
        now = time.time()
        description = {
            "id": self._count, "exchange": id_, "side": side, "reasons": list(reasons),
            "method": head.method, "url": head.url, "client": client, "since": now,
            "answered_by": RECORDING if self.is_tool_hop else "simulator", "note": exchange.note,
            "timeout": waits.seconds, "timeout_from": waits.words,
            "times_out_at": None if waits.seconds is None else now - quiet + waits.seconds,
        }  # fmt: skip
        pause = self._pauses[self._count] = Pause(self._count, description, exchange)
        self._emit({"event": "paused", "pause": self._describe(pause)})
        return self._count

    def end_pause(self, number: int, how: str) -> None:
        """Remove a pause and report its end."""
        if self._pauses.pop(number, None):
            self._emit({"event": "ended", "pause": number, "how": how})

    def find_pause(self, number: JsonValue) -> Pause:
        """The pause with this id. Raises UsageError."""
        pause = self._pauses.get(number) if isinstance(number, int) else None
        if pause is None:
            there = ", ".join(map(str, self._pauses)) or "none"
            raise UsageError(f"no pause with number {number!a}", hint=f"paused: {there}")
        return pause

    def decide(self, number: JsonValue, action: str, body: bytes = b"") -> None:
        """Continue, edit or drop a paused exchange. Raises UsageError."""
        exchange = self._pause_allowing(number, action).exchange
        if action == CONTINUE:
            exchange.resume()
        elif action == EDIT:
            exchange.edit(body)
        elif action == DROP:
            exchange.drop()

    async def answer(self, number: JsonValue, target: JsonValue) -> None:
        """Have a simulator, or for a tool server a recording, respond to a paused exchange. Raises UsageError."""
        pause = self._pause_allowing(number, ANSWER)
        named = (_RECORDING if self.is_tool_hop else _SIMULATOR).fullmatch(str(target))
        if named is None and self.is_tool_hop:
            raise UsageError(f"{target!a} is not a recording", hint=f"use {RECORDING} or {RECORDING}:FILE")
        if named is None:
            raise UsageError(f"{target!a} is not a simulator", hint="use sim:CONTRACT, for example sim:anthropic")
        source = {"file" if self.is_tool_hop else "contract": named[1] or ""}
        reply = await self._judge.ask("answer", exchange=pause.description["exchange"], **source)
        if "unjudged" in reply:
            raise UsageError(reply["unjudged"])
        self.find_pause(number).exchange.answer(reply, str(target))

    def _pause_allowing(self, number: JsonValue, action: str) -> Pause:
        pause = self.find_pause(number)
        if action not in pause.exchange.actions():
            can, why = ", ".join(pause.exchange.actions()), pause.exchange.limit
            what = f"this decision is not possible for pause {number}{': ' if why else ''}{why}"
            raise UsageError(what, hint=f"possible: {can}")
        return pause

    @property
    def _agent(self) -> str:
        """The client as it is known elsewhere, else as it calls itself."""
        return facts_of(self.client).name or self.client

    def _describe(self, pause: Pause) -> Mapping[str, JsonValue]:
        body, sent = pause.exchange.held_body()
        can = {"deeds": list(pause.exchange.actions()), "limit": pause.exchange.limit}
        return {**pause.description, "bytes": len(body), "sent": sent, **can}

    def _emit(self, event: Mapping[str, JsonValue]) -> None:
        for listener in tuple(self.listeners):
            listener(event)

    def close(self) -> None:
        """Disarm everything and end the judge; paused exchanges end with their connections."""
        self._armed.clear()
        self._judge.close()


def _unknown() -> Future[SocketState | None]:
    unknown: Future[SocketState | None] = Future()
    unknown.set_result(None)
    return unknown


Reasons = tuple[Mapping[str, JsonValue], ...]


class PauseTracker:
    """Starts and ends the pauses of one exchange, and keeps notes of them.

    Args:
        exchange: what waits.
        id_: of the exchange, in the session.
        head: of the request.

    Attributes:
        notes: sentences for the note of the exchange.
        active_at: when the client last sent or received something, by the loop's clock.
    """

    def __init__(self, gate: BreakpointGate, exchange: PausedExchange, id_: str, head: RequestHead) -> None:
        self.notes: list[str] = []
        self._gate, self._exchange, self._id, self._head = gate, exchange, id_, head
        self._loop = asyncio.get_running_loop()
        self._number, self._since, self._kinds = 0, 0.0, ""
        self.note_activity()

    def note_activity(self) -> None:
        """Remember that the client sent or received something now."""
        self.active_at = self._loop.time()

    async def evaluate(self, side: str, **words: JsonValue) -> tuple[Reasons, str]:
        """Reasons to pause, and why it could not be judged. If the check fails, traffic continues."""
        try:
            return await self._gate.judge(self._id, side, **words)
        except Exception as error:
            return (), f"{type(error).__name__}: {error}"

    def report_unjudged(self, why: str) -> None:
        """Note and report that the exchange continues without having been judged."""
        self.notes.append(f"not checked at a breakpoint: {why}")
        self._gate.report_unjudged(self._id, why)

    def begin(self, side: str, reasons: Reasons, *, has_head: bool) -> None:
        """Begin a pause; ``has_head``: the client has the head of its response."""
        self._since = self._loop.time()
        self._kinds = ", ".join(dict.fromkeys(reason["kind"] for reason in reasons))
        quiet = self._since - self.active_at
        self._number = self._gate.pause(
            self._exchange, self._id, self._head, side, reasons, quiet=quiet, has_head=has_head
        )

    def end(self, how: str) -> None:
        """End the pause, if there is one."""
        number, self._number = self._number, 0
        if number:
            seconds = self._loop.time() - self._since
            self.notes.append(f"paused at a breakpoint ({self._kinds}) for {seconds:.1f} s: {how}")
            self._gate.end_pause(number, how)
