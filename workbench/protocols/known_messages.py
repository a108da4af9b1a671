"""Messages that come again: agents repeat their history in each request, so most messages were decoded before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from workbench.errors import ProtocolMismatch, WireError
from workbench.ir import Anomaly, JsonValue, Message, ModelRequest
from workbench.lazy_dataclass import replace
from workbench.limits import MAX_KNOWN_MESSAGES
from workbench.named_tuple import NamedTuple
from workbench.protocols.history import (
    GrowingHistory,
    HistoryPrefix,
    MessageKind,
    RepeatedMessage,
    count_alike,
    message_kind,
    where,
)
from workbench.protocols.message_shapes import shape_of_value
from workbench.protocols.request_reading import RequestForm, RequestReading
from workbench.wire import BodyText, ListOutline, WholeText, loads, outline

if TYPE_CHECKING:
    from workbench.protocols import Adapter

Reader: TypeAlias = Callable[[JsonValue], tuple[Message, Sequence[Anomaly]]]
"""Makes a message of a parsed one, both without a place: pointers are those of a body that is the message."""

T = TypeVar("T")

LEVELS = 2
"""Containers around a message of a request: the body and its list."""

CONTINUED = 0.9
"""Share of a body from which it is a continuation, and no older request is compared."""

MOST_HISTORIES = 16
"""Histories that requests may continue: main agent, sub-agents, side questions, and forks of each."""


class _KnownMessage(NamedTuple):
    message: Message
    anomalies: tuple[Anomaly, ...]
    kind: MessageKind
    facts: dict[Any, Any]


class _KnownFields(NamedTuple):
    """The members of bodies other than their messages, and facts about requests that have them."""

    values: Mapping[str, JsonValue]
    found: dict[Any, Any]


class KnownParts:
    """Parts of request bodies by the bytes they were read from: messages, and the fields beside these.

    What is found out about a part depends on nothing else, so that files may share them: an agent that logs each
    request to a file of its own repeats its tools and its history in each of them.

    Two generations: when the newer one is full, what it did not ask for is forgotten.

    Args:
        most: bytes in a generation; those of the last histories are kept beside them.
    """

    def __init__(self, most: int = MAX_KNOWN_MESSAGES // 2) -> None:
        self.most = most
        self._size = 0
        self._new: dict[Any, Any] = {}
        self._old: dict[Any, Any] = {}

    def message(self, reader: Reader, text: bytes) -> _KnownMessage:
        """A decoded message. Raises WireError."""
        key = (reader, text)
        known: _KnownMessage | None = self._recall(key, len(text))
        if known is None:
            value = loads(text, levels=LEVELS)
            shape = shape_of_value(value)
            message, anomalies = reader(value)
            kind = message_kind(message.role, message.parts, shape)
            known = self._keep(key, _KnownMessage(message, tuple(anomalies), kind, {}), len(text))
        return known

    def fields(self, protocol: str, form: RequestForm, members: Iterable[tuple[str, bytes]]) -> _KnownFields:
        """The fields that these members are. Raises WireError."""
        texts = tuple(members)
        key, size = (protocol, form, texts), 1 + sum(len(text) for _, text in texts)
        known: _KnownFields | None = self._recall(key, size)
        if known is None:
            values = {name: loads(text, levels=1) for name, text in texts}
            known = self._keep(key, _KnownFields(values, {}), size)
        return known

    def _recall(self, key: Hashable, size: int) -> Any:
        """A part, kept so that it outlives the next generation; None if it is not known."""
        known = self._new.get(key)
        if known is None and (known := self._old.get(key)) is not None:
            self._keep(key, known, size)
        return known

    def _keep(self, key: Hashable, part: T, size: int) -> T:
        if self._size and self._size + size > self.most:
            self._old, self._new, self._size = self._new, {}, 0
        self._size += size
        self._new[key] = part
        return part


class _KnownHistory(NamedTuple):
    """A history, and the last request that has it.

    Attributes:
        noted: how many anomalies of that request come before those of its messages, and where those behind begin.
        reading: of its body; None if only the texts of its messages are known.
    """

    history: GrowingHistory
    reader: Reader
    key: str
    noted: tuple[int, int]
    reading: RequestReading | None = None


class _NewTexts(list[bytes]):
    """Texts of the messages behind the first ones of a history."""

    def __init__(self, known: _KnownHistory, common_length: int, texts: Iterable[bytes]) -> None:
        super().__init__(texts)
        self.known, self.common_length = known, common_length


class _Body(NamedTuple):
    """The body that an adapter reads; ``joined`` is what it gets."""

    protocol: str
    text: BodyText
    joined: bytes


class KnownMessages:
    """Decoded messages by the bytes they were read from, for the requests of one session, and the histories they form.

    Of the histories the last few are kept.

    Args:
        parts: messages and fields that are known; those of other sessions too, if they are shared.
    """

    def __init__(self, parts: KnownParts | None = None) -> None:
        self._parts, self._most = parts or KnownParts(), MAX_KNOWN_MESSAGES
        self._histories: list[_KnownHistory] = []
        self._body: _Body | None = None
        self._latest: _KnownHistory | None = None
        self._reading: RequestReading | None = None

    def decode(self, adapter: Adapter, text: BodyText) -> tuple[ModelRequest, RequestReading | None]:
        """The request in a body; of a request that continues an earlier one, only the new part is read.

        Raises:
            WireError, ProtocolMismatch: as ``Adapter.decode_request``.
        """
        found = self._resume(adapter.name, text)
        if found:
            return found.request, found
        self._body, self._reading = _Body(adapter.name, text, text.whole()), None
        try:
            return adapter.decode_request(self._body.joined, self), self._reading
        finally:
            self._body = None

    def read_request(self, joined: bytes, form: RequestForm) -> ModelRequest | None:
        """The request that a body is; None if it is no object with a list of messages.

        Raises:
            WireError: a part of it is not JSON.
            ProtocolMismatch: it is no request.
        """
        found = outline(joined, form.key)
        if found is None:
            return None
        body = self._body
        protocol, text = body[:2] if body and body.joined is joined else ("", WholeText(joined))
        texts = [text.between(*place) for place in found.places_from(0)]
        members = (*found.before, *(member.move(found.end) for member in found.after))
        fields = self._parts.fields(protocol, form, ((m.name, joined[m.start : m.end]) for m in members))
        request, self._reading = self._read_members(protocol, form, text, found, fields, texts)
        return request

    def _read_members(
        self,
        protocol: str,
        form: RequestForm,
        text: BodyText,
        found: ListOutline,
        fields: _KnownFields,
        texts: list[bytes],
    ) -> tuple[ModelRequest, RequestReading | None]:
        """The request of messages, and of the other members of its body."""
        self._take_latest()
        values = fields.values
        request = form.read({**values, form.key: texts}, self)
        latest = self._take_latest()
        if latest is None:
            return request, None
        is_apart = form.shapes is not None and not any(True for _ in where(request.messages, form.shapes))
        facts = fields.found if is_apart and protocol else {}
        reading = RequestReading(protocol, form, text, found, values, request, latest.noted, is_apart, facts)
        return request, self._keep_reading(latest, reading)

    def _take_latest(self) -> _KnownHistory | None:
        """The history that was read since the last call."""
        latest, self._latest = self._latest, None
        return latest

    def _keep_reading(self, known: _KnownHistory, reading: RequestReading) -> RequestReading:
        """Keep what was read with its history, which is the last one."""
        self._histories[-1] = known._replace(reading=reading)
        return reading

    def _resume(self, protocol: str, text: BodyText) -> RequestReading | None:
        """The reading of a body from the end of an earlier one; None if it continues none, or not all is JSON."""
        known, common_length = self._find_continued(protocol, text)
        before = known.reading if known else None
        if known is None or before is None:
            return None
        found = before.outline.resume(
            common_length, text.between(before.outline.place(common_length - 1)[1], text.size)
        )
        if found is None:
            return None
        texts = _NewTexts(known, common_length, [text.between(*place) for place in found.places_from(common_length)])
        try:
            values = before.values_of(found, text)
            reading = self._extend(known, before, found, text, texts) if values is before.values else None
            if reading is None:
                reading = self._read_members(protocol, before.form, text, found, _KnownFields(values, {}), texts)[1]
        except (WireError, ProtocolMismatch):
            return None
        if reading:
            reading.learn(before, common_length)
        return reading

    def _extend(
        self, known: _KnownHistory, before: RequestReading, found: ListOutline, text: BodyText, texts: _NewTexts
    ) -> RequestReading | None:
        """Read a request that differs from an earlier one in its messages alone; None if another field does."""
        shapes = before.form.shapes
        if not before.is_apart or shapes is None:
            return None
        anomalies = list[Anomaly]()
        messages = self.read(texts, anomalies, known.reader, known.key)
        latest = self._take_latest()
        if latest is None or any(map(shapes, messages[texts.common_length :])):
            return None
        first = before.noted[0]
        request, noted = before.request_with(messages, anomalies), (first, first + len(anomalies))
        reading = RequestReading(
            before.protocol, before.form, text, found, before.values, request, noted, is_apart=True,
            found_of_fields=before.found_of_fields,
        )  # fmt: skip
        return self._keep_reading(latest, reading)

    def _find_continued(self, protocol: str, text: BodyText) -> tuple[_KnownHistory | None, int]:
        """The history with the most first messages in common, and how many these are."""
        best, most = None, 0
        for known in reversed(self._histories):
            reading = known.reading
            if reading and reading.protocol == protocol and reading.form.shapes:
                shared = text.count_shared(reading.text)
                common_length = reading.outline.count_kept(shared)
                if common_length > most:
                    best, most = known, common_length
                if common_length == most and shared >= CONTINUED * text.size:
                    break
        return best, most

    def read(
        self, texts: Iterable[bytes], anomalies: list[Anomaly], reader: Reader, key: str = "messages"
    ) -> HistoryPrefix:
        """The messages of a request, in order.

        Args:
            texts: their bytes.
            anomalies: takes what was noticed.
            reader: a function of a module: what it makes of the same bytes is the same.
            key: of the list that holds them in the body.

        Raises:
            WireError: a message is not JSON.
        """
        history, shared, new = self._split(texts, reader, key)
        count = shared + len(new)
        added = [self._parts.message(reader, text) for text in new]
        if added and shared < len(history.texts):
            history = history.fork(shared)
        for n, (text, known) in enumerate(zip(new, added, strict=True), shared):
            pointer, (message, _, kind, facts) = f"/{key}/{n}", known
            repeated = RepeatedMessage(message.role, message.parts, message.extra, pointer, facts, text, kind)
            notes = [replace(a, pointer=pointer + a.pointer) for a in known.anomalies] if known.anomalies else ()
            history.append(text, repeated, notes)
        first = len(anomalies)
        anomalies += [anomaly for _, anomaly in history.anomalies[: history.count_anomalies(count)]]
        self._latest = _KnownHistory(history, reader, key, (first, len(anomalies)))
        self._keep(self._latest)
        return history.prefix(count)

    def _split(self, texts: Iterable[bytes], reader: Reader, key: str) -> tuple[GrowingHistory, int, Sequence[bytes]]:
        """The history that a request continues, how many of its messages it has, and the texts of those behind."""
        wanted = list(texts)
        if isinstance(texts, _NewTexts):
            history, shared = texts.known.history, texts.common_length
            if (reader, key) != (texts.known.reader, texts.known.key):
                return GrowingHistory(), 0, (*history.texts[:shared], *wanted)
        else:
            history, shared = self._find(wanted, reader, key)
            wanted = wanted[shared:]
        again = count_alike(history.texts[shared:], wanted)  # a retry of what was said before
        return history, shared + again, wanted[again:]

    def _find(self, texts: Sequence[bytes], reader: Reader, key: str) -> tuple[GrowingHistory, int]:
        """The history with the most first messages in common, the latest of several, and how many these are."""
        best, most = GrowingHistory(), 0
        for known in reversed(self._histories):
            shared = known.history.count_shared(texts) if (known.reader, known.key) == (reader, key) else 0
            if shared > most:
                best, most = known.history, shared
        return best, most

    def _keep(self, known: _KnownHistory) -> None:
        others = [other for other in self._histories if other.history is not known.history]
        self._histories = [*others[-MOST_HISTORIES + 1 :], known]
        size = sum([other.history.size for other in self._histories])
        while size > self._most and len(self._histories) > 1:
            size -= self._histories.pop(0).history.size
