"""The server's side of a Responses WebSocket.

Facts: developers.openai.com, "WebSocket mode" and its events, and the README of ``responses_websocket`` in the official
``openai`` SDK 3.54: one connection lives for 60 minutes and holds the responses made on it, also with ``store: false``;
a lane (``stream_id``) makes one response after the other, and there are at most 32 named ones; a failed request of a
lane removes the response that it continued from the memory of the connection. ``response.steer`` ends the running
response as ``incomplete``, and a successor begins that no message requested; one that has called a tool runs on, and
the steering waits for the results (``response.steer.pending``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from workbench import regex
from workbench.ir import JsonValue
from workbench.protocols.common.socket_dialogue import (
    UNREADABLE,
    DialogueContext,
    Reaction,
    SocketOpening,
    SocketRefusal,
    Value,
    error_of,
    fill_message,
    unknown_event,
)
from workbench.wire import loads

_CREATE, _STEER = "response.create", "response.steer"
_LANE = regex.compile(r"[A-Za-z0-9_.-]{1,256}")
_MOST_LANES = 32
_LIFETIME = 60 * 60.0
_ENDS = ("response.completed", "response.incomplete")
_OF_SOCKET = ("generate", "previous_response_id", "stream_id", "type")
"""Members of a message that a request over HTTP is without, or that only a connection understands."""

_OF_LANE = ("generate", "stream_id", "type")
"""Those without which the simulator's contract reads the request of a message."""

_MOST_HELD = 64
"""Responses whose items are kept; a client continues one of the last."""


