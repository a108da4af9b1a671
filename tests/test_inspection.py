from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import SessionFormatError
from workbench.inspection import DETAILS_KEPT, Inspector
from workbench.rules import FAILED
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.session import MemorySession

ANTHROPIC, CHAT = "https://api.anthropic.com/v1/messages", "https://api.deepseek.com/chat/completions"
TOOLS = [{"name": "ls", "input_schema": {"type": "object"}}]


def exchange(number, url, request, response=None, status=200, **more):
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    answer = None
    if response is not None:
        answer = HttpResponse(
            status, Headers((("content-type", "application/json"),)), Body(json.dumps(response).encode())
        )
    return Exchange(f"e{number}", HttpRequest(url=url, body=Body(body)), answer, **more)


def ask(*messages, **more):
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": TOOLS, "messages": list(messages), **more}


def said(*blocks, reason="end_turn"):
    return {
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(blocks),
        "stop_reason": reason,
    }


GO = {"role": "user", "content": "list the folder"}
USE = {"type": "tool_use", "id": "toolu_abcdefgh12345678", "name": "ls", "input": {}}
CALL = {"role": "assistant", "content": [USE]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": USE["id"], "content": "a b"}]}
FIRST = exchange(1, ANTHROPIC, ask(GO), said(USE, reason="tool_use"))
SECOND = exchange(2, ANTHROPIC, ask(GO, CALL, RESULT), said({"type": "text", "text": "two files"}))
BROKEN = exchange(3, ANTHROPIC, ask(GO, CALL, {"role": "user", "content": "stop"}))
OTHER = exchange(4, "https://example.org/health", b"")


def inspect(*exchanges, **more):
    return Inspector(MemorySession("test", exchanges), **more)


def test_a_row_says_what_the_list_shows():
    first, second, other = inspect(FIRST, SECOND, OTHER).run().rows
    assert (first.protocol, first.provider, first.model) == ("anthropic-messages", "anthropic", "claude-sonnet-4-5")
    assert "api.anthropic.com" in first.provider_from
    assert (first.calls, first.finish_reason, first.has_reasoning) == (("ls",), "tool_use", False)
    assert first.conversation == second.conversation == 0
    assert (other.protocol, other.provider, other.conversation) == (None, None, None)
    assert other.protocol_from


def test_findings_are_in_order_of_exchanges():
    result = inspect(BROKEN, SECOND, BROKEN).run()
    assert [(f.exchange, f.rule) for f in result.findings] == [
        (0, "closure.missing-result"),
        (2, "closure.missing-result"),
    ]


def test_steps_go_on_when_the_session_has_grown():
    session = MemorySession("growing", (FIRST,))
    inspector = Inspector(session)
    assert [r.index for r in inspector.steps()] == [0]
    assert [f.rule for f in inspector.rows[0].findings] == ["closure.pending"]
    session.exchanges = (FIRST, SECOND)
    assert [r.index for r in inspector.steps()] == [1]
    assert not inspector.rows[0].findings
    assert not list(inspector.steps())


def test_detail_knows_what_came_before_and_not_after():
    inspector = inspect(FIRST, SECOND, BROKEN)
    detail = inspector.detail(1)
    assert detail.row.index == 1 and len(inspector.rows) == 2
    assert [line.state for line in detail.closure.lines] == ["closed"]
    inspector.run()
    assert inspector.detail(0).row is inspector.rows[0]
    assert [line.state for line in inspector.detail(0).closure.lines] == ["pending"]
    with pytest.raises(IndexError):
        inspector.detail(3)


def test_few_details_are_kept():
    inspector = inspect(*[FIRST] * (DETAILS_KEPT + 3))
    for n in range(DETAILS_KEPT + 3):
        inspector.detail(n)
    assert len(inspector._details) == DETAILS_KEPT


PROVIDERS = [
    ("anthropic", "anthropic", "as asked"),
    ("deepseek:v3.2", "deepseek:v3.2", "as asked"),
    ("kimi", "generic", "no contract yet"),
    ("openai", "openai", "does not cover"),
]


@pytest.mark.parametrize(("asked", "label", "how"), PROVIDERS)
def test_a_provider_that_was_asked_for(asked, label, how):
    (row,) = inspect(FIRST, provider=asked).run().rows
    assert row.provider == label
    assert how in row.provider_from


def test_what_cannot_be_decoded_is_a_problem_of_its_row():
    row, good = inspect(exchange(1, ANTHROPIC, b"{"), SECOND).run().rows
    assert row.problems and row.protocol == "anthropic-messages"
    assert not good.problems


def test_what_cannot_be_read_is_a_problem_of_its_row():
    class Torn(MemorySession):
        def exchange(self, index):
            if index == 0:
                raise SessionFormatError("piece 3 is missing", where="exchange 1")
            return super().exchange(index)

    torn, good = Inspector(Torn("torn", (FIRST, SECOND))).run().rows
    assert torn.problems == ("exchange 1: piece 3 is missing",)
    assert good.conversation == 0


def test_an_interleaved_title_request_gives_no_finding():
    title = exchange(
        9,
        ANTHROPIC,
        {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Title?"}]},
    )
    result = inspect(FIRST, title, SECOND).run()
    assert [r.conversation for r in result.rows] == [0, 1, 0]
    assert not result.findings


def test_reasoning_is_followed_across_exchanges():
    call = {"id": "call_00_abcdefghijklmnop", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "reasoning_content": "List it.", "tool_calls": [call]}
    answer = {"model": "deepseek-v4-pro", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    bare = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "a"}
    request = {"model": "deepseek-v4-pro", "messages": [GO]}
    first = exchange(1, CHAT, request, answer)
    second = exchange(
        2, CHAT, {**request, "messages": [GO, bare, result]}, {"error": {"message": "must be passed back"}}, 400
    )
    (finding,) = [f for f in inspect(first, second).run().findings if f.severity == "error"]
    assert (finding.exchange, finding.rule, finding.pointer) == (1, "reasoning.missing", "/messages/1")
    assert "exchange 1" in finding.evidence


def test_the_tools_of_a_thread_that_the_server_holds_are_those_of_its_last_request():
    thread = {"thread": {"previous_message_id": "msg_1"}}
    first = exchange(1, ANTHROPIC, ask(GO), {**said(USE, reason="tool_use"), "id": "msg_1"})
    odd = {**USE, "id": "toolu_zyxwvuts87654321", "input": []}
    second = ask(RESULT, **thread)
    del second["tools"]
    again = exchange(2, ANTHROPIC, second, said({**odd, "input": {}}, reason="tool_use"))
    result = inspect(first, again).run()
    assert [r.conversation for r in result.rows] == [0, 0]
    assert [f.rule for f in result.findings] == ["closure.pending"]


def test_a_rebuilt_transcript_is_not_blamed_for_what_it_does_not_hold():
    request = {"model": "claude-fable-5", "messages": [GO, CALL, RESULT]}
    rebuilt = exchange(1, ANTHROPIC, request, said(USE, reason="tool_use"), origin=Origin.RECONSTRUCTED)
    assert {f.severity for f in inspect(rebuilt).run().findings} <= {"info", "warning"}


NAMES = """role content type text id tool_use_id tool_call_id tool_calls function name arguments input thinking
    signature reasoning_content reasoning_details source data is_error"""
KEYS = st.sampled_from(NAMES.split())
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from(["", " ", "a", "assistant", "tool", "\ud83d", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
TYPES = st.sampled_from(
    ["text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "server_tool_use"]
)
BLOCK = st.fixed_dictionaries(
    {"type": TYPES}, optional={k: JSON for k in ("id", "tool_use_id", "input", "content", "text")}
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "function"])
MESSAGE = st.fixed_dictionaries({"role": ROLES, "content": JSON | st.lists(BLOCK, max_size=3)}, optional={
    "tool_calls": st.lists(JSON, max_size=2), "tool_call_id": JSON, "reasoning_content": JSON})  # fmt: skip


@given(
    st.lists(MESSAGE | JSON, max_size=5), JSON, JSON, st.sampled_from(["anthropic", "openai", "deepseek", "generic"])
)
@settings(max_examples=150, deadline=None)
def test_no_traffic_breaks_a_rule(messages, tools, answer, provider):
    url = ANTHROPIC if provider == "anthropic" else CHAT
    request = {"model": "m", "thinking": {"type": "enabled"}, "messages": messages, "tools": tools}
    choice = {"choices": [{"message": answer, "finish_reason": "stop"}], "content": [answer]}
    result = inspect(exchange(1, url, request, choice), exchange(2, url, request), provider=provider).run()
    assert not [f for f in result.findings if f.rule == FAILED]
    assert all(f.span is None or 0 <= f.span[0] <= f.span[1] for f in result.findings)
