"""Find the rule behind a pasted error text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from workbench import regex
from workbench.contracts import loading, pages
from workbench.contracts.known_texts import KnownText, known_texts, texts_without_rule
from workbench.contracts.template import Plain, TemplateMatch, plain_text
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import refusals
from workbench.regex import RowsByText

if TYPE_CHECKING:
    from workbench.protocols.refusals import Complaint, KnownRefusal

__all__ = ["Match", "explain", "find_matches"]


MOST = 200_000
"""Limit of characters of a pasted text that are read: half of them from its beginning, half from its end."""

OUR_RECORDER = "Run the client again under the recorder: workbench record -- COMMAND (in the app: r on Home)"
"""Advice on recording an exchange, for any provider."""

TELLING, BEGINNING = 20, 30
"""Number of literal characters, in plain form, that identify a text; and of its beginning alone."""

FEW = 4
"""Words of a text that states only that a server failed."""

MOSTLY = 0.75
"""Share of a text that has to match so that a different end counts as new wording of the same text."""

BROAD = ("params.unsupported", "gateway.unknown-field", "content.shape")
"""Rules with many faults: a kind that has another rule is more specific than a partly matching text."""

ANYBODY = "any provider"
"""Provider shown for an error that no contract contains."""

COMMON = frozenset(plain_text(
    "a an and any are as at be been but by can cannot does for from has have in is it its may must no not of on only"
    " or should supported that the this to unsupported was when which will with"
).plain.split())  # fmt: skip
"""Words of every refusal, in plain form: a piece of a template that has no other word says nothing of its own."""

_ADVICE_NAMES = ("please", "see", "learn more", "for more", "refer to", "read more", "visit", "check the", "you can")
ADVICE = tuple(plain_text(f"{words} x").plain[:-1] for words in _ADVICE_NAMES)
"""Beginnings of sentences that say what to do next, in plain form: they go with any fault."""

_WORD = regex.compile(r"[a-z0-9]+")
_STATUS = regex.compile(r"(?<![\w.])([45]\d\d)(?![\w.])")
_PATH = regex.compile(r"\b(?:messages|tools|input)(?:\.?\[?\d+\]?[\w.\[\]]*|\.\w[\w.\[\]]*)")


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that a text belongs to.

    Attributes:
        rule: slug; empty for a text that no rule predicts (term ``errors.other``: models, lengths, keys).
        provider: contract name, with its variant if only that has the text.
        status: HTTP status of the response.
        template: the provider's message, with ``{name}`` for variable parts.
        message: the part of the pasted text that matches it, up to the end of its sentence.
        captured: values of the variables, and ``path``: the place that the text names, as written.
        index: what an index in the message counts; empty if there is none.
        look_for: usual causes.
        record: how to record the exchange.
        source, date: where the text was seen, and when it was last valid.
        also: other providers with the same text.
        where: protocol or endpoint, if the provider has several.
        note: the note of the contract.
        when: if there is no rule, the situation in which the provider sends the text.
        kind: kind of refusal (``protocols.refusals``), if the text shows one and no contract's text is all of it; else
            empty.
        rules: candidates, if it may be one of several rules; their texts begin alike, or they check such a fault.
        is_whole: true if the whole template is in the text.
        speaker: who wrote the text: ``"client botocore"``, ``"gateway LiteLLM"``, ``"provider"``.
        validator: the form in which place and fault are written, ``"pydantic, text"``; empty if it is not a known one.
        place: the place in the request that a validator names, with dots between its steps; empty if it names none.
        is_guess: no text of this rule is known, and the rule is what its words speak of; it may be wrong. The kind may
            be known all the same.
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
    kind: str = ""
    rules: tuple[str, ...] = ()
    is_whole: bool = True
    speaker: str = ""
    validator: str = ""
    place: str = ""
    is_guess: bool = False


def explain(text: str, refusal: KnownRefusal | None = None, *, is_answer: bool = False) -> list[Match]:
    """The rules that a pasted error text belongs to, the most likely first; [] if it is not recognised.

    If it contains no text of a contract or page, the last match has the kind of refusal and the rules that check such a
    fault. No rule is named for words that any program may have said ("function not found"), unless the text is known to
    be the answer to a request.

    Args:
        text: a line of a log, an error body (escaped or wrapped however often), or a message.
        refusal: its kind, if more than the text is known.
        is_answer: an API of models said it.
    """
    complaint = refusals.complaint_of(text)
    source = (complaint.validator, complaint.place) if complaint else ("", "")
    speaker = str(refusals.speaker_of(text))
    kind = refusal or refusals.classify(text) or refusals.refusal_of_complaint(complaint)
    found = _matches(text, kind, complaint)
    is_known = any(match.rule or (match.template and match.is_whole) for match in found)
    if not is_known and not (kind and kind.is_unjudged):
        shared = _sharing(text)
        found = [*(one for one in _guess_match(text, kind) if not shared or one.rule in shared.rules), *found]
    if not (is_answer or refusals.speaks_of_models(text)):
        found = [
            match for match in found if match.template and match.is_whole and not _has_few_words(match)
        ] or _without_rule(kind, text)
    return [replace(match, speaker=speaker, validator=source[0], place=source[1]) for match in found]


def _matches(text: str, kind: KnownRefusal | None, complaint: Complaint | None) -> list[Match]:
    is_elsewhere = complaint is not None and not complaint.is_of_request and not complaint.rule
    found = [] if is_elsewhere else _drop_ambiguous(find_matches(text))
    if any(match.rule for match in found):
        return _by_validator(text, found, kind, complaint)
    if kind is None or not kind.is_telling:
        shared = _sharing(text)
        return [*found, *([shared] if shared else [])]
    if found:
        return [_of_kind(match, kind) for match in found]
    return [_by_kind(text, kind, _sharing(text))]


def _without_rule(kind: KnownRefusal | None, text: str) -> list[Match]:
    """The kind alone, where a request is not to blame: anybody's network fails, and anybody's key expires."""
    return [_by_kind(text, kind, None)] if kind and kind.is_unjudged else []


def _guess_match(text: str, kind: KnownRefusal | None) -> list[Match]:
    """A match by the words alone, with what is known of the kind; none if they speak of nothing known."""
    refusal = refusals.guess(text)
    if refusal is None:
        return []
    match = _by_kind(text, replace(kind, rule=refusal.rule) if kind else refusal, None)
    words = refusal.words.replace("<", "").replace(">", "")
    return [replace(match, is_guess=True, rules=(), when=f"the text was interpreted as: {words}")]


def _by_validator(text: str, found: list[Match], kind: KnownRefusal | None, complaint: Complaint | None) -> list[Match]:
    """Put the rule first that the place and the fault in a validator's sentence tell.

    A template without the place has the words of the validator alone, which it says of many faults; so has one that is
    only partly in the text.
    """
    rule = complaint.rule if complaint else ""
    if complaint and rule and not complaint.is_of_request:  # contracts have texts about requests
        refusal = kind if kind and kind.is_telling else refusals.refusal_of_complaint(complaint)
        return [_by_kind(text, refusal, None), *found] if refusal else found
    if any(match.rule == rule for match in found):
        return sorted(found, key=lambda match: match.rule != rule)
    is_known = complaint and any(m.is_whole and complaint.names(m.template) for m in found)
    refusal = kind if kind and kind.rule else refusals.refusal_of_complaint(complaint)
    if refusal and refusal.rule == rule and not is_known:
        return [_by_kind(text, refusal, None), *found]
    is_other = kind and not any(_is_own(m) or _family(m.rule) == _family(kind.rule) for m in found)
    if kind and is_other and kind.rule not in ("", *BROAD):
        return [_by_kind(text, kind, None), *found]
    if kind and kind.rule:  # of rules that share a text, the one that the kind names
        return sorted(found, key=lambda match: (_words_of(match) != _words_of(found[0]), match.rule != kind.rule))
    return found


def _is_own(match: Match) -> bool:
    """All of a text is there, and it is more than a few words of a rule with many faults ("Unsupported parameter")."""
    return match.is_whole and not (match.rule in BROAD and _has_few_words(match))


def _has_few_words(match: Match) -> bool:
    return sum(not word.startswith("{") for word in match.template.split()) < FEW


def _words_of(match: Match) -> str:
    return match.template.rstrip(".")


def _drop_ambiguous(found: list[Match]) -> list[Match]:
    """Drop rules of texts that the provider uses for other faults too; name them as possible if no other is left."""
    vague = [m for m in found if m.rule and (_is_said_often(m.template) or _is_empty_talk(_words_in(m)))]
    if not vague:
        return found
    rest = [m for m in found if m not in vague]
    may_be = tuple(dict.fromkeys(m.rule for m in vague))
    return rest or [replace(vague[0], rule="", rules=may_be, when=_said_of(vague[0].template), look_for=())]


def _words_in(match: Match) -> str:
    return match.template if match.is_whole else match.message


def _is_said_often(template: str) -> bool:
    return bool(_ambiguous_descriptions() & _rules_of().get(template, frozenset()))


@cache
def _is_empty_talk(template: str) -> bool:
    """A few words of any server that fails ("Internal Server Error")."""
    kind = refusals.classify(template)
    return kind is not None and kind.kind.name == "provider-failed" and len(template.split()) <= FEW


@cache
def _ambiguous_descriptions() -> frozenset[str]:
    """Descriptions of the errors whose texts no rule predicts."""
    return frozenset(one.when for one in texts_without_rule())


def _said_of(template: str) -> str:
    often = (one.when for one in texts_without_rule() if one.template.message == template)
    return next(often, "the server failed and gave no reason")


def find_matches(text: str) -> list[Match]:
    """The texts of contracts and pages that are in a text, the most likely first.

    Texts that no rule predicts are looked for only if no text of a rule is in it.
    """
    haystack = _haystack(text)
    hits = [hit for hit in _found_in(known_texts, haystack) if _is_enough(*hit)] or [
        hit for hit in _found_in(texts_without_rule, haystack) if _is_enough(*hit) and hit[1].whole >= TELLING
    ]
    best_hits = [(k, f) for k, f in hits if not any(_explains_more(g, f) for _, g in hits)]
    best_hits.sort(key=lambda hit: _rank(hit, haystack.text), reverse=True)
    return _with_others([_match(known, found, haystack) for known, found in _once(best_hits)])


@lru_cache(maxsize=2)
def _haystack(text: str) -> Plain:
    return plain_text(text if len(text) <= MOST else f"{text[: MOST // 2]}\n{text[-MOST // 2 :]}")


def _found_in(known: Callable[[], Iterable[KnownText]], haystack: Plain) -> Iterator[tuple[KnownText, TemplateMatch]]:
    for one in _by_needs(known).fitting(haystack.plain):
        if found := one.template.find(haystack):
            yield one, found


@cache
def _by_needs(known: Callable[[], Iterable[KnownText]]) -> RowsByText[KnownText]:
    """Known texts, found by the pieces of their templates; one without a long piece is never found."""
    return RowsByText((one.template.needs, one) for one in known() if one.template.needs)


def _is_enough(known: KnownText, found: TemplateMatch) -> bool:
    """All of the template; or a good part of it, with words that no other rule has, and without other words in it."""
    if found.weight == found.whole:
        return found.whole >= TELLING or all(name in found.values for name in known.template.variables)
    if found.departs and found.agrees < MOSTLY * found.whole:
        return False
    paths = {piece.text for piece in known.template.pieces if piece.is_path}
    rules = _rules_of()[known.template.message]
    own = [p for p in found.pieces if p not in paths and all(rules & others for others in _owners()[p])]
    own = [p for p in own if not COMMON.issuperset(_WORD.findall(p)) and not p.startswith(ADVICE)]
    if found.leads and found.weight >= BEGINNING and own:
        return True
    return sum(map(len, own)) >= TELLING and found.weight >= 0.35 * found.whole


def _sharing(text: str) -> Match | None:
    """The rules whose texts begin as this one does: a family, and none of them."""
    haystack = _haystack(text)
    beginnings = [(one, found) for one, found in _found_in(known_texts, haystack) if _begins(found)]
    if not beginnings:
        return None
    most = max(found.weight for _, found in beginnings)
    sharing = [(one, found) for one, found in beginnings if found.weight == most]
    first = _match(*sharing[0], haystack)
    rules = tuple(dict.fromkeys(one.rule for one, _ in sharing))
    return replace(
        first, rule="", rules=rules, when="the text begins like the error texts of several rules", look_for=()
    )


def _begins(found: TemplateMatch) -> bool:
    return found.leads and found.weight >= TELLING and found.weight >= 0.2 * found.whole


def match_by_kind(text: str, refusal: KnownRefusal, rule: str) -> Match:
    """A match by the kind of refusal that a text shows, with the rule of the place that it names."""
    return replace(_by_kind(text, refusal, None), rule=rule)


def _by_kind(text: str, refusal: KnownRefusal, shared: Match | None) -> Match:
    """A match that rests on the kind alone, whoever says it."""
    kind = refusal.kind
    rules = tuple(dict.fromkeys((*(shared.rules if shared else ()), *kind.rules)))
    family = tuple(rule for rule in rules if not shared or _family(rule) in {_family(r) for r in kind.rules})
    return Match(
        rule=refusal.rule if refusal.rule in pages.slugs() else "",
        provider=str(refusal.speaker) if refusal.speaker.name else ANYBODY,
        status=0,
        template="",
        message=" ".join(refusal.words.split()) if refusal.by == "text" else " ".join(text.split())[:200],
        captured=refusal.values,
        index="",
        look_for=(kind.fix,),
        record=OUR_RECORDER,
        source=refusal.source or kind.sources[0] if kind.sources else "every provider",
        when=refusal.says(),
        kind=kind.name,
        rules=() if refusal.rule else family,
    )


def _of_kind(match: Match, refusal: KnownRefusal) -> Match:
    """A text that no rule predicts, with its kind, and the rule of that where there is one."""
    kind = refusal.kind
    rules = tuple(dict.fromkeys((*match.rules, *kind.rules)))
    rule = "" if match.rules else refusal.rule
    return replace(match, kind=kind.name, rule=rule, rules=() if rule else rules,
                   look_for=match.look_for or (kind.fix,))  # fmt: skip


def _family(rule: str) -> str:
    return rule.partition(".")[0]


@cache
def _rules_of() -> Mapping[str, frozenset[str]]:
    """Template → the rules, or what is said without one, that have it word by word."""
    rules: dict[str, set[str]] = {}
    for known in (*known_texts(), *texts_without_rule()):
        rules.setdefault(known.template.message, set()).add(known.rule or known.when)
    return {message: frozenset(own) for message, own in rules.items()}


@cache
def _owners() -> Mapping[str, set[frozenset[str]]]:
    """Piece of a template → the rules of each template that has it."""
    owners: dict[str, set[frozenset[str]]] = {}
    for known in (*known_texts(), *texts_without_rule()):
        for piece in known.template.pieces:
            owners.setdefault(piece.text, set()).add(_rules_of()[known.template.message])
    return owners


def _explains_more(other: TemplateMatch, found: TemplateMatch) -> bool:
    """The other one covers this one's place with a longer text: this is only its beginning, or a shorter cousin."""
    return other.start <= found.start and other.end >= found.end and other.weight > found.weight


