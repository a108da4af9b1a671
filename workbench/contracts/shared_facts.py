"""Facts that pass from one protocol of a provider to the others: stated once, found at the same place of each wire.

A server that offers a model over several protocols has one engine behind them. What it refuses at a place of one
protocol passes to the others as a warning, if they have the place by the same name (``Traits.places``) and values there
have the same form. A fact that says ``passes: false`` is about its own protocol alone, and what a contract says of the
protocol itself counts first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from workbench.contracts.contract import Contract, Fact
from workbench.contracts.facts import ContractFile, with_terms
from workbench.contracts.pointer_patterns import ALIKE, Place, read_place
from workbench.contracts.relations import Relation, When
from workbench.contracts.scopes import Holds, place_relations
from workbench.contracts.value_tests import Test
from workbench.lazy_dataclass import replace
from workbench.protocols import traits

ORIGIN = "gateway.turned-into"
"""The protocol into whose requests a server turns those of this one: all facts pass, not only seen refusals."""
FOREIGN = ("gateway.serves", "gateway.passes-models")
"""Behind such a protocol is another provider's API: no fact passes but to the protocol that it states."""
OF_ANY_WIRE = ("schema.", "choice.needs-tools")
"""Terms with these beginnings mean the same in every protocol; types of tools are those of one."""
OF_ONE_WIRE = "schema.tool-types"

OPEN = ("tool.parameters", "output.schema", "sampling.stop")
"""Named places below which every protocol has the same keys."""
OF_TOOLS = ("tool.name", "tool.description", "tool.parameters", "output.schema")
"""Named places that the engine behind all protocols reads; other facts pass only if they are about a model."""

_Scoped = tuple[Holds, Relation]


def with_siblings(file: ContractFile, contract: Contract, variant: str, model: str | None) -> Contract:
    """The contract of one protocol, with what passes from the other protocols of the provider."""
    stated = {str(each.place) for each in contract.relations}
    found = place_relations(passed_relations(file, contract), contract.protocol, variant, model)
    relations = tuple(each for each in found if str(each.place) not in stated)
    terms = _passed_terms(file, contract, variant, model)
    if not (relations or terms):
        return contract
    wider = replace(contract, relations=(*contract.relations, *relations))
    return with_terms(wider, {**terms, **contract.terms}) if terms else wider


def passed_relations(file: ContractFile, contract: Contract) -> list[_Scoped]:
    """Relations of other protocols that pass to the protocol of a contract, at named places and without protocols."""
    if contract.protocol is None or not contract.covers:
        return []
    origin, is_foreign = contract.term(ORIGIN), any(contract.term(term) for term in FOREIGN)
    others = [
        (holds, each, origin if origin in holds.protocols else holds.protocols[0])
        for holds, each in file.relations
        if each.passes and holds.protocols and contract.protocol not in holds.protocols
    ]
    return [
        (replace(holds, protocols=()), replace(placed, seen_on=(wire,)))
        for holds, relation, wire in others
        if wire == origin or (not origin and not is_foreign and relation.is_enforced and not relation.when.url)
        for placed in by_names(relation, traits(wire).places)
        if wire == origin or holds.models or placed.place.name in OF_TOOLS  # what the engine behind all protocols reads
    ]


def by_names(relation: Relation, wire: Mapping[str, str]) -> Iterator[Relation]:
    """A relation of one protocol at named places; nothing if a place has no name, or values of a form of its own."""
    when, compared = _conditions_by_names(relation, wire), _compared_by_names(relation.test, wire)
    if when is None or compared is None:
        return
    place = _by_name(relation.place, wire, tuple(wire) if relation.test == Test() else ALIKE)
    if place:
        yield replace(relation, when=when, test=compared, place=place)
        return
    for name in _part_names(relation, wire):
        part = replace(relation, name=f"{relation.name} ({name})", place=Place((), name=name))
        yield replace(part, when=when, test=Test())


def _by_name(place: Place, wire: Mapping[str, str], names: Collection[str] = ALIKE) -> Place | None:
    """A place by one of these names; None if it has none, or lies below it where keys differ."""
    found = place.by_name(wire, names)
    return found if found.name in names and (not found.steps or found.name in OPEN) else None


def _part_names(relation: Relation, wire: Mapping[str, str]) -> Iterable[str]:
    """Names of the parts that a test on the type of a part is about: ``is: image_url`` is about images."""
    tests = dict(relation.test.single)
    types = [tests["is"]] if "is" in tests else tests.get("in", ())
    if relation.place.last != "type" or relation.place.name or len(tests) != 1:
        return []
    filtered = {(*relation.place.steps[:-2], f"*[type={kind}]") for kind in types}
    return [name for name, place in wire.items() if read_place(place).steps in filtered]


def _conditions_by_names(relation: Relation, wire: Mapping[str, str]) -> When | None:
    """Conditions with their places by name; None if one is on a place that other protocols do not have."""
    found = []
    for each in relation.when.places:
        is_in_schema = each.place.up >= 0 and relation.place.name in OPEN
        place = each.place if is_in_schema else _by_name(each.place, wire)
        if place is None:
            return None
        found.append(replace(each, place=place))
    return replace(relation.when, places=tuple(found))


def _compared_by_names(test: Test, wire: Mapping[str, str]) -> Test | None:
    places = [(word, _by_name(place, wire)) for word, place in test.compared]
    compared = tuple((word, place) for word, place in places if place)
    return replace(test, compared=compared) if len(compared) == len(places) else None


def _passed_terms(file: ContractFile, contract: Contract, variant: str, model: str | None) -> Mapping[str, Fact]:
    """Terms of the protocol that requests are turned into, where they mean the same in every protocol."""
    origin = contract.term(ORIGIN)
    if not isinstance(origin, str):
        return {}
    terms = file.resolve(origin, variant, model).terms
    return {
        key: fact
        for key, fact in terms.items()
        if key.startswith(OF_ANY_WIRE) and key != OF_ONE_WIRE and key not in contract.terms
    }
