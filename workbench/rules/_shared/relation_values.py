"""Values of a request that relations of a contract are about, found before the rest of the request is read.

What depends on a message alone is read once for each message and contract, and kept with the message. Relations that
the shape of a message rules out are skipped, and only the fields that are present next to the messages are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import filterfalse
from operator import itemgetter
from typing import TypeAlias
from weakref import WeakValueDictionary

from workbench.contracts import (
    Condition,
    Contract,
    Place,
    PlacedValue,
    Relation,
    Test,
    When,
    index_of,
    names_of,
    passes_filter,
)
from workbench.ir import HISTORIES, JsonValue, Message
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import (
    NAMED,
    REQUEST,
    DecodedExchange,
    MessageShape,
    asked_by_shape,
    fact,
    history,
    of_kinds,
    text_of,
)
from workbench.provenance import escape
from workbench.rules._shared.body_values import base, is_held, list_key, params, spellings, top
from workbench.rules._shared.context import RuleContext
from workbench.wire import loads, value_at


class Search:
    """Finds the values below a root that a relation is about: by its place, its test and its nearby conditions.

    Args:
        relation: the relation with the test and conditions.
        place: the relation's place, below the root.
    """

    __slots__ = ("_compared", "_near", "_place", "_test")

    def __init__(self, relation: Relation, place: Place) -> None:
        self._place, self._test = place, relation.test
        self._near = _nearby(relation)
        self._compared = [(word, there) for word, there in relation.test.compared if there.up > 0]

    def values(self, root: JsonValue) -> list[PlacedValue]:
        """The values that pass the tests and conditions on what is below the same root."""
        if self._test.is_absent:
            missing = self._place.missing(root) if self._place.steps else ()
            found = [PlacedValue(pointer, None) for pointer in missing]
        else:
            found = self._place.find(root, passes=self._test.passes)
        return [each for each in found if self._holds_near(root, each)] if found else found

    def _holds_near(self, root: JsonValue, found: PlacedValue) -> bool:
        pointer, compares = found.pointer, self._test.compares
        return all(each.holds(_near(each.place, root, pointer)) for each in self._near) and all(
            compares(word, found.value, [other.value for other in _near(there, root, pointer)])
            for word, there in self._compared
        )

    def may_find(self, root: JsonValue) -> list[PlacedValue] | None:
        """Values in the skeleton of a shape; without any, no message of the shape can have such values at the place.

        None if the shape does not tell.
        """
        place, test = self._place, self._test
        if not all(map(is_of_shapes, (place, *(each.place for each in self._near)))):
            return None
        found = [PlacedValue(pointer, None) for pointer in place.missing(root)] if test.is_absent else [
            each for each in place.find(root) if may_pass(test, place, each.value)
        ]  # fmt: skip
        return [each for each in found if all(may_hold_near(near, root, each.pointer) for near in self._near)]


class FieldSearch(Search):
    """A search in a field of a request; one shared object for equal ones of all contracts."""

    __slots__ = ("__weakref__", "_key")

    def __init__(self, relation: Relation, place: Place) -> None:
        super().__init__(relation, place)
        self._key = place.first

    def below(self, decoded: DecodedExchange, value: JsonValue) -> list[PlacedValue]:
        """The values in this value of its field, searched once for a request."""
        if self not in decoded.facts:
            decoded.facts[self] = self.values({self._key: value})
        return decoded.facts[self]  # type: ignore[no-any-return]


def _nearby(relation: Relation) -> list[Condition]:
    """Conditions on places near the value."""
    return [each for each in relation.when.places if each.place.up >= 0]


def _near(place: Place, root: JsonValue, pointer: str) -> list[PlacedValue]:
    """Values at a relative place."""
    parent = pointer.rsplit("/", place.up)[0] if pointer.count("/") >= place.up else None
    return [] if parent is None else list(place.find(value_at(root, parent), parent))


def is_of_shapes(place: Place) -> bool:
    """The shape of a message tells whether it has a value at the place."""
    steps = [step.partition("=")[0] for step in place.steps if not names_of(step)]
    return all(step in ("*", "**", *_BY_NAMED) for step in steps)


_BY_NAMED = tuple(f"*[{name}" for name in NAMED)


def may_pass(test: Test, place: Place, like: JsonValue) -> bool:
    """A value in the place of one of a skeleton may pass: the texts of some members are those of the messages."""
    is_told = place.last in NAMED and isinstance(like, str)
    return test.passes(like) if is_told else test.may_pass(like)


def may_hold_near(condition: Condition, root: JsonValue, pointer: str) -> bool:
    """A condition on a place near a value may hold in messages of a shape with this skeleton."""
    test, found = condition.test, _near(condition.place, root, pointer)
    if test.is_absent:
        return condition.holds(found)
    return test.is_none or any(may_pass(test, condition.place, each.value) for each in found)


class _Question:
    """What relations ask of a single message; one shared object for equal ones of all contracts.

    Args:
        which: step to the messages.
        roles: of which a message has one; () for any.
    """

    def __init__(self, which: str, roles: tuple[str, ...], search: Search) -> None:
        self.which, self.roles, self.search = which, roles, search

    def values(self, value: JsonValue) -> Sequence[PlacedValue]:
        """What they are about in a message that is this value."""
        return self.search.values(value) if not self.which or passes_filter(self.which, value) else ()

    def has_role(self, role: str) -> bool:
        """They are about messages of this role."""
        return not self.roles or role in self.roles


class OnMessages:
    """The relations of a contract on the messages of one list, each with its search."""

    def __init__(self, relations: Iterable[Relation]) -> None:
        self.relations = tuple(relations)
        self.questions = tuple(map(_question, self.relations))


class OnFields:
    """The relations of a contract on the top-level fields of a request.

    Attributes:
        relations: in their order.
    """

    def __init__(self, relations: Sequence[Relation]) -> None:
        self.relations = tuple(relations)
        self._by_first: dict[str, list[int]] = {}
        self._searches: dict[tuple[int, str], FieldSearch] = {}
        self._firsts_of: defaultdict[str, list[str]] = defaultdict(list)
        self._raw_values = list[str]()
        self._required = [(n, each.place.first) for n, each in enumerate(relations) if _is_required(each)]
        for number, relation in enumerate(relations):
            first = relation.place.first
            if first not in self._by_first:
                self._note(first)
            self._by_first.setdefault(first, []).append(number)
        self._read_lists = frozenset(each.place.first for each in self.relations if _reads_list(each))

    def _note(self, first: str) -> None:
        """Remember under which keys a field may be."""
        if any(map(is_held, spellings(first))):
            self._raw_values.append(first)
        else:
            for key in spellings(first):
                self._firsts_of[key].append(first)

    def values(self, decoded: DecodedExchange) -> list[tuple[int, list[PlacedValue]]]:
        """(number of a relation, values that it is about), for every relation with such values."""
        at, found, present = base(decoded), dict[int, list[PlacedValue]](), set[str]()
        there = (first for key in params(decoded, at) for first in self._firsts_of.get(key, ()))
        listed = _key_of_list(decoded) if self._raw_values else ""
        for first in dict.fromkeys((*self._raw_values, *there)):
            if first == listed and first not in self._read_lists:
                present.add(first)
                continue
            tops = list(top(decoded, first))
            if any(value is not None for _, value in tops):
                present.add(first)
            for number in self._by_first[first] if tops else ():
                if first in present or len(self.relations[number].place.steps) == 1:
                    values = (each for key, value in tops for each in self._search(number, key).below(decoded, value))
                    found[number] = [PlacedValue(at + each.pointer, each.value) for each in values]
        for number, first in self._required:
            if first not in present and not found.get(number):
                found[number] = [PlacedValue(f"{at}/{escape(first)}", None)]
        return sorted((number, values) for number, values in found.items() if values)

    def _search(self, number: int, key: str) -> FieldSearch:
        """The search of a relation under one spelling of its first key."""
        if (number, key) not in self._searches:
            relation = self.relations[number]
            place = Place((key, *relation.place.steps[1:]))
            name = repr((place, relation.test, _nearby(relation)))
            self._searches[number, key] = _field_searches.setdefault(name, FieldSearch(relation, place))
        return self._searches[number, key]


def _reads_list(relation: Relation) -> bool:
    """A relation may be about a list with messages, or about something in it: to tell, all of it is parsed."""
    return len(relation.place.steps) > 1 or relation.test.may_pass(_SOME_LIST)


_SOME_LIST: JsonValue = [None]


def _key_of_list(decoded: DecodedExchange) -> str:
    """Key of the list of messages of a request; empty if it has none, or one text in its place."""
    key = list_key(decoded)
    return key if key and decoded.messages(REQUEST)[0].pointer == f"{base(decoded)}/{key}/0" else ""


def _is_required(relation: Relation) -> bool:
    """It is about a field that is not there."""
    return relation.test.is_absent and len(relation.place.steps) == 1


def values_of_fields(decoded: DecodedExchange, query: OnFields) -> list[tuple[int, list[PlacedValue]]]:
    """``query.values(decoded)``, as a function of a module."""
    return query.values(decoded)


class ByList(NamedTuple):
    """The relations of a contract: those on messages by the key of their list, and others.

    Attributes:
        on_each_message: relations that depend on one message alone.
        on_messages: relations that also depend on other messages.
        on_fields: relations on fields next to the messages.
        on_fields_beside: relations on these fields that depend on messages, or on sizes.
        on_lists: relations on a list of messages as a whole.
    """

    on_each_message: Mapping[str, OnMessages]
    on_messages: Mapping[str, OnMessages]
    on_fields: OnFields
    on_fields_beside: OnFields
    on_lists: OnFields


def by_list(contract: Contract) -> ByList:
    """The relations of a contract in the order in which they are checked."""
    keys: dict[str, list[Relation]] = {}
    for relation in map(_with_any_message, contract.relations):
        is_inside = relation.place.first in HISTORIES and len(relation.place.steps) > 2
        keys.setdefault(relation.place.first if is_inside else "", []).append(relation)
    others = keys.pop("", [])
    on_each = {key: some for key, found in keys.items() if (some := [*filter(_reads_one_message, found)])}
    on_several = {key: some for key, found in keys.items() if (some := [*filterfalse(_reads_one_message, found)])}
    on_fields = [each for each in others if each.place.first not in HISTORIES]
    alone, beside = [*filter(_reads_no_other_message, on_fields)], [*filterfalse(_reads_no_other_message, on_fields)]
    on_lists = [each for each in others if each.place.first in HISTORIES]
    return ByList(_by_key(on_each), _by_key(on_several), *map(OnFields, (alone, beside, on_lists)))


def _with_any_message(relation: Relation) -> Relation:
    """The relation; a place any number of steps below a list of messages is one below each of them."""
    first, *rest = relation.place.steps
    if first in HISTORIES and rest[:1] == ["**"] and len(rest) > 1:
        return replace(relation, place=replace(relation.place, steps=(first, "*", *rest)))
    return relation


def _by_key(found: Mapping[str, Iterable[Relation]]) -> Mapping[str, OnMessages]:
    return {key: OnMessages(relations) for key, relations in found.items()}


def _reads_one_message(relation: Relation) -> bool:
    is_of_any = relation.place.steps[1].startswith("*")
    return is_of_any and not relation.test.together and _reads_no_other_message(relation)


def _reads_no_other_message(relation: Relation) -> bool:
    when = relation.when
    others = (*(condition.place for condition in when.places), *(place for _, place in relation.test.compared))
    is_beside = all(place.up >= 0 or place.first not in HISTORIES for place in others)
    return is_beside and when.more_messages < 0 and when.more_bytes < 0


def values_in_messages(
    case: RuleContext, query: OnMessages, may_hold: Callable[[int], bool] = lambda number: True
) -> dict[int, list[PlacedValue]]:
    """Number of a relation → values in messages that pass its tests on a single message; no key without such values.

    Args:
        may_hold: false for the number of a relation that is left out.
    """
    hits = _hits_of_kept(case, query, may_hold) if is_kept(case) else _hits_of_decoded(case, query, may_hold)
    found: dict[int, list[PlacedValue]] = {}
    for number, message, values in sorted(hits, key=itemgetter(0)):
        if not _is_of_place(case, query.relations[number].place, message):
            continue
        absolute = (PlacedValue(message.pointer + each.pointer, each.value) for each in values)
        found.setdefault(number, []).extend(absolute)
    return found


def _is_of_place(case: RuleContext, place: Place, message: Message) -> bool:
    """The place is of every message, or of the one at this index (``/messages/0/role``, ``/messages/$/role``)."""
    number = place.steps[1]
    if number.startswith("*"):
        return True
    last = case.messages[-1].pointer.rpartition("/")[2]
    index = index_of(number, int(last) + 1) if last.isdecimal() else None
    return message.pointer.rpartition("/")[2] == str(index)


_Hit: TypeAlias = "tuple[int, Message, Sequence[PlacedValue]]"
"""Number of a relation, a message, and the values in it that the relation is about."""


def _hits_of_kept(case: RuleContext, query: OnMessages, may_hold: Callable[[int], bool]) -> Iterator[_Hit]:
    """Each question is asked of the messages whose shape it may be about, once for all contracts that have it."""
    for number in filter(may_hold, of_kinds(case.messages, _may_hit_any, query)):
        question = query.questions[number]
        for _, message in case.suspects(_hits, question):
            yield number, message, fact(message, _hits, question)


def _hits_of_decoded(case: RuleContext, query: OnMessages, may_hold: Callable[[int], bool]) -> Iterator[_Hit]:
    asked = [(number, question) for number, question in enumerate(query.questions) if may_hold(number)]
    for n, message in enumerate(case.messages):
        value = _value(case, n, message)
        for number, question in asked:
            if question.has_role(message.role) and (values := question.values(value)):
                yield number, message, values


def is_kept(case: RuleContext) -> bool:
    """The bytes of each message are kept."""
    messages = case.messages
    return bool(messages) and text_of(messages[0]) is not None


def _value(case: RuleContext, n: int, message: Message) -> JsonValue:
    key, _, index = message.pointer.removeprefix(base(case.decoded)).removeprefix("/").partition("/")
    listed = next((value for _, value in top(case.decoded, key)), None)
    return listed[int(index)] if isinstance(listed, list) and index.isdecimal() and int(index) < len(listed) else None


def _may_hit_any(kinds: history.KindSet, query: OnMessages) -> list[int]:
    """Numbers of the relations that may be about something in messages of these kinds."""
    return sorted({number for kind in kinds.kinds for number in fact(kind, _may_hit, query)})


def _may_hit(kind: history.MessageKind, query: OnMessages) -> tuple[int, ...]:
    """Numbers of the relations that may be about something in a message of a kind."""
    asked = [(n, each) for n, each in enumerate(query.questions) if each.has_role(kind.role)]
    return tuple(n for n, each in asked if kind.shape is None or fact(kind.shape, _may_be_about, each))


def _may_be_about(shape: MessageShape, question: _Question) -> bool:
    is_told = question.which.startswith(_BY_NAMED)
    if is_told and not passes_filter(question.which, shape.skeleton):
        return False
    found = question.search.may_find(shape.skeleton)
    return found is None or bool(found)


def holds_near(message: Message, when: When, pointer: str) -> bool:
    """The conditions on places near a value of a message hold; true for a message whose text is not kept."""
    near, text = [each for each in when.places if each.place.up >= 0], text_of(message)
    return not near or text is None or all(each.holds(_near(each.place, _parse(text), pointer)) for each in near)


@asked_by_shape(_may_be_about)
def _hits(message: Message, question: _Question) -> Sequence[PlacedValue]:
    """The values that a question is about in a message."""
    if question.roles and message.role not in question.roles:  # as ``is_for``, without a call
        return ()
    return question.values(_parse(text_of(message) or b"null"))


def _parse(text: bytes) -> JsonValue:
    return _parse_short(text) if len(text) <= _SHORT else loads(text)


_SHORT, _KEPT = 2 * 1024, 1024
"""Size limit in bytes of a kept message, and number of kept messages."""


@lru_cache(maxsize=_KEPT)
def _parse_short(text: bytes) -> JsonValue:
    """The value of a message, which is kept for the next question: each asks all messages of a request."""
    return loads(text)


_field_searches: WeakValueDictionary[str, FieldSearch] = WeakValueDictionary()

_questions: WeakValueDictionary[str, _Question] = WeakValueDictionary()


def _question(relation: Relation) -> _Question:
    when = relation.when
    which, below = relation.place.steps[1], relation.place.below(2)
    which = which if which.startswith("*[") else ""
    key = repr((which, below, relation.test, when.role, _nearby(relation)))
    return _questions.setdefault(key, _Question(which, when.role, Search(relation, below)))
