"""Relations: what a provider does with a value at a place, and under which conditions; one line of data each.

A relation names a place, a test on the values there, conditions, and a consequence, with source and date::

    {at: /messages/*/content/*/type, is: input_text, when: {role: assistant}, then: refused, says: "…", source: codex-1}

``profiles/README.md`` documents every key. Rules, simulators, the matrix, ``explain`` and repairs read the same line.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from enum import StrEnum
from typing import Any
from zlib import crc32

from workbench import regex
from workbench.contracts.contract import EnforcedCheck
from workbench.contracts.pointer_patterns import Place, PlacedValue, read_place
from workbench.contracts.reader import Node
from workbench.contracts.value_tests import ABSENT, COMPARED, NONE, PRESENT, SINGLE, TESTS, TOGETHER, Test
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.wire import dumps


class Consequence(StrEnum):
    """Consequence of a relation that holds."""

    REFUSED = "refused"
    IGNORED = "ignored"
    REWRITTEN = "rewritten"
    ACCEPTED = "accepted"


class Evidence(StrEnum):
    """Evidence that a relation rests on: an error needs a refusal that was seen, and no acceptance after it.

    DISPUTED: a refusal was reported, and a later recording shows that the provider accepts it.
    """

    RECORDING = "recording"
    REPORT = "report"
    PROBE = "probe"
    DISPUTED = "disputed"
    DOCUMENTS = "documents"
    TYPES = "types"
    SIBLING = "sibling"
    MODEL = "model"
    FAMILY = "family"

    @property
    def is_seen(self) -> bool:
        """True if it was seen that the provider does it."""
        return self in (Evidence.RECORDING, Evidence.REPORT, Evidence.PROBE)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on another place: ``{/tools: present}``, ``{../role: assistant}``."""

    place: Place
    test: Test

    def holds(self, found: Iterable[PlacedValue]) -> bool:
        """True if the values at the place fulfil the condition."""
        values = list(found)
        if self.test.is_absent:
            return all(each.value is None for each in values)
        return bool(self.test.find_faults(values)) is not self.test.is_none


@dataclass(frozen=True, slots=True)
class When:
    """Conditions of a relation in addition to its place; all of them have to hold.

    Attributes:
        role: roles, of which the message around the place has one.
        thinking: "on" or "off"; empty for any.
        stream: the request asks for a stream, or does not; None for any.
        url: globs of the request's URL.
        transport: "http", or "websocket" for the turns of a connection; empty for any.
        beta, without_beta: globs of announced beta features.
        more_messages, more_bytes: the request has more; -1 for any.
        places: conditions on other places.
    """

    role: tuple[str, ...] = ()
    thinking: str = ""
    stream: bool | None = None
    url: tuple[str, ...] = ()
    transport: str = ""
    beta: str = ""
    without_beta: str = ""
    more_messages: int = -1
    more_bytes: int = -1
    places: tuple[Condition, ...] = ()

    def resolved_for(self, wire: Mapping[str, str]) -> When:
        """The same conditions with the named places resolved for a protocol. Raises KeyError if it lacks one."""
        if not self.places:
            return self
        return replace(self, places=tuple(replace(each, place=each.place.resolved_for(wire)) for each in self.places))


