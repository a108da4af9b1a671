"""Statements in plain words: what a text speaks of, what is wrong with it, and the rule of both.

Clients, SDKs and gateways write their own sentences and speak of the same few things (a call, its result, its
arguments, a tool's name). The table is in ``kinds.yaml``; a row of it is a list of sentences, or a thing and the
faults that it may have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from workbench import regex
from workbench.config import resources
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols.refusals._kinds import WITHIN_SENTENCE

_NAME = regex.compile(r"<([a-z-]+)>")
_NEAR = "[^.]{0,24}?"
"""Characters between a thing and what is wrong with it."""


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
def _rows() -> tuple[_StatementRow, ...]:
    from workbench.config import safeyaml

    data = safeyaml.load(resources.refusals(), name="kinds.yaml")
    assert isinstance(data, dict)
    statements = data["statements"]
    assert isinstance(statements, dict)
    words, faults, rules = statements["words"], statements["faults"], statements["rules"]
    assert isinstance(words, dict) and isinstance(faults, dict) and isinstance(rules, list)
    named = {name: str(text) for name, text in words.items()}
    return tuple(_row(rule, named, faults) for rule in rules if isinstance(rule, dict))


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
            yield rf"\b(?:{before})\b{_NEAR}(?:{thing})"
        if after := words.get("after"):
            yield rf"(?:{thing}){_NEAR}\b(?:{after})\b"


def _pattern(text: str, words: Mapping[str, str]) -> re.Pattern[str]:
    """A pattern in which ``<call>`` means any of the words for a call."""
    while _NAME.search(text):
        text = _NAME.sub(lambda found: f"(?:{words[found[1]]})", text)
    return re.compile(text.replace("[^.]", WITHIN_SENTENCE))


def statement_in(small: str) -> Statement | None:
    """First statement of a text (lower case, one kind of quotes) that tells a rule."""
    for row in _rows():
        found = row.says.search(small)
        if found and not (row.unless and row.unless.search(small)):
            return Statement(small[slice(*found.span())], row.rule)
    return None
