from __future__ import annotations

import pytest

GO = {"role": "user", "content": "go"}


def anthropic_turns(call_id, result_id):
    use = {"type": "tool_use", "id": call_id, "name": "run", "input": {}}
    result = {"type": "tool_result", "tool_use_id": result_id, "content": "ok"}
    return [GO, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def chat_turns(call_id, result):
    call = {"id": call_id, "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return [
        GO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "ok", **result},
    ]


def is_of_ids(finding):
    """An error; not one on the shape of an id, which only the rows with numbers have."""
    is_of_shape = finding.rule == "content.shape" and finding.pointer.endswith("id")
    return finding.severity == "error" and not is_of_shape


ID, RESULT = "/messages/1/content/0/id", "/messages/2/content/0/tool_use_id"

ANTHROPIC = [
    ("letters, digits, underscore, hyphen", "toolu_01-a", "toolu_01-a", []),
    ("dots and colons", "f.run:0", "f.run:0", [ID, RESULT]),
    ("empty", "", "", [ID, RESULT]),
    ("null", None, None, [ID, RESULT]),
    ("numbers, which their shape tells", 7, 7, []),
]


@pytest.mark.parametrize(
    ("call_id", "result_id", "expected"), [r[1:] for r in ANTHROPIC], ids=[r[0] for r in ANTHROPIC]
)
def test_anthropic(anthropic, call_id, result_id, expected):
    found = [f for f in anthropic(anthropic_turns(call_id, result_id)) if is_of_ids(f)]
    assert [(f.rule, f.pointer) for f in found] == [("closure.id-format", pointer) for pointer in expected]
    assert all(f.refusal for f in found)


LONG = "call_" + "x" * 70
CALL = "/messages/1/tool_calls/0/id"

CHAT = [
    ("any characters", "f.run:0", {"tool_call_id": "f.run:0"}, []),
    ("too long", LONG, {"tool_call_id": LONG}, [CALL, "/messages/2/tool_call_id"]),
    ("result without an id", "a", {}, ["/messages/2"]),
    ("result with an empty id", "a", {"tool_call_id": ""}, ["/messages/2/tool_call_id"]),
    ("a call's number, which its shape tells", 7, {"tool_call_id": "7"}, []),
]


@pytest.mark.parametrize(("call_id", "result", "expected"), [r[1:] for r in CHAT], ids=[r[0] for r in CHAT])
def test_chat(chat, call_id, result, expected):
    found = [f for f in chat(chat_turns(call_id, result)) if is_of_ids(f)]
    assert [(f.rule, f.pointer) for f in found] == [("closure.id-format", pointer) for pointer in expected]


def test_the_refusal_names_the_id_that_is_too_long(chat):
    found = [f for f in chat(chat_turns(LONG, {"tool_call_id": LONG})) if f.rule == "closure.id-format"]
    assert [f.refusal.split(":")[0] for f in found] == [
        "Invalid 'messages[1].tool_calls[0].id'",
        "Invalid 'messages[2].tool_call_id'",
    ]


def test_the_deprecated_single_call_has_no_id(chat):
    call = {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}}
    assert not chat([GO, call, {"role": "function", "name": "run", "content": "ok"}])


def test_a_call_without_an_id_in_an_answer_is_a_warning(chat):
    call = {"type": "function", "function": {"name": "run", "arguments": "{}"}}
    answer = {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    found = [(f.rule, f.severity) for f in chat(None, answer) if f.rule == "closure.id-format"]
    assert found == [("closure.id-format", "warning")]


def gemini_turns(*names, **ids):
    calls = [{"functionCall": {"name": name, "args": {}, **ids}} for name in ("ls", "cat")[: len(names)]]
    results = [{"functionResponse": {"name": name, "response": {"ok": 1}, **ids}} for name in names]
    turns = (("user", [{"text": "go"}]), ("model", calls), ("user", results))
    return [{"role": role, "parts": parts} for role, parts in turns]


NAME = "/contents/2/parts/{}/functionResponse/name"

NAMED = [
    ("its name", "gemini-2.5-pro", ["ls"], {}, []),
    ("another name", "gemini-2.5-pro", ["lx"], {}, [("warning", NAME.format(0), "")]),
    ("one of two", "gemini-2.5-pro", ["ls", "dog"], {}, [("warning", NAME.format(1), "")]),
    ("another name beside the id", "gemini-2.5-pro", ["lx"], {"id": "a"}, [("warning", NAME.format(0), "")]),
    (
        "where names are matched",
        "gemini-3.7-pro",
        ["lx"],
        {},
        [("error", NAME.format(0), 'functionResponse.name "lx" does not match functionCall.name "ls".')],
    ),
]


@pytest.mark.parametrize(("model", "names", "ids", "expected"), [r[1:] for r in NAMED], ids=[r[0] for r in NAMED])
def test_names_pair_too_where_ids_are_optional(inspect, model, names, ids, expected):
    body = {"model": model, "contents": gemini_turns(*names, **ids)}
    found = [f for f in inspect(body, protocol="gemini", provider="gemini") if f.rule == "closure.id-mismatch"]
    assert [(f.severity, f.pointer, f.refusal) for f in found] == expected
    assert all(f.related for f in found)
