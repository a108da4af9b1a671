"""From a pasted error text to the rule behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from workbench.rules import _contracts, _pages
from workbench.rules._match_text import lines, match_lines
from workbench.rules._template import Found, Plain, Template, plain

__all__ = ["Match", "explain", "lines", "match_lines"]

MOST = 200_000
"""Characters of a pasted text that are looked at: its first and its last half of this."""

OUR_RECORDER = "Run the client once more under the recorder: workbench record -- COMMAND (in the app: r on Home)"
"""How to get hold of an exchange, whoever the provider is."""

TELLING, BEGINNING = 20, 30
"""Literal characters, in plain form, that are enough to tell a text by; and of its beginning alone."""

_STATUS = re.compile(r"(?<![\w.])([45]\d\d)(?![\w.])")
_PATH = re.compile(r"\b(?:messages|tools|input)(?:\.?\[?\d+\]?[\w.\[\]]*|\.\w[\w.\[\]]*)")
_NAMES = {
    "anthropic": ("anthropic", "claude", "toolu_"),
    "openai": ("openai", "gpt-"),
    "deepseek": ("deepseek", "api-docs.deepseek.com"),
    "kimi": ("kimi", "moonshot"),
    "qwen": ("qwen", "dashscope", "alibaba", "aliyun"),
    "minimax": ("minimax",),
    "mistral": ("mistral",),
    "gemini": ("gemini", "google", "vertex"),
    "groq": ("groq",),
}
"""Words that tell where a text comes from, when several providers say the same."""


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that a text belongs to.

    Attributes:
        rule: slug; "" for a text that no rule predicts (term ``errors.other``: models, lengths, keys).
        provider: contract name; with its variant where only that says so.
        status: HTTP status the provider answers.
        template: its message, ``{name}`` for what varies.
        message: the stretch of the pasted text that fits it, up to the end of its sentence.
        captured: what stood in place of the variables, and ``path``: the place it names, as it was written.
        index: what an index in the message counts, "" where there is none.
        look_for: usual causes.
        record: how to get hold of the exchange.
        source, date: where the text was seen, and when it last held.
        also: other providers that say the same.
        where: protocol or endpoint, where the provider has several.
        note: what the contract adds.
        when: where there is no rule, what the provider says this of.
    """

    rule: str
    provider: str
    status: int
    template: str
    message: str
    captured: Mapping[str, str]
    index: str
    look_for: tuple[str, ...]
    record: str
    source: str
    date: str = ""
    also: tuple[str, ...] = ()
    where: str = ""
    note: str = ""
    when: str = ""


class _Known(NamedTuple):
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


def explain(text: str) -> list[Match]:
    """The rules that a pasted error text belongs to, the most likely first; [] where no provider says such a thing.

    Texts that no rule predicts are looked for where those of the rules are not in it.

    Args:
        text: a line of a log, an error body (escaped or wrapped however often), or a message.
    """
    cut = text if len(text) <= MOST else f"{text[: MOST // 2]}\n{text[-MOST // 2 :]}"
    haystack = plain(cut)
    hits = list(_hits(_known(), haystack)) or [
        (known, found) for known, found in _hits(_without_rule(), haystack) if found.whole >= TELLING
    ]
    kept = [(k, f) for k, f in hits if not any(_explains_more(g, f) for _, g in hits)]
    kept.sort(key=lambda hit: _rank(hit, haystack.text), reverse=True)
    return _with_others([_match(known, found, haystack) for known, found in _once(kept)])


def _hits(known: Iterable[_Known], haystack: Plain) -> Iterator[tuple[_Known, Found]]:
    for one in known:
        if (found := one.template.find(haystack)) and _is_enough(one, found):
            yield one, found


def _is_enough(known: _Known, found: Found) -> bool:
    """All of the template; or its beginning, or a good part of it, with words that no other family of rules has."""
    if found.weight == found.whole:
        return found.whole >= TELLING or all(name in found.values for name in known.template.variables)
    paths = {piece.text for piece in known.template.pieces if piece.is_path}
    own = [p for p in found.pieces if p not in paths and _families()[p] == {known.rule.partition(".")[0]}]
    if found.leads and found.weight >= BEGINNING and own:
        return True
    return sum(map(len, own)) >= TELLING and found.weight >= 0.3 * found.whole


@cache
def _families() -> Mapping[str, set[str]]:
    """Piece of a template → families of the rules whose templates have it."""
    families: dict[str, set[str]] = {}
    for known in (*_known(), *_without_rule()):
        for piece in known.template.pieces:
            families.setdefault(piece.text, set()).add(known.rule.partition(".")[0])
    return families


