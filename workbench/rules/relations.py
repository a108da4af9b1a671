"""Relations of a contract on a request: values, or relations between values, that the provider refuses or ignores.

What a message says by itself is read once for each message and contract, and kept beside the message; what depends on
the rest of the request is asked for the few values that are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from typing import TypeAlias
from weakref import WeakValueDictionary

from workbench.chain import Conversation
from workbench.contracts import (
    Breaks,
    Condition,
    Consequence,
    Contract,
    Evidence,
    Finding,
    Place,
    PlacedValue,
    Relation,
    Severity,
    at_pointer,
    dotted_path,
    index_of,
    matches,
    names_of,
    passes_filter,
    rule_of,
)
from workbench.globs import matches_glob
from workbench.ir import JsonValue, Message
from workbench.protocols import NAMED, REQUEST, DecodedExchange, MessageShape, fact, shape_of, text_of
from workbench.provenance import escape
from workbench.rules._body import base, fact_of_fields, list_key, reads_fields, top
from workbench.rules._families import every_rule
from workbench.rules._reasoning import is_off
from workbench.rules.context import Rule, RuleContext
from workbench.rules.gateway import betas
from workbench.rules.params import IGNORED, UNSUPPORTED
from workbench.rules.wording import by_term, quote, show_value
from workbench.wire import loads

CONFLICT = Rule(
    "params.conflict", Severity.WARNING, "Two parameters of a request cannot be used together.", breaks=Breaks.REQUEST
)
TOOL_TYPE = Rule(
    "schema.tool-type", Severity.WARNING, "A tool has a type that the endpoint does not offer.", breaks=Breaks.REQUEST
)
DESCRIPTION = Rule(
    "schema.description",
    Severity.WARNING,
    "The provider does not accept a description in a tool declaration.",
    breaks=Breaks.REQUEST,
)
PROPERTY_NAME = Rule(
    "schema.property-name", Severity.WARNING, "The provider does not accept a property name.", breaks=Breaks.REQUEST
)
NO_TOOLS = Rule("tools.unsupported", Severity.WARNING, "The model or endpoint accepts no tools.", breaks=Breaks.REQUEST)
PART = Rule(
    "content.unsupported-part",
    Severity.WARNING,
    "This model or provider does not accept this kind of content.",
    breaks=Breaks.REQUEST,
)
IMAGE_LIMIT = Rule(
    "content.image-limit",
    Severity.WARNING,
    "An image exceeds a limit of size or dimensions.",
    breaks=Breaks.REQUEST,
)
MIXED = Rule(
    "content.mixed-turn",
    Severity.WARNING,
    "A message mixes text with tool calls or results, but the model accepts only one kind.",
    breaks=Breaks.REQUEST,
)
RULES = (CONFLICT, TOOL_TYPE, DESCRIPTION, PROPERTY_NAME, NO_TOOLS, PART, IMAGE_LIMIT, MIXED)


@dataclass(frozen=True, eq=False)
class _Question:
    """Conditions of relations on a single message; one shared object for equal conditions of all contracts.

    Attributes:
        relation: one of them.
    """

    relation: Relation


@dataclass(frozen=True, eq=False)
class _OnMessages:
    """The relations of a contract on the messages of one list, each with its question."""

    relations: tuple[Relation, ...]
    questions: tuple[_Question, ...]


@dataclass(frozen=True, eq=False)
class _ByList:
    """The relations of a contract: those on messages by the key of their list, and others.

    Attributes:
        on_fields: those on values beside the messages.
        on_body: those on values beside the messages and inside, or on sizes.
    """

    on_messages: Mapping[str, _OnMessages]
    on_fields: tuple[Relation, ...]
    on_body: tuple[Relation, ...]


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings of every relation that holds for the request."""
    if case.request is None or case.decoded.exchange.is_transcript or not case.contract.relations:
        return
    yield from _on_fields(case)
    ordered = fact(case.contract, _group_by_list)
    yield from _on_body(case, ordered.on_body)
    asked = ordered.on_messages.get(list_key(case.decoded))
    if asked:
        yield from _on_messages(case, asked)


