from __future__ import annotations

import pytest

from workbench import protocols
from workbench.ir import Message, ModelResponse, Usage
from workbench.rules import content
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

GO = {"role": "user", "content": "go"}


def assistant(*texts):
    return {"role": "assistant", "content": [{"type": "text", "text": t} for t in texts]}


OLD, NEW = "claude-sonnet-4-5", "claude-sonnet-4-6"

ANTHROPIC = [
    ("prefill of an old model", OLD, [GO, assistant("{")], []),
    ("prefill of a new model", NEW, [GO, assistant("{")], [("content.assistant-last", "error", "/messages/1")]),
    (
        "whitespace at the end",
        OLD,
        [GO, assistant("a ")],
        [("content.trailing-whitespace", "error", "/messages/1/content/0/text")],
    ),
    ("whitespace, refused anyway", NEW, [GO, assistant("a ")], [("content.assistant-last", "error", "/messages/1")]),
    ("whitespace before the end", OLD, [GO, assistant("a "), GO], []),
    ("empty block", OLD, [GO, assistant("", "a"), GO], [("content.empty", "error", "/messages/1/content/0")]),
    ("blank block", OLD, [GO, assistant(" \n"), GO], [("content.empty", "error", "/messages/1/content/0")]),
    ("blank block beside another, as answers have it", OLD, [GO, assistant("a", " \n"), GO], []),
    ("empty message", OLD, [GO, {"role": "assistant", "content": ""}, GO], [("content.empty", "error", "/messages/1")]),
    (
        "empty list",
        OLD,
        [{"role": "user", "content": []}, assistant("a"), GO],
        [("content.empty", "error", "/messages/0")],
    ),
    ("empty message at the end", OLD, [GO, {"role": "assistant", "content": []}], []),
    (
        "paused by a server tool",
        NEW,
        [
            GO,
            {
                "role": "assistant",
                "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}],
            },
        ],
        [],
    ),
    (
        "system message before a user message",
        NEW,
        [GO, {"role": "system", "content": "x"}, GO],
        [("content.system-position", "error", "/messages/1")],
    ),
    ("system message at the end", NEW, [GO, {"role": "system", "content": "x"}], []),
]


@pytest.mark.parametrize(("model", "messages", "expected"), [r[1:] for r in ANTHROPIC], ids=[r[0] for r in ANTHROPIC])
def test_anthropic(anthropic, model, messages, expected):
    assert [(f.rule, f.severity, f.pointer) for f in anthropic(messages, model=model)] == expected


def test_without_a_provider_nothing_of_it_matters(anthropic):
    assert not anthropic([GO, assistant("", "a ")], provider="generic")


CALL = {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}

CHAT = [
    (
        "null without calls",
        [GO, {"role": "assistant", "content": None}, GO],
        [("content.empty", "error", "/messages/1")],
    ),
    (
        "null beside calls",
        [
            GO,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": ""},
        ],
        [],
    ),
    ("empty string", [GO, {"role": "assistant", "content": ""}, GO], []),
    (
        "null as a result",
        [
            GO,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": None},
        ],
        [("content.empty", "error", "/messages/2/content")],
    ),
]


@pytest.mark.parametrize(("messages", "expected"), [r[1:] for r in CHAT], ids=[r[0] for r in CHAT])
def test_chat(chat, messages, expected):
    found = [f for f in chat(messages) if f.severity == "error"]
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def test_the_refusal_of_one_shape_is_no_refusal_of_another(chat):
    found = chat([GO, {"role": "user", "content": None}], provider="deepseek:v3.2", model="deepseek-v3.2")
    assert [(f.rule, f.severity, f.refusal) for f in found] == [("content.shape", "warning", "")]


def message(content, reason="end_turn"):
    counts = {"input_tokens": 9, "output_tokens": 9}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "usage": counts}
    return head | {"content": content, "stop_reason": reason, "stop_sequence": None}


THINKING = {"type": "thinking", "thinking": "hm", "signature": "EqQB"}
SILENT = [
    ("reasoning and nothing else", message([THINKING]), "contains only reasoning"),
    ("reasoning, blank text", message([THINKING, {"type": "text", "text": "\n"}]), "contains only reasoning"),
    ("cut while thinking", message([THINKING], "max_tokens"), "the output limit was reached"),
    ("empty", message([]), "the response is empty"),
]


