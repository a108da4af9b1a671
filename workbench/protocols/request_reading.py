"""A request body as read, with the places of its messages: the reading of the next request continues from it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.ir import Anomaly, JsonValue, Message, ModelRequest
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.named_tuple import NamedTuple
from workbench.protocols.history import fact, text_of
from workbench.wire import BodyText, JsonIndex, ListOutline, Members, ParsedMembers, TextLayer, loads

if TYPE_CHECKING:
    from workbench.protocols.known_messages import KnownMessages

ReadRequest: TypeAlias = "Callable[[JsonValue, KnownMessages | None], ModelRequest]"
"""Function that makes a request from a parsed body; with known messages, from one with the texts of its messages."""

TextTest: TypeAlias = Callable[[bytes], object]


class RequestForm(NamedTuple):
    """Functions with which an adapter reads requests.

    Attributes:
        read: a function of a module.
        key: key of the list with the messages in the body.
        shapes: test for messages from which other fields of the request are read, too; None if the adapter changes what
            ``read`` returns.
    """

    read: ReadRequest
    key: str
    shapes: Callable[[Message], object] | None


@dataclass(frozen=True, slots=True)
class RequestReading:
    """A body, and what was read from it.

    Attributes:
        protocol: name of the adapter.
        values: the members of the body other than the messages, parsed.
        noted: number of anomalies of the request before those of its messages, and the index of the first one after
            them.
        is_apart: no field except ``messages`` was read from the messages.
        found_of_fields: results about everything except the messages, for readings that differ only in these.
    """

    protocol: str
    form: RequestForm
    text: BodyText
    outline: ListOutline
    values: Mapping[str, JsonValue]
    request: ModelRequest
    noted: tuple[int, int]
    is_apart: bool
    found_of_fields: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    _clean: dict[TextTest, int] = field(default_factory=dict, init=False)

    @property
    def members(self) -> Members:
        """The members of the body."""
        return ParsedMembers(self.text, self.values, self.outline.list.name)

    def index(self, text: bytes) -> JsonIndex:
        """Byte spans of the body, which is ``text``."""
        layer = TextLayer(text)
        self.outline.seed(layer)
        return JsonIndex(text, layer)

    def span_in_message(self, pointer: str) -> tuple[int, int] | None:
        """Byte range of a value in a message, whose text is scanned once; None if it is absent or not in a message."""
        key, number, rest = pointer[1:].split("/", 2) if pointer.count("/") > 2 else ("", "", "")
        if key != self.outline.list.name or not number.isdecimal() or not int(number) < len(self.request.messages):
            return None
        message = self.request.messages[int(number)]
        if text_of(message) is None or message.pointer != f"/{key}/{number}":
            return None
        start, end = self.outline.place(int(number))
        span = fact(message, _index_of).span(f"/{rest}") if end - start == len(text_of(message) or b"") else None
        return (start + span[0], start + span[1]) if span else None

    def has(self, test: TextTest) -> bool:
        """True if the test is true of the body; only its new part is examined.

        Args:
            test: a function of a module, true of a text if it is true of a part of it that holds no whole message.
        """
        if test(self.text.between(self._clean.get(test, 0), self.text.size)):
            return True
        self._clean[test] = self.outline.end
        return False

    def values_of(self, other: ListOutline, text: BodyText) -> Mapping[str, JsonValue]:
        """The values of a body that differs from this one after some message. Raises WireError."""
        if other.tail == self.outline.tail:
            return self.values
        after = {m.name: text.between(m.start + other.end, m.end + other.end) for m in other.after}
        before = {m.name: self.values[m.name] for m in self.outline.before}
        return before | {name: loads(value, levels=1) for name, value in after.items()}

    def learn(self, before: RequestReading, repeated: int) -> None:
        """Take over the results of ``has`` for a body that begins with the same messages."""
        end = self.outline.place(repeated - 1)[1]
        self._clean.update({test: min(at, end) for test, at in before._clean.items()})

    def texts_of_members(self) -> Iterator[tuple[str, bytes]]:
        """(name, text) of the members of the body other than the messages."""
        end = self.outline.end
        for member in (*self.outline.before, *(member.move(end) for member in self.outline.after)):
            yield member.name, self.text.between(member.start, member.end)

    def anomalies_from(self, message: int) -> Sequence[Anomaly]:
        """The anomalies of the request, without those of the first messages."""
        (first, last), known, head = self.noted, self.request.anomalies, f"/{self.outline.list.name}/"
        at = bisect_left(known, message, first, last, key=lambda each: int(each.pointer[len(head) :].partition("/")[0]))
        return (*known[:first], *known[at:])

    def request_with(self, messages: tuple[Message, ...], anomalies: Sequence[Anomaly]) -> ModelRequest:
        """The request with other messages."""
        first, last = self.noted
        known = self.request.anomalies
        return replace(self.request, messages=messages, anomalies=(*known[:first], *anomalies, *known[last:]))


def _index_of(message: Message) -> JsonIndex:
    return JsonIndex(text_of(message) or b"")
