"""The glossary for the help screen, from the page that the documentation shows.

The filter language for the help screen, from the table that reads it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from workbench import regex
from workbench.config import resources
from workbench.views import BLANK, Line, Span, line, wrap

TITLE: Final = "glossary"
"""Beginning of the heading of each group."""

_TERM = 21
"""Columns for the terms."""

_ROW: Final = regex.compile(r"\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \|")


class GlossaryGroup(NamedTuple):
    """A section of the glossary: its title, and its terms with their meanings, in the order of the page."""

    title: str
    terms: tuple[tuple[str, str], ...]


def parse_glossary(page: str) -> tuple[GlossaryGroup, ...]:
    """Groups of a Markdown page: the table of terms below each heading of level two. Other sections are left out."""
    groups = []
    for section in page.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        header, _, rows = text.partition("\n| --- | --- |\n")
        if header.strip() == "| term | meaning |":
            found = (_ROW.fullmatch(row) for row in rows.splitlines())
            terms = tuple((row["term"], row["meaning"].replace("`", "")) for row in found if row)
            groups.append(GlossaryGroup(title, terms))
    return tuple(groups)


def glossary_lines(width: int) -> list[Line]:
    """All groups, each with a heading; one line with the reason if the page cannot be read."""
    try:
        groups = parse_glossary(resources.glossary())
    except OSError as error:
        return wrap(f"! the glossary cannot be read: {error.strerror}", width, "warning")
    lines: list[Line] = []
    for group in groups:
        lines.append(line(Span(f"{TITLE}: {group.title}", "role")))
        lines += [row for entry in group.terms for row in _term(*entry, width)]
        lines.append(BLANK)
    return lines[:-1]


def _term(term: str, meaning: str, width: int) -> list[Line]:
    first, *more = wrap(meaning, width - _TERM)
    return [
        line(Span(f"  {term} ", "accent strong", _TERM), *first),
        *(line(Span(" " * _TERM), *rest) for rest in more),
    ]


_FORMS = 30
"""Columns for examples of forms."""

_KEYS = 26
"""Columns for examples of keys."""


def filter_lines(width: int) -> list[Line]:
    """Forms of an expression, then every key with an example."""
    from workbench.filters import ANY, FORMS, KEYS

    lines = [line(Span("filter: expressions", "role"))]
    for example, says in (("a word", f"in {ANY}"), *FORMS):
        lines += _entry(example, says, _FORMS, width)
    lines += [BLANK, line(Span("filter: keys", "role"))]
    for key in KEYS:
        choices = f": {', '.join(key.choices)}" if key.choices else ""
        lines += _entry(
            key.example, key.says + choices + (" (slower: reads each exchange)" * key.is_deep), _KEYS, width
        )
    return lines


def _entry(example: str, says: str, columns: int, width: int) -> list[Line]:
    first, *more = wrap(says, width - columns)
    return [
        line("  ", Span(example, "accent strong", columns - 2), *first),
        *(line(Span(" " * columns), *rest) for rest in more),
    ]
