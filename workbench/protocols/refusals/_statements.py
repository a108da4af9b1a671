"""Statements in plain words: what a text speaks of, what is wrong with it, and the rule of both.

Clients, SDKs and gateways write their own sentences and speak of the same few things (a call, its result, its
arguments, a tool's name). The table is in ``kinds.yaml``.
"""

from __future__ import annotations

import re
from functools import cache

from workbench import regex
from workbench.config import resources
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols.refusals._kinds import WITHIN_SENTENCE

_NAME = regex.compile(r"<([a-z-]+)>")


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
    words, rules = statements["words"], statements["rules"]
    assert isinstance(words, dict) and isinstance(rules, list)
    named = {name: str(text) for name, text in words.items()}
    return tuple(_row(rule, named) for rule in rules if isinstance(rule, dict))


def _row(rule: dict[str, JsonValue], row: dict[str, str]) -> _StatementRow:
    says, unless = rule["says"], rule.get("unless")
    assert isinstance(says, list)
    return _StatementRow(
        _pattern("|".join(f"(?:{text})" for text in says), row),
        _pattern(str(unless), row) if unless else None,
        str(rule["rule"]),
    )


def _pattern(text: str, row: dict[str, str]) -> re.Pattern[str]:
    """A pattern in which ``<call>`` means any of the words for a call."""
    while _NAME.search(text):
        text = _NAME.sub(lambda found: f"(?:{row[found[1]]})", text)
    return re.compile(text.replace("[^.]", WITHIN_SENTENCE))


def statement_in(small: str) -> Statement | None:
    """First statement of a text (lower case, one kind of quotes) that tells a rule."""
    for row in _rows():
        found = row.says.search(small)
        if found and not (row.unless and row.unless.search(small)):
            return Statement(small[slice(*found.span())], row.rule)
    return None
