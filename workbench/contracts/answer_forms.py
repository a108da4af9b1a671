"""Forms of answers that single clients fail on, while others read them: ``answer_forms.json`` of each protocol.

A line has a place, a test and conditions in the language of relations, and the clients with what they make of it. The
tests of a line read only what is absent, empty, of another type, or one of a few words, so that answers of one make are
alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from workbench import regex
from workbench.config import resources
from workbench.contracts.pointer_patterns import Place
from workbench.contracts.reader import Node
from workbench.contracts.relations import Condition, read_conditions, read_test_at
from workbench.contracts.value_tests import Test
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.wire import loads

FORM_WORDS = frozenset((
    *("type", "role", "object", "event", "format", "status", "service_tier"),
    *("finish_reason", "stop_reason", "finishReason"),
))  # fmt: skip
"""Members whose texts a test may name."""

_TESTS = frozenset(("is", "in", "not-in", "longer", "type", "not-type", "has", "lacks"))


class AnswerPiece(StrEnum):
    """The part of an answer that a form is looked for in."""

    START = "start"
    CALL_BEGINS = "call-begins"
    CALL_GOES_ON = "call-goes-on"
    REASONING = "reasoning"
    TEXT = "text"
    END = "end"
    BODY = "body"


_OF_STREAMS = tuple(piece for piece in AnswerPiece if piece is not AnswerPiece.BODY)


class ClientEffect(StrEnum):
    """Effect of a form on a client: an exception, or a part of the answer that it drops."""

    RAISES = "raises"
    MISSES = "misses"


class FailingClient(NamedTuple):
    """A client that fails on a form.

    Attributes:
        name: the client, with the version that was seen.
        then: what it makes of the answer.
        words: its error text or its behaviour, as published; empty if neither was.
        agent: beginning of the User-Agent that it sends; empty if it is unknown.
        source: URL of the report or of its source code; ``date`` is the day or month of it.
    """

    name: str
    then: ClientEffect
    words: str
    agent: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A form of an answer.

    Attributes:
        place, test: as of a relation, in the JSON of an event or of a whole body. A member that is null is not absent.
        when: conditions on other places of the same JSON.
        line: what a line of an event begins with, in place of these; None for a form of its JSON.
        pieces: where it is looked for.
        providers: contracts of the only providers behind which the clients are used; () for any.
        words: the form in words, the subject of a sentence: "the first piece of a call without arguments".
        example: an event's JSON, a body or a line that has the form.
        clients: those that fail on it.
    """

    place: Place
    test: Test
    when: tuple[Condition, ...]
    line: re.Pattern[str] | None
    pieces: frozenset[AnswerPiece]
    providers: tuple[str, ...]
    words: str
    example: JsonValue
    clients: tuple[FailingClient, ...]

    def is_in(self, block: bytes) -> bool:
        """A line of an event has the form; its carriage return is part of it."""
        lines = block.decode("utf-8", "replace").split("\n") if self.line else ()
        return any(self.line.match(line) for line in lines if self.line)

    def places(self, value: JsonValue) -> Iterator[str]:
        """Pointers at which a value has the form."""
        if self.line is not None or not all(each.holds(each.place.find(value)) for each in self.when):
            return
        if self.test.is_absent:
            nulls = {found.pointer for found in self.place.find(value)}
            yield from (pointer for pointer in self.place.missing(value) if pointer not in nulls)
            return
        yield from (found.pointer for found in self.place.find(value) if self.test.passes(found.value))


@cache
def known_answer_forms(protocol: str) -> tuple[AnswerForm, ...]:
    """The forms of a protocol; () if none is known. Raises ProfileError for a line that cannot be read."""
    text = resources.protocol_file(protocol, "answer_forms.json")
    root = Node(loads(text), f"answer_forms.json of {protocol}") if text else None
    return tuple(map(_form, root.items())) if root else ()


def _form(node: Node) -> AnswerForm:
    node.only("at", "line", "absent", *sorted(_TESTS), "when", "pieces", "providers", "form", "example", "clients")
    line = node.get("line").text("")
    place, test = (Place(()), Test()) if line else read_test_at(node)
    when = read_conditions(node.get("when"))
    for each in (Condition(place, test), *when):
        _check(node, each)
    clients = tuple(_client(each) for each in node.get("clients").items())
    if not clients:
        raise node.fail("no client")
    pieces = node.get("pieces").texts() or _OF_STREAMS
    unknown = [piece for piece in pieces if piece not in tuple(AnswerPiece)]
    if unknown:
        raise node.get("pieces").fail(f"{unknown[0]!r} is not one of: {', '.join(AnswerPiece)}")
    pattern = regex.compile(line) if line else None
    return AnswerForm(
        place,
        test,
        when,
        pattern,
        frozenset(map(AnswerPiece, pieces)),
        node.get("providers").texts(),
        node.get("form").text(),
        node.get("example").value,
        clients,
    )


def _check(node: Node, condition: Condition) -> None:
    """Raises ProfileError if a test reads more of a value than its form."""
    place, test = condition.place, condition.test
    if test.compared or test.together or test.is_none or not {word for word, _ in test.single} <= _TESTS:
        raise node.fail(f"a form is tested by 'absent' and {', '.join(sorted(_TESTS))}")
    for word, value in test.single:
        if word == "longer" and value != 0:
            raise node.fail("'longer' is 0 in a form: whether a value is empty")
        texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str) and each]
        if word in ("is", "in", "not-in") and texts and place.last not in FORM_WORDS:
            raise node.fail(f"texts are compared only at: {', '.join(sorted(FORM_WORDS))}")


def _client(node: Node) -> FailingClient:
    node.only("name", "then", "words", "agent", "source", "date")
    then = node.get("then").text()
    if then not in tuple(ClientEffect):
        raise node.fail(f"{then!r} is not one of: {', '.join(ClientEffect)}")
    words, agent, source, date = (node.get(key).text("") for key in ("words", "agent", "source", "date"))
    return FailingClient(node.get("name").text(), ClientEffect(then), words, agent, source, date)
