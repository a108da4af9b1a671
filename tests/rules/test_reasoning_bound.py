"""Signatures that cover everything before them: what unbinds them, and what does not."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.conftest import exchange
from workbench.rules.inspection import Inspector
from workbench.wire.session import MemorySession

MODEL, RULE = "claude-opus-5-5", "reasoning.unbound"
PROOF = "EqQBCkYIARgCKkD1sigA"
TOOLS = [{"name": "ls", "description": "List", "input_schema": {"type": "object", "properties": {}}}]


def answer(n):
    return [
        {"type": "thinking", "thinking": f"Thought {n}.", "signature": f"{PROOF[:-1]}{'ABCD'[n]}"},
        {"type": "tool_use", "id": f"toolu_abcdefgh1234567{n}", "name": "ls", "input": {"page": n}},
    ]


def result(n):
    return {"type": "tool_result", "tool_use_id": f"toolu_abcdefgh1234567{n}", "content": f"page {n}"}


def request(turns):
    """The request after so many answered calls."""
    messages = [{"role": "user", "content": "which files?"}]
    for n in range(turns):
        messages += [{"role": "assistant", "content": answer(n)}, {"role": "user", "content": [result(n)]}]
    body = {"model": MODEL, "max_tokens": 1024, "thinking": {"type": "adaptive"}, "system": "Keep the files."}
    return copy.deepcopy({**body, "tools": TOOLS, "messages": messages})


def response(n):
    body = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": MODEL, "content": answer(n)}
    return {**body, "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 9}}


def unbound(last, said=None, status=200, turns=2):
    pairs = [(request(n), response(n), 200) for n in range(turns)] + [(last, said, status)]
    made = tuple(
        exchange(a, b, protocol="anthropic-messages", status=code, name=str(n)) for n, (a, b, code) in enumerate(pairs)
    )
    inspector = Inspector(MemorySession("test", made), provider="anthropic", protocol="anthropic-messages")
    return [f for f in inspector.run().findings if f.rule == RULE and f.exchange == turns]


def edited(change):
    body = request(2)
    change(body)
    return body


def marks(body):
    body["messages"][2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    body["tools"][0]["cache_control"] = {"type": "ephemeral"}
    body["system"] = [{"type": "text", "text": body["system"], "cache_control": {"type": "ephemeral"}}]


KEEPS = [
    ("nothing", lambda b: None),
    ("the user goes on", lambda b: b["messages"].append({"role": "user", "content": "and then?"})),
    ("more tokens, another choice", lambda b: b.update(max_tokens=9, tool_choice={"type": "auto"}, metadata={})),
    ("cache markers", marks),
    ("thinking left out from the front", lambda b: b["messages"][1]["content"].pop(0)),
    ("a deferred tool", lambda b: b["tools"].append({**TOOLS[0], "name": "rm", "defer_loading": True})),
    ("a string as a block", lambda b: b["messages"][0].update(content=[{"type": "text", "text": "which files?"}])),
]


@pytest.mark.parametrize("change", [r[1] for r in KEEPS], ids=[r[0] for r in KEEPS])
def test_what_keeps_signatures(change):
    assert not unbound(edited(change))


FIRST, SECOND = "/messages/1/content/0/signature", "/messages/3/content/0/signature"
BREAKS = [
    ("system", lambda b: b.update(system="It is 10:42."), FIRST, "the system prompt was changed"),
    ("no system", lambda b: b.pop("system"), FIRST, "the system prompt was changed"),
    ("a tool is added", lambda b: b["tools"].append({**TOOLS[0], "name": "rm"}), FIRST, "the tool 'rm' was added"),
    ("a tool is edited", lambda b: b["tools"][0].update(description="x"), FIRST, "the tool 'ls' was changed"),
    ("no tools", lambda b: b.pop("tools"), FIRST, "the tool 'ls' was removed"),
    ("the question", lambda b: b["messages"][0].update(content="hi"), FIRST, "message 1 of the original history"),
    (
        "a result",
        lambda b: b["messages"][2]["content"][0].update(content="x"),
        SECOND,
        "message 3 of the original history",
    ),
    (
        "a message is put in front",
        lambda b: b["messages"].insert(0, {"role": "user", "content": "note"}),
        "/messages/2/content/0/signature",
        "content was inserted before message 1",
    ),
]


@pytest.mark.parametrize(("change", "pointer", "words"), [r[1:] for r in BREAKS], ids=[r[0] for r in BREAKS])
def test_what_unbinds_signatures(change, pointer, words):
    (finding,) = unbound(edited(change))
    assert (finding.severity, finding.pointer) == ("error", pointer)
    assert words in finding.message
    assert "bound to a different conversation" in finding.refusal
    assert "…" not in finding.refusal


def test_a_thinking_block_that_is_taken_out_of_the_middle():
    pairs = request(3)
    pairs["messages"][3]["content"].pop(0)
    (finding,) = unbound(pairs, turns=3)
    assert finding.pointer == "/messages/5/content/0/signature"
    assert "in the middle" in finding.message


def test_who_asks_for_unbound_blocks_to_be_dropped_is_warned():
    def drop(body):
        body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        body["system"] = "It is 10:42."

    (finding,) = unbound(edited(drop))
    assert (finding.severity, finding.check) == ("warning", None)


def test_an_account_that_is_not_checked_is_warned():
    (finding,) = unbound(edited(lambda b: b.update(system="It is 10:42.")), response(2))
    assert (finding.severity, finding.check) == ("warning", None)


def test_other_models_do_not_bind():
    def other(body):
        body.update(model="claude-opus-4-8", system="It is 10:42.")

    assert not unbound(edited(other))


@settings(max_examples=12)
@given(st.integers(0, 4), st.text("abc ", min_size=1, max_size=4))
def test_an_edit_unbinds_exactly_what_stands_behind_it(at, text):
    body = request(2)
    message = body["messages"][at]
    if isinstance(message["content"], str):
        message["content"] += f"!{text}"
    else:
        message["content"].append({"type": "text", "text": f"!{text}"})
    behind = [n for n in (1, 3) if n > at]
    found = unbound(body)
    assert [f.pointer for f in found] == [f"/messages/{n}/content/0/signature" for n in behind[:1]]