@dataclass(frozen=True, slots=True)
class Relation:
    """One fact about a provider.

    Attributes:
        name: of the provider's check; unique among the relations of a contract.
        place, test, when: the values that it is about.
        then: consequence.
        rule: slug of the rule that reports it; empty for the one that fits the place.
        evidence: what it rests on.
        why: the reason, in words; empty if the place and the value show it.
        instead: value that is accepted at the place; ``has_instead`` distinguishes null from absent.
        seen_on: protocols on which it was seen, if it holds for more.
        passes: it may pass to other protocols of the provider.
        models: globs of models, in the older form of these facts; () for any.
        term: the term of the older form that it is derived from; empty for a relation of the file.
        broken, healthy: pointer → value of requests that are refused and accepted, for the tests.
    """

    name: str
    place: Place
    test: Test
    when: When
    then: Consequence
    source: str
    date: str
    rule: str = ""
    evidence: Evidence = Evidence.REPORT
    why: str = ""
    note: str = ""
    instead: JsonValue = None
    has_instead: bool = False
    seen_on: tuple[str, ...] = ()
    passes: bool = True
    models: tuple[str, ...] = ()
    term: str = ""
    broken: Mapping[str, JsonValue] = field(default_factory=dict, compare=False)
    healthy: Mapping[str, JsonValue] = field(default_factory=dict, compare=False)

    @property
    def is_refused_field(self) -> bool:
        """True if it was seen that a top-level field is refused, whatever its value and whatever else a request has."""
        is_field = self.place.up < 0 and not self.place.name and len(self.place.steps) == 1
        return is_field and self.is_enforced and self.test == Test() and self.when == When()

    @property
    def is_enforced(self) -> bool:
        """True if it was seen that the provider refuses it."""
        return self.then == Consequence.REFUSED and Evidence(self.evidence).is_seen

    def resolved_for(self, protocol: str, wire: Mapping[str, str]) -> Relation | None:
        """The relation with its named places resolved for a protocol; None if the protocol lacks one of them.

        If it was seen only on other protocols of the provider, its evidence is that of a sibling.
        """
        try:
            place, test, when = (
                self.place.resolved_for(wire),
                self.test.resolved_for(wire),
                self.when.resolved_for(wire),
            )
        except KeyError:
            return None
        is_same = place is self.place and test is self.test and when is self.when
        found = self if is_same else replace(self, place=place, test=test, when=when)
        is_seen = not self.seen_on or protocol in self.seen_on
        return found if is_seen else replace(found, evidence=Evidence.SIBLING)


KEYS = (
    *("name", "at", "when", "for", "then", "rule", "status", "says", "type-of-error", "param", "code", "body"),
    *("rests-on", "source", "date", "why", "note", "instead", "broken", "healthy", "seen-on", "passes", *TESTS),
)
_WHEN = ("role", "thinking", "stream", "url", "transport", "beta", "without-beta", "more-messages", "more-bytes")


def read_relation(node: Node, source: str, date: str) -> Relation:
    """A relation of a contract file. Raises ProfileError."""
    node.only(*KEYS)
    place, test = read_test_at(node)
    when = _when(node.get("when"))
    then = _word(node.get("then"), Consequence, Consequence.REFUSED)
    value = node.value if isinstance(node.value, Mapping) else {}
    return Relation(
        name=node.get("name").text("") or _name(value),
        place=place,
        test=test,
        when=when,
        then=then,
        source=source,
        date=date,
        rule=node.get("rule").text(""),
        evidence=_word(node.get("rests-on"), Evidence, Evidence.REPORT),
        why=node.get("why").text(""),
        note=node.get("note").text(""),
        instead=value.get("instead"),
        has_instead="instead" in value,
        seen_on=node.get("seen-on").texts(),
        passes=value.get("passes") is not False,
        broken={key: each.value for key, each in node.get("broken").members()},
        healthy={key: each.value for key, each in node.get("healthy").members()},
    )


def read_test_at(node: Node) -> tuple[Place, Test]:
    """Place and test of a line; its other members are left to the caller. Raises ProfileError."""
    return _place(node.get("at")), _test(node)


def check_of(relation: Relation, node: Node) -> EnforcedCheck | None:
    """The provider's check behind a relation; None if no refusal was seen."""
    is_reported = relation.then == Consequence.REFUSED and relation.evidence == Evidence.DISPUTED
    if not relation.is_enforced and not is_reported:
        return None
    status = node.get("status")
    return EnforcedCheck(
        rule=relation.rule or rule_of(relation),
        status=400 if status.value is None else status.number(),
        template=node.get("says").text(""),
        source=relation.source,
        date=relation.date,
        param=node.get("param").text(""),
        code=node.get("code").text(""),
        when=relation.name,
        note=relation.note,
        type=node.get("type-of-error").text(""),
        body=node.get("body").value,
        is_exact=True,
    )


