from __future__ import annotations

import pytest

from workbench.wire.exchange import Origin


def use(call_id, **more):
    return {"type": "tool_use", "id": call_id, "name": "run", "input": {}, **more}


def result(call_id, content="ok"):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def text(words):
    return {"type": "text", "text": words}


def user(*content):
    return {"role": "user", "content": list(content) if not isinstance(content[0], str) else content[0]}


def assistant(*content):
    return {"role": "assistant", "content": list(content)}


GO = user("go")

ANTHROPIC = [
    ("closed", [GO, assistant(use("a"), use("b")), user(result("b"), result("a"), text("and?"))], []),
    (
        "results in two neighbouring messages",
        [GO, assistant(use("a"), use("b")), user(result("a")), user(result("b"))],
        [],
    ),
    ("open at the end", [GO, assistant(use("a"))], [("closure.missing-result", "error", "/messages/1/content/0")]),
    (
        "two calls, no result",
        [GO, assistant(text("both"), use("a"), use("b")), user("stop")],
        [
            ("closure.missing-result", "error", "/messages/1/content/1"),
            ("closure.missing-result", "error", "/messages/1/content/2"),
        ],
    ),
    (
        "one of two answered, later in the history",
        [
            GO,
            assistant(use("x")),
            user(result("x")),
            assistant(use("a"), use("b")),
            user(result("b")),
            assistant(text(".")),
        ],
        [("closure.missing-result", "error", "/messages/3/content/0")],
    ),
    (
        "result without a call",
        [user(result("lost"), text("go on"))],
        [("closure.orphan-result", "error", "/messages/0/content/0")],
    ),
    (
        "result again, a turn later",
        [GO, assistant(use("a")), user(result("a")), assistant(text("ok")), user(result("a"), text("more"))],
        [("closure.duplicate-result", "error", "/messages/4/content/0/tool_use_id")],
    ),
    (
        "call twice",
        [GO, assistant(use("a"), use("a")), user(result("a"))],
        [("closure.duplicate-id", "error", "/messages/1/content/1/id")],
    ),
    (
        "id used again in a later turn",
        [GO, assistant(use("a")), user(result("a")), assistant(use("a")), user(result("a"))],
        [("closure.duplicate-id", "warning", "/messages/3/content/0/id")],
    ),
    (
        "text before the result",
        [GO, assistant(use("a"), use("b")), user(text("hook"), result("a"), result("b"))],
        [("closure.result-not-first", "error", "/messages/2/content/0")],
    ),
    (
        "a turn between",
        [GO, assistant(use("a")), user("wait"), assistant(text("yes")), user(result("a"))],
        [("closure.not-adjacent", "error", "/messages/2")],
    ),
    (
        "call in a user message",
        [GO, assistant(text("ok")), user(use("a"), text("done"))],
        [("closure.wrong-role", "error", "/messages/2/content/0")],
    ),
    (
        "message of role tool",
        [GO, assistant(use("a")), {"role": "tool", "tool_call_id": "a", "content": "12"}],
        [("closure.wrong-role", "error", "/messages/2/role")],
    ),
    (
        "result in the turn of its call",
        [GO, assistant(use("a"), result("a")), user("next")],
        [("closure.wrong-role", "error", "/messages/1/content/1")],
    ),
    (
        "another id in the result",
        [GO, assistant(use("a")), user(result("b"))],
        [("closure.id-mismatch", "error", "/messages/2/content/0/tool_use_id")],
    ),
    (
        "server tools are not the client's to answer",
        [GO, assistant({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, text("."))],
        [],
    ),
]


@pytest.mark.parametrize(("messages", "expected"), [r[1:] for r in ANTHROPIC], ids=[r[0] for r in ANTHROPIC])
def test_anthropic(anthropic, messages, expected):
    found = [f for f in anthropic(messages) if f.rule.startswith("closure.")]
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected
    assert all(f.span for f in found)


def calls(*ids):
    made = [{"id": i, "type": "function", "function": {"name": "run", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def tool(call_id, content="ok"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


CHAT = [
    ("closed", [GO, calls("a", "b"), tool("b"), tool("a"), user("next")], []),
    ("ids used again in a later turn", [GO, calls("c:0"), tool("c:0"), calls("c:0"), tool("c:0")], []),
    (
        "one of two answered",
        [GO, calls("a", "b"), tool("a"), user("next")],
        [("closure.missing-result", "error", "/messages/1/tool_calls/1")],
    ),
    ("no call before", [GO, tool("a"), GO], [("closure.orphan-result", "error", "/messages/1")]),
    (
        "system message between",
        [GO, calls("a"), {"role": "system", "content": "note"}, tool("a")],
        [("closure.not-adjacent", "error", "/messages/2")],
    ),
    (
        "one message between, for two calls",
        [GO, calls("a", "b"), tool("a"), user("hm"), tool("b")],
        [("closure.not-adjacent", "error", "/messages/3")],
    ),
    (
        "id twice in one turn",
        [GO, calls("a", "a"), tool("a"), tool("a")],
        [("closure.duplicate-id", "error", "/messages/1/tool_calls/1/id")],
    ),
    (
        "two results",
        [GO, calls("a"), tool("a"), tool("a")],
        [("closure.duplicate-result", "error", "/messages/3/tool_call_id")],
    ),
    (
        "result as a block of another protocol",
        [GO, calls("a"), {"role": "user", "content": [result("a")]}],
        [("closure.wrong-role", "error", "/messages/2/content/0")],
    ),
    (
        "another id in the result",
        [GO, calls("a", "b"), tool("a"), tool("c")],
        [("closure.id-mismatch", "error", "/messages/3/tool_call_id")],
    ),
]


@pytest.mark.parametrize(("messages", "expected"), [r[1:] for r in CHAT], ids=[r[0] for r in CHAT])
def test_chat(chat, messages, expected):
    found = [f for f in chat(messages) if f.rule.startswith("closure.")]
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


GENERIC = [
    ("a message between may pass", [GO, calls("a"), user("hm"), tool("a")], [("closure.not-adjacent", "warning")]),
    ("no result", [GO, calls("a"), user("hm")], [("closure.missing-result", "error")]),
    ("no call", [GO, tool("a")], [("closure.orphan-result", "error")]),
    ("one id twice", [GO, calls("a", "a"), tool("a"), tool("a")], [("closure.duplicate-id", "error")]),
]


@pytest.mark.parametrize(("messages", "expected"), [r[1:] for r in GENERIC], ids=[r[0] for r in GENERIC])
def test_without_a_provider(chat, messages, expected):
    assert [(f.rule, f.severity) for f in chat(messages, provider="generic")] == expected


def test_a_request_that_was_refused_with_an_open_call_lacks_the_result(anthropic):
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "`tool_use` ids were found"}}
    (finding,) = anthropic([GO, assistant(use("a"))], error, status=400)
    assert finding.rule == "closure.missing-result"
    assert "immediately after" in finding.refusal


def test_an_open_call_is_pending_until_the_conversation_goes_on(inspect):
    answer = {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [use("toolu_one")],
        "stop_reason": "tool_use",
    }
    first = {"model": "m", "max_tokens": 1, "tools": [{"name": "run", "input_schema": {}}], "messages": [GO]}
    then = {**first, "messages": [GO, assistant(use("toolu_one")), user(result("toolu_one"))]}
    assert [f.rule for f in inspect(first, answer, protocol="anthropic-messages")] == ["closure.pending"]
    assert not inspect([(first, answer), (then, None)], protocol="anthropic-messages")


def test_the_call_is_related_to_its_second_result(chat):
    (finding,) = chat([GO, calls("a"), tool("a"), tool("a")])
    assert finding.related == ("/messages/1/tool_calls/0", "/messages/2", "/messages/3")
    assert finding.source and finding.refusal


def test_a_transcript_is_judged_like_a_request(anthropic):
    found = anthropic([GO, assistant(use("a")), user("stop")], origin=Origin.RECONSTRUCTED)
    assert [f.rule for f in found] == ["closure.missing-result"]


NAMELESS = {"type": "tool_use", "name": "run", "input": {}}


def test_a_call_without_an_id_is_called_so(anthropic):
    found = anthropic([GO, {"role": "assistant", "content": [NAMELESS]}, GO])
    said = [f.message for f in found if f.rule == "closure.missing-result"]
    assert said == ["the tool call without an id (run) has no tool result in the next message"]


def test_results_without_an_id_are_called_so(anthropic):
    result = {"type": "tool_result", "content": "ok"}
    found = anthropic([GO, {"role": "assistant", "content": "hm"}, {"role": "user", "content": [result]}])
    assert not [f for f in found if "None" in f.message]
    assert [f.message for f in found if f.rule == "closure.orphan-result"]


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
def test_calls_that_the_provider_runs_are_no_findings(anthropic, kind):
    call = {"type": kind, "id": "srvtoolu_1", "name": "web_search", "input": {}}
    turns = [GO, {"role": "assistant", "content": [call]}]
    assert not [f for f in anthropic(turns) if f.rule.startswith("closure.")]


@pytest.mark.parametrize(
    ("history", "evidence"),
    [
        (
            [GO, assistant(use("a")), user("stop")],
            "message 3 (/messages/2) follows, but does not contain the tool result",
        ),
        (
            [GO, assistant(use("a")), user(text("first"), result("a"))],
            "answered by message 3 (/messages/2), message 3 has other content before the result",
        ),
    ],
)
def test_what_is_seen_names_messages_from_one_and_by_their_pointers(anthropic, history, evidence):
    assert [f.evidence for f in anthropic(history)] == [evidence]
