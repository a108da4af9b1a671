"""What all lowering of one schema shares: its root and dialect, the steps so far, and what is left to check."""

from __future__ import annotations

from collections.abc import Callable

from workbench import limits
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.provenance import escape
from workbench.toolcalls.schemas import fits as _fits
from workbench.toolcalls.schemas._shapes import holds_ref, join, nullable
from workbench.toolcalls.schemas.dialect import Dialect
from workbench.toolcalls.schemas.lint import IGNORED, lint_schema
from workbench.toolcalls.schemas.mapping import SAME, JsonTextMapping, SameMapping, UnionMapping

EXACT, CHECKED, NARROWER = "exact", "local check", "narrower"


@dataclass(frozen=True, slots=True)
class LoweringStep:
    """One change.

    Attributes:
        pointer: position in the original schema.
        what: the original content.
        instead: the replacement.
        effect: ``"exact"``: same meaning; ``"local check"``: the rest is checked locally; ``"narrower"``: some values
            that the original accepts can no longer be written.
    """

    pointer: str
    what: str
    instead: str
    effect: str = EXACT


@dataclass(frozen=True, slots=True)
class LoweredNode:
    """A lowered node; ``rest`` has the fragments that remain to be checked at its position."""

    schema: dict[str, JsonValue]
    rest: tuple[JsonValue, ...] = ()
    mapping: SameMapping = SAME

    def and_rest(self, *fragments: JsonValue) -> LoweredNode:
        return LoweredNode(self.schema, (*self.rest, *fragments), self.mapping)


@dataclass(frozen=True, slots=True)
class SchemaPosition:
    """Position of a node: its pointer, its depth, and the references followed to it."""

    pointer: str = ""
    depth: int = 0
    refs: tuple[str, ...] = ()

    def down(self, *steps: str, deeper: bool = False) -> SchemaPosition:
        return SchemaPosition(self.pointer + "".join(f"/{escape(s)}" for s in steps), self.depth + deeper, self.refs)

    @property
    def is_root(self) -> bool:
        return not self.pointer


@dataclass(slots=True)
class LoweringWork:
    """The work on one schema.

    Attributes:
        is_whole: a remainder cannot be cut out of the original: the check is the whole of it.
        table: definition → mapping, for references that are kept.
    """

    root: dict[str, JsonValue]
    dialect: Dialect
    steps: list[LoweringStep] = field(default_factory=list)
    is_whole: bool = False
    table: dict[str, SameMapping] = field(default_factory=dict)
    made: dict[str, JsonValue] = field(default_factory=dict)
    left: int = limits.MAX_SCHEMA_NODES

    def note(self, at: SchemaPosition, what: str, instead: str, effect: str = EXACT) -> None:
        self.steps.append(LoweringStep(at.pointer, what, instead, effect))

    def is_clean(self, schema: JsonValue) -> bool:
        """True if a fragment below the root is accepted unchanged."""
        holder = {"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False}
        defs = {k: self.root[k] for k in ("$defs", "definitions") if k in self.root and self.dialect.accepts(k)}
        found = lint_schema({**holder, **defs}, self.dialect)
        return not any(i.effect != IGNORED and i.pointer.startswith("/properties/x") for i in found)

    def anything(self, at: SchemaPosition, what: str = "a schema that accepts anything") -> LoweredNode:
        if not self.dialect.typed:
            return LoweredNode({})
        self.note(at, what, "a string that contains JSON", EXACT)
        return LoweredNode({"type": "string", "description": "JSON text of any value"}, (), JsonTextMapping())

    def fits(self, value: JsonValue, schema: JsonValue) -> bool:
        return _fits.fits_schema(value, schema, {"$defs": self.made, "definitions": self.made})

    def check(self, rest: tuple[JsonValue, ...]) -> JsonValue:
        if any(holds_ref(fragment) for fragment in rest):
            return self.root
        joined = join(rest)
        if isinstance(joined, dict) and joined and "$schema" in self.root:
            return {"$schema": self.root["$schema"], **joined}
        return joined

    def or_null(self, found: LoweredNode, what: str) -> LoweredNode:
        """The schema, or null."""
        rest = tuple({"anyOf": [{"type": "null"}, fragment]} for fragment in found.rest)
        schema = nullable(found.schema, self.dialect)
        if found.mapping is SAME:
            return LoweredNode(schema, rest)
        branches = (({"type": "null"}, SAME), (found.schema, found.mapping))
        return LoweredNode(schema, rest, UnionMapping(self.fits, branches))

    def takes_null(self, schema: JsonValue) -> bool:
        try:
            return _fits.fits_schema(None, schema, self.root)
        except _fits.UndecidableSchema:
            return True


Lower = Callable[[JsonValue, SchemaPosition], LoweredNode]
"""Lowers one schema, of any kind."""
