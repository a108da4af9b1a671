"""Common practice: what most providers of a protocol refuse, computed from the contracts that ship.

If a contract has no fact about something, the strictest fact of the others makes a suspicion. Then each of them is
asked whether it refuses the value (``rules.common_defaults``): the suspicion holds if two thirds of those with a fact
refuse it, and at least three.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from functools import reduce
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.contracts.contract import Contract, Fact
from workbench.contracts.pointer_patterns import names_of
from workbench.contracts.relations import Consequence, Evidence, Relation, When
from workbench.contracts.value_tests import Test
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.named_tuple import NamedTuple

if TYPE_CHECKING:
    from workbench.contracts.facts import ContractFile

COMMON_SOURCE = "common practice: "
"""Beginning of the source of every fact that common practice adds; the term or the place follows."""
LEAST = 3
"""Minimum number of providers for a practice."""

_ON_ANY_WIRE = frozenset(
    ("choice.needs-tools", "schema.name-pattern", "schema.root-object", "schema.unique-names", "schema.valid")
)
"""Terms about tools that mean the same in every protocol."""

_CLOSED = ("not-in", "type", "not-type", "not-matches")
"""Tests that decide about every value; others say nothing about values that they do not name."""
_TERMS_OF_PLACES: Mapping[tuple[str, ...], str] = {
    ("messages", "*", "role"): "content.roles",
    ("tools", "*", "type"): "schema.tool-types",
}
"""Place → the older term that decides about every value there."""


Refusals: TypeAlias = "tuple[tuple[tuple[Test, When], ...], ...]"
"""For each of several contracts, the tests and conditions of its refusals at a place."""


@dataclass(frozen=True, slots=True)
class CommonPractice:
    """Suspicions of one protocol.

    Attributes:
        terms: term → the strictest value that a contract has for it.
        relations: refusals at places where several contracts refuse something.
        says: term or place → names of the contracts that have a fact about it.
        refusals: place → for each contract, the tests and conditions of the refusals that were seen there.
    """

    terms: Mapping[str, Fact] = NOTHING
    relations: tuple[Relation, ...] = ()
    says: Mapping[str, tuple[str, ...]] = NOTHING
    refusals: Mapping[str, Refusals] = NOTHING


class CommonRefusals(NamedTuple):
    """Refusals of the contracts of one protocol that were seen, by the place of a suspicion.

    Attributes:
        at: place → for each contract, the tests and conditions of its refusals there.
    """

    at: Mapping[str, Refusals]

    def may_be_refused(self, place: str, value: JsonValue, may_hold: Callable[[When], bool]) -> bool:
        """True if enough contracts may refuse a value at a place; the rest of the request decides.

        Args:
            may_hold: false for conditions that do not hold there.
        """

        def refuses(test: Test, when: When) -> bool:
            return (test.is_absent or test.passes(value)) and may_hold(when)

        return self.may_confirm(place, refuses)

    def may_confirm(self, place: str, refuses: Callable[[Test, When], bool]) -> bool:
        """True if enough contracts have a refusal at a place of which ``refuses`` is true."""
        refusing = [any(refuses(test, when) for test, when in each) for each in self.at.get(place, ())]
        return sum(refusing) >= LEAST


def is_most(refusing: int, saying: int) -> bool:
    """True if at least ``LEAST`` contracts refuse, and two thirds of those that have a fact."""
    return refusing >= LEAST and 3 * refusing >= 2 * saying


def practices(files: Iterable[ContractFile]) -> Mapping[str, CommonPractice]:
    """Protocol → its common practice, in the current variants of these contracts.

    If too few contracts cover a protocol, all contracts count for facts that do not depend on the protocol.
    """
    by_protocol: defaultdict[str, list[Contract]] = defaultdict(list)
    first: list[Contract] = []
    for file in files:
        own = [file.resolve(protocol, file.default.name if file.default else "", None) for protocol in file.protocols]
        first += own[:1]
        for contract in own:
            by_protocol[contract.protocol or ""].append(contract)
    on_any = _practice(first, _ON_ANY_WIRE)
    return {name: _practice(found) if len(found) >= LEAST else on_any for name, found in by_protocol.items()}


def soften(contract: Contract, practice: CommonPractice) -> Contract:
    """The contract with the suspicions about which it has no fact; the contract itself if there are none."""
    terms = {key: fact for key, fact in practice.terms.items() if key not in contract.terms}
    steps = {each.place.steps for each in practice.relations}
    own_steps = {each for each in steps if _says_all(contract, each, _at(contract, each))}
    relations = tuple(each for each in practice.relations if each.place.steps not in own_steps)
    if not contract.covers or not (terms or relations):
        return contract
    return replace(contract, terms={**contract.terms, **terms}, relations=(*contract.relations, *relations))


def _practice(contracts: list[Contract], only: Container[str] = ()) -> CommonPractice:
    terms, says = {}, {}
    for key, (strictest, refuses) in _MERGES.items():
        if only and key not in only:
            continue
        stating = [contract for contract in contracts if key in contract.terms]
        values = [contract.term(key) for contract in stating]
        if sum(map(refuses, values)) >= LEAST:
            newest = max(contract.terms[key].date for contract in stating)
            terms[key] = Fact(strictest([value for value in values if refuses(value)]), COMMON_SOURCE + key, newest)
            says[key] = tuple(contract.name for contract in stating)
    relations: list[Relation] = []
    refusals: dict[str, Refusals] = {}
    for steps, found in _by_place([] if only else contracts).items():
        names = dict.fromkeys(name for name, _ in found)
        term = _TERMS_OF_PLACES.get(steps, "")
        stating_names = [c.name for c in contracts if c.name in names or term in c.terms]
        if len(stating_names) >= LEAST:
            relations += (_as_suspicion(relation) for _, relation in found if relation.then == Consequence.REFUSED)
            key = "/" + "/".join(steps)
            says[key] = tuple(stating_names)
            seen = [_seen_near(contract, steps) for contract in contracts if contract.name in stating_names]
            refusals[key] = tuple(filter(None, seen))
    return CommonPractice(terms, tuple(relations), says, refusals)


def _by_place(contracts: list[Contract]) -> Mapping[tuple[str, ...], list[tuple[str, Relation]]]:
    """Steps of a place → (name of the contract, relation) of those there that hold for every model."""
    found: defaultdict[tuple[str, ...], list[tuple[str, Relation]]] = defaultdict(list)
    for contract in contracts:
        for relation in contract.relations:
            if not relation.models and relation.place.steps:
                found[relation.place.steps].append((contract.name, relation))
    return found


def _seen_near(contract: Contract, steps: tuple[str, ...]) -> tuple[tuple[Test, When], ...]:
    """Tests and conditions of the refusals of a contract at a place, and at places that may be the same."""
    found = (each for each in contract.relations if each.is_enforced and _may_meet(each.place.steps, steps))
    return tuple((each.test, each.when) for each in found)


def _may_meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Two places may be one: their keys are spelled alike, up to a wildcard of any depth, where both have a key."""
    is_deep = "**" in (*one, *other)
    before = (takewhile("**".__ne__, steps) for steps in (one, other))
    names = [(names_of(first), names_of(second)) for first, second in zip(*before, strict=False)]
    return (is_deep or len(one) == len(other)) and all(not a or not b or not {*a}.isdisjoint(b) for a, b in names)