def _rank(hit: tuple[KnownText, TemplateMatch], text: str) -> tuple[float, ...]:
    known, found = hit
    name = known.provider.partition(":")[0]
    names_it = any(word in text.lower() for word in _words().get(name, (name,)))
    statuses = {int(s) for s in _STATUS.findall(text)}
    return found.weight, names_it, found.weight / found.whole, not statuses or known.status in statuses


@loading.forgotten_with
@cache
def _words() -> Mapping[str, tuple[str, ...]]:
    """Contract → words that tell where a text comes from, when several providers say the same."""
    return {file.name: file.error_words or (file.name,) for file in loading.outlines()}


def _once(hits: Iterable[tuple[KnownText, TemplateMatch]]) -> Iterator[tuple[KnownText, TemplateMatch]]:
    """The best text of each rule of each provider."""
    seen: set[tuple[str, str]] = set()
    for known, found in hits:
        key = (known.provider.partition(":")[0], known.rule or known.when)
        if key not in seen:
            seen.add(key)
            yield known, found


def _match(known: KnownText, found: TemplateMatch, text: Plain) -> Match:
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
        is_whole=found.weight == found.whole,
    )


def _look_for(known: KnownText) -> tuple[str, ...]:
    if known.rule in pages.slugs():
        return pages.page(known.rule).look_for
    return (known.note,) if known.note else ()