class ResponsesDialogue:
    """One connection, and the responses that its memory holds."""

    opcode = "text"
    subprotocols: tuple[str, ...] = ()

    def __init__(self, context: DialogueContext) -> None:
        self._context = context
        self._held: set[str] = set()
        self._lanes: set[str] = set()
        self._named: dict[str, Value] = {}  # lane → the last message that requested a response in it
        self._items: dict[str, list[JsonValue]] = {}  # response → all items up to its end
        self._input: dict[str, list[JsonValue]] = {}  # lane → all items of its current request
        self._output: dict[str, list[JsonValue]] = {}  # lane → complete items of its current response
        self._running: dict[str, Value] = {}  # lane → its current response
        self._steering: dict[str, list[JsonValue]] = {}  # response → what steers it once its calls have results

    def greet(self) -> Reaction:
        """Nothing: the client sends the first message."""
        return Reaction()

    def take(self, value: Value) -> Reaction:
        """Take ``response.create`` or ``response.steer``."""
        if value.get("type") == _STEER:
            return self._steer(value)
        if value.get("type") != _CREATE:
            return self._error(400, unknown_event(value.get("type"), (_CREATE, _STEER)), value)
        if self._context.seconds() > _LIFETIME:
            text = "Responses websocket connection limit reached (60 minutes). Create a new websocket connection."
            refused = self._error(400, error_of(text, "websocket_connection_limit_reached"), {})
            return refused._replace(close=(1000, ""))
        return self._wrong_lane(value) or self._wrong_parent(value) or self._request(value)

    def take_unreadable(self) -> Reaction:
        """What is not JSON is an error, and the connection stays open."""
        return self._error(400, error_of(UNREADABLE, "invalid_json"), {})

    def _wrong_lane(self, value: Value) -> Reaction | None:
        name = value.get("stream_id")
        if name is None:
            return None
        if not isinstance(name, str) or not _LANE.fullmatch(name):
            text = "Invalid 'stream_id': 1 to 256 letters, digits, '_', '.' and '-' are expected."
            return self._error(400, error_of(text, "invalid_stream_id", "stream_id"), {})
        if name not in self._lanes and len(self._lanes) >= _MOST_LANES:
            text = f"This connection has reached its limit of {_MOST_LANES} streams."
            return self._error(400, error_of(text, "websocket_stream_limit_reached", "stream_id"), value)
        self._lanes.add(name)
        return None

    def _wrong_parent(self, value: Value) -> Reaction | None:
        parent = value.get("previous_response_id")
        if not isinstance(parent, str) or parent in self._held or self._context.is_stored(parent):
            return None
        text = f"Previous response with id '{parent}' not found."
        return self._error(400, error_of(text, "previous_response_not_found", "previous_response_id"), value)

    def _request(self, value: Value) -> Reaction:
        lane = _lane(value)
        steering = self._steering.pop(str(value.get("previous_response_id")), [])
        if steering:
            value = {**value, "input": [*steering, *_items(value)]}
        self._named[lane] = value
        body = {key: member for key, member in value.items() if key not in _OF_LANE} if steering else None
        return Reaction(lane=lane, is_silent=value.get("generate") is False, request=body)

    def _steer(self, value: Value) -> Reaction:
        """The response that runs takes the input at once, or after its calls; one that is over takes none."""
        parent, items = value.get("previous_response_id"), _items(value)
        lane = next((lane for lane, response in self._running.items() if response.get("id") == parent), None)
        members: Value = {"previous_response_id": parent}
        if lane is None or not items:
            text = "The response is not in progress." if items else "'input' has no message."
            reason = error_of(text, "response_not_in_progress" if items else "invalid_input")
            failed: Value = {"type": "response.steer.failed", **members, "error": reason}
            return Reaction((failed,), note=f"steering failed: {text}")
        if any(_is_call(item) for item in self._output.get(lane, ())):
            self._steering.setdefault(str(parent), []).extend(items)
            return Reaction(({"type": "response.steer.accepted", **members},))
        before = self._named[lane]
        after = {**before, "input": [*_items(before), *self._output.get(lane, ()), *items]}
        self._named[lane] = after
        body = {key: member for key, member in after.items() if key not in _OF_LANE}
        return Reaction(lane=lane, stops=True, request=body)

    def refuse(self, refused: SocketRefusal, value: Value) -> Reaction:
        """An error event; the response that the request continued is forgotten."""
        parent = value.get("previous_response_id")
        if isinstance(parent, str):
            self._held.discard(parent)
        return self._error(refused.status, refused.error, value)

    def say(self, value: Value, lane: str) -> Iterable[Value]:
        """An event, with the name of its lane; the connection stores every complete response."""
        response, more = value.get("response"), list[Value]()
        if value.get("type") == "response.created" and isinstance(response, dict):
            self._running[lane], self._output[lane] = response, []
        if value.get("type") == "response.output_item.done":
            self._output.setdefault(lane, []).append(value.get("item"))
        if value.get("type") in _ENDS and isinstance(response, dict):
            more = self._end(response, lane)
        if value.get("type") == "error" and "error" not in value:
            value = {"type": "error", "status": 500, "error": {k: v for k, v in value.items() if k != "type"}}
        return [{**each, "stream_id": lane} if lane else each for each in (value, *more)]

    def _end(self, response: Value, lane: str) -> list[Value]:
        """A response is over: it is kept, and what steers it waits for the results of its calls."""
        name = str(response.get("id"))
        self._running.pop(lane, None)
        self._held.add(name)
        self._keep_items(name, response.get("output"), lane)
        if name not in self._steering:
            return []
        calls = [item for item in self._output.get(lane, ()) if _is_call(item)]
        wanted: list[JsonValue] = [{"type": f"{c['type']}_output", "call_id": c.get("call_id")} for c in calls]
        return [{"type": "response.steer.pending", "previous_response_id": name, "required_input": wanted}]

    def _keep_items(self, name: str, output: JsonValue, lane: str) -> None:
        """Keep the items of a response; its last event may be without them."""
        items = output if isinstance(output, list) and output else self._output.get(lane, [])
        self._items[name] = [*self._input.get(lane, ()), *items]
        if len(self._items) > _MOST_HELD:
            del self._items[next(iter(self._items))]

    def request_body(self, body: Value, lane: str) -> Value:
        """The request with the items of the response that it continues before its own."""
        entries = body.get("input", [])
        own = entries if isinstance(entries, list) else [{"role": "user", "content": entries}]
        parent = str(body.get("previous_response_id"))
        self._input[lane], self._output[lane] = [*self._items.get(parent, ()), *own], []
        dropped = _OF_SOCKET if parent in self._items else [key for key in _OF_SOCKET if key != "previous_response_id"]
        return {**{key: value for key, value in body.items() if key not in dropped}, "input": self._input[lane]}

    def stop(self, lane: str) -> Iterable[Value]:
        """The response is steered: it is over, with the items that are complete."""
        response = self._running.get(lane, {})
        details: Value = {"reason": "steered"}
        over: Value = {**response, "status": "incomplete", "incomplete_details": details}
        over["output"] = list(self._output.get(lane, ()))
        accepted: Value = {"type": "response.steer.accepted", "previous_response_id": response.get("id")}
        return [accepted, *self.say({"type": "response.incomplete", "response": over}, lane)]

    def _error(self, status: int, error: JsonValue, value: Value) -> Reaction:
        event: Value = {"type": "error", "status": status, "error": error}
        if self._context.error_event is not None:
            message = error.get("message", error.get("error")) if isinstance(error, dict) else error
            event = fill_message(self._context.error_event, str(message))
        return Reaction(({**event, "stream_id": _lane(value)} if _lane(value) else event,))


def _items(value: Value) -> list[JsonValue]:
    entries = value.get("input")
    return entries if isinstance(entries, list) else [{"role": "user", "content": entries}] if entries else []


def _is_call(item: JsonValue) -> TypeGuard[Value]:
    return isinstance(item, dict) and str(item.get("type")).endswith("_call") and "call_id" in item


def _lane(value: Value) -> str:
    name = value.get("stream_id")
    return name if isinstance(name, str) else ""


def opening_of(body: bytes) -> SocketOpening:
    """``response.create`` with the members of the request, but for those that only HTTP has."""
    value = loads(body)
    members = value.items() if isinstance(value, dict) else ()
    return SocketOpening((({"type": _CREATE, **{k: v for k, v in members if k not in ("stream", "background")}},),))
