"""The thing and the fault that a sentence in new words names, and the rule of both: a guess where nothing is known.

A text is read as words in the singular, in which each known thing is one word (``<call-id>``). Nearest to each other, a
thing and a fault tell the rule; the table is ``phrases.yaml``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from workbench import regex
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols.refusals._texts import table as read_table

LONGEST = 2_500
"""Characters of a text that are read."""

BEFORE, BEHIND = 3, 6
"""Most words between a fault and the thing behind it, and between a thing and the fault behind it."""

OF_ATTRIBUTES = ("type", "beyond", "empty", "duplicate")
"""Faults that an attribute of a thing may have; a name behind a thing has others ("tool get_weather not found")."""

_CODES = regex.compile(
    r"https?://\S+|(?-i:\b[\w.]*(?:Error|Exception)\b|^[A-Z][a-z]+[A-Z]\w+: )|\b\w*_error\b"
    r"|\b(?:req|request|toolu|call|chatcmpl|msg|resp|fc|rs)_[\w-]{6,}"
    r"|\brequest[ _]?id:? ?\S+|\b(?:error|status)(?: code)?:? ?\d{3}\b|\b4\d\d (?:bad request|unprocessable entity)"
    r"|\b(?:bad request|invalid_?parameter|invalid[_ ]request|invalid[_ ]?argument)\b[:.]?"
    r"|\bwhen calling the \w+ operation\b|\b(?:sse )?stream(?:ing)? error\b|\bstream disconnected before completion\b"
    r"|'s\b|\.\.\.|…|\(\d[\d,]*\)|\bat [\w.<>]+ ?\([^)]*\)|'[\w./:-]*\d[\w./:-]*'(?!\])"
    r"|\b(?:specified |sent |provided )?in (?:the |your )?request\b"
    r"|\b(?:openai |the )?(?:chat ?completions?|(?<!tool )(?<!function )(?<!call )(?<!calls )responses)(?: ?api)?\b",
    re.IGNORECASE,
)
_MEMBERS = regex.compile(
    r"'(?:type|param|code|status|object|request_id|id|error_?type|http_code|statuscode|name|domain|reason|provider|"
    r"provider_name|error_code|locale|success)' ?: ?(?:'[^']*'|null|none|true|false|[\d.]+),?"
    r"|'(?:message|error|details?|msg|errors|description|raw|metadata|body|data|error_?message|title)' ?: ?",
    re.IGNORECASE,
)
_HUMP = regex.compile(r"(?<=[a-z])(?=[A-Z])")
_PATH = regex.compile(r"\b[A-Za-z_$]\w*(?:\[[^\]\s]{0,80}\]|\.[\w$]+)+")
_IN_SCHEMA = regex.compile(r"(?:tool|function).*parameters[.\[]|schema[.\[]", re.IGNORECASE)
"""A path that leads into the schema of a tool or of the response."""
_STEP = regex.compile(r"[A-Za-z_$]\w*")
_IDENTIFIER = regex.compile(r"(?<![\w.$'<-])(?-i:[a-z]+(?:[A-Z][a-z]+|_[a-z]+)+)(?![\w.'(\[=>-])")
"""A name in camel or snake case that stands without quotes."""
_NAMED = regex.compile(r"\b(?:parameter|param|option|setting)s?:? '([A-Za-z_]{2,40})'", re.IGNORECASE)
_WORD = regex.compile(r"<[a-z-]+>|[a-z]+(?:'t)?|\d+|[.;!?](?=\s|$)|[:,()\[\]{}=|]")
_SENTENCE = regex.compile(r" [.;!?](?= |$)")
_THING = regex.compile(r"<([a-z-]+)>")
_PARTS = regex.compile(r"[,:(]|(?<!value)(?<!type)(?<!format) (?:as|of|in|for|to|with|from|by|on) |(?<!\S)zh(?!\S)")
"""What parts a fault from a thing: "invalid sequence as part", but not "invalid value for"; an unknown Chinese word."""
_PARTS_BEFORE = regex.compile(r" (?:when|while|if|unless|because|since|but) |(?<!\S)(?:only|exactly|at most) ")
"""What else parts a fault in front of a thing from it: "required when", "must have only one"."""
_HAVING = regex.compile(
    r" (?:(?:having|containing|carrying|including)|that (?:have|contain|include))(?: (?:a|an|the|any))? "
)
_ANSWER = regex.compile("<(?:stream|answer)>")
_NAME = regex.compile(r"<(not|support|use|kind|together)>")
_CHINESE = dict(zip("，。；：！（）、", (", ", ". ", "; ", ": ", "! ", " ( ", " ) ", ", "), strict=True))
_WORD_BEHIND = regex.compile(r"\s*['\w]")

Words = tuple[str, ...]


class Phrase(NamedTuple):
    """A thing and its fault.

    Attributes:
        rule: slug; empty where the thing is none that a rule is about (a model, the whole request).
        words: the stretch of the sentence, as words in the singular ("invalid <call-id>").
    """

    rule: str
    words: str


class _Fault(NamedTuple):
    name: str
    before: re.Pattern[str]
    behind: re.Pattern[str]


class _PhraseTable(NamedTuple):
    singular: Mapping[str, str]
    things: Mapping[str, tuple[tuple[Words, str], ...]]
    compounds: tuple[tuple[re.Pattern[str], str], ...]
    chinese: tuple[re.Pattern[str], Mapping[str, str]]
    faults: tuple[_Fault, ...]
    rules: Mapping[tuple[str, str, str], str]
    relations: tuple[tuple[re.Pattern[str], str], ...]
    pair: re.Pattern[str]
    wide: frozenset[str]
    of_validators: Mapping[str, str]


@cache
def _table() -> _PhraseTable:
    data = read_table("phrases")
    words, faults = _texts(data["words"]), data["faults"]
    assert isinstance(faults, dict)
    return _PhraseTable(
        _texts(data["singular"]),
        _things(data["things"]),
        tuple((re.compile(rf"(?<!\S){text}(?!\S)"), thing) for text, thing in _texts(data["compounds"]).items()),
        _chinese(data["chinese"]),
        tuple(_fault(name, _texts(sides), words) for name, sides in faults.items()),
        dict(_rules(data["rules"])),
        tuple(_relations(data["relations"], words)),
        re.compile(_with_words(str(data["pair"]), words)),
        frozenset(_list(data["wide"])),
        _texts(data["of_validators"]),
    )


def _texts(value: JsonValue) -> dict[str, str]:
    return {name: str(text) for name, text in value.items()} if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _things(value: JsonValue) -> dict[str, tuple[tuple[Words, str], ...]]:
    """First word → what begins with it, the longest first."""
    assert isinstance(value, dict)
    found: defaultdict[str, dict[Words, str]] = defaultdict(dict)
    for thing, terms in value.items():
        for words in (words for term in _list(terms) for words in _spellings(term)):
            found[words[0]][words] = f"<{thing}>"
    return {first: tuple(sorted(each.items(), key=lambda one: -len(one[0]))) for first, each in found.items()}


def _chinese(value: JsonValue) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Any Chinese word, a longer one first, or one that is unknown; and what each says."""
    assert isinstance(value, dict)
    says = {word: f" {words} " for words, each in value.items() for word in _list(each)} | _CHINESE
    known = sorted({word.rstrip("…") for word in says}, key=lambda word: (-len(word), word))
    return re.compile(rf"{'|'.join(known)}|[\u4e00-\u9fff]"), says


