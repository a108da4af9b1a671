"""Facts of models: one table of what a model lacks, and when it is retired, whoever serves it.

``model_facts.json`` is derived (``python -m tests.models``) and has what two third parties list, the better one first;
``model_facts-own.json`` is written by hand from reports, each line with source and date, and overrules them. What the
tables leave out is unknown. A lack becomes relations of the contract, so that rules, the matrix and ``explain`` read
the same line; they rest on documents, so each is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from workbench import regex
from workbench.config import resources
from workbench.contracts.reader import Node
from workbench.contracts.relations import Consequence, Evidence, Relation, When, read_relation
from workbench.contracts.value_tests import Test
from workbench.globs import matches_glob
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols import traits
from workbench.wire import loads

RETIRED = "retired"
"""The fact whose value is a date."""

OUTPUT = "output"
"""The fact whose value is a number: tokens of the longest response."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Words of reasoning effort."""

WORDS: Mapping[str, str] = {
    "tools": "does not accept tools",
    "vision": "does not accept images",
    "audio": "does not accept audio",
    "structured": "does not accept a response schema",
    "temperature": "does not accept a temperature",
    "sampling": "does not accept sampling parameters",
    "forced": "does not accept a forced tool choice",
    "prefill": "does not accept a prefilled response",
    "reasoning": "does not reason, and does not accept a reasoning effort",
    "effort": "does not accept a reasoning effort",
    "parallel": "makes only one tool call per response",
    **{f"effort-{word}": f"does not accept reasoning effort {word}" for word in EFFORTS},
}
"""Fact → what it means if it is false."""

_NEUTRAL = {"sampling.temperature": [1], "sampling.top_p": [1], "sampling.presence_penalty": [0],
            "sampling.frequency_penalty": [0], "sampling.logprobs": [False]}  # fmt: skip
"""Sampling parameter → values that change nothing."""
_LACKS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "tools": ({"at": "request.tools", "present": True, "rule": "tools.unsupported"},),
    "vision": ({"at": "content.image", "present": True, "rule": "content.unsupported-part"},),
    "sampling": (
        *({"at": place, "not-in": values} for place, values in _NEUTRAL.items()),
        *({"at": place, "present": True} for place in ("sampling.top_k", "sampling.top_logprobs")),
        {"at": "/logit_bias", "present": True},
    ),
    "forced": (
        {"at": "/tool_choice", "in": ["any", "required", "REQUIRED"], "rule": "choice.unsupported"},
        {"at": "/tool_choice/type", "in": ["any", "tool", "function"], "rule": "choice.unsupported"},
    ),
    "audio": ({"at": "content.audio", "present": True, "rule": "content.unsupported-part"},),
    "structured": ({"at": "output.schema", "present": True},),
    "temperature": ({"at": "sampling.temperature", "not-in": _NEUTRAL["sampling.temperature"]},),
    "reasoning": ({"at": "reasoning.effort", "present": True},),
    "effort": ({"at": "reasoning.effort", "present": True},),
    **{f"effort-{word}": ({"at": "reasoning.effort", "in": [word, word.upper()]},) for word in EFFORTS},
}
"""Fact → relations that it makes if it is false."""

_DATED = regex.compile(r"-20\d\d-?[01]\d-?[0-3]\d(?:-v\d.*)?\Z")
_REGION = regex.compile(r"\A(?:us|eu|apac|au|jp|global|us-gov)\.")


@dataclass(frozen=True, slots=True)
class ModelFact:
    """One fact of a model.

    Attributes:
        name: "tools", "sampling", "retired" …
        value: False for what it lacks; the date on which it is retired; tokens of its longest response.
    """

    name: str
    value: JsonValue
    source: str
    date: str
    note: str = ""

    def words(self) -> str:
        """The fact in words."""
        if self.name == RETIRED:
            return f"is retired from {self.value} on"
        return f"outputs at most {self.value} tokens" if self.name == OUTPUT else WORDS[self.name]


