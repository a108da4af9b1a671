"""Coverage: for each place of a request, what every contract states about it, or that nothing is known.

The places are the named ones of each protocol that a contract covers, the top-level keys and the types of tools, items
and content parts in the grammars of the protocol and the provider, and all others that a contract mentions. If a
contract has no fact about a place, the provider's official types decide: they have it, or do not have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby

from workbench.contracts.contract import Fact
from workbench.contracts.facts import ContractFile
from workbench.contracts.loading import files
from workbench.contracts.pages import wrap
from workbench.contracts.relations import Consequence, Relation
from workbench.contracts.scopes import Holds
from workbench.contracts.shared_facts import passed_relations
from workbench.globs import matches_glob
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import grammar_places, grammars, traits

TYPED, UNTYPED, PASSED_ON, UNKNOWN = "typed", "untyped", "passed-on", "unknown"
OUTCOMES = (*(each.value for each in Consequence), TYPED, UNTYPED, PASSED_ON, UNKNOWN)
"""Outcomes: those of relations; then only the provider's types have the place, or lack it; a gateway forwards it;
nothing is known."""

MEANINGS: Mapping[str, str] = {
    Consequence.REFUSED.value: "the provider refuses the field, or some of its values",
    Consequence.IGNORED.value: "the provider accepts the field, but ignores it",
    Consequence.REWRITTEN.value: "the provider accepts the field, but replaces its value",
    Consequence.ACCEPTED.value: "the provider accepts the field",
    TYPED: "no fact is known; the provider's official types contain the field",
    UNTYPED: "no fact is known; the provider's official types do not contain the field",
    PASSED_ON: "no fact is known; this gateway forwards the field, but the provider of the model may refuse it",
    UNKNOWN: "no fact is known, and the provider publishes no types",
}
"""Outcome → its meaning, in the words of the tables."""

_ANY = "any model"


@dataclass(frozen=True, slots=True)
class PlaceFact:
    """One contract on one place in one protocol.

    Attributes:
        place: name of the place, with the steps after it, or its pointer if it has no name.
        models: globs of the models that the fact is about; () for all.
        outcome: one of ``OUTCOMES``.
        expected: values that the provider's types accept; empty if it has no known types.
        source: source of the fact; several are joined by commas.
    """

    place: str
    contract: str
    protocol: str
    models: tuple[str, ...] = ()
    outcome: str = UNKNOWN
    expected: str = ""
    source: str = ""


def place_facts(protocol: str = "", provider: str = "", outcomes: Collection[str] = ()) -> list[PlaceFact]:
    """Every fact of a place, by place and contract.

    Args:
        protocol: only this protocol.
        provider: only this contract.
        outcomes: only these outcomes.
    """
    found: list[PlaceFact] = []
    for file in files():
        for name in file.protocols if provider in ("", file.name) else ():
            if not protocol or name == protocol:
                found += _with_unknown(file, name)
    selected = (each for each in found if not outcomes or each.outcome in outcomes)
    return sorted(selected, key=lambda each: (each.place, each.contract, each.protocol))


def coverage_lines(facts: Iterable[PlaceFact], width: int = 100) -> Iterator[str]:
    """The table as text: a paragraph for each place, and in it a line for each outcome.

    For a single contract, models and accepted values are shown instead of its name.
    """
    found = list(facts)
    is_one = len({each.contract for each in found}) == 1
    for place, of_place in groupby(found, key=lambda each: each.place):
        yield place
        models_by_outcome: dict[str, dict[str, list[str]]] = {}
        for each in of_place:
            models = each.models or ([each.expected] if is_one and each.expected else [_ANY])
            models_by_outcome.setdefault(each.outcome, {}).setdefault(each.contract, []).extend(models)
        for outcome in OUTCOMES:
            of_contracts = models_by_outcome.get(outcome, {}).items()
            cells = [", ".join(dict.fromkeys(m)) if is_one else _of_models(contract, m) for contract, m in of_contracts]
            yield from wrap(", ".join(cells), width, f"  {outcome:<10}", " " * 12) if cells else ()


def coverage_markdown(facts: Iterable[PlaceFact]) -> Iterator[str]:
    """The table as Markdown: a row for each place and protocol, a column for each outcome that occurs."""
    found = list(facts)
    outcomes = [outcome for outcome in OUTCOMES if any(each.outcome == outcome for each in found)]
    is_one = len({each.contract for each in found}) == 1
    yield f"| place | protocol | {' | '.join(outcomes)} |"
    yield "| --- | --- |" + " --- |" * len(outcomes)
    for (place, protocol), alike in groupby(found, key=lambda each: (each.place, each.protocol)):
        cells_by_outcome: dict[str, list[str]] = {}
        for each in alike:
            cells_by_outcome.setdefault(each.outcome, []).append(_cell(each, is_one=is_one))
        cells = (", ".join(dict.fromkeys(cells_by_outcome.get(outcome, ()))) for outcome in outcomes)
        yield f"| {_code(place)} | {protocol} | {' | '.join(cells)} |"


def _cell(fact: PlaceFact, *, is_one: bool) -> str:
    """One contract in a column; if the table is of one contract alone, what it says in its place."""
    models = ", ".join(map(_code, fact.models))
    if not is_one:
        return f"{fact.contract} ({models})" if models else fact.contract
    return models or fact.expected.replace("|", "\\|") or "yes"


def _code(text: str) -> str:
    return f"`{text}`"


def coverage_counts(facts: Iterable[PlaceFact]) -> Mapping[str, int]:
    """Outcome → number of its facts, in the order of ``OUTCOMES``."""
    counts = Counter(each.outcome for each in facts)
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}


def _of_models(contract: str, models: Iterable[str]) -> str:
    globs = list(dict.fromkeys(models))
    return contract if globs == [_ANY] else f"{contract} ({', '.join(globs)})"


def words_known() -> int:
    """Number of refusals for which the contracts quote the provider's text."""
    return sum(bool(check.template) for file in files() for _, check in file.checks)


