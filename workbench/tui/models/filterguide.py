"""The filter language for the help screen, from the table that reads it."""

from __future__ import annotations

from workbench.views import BLANK, Line, Span, line, wrap

_FORMS = 30
"""Columns for examples of forms."""

_KEYS = 26
"""Columns for examples of keys."""


def filter_lines(width: int) -> list[Line]:
    """Forms of an expression, then every key with an example."""
    from workbench.filters import ANY, FORMS, KEYS

    made = [line(Span("filter: expressions", "role"))]
    for example, says in (("a word", f"in {ANY}"), *FORMS):
        made += _entry(example, says, _FORMS, width)
    made += [BLANK, line(Span("filter: keys", "role"))]
    for key in KEYS:
        choices = f": {', '.join(key.choices)}" if key.choices else ""
        made += _entry(key.example, key.says + choices + (" (slower: reads each exchange)" * key.is_deep), _KEYS, width)
    return made


def _entry(example: str, says: str, columns: int, width: int) -> list[Line]:
    first, *more = wrap(says, width - columns)
    return [
        line("  ", Span(example, "accent strong", columns - 2), *first),
        *(line(Span(" " * columns), *rest) for rest in more),
    ]