def _spellings(term: str) -> Iterator[Words]:
    """Every spelling of a term with alternatives: ``tool/function call/_``."""
    for words in product(*(word.split("/") for word in term.split())):
        yield tuple(word for word in words if word != "_")


def _fault(name: str, sides: Mapping[str, str], words: Mapping[str, str]) -> _Fault:
    before, behind = (_with_words(sides[side], words) for side in ("before", "behind"))
    return _Fault(name, re.compile(rf"(?<!\S)(?:{before})(?=\s)"), re.compile(rf"(?<!\S)(?:{behind})(?!\S)"))


def _with_words(text: str, words: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: words[found[1]], text)


def _rules(value: JsonValue) -> Iterator[tuple[tuple[str, str, str], str]]:
    """((thing, fault, side), rule)."""
    for row in (row for row in value if isinstance(row, dict)) if isinstance(value, list) else ():
        for side in ("before", "behind"):
            for fault in f"{row.get('faults', '')} {row.get(side, '')}".split():
                yield from (((thing, fault, side), str(row.get("rule", ""))) for thing in str(row["of"]).split())


def _relations(value: JsonValue, words: Mapping[str, str]) -> Iterator[tuple[re.Pattern[str], str]]:
    assert isinstance(value, dict)
    for rule, text in ((rule, text) for rule, texts in value.items() for text in _list(texts)):
        yield re.compile(rf"(?<!\S)(?:{_with_words(text, words)})(?!\S)"), rule


