"""Turns of a Responses WebSocket: each ``response.create`` with the events that answer it.

Codex and the SDKs of OpenAI and xAI keep one connection for many turns. Facts: developers.openai.com, "WebSocket mode"
and its events; docs.x.ai, "WebSocket Mode": the message has the members of a ``POST /v1/responses`` body plus ``type``
(and ``stream_id``, a lane: turns of a lane are answered in order, and their events repeat the id); the events are those
of the HTTP stream. The Realtime API has messages of the same name with their members in ``response``: that is another
protocol. ``response.append`` was sent by Codex for a time: more input for the previous response.

``response.steer`` adds user input to a response that is being written: that response ends ``incomplete`` with the
reason ``steered``, and the server begins a successor which no ``response.create`` requested. An error may come without
a lane (the limit of the connection: it ends what every lane waits for), and xAI sends it without ``type``
(opencode issue 48227).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import SocketFact, SocketTurn
from workbench.protocols.common.error_body import read_error
from workbench.protocols.common.unknown_types import event_type, unknown_type
from workbench.protocols.refusals import of_error
from workbench.wire import Exchange, Frame, dumps, patch

_ASKS = ("response.create", "response.append")
_STEERS = "response.steer"
_ENVELOPE = ("type", "stream_id")
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done", "error")
_BESIDE = ("codex.",)
"""Beginnings of the types of events that are about the account (opencodex pull request 4232)."""

Value = dict[str, JsonValue]


@dataclass(slots=True)
class _ResponsesTurn(SocketTurn):
    """A message that requests a response.

    Attributes:
        sent: the message, and what it says.
        response: id of the response.
        is_steered: it ended because its successor begins.
        early: events about the account or the connection, before the first of the response: alone they answer nothing.
        follows: id of the response that was steered, where no ``response.create`` requested this one.
    """

    sent: bytes = b""
    value: Value = field(default_factory=dict)
    response: str = ""
    is_steered: bool = False
    early: list[tuple[int, Frame, str]] = field(default_factory=list)
    follows: str = ""

    def request_body(self) -> tuple[bytes, str]:
        envelope = [patch.Remove(f"/{name}") for name in _ENVELOPE if name in self.value]
        sent = dumps(self.value) if self.follows else self.sent
        how = f"frame {self.numbers[-1] + 1} without {' and '.join(_ENVELOPE)}"
        return patch.apply(sent, envelope), how


def claims_message(value: Value) -> bool:
    """A message that requests a response, with its members at the top."""
    return value.get("type") in _ASKS and ("model" in value or "input" in value)


class ResponsesTurns:
    """Turns in the order in which they were requested, each also in its lane, and the last message that steers."""

    title = "Responses"

    def __init__(self) -> None:
        self.turns: list[SocketTurn] = []
        self._lanes: defaultdict[str, list[_ResponsesTurn]] = defaultdict(list)
        self._steers: dict[str, tuple[int, Frame, Value]] = {}
        self._types: dict[str, int] = {}  # type of a message of the client → its last frame
        self._untyped: list[int] = []  # messages without a type that nothing answered yet
        self._facts: list[SocketFact] = []

    def take_sent(self, number: int, frame: Frame, value: Value) -> None:
        """Begin a turn for a message that requests a response; remember one that steers."""
        kind = value.get("type")
        if kind is None and ("model" in value or "input" in value):
            self._untyped.append(number)
        self._types[str(kind)] = number
        if claims_message(value):
            more = ["continues the previous response"] if kind == "response.append" else []
            self._begin(_ResponsesTurn([number], frame.at, notes=more, sent=frame.data, value=value), _lane(value))
        elif kind == _STEERS:
            self._steers[str(value.get("previous_response_id"))] = (number, frame, value)

    def take_received(self, number: int, frame: Frame, value: Value) -> None:
        """Assign an event to the turn of its lane that it belongs to; an error without a lane to all that wait."""
        kind = event_type(value)
        self._untyped.clear()
        if self._is_of_unknown_message(number, kind, value):
            return
        lane = self._lanes[_lane(value)]
        if kind == "error" and (refused := self._find_second(lane, value)):
            numbers = (refused.numbers[-1], number)
            text = f"message {numbers[0] + 1} requests a response while another one is in progress"
            self._facts.append(SocketFact("socket.two-responses", text, numbers))
            _add(refused, number, frame, kind, value)
            return
        if kind == "error" and "stream_id" not in value and all(turn.is_over for turn in lane):
            for turn in [turn for lane in self._lanes.values() for turn in lane if not turn.is_over]:
                _add(turn, number, frame, kind, value)
        elif owner := self._find_turn(number, frame, kind, value):
            _add(owner, number, frame, kind, value)

    def take_end(self, number: int, frame: Frame) -> None:
        """The end of a connection ends no turn."""

    def facts(self, handshake: Exchange) -> Iterator[SocketFact]:
        """Messages that the server does not know; the turns tell the rest."""
        yield from self._facts
        yield from self._forgotten_tools()
        if self._untyped:
            text = "a message has no type: the server cannot know that it requests a response, and did not respond"
            yield SocketFact("socket.unknown-message", text, tuple(self._untyped))

    def _forgotten_tools(self) -> Iterator[SocketFact]:
        """Requests that continue one with tools, and declare none: the server holds items, not declarations."""
        turns = [turn for turn in self.turns if isinstance(turn, _ResponsesTurn)]
        had_tools = {turn.response for turn in turns if turn.response and turn.value.get("tools")}
        for turn in turns:
            value, parent = turn.value, str(turn.value.get("previous_response_id"))
            is_for_text = value.get("tool_choice") == "none" or _has_tools_in_input(value)
            if parent in had_tools and not value.get("tools") and not turn.follows and not is_for_text:
                number = turn.numbers[-1]
                text = (
                    f"message {number + 1} continues {parent!r:.80}, but declares none of its tools: each request "
                    "must declare its tools"
                )
                yield SocketFact("socket.tools-dropped", text, (number,), is_harmless=True)

    def _is_of_unknown_message(self, number: int, kind: str, value: Value) -> bool:
        """An error refuses a message whose type the server does not know, and no response: note it."""
        unknown = unknown_type(value.get("error")) if kind == "error" else ""
        if unknown not in self._types or unknown in _ASKS:
            return False
        text = f"the server does not recognise the message {unknown!r:.80}"
        self._facts.append(SocketFact("socket.unknown-message", text, (self._types[unknown], number)))
        return True

    def _find_second(self, lane: list[_ResponsesTurn], value: Value) -> _ResponsesTurn | None:
        """The newest request of a lane, if an error says that it came while a response was being written."""
        waiting = [turn for turn in lane if not turn.is_over]
        error = read_error(value) if len(waiting) > 1 else None
        refused = of_error(error) if error else None
        return waiting[-1] if refused and refused.rule == "socket.two-responses" else None

    def _begin(self, turn: _ResponsesTurn, lane: str) -> _ResponsesTurn:
        self.turns.append(turn)
        self._lanes[lane].append(turn)
        return turn

    def _find_turn(self, number: int, frame: Frame, kind: str, value: Value) -> _ResponsesTurn | None:
        """The oldest open turn of the lane; for a late event, the turn that ended last."""
        lane = self._lanes[_lane(value)]
        over = [turn for turn in lane if turn.is_over]
        waiting = [turn for turn in lane if not turn.is_over]
        if not kind and not waiting:
            return None  # greetings of a gateway
        if kind == "response.created" and over and (over[-1].is_steered or not waiting):
            return self._begin(self._successor(over[-1], number, frame), _lane(value))
        if over and (kind == "response.done" or not waiting):
            return over[-1]
        first = [turn for turn in waiting if bool(turn.events) is (kind != "response.created")]
        return next(iter(first or waiting), None)

    def _successor(self, parent: _ResponsesTurn, number: int, frame: Frame) -> _ResponsesTurn:
        """The turn of a response that only a message that steers requested, or nothing that was seen."""
        parent.is_steered = False
        number, asked, steer = self._steers.get(parent.response, (number, frame, {}))
        value = {**parent.value, "input": steer.get("input", []), "previous_response_id": parent.response}
        note = f"continues {parent.response} after response.steer; the request is rebuilt from the previous one"
        return _ResponsesTurn([number], asked.at, notes=[note], value=value, follows=parent.response or "?")


def _lane(value: Value) -> str:
    return str(value.get("stream_id"))


def _has_tools_in_input(value: Value) -> bool:
    """An item of the input declares tools (Codex: ``additional_tools``)."""
    entries = value.get("input")
    held = entries if isinstance(entries, list) else []
    return any(isinstance(item, dict) and "tools" in str(item.get("type")) for item in held)


def _type_of(error: JsonValue) -> JsonValue:
    return error.get("type") if isinstance(error, dict) else None


def _add(turn: _ResponsesTurn, number: int, frame: Frame, kind: str, value: Value) -> None:
    if kind == "error" and not turn.events:
        turn.error = {"status": 500 if _type_of(value.get("error")) == "server_error" else 400, **value}
        if "status_code" in value:
            turn.error["status"] = value["status_code"]
    if not turn.events and kind.startswith(_BESIDE):
        turn.early.append((number, frame, kind))
        return
    turn.events += turn.early
    turn.early = []
    turn.add(number, frame, kind)
    response = value.get("response")
    if isinstance(response, dict):
        turn.response = turn.response or str(response.get("id") or "")
        details = response.get("incomplete_details")
        turn.is_steered |= isinstance(details, dict) and details.get("reason") == "steered"
    turn.is_over |= kind in _ENDS
