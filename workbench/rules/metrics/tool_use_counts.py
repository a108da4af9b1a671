"""Counts of correct and faulty tool use over exchanges, grouped by who answered, who asked, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from datetime import UTC, datetime
from typing import NamedTuple

from workbench.contracts import Finding, Severity
from workbench.ir import ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, RESPONSE
from workbench.protocols.clients import client_of
from workbench.rules.inspection import Detail, Inspector
from workbench.rules.metrics.session_costs import Costs, TurnCost

SCHEMA = ("args.schema", "call.unknown-tool")
GROUPS = ("provider", "model", "client", "day")
"""Keys that counts can be grouped by."""


class CountKey(NamedTuple):
    """Whose exchange it is; "" for what is not known. ``day``: of UTC, ``2026-11-20``."""

    provider: str = ""
    model: str = ""
    client: str = ""
    day: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of exchanges and calls.

    Attributes:
        exchanges: with a model.
        refused: answered with a status of 400 to 499.
        calls: made in answers; ``parsed``: whose arguments are one JSON value as they should be; ``fitting``: which
            also fit the schema of a declared tool.
        text_calls: answers with a call that was left in the text.
        with_tools: requests that declare tools; ``serial``: of them, those that switch parallel calls off.
        histories: requests that replay calls; ``unclosed``: of them, those with an error of closure.
        replays: requests that replay an answer; ``reasoning_errors``: of them, those with an error of reasoning.
        broken: calls with unusable arguments whose conversation continues; ``repaired``: of them, those followed by a
            usable call of the same tool; ``blocked``: those that got an error for a result; ``executed``: those
            that got another one, and so were run all the same.
        prompt, output, cache_read: tokens; ``estimated``: exchanges whose tokens no answer counted.
        dollars: at list price, of what has one.
    """

    exchanges: int = 0
    refused: int = 0
    calls: int = 0
    parsed: int = 0
    fitting: int = 0
    text_calls: int = 0
    with_tools: int = 0
    serial: int = 0
    histories: int = 0
    unclosed: int = 0
    replays: int = 0
    reasoning_errors: int = 0
    broken: int = 0
    repaired: int = 0
    blocked: int = 0
    executed: int = 0
    prompt: int = 0
    output: int = 0
    cache_read: int = 0
    estimated: int = 0
    dollars: float = 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Counts)})


def count_exchanges(inspector: Inspector, costs: Costs) -> Iterator[tuple[CountKey, Counts]]:
    """The counts of every exchange of an inspected session. Raises SessionFormatError."""
    turns = {turn.index: turn for turn in costs.turns}
    later = _Later(inspector)
    for row in list(inspector.rows):
        if row.conversation is not None:
            detail = inspector.detail(row.index)
            yield _key(detail), _counts(detail, turns.get(row.index), later)


def group_counts(found: Iterable[tuple[CountKey, Counts]], by: str) -> dict[str, Counts]:
    """Counts by one part of their keys, in order of its names."""
    groups: dict[str, Counts] = {}
    for key, counts in found:
        name = getattr(key, by)
        groups[name] = groups.get(name, Counts()) + counts
    return dict(sorted(groups.items()))


def _key(detail: Detail) -> CountKey:
    exchange = detail.decoded.exchange
    agent = exchange.request.headers.get("user-agent") if exchange.request else None
    at = exchange.started_at
    return CountKey(
        provider=detail.row.provider or "",
        model=detail.row.model or "",
        client=exchange.client or client_of(agent or ""),
        day=datetime.fromtimestamp(at, UTC).date().isoformat() if at is not None else "",
    )


class _BrokenCall(NamedTuple):
    """A call whose arguments cannot be used."""

    id: str | None
    name: str | None


class _Later:
    """Fate of a call in the requests and answers after it."""

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector
        self._next: dict[int, int] = {}
        last: dict[int | None, int] = {}
        for row in inspector.rows:
            before = last.get(row.conversation)
            if before is not None and row.conversation is not None:
                self._next[before] = row.index
            last[row.conversation] = row.index

    def after(self, index: int) -> Detail | None:
        """The next exchange of the conversation."""
        following = self._next.get(index)
        return self._inspector.detail(following) if following is not None else None