def phrase_in(text: str) -> Phrase | None:
    """The phrase of a text (one kind of quotes, single spaces) that is nearest together; None if there is none."""
    found = [each for place, one in enumerate(sentences(text)) for each in _phrases(one, place)]
    return min(found)[1] if found else None


def sentences(text: str) -> list[str]:
    """The sentences of a text, as words in the singular with ``<…>`` for each thing."""
    plain = _MEMBERS.sub(" ", _CODES.sub(" ", _in_english(text[:LONGEST])))
    plain = _IDENTIFIER.sub(_identifier, _PATH.sub(_last_of_path, _NAMED.sub(_parameter, plain)))
    return _SENTENCE.split(_as_things(plain))


def _as_things(text: str) -> str:
    whole = " ".join(_with_things(_words(text)))
    for compound, thing in _table().compounds:
        whole = compound.sub(thing, whole)
    return whole


def _in_english(text: str) -> str:
    """A text with its Chinese words in English; an unknown one is ``zh``, and keeps two things apart."""
    if text.isascii():
        return text
    word, says = _table().chinese
    return word.sub(lambda found: _english_of(found, says), text)


def _english_of(found: re.Match[str], says: Mapping[str, str]) -> str:
    stands_before = _WORD_BEHIND.match(found.string, found.end()) is not None
    return (stands_before and says.get(f"{found[0]}…")) or says.get(found[0], " zh ")


def rule_at(place: str, fault: str) -> str:
    """The rule of a fault (in the words of validators) at the thing that a place ends with; empty if there is none."""
    steps = [step for step in place.split(".") if not step.isdigit()][-3:]
    thing = _THING.fullmatch(_as_things(" ".join(steps)).rpartition(" ")[2])
    if thing is None or thing[1] in _table().wide:
        return ""
    return _table().rules.get((thing[1], _table().of_validators.get(fault, ""), "behind"), "")


def _words(text: str) -> list[str]:
    singular = _table().singular
    return [_singular(word, singular) for word in _WORD.findall(_HUMP.sub(" ", text).lower())]


def _last_of_path(path: re.Match[str]) -> str:
    """What a path leads to: ``messages[1].tool_calls[0].id`` is ``<call-id>``."""
    if _IN_SCHEMA.search(path[0]):
        return " <schema> "
    steps = _STEP.findall(path[0])[-3:]
    things = [word for word in _with_things(_words(" ".join(filter(_is_whole, steps)))) if word[0] == "<"]
    if things and things[-1] == "<tool>" and path[0].endswith("]"):
        return " <definition> "  # an element of the list of tools
    return f" {things[-1]} " if things else path[0] if all(map(_is_whole, steps)) else " it "