def _explains_more(other: Found, found: Found) -> bool:
    """The other one covers this one's place with a longer text: this is only its beginning, or a shorter cousin."""
    return other.start <= found.start and other.end >= found.end and other.weight > found.weight


def _rank(hit: tuple[_Known, Found], text: str) -> tuple[float, ...]:
    known, found = hit
    name = known.provider.partition(":")[0]
    named = any(word in text.lower() for word in _NAMES.get(name, (name,)))
    statuses = {int(s) for s in _STATUS.findall(text)}
    return found.weight, named, found.weight / found.whole, not statuses or known.status in statuses


def _once(hits: Iterable[tuple[_Known, Found]]) -> Iterator[tuple[_Known, Found]]:
    """The best text of each rule of each provider."""
    seen: set[tuple[str, str]] = set()
    for known, found in hits:
        key = (known.provider.partition(":")[0], known.rule or known.when)
        if key not in seen:
            seen.add(key)
            yield known, found


def _match(known: _Known, found: Found, text: Plain) -> Match:
    terms = _terms(known.provider)
    message = " ".join(text.sentence(found.start, found.end).split()).rstrip("\\\"'")
    values = dict(found.values)
    path = _PATH.search(message)
    if path:
        values.setdefault("path", path[0].rstrip("."))
    return Match(
        rule=known.rule,
        provider=known.provider,
        status=known.status,
        template=known.template.message,
        message=message,
        captured=values,
        index=terms["errors.index"] if "message" in values else "",
        look_for=_look_for(known),
        record=_record(known.rule, terms["record.how"]),
        source=known.source,
        date=known.date,
        where=known.where,
        note=known.note,
        when=known.when,
    )


def _look_for(known: _Known) -> tuple[str, ...]:
    if known.rule in _pages.slugs():
        return _pages.page(known.rule).look_for
    return (known.note,) if known.note else ()


def _record(rule: str, how: str) -> str:
    """Our own recorder first, then what the provider's contract knows for those who cannot run the client again."""
    ways = f"{OUR_RECORDER}. Or without it: {how[:1].lower()}{how[1:]}" if how else OUR_RECORDER
    if rule.startswith("reasoning."):
        return f"{ways}. It takes two exchanges: the answer that brought the reasoning, and the request after it"
    return ways


def _terms(provider: str) -> Mapping[str, str]:
    name = provider.partition(":")[0]
    terms = {key: "" for key in ("errors.index", "record.how")}
    for source in (_contracts.GENERIC, name):
        if source in _contracts.names():
            contract = _contracts.get(source)
            terms |= {key: str(contract.term(key)) for key in terms if contract.term(key)}
    return terms


def _with_others(matches: list[Match]) -> list[Match]:
    """Each match with the other providers whose text is the same, or as much of it as was pasted."""
    said = {m.provider.partition(":")[0]: m.message for m in reversed(matches)}
    return [
        replace(
            m, also=tuple(sorted(p for p, t in said.items() if t == m.message and p != m.provider.partition(":")[0]))
        )
        for m in matches
    ]


@cache
def _known() -> tuple[_Known, ...]:
    """Every text of every contract, then those that only pages know."""
    return (*_from_contracts(), *_from_pages())


def _from_contracts() -> Iterator[_Known]:
    for name in _contracts.names():
        file = _contracts.read(name)
        for holds, check in file.checks:
            if check.template:
                who = f"{name}:{holds.variants[0]}" if len(holds.variants) == 1 else name
                where = ", ".join(holds.protocols) if len(file.protocols) > 1 else ""
                template = Template(check.template)
                yield _Known(template, check.rule, who, check.status, check.source, check.date, where, check.note)


def _from_pages() -> Iterator[_Known]:
    for slug in _pages.slugs():
        for refusal in _pages.others(slug):
            template = Template(refusal.message)
            yield _Known(template, slug, refusal.provider, refusal.status, refusal.source, "", refusal.where, "")


@cache
def _without_rule() -> tuple[_Known, ...]:
    """The texts of refusals that no request predicts."""
    return tuple(_others())


def _others() -> Iterator[_Known]:
    for name in _contracts.names():
        file = _contracts.read(name)
        for holds, facts in file.facts:
            fact = facts.get("errors.other")
            where = ", ".join(holds.protocols) if len(file.protocols) > 1 else ""
            for entry in fact.value if fact and isinstance(fact.value, list) else ():
                if isinstance(entry, dict) and fact:
                    status, source = entry.get("status"), str(entry.get("source", fact.source))
                    told = (int(status) if isinstance(status, int) else 400, source, fact.date, where, fact.note)
                    yield _Known(Template(str(entry["text"])), "", name, *told, str(entry["when"]))
