"""The filter language: which exchanges of a session to show.

``parse`` reads an expression, ``unparse`` writes it, ``Filter`` decides. Nothing here does I/O: an
exchange that has to be read is asked for.
"""

from __future__ import annotations

from workbench.filters.expression import And, Expression, Not, Or, Term, unparse
from workbench.filters.matching import Facts, Filter
from workbench.filters.parser import parse

__all__ = ["And", "Expression", "Facts", "Filter", "Not", "Or", "Term", "parse", "unparse"]