def refusals(decoded: DecodedExchange, contract: Contract) -> Iterator[Finding]:
    """Parameters of a request that are known to be refused, whatever was recorded before it."""
    case = RuleContext(decoded, contract, Conversation(-1))
    for finding in check(case) if decoded.request else ():
        if finding.rule in (UNSUPPORTED.slug, CONFLICT.slug) and finding.severity is Severity.ERROR and finding.pointer:
            yield finding


def _group_by_list(contract: Contract) -> _ByList:
    keys: dict[str, list[Relation]] = {}
    for relation in contract.relations:
        is_inside = relation.place.first in _LISTS and len(relation.place.steps) > 2
        keys.setdefault(relation.place.first if is_inside else "", []).append(relation)
    others = keys.pop("", [])
    on_messages = {key: _OnMessages(tuple(found), tuple(map(_question, found))) for key, found in keys.items()}
    is_of_fields = [_reads_fields_alone(relation) for relation in others]
    on_fields = tuple(relation for relation, is_alone in zip(others, is_of_fields, strict=True) if is_alone)
    on_body = tuple(relation for relation, is_alone in zip(others, is_of_fields, strict=True) if not is_alone)
    return _ByList(on_messages, on_fields, on_body)


_LISTS = ("messages", "input", "contents")
"""Keys of the list of messages."""


def _reads_fields_alone(relation: Relation) -> bool:
    when = relation.when
    others = (*(condition.place for condition in when.places), *(place for _, place in relation.test.compared))
    is_beside = all(place.up >= 0 or place.first not in _LISTS for place in others)
    return relation.place.first not in _LISTS and is_beside and when.more_messages < 0 and when.more_bytes < 0


@reads_fields
def _on_fields(case: RuleContext) -> Iterator[Finding]:
    ordered = fact(case.contract, _group_by_list)
    for number, found in fact_of_fields(case.decoded, _in_fields, ordered):
        relation = ordered.on_fields[number]
        if _may_hold(case, relation):
            yield from _findings(case, relation, found)


def _in_fields(decoded: DecodedExchange, ordered: _ByList) -> list[tuple[int, list[PlacedValue]]]:
    """(number of a relation, values) of what relations on fields are about."""
    found = enumerate(_in_body(decoded, ordered.on_fields))
    return [(number, values) for number, values in found if values]


def _on_body(case: RuleContext, relations: Sequence[Relation]) -> Iterator[Finding]:
    for relation, found in zip(relations, _in_body(case.decoded, relations), strict=True):
        if found and _may_hold(case, relation):
            yield from _findings(case, relation, found)


def _in_body(decoded: DecodedExchange, relations: Iterable[Relation]) -> Iterator[list[PlacedValue]]:
    """Values outside of the messages that pass what the place of each relation itself says."""
    at, tops = base(decoded), dict[str, list[tuple[str, JsonValue]]]()
    for relation in relations:
        first = relation.place.first
        if first not in tops:
            tops[first] = list(top(decoded, first))
        yield _below_tops(relation, at, tops[first])


def _below_tops(relation: Relation, at: str, tops: list[tuple[str, JsonValue]]) -> list[PlacedValue]:
    """Values at the place of a relation; ``tops`` are those of its first key, in both spellings."""
    steps = relation.place.steps
    is_there = any(value is not None for _, value in tops)
    if not is_there and len(steps) > 1:
        return []
    found: list[PlacedValue] = []
    for key, value in tops:
        placed = _local(relation, Place((key, *steps[1:])), {key: value})
        found += (PlacedValue(at + each.pointer, each.value) for each in placed)
    if relation.test.is_absent and not found and len(steps) == 1:
        return [] if is_there else [PlacedValue(f"{at}/{escape(steps[0])}", None)]
    return found


def _on_messages(case: RuleContext, asked: _OnMessages) -> Iterator[Finding]:
    for number, found in _in_messages(case, asked).items():
        if _may_hold(case, asked.relations[number]):
            yield from _findings(case, asked.relations[number], found)


