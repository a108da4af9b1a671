"""Half a call and half a text of an attempt that failed, in the answer that came in its place."""

from __future__ import annotations

import pytest

GO = {"role": "user", "content": "write"}
STALE = "retry.stale-partial"
WHOLE = '{"to": "a@e.org", "body": "hi"}'


def call(name, arguments, tool="send_mail"):
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}


def result(name, content="sent"):
    return {"role": "tool", "tool_call_id": name, "content": content}


def turn(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


OLD, NEW = call("c_old", '{"to": "a@e'), call("c_new", WHOLE)
LONG = "I write the mail to the office and send it at once."
CALL, TEXT = "/messages/1/tool_calls/0", "/messages/1/content"

HISTORIES = [
    ("a torn call beside the whole", turn(OLD, NEW), [CALL]),
    ("the whole alone", turn(NEW), []),
    ("a torn call alone", turn(OLD), []),
    ("of another tool", turn(call("c_old", '{"to": "a@e', "draft"), NEW), []),
    ("two whole calls", turn(call("c_old", WHOLE), NEW), []),
    ("a doubled text beside it", turn(OLD, NEW, content="Sending.Sending."), [TEXT, CALL]),
    ("a short text twice", turn(NEW, content="Sending.Sending."), []),
    ("a long text twice", turn(NEW, content=LONG + LONG), [TEXT]),
    ("a beginning, and the text", turn(NEW, content=LONG[:30] + LONG), [TEXT]),
    ("a text", turn(NEW, content=LONG), []),
]


@pytest.mark.parametrize(("said", "expected"), [r[1:] for r in HISTORIES], ids=[r[0] for r in HISTORIES])
def test_histories(chat, said, expected):
    results = [result(c["id"]) for c in said["tool_calls"]]
    found = [f for f in chat([GO, said, *results], provider="generic") if f.rule == STALE]
    assert [f.pointer for f in found] == expected


def stream(*deltas, finish=None):
    import json

    chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d}]} for d in deltas]
    if finish:
        chunks.append(
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        )
    text = "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + ("data: [DONE]\n\n" if finish else "")
    return text.encode()


def of(*calls):
    return {"tool_calls": [{"index": n, **c} for n, c in enumerate(calls)]}


def last(inspect, torn, whole, said):
    request = {"model": "m", "stream": True, "messages": [GO]}
    results = [result(c["id"]) for c in said.get("tool_calls", ())]
    later = {"model": "m", "messages": [GO, said, *results, GO]}
    pairs = [(request, torn), (request, whole), (later, None)]
    return [f for f in inspect(pairs, protocol="openai-chat") if f.rule == STALE]


def test_a_call_that_only_the_torn_answer_held(inspect):
    left = call("call_left_behind_1234", "{}", "ls")
    whole = call("call_of_the_second_12", WHOLE)
    found = last(inspect, stream(of(left)), stream(of(whole), finish="tool_calls"), turn(left, whole))
    assert [(f.pointer, "exchange 1, which is incomplete" in f.message) for f in found] == [(CALL, True)]


def test_text_of_a_torn_answer_before_that_of_the_next(inspect):
    torn, whole = stream({"content": "I wri"}), stream({"content": "I write it."}, finish="stop")
    found = last(inspect, torn, whole, {"role": "assistant", "content": "I wriI write it."})
    assert [(f.severity, f.pointer) for f in found] == [("error", TEXT)]
    assert not last(inspect, torn, whole, {"role": "assistant", "content": "I write it."})


def test_what_the_model_said_twice_itself_is_its_own(inspect):
    said = {"role": "assistant", "content": LONG + LONG}
    pairs = [
        ({"model": "m", "messages": [GO]}, {"choices": [{"message": said, "finish_reason": "stop"}]}),
        ({"model": "m", "messages": [GO, said, GO]}, None),
    ]
    assert not [f for f in inspect(pairs, protocol="openai-chat") if f.rule == STALE]
