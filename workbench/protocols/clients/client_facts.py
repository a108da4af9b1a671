"""Facts about single clients, from ``clients.yaml``: how long they wait, and what of a tool's result they leave out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass

ALWAYS, STRUCTURED, CONTENT, ERROR = "always", "structured", "content", "error"


class ResultRule(NamedTuple):
    """A part of a tool's result that a client keeps from the model.

    Attributes:
        part: ``"structured"``, ``"text"``, ``"image"``, ``"audio"``, ``"resource"``, ``"resource_link"``, ``"cut"`` or
            ``"error_flag"``.
        when: ``"always"``, or what else the result has: ``"structured"``, ``"content"``, or ``"error"`` for a failure.
        text: what the client does.
        source: where that is from; empty for what clients do in general.
    """

    part: str
    when: str
    text: str
    source: str = ""

    def applies_to(self, part: str, result: Mapping[str, JsonValue]) -> bool:
        """The rule keeps this part of a result back."""
        if part != self.part:
            return False
        has = {
            ALWAYS: True,
            STRUCTURED: result.get("structuredContent") is not None,
            CONTENT: bool(result.get("content")),
            ERROR: result.get("isError") is True,
        }
        return has[self.when]


class SchemaRule(NamedTuple):
    """What a client makes of the schemas of tools before it declares them.

    Attributes:
        keywords: those that it removes or sets.
        is_root: at the root of a schema only; else in every node.
        text, source: as of a ``ResultRule``.
    """

    keywords: tuple[str, ...]
    is_root: bool
    text: str
    source: str


class ClientWaits(NamedTuple):
    """Seconds that a client waits; None if unknown or unlimited.

    Attributes:
        head, body: until the head of a response of a model is there, and between two pieces of its body.
        tool: for the result of a tool.
        source: the page that states them, or that they were measured.
    """

    head: float | None = None
    body: float | None = None
    tool: float | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class ClientFacts:
    """What is known of a client.

    Attributes:
        name: as ``known_clients`` has it; empty for a client that nobody knows.
        agents: what it calls itself to a tool server.
        call_id: key of ``_meta`` with the id of the model's call; empty if it sends none.
        search: names of tools by which the model finds those that are not declared.
        servers: how it gets other tool servers for one run, as the file states it (``server_copies``).
    """

    name: str
    agents: tuple[str, ...] = ()
    call_id: str = ""
    search: tuple[str, ...] = ()
    waits: ClientWaits = ClientWaits()
    results: tuple[ResultRule, ...] = ()
    schemas: tuple[SchemaRule, ...] = ()
    servers: Mapping[str, JsonValue] = NOTHING

    def rule_for(self, part: str, result: Mapping[str, JsonValue]) -> ResultRule | None:
        """The rule by which a part of a result does not reach the model; None if it should reach it."""
        return next((rule for rule in self.results if rule.applies_to(part, result)), None)

    def schema_rule_for(self, keyword: str, *, is_root: bool) -> SchemaRule | None:
        """The rule by which a keyword of a schema is changed; None if it should be declared as it is listed."""
        rules = (rule for rule in self.schemas if keyword in rule.keywords)
        return next((rule for rule in rules if is_root or not rule.is_root), None)


@cache
def every_client() -> tuple[ClientFacts, ...]:
    """All clients of the file."""
    return tuple(_client(entry) for entry in _data()["clients"])


@cache
def unknown_client() -> ClientFacts:
    """What clients do in general."""
    return ClientFacts("", results=tuple(ResultRule(**rule) for rule in _data()["general"]))


@cache
def facts_of(name: str) -> ClientFacts:
    """Facts of a client by its name, with or without a version, or by what it calls itself to a tool server."""
    plain = f"{name} ".lower()
    return next(
        (c for c in every_client() if any(plain.startswith(f"{n} ".lower()) for n in (c.name, *c.agents))),
        unknown_client(),
    )


@cache
def call_id_keys() -> tuple[str, ...]:
    """Keys of ``_meta`` with which clients say which call of the model they carry out."""
    return tuple(client.call_id for client in every_client() if client.call_id)


@cache
def search_tools() -> tuple[str, ...]:
    """Names of tools by which models find the tools that a client keeps back."""
    return tuple(dict.fromkeys(name for client in every_client() for name in client.search))


@cache
def _data() -> Mapping[str, JsonValue]:
    from workbench.config import resources, safeyaml

    data: Mapping[str, JsonValue] = safeyaml.load(resources.client_facts(), name="clients.yaml")
    return data


def _client(entry: Mapping[str, JsonValue]) -> ClientFacts:
    lists = {name: tuple(entry.get(name, ())) for name in ("agents", "search")}
    rules = tuple(ResultRule(**rule) for rule in entry.get("results", ()))
    waits = ClientWaits(**entry.get("waits", {}))
    return ClientFacts(
        entry["client"],
        **lists,
        call_id=entry.get("call_id", ""),
        waits=waits,
        results=rules,
        schemas=tuple(
            SchemaRule(tuple(rule["keywords"]), rule.get("is_root", False), rule["text"], rule["source"])
            for rule in entry.get("schemas", ())
        ),
        servers=entry.get("servers", NOTHING),
    )
