"""Expressions of the filter language as values, and how they are written.

Numbers as people type them: plain, sizes, durations, classes of status.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from workbench import regex
from workbench.lazy_dataclass import dataclass


class ValueKind(StrEnum):
    """Kind of the values of a key."""

    TEXT = "text"
    NUMBER = "number"
    STATUS = "status"  # a number, or a class of them: 4xx
    SIZE = "size"  # bytes: 812, 100k, 5M
    SECONDS = "seconds"  # 2s, 300ms, 1.5m
    FLAG = "flag"  # present or absent: the key has no value


class FilterKey(NamedTuple):
    """One key.

    Attributes:
        name: as it is typed.
        kind: of its values.
        example: an expression that uses it.
        says: its meaning, without a final period.
        choices: every possible value, if they are few.
        is_deep: the exchange itself must be read, because the list does not contain the value.
    """

    name: str
    kind: ValueKind
    example: str
    says: str
    choices: tuple[str, ...] = ()
    is_deep: bool = False


KEYS: tuple[FilterKey, ...] = (
    FilterKey("tool", ValueKind.TEXT, "tool:read_file", "a tool that the response calls"),
    FilterKey("status", ValueKind.STATUS, "status:4xx", "the HTTP status"),
    FilterKey("rule", ValueKind.TEXT, "rule:closure", "the rule of a finding, or the rule's family"),
    FilterKey("severity", ValueKind.TEXT, "severity:error", "severity of a finding", ("error", "warning", "info")),
    FilterKey("turn", ValueKind.NUMBER, "turn:>40", "number of the exchange in its conversation, from 1"),
    FilterKey("exchange", ValueKind.NUMBER, "exchange:40..60", "number of the exchange in the session, from 1"),
    FilterKey("conversation", ValueKind.NUMBER, "conversation:2", "number of the conversation, from 1"),
    FilterKey("model", ValueKind.TEXT, "model:claude", "the model"),
    FilterKey("provider", ValueKind.TEXT, "provider:deepseek", "the contract that the exchange was checked against"),
    FilterKey("protocol", ValueKind.TEXT, "protocol:openai-chat", "the wire format"),
    FilterKey(
        "text",
        ValueKind.TEXT,
        'text~"no such file"',
        "both bodies; for streams also the joined text",
        is_deep=True,
    ),
    FilterKey("bytes", ValueKind.SIZE, "bytes:>100k", "the total size of both bodies"),
    FilterKey("request", ValueKind.SIZE, "request:>1M", "the size of the request body"),
    FilterKey("response", ValueKind.SIZE, "response:<200", "the size of the response body"),
    FilterKey("time", ValueKind.SECONDS, "time:>2s", "duration"),
    FilterKey(
        "state",
        ValueKind.TEXT,
        "state:aborted",
        "completeness of the recording",
        ("complete", "open", "aborted", "incomplete"),
    ),
    FilterKey("finish", ValueKind.TEXT, "finish:length", "finish reason, as the provider writes it"),
    FilterKey("reasoning", ValueKind.FLAG, "reasoning:", "the response contains reasoning"),
    FilterKey("method", ValueKind.TEXT, "method:GET", "the HTTP method"),
    FilterKey("host", ValueKind.TEXT, "host~anthropic", "the host that the request was sent to"),
    FilterKey("path", ValueKind.TEXT, "path:/v1/messages", "the path of the URL"),
    FilterKey("hop", ValueKind.TEXT, "hop:gateway", "the hop where it was recorded"),
    FilterKey("client", ValueKind.TEXT, "client:claude", "the client, or its User-Agent", is_deep=True),
    FilterKey(
        "header",
        ValueKind.TEXT,
        "header:anthropic-beta",
        "a request or response header: name and value",
        is_deep=True,
    ),
    FilterKey("mcp", ValueKind.TEXT, "mcp:files/read_file", "a tool server (MCP), and its tool"),
    FilterKey("id", ValueKind.TEXT, "id:toolu_01*", "an id of a tool call, a tool result or a response", is_deep=True),
    FilterKey("mark", ValueKind.FLAG, "mark:", "you marked the exchange or a part of it"),
    FilterKey("note", ValueKind.TEXT, "note~retry", "your notes"),
)
BY_NAME = {key.name: key for key in KEYS}

ANY = "anything shown in the list: model, tool, status, method, URL, rule, finding, finish, note"
"""Fields searched for a word without a key."""

FORMS: tuple[tuple[str, str], ...] = (
    ("tool:read_file", "the value (case-insensitive), or a prefix of it that ends before one of . _ - : /"),
    ("tool:read_*", "* matches any characters, ? exactly one"),
    ("tool=read_file", "exactly this value"),
    ("model~flash", "the value contains this"),
    ("tool:", "the key has a value"),
    ("turn:>40", "comparison; also >=, <, <= and ranges: turn:40..60, 40.. and ..60"),
    ("-tool:bash", 'negation; also written !tool:bash or "not tool:bash"'),
    (
        "rule:closure or status:4xx",
        "one of the two conditions; 'and' is implied between conditions; ( ) groups conditions",
    ),
    ('"no such file"', 'quotes keep spaces and signs; \\" is a literal quote'),
)
"""Forms of expressions, with their meaning."""


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
    text = unparse(expression)
    return f"({text})" if isinstance(expression, And | Or) else text


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


_NUMBER = regex.compile(r"(\d{1,15}(?:\.\d{1,6})?)([A-Za-z]*)", re.ASCII)
_CLASS = regex.compile(r"[1-5]xx", re.ASCII | re.IGNORECASE)

UNITS: dict[ValueKind, dict[str, float]] = {
    ValueKind.NUMBER: {"": 1},
    ValueKind.STATUS: {"": 1},
    ValueKind.SIZE: {
        "": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9,
        "ki": 2**10, "kib": 2**10, "mi": 2**20, "mib": 2**20, "gi": 2**30, "gib": 2**30,
    },
    ValueKind.SECONDS: {"": 1, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600},
}  # fmt: skip

EXPECTED = {
    ValueKind.NUMBER: "a number such as 40, >40, 40..60",
    ValueKind.STATUS: "a status such as 400, >=400, 4xx",
    ValueKind.SIZE: "a size such as 812, >100k, 1M..5M",
    ValueKind.SECONDS: "a time such as >2s, <300ms, 1s..5s",
}
"""Words for the error message, by kind."""


def amount(kind: ValueKind, text: str) -> float | None:
    """Value of a number as typed; None if it is not a number."""
    found = _NUMBER.fullmatch(text)
    unit = UNITS[kind].get(found[2].lower()) if found else None
    return float(found[1]) * unit if found and unit is not None else None


def status_class(text: str) -> int | None:
    """The first digit of ``4xx``."""
    return int(text[0]) if _CLASS.fullmatch(text) else None
