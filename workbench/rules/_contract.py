"""Contracts: what a provider accepts, enforces and ignores, as data with source and date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.chain.terms import ClosureTerms, ReasoningTerms
from workbench.ir import NOTHING, JsonValue


@dataclass(frozen=True, slots=True)
class Fact:
    """A thing known about a provider: ``source`` is a document, SDK type or issue; ``date`` (ISO) when it held."""

    value: JsonValue
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Enforced:
    """One check of the provider. A provider reports one error: checks are listed in its order.

    Attributes:
        rule: slug of the rule that predicts the refusal.
        status: HTTP status it answers.
        template: message text; ``{name}`` marks variable parts.
        param, code: further fields of the error body, templates too.
        models: globs of models it holds for, () for all.
        protocols: protocols it holds for, () for all.
    """

    rule: str
    status: int
    template: str
    source: str
    date: str
    param: str = ""
    code: str = ""
    models: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """One provider in one variant, for one protocol.

    Attributes:
        name, variant: ``deepseek``, ``v4``; "" for a provider without variants.
        protocol: the protocol these terms are resolved for.
        terms: what only single rules read, key → Fact ("content.empty-text": refused …). Documented in
            ``profiles/README.md``.
    """

    name: str
    title: str
    protocol: str | None = None
    variant: str = ""
    closure: ClosureTerms = field(default=ClosureTerms())
    reasoning: ReasoningTerms = field(default=ReasoningTerms())
    enforces: tuple[Enforced, ...] = ()
    terms: Mapping[str, Fact] = NOTHING
    note: str = ""

    @property
    def label(self) -> str:
        """``deepseek:v4``."""
        return f"{self.name}:{self.variant}" if self.variant else self.name

    def enforced(self, rule: str) -> Enforced | None:
        """The first check that predicts this rule, None when the provider does not enforce it."""
        return next((e for e in self.enforces if e.rule == rule), None)

    def term(self, key: str, default: JsonValue = None) -> JsonValue:
        """The value of a term."""
        fact = self.terms.get(key)
        return default if fact is None else fact.value