def _counts(detail: Detail, turn: TurnCost | None, later: _Later) -> Counts:
    request, answer = detail.decoded.request, detail.decoded.answer
    findings = detail.row.findings
    calls = [call for m in (answer.messages if answer else ()) for _, call in m.tool_calls()]
    unparsed = _places(findings, lambda f: f.rule.startswith("args.") and f.rule not in SCHEMA)
    unfit = _places(findings, lambda f: f.rule in SCHEMA)
    messages = request.messages if request else ()
    has_calls = any(True for m in messages for _ in m.tool_calls())
    has_answer = any(m.role in ("assistant", "model") for m in messages)
    status = detail.row.summary.status or 0
    broken = _broken_calls(detail, unparsed | unfit)
    fate = _count_consequences(broken, later.after(detail.row.index)) if broken else Counts()
    return fate + Counts(
        exchanges=1,
        refused=int(400 <= status < 500),
        calls=len(calls),
        parsed=max(0, len(calls) - len(unparsed)),
        fitting=max(0, len(calls) - len(unparsed | unfit)),
        text_calls=int(any(f.rule in ("text.unparsed-call", "text.malformed-call") for f in findings)),
        with_tools=int(bool(request and request.tools)),
        serial=int(bool(request and request.tools and request.parallel is False)),
        histories=int(has_calls),
        unclosed=int(has_calls and _has_error(findings, "closure.")),
        replays=int(has_answer),
        reasoning_errors=int(has_answer and _has_error(findings, "reasoning.")),
        prompt=turn.prompt if turn else 0,
        output=turn.output if turn else 0,
        cache_read=turn.cache_read if turn else 0,
        estimated=int(bool(turn and not turn.is_counted)),
        dollars=(turn.dollars or 0.0) if turn else 0.0,
    )


def _places(findings: Iterable[Finding], is_meant: Callable[[Finding], bool]) -> set[str]:
    """Calls of the answer that a finding is on: pointers cut back to the part they are in."""
    return {_call_of(f.pointer) for f in findings if f.side == RESPONSE and is_meant(f)}


def _call_of(pointer: str) -> str:
    """The part that a pointer is in: up to its last index."""
    steps = pointer.split("/")
    last = max((n for n, step in enumerate(steps) if step.isdecimal()), default=0)
    return "/".join(steps[: last + 1])


def _has_error(findings: Iterable[Finding], family: str) -> bool:
    return any(f.rule.startswith(family) and f.side == REQUEST and f.severity is Severity.ERROR for f in findings)


def _broken_calls(detail: Detail, places: set[str]) -> list[_BrokenCall]:
    answer = detail.decoded.answer
    found = []
    for message in answer.messages if answer else ():
        for _, call in message.tool_calls():
            if _call_of(message.absolute(call)) in places or any(p.startswith(message.absolute(call)) for p in places):
                found.append(_BrokenCall(call.id, call.name))
    return found


def _count_consequences(broken: list[_BrokenCall], after: Detail | None) -> Counts:
    """Fate of broken calls in the next exchange of the conversation: their results, and whether they were corrected."""
    if after is None or after.decoded.request is None:
        return Counts()
    results = {part.tool_call_id: part for m in after.decoded.request.messages for _, part in m.tool_results()}
    answer, findings = after.decoded.answer, after.row.findings
    wrong = _places(findings, lambda f: f.rule.startswith("args.") or f.rule in SCHEMA)
    usable = {
        call.name
        for m in (answer.messages if answer else ())
        for _, call in m.tool_calls()
        if _call_of(m.absolute(call)) not in wrong
    }
    result_parts = [results[b.id] for b in broken if b.id in results]
    blocked = sum(map(_is_error, result_parts))
    return Counts(
        broken=len(broken),
        repaired=sum(b.name in usable for b in broken),
        blocked=blocked,
        executed=len(result_parts) - blocked,
    )


def _is_error(result: ToolResultIR) -> bool:
    """The result says that the tool failed: by the protocol's flag, or in its first words."""
    if result.is_error is not None:
        return result.is_error
    text = next((getattr(p, "text", "") for p in result.content), "")
    return isinstance(text, str) and text.lstrip("{\"' ").lower().startswith(("error", "invalid", "failed"))