_BY_PLACE = (
    (regex.compile(r"/tool_?[cC](hoice|onfig)\b|/function_call\b"), "choice.unsupported"),
    (regex.compile(r"^tool\.description$"), "schema.description"),
    (regex.compile(r"^tool\.type$"), "schema.tool-type"),
    (regex.compile(r"^tool\.strict$"), "schema.strict"),
    (regex.compile(r"^tool\.name$"), "schema.name"),
    (regex.compile(r"^tool\.parameters\b"), "schema.unsupported-keyword"),
    (regex.compile(r"^request\.tools$"), "tools.unsupported"),
    (regex.compile(r"^request\.tool_choice\b"), "choice.unsupported"),
    (regex.compile(r"^content\.(image|file|audio)\b"), "content.unsupported-part"),
    (regex.compile(r"^(content|call|result)\."), "content.shape"),
    (regex.compile(r"/(tools|functions)\b.*/description$"), "schema.description"),
    (regex.compile(r"/(tools|functions)/[^/]*/type$"), "schema.tool-type"),
    (regex.compile(r"/(tools|functions)\b.*/strict$"), "schema.strict"),
    (regex.compile(r"/(tools|functions)\b(/[^/]+){1,2}/name$"), "schema.name"),
    (regex.compile(r"/(tools|functions)\b.*/(parameters|input_schema|inputSchema|parametersJsonSchema)\b"),
     "schema.unsupported-keyword"),
    (regex.compile(r"/(tools|functions)$"), "tools.unsupported"),
    (regex.compile(r"/(tools|functions)\b"), "schema.malformed"),
    (regex.compile(r"/(messages|input|contents)/.*/(image|image_url|source|inlineData|inline_data)\b"),
     "content.unsupported-part"),
    (regex.compile(r"/(messages|input|contents)/.*/(content|parts|output)/.*/type$"), "content.unsupported-part"),
    (regex.compile(r"/(messages|input|contents)/"), "content.shape"),
)  # fmt: skip
"""Place → the rule that reports it. The first match counts; all other places are parameters."""


def rule_of(relation: Relation) -> str:
    """Slug of the rule that fits the place of a relation."""
    if relation.rule:
        return relation.rule
    if relation.then in (Consequence.IGNORED, Consequence.REWRITTEN):
        return "params.ignored"
    place = str(relation.place)
    fitting = next((slug for pattern, slug in _BY_PLACE if pattern.search(place)), "")
    if fitting:
        return fitting
    if relation.test.is_absent:
        return "params.missing"
    return "params.conflict" if relation.when.places else "params.unsupported"


def _place(node: Node) -> Place:
    try:
        return read_place(node.text())
    except ValueError as error:
        raise node.fail(str(error)) from error


def _word(node: Node, words: Any, usual: Any) -> Any:
    try:
        return words(node.text(str(usual)))
    except ValueError as error:
        raise node.fail(f"{node.value!r} is not one of: {', '.join(words)}") from error


def _test(node: Node) -> Test:
    """The tests in a mapping; words of other kinds are left to others."""
    value = node.value if isinstance(node.value, Mapping) else {}
    if value.get(ABSENT) is True and any(word in value for word in TESTS if word != ABSENT):
        raise node.fail("an absent field has no value to test")
    for word in ("matches", "not-matches", "key-not-matches"):
        if word in value:
            _pattern(node.get(word))
    return Test(
        is_absent=value.get(ABSENT) is True,
        is_none=value.get(NONE) is True,
        single=tuple((word, value[word]) for word in SINGLE if word in value),
        compared=tuple((word, _place(node.get(word))) for word in COMPARED if word in value),
        together=tuple((word, value[word]) for word in TOGETHER if word in value),
    )


