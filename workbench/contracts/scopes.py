"""Scopes: the protocols, variants and models that a fact, check or relation of a contract holds for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from workbench import regex
from workbench.contracts.model_families import family_of, of_other_versions
from workbench.contracts.reader import Node
from workbench.contracts.relations import Relation
from workbench.globs import matches_glob
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols import traits
from workbench.wire import value_at


def plain_model(name: str) -> str:
    """A model name without its vendor's folder and in one spelling: "Anthropic/Claude-Opus-4.6" → "claude-opus-4-6"."""
    return name.lower().rpartition("/")[2].replace(".", "-")


def model_family(name: str) -> str:
    """The family of a model, with its kind: ``claude-sonnet-4``; the name itself if its form shows no version."""
    found = family_of(plain_model(name))
    return "-".join(filter(None, (found.base, found.kind))) if found else name


@lru_cache(maxsize=4096)
def matches(model: str | None, globs: tuple[str, ...]) -> bool:
    """One of the globs (in any spelling of versions: "4.6", "4-6") fits the model name."""
    if model is None:
        return False
    name = plain_model(model)
    return any(matches_glob(name, plain_model(glob)) and not _is_date_of(name, glob) for glob in globs)


_CHOICE = regex.compile(r"\[(.)[^\]]*\]")


def sample_name(glob: str) -> str:
    """A name that a glob fits: ``gemini-[3-9]*`` → ``gemini-3``."""
    return _CHOICE.sub(r"\1", glob).replace("*", "")


_POINT = regex.compile(r"(?<=\d)\.(?=[\d\[])")
_DATE = "-[0-9][0-9][0-9]*"


def _is_date_of(name: str, glob: str) -> bool:
    """A plain name has a date where a glob has a minor version: "gpt-5-2025-08-07" is no gpt-5.2."""
    point = _POINT.search(glob)
    return point is not None and matches_glob(name, plain_model(glob[: point.start()]) + _DATE)


@dataclass(frozen=True, slots=True)
class Holds:
    """Scope of a fact or check; () means everywhere. A scope of some models does not include an unknown model."""

    protocols: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def covers(self, protocol: str | None, variant: str, model: str | None) -> bool:
        """It holds for the model."""
        return self.covers_some(protocol, variant) and (not self.models or matches(model, self.models))

    def covers_some(self, protocol: str | None, variant: str) -> bool:
        """It holds for some models."""
        return (not self.protocols or protocol in self.protocols) and (not self.variants or variant in self.variants)


def read_scope(node: Node) -> Holds:
    """The scope at a node of a contract. Raises ProfileError for a pattern of models that fits any model."""
    node.only("protocols", "variants", "models")
    models = node.get("models")
    if any(not any(each.isalnum() for each in plain_model(glob)) for glob in models.texts()):
        raise models.fail('this pattern matches every model (the vendor before "/" is ignored): leave models out')
    return Holds(node.get("protocols").texts(), node.get("variants").texts(), models.texts())


def place_relations(
    relations: Iterable[tuple[Holds, Relation]], protocol: str | None, variant: str, model: str | None
) -> Iterator[Relation]:
    """The relations that hold for a protocol, variant and model, with their named places resolved for the protocol.

    What other versions of the model's family refuse follows, as suspicions.
    """
    scoped = list(relations)
    found = [relation for holds, relation in scoped if holds.covers(protocol, variant, model)]
    found += _of_family(scoped, protocol, variant, model) if model else ()
    wire = traits(protocol).places if found else {}
    yield from (on_wire for relation in found if (on_wire := relation.resolved_for(protocol or "", wire)))


def _of_family(
    relations: Iterable[tuple[Holds, Relation]], protocol: str | None, variant: str, model: str
) -> Iterator[Relation]:
    """Refusals of other versions of a model's family, at places of which nothing is said for the model itself."""
    here = [(holds, each) for holds, each in relations if holds.covers_some(protocol, variant)]
    own_places = {str(each.place) for holds, each in here if holds.covers(protocol, variant, model)}
    others = (
        (tuple(plain_model(glob) for glob in holds.models), each)
        for holds, each in here
        if holds.models and str(each.place) not in own_places
    )
    return of_other_versions(others, plain_model(model))


def sets(params: Mapping[str, JsonValue], name: str, wanted: JsonValue) -> bool:
    """True if a request has the value of a field, or of a pointer, that switches a variant on."""
    found = value_at(dict(params), name, NOTHING) if name.startswith("/") else params.get(name, NOTHING)
    return found in wanted if isinstance(wanted, list) else found == wanted