@pytest.mark.parametrize(("answer", "words"), [r[1:] for r in SILENT], ids=[r[0] for r in SILENT])
def test_an_answer_that_says_nothing_says_so(anthropic, answer, words):
    (finding,) = anthropic(None, answer)
    assert (finding.rule, finding.severity, finding.side) == ("content.empty", "warning", "response")
    assert words in finding.message


@pytest.mark.parametrize(
    "answer", [message([THINKING, {"type": "text", "text": "yes"}]), message([], "refusal")], ids=["text", "refusal"]
)
def test_an_answer_that_says_something(anthropic, answer):
    assert not anthropic(None, answer)


def test_media_in_a_result(chat):
    sound = {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
    messages = [
        GO,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}, sound]},
    ]
    found = {(finding.rule, finding.pointer) for finding in chat(messages)}
    at = "/messages/2/content/1"
    assert found == {("content.image-in-result", at), ("content.unsupported-part", at)}  # this model hears nothing, too


RESULT = {"role": "tool", "tool_call_id": "a"}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
LISTED = [{"type": "text", "text": "x"}]
MARKED = {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}
SHAPES = [
    ("strings only", "content.shape", "array-content", [{"role": "user", "content": LISTED}], ["/messages/0/content"]),
    ("strings", "content.shape", "array-content", [GO], []),
    ("strings in results only", "content.shape", "result-content",
     [{"role": "user", "content": LISTED}, ASKS, {**RESULT, "content": LISTED}], ["/messages/2/content"]),
    ("nothing, marked", "content.empty", "cached", [{"role": "user", "content": [MARKED, *LISTED]}],
     ["/messages/0/content/0"]),
    ("nothing", "content.empty", "cached", [{"role": "user", "content": [{**MARKED, "cache_control": None}]}], []),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "when", "messages", "expected"), [r[1:] for r in SHAPES], ids=[r[0] for r in SHAPES])
def test_shapes_that_some_providers_refuse(under, rule, when, messages, expected):
    found = under(content, {}, [(rule, "at {message}", when)], {"model": "m", "messages": messages})
    assert [(f.rule, f.pointer) for f in found] == [(rule, pointer) for pointer in expected]
    assert not under(content, {}, [(rule, "at {message}", "another")], {"model": "m", "messages": messages})


def test_a_failure_without_a_word(under):
    failed = {"toolUseId": "a", "status": "error", "content": []}
    body = {"messages": [{"role": "user", "content": [{"toolResult": failed}]}]}
    (finding,) = under(content, {}, [("content.empty", "empty", "empty-error")], body, protocol="bedrock-converse")
    assert finding.pointer == "/messages/0/content/0"


ENDS = [
    ("an answer that was begun", {"content": "{"}, {}, ["/messages/1"]),
    ("one that says so", {"content": "{", "prefix": True}, {}, []),
    ("open calls", {"content": None, "tool_calls": [CALL]}, {}, []),
    ("open calls where they are refused", {"content": None, "tool_calls": [CALL]}, {"closure.open-at-end": "refused"},
     ["/messages/1"]),
]  # fmt: skip


@pytest.mark.parametrize(("last", "terms", "expected"), [r[1:] for r in ENDS], ids=[r[0] for r in ENDS])
def test_the_end_of_a_conversation(under, last, terms, expected):
    body = {"model": "m", "messages": [GO, {"role": "assistant", **last}]}
    found = under(content, terms, [("content.assistant-last", "not at the end")], body)
    assert [f.pointer for f in found] == expected


@pytest.mark.parametrize("value", ["", [], None])
def test_only_answers_may_not_be_empty(under, value):
    messages = [{"role": role, "content": value} for role in ("user", "assistant", "user")]
    found = under(content, {}, [("content.empty", "no answer", "empty-assistant")], {"messages": messages})
    assert [f.pointer for f in found if f.check] == ["/messages/1"]


@pytest.mark.parametrize("form", ["whole", "streamed"])
@pytest.mark.parametrize("protocol", protocols.protocols())
def test_an_answer_without_content_is_found_in_every_protocol(protocol, form):
    adapter = protocols.get(protocol)
    usage, silent = Usage(input=1, output=0), (Message("assistant", ()),)
    nothing = ModelResponse(
        protocol, id="a", model="m", messages=silent, finish_reason="stop", stop="stop", usage=usage
    )
    body = adapter.write_stream(nothing) if form == "streamed" else dumps(adapter.write_response(nothing))
    exchange = Exchange("1", None, HttpResponse(200, body=Body(body)))
    result = Inspector(MemorySession("a", (exchange,)), protocol=protocol).run()
    assert "content.empty" in {f.rule for f in result.findings}
