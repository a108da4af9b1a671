"""What the messages of one connection say together: cursors, changed lists, odd responses, cancellations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols.mcp.channel import SENT, TEXT
from workbench.protocols.mcp.course import Course, Lapse
from workbench.protocols.mcp.http import CHANGED
from workbench.protocols.mcp.open_requests import CLIENT, SERVER
from workbench.wire import Frame, cut, loads


@dataclass(slots=True)
class ChannelFacts:
    """Facts of a whole connection.

    Attributes:
        cursors: cursors that the client asked a list to continue at.
        stale: number of the message that announced a change of the tool list which the client did not read.
        stale_at: seconds from the start of the connection to it.
        stale_call: that message, and the first call that the client made all the same.
        is_used: the client sent something after its handshake.
        odd_responses: responses of the server that answer no open request, and why, in words.
        reused_ids: requests of the client whose id an open request has, each with that id.
        lapses: messages that come at a wrong time, or have a wrong form.
        silent_after_cancel: number of the message that cancelled a request, if the server sent nothing from then on
            although it was asked.
    """

    cursors: set[str] = field(default_factory=set)
    is_used: bool = False
    stale: int | None = None
    stale_at: float | None = None
    stale_call: tuple[int, int] | None = None
    odd_responses: list[tuple[int, str]] = field(default_factory=list)
    reused_ids: list[tuple[int, str]] = field(default_factory=list)
    silent_after_cancel: int | None = None
    lapses: list[Lapse] = field(default_factory=list)


def read_channel(frames: Iterable[Frame]) -> ChannelFacts:
    """Read the messages of a connection in order."""
    reader = _FactReader()
    for number, frame in enumerate(frames):
        for message in _messages(frame):
            reader.take(number, frame, message)
    return reader.result()


class _FactReader:
    """Collects the facts."""

    def __init__(self) -> None:
        self.facts = ChannelFacts()
        self._open: set[object] = set()
        self._answered: set[object] = set()
        self._lists: set[object] = set()
        self._is_listed = False
        self._cancel: int | None = None
        self._asked_after_cancel = False
        self._course = Course()
        self._is_noted = False  # the last message of the client is a notification

    def take(self, number: int, frame: Frame, message: dict[str, JsonValue]) -> None:
        """Take the next message."""
        sender = CLIENT if frame.direction == SENT else SERVER
        self.facts.lapses += self._course.take(sender, message, number)
        if frame.direction == SENT:
            self._take_of_client(number, message)
        else:
            self._take_of_server(number, frame, message)

    def _take_of_client(self, number: int, message: dict[str, JsonValue]) -> None:
        method, id_ = message.get("method"), repr(message.get("id"))
        params = message.get("params")
        self._is_noted = "id" not in message
        self.facts.is_used = self.facts.is_used or method not in ("initialize", "server/discover")
        if method == "notifications/cancelled":
            self._cancel, self._asked_after_cancel = number, False
        if not isinstance(method, str) or "id" not in message:
            return
        if id_ in self._open:
            self.facts.reused_ids.append((number, cut(id_)))
        self._open.add(id_)
        self._answered.discard(id_)
        self._asked_after_cancel = True
        cursor = params.get("cursor") if isinstance(params, dict) else None
        if isinstance(cursor, str):
            self.facts.cursors.add(cursor)
        if method == "tools/list":
            self._lists.add(id_)
            self.facts.stale = self.facts.stale_at = None
        elif method == "tools/call" and self.facts.stale is not None and self.facts.stale_call is None:
            self.facts.stale_call = (self.facts.stale, number)

    def _take_of_server(self, number: int, frame: Frame, message: dict[str, JsonValue]) -> None:
        method, id_ = message.get("method"), repr(message.get("id"))
        self._cancel = None
        if method == CHANGED and self._is_listed:
            self.facts.stale, self.facts.stale_at = number, frame.at
        elif method is None and not message.keys().isdisjoint(("id", "result", "error")):
            self._is_listed = self._is_listed or id_ in self._lists
            self._answer(number, id_, message)

    def _answer(self, number: int, id_: str, message: dict[str, JsonValue]) -> None:
        is_unreadable = _code_of(message) in _UNREADABLE and (self._open or not self._is_noted)
        if message.get("id") is None and not is_unreadable:
            has = "has the id null" if "id" in message else "has no id"
            why = "so it does not answer any open request" if self._open else "as if it answered a notification"
            self.facts.odd_responses.append((number, f"{has}, {why}"))
        elif id_ in self._answered:
            self.facts.odd_responses.append((number, f"answers request {cut(id_)} a second time"))
        elif id_ not in self._open and message.get("id") is not None:
            self.facts.odd_responses.append((number, f"answers request {cut(id_)}, which the client did not send"))
        self._open.discard(id_)
        self._answered.add(id_)

    def result(self) -> ChannelFacts:
        """The facts after the last message."""
        if self._cancel is not None and self._asked_after_cancel:
            self.facts.silent_after_cancel = self._cancel
        self.facts.lapses += self._course.end()
        return self.facts


_UNREADABLE = (-32700, -32600)
"""Codes of JSON-RPC for a message whose id could not be read: their id is null."""


def _code_of(message: dict[str, JsonValue]) -> JsonValue:
    """Code of an error; None for a result."""
    error = message.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _messages(frame: Frame) -> Iterator[dict[str, JsonValue]]:
    try:
        value = loads(frame.data) if frame.opcode == TEXT and frame.data.lstrip()[:1] in (b"{", b"[") else None
    except WireError:
        return
    for message in value if isinstance(value, list) else [value]:
        if isinstance(message, dict):
            yield message
