"""Suggests how to complete an expression while it is typed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench import regex
from workbench.filters.expression import BY_NAME, KEYS, FilterKey, ValueKind, bare_or_quoted
from workbench.filters.matching import TEXTS, Facts
from workbench.rules import InspectedExchange
from workbench.wire import Exchange

MOST = 200
"""Limit of values kept for one key: a session may name thousands of tools."""

_LAST = regex.compile(r'(?:^|(?<=[\s()!-]))[!-]*(?P<word>(?:"(?:[^"\\]|\\.)*"?|[^\s()"])*)$', re.DOTALL)
_SAID = regex.compile(r'(?P<key>[A-Za-z][\w-]*)(?P<op>[:=~])"?(?P<value>[^"]*)', re.DOTALL)

Values = Mapping[str, Sequence[tuple[str, int]]]
"""Key → its values in the session, each with its number of exchanges, most frequent first."""


class Suggestion(NamedTuple):
    """Text for the word from ``start`` to the cursor, and its meaning."""

    text: str
    says: str
    start: int


def values_of_keys(rows: Sequence[InspectedExchange]) -> Values:
    """The values of every key that the list of exchanges shows."""
    found: dict[str, Counter[str]] = {k.name: Counter() for k in KEYS if k.kind is ValueKind.TEXT and not k.is_deep}
    found["status"] = Counter()
    for row in rows:
        facts = Facts(row, None, _never)
        for name, counter in found.items():
            texts = TEXTS[name](facts) if name in TEXTS else [str(row.summary.status or "")]
            counter.update({text for text in texts if text})
    return {name: sorted(c.items(), key=lambda v: (-v[1], v[0]))[:MOST] for name, c in found.items()}


def suggest(text: str, cursor: int, values: Values) -> list[Suggestion]:
    """Keys, or values of a key, that match the text before the cursor; the likeliest first."""
    last = _LAST.search(text[:cursor])
    word, start = (last["word"], last.start("word")) if last else ("", cursor)
    term = _SAID.fullmatch(word)
    if term:
        key = BY_NAME.get(term["key"].lower())
        return _of_key(key, term["op"], term["value"], start, values) if key else []
    near = [k for k in KEYS if k.name.startswith(word.lower())]
    return [Suggestion(f"{k.name}{_op(k)}", f"{k.says}, as in {k.example}", start) for k in near]


def _op(key: FilterKey) -> str:
    """The operator after the key in its example."""
    return key.example[len(key.name)]


def _of_key(key: FilterKey, op: str, value: str, start: int, values: Values) -> list[Suggestion]:
    needle = value.casefold()
    counted = [*values.get(key.name, ())]
    counted += [(c, 0) for c in key.choices if c not in {text for text, _ in counted}]
    found = [(text, n) for text, n in counted if needle in text.casefold() and text != value]
    found.sort(key=lambda v: not v[0].casefold().startswith(needle))
    return [
        Suggestion(f"{key.name}{op}{bare_or_quoted(text)}", f"{n:,} here" if n else "no value in this session", start)
        for text, n in found
    ]


def _never() -> Exchange:
    raise AssertionError("no completion: the values are in the bodies")