def facts_of(contract: str, model: str | None) -> tuple[ModelFact, ...]:
    """The facts of a model at a provider; () if nothing is known."""
    if not model:
        return ()
    name = _REGION.sub("", model.lower())
    found = {fact.name: fact for fact in _list_facts(contract, name)}
    for line in _own():
        if line["contract"] == contract and any(matches_glob(name, glob) for glob in line["models"]):
            more = (line["source"], line["date"], line.get("note", ""))
            found |= {fact: ModelFact(fact, value, *more) for fact, value in line["facts"].items()}
    return tuple(fact for fact in found.values() if fact.value is not None)


def is_listed(source: str) -> bool:
    """True if a source is one of the lists that the tables are derived from; any other source is preferred to it."""
    return any(source.startswith(table["source"]) for table in _tables())


def with_model_facts(name: str, protocol: str | None, model: str | None, own: Iterator[Relation]) -> Iterator[Relation]:
    """The contract's own relations, and those of its table of models at places that none of its own mentions."""
    found = list(own)
    yield from found
    added = list(model_relations(name, model))
    wire = traits(protocol).places if added else {}
    refused_steps = {relation.place.steps for relation in found if _refuses_any(relation)}
    limited = {relation.place.steps for relation in found if _is_limit(relation)}
    for relation in added:
        placed = relation.resolved_for(protocol or "", wire)
        if placed and placed.place.steps not in (limited if _is_limit(placed) else refused_steps):
            yield placed


def _refuses_any(relation: Relation) -> bool:
    """It refuses whatever is at its place, or all but a few values."""
    is_wide = relation.test == Test() or any(word == "not-in" and len(few) < 2 for word, few in relation.test.single)
    return is_wide and relation.then == Consequence.REFUSED and relation.when == When()


def _is_limit(relation: Relation) -> bool:
    return any(word == "above" for word, _ in relation.test.single)


def model_relations(contract: str, model: str | None) -> Iterator[Relation]:
    """Relations that follow from what a model lacks; their places may be named ones."""
    for fact in facts_of(contract, model):
        if fact.name != RETIRED:
            yield from _relations(fact)


def _list_facts(contract: str, name: str) -> Iterator[ModelFact]:
    for table in reversed(_tables()):
        models = table["models"].get(contract, {})
        facts = models.get(name) or models.get(_DATED.sub("", name)) or {}
        for fact, value in facts.items():
            yield ModelFact(fact, value, table["source"], table["date"])


@cache
def _relations(fact: ModelFact) -> tuple[Relation, ...]:
    if fact.name == OUTPUT:
        places = ("request.max_tokens", "/max_completion_tokens")
        return tuple(_relation(fact, {"at": place, "above": fact.value}) for place in places)
    return tuple(_relation(fact, line) for line in _LACKS.get(fact.name, ()))


def _relation(fact: ModelFact, line: Mapping[str, Any]) -> Relation:
    place = str(line["at"]).strip("/").replace("/", "-").replace(".", "-")
    entry = {**line, "name": f"model-{fact.name}-{place}", "why": f"this model {fact.words()}"}
    entry |= {"rests-on": Evidence.DOCUMENTS.value, "note": fact.note}
    return read_relation(Node(entry, "model_facts.json"), fact.source, fact.date)


@cache
def _tables() -> tuple[Mapping[str, Any], ...]:
    found: Any = loads(resources.model_facts("model_facts.json"))
    return tuple({**table, "models": _with_small_names(table["models"])} for table in found["tables"])


def _with_small_names(models: Mapping[str, Any]) -> dict[str, Any]:
    return {
        contract: {name.lower(): facts for name, facts in facts_by_name.items()}
        for contract, facts_by_name in models.items()
    }


@cache
def _own() -> tuple[Mapping[str, Any], ...]:
    found: Any = loads(resources.model_facts("model_facts-own.json"))
    return tuple(found)
