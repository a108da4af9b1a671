"""Minimising faults planted in sessions of 500 messages: calls of the target, bytes left, the edit offered first, time.

Sessions are made with the simulator of each contract, in each protocol named below, streaming and not, with 40 tools;
every kind of fault is planted in the middle of the last request, where the contract then refuses it or finds it
suspicious. Times are wall seconds of the local search, without the calls. ``python -m benchmarks.minimize LABEL…``
takes those contracts alone.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple
from unittest.mock import patch

from workbench import protocols
from workbench.edits import with_body
from workbench.edits.planted_faults import FAULTS
from workbench.edits.planted_faults import HealthyRequest as Body
from workbench.probes.selftest import healthy
from workbench.rules.inspection import Inspector
from workbench.send.sending import Sender
from workbench.send.target_names import resolve
from workbench.simulator import Dials, ScriptedModel, Simulator
from workbench.trials.minimize import MinimizeRun, TargetVerdict, target_verdict
from workbench.wire.exchange import Exchange
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import MemorySession

MESSAGES = 500
TOOLS = 40
WAYS = 40
"""Ways to plant a fault that are made; the one in the middle counts."""

SETS = (
    ("anthropic", "anthropic-messages"),
    ("openai", "openai-chat"),
    ("openai", "openai-responses"),
    ("gemini", "gemini"),
    ("deepseek", "openai-chat"),
    ("mistral", "openai-chat"),
    ("kimi", "openai-chat"),
    ("minimax", "anthropic-messages"),
)
LISTS = ("messages", "input", "contents")


class Row(NamedTuple):
    """What came of one fault."""

    name: str
    before: int
    after: int
    calls: int
    checks: int
    seconds: float
    is_minimal: bool
    is_inverse: bool
    edits: int


def long_session(label: str, protocol: str, *, stream: bool, messages: int = MESSAGES) -> list[Exchange]:
    """A healthy session whose last request has that many messages, and 40 tools."""
    made = list[Exchange]()
    first = healthy._first_model_request

    def many_tools(*args: Any, **named: Any) -> Any:
        request = first(*args, **named)
        more = (replace(request.tools[0], name=f"tool_{n}") for n in range(TOOLS - len(request.tools)))
        return replace(request, tools=(*request.tools, *more))

    with patch.multiple(healthy, QUESTIONS=healthy.QUESTIONS * messages, MOST_STEPS=messages, _first=many_tools):
        simulator = Simulator(label, model=ScriptedModel(Dials(parallel=2)))
        for exchange in healthy._conversation(simulator, protocols.get(protocol), stream=stream):
            made.append(exchange)
            assert exchange.request
            if _length(loads(exchange.request.body.raw)) >= messages:
                break
    return made


def _length(body: Any) -> int:
    return max(len(body.get(key, ())) for key in LISTS)


def planted(asked: Body, needs: Any) -> Iterator[tuple[str, Any]]:
    """(name, body) of every fault: those of the self-test, and some of our own."""
    for fault in FAULTS:
        ways = list(islice(fault.plant(asked), WAYS)) if fault.needs(needs) else []
        if ways:
            yield fault.name, ways[len(ways) // 2].body
    yield from _own(asked)


def _own(asked: Body) -> Iterator[tuple[str, Any]]:
    body = asked.fresh()
    body["no_such_parameter"] = {"a": 1}
    yield "an unknown parameter", body
    body = asked.fresh()
    body["temperature"] = 99
    yield "a parameter out of range", body
    for keyword in ({"$ref": "#/nowhere"}, {"type": "strng"}, {"additionalProperties": {"not": {}}, "$schema": 1}):
        body = asked.fresh()
        holder = body["tools"][-1 if len(body["tools"]) > 1 else 0]
        schema = _schema(holder)
        if schema is not None:
            schema["properties"]["path"] = {**schema["properties"]["path"], **keyword}
            yield f"a schema keyword, {next(iter(keyword))}", body
    body = asked.fresh()
    key = next(k for k in LISTS if k in body)
    asks = [n for n, m in enumerate(body[key]) if m.get("role") == "user" and isinstance(m.get("content"), str)]
    if asks:
        body[key][asks[len(asks) // 2]]["content"] = ""
        yield "an empty message", body
    body = asked.fresh()
    middle = len(body[key]) // 2
    body[key][middle], body[key][middle + 1] = body[key][middle + 1], body[key][middle]
    yield "two messages swapped", body
    signed = [node for node in asked.reasoning if node.field("signature")]
    if signed:
        from workbench.edits.planted_faults import put, value_in

        body = asked.fresh()
        pointer = signed[len(signed) // 2].field("signature")
        put(body, pointer, value_in(body, pointer)[:-8] + "AAAAAAA=")
        yield "a signature spoiled", body


def _schema(value: Any) -> Any:
    """The innermost schema with properties in a declaration."""
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict):
            return value
        return next((s for s in (_schema(v) for v in value.values()) if s), None)
    return _schema(value[-1]) if isinstance(value, list) and value else None


async def minimised(name: str, session: MemorySession, label: str, good: Any) -> Row | None:
    """One fault in the last request of a session; None where it does not fail."""
    inspector, index = Inspector(session, provider=label), len(session) - 1
    inspector.detail(index)
    course = MinimizeRun(inspector, index, resolve(f"sim:{label}"))
    steps, reply, away = course.run(), None, 0.0
    began = time.perf_counter()
    before = MemorySession(session.name, tuple(session.exchange(n) for n in range(index)))
    async with Sender(known=before) as sender:
        while True:
            try:
                wanted = steps.send(reply)
            except StopIteration:
                break
            reply = None
            if wanted is not None:
                left = time.perf_counter()
                reply = await _asked(sender, course, wanted)
                away += time.perf_counter() - left
    result = course.result()
    if result.failure is None:
        return None
    spent = time.perf_counter() - began - away
    is_inverse = bool(course.fixes) and loads(course.fixes[0].text) == good
    sizes = len(result.original), len(result.text)
    return Row(name, *sizes, course.calls, result.checks, spent, result.is_minimal, is_inverse, len(course.fixes))


async def _asked(sender: Sender, course: MinimizeRun, body: bytes) -> TargetVerdict:
    outgoing = replace(course.outgoing, request=course.with_body(body))
    return target_verdict(await sender.send(outgoing), course.outgoing.protocol)


def rows_of(label: str, protocol: str, *, stream: bool) -> Iterator[Row]:
    """Every fault of one set."""
    made = long_session(label, protocol, stream=stream)
    last = made[-1]
    assert last.request
    inspector = Inspector(MemorySession("healthy", tuple(made)), provider=label)
    detail = inspector.detail(len(made) - 1)
    owed = frozenset(e.message for e in detail.ledger.entries if e.owed and e.message is not None)
    good = loads(last.request.body.raw)
    for name, body in planted(Body(detail.decoded, owed), detail.contract):
        bad = replace(last, request=with_body(last.request, dumps(body)), response=None)
        row = asyncio.run(minimised(name, MemorySession("broken", (*made[:-1], bad)), label, good))
        if row:
            yield row


def main(wanted: Sequence[str] = ()) -> None:
    """Print the figures. ``wanted``: contracts, none for all."""
    every = list[Row]()
    for label, protocol in SETS:
        for stream in (False, True) if not wanted or label in wanted else ():
            print(f"minimize: {label}, {protocol}{', streamed' if stream else ''}, {MESSAGES} messages, {TOOLS} tools")
            for row in rows_of(label, protocol, stream=stream):
                every.append(row)
                gone = 100 * (1 - row.after / row.before)
                minimal = "" if row.is_minimal else ", not minimal"
                first = "inverse first" if row.is_inverse else f"of {row.edits} edits the inverse is not first"
                print(
                    f"  {row.name:<38} {row.before:>7,} → {row.after:>5,} bytes, {gone:.1f} % gone, "
                    f"{row.calls:>3} calls, {row.checks:>4} checks, {row.seconds:.1f} s, {first}{minimal}",
                    flush=True,
                )
    if every:
        least = min(1 - row.after / row.before for row in every)
        print(
            f"minimize: {len(every)} faults: at least {100 * least:.1f} % gone, "
            f"at most {max(r.calls for r in every)} calls and {max(r.seconds for r in every):.1f} s; "
            f"{sum(r.is_minimal for r in every)} minimal, the inverse first {sum(r.is_inverse for r in every)} times"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
