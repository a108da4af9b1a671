"""Dialects: the part of JSON Schema that one provider accepts in one mode, as data from its contract.

The terms ``schema.*`` of a contract describe plain tools; ``schema.MODE.*`` (``schema.strict.*``) the differences of a
mode. A missing term refuses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field, field_names

__all__ = ["OF_TOOLS", "PLAIN", "SUBTREES", "Dialect", "DialectFact", "dialects"]

PLAIN = ""
"""Mode of tools that request none."""

SUBTREES = ("strict", "json-schema", "output")
"""Modes that contracts may describe: constrained decoding, Gemini's second field for schemas, structured outputs."""


OF_TOOLS = ("max-tools", "name-pattern", "unique-names", "parameters-required", "tools-with-history")
"""Terms about the list of tools, in addition to the fields of ``Dialect``."""


@dataclass(frozen=True, slots=True)
class DialectFact:
    """One fact: its value and source."""

    value: JsonValue
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Accepted schemas.

    Attributes:
        name: contract, variant and mode in words: ``"openai strict"``.
        accepted_keywords: the only supported keywords; None for any.
        refused_keywords, ignored_keywords: in addition; ignored ones are accepted without effect.
        root_refused: keywords not allowed at the root.
        root_object: the root has ``type: object``.
        refs: ``"all"``, ``"no-recursion"`` or ``"none"``.
        ref_alone: ``$ref`` has no other keyword beside it.
        ref_conflicts: a keyword beside ``$ref`` must not have another value in its target.
        type_lists: ``type`` may be a list.
        nullable: null is expressed by ``nullable: true``, not by a type.
        enum_strings: an enum contains only strings.
        valid: the meta-schema of JSON Schema accepts it.
        items_required: every array has ``items``.
        typed: every schema has a type, an anyOf, an enum or a reference.
        no_empty_properties: ``properties`` must not be ``{}``.
        no_booleans: true and false are no schemas.
        no_tuples: ``items`` is one schema, and not a list of them.
        no_typed_unions: below the root, no ``type`` beside ``anyOf``.
        enum_typed: an enum has ``type: string`` beside it.
        formats: the only values of ``format`` of a string; None for any.
        closed_objects: every object has ``additionalProperties: false``.
        all_required: every property is required; an optional one allows null.
        max_depth, max_properties, max_enum_values, max_text: per schema: levels of objects and arrays, properties, enum
            values, and characters of names and enum values.
        max_optional: optional properties of all tools of a request.
        sources: field name → source of the fact, and what is uncertain.
    """

    name: str = "any"
    mode: str = PLAIN
    accepted_keywords: frozenset[str] | None = None
    refused_keywords: frozenset[str] = frozenset()
    ignored_keywords: frozenset[str] = frozenset()
    root_refused: frozenset[str] = frozenset()
    root_object: bool = False
    refs: str = "all"
    ref_alone: bool = False
    ref_conflicts: bool = False
    type_lists: bool = True
    nullable: bool = False
    enum_strings: bool = False
    valid: bool = False
    items_required: bool = False
    typed: bool = False
    no_empty_properties: bool = False
    no_booleans: bool = False
    no_tuples: bool = False
    no_typed_unions: bool = False
    enum_typed: bool = False
    formats: frozenset[str] | None = None
    closed_objects: bool = False
    all_required: bool = False
    max_depth: int | None = None
    max_properties: int | None = None
    max_enum_values: int | None = None
    max_text: int | None = None
    max_optional: int | None = None
    sources: Mapping[str, DialectFact] = field(default=NOTHING, hash=False)

    def accepts(self, keyword: str) -> bool:
        """True if the keyword is allowed somewhere in a schema."""
        known = self.accepted_keywords is None or keyword in self.accepted_keywords
        return known and keyword not in self.refused_keywords

    def source(self, name: str) -> str:
        """Source of the fact of a field; empty if the contract has none."""
        term = self.sources.get(name)
        return term.source if term else ""


_OWN = ("name", "mode", "sources")
_LISTS_OR_ANY = ("accepted_keywords", "formats")
"""Fields that are a list of what is accepted, or None for anything."""


def dialects(name: str, terms: Mapping[str, DialectFact]) -> tuple[Dialect, ...]:
    """The dialects of a contract, the plain one first.

    Args:
        name: what to call them.
        terms: the ``schema.*`` terms of the contract.

    Raises:
        ValueError: a term has a value of the wrong kind.
    """
    modes = [mode for mode in SUBTREES if any(key.startswith(f"schema.{mode}.") for key in terms)]
    return tuple(_dialect(name, mode, terms) for mode in (PLAIN, *modes))


def _dialect(name: str, mode: str, terms: Mapping[str, DialectFact]) -> Dialect:
    found: dict[str, DialectFact] = {}
    for read in field_names(Dialect):
        if read in _OWN:
            continue
        key = read.replace("_", "-")
        term = (terms.get(f"schema.{mode}.{key}") if mode else None) or terms.get(f"schema.{key}")
        if term is not None:
            found[read] = term
    values = {key: _value(key, term.value) for key, term in found.items()}
    return Dialect(name=f"{name} {mode}".strip(), mode=mode, sources=found, **values)  # type: ignore[arg-type]


def _value(name: str, value: JsonValue) -> object:
    default = getattr(Dialect(), name)
    if isinstance(default, frozenset) or name in _LISTS_OR_ANY:
        if value is None and name in _LISTS_OR_ANY:
            return None
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise ValueError(f"not a list of keywords: {value!r}")
        return frozenset(value)
    is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
    right = (value is None or is_number) if default is None else isinstance(value, type(default))
    if not right or (name == "refs" and value not in ("all", "no-recursion", "none")):
        raise ValueError(f"not a value of schema.{name.replace('_', '-')}: {value!r}")
    return value