def _with_unknown(file: ContractFile, protocol: str) -> Iterator[PlaceFact]:
    wire = traits(protocol).places
    facts = list(dict.fromkeys((*_of_relations(file, protocol, wire), *_of_terms(file, protocol, wire))))
    facts += _of_siblings(file, protocol, {each.place for each in facts})
    yield from facts
    places = {*grammars.request_places(protocol), *grammars.request_places(protocol, file.name)}
    typed = {place for place in places if " = " in place}
    own = grammars.grammar_of(protocol, file.name)
    own = own if own and own.provider == file.name else None
    contract = file.resolve(protocol, file.default.name if file.default else "", None)
    passed_on = contract.terms.get("gateway.passes-models")
    yield from (_by_types(_of_type(file, protocol, place), place, own, passed_on) for place in typed)
    keys = {_name(place, wire): place for place in places if place not in typed}
    closed = _closed_fields(file, protocol)
    for place in ({**dict(wire), **keys}).keys() - {each.place for each in facts}:
        pointer = keys.get(place) or wire[place]
        outcome, source = closed(pointer.split("/")[1])
        yield _by_types(PlaceFact(place, file.name, protocol, outcome=outcome, source=source), pointer, own, passed_on)


def _by_types(
    fact: PlaceFact, pointer: str, own: grammars.BodyGrammar | None, passed_on: Fact | None = None
) -> PlaceFact:
    """A fact; where there is none, what the provider's own types say, or that it forwards all requests.

    Args:
        pointer: the place, as in a grammar.
        passed_on: the fact that it forwards them.
    """
    if fact.outcome != UNKNOWN:
        return fact
    if own is None:
        return replace(fact, outcome=PASSED_ON, source=passed_on.source) if passed_on else fact
    at, _, name = pointer.partition(" = ")
    known = grammar_places.key_at(own, at)
    is_there = name in known.values if known and name else grammar_places.has_place(own, at)
    expected = known.expected if known and is_there and not name else ""
    source = f"{own.label} ({own.date})"
    return replace(fact, outcome=TYPED if is_there else UNTYPED, expected=expected, source=source)


def _closed_fields(file: ContractFile, protocol: str) -> Callable[[str], tuple[str, str]]:
    """Top-level key → what happens to it by the list of all fields of the server, and the source; else unknown."""
    contract = file.resolve(protocol, file.default.name if file.default else "", None)
    known, how = contract.term("params.fields"), contract.terms.get("params.unknown-fields")
    if not isinstance(known, list) or how is None or how.value not in OUTCOMES:
        return lambda key: (UNKNOWN, "")
    outcome, source = str(how.value), how.source
    return lambda key: (UNKNOWN, "") if key in known else (outcome, source)


def _of_siblings(file: ContractFile, protocol: str, facts: Collection[str]) -> Iterator[PlaceFact]:
    """Facts that pass from other protocols of the provider."""
    contract = file.resolve(protocol, file.default.name if file.default else "", None)
    for each in _of_placed(passed_relations(file, contract), file.name, protocol, traits(protocol).places):
        if each.place not in facts:
            yield each


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
    yield from _of_placed(file.relations, file.name, protocol, wire)


def _of_placed(
    relations: Iterable[tuple[Holds, Relation]], name: str, protocol: str, wire: Mapping[str, str]
) -> Iterator[PlaceFact]:
    for holds, relation in relations:
        placed = relation.resolved_for(protocol, wire)
        if placed and (not holds.protocols or protocol in holds.protocols):
            place = _name(str(placed.place), wire)
            outcome = Consequence(relation.then).value
            yield PlaceFact(place, name, protocol, holds.models, outcome, source=relation.source)


def _of_terms(file: ContractFile, protocol: str, wire: Mapping[str, str]) -> Iterator[PlaceFact]:
    for holds, facts in file.facts:
        if holds.protocols and protocol not in holds.protocols:
            continue
        for outcome, pointers, source in _pointers(facts):
            for pointer in pointers:
                yield PlaceFact(_name(pointer, wire), file.name, protocol, holds.models, outcome.value, source=source)


def _pointers(facts: Mapping[str, Fact]) -> Iterator[tuple[Consequence, Iterable[str], str]]:
    """Facts about parameters in the older terms: consequence, pointers, source."""
    refused = _list(facts, "params.refused")
    pointers = [str(each["at"]) for each in refused if isinstance(each, Mapping)]
    yield Consequence.REFUSED, pointers, _source(facts, "params.refused")
    for term in ("params.ignored", "params.ignored-while-thinking"):
        pointers = [f"/{str(each).replace('.', '/')}" for each in _list(facts, term)]
        yield Consequence.IGNORED, pointers, _source(facts, term)
    pointers = [f"/{each}" for each in _list(facts, "params.fields")]
    yield Consequence.ACCEPTED, pointers, _source(facts, "params.fields")


def _source(facts: Mapping[str, Fact], term: str) -> str:
    return facts[term].source if term in facts else ""


def _list(facts: Mapping[str, Fact], term: str) -> list[object]:
    value = facts[term].value if term in facts else None
    return list(value) if isinstance(value, list) else []


def _name(pointer: str, wire: Mapping[str, str]) -> str:
    """The named place of a pointer, with the steps behind it; the pointer itself if it is in none."""
    inside = [(len(base), name) for name, base in wire.items() if pointer == base or pointer.startswith(f"{base}/")]
    length, name = max(inside, default=(0, ""))
    return name + pointer[length:]
