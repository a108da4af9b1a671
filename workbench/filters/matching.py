"""Decides whether an exchange passes an expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import translate
from functools import cached_property, lru_cache, partial
from urllib.parse import unquote

from workbench.errors import SessionFormatError
from workbench.filters.expression import BY_NAME, And, Expression, Not, Or, Term, ValueKind, amount, status_class
from workbench.filters.text import holds
from workbench.ir import ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.rules import FindingsOfRows, InspectedExchange, Inspection
from workbench.wire import Exchange, ExchangeKind
from workbench.wire.session import Session


@dataclass
class Facts:
    """Facts about an exchange.

    Attributes:
        row: its row.
        turn: its number in its conversation, from one; None outside of conversations.
        read: reads the exchange; called only for deep keys. Raises the errors of reading.
        is_marked: the user marked it or a place in it.
        notes: the user's notes on it.
    """

    row: InspectedExchange
    turn: int | None
    read: Callable[[], Exchange]
    is_marked: bool = False
    notes: Sequence[str] = ()

    @cached_property
    def exchange(self) -> Exchange:
        """The exchange itself."""
        return self.read()

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of calls, results and the answer."""
        decoded = DecodedExchange(self.row.index, self.exchange, self.row.protocol)
        found: set[str | None] = {decoded.response.id if decoded.response else None}
        found.add(decoded.request.previous_id if decoded.request else None)
        for side in (REQUEST, RESPONSE):
            for part in (p for message in decoded.messages(side) for p in message.parts):
                if isinstance(part, ToolCallIR):
                    found.add(part.id)
                elif isinstance(part, ToolResultIR):
                    found.add(part.tool_call_id)
        return frozenset(i for i in found if i)


def turn_numbers(rows: Sequence[InspectedExchange]) -> list[int | None]:
    """Number of each row's exchange in its conversation, from one; None outside of conversations."""
    seen: dict[int, int] = {}
    found: list[int | None] = []
    for row in rows:
        if row.conversation is not None:
            seen[row.conversation] = seen.get(row.conversation, 0) + 1
        found.append(None if row.conversation is None else seen[row.conversation])
    return found


class Filter:
    """An expression that decides.

    Attributes:
        is_deep: exchanges have to be read for it: the list alone does not tell.
    """

    def __init__(self, expression: Expression) -> None:
        self.expression = expression
        terms = list(_terms(expression))
        self.is_deep = any(term.key and BY_NAME[term.key].is_deep for term in terms)

    def passes(self, facts: Facts) -> bool:
        """True if the exchange passes the expression."""
        return _passes(self.expression, facts)


def narrow(inspection: Inspection, session: Session, passes: Filter) -> Inspection:
    """Keep the findings of exchanges that match. An unreadable exchange does not match."""
    indices = set()
    for row, turn in zip(inspection.rows, turn_numbers(inspection.rows), strict=True):
        with suppress(SessionFormatError):
            if passes.passes(Facts(row, turn, partial(session.exchange, row.index))):
                indices.add(row.index)
    return replace(inspection, findings=FindingsOfRows(r.findings for r in inspection.rows if r.index in indices))


def _terms(expression: Expression) -> Iterator[Term]:
    match expression:
        case Term():
            yield expression
        case Not(of):
            yield from _terms(of)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _terms(part)


def _passes(expression: Expression, facts: Facts) -> bool:
    match expression:
        case Term():
            return _holds(expression, facts)
        case Not(of):
            return not _passes(of, facts)
        case And(parts):
            return all(_passes(part, facts) for part in parts)
        case Or(parts):
            return any(_passes(part, facts) for part in parts)


def _holds(term: Term, facts: Facts) -> bool:
    if not term.key:
        needle = term.value.casefold()
        return any(needle in text.casefold() for text in _shown_texts(facts))
    kind = BY_NAME[term.key].kind
    if term.key == "text" and term.value:
        return holds(facts.exchange, facts.row.protocol, term.value)
    if kind is ValueKind.FLAG:
        return FLAGS[term.key](facts)
    if kind is ValueKind.TEXT:
        return any(_is_like(term, text) for text in TEXTS[term.key](facts))
    return _compares(term, kind, NUMBERS[term.key](facts))


def _is_like(term: Term, text: str) -> bool:
    match term.op:
        case "=":
            return text == term.value
        case "~":
            return term.value.casefold() in text.casefold()
    if not term.value:
        return bool(text)
    return _shape(term.value).match(text) is not None


