"""Coverage: for each place of a request, what every contract says of it, or that nothing is known.

The places are the named ones of each protocol that a contract covers, the top-level keys and the types of tools, items
and content parts of the protocol's grammar, and all others that some contract speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from workbench.contracts.contract import Fact
from workbench.contracts.facts import ContractFile
from workbench.contracts.loading import files
from workbench.contracts.pages import wrap
from workbench.contracts.relations import Consequence
from workbench.globs import matches_glob
from workbench.lazy_dataclass import dataclass
from workbench.protocols import grammars, traits

UNKNOWN = "unknown"
OUTCOMES = (*(each.value for each in Consequence), UNKNOWN)
"""What a contract may say of a place, and that it says nothing."""

_ANY = "any model"


@dataclass(frozen=True, slots=True)
class PlaceFact:
    """One contract on one place in one protocol.

    Attributes:
        place: name of the place, with the steps behind it, or its pointer where it has no name.
        models: globs of the models that it is said of; () for all.
        outcome: one of ``OUTCOMES``.
    """

    place: str
    contract: str
    protocol: str
    models: tuple[str, ...] = ()
    outcome: str = UNKNOWN


def place_facts(protocol: str = "") -> list[PlaceFact]:
    """Every fact of a place, by place and contract; for one protocol alone if that is named."""
    found: list[PlaceFact] = []
    for file in files():
        for spoken in file.protocols:
            if not protocol or spoken == protocol:
                found += _with_unknown(file, spoken)
    return sorted(found, key=lambda each: (each.place, each.contract, each.protocol))


def coverage_lines(facts: Iterable[PlaceFact], width: int = 100) -> Iterator[str]:
    """The table as text: a paragraph for each place, and in it a line for each outcome."""
    for place, of_place in groupby(facts, key=lambda each: each.place):
        yield place
        said: dict[str, dict[str, list[str]]] = {}
        for each in of_place:
            said.setdefault(each.outcome, {}).setdefault(each.contract, []).extend(each.models or [_ANY])
        for outcome in OUTCOMES:
            named = [_of_models(contract, models) for contract, models in said.get(outcome, {}).items()]
            yield from wrap(", ".join(named), width, f"  {outcome:<10}", " " * 12) if named else ()


def _of_models(contract: str, models: Iterable[str]) -> str:
    globs = list(dict.fromkeys(models))
    return contract if globs == [_ANY] else f"{contract} ({', '.join(globs)})"


def words_known() -> int:
    """Number of refusals for which the contracts quote the provider's text."""
    return sum(bool(check.template) for file in files() for _, check in file.checks)


def _with_unknown(file: ContractFile, protocol: str) -> Iterator[PlaceFact]:
    wire = traits(protocol).places
    said = list(dict.fromkeys((*_of_relations(file, protocol, wire), *_of_terms(file, protocol, wire))))
    yield from said
    typed = {place for place in grammars.request_places(protocol) if " = " in place}
    yield from (_of_type(file, protocol, place) for place in typed)
    keys = {_name(place, wire) for place in grammars.request_places(protocol) if place not in typed}
    for place in (wire.keys() | keys) - {each.place for each in said}:
        yield PlaceFact(place, file.name, protocol)


def _of_type(file: ContractFile, protocol: str, place: str) -> PlaceFact:
    """Facts of a contract on one type of tool, item or content part, for every model."""
    pointer, _, name = place.partition(" = ")
    contract = file.resolve(protocol, file.default.name if file.default else "", None)
    steps = tuple(pointer[1:].split("/"))
    here = [each for each in contract.relations if each.place.steps == steps and not each.models]
    outcome = next((Consequence(each.then).value for each in here if each.test.passes(name)), UNKNOWN)
    known = contract.term(_TERMS[steps[0]]) if steps[0] in _TERMS else None
    if outcome == UNKNOWN and isinstance(known, list):
        is_taken = any(matches_glob(name, str(glob)) for glob in known)
        outcome = (Consequence.ACCEPTED if is_taken else Consequence.REFUSED).value
    return PlaceFact(place, file.name, protocol, outcome=outcome)


_TERMS = {"tools": "schema.tool-types", "messages": "content.block-types"}
"""Key of the list that a type is in → the term that lists the types."""


def _of_relations(file: ContractFile, protocol: str, wire: Mapping[str, str]) -> Iterator[PlaceFact]:
    for holds, relation in file.relations:
        placed = relation.on(protocol, wire)
        if placed and (not holds.protocols or protocol in holds.protocols):
            place = _name(str(placed.place), wire)
            yield PlaceFact(place, file.name, protocol, holds.models, Consequence(relation.then).value)


def _of_terms(file: ContractFile, protocol: str, wire: Mapping[str, str]) -> Iterator[PlaceFact]:
    for holds, facts in file.facts:
        if holds.protocols and protocol not in holds.protocols:
            continue
        for outcome, pointers in _pointers(facts):
            for pointer in pointers:
                yield PlaceFact(_name(pointer, wire), file.name, protocol, holds.models, outcome.value)


def _pointers(facts: Mapping[str, Fact]) -> Iterator[tuple[Consequence, Iterable[str]]]:
    """Facts about parameters in the older terms: consequence → pointers."""
    refused = _list(facts, "params.refused")
    yield Consequence.REFUSED, [str(each["at"]) for each in refused if isinstance(each, Mapping)]
    for term in ("params.ignored", "params.ignored-while-thinking"):
        yield Consequence.IGNORED, [f"/{str(each).replace('.', '/')}" for each in _list(facts, term)]
    yield Consequence.ACCEPTED, [f"/{each}" for each in _list(facts, "params.fields")]


def _list(facts: Mapping[str, Fact], term: str) -> list[object]:
    value = facts[term].value if term in facts else None
    return list(value) if isinstance(value, list) else []


def _name(pointer: str, wire: Mapping[str, str]) -> str:
    """The named place of a pointer, with the steps behind it; the pointer itself if it is in none."""
    for name, base in wire.items():
        if pointer == base or pointer.startswith(f"{base}/"):
            return name + pointer[len(base) :]
    return pointer
