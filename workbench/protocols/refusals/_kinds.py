"""The table of kinds, read once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache

from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.protocols.refusals._texts import by_words, compile_text, tables
from workbench.protocols.refusals._texts import table as read_table
from workbench.regex import RowsByText

BREADTHS = ("narrow", "wide", "widest")
"""Breadth of what the texts of a kind are about: one thing, any parameter or model, or anything at all."""


class FailureSide(StrEnum):
    """Side that causes a failure."""

    REQUEST = "request"
    ACCOUNT = "account"
    PROVIDER = "provider"
    NETWORK = "network"
    ANSWER = "answer"  # what the model wrote


class RetryAdvice(StrEnum):
    """Advice on sending the same request again."""

    LATER = "later"
    NO = "no"
    OTHER = "other"  # at once: the model may write something else


@dataclass(frozen=True, slots=True)
class RefusalKind:
    """A kind of failure.

    Attributes:
        name: slug, ``"rate-limit"``; it stays.
        says: what happened, to follow "status 429: ".
        at: what of the request it is about: ``"model"``, ``"parameter"``, ``"media"`` …; "" for nothing or the whole.
        rules: the rule that names such a request; of several, those that look at such a fault.
        which: (pattern, rule): words that tell which of several rules it is, in the order in which they are tried.
        fix: what to do.
        sources: where its texts were seen.
        breadth: position in ``BREADTHS``: where texts of several kinds match, the narrower kind counts.
    """

    name: str
    says: str
    cause: FailureSide
    again: RetryAdvice
    at: str = ""
    rules: tuple[str, ...] = ()
    which: tuple[tuple[re.Pattern[str], str], ...] = ()
    fix: str = ""
    sources: tuple[str, ...] = ()
    breadth: int = 0

    @property
    def rule(self) -> str:
        """The rule that names such a request, "" where there is none or more than one."""
        return self.rules[0] if len(self.rules) == 1 else ""

    def rule_in(self, text: str) -> str:
        """The rule that a plain text tells; that of the kind if there is one rule, empty if nothing tells."""
        return self.rule or next((rule for pattern, rule in self.which if pattern.search(text)), "")

    @property
    def is_shown(self) -> bool:
        """The request shows the cause; a model name is in the request, and only the provider knows what it serves."""
        return self.cause is FailureSide.REQUEST

    @property
    def is_verdict(self) -> bool:
        """True if the cause is this request, not keys, limits, servers or the network."""
        return self.cause in (FailureSide.REQUEST, FailureSide.ANSWER)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Sender of an error. ``name`` is that of the program; empty if unknown."""

    who: str = "provider"
    name: str = ""

    def __str__(self) -> str:
        return f"{self.who} {self.name}".strip()


PROVIDER = Speaker()
"""Reporter of an error that names no other one."""


class KindText(NamedTuple):
    """A text of a kind."""

    pattern: re.Pattern[str]
    kind: RefusalKind
    source: str


@dataclass(frozen=True, slots=True)
class Table:
    """The kinds by code, text, word and status.

    Attributes:
        codes, words: code word in small letters → kind; ``words`` say less than a text.
        sure, texts: texts that count more than any code, and those that count less.
        statuses: HTTP status → kind.
        speakers: (pattern, speaker).
    """

    kinds: Mapping[str, RefusalKind]
    codes: Mapping[str, RefusalKind]
    words: Mapping[str, RefusalKind]
    sure: RowsByText[KindText]
    texts: RowsByText[KindText]
    statuses: Mapping[int, RefusalKind]
    speakers: tuple[tuple[re.Pattern[str], Speaker], ...]


@cache
def table() -> Table:
    """The table that ships."""
    entries = [(_kind(name, entry), entry) for name, entry in tables("kinds") if isinstance(entry, dict)]
    return Table(
        kinds={kind.name: kind for kind, _ in entries},
        codes={code.lower(): kind for kind, entry in entries for code in _list(entry.get("codes"))},
        words={word.lower(): kind for kind, entry in entries for word in _list(entry.get("words"))},
        sure=rows_of(found for kind, entry in entries for found in _known_texts(entry.get("sure"), kind)),
        texts=rows_of(found for kind, entry in entries for found in _known_texts(entry.get("texts"), kind)),
        statuses={int(status): kind for kind, entry in entries for status in _list(entry.get("statuses"))},
        speakers=tuple(_speakers(read_table("speakers")["speakers"])),
    )


def rows_of(texts: Iterable[KindText]) -> RowsByText[KindText]:
    """Texts of kinds, found by the words that they need."""
    return by_words(texts, lambda row: row.pattern)


def kinds() -> Mapping[str, RefusalKind]:
    """Name → kind."""
    return table().kinds


def kind(name: str) -> RefusalKind | None:
    """The kind of a name."""
    return table().kinds.get(name)


def _kind(name: str, entry: Mapping[str, JsonValue]) -> RefusalKind:
    seen = {**_texts(entry.get("sure")), **_texts(entry.get("texts"))}
    return RefusalKind(
        name=name,
        says=str(entry["says"]),
        cause=FailureSide(str(entry["cause"])),
        again=RetryAdvice(str(entry["again"])),
        at=str(entry.get("at", "")),
        rules=tuple(_list(entry.get("rules"))),
        which=tuple((pattern, rule) for pattern, rule in _which(entry.get("which"))),
        fix=str(entry["fix"]),
        sources=tuple(dict.fromkeys(source for text in seen.values() for source in text.split("; "))),
        breadth=BREADTHS.index(str(entry.get("breadth", BREADTHS[0]))),
    )


def _known_texts(value: JsonValue, kind: RefusalKind) -> Iterator[KindText]:
    return (KindText(compile_text(text), kind, source) for text, source in _texts(value).items())


def _which(value: JsonValue) -> Iterator[tuple[re.Pattern[str], str]]:
    return ((compile_text(text), rule) for text, rule in _texts(value).items())


def _speakers(value: JsonValue) -> Iterator[tuple[re.Pattern[str], Speaker]]:
    for entry in _entries(value):
        speaker = Speaker(str(entry["who"]), str(entry.get("name", "")))
        for text in _list(entry["texts"]):
            yield re.compile(text), speaker


def _entries(value: JsonValue) -> list[Mapping[str, JsonValue]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _list(value: JsonValue) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _texts(value: JsonValue) -> dict[str, str]:
    return {str(text): str(source) for text, source in value.items()} if isinstance(value, dict) else {}
