"""The error texts in contracts and rule pages: of a rule, or of a refusal that no rule predicts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from workbench.contracts import loading, pages
from workbench.contracts.template import Template
from workbench.named_tuple import NamedTuple

__all__ = ["KnownText", "known_texts", "texts_without_rule"]


class KnownText(NamedTuple):
    """One text of one provider for one rule, or for none."""

    template: Template
    rule: str
    provider: str
    status: int
    source: str
    date: str
    where: str
    note: str
    when: str = ""


@cache
def known_texts() -> tuple[KnownText, ...]:
    """Every text of every contract, then those that are only in pages."""
    return (*_from_contracts(), *_from_pages())


def _from_contracts() -> Iterator[KnownText]:
    for name in loading.names():
        file = loading.read(name)
        for holds, check in file.checks:
            if check.template:
                who = f"{name}:{holds.variants[0]}" if len(holds.variants) == 1 else name
                where = ", ".join(holds.protocols) if len(file.protocols) > 1 else ""
                template = Template(check.template)
                yield KnownText(template, check.rule, who, check.status, check.source, check.date, where, check.note)


def _from_pages() -> Iterator[KnownText]:
    for slug in pages.slugs():
        for refusal in pages.others(slug):
            template = Template(refusal.message)
            yield KnownText(template, slug, refusal.provider, refusal.status, refusal.source, "", refusal.where, "")


@cache
def texts_without_rule() -> tuple[KnownText, ...]:
    """The texts of refusals that no rule predicts."""
    return tuple(_others())


def _others() -> Iterator[KnownText]:
    for name in loading.names():
        file = loading.read(name)
        for holds, facts in file.facts:
            fact = facts.get("errors.other")
            where = ", ".join(holds.protocols) if len(file.protocols) > 1 else ""
            for entry in fact.value if fact and isinstance(fact.value, list) else ():
                if isinstance(entry, dict) and fact:
                    status, source = entry.get("status"), str(entry.get("source", fact.source))
                    origin = (int(status) if isinstance(status, int) else 400, source, fact.date, where, fact.note)
                    yield KnownText(Template(str(entry["text"])), "", name, *origin, str(entry["when"]))