@lru_cache(maxsize=64)
def _shape(value: str) -> re.Pattern[str]:
    """Pattern for ``:``: the whole value, or a beginning of it that ends before a sign."""
    if "*" in value or "?" in value:
        return re.compile(translate(value.replace("[", "[[]")), re.IGNORECASE)
    end = r"(?![^\W_])" if value[-1].isalnum() else ""
    return re.compile(re.escape(value) + end, re.IGNORECASE)


def _compares(term: Term, kind: ValueKind, number: float | None) -> bool:
    if number is None:
        return False
    value = amount(kind, term.value)
    match term.op:
        case "..":
            high = amount(kind, term.high)
            return (value is None or number >= value) and (high is None or number <= high)
        case ":":
            if term.value and value is None:
                return number // 100 == status_class(term.value)
            return value is None or number == value
    if value is None:
        return False
    return {">": number > value, ">=": number >= value, "<": number < value, "<=": number <= value}[term.op]


def host_and_path(url: str) -> tuple[str, str]:
    """The two parts of a URL that may be a path alone; its query belongs to neither."""
    whole = url.partition("?")[0]
    scheme, found, rest = whole.partition("://")
    host, slash, path = rest.partition("/")
    return (host, slash + path) if found else ("", scheme)


def _shown_texts(facts: Facts) -> Iterator[str]:
    row, summary = facts.row, facts.row.summary
    yield from (row.model or "", *row.calls, summary.method, str(summary.status or ""), summary.url)
    yield from (row.provider or "", row.protocol or "", row.finish_reason or "", summary.hop, *facts.notes)
    for finding in row.findings:
        yield from (finding.rule, finding.message)


def _clients(facts: Facts) -> Iterator[str]:
    yield facts.exchange.client
    if facts.exchange.request:
        yield from facts.exchange.request.headers.all("user-agent")


def _tool_servers(facts: Facts) -> Iterator[str]:
    """``server/tool`` of a request to a tool server, and of the tool results in a request."""
    summary = facts.row.summary
    if summary.kind is ExchangeKind.MCP:
        host, path = host_and_path(summary.url)
        yield unquote(f"{host}{path}").rstrip("/")
    yield from (f"{link.server}/{link.tool}" for link in facts.row.tool_links)


def _headers(facts: Facts) -> Iterator[str]:
    for http in (facts.exchange.request, facts.exchange.response):
        for name, value in http.headers if http else ():
            yield f"{name}: {value}"


def _bodies(facts: Facts) -> Iterator[str]:
    """For ``text:``, whether there is any."""
    if facts.row.summary.request_bytes or facts.row.summary.response_bytes:
        yield "body"


FLAGS: dict[str, Callable[[Facts], bool]] = {
    "reasoning": lambda f: f.row.has_reasoning,
    "mark": lambda f: f.is_marked,
}
NUMBERS: dict[str, Callable[[Facts], float | None]] = {
    "status": lambda f: f.row.summary.status,
    "turn": lambda f: f.turn,
    "exchange": lambda f: f.row.index + 1,
    "conversation": lambda f: None if f.row.conversation is None else f.row.conversation + 1,
    "bytes": lambda f: f.row.summary.request_bytes + f.row.summary.response_bytes,
    "request": lambda f: f.row.summary.request_bytes,
    "response": lambda f: f.row.summary.response_bytes,
    "time": lambda f: f.row.summary.duration,
}
TEXTS: dict[str, Callable[[Facts], Iterable[str]]] = {
    "tool": lambda f: f.row.calls,
    "rule": lambda f: (finding.rule for finding in f.row.findings),
    "severity": lambda f: (finding.severity for finding in f.row.findings),
    "model": lambda f: (f.row.model or "",),
    "provider": lambda f: (f.row.provider or "",),
    "protocol": lambda f: (f.row.protocol or "",),
    "text": _bodies,
    "state": lambda f: (f.row.summary.state,),
    "finish": lambda f: (f.row.finish_reason or "",),
    "method": lambda f: (f.row.summary.method,),
    "host": lambda f: (host_and_path(f.row.summary.url)[0],),
    "path": lambda f: (host_and_path(f.row.summary.url)[1],),
    "hop": lambda f: (f.row.summary.hop,),
    "mcp": _tool_servers,
    "client": _clients,
    "header": _headers,
    "id": lambda f: f.ids,
    "note": lambda f: f.notes,
}
"""Values of each key."""
