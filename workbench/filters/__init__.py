"""The filter language: which exchanges of a session to show.

In: an expression as text, and the facts of an exchange. Out: whether to show it. ``parse`` reads an expression,
``unparse`` writes it, ``Filter`` decides. It does no I/O: an exchange that has to be read is asked for.
It may import the core and the rooms up to ``rules``.
"""

from __future__ import annotations

from workbench.filters.expression import And, Expression, Not, Or, Term, unparse
from workbench.filters.matching import Facts, Filter
from workbench.filters.parser import parse

__all__ = ["And", "Expression", "Facts", "Filter", "Not", "Or", "Term", "parse", "unparse"]