def _in_messages(case: RuleContext, asked: _OnMessages) -> dict[int, list[PlacedValue]]:
    """Number of a relation → values in messages that pass what it says of each message alone, if there are any."""
    hits = _hits_of_kept(case, asked) if _is_kept(case) else _hits_of_decoded(case, asked)
    found: dict[int, list[PlacedValue]] = {}
    for number, message, values in sorted(hits, key=itemgetter(0)):
        if not _is_of_place(case, asked.relations[number].place, message):
            continue
        placed = (PlacedValue(message.pointer + each.pointer, each.value) for each in values)
        found.setdefault(number, []).extend(placed)
    return found


def _is_of_place(case: RuleContext, place: Place, message: Message) -> bool:
    """The place is of every message, or of the one at this index (``/messages/0/role``, ``/messages/$/role``)."""
    number = place.steps[1]
    if number.startswith("*"):
        return True
    last = case.decoded.messages(REQUEST)[-1].pointer.rpartition("/")[2]
    index = index_of(number, int(last) + 1) if last.isdecimal() else None
    return message.pointer.rpartition("/")[2] == str(index)


_Hit: TypeAlias = "tuple[int, Message, tuple[PlacedValue, ...]]"
"""Number of a relation, a message, and what the relation is about in it."""


def _hits_of_kept(case: RuleContext, asked: _OnMessages) -> Iterator[_Hit]:
    for _, message in case.suspects(_hits_of_all, asked):
        yield from ((number, message, values) for number, values in fact(message, _hits_of_all, asked))


def _hits_of_decoded(case: RuleContext, asked: _OnMessages) -> Iterator[_Hit]:
    for n, message in enumerate(case.decoded.messages(REQUEST)):
        value = _value(case, n, message)
        for number, question in enumerate(asked.questions):
            if values := _read(question, value, message):
                yield number, message, values


def _is_kept(case: RuleContext) -> bool:
    messages = case.decoded.messages(REQUEST)
    return bool(messages) and text_of(messages[0]) is not None


def _value(case: RuleContext, n: int, message: Message) -> JsonValue:
    key, _, index = message.pointer.removeprefix(base(case.decoded)).removeprefix("/").partition("/")
    listed = next((value for _, value in top(case.decoded, key)), None)
    return listed[int(index)] if isinstance(listed, list) and index.isdecimal() and int(index) < len(listed) else None


def _hits_of_all(message: Message, asked: _OnMessages) -> tuple[tuple[int, tuple[PlacedValue, ...]], ...]:
    """(number of a relation, values) of all that relations are about in a message."""
    questions = asked.questions
    hits = ((number, fact(message, _hits, questions[number])) for number in fact(shape_of(message), _may_hit, asked))
    return tuple(hit for hit in hits if hit[1])


def _hits(message: Message, question: _Question) -> tuple[PlacedValue, ...]:
    return _read(question, _parse(text_of(message) or b"null"), message)


def _may_hit(shape: MessageShape, asked: _OnMessages) -> tuple[int, ...]:
    """Numbers of the relations that may be about something in a message of a shape."""
    return tuple(number for number, each in enumerate(asked.questions) if fact(shape, _may_be_about, each))


def _may_be_about(shape: MessageShape, question: _Question) -> bool:
    relation = question.relation
    place, near = relation.place.below(2), [each for each in relation.when.places if each.place.up >= 0]
    if not all(map(_is_of_shapes, (place, *(each.place for each in near)))):
        return True
    root = shape.skeleton
    found = place.missing(root) if relation.test.is_absent else (
        each.pointer for each in place.find(root) if _may_pass(relation, place, each.value)
    )  # fmt: skip
    return any(all(_may_hold_near(condition, root, pointer) for condition in near) for pointer in found)


def _is_of_shapes(place: Place) -> bool:
    """Where a value is at the place depends on the shape of a message alone."""
    steps = [step.partition("=")[0] for step in place.steps if not names_of(step)]
    return all(step in ("*", "**", *(f"*[{name}" for name in NAMED)) for step in steps)


def _may_pass(relation: Relation, place: Place, value: JsonValue) -> bool:
    is_told = place.last in NAMED and isinstance(value, str)
    return not is_told or relation.test.passes(value)


def _may_hold_near(condition: Condition, root: JsonValue, pointer: str) -> bool:
    test = condition.test
    is_told = not (test.single or test.compared or test.together)
    return not is_told or _holds_near(condition, root, pointer)


