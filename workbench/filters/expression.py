"""Expressions of the filter language as values, and how they are written."""

from __future__ import annotations

from typing import TypeAlias

from workbench import regex
from workbench.lazy_dataclass import dataclass

WORDS = ("and", "or", "not")
BARE = regex.compile(r'[^\s()"\\]+')
"""Text that needs no quotes as a value."""
_LONE_WORD = regex.compile(r"[^\s()\"\\:~=<>!\-][^\s()\"\\:~=<>]*")


@dataclass(frozen=True, slots=True)
class Term:
    """One condition.

    Attributes:
        key: name of a key; empty for a word that is searched everywhere.
        op: ``":"``, ``"="``, ``"~"``, ``">"``, ``">="``, ``"<"``, ``"<="`` or ``".."``.
        value: as typed, without quotes; empty with ``":"`` tests for any value.
        high: the end of a range.
    """

    key: str
    op: str
    value: str
    high: str = ""


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of an expression."""

    of: Expression


@dataclass(frozen=True, slots=True)
class And:
    """True if all parts are; without parts always true."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    """True if any part is."""

    parts: tuple[Expression, ...]


Expression: TypeAlias = Term | Not | And | Or


def unparse(expression: Expression) -> str:
    """The expression in its simplest form; ``parse`` reads it back."""
    match expression:
        case Term():
            return _term(expression)
        case Not(of):
            return f"-{_inner(of)}"
        case And(parts):
            return " ".join(_inner(part) for part in parts)
        case Or(parts):
            return " or ".join(unparse(part) if isinstance(part, And) else _inner(part) for part in parts)


def _inner(expression: Expression) -> str:
    written = unparse(expression)
    return f"({written})" if isinstance(expression, And | Or) else written


def _term(term: Term) -> str:
    if not term.key:
        is_plain = _LONE_WORD.fullmatch(term.value) and term.value.lower() not in WORDS
        return term.value if is_plain else quote(term.value)
    if term.op == "..":
        return f"{term.key}:{term.value}..{term.high}"
    if term.op in (":", "=", "~"):
        has_value = term.value or term.op != ":"
        return f"{term.key}{term.op}{bare_or_quoted(term.value) if has_value else ''}"
    return f"{term.key}:{term.op}{term.value}"


def bare_or_quoted(value: str) -> str:
    """A value as it may be typed."""
    return value if BARE.fullmatch(value) and value[0] not in "<>=" else quote(value)


def quote(value: str) -> str:
    """A value in quotes."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