def _pattern(node: Node) -> None:
    try:
        re.compile(node.text())
    except re.error as error:
        raise node.fail(f"not a regular expression: {error}") from error


def _when(node: Node) -> When:
    value = node.value if isinstance(node.value, Mapping) else {}
    if node.value is not None and not isinstance(node.value, Mapping):
        raise node.fail("not a mapping of conditions")
    places = read_conditions(node, _WHEN)
    stream = value.get("stream")
    if stream not in (None, True, False) or value.get("thinking") not in (None, "on", "off"):
        raise node.fail("'stream' must be true or false, 'thinking' must be on or off")
    if value.get("transport") not in (None, "http", "websocket"):
        raise node.fail("'transport' must be http or websocket")
    return When(
        role=_texts(node.get("role")),
        thinking=node.get("thinking").text(""),
        stream=stream,
        url=_texts(node.get("url")),
        transport=node.get("transport").text(""),
        beta=node.get("beta").text(""),
        without_beta=node.get("without-beta").text(""),
        more_messages=node.get("more-messages").number() if "more-messages" in value else -1,
        more_bytes=node.get("more-bytes").number() if "more-bytes" in value else -1,
        places=places,
    )


def read_conditions(node: Node, without: Container[str] = ()) -> tuple[Condition, ...]:
    """Conditions on other places, from all members but the named ones. Raises ProfileError."""
    return tuple(_condition(key, each) for key, each in node.members() if key not in without)


def _condition(key: str, node: Node) -> Condition:
    """``{/tools: absent}``, ``{/thinking/type: enabled}``, ``{/top_k: {above: 3}}``."""
    try:
        place = read_place(key)
    except ValueError as error:
        raise node.fail(f"unknown condition {key!r}: use one of {', '.join(_WHEN)}, or a pointer") from error
    value = node.value
    if value in (ABSENT, PRESENT):
        return Condition(place, Test(is_absent=value == ABSENT))
    if isinstance(value, Mapping):
        node.only(*TESTS)
        return Condition(place, _test(node))
    return Condition(place, Test(single=(("in", value) if isinstance(value, list) else ("is", value),)))


def _texts(node: Node) -> tuple[str, ...]:
    return (node.text(),) if isinstance(node.value, str) else node.texts()


def _name(value: Mapping[str, JsonValue]) -> str:
    """A name made of the place and a digest of the line, for relations that nobody named."""
    conditions = {key: value[key] for key in ("at", "when", "for", *TESTS) if key in value}
    return f"{value.get('at', '')}#{crc32(dumps(conditions)):08x}"


def of_refused_params(value: JsonValue, source: str, date: str) -> tuple[Relation, ...]:
    """Relations of the older term ``params.refused``; its entries name their checks by ``when``."""
    entries = [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
    return tuple(_of_refused_param(entry, source, date) for entry in entries)


_OF_MESSAGES = (
    (regex.compile(r"^/(?:messages|input|contents)/\*/role$"), "content.shape"),
    (regex.compile(r"^/(?:messages|input|contents)/\*/content/\*/type$"), "content.unsupported-part"),
)


def _of_refused_param(entry: Mapping[str, Any], source: str, date: str) -> Relation:
    tests = {key: entry[key] for key in ("is", "in", "not-in", "below", "above", "not-below-at") if key in entry}
    when: dict[str, Any] = {"without-beta": entry["without-beta"]} if "without-beta" in entry else {}
    if beside := entry.get("with"):
        test = {key: beside[key] for key in ("is", "in") if key in beside}
        when[beside["at"]] = test or (ABSENT if beside.get("absent") else PRESENT)
    node = Node({"at": entry["at"], **tests, "when": when}, "params.refused")
    relation = read_relation(node, source, date)
    rule = next((slug for at, slug in _OF_MESSAGES if at.search(str(relation.place))), "params.unsupported")
    return replace(relation, name=entry.get("when", ""), rule=rule, term="params.refused",
                   models=tuple(entry.get("models", ())))  # fmt: skip
