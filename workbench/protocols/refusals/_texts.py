"""Patterns of error texts, and how much of a text each fixes: the one that fixes most decides, in whatever order.

A pattern fixes the characters that it matches outside of its wildcards (``[^.]{0,60}``), which match anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TypeVar

from workbench import regex
from workbench.config import resources
from workbench.ir import JsonValue
from workbench.protocols.refusals._literals import needs_of
from workbench.regex import RowsByText

WITHIN_SENTENCE = r"(?:[^.']|'(?!\s?,\s?'\w{1,40}'\s?:|\s?[}\]]\s?,\s?'\w{1,40}'\s?:)|\.(?=[^\s']))"
"""Meaning of ``[^.]`` in the tables: names of models and hosts contain dots; a member of a body ends a sentence too."""
_WILDCARD = regex.compile(r"\[\^[^\]]{1,8}\](?:\{\d+,\d+\}|[*+])\??")

_NEGATED = regex.compile(r"(?<![a-z])un$")

Row = TypeVar("Row")


def compile_text(text: str) -> re.Pattern[str]:
    """The pattern of a text in a table; each wildcard is a group without a name."""
    return regex.compile(_WILDCARD.sub(r"(\g<0>)", text).replace("[^.]", WITHIN_SENTENCE))


def by_words(rows: Iterable[Row], pattern: Callable[[Row], re.Pattern[str]]) -> RowsByText[Row]:
    """Rows, found by the words that their patterns need: few of the patterns are tried on a text."""
    return RowsByText((needs_of(pattern(row).pattern), row) for row in rows)


def search(pattern: re.Pattern[str], small: str) -> re.Match[str] | None:
    """The first match in a text (lower case) that does not begin behind "un": "unexpected" is not "expected"."""
    found = pattern.search(small)
    while found and _NEGATED.search(small, max(0, found.start() - 3), found.start()):
        found = pattern.search(small, found.start() + 1)
    return found


def fixed_length(found: re.Match[str]) -> int:
    """Characters of a match that its pattern fixes."""
    named = found.re.groupindex.values()
    wild = (len(found[group] or "") for group in range(1, found.re.groups + 1) if group not in named)
    return len(found[0]) - sum(wild)


def best(found: Iterable[tuple[re.Match[str], int, str, Row]]) -> tuple[re.Match[str], Row] | None:
    """The match that says most, with its row; None if there is none.

    Args:
        found: match, breadth of what it is about (a narrower one counts first), name that decides a draw, row.
    """
    ranked = sorted(found, key=lambda each: (each[1], -fixed_length(each[0]), each[2], each[0][0]))
    return (ranked[0][0], ranked[0][3]) if ranked else None


@cache
def table(name: str) -> Mapping[str, JsonValue]:
    """A table of this package, in one file."""
    from workbench.config import safeyaml

    data = safeyaml.load(resources.refusal_table(name), name=f"{name}.yaml")
    assert isinstance(data, dict)
    return data


def tables(folder: str) -> Iterator[tuple[str, JsonValue]]:
    """(name, content) of each file in a folder of this package."""
    from workbench.config import safeyaml

    for name, text in resources.refusal_tables(folder).items():
        yield name, safeyaml.load(text, name=f"{folder}/{name}.yaml")
