"""JSON Schemas of tools: parts that a dialect refuses or ignores, and the smallest change that it accepts.

In: a tool's schema and a dialect (data from a contract). Out: faults place by place, the down-levelled schema with the
mapping of values back to the original, and whether a value fits a schema, with bounded work. It may import what
``toolcalls`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.toolcalls.schemas import lint
    from workbench.toolcalls.schemas.contradictions import find_contradictions
    from workbench.toolcalls.schemas.dialect import PLAIN, SUBTREES, Dialect, DialectFact, dialects
    from workbench.toolcalls.schemas.fits import UndecidableSchema, fits_schema
    from workbench.toolcalls.schemas.lint import REFUSED, Issue, lint_schema
    from workbench.toolcalls.schemas.lower import (
        EXACT,
        LEVELS,
        SIMPLE,
        STRICT,
        TEXTS,
        LoweredSchema,
        LoweringStep,
        down_level,
        lower_to_level,
        original,
    )
    from workbench.toolcalls.schemas.merge import types_of
    from workbench.toolcalls.schemas.meta import find_meta_faults
    from workbench.toolcalls.schemas.proof import SchemaProof, make_instances, prove
    from workbench.toolcalls.schemas.walk import LISTS, MAPS, nodes, resolve
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "EXACT",
    "LEVELS",
    "LISTS",
    "MAPS",
    "PLAIN",
    "REFUSED",
    "SIMPLE",
    "STRICT",
    "SUBTREES",
    "TEXTS",
    "Dialect",
    "DialectFact",
    "Issue",
    "LoweredSchema",
    "LoweringStep",
    "SchemaProof",
    "UndecidableSchema",
    "dialects",
    "down_level",
    "find_contradictions",
    "find_meta_faults",
    "fits_schema",
    "lint",
    "lint_schema",
    "lower_to_level",
    "make_instances",
    "nodes",
    "original",
    "prove",
    "resolve",
    "types_of",
]
