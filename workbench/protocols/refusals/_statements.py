"""Statements in plain words: what a text speaks of, what is wrong with it, and the rule of both.

Clients, SDKs and gateways write their own sentences and speak of the same few things (a call, its result, its
arguments, a tool's name). The rows are in the folder ``statements``, a file for each family of rules, with what they
mean by <call> or <tool> in ``words.yaml``; a row is a list of sentences, or a thing and the faults that it may have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from workbench import regex
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols.refusals._texts import best, by_words, compile_text, search, table, tables
from workbench.regex import RowsByText

_NAME = regex.compile(r"<([a-z-]+)>")
_NEAR = "[^.]{0,24}?"
"""Characters between a thing and what is wrong with it."""
_NO_OTHER = "((?:(?! (?:in|from|at|on) )[^.]){0,24}?)"
"""The same in front of a thing: in "missing token in a call", it is not the call that is missing."""


class Statement(NamedTuple):
    """Something that is said in plain words.

    Attributes:
        words: the stretch of text that says it.
        rule: slug.
    """

    words: str
    rule: str


class _StatementRow(NamedTuple):
    says: re.Pattern[str]
    unless: re.Pattern[str] | None
    rule: str


@cache
def _rows() -> RowsByText[_StatementRow]:
    terms = table("words")
    words, faults = terms["words"], terms["faults"]
    assert isinstance(words, dict) and isinstance(faults, dict)
    named = {name: str(text) for name, text in words.items()}
    rows = (row for _, rows in tables("statements") if isinstance(rows, list) for row in rows)
    return rows_of(_row(row, named, faults) for row in rows if isinstance(row, dict))


def rows_of(rows: Iterable[_StatementRow]) -> RowsByText[_StatementRow]:
    """Rows, found by the words that they need."""
    return by_words(rows, lambda row: row.says)


def _row(rule: Mapping[str, JsonValue], words: Mapping[str, str], faults: Mapping[str, JsonValue]) -> _StatementRow:
    says, unless = rule.get("says") or list(_pairs(rule, faults)), rule.get("unless")
    assert isinstance(says, list)
    return _StatementRow(
        _pattern("|".join(f"(?:{text})" for text in says), words),
        _pattern(str(unless), words) if unless else None,
        str(rule["rule"]),
    )


def _pairs(rule: Mapping[str, JsonValue], faults: Mapping[str, JsonValue]) -> Iterator[str]:
    """Patterns of a thing (``of``) beside each of its ``faults``: the fault in front of it, or behind it."""
    thing = rule["of"]
    for name in str(rule["faults"]).split():
        words = faults[name]
        assert isinstance(words, dict)
        if before := words.get("before"):
            yield rf"\b(?:{before})\b{_NO_OTHER}(?:{thing})"
        if after := words.get("after"):
            yield rf"(?:{thing}){_NEAR}\b(?:{after})\b"


def _pattern(text: str, words: Mapping[str, str]) -> re.Pattern[str]:
    """A pattern in which ``<call>`` means any of the words for a call."""
    while _NAME.search(text):
        text = _NAME.sub(lambda found: f"(?:{words[found[1]]})", text)
    return compile_text(text)


@cache
def _claims() -> Mapping[str, re.Pattern[str]]:
    terms = table("words")
    words, claims = terms["words"], terms["claims"]
    assert isinstance(words, dict) and isinstance(claims, dict)
    named = {name: str(text) for name, text in words.items()}
    return {rule: _pattern(str(text), named) for rule, text in claims.items()}


def is_borne_out(rule: str, small: str) -> bool:
    """A text (small letters) names what a rule is about; true for a rule that any text may tell."""
    claim = _claims().get(rule)
    return claim is None or claim.search(small) is not None


@cache
def _signs() -> re.Pattern[str]:
    terms = table("words")
    words, signs = terms["words"], terms["signs"]
    assert isinstance(words, dict) and isinstance(signs, list)
    return _pattern("|".join(map(str, signs)), {name: str(text) for name, text in words.items()})


def has_sign(small: str) -> bool:
    """A text (small letters) names something of requests to models, whatever it says of it."""
    return _signs().search(small) is not None


def statement_in(small: str) -> Statement | None:
    """The statement of a text (lower case, one kind of quotes) that fixes most of it and tells a rule."""
    found = ((match, 0, row.rule, row) for row in _rows().fitting(small) if (match := search(row.says, small)))
    said = (each for each in found if not (each[3].unless and each[3].unless.search(small)))
    chosen = best(each for each in said if is_borne_out(each[2], small))
    return Statement(small[slice(*chosen[0].span())], chosen[1].rule) if chosen else None