def _as_suspicion(relation: Relation) -> Relation:
    place = str(relation.place)
    return replace(relation, source=COMMON_SOURCE + place, evidence=Evidence.DOCUMENTS, term="", has_instead=False)


def states(contract: Contract, key: str, value: JsonValue) -> bool:
    """True if a contract has a fact about a value, under a term or at a place. Unseen refusals do not count."""
    if not key.startswith("/"):
        return key in contract.terms
    steps = tuple(key[1:].split("/"))
    here = [each for each in _at(contract, steps) if each.is_enforced or each.then != Consequence.REFUSED]
    return _says_all(contract, steps, here) or any(each.test.passes(value) for each in here)


def _says_all(contract: Contract, steps: tuple[str, ...], here: Iterable[Relation]) -> bool:
    is_closed = any(word in _CLOSED for each in here for word, _ in each.test.single)
    return is_closed or _TERMS_OF_PLACES.get(steps, "") in contract.terms


def _at(contract: Contract, steps: tuple[str, ...]) -> list[Relation]:
    return [each for each in contract.relations if each.place.steps == steps and not each.models]


def _strictest_words(_: list[Any]) -> JsonValue:
    return "refused"


def _common_items(values: list[Any]) -> JsonValue:
    return [item for item in values[0] if all(item in other for other in values)]


def _all_items(values: list[Any]) -> JsonValue:
    return list(dict.fromkeys(item for value in values for item in value))


def _all_patterns(values: list[Any]) -> JsonValue:
    return reduce(lambda pattern, one: rf"(?=(?:{one})\Z)(?:{pattern})", values)


_FLAG: tuple[Callable[[list[Any]], JsonValue], Callable[[JsonValue], bool]] = (lambda _: True, bool)
_ALLOWED = (_common_items, lambda value: isinstance(value, list))
_REFUSED = (_all_items, lambda value: isinstance(value, list))
_LIMIT = (min, lambda value: isinstance(value, int) and not isinstance(value, bool))
_PATTERN = (_all_patterns, lambda value: isinstance(value, str))
_WORD = (_strictest_words, lambda value: str(value).startswith("refused"))

_MERGES: Mapping[str, tuple[Callable[[list[Any]], JsonValue], Callable[[JsonValue], bool]]] = {
    "choice.forced-with-thinking": _WORD,
    "choice.needs-tools": _FLAG,
    "choice.values": _ALLOWED,
    "content.block-types": _ALLOWED,
    "content.roles": _ALLOWED,
    "content.user-required": _FLAG,
    "params.required": _REFUSED,
    "schema.description-required": _FLAG,
    "schema.items-required": _FLAG,
    "schema.max-tools": _LIMIT,
    "schema.name-pattern": _PATTERN,
    "schema.parameters-required": _FLAG,
    "schema.refused-keywords": _REFUSED,
    "schema.root-object": _FLAG,
    "schema.root-refused": _REFUSED,
    "schema.tool-types": _ALLOWED,
    "schema.typed": _FLAG,
    "schema.unique-names": _FLAG,
    "schema.valid": _FLAG,
}
"""Term → (the strictest of its refusing values, whether a value refuses anything)."""
