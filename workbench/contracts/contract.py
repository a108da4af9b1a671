"""Contracts: what a provider accepts, enforces and ignores, as data with source and date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.terms import ClosureTerms, ReasoningTerms

if TYPE_CHECKING:
    from workbench.contracts.relations import Relation


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about a provider.

    Attributes:
        source: documents, SDK types, issues or recordings that it rests on, joined by "; ".
        date: ISO day or month of the newest of them: when it was last known to hold.
        note: what the sources disagree about or leave open.
    """

    value: JsonValue
    source: str
    date: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class EnforcedCheck:
    """One check of the provider. A provider reports one error: checks are listed in its order.

    Attributes:
        rule: slug of the rule that predicts the refusal.
        status: HTTP status of the response.
        template: message text; ``{name}`` marks variable parts. Empty if the refusal is known and its text is not.
        type, param, code: further fields of the error body, templates too.
        body: the whole error body if it is not the usual one (term ``errors.body``): a JSON value whose texts are
            templates.
        models: globs of models that it holds for; () for all.
        protocols: protocols that it holds for; () for all.
        when: the fault of the rule that this text belongs to ("too-long"); empty for any.
        note: when the provider sends this text, if the template does not show it.
        is_exact: it holds only for the fault that ``when`` names, and not for other faults of its rule.
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
    when: str = ""
    note: str = ""
    type: str = ""
    body: JsonValue = field(default=None, compare=False)
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Contract:
    """One provider in one variant, for one protocol and one model.

    Attributes:
        name, variant: ``deepseek``, ``v4``; an empty variant for a provider without variants.
        protocol: the protocol that these terms are resolved for.
        enforces: the checks that hold for this protocol and model, in the provider's order.
        relations: what holds between values of a request, in the order of the file.
        terms: every fact that holds here, key → Fact, those behind ``closure`` and ``reasoning`` too
            ("reasoning.scope"). Documented in ``profiles/README.md``.
        note: what readers of its verdicts have to know; empty if nothing.
        call_ids, listed_models: as in the contract file; for the simulator.
        covers: the contract covers this protocol; False if it was requested for another one.
        facts: results that were derived from it (``known.fact``).
    """

    name: str
    title: str
    protocol: str | None = None
    variant: str = ""
    closure: ClosureTerms = field(default=ClosureTerms())
    reasoning: ReasoningTerms = field(default=ReasoningTerms())
    enforces: tuple[EnforcedCheck, ...] = ()
    terms: Mapping[str, Fact] = NOTHING
    relations: tuple[Relation, ...] = ()
    note: str = ""
    covers: bool = True
    call_ids: str = ""
    listed_models: tuple[str, ...] = ()
    facts: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def label(self) -> str:
        """``deepseek:v4``."""
        return f"{self.name}:{self.variant}" if self.variant else self.name

    def check_for(self, rule: str, when: str = "") -> EnforcedCheck | None:
        """The check that this rule predicts; None if the provider does not enforce it.

        Args:
            rule: slug.
            when: the fault of the rule; if no check is named for it, the check for any fault, else the first.
        """
        checks = [e for e in self.checks_of(rule) if not e.is_exact or e.when == when]
        return next((e for name in (when, "") for e in checks if e.when == name), checks[0] if checks else None)

    def checks_of(self, rule: str) -> tuple[EnforcedCheck, ...]:
        """The checks that this rule predicts, in the provider's order."""
        by_rule: dict[str, tuple[EnforcedCheck, ...]] | None = self.facts.get(Contract.checks_of)
        if by_rule is None:
            by_rule = self.facts[Contract.checks_of] = {}
            for check in self.enforces:
                by_rule[check.rule] = (*by_rule.get(check.rule, ()), check)
        return by_rule.get(rule, ())

    def term(self, key: str, default: JsonValue = None) -> JsonValue:
        """The value of a term."""
        fact = self.terms.get(key)
        return default if fact is None else fact.value

    def knows_field(self, name: str) -> bool | None:
        """The provider knows a top-level field of a request; None if the contract says nothing of it."""
        refused: frozenset[str] | None = self.facts.get(Contract.knows_field)
        if refused is None:
            lone = (r.place.steps[0] for r in self.relations if r.is_refused_field)
            refused = self.facts[Contract.knows_field] = frozenset(lone)
        fields = self.term("params.fields")
        return False if name in refused else name in fields if isinstance(fields, list) else None

    def terms_of(self, group: str) -> Mapping[str, Fact]:
        """The terms of a group: of ``schema`` those whose keys begin with ``schema.``."""
        key = (Contract.terms_of, group)
        if key not in self.facts:
            self.facts[key] = {each: fact for each, fact in self.terms.items() if each.startswith(f"{group}.")}
        return self.facts[key]  # type: ignore[no-any-return]