def _record(rule: str, how: str) -> str:
    """Our own recorder first, then what the provider's contract knows for those who cannot run the client again."""
    ways = f"{OUR_RECORDER}. Without the recorder: {how[:1].lower()}{how[1:]}" if how else OUR_RECORDER
    if rule.startswith("reasoning."):
        return f"{ways}. Two exchanges are needed: the response with the reasoning, and the request after it"
    return ways


def _terms(provider: str) -> Mapping[str, str]:
    name = provider.partition(":")[0]
    terms = {key: "" for key in ("errors.index", "record.how")}
    for source in (loading.GENERIC, name):
        if source in loading.names():
            contract = loading.get(source)
            terms |= {key: str(contract.term(key)) for key in terms if contract.term(key)}
    return terms


def _with_others(matches: list[Match]) -> list[Match]:
    """Each match with the other providers whose text is the same, or as much of it as was pasted."""
    by_provider = {m.provider.partition(":")[0]: m for m in reversed(matches)}
    return [replace(m, also=tuple(sorted(p for p, o in by_provider.items() if _is_other(m, p, o)))) for m in matches]


def _is_other(match: Match, provider: str, other: Match) -> bool:
    """A part of another provider's text is not the text of a provider that has all of it."""
    is_same = other.message == match.message and (other.is_whole or not match.is_whole)
    return is_same and provider != match.provider.partition(":")[0]
