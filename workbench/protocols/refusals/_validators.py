"""Sentences of validators: the place in the request and the fault that they name, and the rule of both.

Validators differ in how they write a place (``messages.1.content``, ``('body', 'messages', 1)``, ``Go struct field
ChatRequest.messages``) and agree in what can be wrong there. The table is ``validators.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from workbench import regex
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols.refusals._phrases import rule_at
from workbench.protocols.refusals._texts import table as read_table

REQUEST = "request"
"""Document that a validator reads, where nothing names another one."""

OF_ANY_PLACE = frozenset({"content.shape", "params.unsupported", "schema.malformed"})
"""Rules of rows that are about any place: the thing at the end of the place may have a rule of its own."""

_STEPS = regex.compile(r"[^\w$]+")
_AROUND = 160
"""Characters behind a place, or in front of it, that may name the fault."""

_POINTER = "#/"


class Complaint(NamedTuple):
    """Statement of a validator.

    Attributes:
        validator: who writes so ("pydantic", "Go").
        place: steps in the request, with dots between ("messages.1.content").
        fault: "unknown", "missing", "empty", "type", "value" or "length".
        rule: of the place and the fault; empty if both do not tell it.
        document: what was read: "request", or what the text names ("answer", "arguments", "tool server").
    """

    validator: str
    place: str
    fault: str
    rule: str
    document: str = REQUEST

    @property
    def is_of_request(self) -> bool:
        """The validator read a request."""
        return self.document == REQUEST

    def names(self, template: str) -> bool:
        """A template of a provider has the place in its own words, or with ``{name}`` for an index."""
        steps = self.place.split(".")[-2:]
        place = r"\.".join(r"\{\w+\}" if step.isdigit() else re.escape(step) for step in steps)
        return bool(place) and re.search(place, template.lower()) is not None


class _Row(NamedTuple):
    """The rule of places and faults in a document, where the sentence has certain words."""

    at: re.Pattern[str]
    faults: frozenset[str]
    words: re.Pattern[str]
    document: str
    rule: str


class _Table(NamedTuple):
    readers: tuple[tuple[re.Pattern[str], str], ...]
    before: frozenset[re.Pattern[str]]
    roots: frozenset[str]
    answers: frozenset[str]
    faults: tuple[tuple[re.Pattern[str], str], ...]
    documents: tuple[tuple[re.Pattern[str], str], ...]
    rules: tuple[_Row, ...]


@cache
def _table() -> _Table:
    validators = read_table("validators")
    readers, before = _patterns(validators["readers"]), _patterns(validators["before"])
    roots, rules, answers = validators["roots"], validators["rules"], validators["answers"]
    assert isinstance(roots, list) and isinstance(rules, list) and isinstance(answers, list)
    return _Table(
        readers + before,
        frozenset(pattern for pattern, _ in before),
        frozenset(map(str, roots)),
        frozenset(map(str, answers)),
        _patterns(validators["faults"]),
        _patterns(validators["documents"]),
        tuple(_row(row) for row in rules if isinstance(row, dict)),
    )


def _patterns(texts: JsonValue) -> tuple[tuple[re.Pattern[str], str], ...]:
    assert isinstance(texts, dict)
    return tuple((re.compile(text), str(name)) for text, name in texts.items())


def _row(row: Mapping[str, JsonValue]) -> _Row:
    words = re.compile(str(row.get("words", "")))
    faults = frozenset(str(row.get("faults", "")).split())
    return _Row(re.compile(str(row["at"])), faults, words, str(row.get("of", REQUEST)), str(row["rule"]))


def complaint_in(small: str) -> Complaint | None:
    """First fault that a validator reports in a text (lower case, one kind of quotes)."""
    table, first = _table(), None
    document = next((name for pattern, name in table.documents if pattern.search(small)), REQUEST)
    for pattern, validator in table.readers:
        for found in pattern.finditer(small):
            place = _place(found)
            sentence = _sentence(small, found, is_before=pattern in table.before)
            fault = next((name for test, name in table.faults if test.search(sentence)), "")
            short = _without_roots(place, table.roots)
            is_answer = document == REQUEST and short.partition(".")[0] in table.answers
            read = "answer" if is_answer else document
            rows = (row for row in table.rules if row.document == read and fault in row.faults)
            rule = next((row.rule for row in rows if _fits(row, short, sentence)), "")
            if rule in OF_ANY_PLACE and read == REQUEST:
                rule = rule_at(short, fault) or rule
            if rule:
                return Complaint(validator, place, fault, rule, read)
            first = first or (Complaint(validator, place, fault, "", read) if fault else None)
    return first


def _fits(row: _Row, place: str, text: str) -> bool:
    return bool(row.at.search(place) and row.words.search(text))


def _place(found: re.Match[str]) -> str:
    """The steps of a place, with dots between; a key that is written next to its place is its last step."""
    key = found.groupdict().get("key")
    steps = [*_STEPS.split(found["place"]), *([key] if key else [])]
    return ".".join(step for step in steps if step)


def _without_roots(place: str, roots: frozenset[str]) -> str:
    """A place without the names that validators give the whole request."""
    steps = place.split(".")
    while len(steps) > 1 and steps[0] in roots:
        steps = steps[1:]
    return ".".join(steps)


def _sentence(small: str, found: re.Match[str], *, is_before: bool) -> str:
    """The words of a validator around a place, up to the next JSON pointer."""
    start = max(0, found.start() - _AROUND) if is_before else found.start()
    end = found.end() if is_before else found.end() + _AROUND
    following = small.find(_POINTER, found.end(), end)
    return small[start : end if following < 0 else following]
