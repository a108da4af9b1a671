"""A contract as lines of text: what it requires and what it refuses, each with its source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from workbench.contracts.contract import EnforcedCheck, Fact
from workbench.contracts.facts import ContractFile
from workbench.contracts.pages import section, wrap
from workbench.contracts.scopes import Holds
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a contract to describe: one variant, one protocol; "" for all."""

    variant: str = ""
    protocol: str = ""

    def includes_scope(self, holds: Holds) -> bool:
        """True if a fact or check of this scope belongs to the part, for at least one model."""
        return (not self.variant or not holds.variants or self.variant in holds.variants) and (
            not self.protocol or not holds.protocols or self.protocol in holds.protocols
        )


EVERYTHING = Part()


def lines(file: ContractFile, part: Part = EVERYTHING, width: int = 80) -> Iterator[str]:
    """The contract as text, no line longer than ``width`` except for what cannot be broken (URLs)."""
    label = f"{file.name}:{part.variant}" if part.variant else file.name
    yield from wrap(f"{label}: {file.title}", width, "", "  ")
    if file.note:
        yield from wrap(file.note, width)
    yield from section("How requests are recognised", _fact_lines(file, width))
    if file.variants and not part.variant:
        yield from section("Variants, the current one first", _variants(file, width))
    checks = [(holds, check) for holds, check in file.checks if part.includes_scope(holds)]
    if checks:
        yield from section("Refuses, in the order of its checks", _checks(checks, width))
    else:
        yield from section("Refuses", ["  No refusals are known."])
    for holds, facts in file.facts:
        if part.includes_scope(holds):
            yield from section(f"Known facts{_where(holds)}", _facts(facts, width))


def as_json(file: ContractFile, part: Part = EVERYTHING) -> JsonValue:
    """The same as one JSON object."""
    return {
        "name": file.name,
        "title": file.title,
        "note": file.note,
        "hosts": list(file.hosts),
        "models": list(file.models),
        "protocols": list(file.protocols),
        "variants": [{"name": v.name, "title": v.title, "why": v.why} for v in file.variants],
        "facts": [
            {
                "term": key,
                "for": _holds_json(holds),
                "value": f.value,
                "source": f.source,
                "date": f.date,
                "note": f.note,
            }
            for holds, facts in file.facts
            if part.includes_scope(holds)
            for key, f in facts.items()
        ],
        "enforces": [
            {
                "rule": check.rule,
                "when": check.when,
                "for": _holds_json(holds),
                "status": check.status,
                "message": check.template,
                "source": check.source,
                "date": check.date,
                "note": check.note,
            }
            for holds, check in file.checks
            if part.includes_scope(holds)
        ],
    }


def _holds_json(holds: Holds) -> dict[str, JsonValue]:
    scope = {"protocols": holds.protocols, "variants": holds.variants, "models": holds.models}
    return {name: list(values) for name, values in scope.items() if values}


def _fact_lines(file: ContractFile, width: int) -> Iterator[str]:
    ways = (
        ("hosts", file.hosts),
        ("models", file.models),
        ("not", file.unlike),
        ("protocols", file.protocols),
        ("native protocols", file.native),
    )
    for name, values in ways:
        if values:
            yield from wrap(f"{name}: {', '.join(values)}", width, "  ", "    ")


def _variants(file: ContractFile, width: int) -> Iterator[str]:
    for variant in file.variants:
        params = tuple(f"{name}={_value(value)}" for name, value in variant.params.items())
        ways = (("urls", variant.urls), ("params", params), ("answers", variant.answers), ("models", variant.models))
        text = "; ".join(f"{name}: {', '.join(values)}" for name, values in ways if values)
        why = f" ({variant.why})" if variant.why else ""
        yield from wrap(f"{variant.name}: {variant.title}{why}", width, "  - ", "    ")
        if text:
            yield from wrap(text, width, "    ", "    ")


def _where(holds: Holds) -> str:
    scopes = [", ".join(values) for values in (holds.protocols, holds.variants, holds.models) if values]
    return f" ({'; '.join(scopes)})" if scopes else ""


def _facts(facts: Mapping[str, Fact], width: int) -> Iterator[str]:
    for key, fact in facts.items():
        yield from _value_lines(key, fact.value, width)
        if fact.note:
            yield from wrap(fact.note, width, "      ", "      ")
        yield from wrap(f"({_citation(fact)})", width, "      ", "      ")


def _checks(checks: Iterable[tuple[Holds, EnforcedCheck]], width: int) -> Iterator[str]:
    for number, (holds, check) in enumerate(checks, 1):
        which = f", {check.when}" if check.when else ""
        yield from wrap(f"{number}. {check.rule}{which}: {check.status}{_where(holds)}", width, "  ", "      ")
        yield from wrap(check.template or "(error text not known)", width, "      ", "      ")
        if check.note:
            yield from wrap(check.note, width, "      ", "      ")
        yield from wrap(f"({_citation(check)})", width, "      ", "      ")


def _value_lines(key: str, value: JsonValue, width: int) -> Iterator[str]:
    """A fact with its value; of a table a line for each row."""
    if not isinstance(value, list) or all(isinstance(row, str) for row in value):
        yield from wrap(f"{key}: {_value(value)}", width, "  ", "      ")
        return
    yield f"  {key}:"
    for row in value:
        cells = [f"{k}: {_value(v)}" for k, v in row.items()] if isinstance(row, dict) else [_value(row)]
        yield from wrap("; ".join(cells), width, "      - ", "        ")


def _citation(known: Fact | EnforcedCheck) -> str:
    return f"{known.source}; {known.date}"


def _value(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(str(item) for item in value) or "none"
    return json.dumps(value, ensure_ascii=False)
