"""Server side of a simulated WebSocket: messages that are not requests for a response.

A *dialogue* knows the events of one protocol: which message may come now, how it is acknowledged or refused, and how
the events of a response look on a connection. The model's answers, the checks of a contract and the frames are the
simulator's: it finds the requests with the protocol's splitter, as it is done with recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from workbench.ir import JsonValue

Value = dict[str, JsonValue]

UNREADABLE = "We could not parse the JSON body of your request."


class Reaction(NamedTuple):
    """The server's reaction to a message.

    Attributes:
        messages: what it answers at once.
        lane: a response is requested, in this lane: one lane has one response at a time; None for no request.
        draft: body of the request that would be made now; if a contract refuses it, the message is refused.
        accept: called once the draft is accepted; returns further messages.
        is_silent: the model says nothing in the response (a warm-up).
        stops: the response in progress ends here.
        request: body of the requested response, where it is not that of the client's message.
        close: code and reason with which the server closes the connection; None if it stays open.
        note: what the log says of it; empty for nothing.
    """

    messages: tuple[Value, ...] = ()
    lane: str | None = None
    draft: Value | None = None
    accept: Callable[[], tuple[Value, ...]] | None = None
    is_silent: bool = False
    stops: bool = False
    request: Value | None = None
    close: tuple[int, str] | None = None
    note: str = ""


class SocketOpening(NamedTuple):
    """The messages with which a client makes one request on a new connection.

    Attributes:
        groups: each is sent once the server has said ``ready``; the first at once.
        ready: type of that message of the server, or a key of it.
    """

    groups: tuple[tuple[Value, ...], ...]
    ready: str = ""


class SocketRefusal(NamedTuple):
    """A refusal, as it would be over HTTP.

    Attributes:
        status: HTTP status.
        body: the provider's error body.
        message: text of the error.
    """

    status: int
    body: JsonValue
    message: str

    @property
    def error(self) -> Value:
        """The error object of the body."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return dict(error) if isinstance(error, dict) else {"message": self.message}


class DialogueContext(NamedTuple):
    """What a dialogue may ask of the simulator.

    Attributes:
        target: path and query of the handshake.
        header: value of a header of the handshake, by its name; empty if absent.
        make_id: an id of a shape (``"item_{21}"``).
        is_stored: True for the id of a response that the server keeps beyond connections.
        seconds: time since the connection was opened.
        error_event: the message of an error, with ``{message}`` in it (term ``errors.event``); None for the protocol's.
    """

    target: str
    header: Callable[[str], str]
    make_id: Callable[[str], str]
    is_stored: Callable[[str], bool]
    seconds: Callable[[], float]
    error_event: Value | None = None


def fill_message(template: Value, message: str) -> Value:
    """A template with the text of an error in the place of ``{message}``."""
    filled: Value = {}
    for key, value in template.items():
        filled[key] = fill_message(value, message) if isinstance(value, dict) else value
        if value == "{message}":
            filled[key] = message
    return filled


class SocketDialogue(Protocol):
    """One connection, as the server sees it.

    Attributes:
        opcode: of the server's messages: ``"text"`` or ``"binary"``.
        subprotocols: those that the server accepts, the first that a client offers.
    """

    opcode: str
    subprotocols: tuple[str, ...]

    def greet(self) -> Reaction:
        """What the server says when the connection is open."""
        ...

    def take(self, value: Value) -> Reaction:
        """Take a message of the client."""
        ...

    def take_unreadable(self) -> Reaction:
        """Take a message that is no JSON object."""
        ...

    def refuse(self, refused: SocketRefusal, value: Value) -> Reaction:
        """Refuse a message, which is ``value``; it changed nothing."""
        ...

    def say(self, value: Value, lane: str) -> Iterable[Value]:
        """The messages for one event of a response."""
        ...

    def request_body(self, body: Value, lane: str) -> Value:
        """The request of a turn as it would be over HTTP, with what the connection holds in it."""
        ...

    def stop(self, lane: str) -> Iterable[Value]:
        """The messages that end the response in progress, which was cut off."""
        ...


def unknown_event(kind: JsonValue, known: Iterable[str]) -> Value:
    """The error object for an event of a type that does not exist, as OpenAI's APIs word it."""
    supported = [f"'{name}'" for name in known]
    listed = f"{', '.join(supported[:-1])} and {supported[-1]}" if len(supported) > 1 else supported[0]
    text = f"Invalid value: '{kind}'. Supported values are: {listed}."
    if not isinstance(kind, str):
        return error_of("Missing required parameter: 'type'.", "missing_required_parameter", "type")
    return error_of(text, "invalid_value", "type")


def error_of(message: str, code: str, param: str | None = None) -> Value:
    """An error object of OpenAI's APIs."""
    return {"type": "invalid_request_error", "code": code, "message": message, "param": param}
