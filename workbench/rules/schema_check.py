"""The schema lens: a tool's schema held against what contracts know, dialect by dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.contracts import Contract
from workbench.contracts import loading as contracts
from workbench.ir import JsonValue, ToolDef
from workbench.lazy_dataclass import dataclass
from workbench.protocols import DecodedExchange
from workbench.rules.schemas import of_contract, schema_as_sent, schema_at
from workbench.toolcalls.schemas import REFUSED, Dialect, Issue, LoweredSchema, down_level, lint_schema

__all__ = ["ACCEPTED", "CHANGED", "JudgedSchema", "dialects", "in_words_of", "judge", "pointer_of", "schema_as_sent"]

ACCEPTED, CHANGED = "accepted", "changed"
"""Verdicts beside ``REFUSED``: taken as it is; taken after a change."""


@dataclass(frozen=True, slots=True)
class JudgedSchema:
    """One schema under one dialect.

    Attributes:
        provider: label of the contract.
        dialect: the contract's dialect.
        verdict: ``"accepted"``, ``"changed"`` or ``"refused"`` (no change was found that helps).
        issues: what is refused or ignored of the schema, the name of the tool first.
        lowered: the smallest change that is accepted.
    """

    provider: str
    dialect: Dialect
    verdict: str
    issues: tuple[Issue, ...]
    lowered: LoweredSchema


def dialects(provider: str | None = None) -> list[tuple[Contract, Dialect]]:
    """Every dialect that somebody knows something of; those of one contract where it is named."""
    if provider:
        contract = contracts.get(provider)
        return [(contract, dialect) for dialect in of_contract(contract).values()]
    return [(c, d) for name in contracts.names() for c, d in _modes(name)]


def _modes(name: str) -> Iterator[tuple[Contract, Dialect]]:
    """Each mode of a contract that it knows something of, in the first of its variants that has it."""
    seen: set[str] = set()
    for label in (name, *contracts.variants(name)):
        contract = contracts.get(label)
        for mode, dialect in of_contract(contract).items():
            if mode not in seen and (dialect.sources or contract.term("schema.name-pattern")):
                seen.add(mode)
                yield contract, dialect


def judge(
    name: str, schema: JsonValue, contract: Contract, dialect: Dialect, schema_as_sent: JsonValue = None
) -> JudgedSchema:
    """Hold a tool against a dialect of a contract.

    Args:
        schema_as_sent: it in a request (see ``schema_as_sent``), which a dialect with its own word for null
            judges; None where it is ``schema``.
    """
    schema = in_words_of(dialect, schema, schema_as_sent)
    issues = (*_name(name, contract), *lint_schema(schema, dialect))
    lowered = down_level(schema, dialect)
    if not any(i.effect == REFUSED for i in issues):
        verdict = ACCEPTED
    else:
        verdict = REFUSED if lowered.remaining and not lowered.parts else CHANGED
    return JudgedSchema(contract.label, dialect, verdict, issues, lowered)


def in_words_of(dialect: Dialect, schema: JsonValue, schema_as_sent: JsonValue) -> JsonValue:
    """Value for a dialect to judge: the request's own, if the dialect has its own word for null."""
    return schema_as_sent if dialect.nullable and schema_as_sent is not None else schema


def pointer_of(decoded: DecodedExchange, tool: ToolDef) -> str:
    """Pointer of the schema of a declared tool; of the declaration if it has none."""
    return schema_at(decoded, tool) or tool.pointer


def _name(name: str, contract: Contract) -> Iterator[Issue]:
    pattern, fact = contract.term("schema.name-pattern"), contract.terms.get("schema.name-pattern")
    if isinstance(pattern, str) and fact and not re.fullmatch(pattern, name):
        yield Issue("", "name", REFUSED, f"the name {name[:80]!r} does not match {pattern}", source=fact.source)