def _parse(text: bytes) -> JsonValue:
    """The value of a message. A short one is kept for the next question: each asks all messages of a request."""
    return _parse_short(text) if len(text) <= _SHORT else loads(text)


_SHORT, _KEPT = 16 * 1024, 64
"""Bytes of a message that is kept, and how many are."""


@lru_cache(maxsize=_KEPT)
def _parse_short(text: bytes) -> JsonValue:
    return loads(text)


def _read(question: _Question, value: JsonValue, message: Message) -> tuple[PlacedValue, ...]:
    relation = question.relation
    if relation.when.role and message.role not in relation.when.role:
        return ()
    if not passes_filter(relation.place.steps[1], value):
        return ()
    return tuple(_local(relation, relation.place.below(2), value))


_questions: WeakValueDictionary[str, _Question] = WeakValueDictionary()


def _question(relation: Relation) -> _Question:
    when = relation.when
    which, below = relation.place.steps[1], relation.place.below(2)
    near = [each for each in when.places if each.place.up >= 0]
    asked = (which if which.startswith("*[") else "", below, relation.test, when.role, near)
    return _questions.setdefault(repr(asked), _Question(relation))


def _local(relation: Relation, place: Place, root: JsonValue) -> Iterator[PlacedValue]:
    """Values at a place below a root that pass the tests and conditions on what is below the same root."""
    test = relation.test
    if test.is_absent:
        found: Iterable[PlacedValue] = (
            (PlacedValue(pointer, None) for pointer in place.missing(root)) if place.steps else ()
        )
    else:
        found = (each for each in place.find(root) if test.passes(each.value))
    for each in found:
        if all(_holds_near(condition, root, each.pointer) for condition in relation.when.places) and all(
            any(test.compares(word, each.value, other.value) for other in _near(there, root, each.pointer))
            for word, there in test.compared
            if there.up > 0
        ):
            yield each


def _near(place: Place, root: JsonValue, pointer: str) -> list[PlacedValue]:
    """Values at a relative place."""
    parent = pointer.rsplit("/", place.up)[0] if pointer.count("/") >= place.up else None
    return [] if parent is None else list(place.find(at_pointer(root, parent), parent))


def _holds_near(condition: Condition, root: JsonValue, pointer: str) -> bool:
    """A condition on a relative place; others are not judged here."""
    if condition.place.up < 0:
        return True
    return condition.holds(_near(condition.place, root, pointer))


def _may_hold(case: RuleContext, relation: Relation) -> bool:
    """The conditions on the request as a whole hold."""
    when, request = relation.when, case.request
    if request is None or (relation.models and not matches(request.model, relation.models)):
        return False
    if when.thinking and (when.thinking == "off") is not is_off(case):
        return False
    if when.stream is not None and bool(request.stream) is not when.stream:
        return False
    url = _url(case)
    if when.url and not any(matches_glob(url, glob) for glob in when.url) and (url or not relation.is_enforced):
        return False
    if when.without_beta and any(matches_glob(name, when.without_beta) for _, name in betas(case)):
        return False
    if when.beta and not any(matches_glob(name, when.beta) for _, name in betas(case)):
        return False
    if len(case.decoded.messages(REQUEST)) <= when.more_messages:
        return False
    if when.more_bytes >= 0 and len(case.decoded.request_text) <= when.more_bytes:
        return False
    return all(condition.holds(_all_at(case, condition.place)) for condition in when.places if condition.place.up < 0)


def _url(case: RuleContext) -> str:
    """The URL of the request; empty for a body alone, of which nobody knows where it goes."""
    http = case.decoded.exchange.request
    return http.url if http else ""


def _all_at(case: RuleContext, place: Place) -> list[PlacedValue]:
    return [
        found
        for key, value in top(case.decoded, place.first)
        for found in Place((key, *place.steps[1:])).find({key: value})
    ]


def _findings(case: RuleContext, relation: Relation, found: list[PlacedValue]) -> Iterator[Finding]:
    """A finding on each value that is left after the tests that need more than the place."""
    compared: list[JsonValue] = []
    for word, place in relation.test.compared:
        if place.up < 0:
            others = [other.value for other in _all_at(case, place)]
            found = [each for each in found if any(relation.test.compares(word, each.value, one) for one in others)]
            compared += others
    for each in relation.test.find_joint_faults(found):
        if relation.then == Consequence.REFUSED:
            yield _refusal(case, relation, each, compared)
        elif relation.then != Consequence.ACCEPTED:
            yield _without_effect(case, relation, each)