def _is_whole(step: str) -> bool:
    """A step of a path is a thing as a whole, or none: ``turn_on`` is no turn."""
    words = list(_with_things(_words(step)))
    return len(words) == 1 or not any(word[0] == "<" for word in words)


def _parameter(named: re.Match[str]) -> str:
    """A parameter that is named: a known thing, or any parameter."""
    things = [word for word in _with_things(_words(named[1])) if word[0] == "<"]
    return f" {things[-1] if things else '<parameter>'} "


def _identifier(name: re.Match[str]) -> str:
    """A name that contains no thing is one word: ``timeoutMs`` is an attribute of the tool that is named before it."""
    return name[0] if any(word[0] == "<" for word in _with_things(_words(name[0]))) else " it "


def _singular(word: str, known: Mapping[str, str]) -> str:
    if word in known:
        return known[word]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


def _with_things(words: list[str]) -> Iterator[str]:
    at, things = 0, _table().things
    while at < len(words):
        near = tuple(words[at : at + 6])
        named = next((found for found in things.get(words[at], ()) if near[: len(found[0])] == found[0]), None)
        yield named[1] if named else words[at]
        at += len(named[0]) if named else 1


Rank = tuple[int, int, int, int]


def _phrases(sentence: str, place: int) -> Iterator[tuple[Rank, Phrase]]:
    """Phrases of a sentence, each with its rank: relations first, wide things last, then by the words between."""
    if "<" not in sentence or _ANSWER.search(sentence):
        return
    for pattern, rule in _table().relations:
        if found := pattern.search(sentence):
            yield (0, -len(found[0]), 0, place), Phrase(rule, found[0])
    if _table().pair.search(sentence):
        return  # two things exclude each other: neither is at fault alone
    things = list(_THING.finditer(sentence))
    for fault in _table().faults:
        for found in fault.before.finditer(sentence):
            thing = next((one for one in things if one.start() >= found.end()), None)
            between = sentence[found.end() : thing.start()].removesuffix(": ") if thing else ""
            if thing and not _PARTS.search(between) and not _PARTS_BEFORE.search(between):
                yield from _phrase(sentence, found, thing, (fault.name, "before"), place)
        for found in fault.behind.finditer(sentence):
            before = [one for one in things if one.end() <= found.start()]
            thing = _subject(sentence, before) if fault.name == "invalid" else next(iter(before[::-1]), None)
            between = sentence[thing.end() : found.start()] if thing else ""
            if thing and not _PARTS.search(between) and not _is_choice(sentence, thing):
                if fault.name in OF_ATTRIBUTES and " it " in between:
                    continue  # the attribute is at fault, and not the thing that has it
                yield from _phrase(sentence, found, thing, (fault.name, "behind"), place)


def _subject(sentence: str, things: list[re.Match[str]]) -> re.Match[str] | None:
    """The last of some things, or the one that has it: the message in "a <message> having <call> is invalid"."""
    while len(things) > 1 and _HAVING.fullmatch(sentence, things[-2].end(), things[-1].start()):
        things = things[:-1]
    return things[-1] if things else None


def _is_choice(sentence: str, thing: re.Match[str]) -> bool:
    """The thing is one of two that a sentence leaves open: "a text or <result> must be specified"."""
    return sentence.endswith(" or ", 0, thing.start()) and "either " not in sentence


def _phrase(
    sentence: str, found: re.Match[str], thing: re.Match[str], fault: tuple[str, str], place: int
) -> Iterator[tuple[Rank, Phrase]]:
    start, end = min(found.start(), thing.start()), max(found.end(), thing.end())
    between = sentence[start:end].count(" ") - found[0].count(" ") - 1
    rule = _table().rules.get((thing[1], *fault))
    if rule is not None and between <= (BEFORE if fault[1] == "before" else BEHIND):
        is_wide = thing[1] in _table().wide
        yield (1 + is_wide, between, -len(found[0]), place), Phrase(rule, sentence[start:end])
