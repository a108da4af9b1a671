"""Tools for reading bodies and paths: notes of anomalies, objects taken apart key by key, lists of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from typing import TypeAlias
from urllib.parse import quote

from workbench.errors import WireError
from workbench.ir import NOTHING, Anomaly, JsonValue, Message, ModelRequest, Opaque, Part, Source, ToolCallIR, Usage
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols.history import asked_of
from workbench.protocols.known_messages import KnownMessages
from workbench.protocols.known_messages import Reader as MessageReader
from workbench.protocols.request_reading import ReadRequest, RequestForm
from workbench.wire import loads, type_name, type_words

ITSELF: Mapping[str, str] = {"text": ""}
"""Fields of a text that is on the wire as a bare string."""

VERBATIM: Mapping[str, str] = {"value": ""}

STRUCTURED = "json"
"""Type of an opaque part that is a JSON value where text is the rule."""


@dataclass(slots=True)
class Notes:
    """Anomalies of one body, written down while it is read. ``base`` is the pointer of the message being read."""

    base: str = ""
    anomalies: list[Anomaly] = field(default_factory=list)

    def add(self, slug: str, message: str, at: str, events: tuple[int, ...] = (), *, lacks: str = "") -> None:
        """Note an anomaly at a pointer below ``base``; ``lacks`` is the key that is missing there."""
        self.anomalies.append(Anomaly(slug, message, self.base + at, events, lacks))

    def shape(self, message: str, at: str) -> None:
        """Note that something has a shape the protocol does not know."""
        self.add("content.shape", message, at)

    def no_role(self, role: JsonValue) -> None:
        """Note that the message being read has no role, or one that is no string."""
        if role is None:
            self.shape("a message without a role", "")
        else:
            self.shape(f"the role is {type_words(role)}, not a string", "/role")


ReadMessage: TypeAlias = Callable[[JsonValue, str, Notes], Message]
"""Reads the message at a pointer; a function of a module."""


def read_messages(
    value: JsonValue, notes: Notes, read: ReadMessage, known: KnownMessages | None, key: str = "messages"
) -> tuple[Message, ...]:
    """The messages of a request, whose list is at ``key``; with ``known``, ``value`` holds their texts."""
    if not isinstance(value, list):
        notes.shape(f"{key} is {type_words(value)}, not a list", f"/{key}")
        return ()
    if known:
        return known.read(value, notes.anomalies, _alone(read), key)
    messages = tuple(read(m, f"/{key}/{n}", notes) for n, m in enumerate(value))
    notes.base = ""
    return messages


def misshapen_message(value: JsonValue, what: str, pointer: str, notes: Notes) -> Message:
    """The message that holds a value which is no object, unread; an anomaly says what it should be."""
    notes.shape(f"{what} is {type_words(value)}, not an object", "")
    return Message("", (Opaque(type_name(value), value, Source("", VERBATIM)),), pointer=pointer)


@cache
def _alone(read: ReadMessage) -> MessageReader:
    def reader(value: JsonValue) -> tuple[Message, list[Anomaly]]:
        notes = Notes()
        return read(value, "", notes), notes.anomalies

    return reader


@asked_of()
def none(message: Message) -> bool:
    """Test of an adapter that reads no other field of a request from its messages."""
    return False


def decode_request(
    body: bytes,
    read: ReadRequest,
    known: KnownMessages | None,
    key: str = "messages",
    shapes: Callable[[Message], object] | None = None,
) -> ModelRequest:
    """The request that a body is; what is known of its messages is read no more.

    Args:
        body: what was sent.
        read: a function of a module.
        known: messages that were decoded before.
        key: of the list with the messages in the body.
        shapes: test of the messages from which ``read`` takes other fields of the request too. With it a request that
            continues another is not decoded by the adapter, but read from there: leave it out if the adapter changes
            what ``read`` returns.

    Raises:
        WireError, ProtocolMismatch: as ``Adapter.decode_request``.
    """
    if known:
        with suppress(WireError):  # of a message: the whole body tells where
            found = known.read_request(body, RequestForm(read, key, shapes))
            if found:
                return found
    return read(loads(body), None)


class BlockReader:
    """One object of the wire, taken apart key by key: keys that are not read stay in ``extra``."""

    __slots__ = ("at", "keys_read", "notes", "pairs", "value")

    def __init__(self, value: Mapping[str, JsonValue], at: str, notes: Notes) -> None:
        self.value = value
        self.at = at
        self.notes = notes
        self.pairs: list[tuple[str, str]] = []
        self.keys_read = {"type"}

    def take(self, name: str, key: str) -> JsonValue:
        """The value of a key, of any type, as the IR field ``name``."""
        if key not in self.value:
            return None
        self.keys_read.add(key)
        self.pairs.append((name, f"/{key}"))
        return self.value[key]

    def string(self, name: str, key: str) -> str | None:
        """A string; a value of another type is left in ``extra`` and noted."""
        value = self.value.get(key)
        if isinstance(value, str):  # as ``take``, without a call
            self.keys_read.add(key)
            self.pairs.append((name, f"/{key}"))
            return value
        if value is None:
            return self.take(name, key) if key in self.value else None
        self.notes.shape(f"{key!r} is {type_words(value)}, not a string", f"{self.at}/{key}")
        return None

    def flag(self, name: str, key: str) -> bool | None:
        """True, False or None; a value of another type is left in ``extra`` and noted."""
        value = self.value.get(key)
        if value is None or isinstance(value, bool):
            return self.take(name, key)  # type: ignore[no-any-return]
        self.notes.shape(f"{key!r} is {type_words(value)}, not a boolean", f"{self.at}/{key}")
        return None

    def elements(self, key: str) -> list[JsonValue]:
        """A list that parts are made of, [] for none; a value of another type is left in ``extra`` and noted."""
        value = self.value.get(key)
        if isinstance(value, list) and value:
            self.keys_read.add(key)
            return value
        if value is not None and value != []:
            self.notes.shape(f"{key!r} is {type_words(value)}, not a list", f"{self.at}/{key}")
        return []

    def extra(self, *, typed: bool = False, **more: JsonValue) -> Mapping[str, JsonValue]:
        """Every key that was not read, and the type if the part does not imply it (``typed``)."""
        if not typed and not more and self.value.keys() <= self.keys_read:
            return NOTHING
        rest = {k: v for k, v in self.value.items() if k not in self.keys_read or (typed and k == "type")}
        rest.update(more)
        if rest:
            self.pairs.append(("extra", ""))
        return rest or NOTHING

    def source(self) -> Source:
        """Source of the part; call it last."""
        return _source(self.at, tuple(self.pairs))


@lru_cache(4096)
def _source(at: str, pairs: tuple[tuple[str, str], ...]) -> Source:
    """The same object for the same place in every message: making one takes longer than all else of a small block."""
    return Source(at, _fields(pairs))


@cache
def _fields(pairs: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return dict(pairs)


def contradicts_content(key: str, reason: JsonValue, parts: Iterable[Part]) -> str | None:
    """Describe how a stop reason under a key contradicts the content before it; None if it fits."""
    called = any([isinstance(p, ToolCallIR) and not p.is_server for p in parts])
    if reason == "end_turn" and called:
        return f"{key} is 'end_turn' although the response calls a tool"
    if reason == "tool_use" and not called:
        return f"{key} is 'tool_use' although the response calls no client tool"
    return None


def string_or_none(value: JsonValue) -> str | None:
    """A string, or None for anything else."""
    return value if isinstance(value, str) else None


def whole_number(value: JsonValue) -> int | None:
    """A whole number; None for anything else."""
    return value if type(value) is int else None


def count_at(holder: JsonValue, key: str) -> int | None:
    """The same of a key, where there is an object that has it."""
    return whole_number(holder.get(key)) if isinstance(holder, dict) else None


def nested_usage(
    raw: dict[str, JsonValue],
    asked: int | None,
    output: int | None,
    *,
    cached: int | None,
    cache_writes: int | None,
    reasoning: int | None,
    total: int | None,
) -> Usage:
    """Counts of a provider that counts cached tokens into the input and reasoning into the output.

    The total shows whether a server counts reasoning in addition to the output.
    """
    is_beside = total == (asked or 0) + (output or 0) + (reasoning or 0)
    return Usage(
        input=None if asked is None else max(asked - (cached or 0) - (cache_writes or 0), 0),
        output=None if output is None else output + ((reasoning or 0) if is_beside else 0),
        cache_read=cached,
        cache_write=cache_writes,
        reasoning=reasoning,
        raw=raw,
    )


def segment(name: str | None) -> str:
    """A name, as untrusted as it may be, as one segment of a path."""
    return quote(name or "", safe="", errors="surrogatepass")