def _refusal(case: RuleContext, relation: Relation, found: PlacedValue, compared: list[JsonValue]) -> Finding:
    path = dotted_path(found.pointer[len(base(case.decoded)) :])
    limit = next((str(argument) for word, argument in relation.test.single if word in _LIMITS), "")
    limit = limit or (str(compared[0]) if compared else "")
    name, value = path.rpartition(".")[2], show_value(found.value)
    said = {"path": path, "field": name, "name": name, "param": path, "found": value, "value": value, "role": value}
    said |= {"limit": limit, "most": limit} if limit else {}
    said.update(("pattern", str(argument)) for word, argument in relation.test.single if word.endswith("matches"))
    if isinstance(found.value, str | list):
        said["length"] = str(len(found.value))
    around = found.pointer.rpartition("/")[0]
    span = case.decoded.place(REQUEST, around).span if around and relation.term else None
    said["definition"] = case.decoded.request_text[slice(*span)].decode("utf-8", "replace") if span else ""
    text = _text(relation, path, value, limit)
    is_somewhere = bool(relation.when.url) and not _url(case)
    text += f" (if the request goes to {relation.when.url[0]})" if is_somewhere else ""
    if relation.term:
        return by_term(case, _rule(relation), relation.term, found.pointer, text, when=relation.name, values=said)
    source = f"{relation.source} ({relation.date})"
    finding = case.finding(
        _rule(relation), REQUEST, found.pointer, text, when=relation.name, values=said, source=source,
        evidence=relation.note,
    )  # fmt: skip
    is_refused = relation.is_enforced and not is_somewhere
    return finding if is_refused else replace(finding, severity=Severity.WARNING, check=None, refusal="")


def _text(relation: Relation, path: str, value: str, limit: str) -> str:
    if relation.why:
        return f"{path}: {relation.why}"
    if relation.test.is_absent:
        return f"{path} is required here but missing{_beside(relation)}"
    word = next((word for word, _ in relation.test.single if word in _LIMITS), "")
    told = f": it is {_LIMITS[word]} {limit}" if word and limit else ""
    compared = next((dotted_path(str(place)) for _, place in relation.test.compared), "")
    told = f": it must be below {limit}, the value of {compared}" if compared and limit else told
    where = _WHERE.get(relation.evidence, "here")
    return f"{path} {quote(value)} is refused {where}{_beside(relation)}{told}"


_WHERE = {
    Evidence.SIBLING: "by this provider in another protocol",
    Evidence.MODEL: "by the provider of this model",
    Evidence.FAMILY: "by other models of this family",
}
"""Evidence of a refusal that nobody saw here → where it was seen."""
_LIMITS = {"above": "above", "below": "below", "longer": "longer than", "shorter": "shorter than"}


def _beside(relation: Relation) -> str:
    """The first condition on another place, in words."""
    first = next((each for each in relation.when.places if each.place.up < 0), None)
    if first is None:
        return ""
    beside = dotted_path(str(first.place).replace("/*", ""))
    return f" {'without' if first.test.is_absent else 'together with'} {beside}"


def _without_effect(case: RuleContext, relation: Relation, found: PlacedValue) -> Finding:
    path = dotted_path(found.pointer[len(base(case.decoded)) :])
    done = "ignores it" if relation.then == Consequence.IGNORED else "changes it"
    text = f"{path}: {relation.why}" if relation.why else (
        f"{path} {quote(show_value(found.value))} has no effect: the provider accepts and {done}"
    )  # fmt: skip
    source = f"{relation.source} ({relation.date})"
    return case.finding(IGNORED, REQUEST, found.pointer, text, source=source, evidence=relation.note)


def _rule(relation: Relation) -> Rule:
    """The rule that reports a relation, at the severity that its evidence allows."""
    slug = rule_of(relation)
    return next((rule for rule in RULES if rule.slug == slug), None) or every_rule()[slug]
