"""Legal conversations with one fault: a repair is found, and it touches what it has to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from workbench import protocols, testing
from workbench.contracts import Verdict
from workbench.edits import repairs
from workbench.ir import Message, ModelRequest, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import MemorySession

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

PROVIDERS = {
    "anthropic-messages": ("anthropic", "claude-sonnet-4-5"),
    "openai-chat": ("deepseek", "deepseek-chat"),
    "openai-responses": ("openai", "gpt-4.1"),
    "gemini": ("gemini", "gemini-2.5-flash"),
    "gemini-interactions": ("gemini-interactions", "gemini-2.5-flash"),
    "bedrock-converse": ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    "bedrock-invoke": ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    "ollama": ("generic", "qwen3:8b"),
    "cohere-v2": ("generic", "command-a"),
}
TOOL = ToolDef("read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}})


@st.composite
def conversations(draw: DrawFn) -> ModelRequest:
    """A few questions, each answered by calls with results and a text: legal everywhere."""
    messages, number = list[Message](), 0
    for _ in range(draw(st.integers(1, 3))):
        messages.append(Message("user", (Text(draw(testing.texts())),)))
        calls = []
        for _ in range(draw(st.integers(1, 3))):
            number += 1
            path = draw(testing.texts())
            calls.append(ToolCallIR(f"call_{number:08d}", "read", {"path": path}, "function"))
        messages.append(Message("assistant", tuple(calls)))
        results = (ToolResultIR(c.id, (Text(draw(testing.texts())),), name="read") for c in calls)
        messages.append(Message("tool", tuple(results)))
        messages.append(Message("assistant", (Text(draw(testing.texts()).strip() or "."),)))
    messages.append(Message("user", (Text("and now?"),)))
    return ModelRequest("", None, tuple(messages), tools=(TOOL,), params={"max_tokens": 64})


def body(protocol: str, request: ModelRequest, indent: int | None) -> bytes:
    """The request as a protocol writes it."""
    import json

    adapter = protocols.get(protocol)
    able = adapter.capabilities

    def fitted(part):
        if isinstance(part, ToolCallIR) and able.tools.arguments == "string":
            return replace(part, raw=dumps(part.input).decode())
        if isinstance(part, ToolResultIR) and not able.tools.result_names:
            return replace(part, name=None)
        return part

    messages = tuple(replace(m, parts=tuple(map(fitted, m.parts))) for m in request.messages)
    params = request.params if "max_tokens" in able.request.params else {}
    model = PROVIDERS[protocol][1]
    made = adapter.write_request(replace(request, protocol=protocol, model=model, messages=messages, params=params))
    return json.dumps(made, indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass")


def inspector(protocol: str, text: bytes) -> Inspector:
    session = MemorySession("test", (Exchange("1", HttpRequest(body=Body(text))),))
    return Inspector(session, provider=PROVIDERS[protocol][0], protocol=protocol)


def _turn(request: ModelRequest, turn: int) -> tuple[int, Message, Message]:
    """(index, calls, results) of one of its turns with calls."""
    places = [n for n, m in enumerate(request.messages) if m.role == "tool"]
    at = places[turn % len(places)]
    return at, request.messages[at - 1], request.messages[at]


def _put(request: ModelRequest, at: int, *messages: Message, size: int = 1) -> ModelRequest:
    return replace(request, messages=(*request.messages[:at], *messages, *request.messages[at + size :]))


def lost(request: ModelRequest, turn: int) -> ModelRequest:
    at, _, results = _turn(request, turn)
    return _put(request, at, *([replace(results, parts=results.parts[1:])] if results.parts[1:] else []))


def twice(request: ModelRequest, turn: int) -> ModelRequest:
    at, _, results = _turn(request, turn)
    return _put(request, at, replace(results, parts=(*results.parts, results.parts[0])))


def misnamed(request: ModelRequest, turn: int) -> ModelRequest:
    at, _, results = _turn(request, turn)
    return _put(
        request, at, replace(results, parts=(replace(results.parts[0], tool_call_id="call_x"), *results.parts[1:]))
    )


def interrupted(request: ModelRequest, turn: int) -> ModelRequest:
    at, _, results = _turn(request, turn)
    return _put(request, at, Message("user", (Text("wait"),)), results)


def orphaned(request: ModelRequest, turn: int) -> ModelRequest:
    at, _, _ = _turn(request, turn)
    return _put(request, at - 1, size=1)


def same_id(request: ModelRequest, turn: int) -> ModelRequest:
    at, calls, results = _turn(request, turn)
    assume(len(calls.parts) > 1)
    first = calls.parts[0].id
    parts = (calls.parts[0], replace(calls.parts[1], id=first), *calls.parts[2:])
    answers = (results.parts[0], replace(results.parts[1], tool_call_id=first), *results.parts[2:])
    return _put(request, at - 1, replace(calls, parts=parts), replace(results, parts=answers), size=2)


FAULTS: tuple[Callable[[ModelRequest, int], ModelRequest], ...] = (
    lost, twice, misnamed, interrupted, orphaned, same_id
)  # fmt: skip


@pytest.mark.parametrize("protocol", PROVIDERS)
@settings(max_examples=4)
@given(conversations(), st.sampled_from(FAULTS), st.integers(0, 2), st.sampled_from((None, 2)))
def test_one_fault_is_repaired(protocol, request, fault, turn, indent) -> None:
    legal = inspector(protocol, body(protocol, request, indent))
    assert not [f for f in legal.run().findings if repairs.is_repairable(f)]
    text = body(protocol, fault(request, turn), indent)
    broken = inspector(protocol, text)
    if not any(map(repairs.is_repairable, broken.run().findings)):
        return  # without ids, or where results may stand anywhere, this is no fault
    fixed = repairs.fix(broken, 0)
    assert fixed.after in (Verdict.ACCEPTS, Verdict.UNKNOWN), (fixed.remaining, text)
    made = fixed.request.body.raw
    assert_touched_little(text, made, indent)


@pytest.mark.parametrize("protocol", PROVIDERS)
@settings(max_examples=4)
@given(conversations(), st.sampled_from((misnamed, twice)), st.sampled_from((interrupted, lost)), st.integers(0, 2))
def test_two_faults_at_one_place_are_repaired(protocol, request, first, second, turn) -> None:
    """Whatever else fails, the conversation can end before the damage."""
    broken = inspector(protocol, body(protocol, second(first(request, turn), turn), None))
    broken.run()
    assert repairs.fix(broken, 0).after in (Verdict.ACCEPTS, Verdict.UNKNOWN)


def assert_touched_little(text: bytes, made: bytes, indent: int | None) -> None:
    """Messages far from the fault are the same bytes, and the layout is that of the writer."""
    import json

    assert json.dumps(loads(made), indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass") == made
    before, after = loads(text), loads(made)
    key = next(k for k in ("messages", "contents", "input") if k in before)
    assert {k: v for k, v in before.items() if k != key} == {k: v for k, v in after.items() if k != key}
    untouched = [m for m in after[key] if m in before[key]]
    assert len(untouched) >= min(len(before[key]), len(after[key])) - 4
