"""The filter language: which exchanges of a session to show.

In: an expression as text, and the facts of an exchange. Out: whether to show it. ``parse`` reads an expression,
``unparse`` writes it, ``Filter`` decides. It does no I/O: the caller supplies each exchange that has to be read.
It may import the core and the rooms up to ``rules``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.filters.expression import And, Expression, Not, Or, Term, unparse
from workbench.filters.matching import Facts, Filter
from workbench.filters.parser import parse
from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.filters import text
    from workbench.filters.completion import Suggestion, Values, suggest, values_of_keys
    from workbench.filters.expression import ANY, FORMS, KEYS
    from workbench.filters.matching import narrow, turn_numbers
    from workbench.filters.text import is_exact, str_pattern
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ANY",
    "FORMS",
    "KEYS",
    "And",
    "Expression",
    "Facts",
    "Filter",
    "Not",
    "Or",
    "Suggestion",
    "Term",
    "Values",
    "is_exact",
    "narrow",
    "parse",
    "str_pattern",
    "suggest",
    "text",
    "turn_numbers",
    "unparse",
    "values_of_keys",
]
