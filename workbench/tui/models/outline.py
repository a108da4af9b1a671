"""The IR of an exchange as a flat outline, with ways to find a node by its place, its pointer or a stream event."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.chain import Ledger, ReplayOutcome
from workbench.ir import (
    Message,
    ModelRequest,
    NodeRef,
    Opaque,
    Part,
    Source,
    ToolResultIR,
)
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import is_known_part, read_messages
from workbench.safetext import from_bytes
from workbench.views import count, part_text
from workbench.wire import TURNS, ExchangeKind, dumps, seen_frames

WHOLE = -1
"""Part index of a reference to a whole message."""


@dataclass(frozen=True, slots=True)
class OutlineNode:
    """One line of the outline.

    Attributes:
        kind: ``"side"``, ``"problem"``, ``"system"``, ``"tools"``, ``"message"``, ``"part"``, ``"inner"`` (a part in a
            tool result), ``"missing"`` (missing reasoning), ``"error"`` or ``"frame"`` (a WebSocket message or stream
            event that no adapter decodes).
        pointer: absolute pointer.
        ref: reference to the message (part ``WHOLE``) or part.
        text: full content: the text, the arguments, the content of a tool result.
        is_known: its protocol has a part of this name; of parts that an adapter decodes it is not asked.
    """

    kind: str
    side: str
    pointer: str
    depth: int = 0
    ref: NodeRef | None = None
    message: Message | None = None
    part: Part | None = None
    text: str = ""
    is_known: bool = False


class Outline:
    """The nodes of both sides, in wire order."""

    def __init__(self, decoded: DecodedExchange, ledger: Ledger) -> None:
        self._lost = {e.message: e.why for e in ledger.entries if e.owed and e.sent is ReplayOutcome.MISSING}
        self.nodes = tuple([*_problems(decoded), *self._request(decoded), *self._response(decoded), *_others(decoded)])
        self._by_pointer: dict[tuple[str, str], int] = {}
        self._by_ref: dict[NodeRef, int] = {}
        self._by_event: dict[int, int] = {}
        for number, node in enumerate(self.nodes):
            self._enter(number, node)

    def _enter(self, number: int, node: OutlineNode) -> None:
        if node.kind != "missing":
            self._by_pointer.setdefault((node.side, node.pointer), number)
        if node.ref and node.kind in ("message", "part"):
            self._by_ref.setdefault(node.ref, number)
        if node.side == RESPONSE and node.part:
            pieces = node.part.source.segments.values()
            for event in (s.event for segments in pieces for s in segments):
                self._by_event[event] = number
            for event in node.part.source.events:
                self._by_event.setdefault(event, number)

    def __len__(self) -> int:
        return len(self.nodes)

    def by_ref(self, ref: NodeRef) -> int | None:
        """The node of a message or part."""
        return self._by_ref.get(ref)

    def by_event(self, event: int) -> int | None:
        """The response node that a stream event belongs to."""
        return self._by_event.get(event)

    def by_pointer(self, side: str, pointer: str) -> int | None:
        """Innermost node that contains the pointer."""
        at = pointer
        while (side, at) not in self._by_pointer:
            if not at:
                return None
            at = at[: at.rfind("/")] if "/" in at else ""
        return self._by_pointer[side, at]

    def _request(self, decoded: DecodedExchange) -> Iterator[OutlineNode]:
        request = decoded.request
        if request is None:
            return
        yield OutlineNode("side", REQUEST, "", text=_asks(request))
        for part in request.system:
            yield OutlineNode("system", REQUEST, part.source.pointer, 1, part=part, text=part_text(part))
        if request.tools:
            names = ", ".join(t.name or "(no name)" for t in request.tools)
            pointer = request.tools[0].pointer
            yield OutlineNode("tools", REQUEST, pointer[: pointer.rfind("/")], 1, text=names)
        yield from self._messages(REQUEST, request.messages)

    def _response(self, decoded: DecodedExchange) -> Iterator[OutlineNode]:
        response = decoded.response
        if response is None:
            return
        facts = [f"stream of {count(len(decoded.events), 'event')}" if decoded.events else ""]
        facts += [f"finished: {response.finish_reason}" if response.finish_reason else ""]
        unfinished = "still arriving" if decoded.is_arriving else "truncated"
        facts += ["" if response.is_complete else unfinished, "reasoning only" if response.is_reasoning_only else ""]
        yield OutlineNode("side", RESPONSE, "", text=" · ".join(f for f in facts if f))
        if response.error:
            yield OutlineNode(
                "error", RESPONSE, _error_pointer(decoded, response.error.message), 1, text=response.error.message
            )
        yield from self._messages(RESPONSE, response.messages)

    def _messages(self, side: str, messages: tuple[Message, ...]) -> Iterator[OutlineNode]:
        for m, message in enumerate(messages):
            whole = NodeRef(side, m, WHOLE)
            yield OutlineNode("message", side, message.pointer, 1, whole, message)
            if side == REQUEST and m in self._lost:
                yield OutlineNode("missing", side, message.pointer, 2, whole, message, text=self._lost[m])
            for p, part in enumerate(message.parts):
                yield from _part(side, NodeRef(side, m, p), message, part)


def _others(decoded: DecodedExchange) -> Iterator[OutlineNode]:
    """Nodes of an exchange with a tool server, or of one that no adapter decodes."""
    if decoded.exchange.kind is not ExchangeKind.MCP or TURNS in decoded.exchange.meta:
        yield from _frames(decoded)
        return
    for message in read_messages(decoded):
        number = "" if message.id is None else f" · id {message.id}"
        yield OutlineNode("side", message.side, "", text=f"{message.method}{number}")
        for part in message.parts:
            known, pointer = is_known_part(part), part.source.pointer
            yield OutlineNode("part", message.side, pointer, 2, part=part, text=part_text(part), is_known=known)


def _frames(decoded: DecodedExchange) -> Iterator[OutlineNode]:
    """Frames and events of an exchange that no adapter decodes."""
    if decoded.request or decoded.response:
        return
    for frame in seen_frames(decoded.exchange):
        side = REQUEST if frame.direction == "sent" else RESPONSE
        yield OutlineNode("frame", side, "", 1, part=Opaque(frame.type, frame.value), text=frame.text)
    for event in decoded.events if decoded.protocol else ():
        part = Opaque(event.name or "event", None, Source(events=(event.number,)))
        yield OutlineNode("frame", RESPONSE, "", 1, part=part, text=from_bytes(event.data or b""))


def _part(side: str, ref: NodeRef, message: Message, part: Part) -> Iterator[OutlineNode]:
    yield OutlineNode("part", side, message.absolute(part), 2, ref, message, part, part_text(part))
    if isinstance(part, ToolResultIR) and len(part.content) > 1:
        for inner in part.content:
            yield OutlineNode("inner", side, message.absolute(inner), 3, ref, message, inner, part_text(inner))


def _problems(decoded: DecodedExchange) -> Iterator[OutlineNode]:
    for problem in decoded.problems:
        side = REQUEST if problem.slug.startswith(f"{REQUEST}.") else RESPONSE
        yield OutlineNode("problem", side, problem.pointer, text=problem.message)


def _error_pointer(decoded: DecodedExchange, message: str) -> str:
    """Pointer of an error's message; empty for a stream and if the message is not found."""
    text = dumps(message)[1:-1]
    at = decoded.response_text.find(text) if text and not decoded.events else -1
    return decoded.response_index.pointer_at(at) if at >= 0 else ""


def _asks(request: ModelRequest) -> str:
    facts = [request.model or "", count(len(request.messages), "message"), "stream" if request.stream else ""]
    facts += [f"thinking {request.thinking}" if request.thinking else ""]
    choice = request.tool_choice
    facts += [f"tool choice {choice.mode}" + (f" {choice.name}" if choice.name else "") if choice else ""]
    return " · ".join(f for f in facts if f)
