"""Turns of an OpenAI Live connection: what its backend, a Responses model, is asked and answers.

Facts: ``types/live`` of the official ``openai`` SDK 3.57; probes of the live API in aplisay/llm-agent pull request
306 and livekit/agents pull request 7266. The voice model speaks by itself, and its turns are not on the wire; what it
delegates to ``delegation.responses`` is one chain of responses, whose events come in envelopes (``response.event``).
The snapshot at the end of a response is without its items, and gets them here, as the Responses API has them. The
text of a delegated task is not sent. The client adds results with ``response.item.create`` and has the backend
continue with ``response.create``, which the server refuses as long as a call has no result.

Work that the voice model delegates to the application (target ``client``) is answered with context that names the
delegation. The end of a session is an event, ``session.closed``, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import SocketFact, SocketTurn
from workbench.protocols.common.client_messages import ClientFaults, client_messages
from workbench.protocols.common.unknown_types import unknown_type
from workbench.wire import Exchange, Frame, dumps

Value = dict[str, JsonValue]

_ENVELOPE = "response.event"
_MARKS = ("session.start", "session.started", "session.delegation.created", _ENVELOPE, "response.item.create")
_CONTEXTS = ("session.commentary.append", "session.thinking.append", "session.instructions.append")
_FAILURES = {
    "expired": "the session reached its maximum duration",
    "content": "a safety filter ended the session",
    "connection_lost": "the connection was lost, or the service lost its own connection to the model",
}
"""Reason of ``session.closed`` that is a failure → what it means."""

_ENDS = ("response.completed", "response.incomplete", "response.failed")
_PATH = "/v1/responses"


def claims_message(value: Value) -> bool:
    """A message that only Live has."""
    return value.get("type") in _MARKS


@dataclass(slots=True)
class _BackendTurn(SocketTurn):
    """A response of the backend.

    Attributes:
        body: the settings of the backend, the response that this one continues, and what is new.
        response: its id, once it began.
        output: its items that are done.
    """

    body: Value = field(default_factory=dict)
    response: str = ""
    output: list[JsonValue] = field(default_factory=list)

    def request_body(self) -> tuple[bytes, str]:
        return dumps(self.body), "assembled from the session's delegation and the items for its backend"


class LiveBackendTurns:
    """The backend of one connection: its settings, its chain of responses, and what it was told."""

    title = "OpenAI Live, backend"

    def __init__(self) -> None:
        self.turns: list[SocketTurn] = []
        self._settings: Value = {}
        self._frames: list[int] = []  # those with the settings, and with what is new
        self._items: list[JsonValue] = []  # what the client added since the last request
        self._previous = ""
        self._waiting: list[_BackendTurn] = []
        self._active: dict[str, _BackendTurn] = {}  # delegation → its running response
        self._delegated: tuple[int, Frame] | None = None
        self._unused: list[tuple[int, str]] = []  # frame and call of results behind which nothing was requested
        self._started: tuple[int, Frame] | None = None
        self._types: dict[str, int] = {}  # type of a message of the client → its last frame
        self._facts: list[SocketFact] = []
        self._work: dict[str, int] = {}  # delegation of the application that has no answer → its frame
        self._sent: dict[str, tuple[int, str]] = {}  # event_id → frame and type of a message of the client
        self._messages = ClientFaults(client_messages("openai-responses", "live_messages.yaml"))

    def take_sent(self, number: int, frame: Frame, value: Value) -> None:
        """Read settings of the backend, an item for it, or a request that it continues."""
        kind = value.get("type")
        self._types[str(kind)] = number
        self._messages.read(number, str(kind), value)
        if isinstance(value.get("event_id"), str):
            self._sent[value["event_id"]] = (number, str(kind))
        if kind in _CONTEXTS:
            self._work.pop(str(value.get("delegation_id")), None)
        elif kind in ("session.start", "session.update"):
            delegation = _object(_object(value, "session"), "delegation")
            self._settings = {**self._settings, **_object(delegation, "responses")}
            self._frames.append(number)
            self._started = self._started or (number, frame)
        elif kind == "response.item.create":
            item = _object(value, "item")
            self._items.append(item)
            self._frames.append(number)
            if item.get("type") == "function_call_output":
                self._unused.append((number, str(item.get("call_id"))))
        elif kind == "response.create":
            self._waiting.append(self._begin(number, frame))
            self._unused.clear()

    def take_received(self, number: int, frame: Frame, value: Value) -> None:
        """Read an event of the backend, or an error."""
        kind, event = value.get("type"), _object(value, "event")
        if kind in ("session.started", "session.updated"):
            self._started = None  # an error after it is of something else
        elif kind == "session.delegation.created":
            self._note_delegation(number, frame, _object(value, "delegation"))
        elif kind == "session.closed" and (reason := str(value.get("reason"))) in _FAILURES:
            text = f"the server ended the session ({reason}): {_FAILURES[reason]}"
            self._facts.append(SocketFact("socket.closed", text, (number,), is_of_client=False))
        elif kind == "error":
            self._refuse(number, frame, value)
        elif kind == _ENVELOPE:
            self._add(number, frame, event, str(value.get("delegation_id")))

    def take_end(self, number: int, frame: Frame) -> None:
        """The end of a connection ends no turn."""

    def facts(self, handshake: Exchange) -> Iterator[SocketFact]:
        """Messages that Live does not know, and results behind which the backend was not asked to continue."""
        yield from self._facts
        yield from self._messages.facts(handshake, self._facts)
        if self._unused:
            calls = ", ".join(repr(call) for _, call in self._unused[:3])
            text = f"no response.create follows the result of {calls:.120}: the backend does not continue by itself"
            yield SocketFact("socket.unused-result", text, tuple(number for number, _ in self._unused))

        if self._work:
            text = (
                f"no context answers the delegation of {', '.join(map(repr, self._work)):.120}: the model keeps waiting"
            )
            numbers = tuple(self._work.values())
            yield SocketFact("socket.unanswered-call", text, numbers, is_harmless=True, is_of_end=True)

    def _note_delegation(self, number: int, frame: Frame, delegation: Value) -> None:
        """Work for the application waits for its answer; that of the backend becomes a response."""
        if delegation.get("target") == "client":
            self._work[str(delegation.get("id"))] = number
        else:
            self._delegated = (number, frame)

    def _add(self, number: int, frame: Frame, event: Value, delegation: str) -> None:
        kind = str(event.get("type") or "")
        if kind == "response.created":
            at, asked = self._delegated or (number, frame)
            self._active[delegation] = self._waiting.pop(0) if self._waiting else self._begin(at, asked)
            self._delegated = None
        turn = self._active.get(delegation)
        if turn is None:
            return
        if kind == "response.output_item.done":
            turn.output.append(event.get("item"))
        turn.add(number, replace(frame, data=dumps(_with_output(event, turn.output))), kind)
        turn.response = turn.response or str(_object(event, "response").get("id") or "")
        if kind in _ENDS:
            turn.is_over = True
            self._previous = turn.response
            del self._active[delegation]

    def _begin(self, number: int, frame: Frame) -> _BackendTurn:
        chain: Value = {"previous_response_id": self._previous} if self._previous else {}
        body: Value = {**self._settings, **chain, "input": self._items}
        turn = _BackendTurn([*sorted({*self._frames} - {number}), number], frame.at, path=_PATH, body=body)
        if not self._items:
            turn.notes.append("the task that the voice model delegated is not in the messages")
        self._items, self._frames = [], self._frames[:1]
        self.turns.append(turn)
        return turn

    def _refuse(self, number: int, frame: Frame, value: Value) -> None:
        """An error ends the request that waits; settings that the server did not confirm are what it refuses."""
        unknown = unknown_type(value.get("error"))
        if unknown in self._types:
            text = f"the server does not recognise the message {unknown!r:.80}"
            self._facts.append(SocketFact("socket.unknown-message", text, (self._types[unknown], number)))
            return
        turn = self._waiting.pop() if self._waiting else None
        if turn is None and self._started and not self.turns:
            turn = self._begin(*self._started)
        error = _object(value, "error")
        if turn is None:
            sent = self._sent.get(str(error.get("client_event_id") or value.get("client_event_id")))
            what = f"{sent[1]} (message {sent[0] + 1})" if sent else "a message"
            text = f"the server refused {what}: {str(error.get('message'))!r:.200}"
            numbers = (sent[0], number) if sent else (number,)
            self._facts.append(SocketFact("socket.refused-message", text, numbers))
            return
        turn.error = {**value, "status": 500 if error.get("type") == "server_error" else 400}
        turn.is_over = True
        turn.add(number, frame, "error")


def _with_output(event: Value, output: list[JsonValue]) -> Value:
    """An event as the Responses API sends it: Live's snapshots are without the items that have come."""
    response = _object(event, "response")
    is_cleared = event.get("type") in _ENDS and response.get("output") == []
    return {**event, "response": {**response, "output": output}} if is_cleared else event


def _object(value: Value, key: str) -> Value:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
