"""An edit of an earlier turn unbinds every signed block behind it; one behind them all unbinds none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.edits.bodies import decoded, made
from workbench.edits import apply_changes
from workbench.edits.assessment import assess, removal_variants, unbound_pointers, without_blocks
from workbench.edits.operations import Splices, move, remove, set_text, set_value
from workbench.protocols.decode import DecodedExchange
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession


def turn(n: int) -> list[dict[str, Any]]:
    thought = {"type": "thinking", "thinking": f"thought {n}", "signature": f"sig{n}=="}
    call = {"type": "tool_use", "id": f"c{n}", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "done"}
    return [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [result]}]


BODY = json.dumps(
    {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "system": "be terse",
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "go"}, *turn(1), *turn(2), *turn(3)],
    }
).encode()
ASKED = decoded(BODY, "anthropic-messages")
FIRST, SECOND, THIRD = "/messages/1/content/0", "/messages/3/content/0", "/messages/5/content/0"

EDITS: list[tuple[str, Splices, tuple[str, ...]]] = [
    ("nothing", (), ()),
    ("the first message", set_text(ASKED, "/messages/0/content", "stop"), (FIRST, SECOND, THIRD)),
    ("the first result", set_text(ASKED, "/messages/2/content/0/content", "x"), (SECOND, THIRD)),
    ("the last result", set_text(ASKED, "/messages/6/content/0/content", "x"), ()),
    ("the system prompt", set_text(ASKED, "/system", "x"), (FIRST, SECOND, THIRD)),
    ("the tools", remove(ASKED, "/tools/0"), (FIRST, SECOND, THIRD)),
    ("a parameter", set_value(ASKED, "/max_tokens", b"5000"), ()),
    ("the spelling of a message", set_value(ASKED, "/messages/0", b'{"content":"g\\u006f","role":"user"}'), ()),
    ("a thought", set_text(ASKED, f"{SECOND}/thinking", "x"), (SECOND, THIRD)),
    ("a signature", set_text(ASKED, f"{THIRD}/signature", "x"), (THIRD,)),
    ("the first thought is removed", remove(ASKED, FIRST), ()),
    ("a thought in the middle is removed", remove(ASKED, SECOND), (THIRD,)),
    ("a message before it went", remove(ASKED, "/messages/2"), ("/messages/2/content/0", "/messages/4/content/0")),
    ("a cache marker", set_value(ASKED, "/tools/0", json.dumps(
        {"name": "f", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}).encode()), ()),
]  # fmt: skip


def after(splices: Splices, asked: DecodedExchange = ASKED) -> DecodedExchange:
    return decoded(made(asked.request_text, splices), asked.protocol or "")


@pytest.mark.parametrize(("splices", "loose"), [row[1:] for row in EDITS], ids=[row[0] for row in EDITS])
def test_what_is_unbound_stands_behind_the_edit(splices: Splices, loose: tuple[str, ...]) -> None:
    assert unbound_pointers(ASKED, after(splices)) == loose


def test_what_cannot_be_read_unbinds_nothing_that_could_be_named() -> None:
    assert unbound_pointers(ASKED, decoded(b"{", "anthropic-messages")) == ()


def items(*middle: dict[str, Any]) -> bytes:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    return json.dumps({"model": "m", "input": [{"role": "user", "content": "go"}, *middle, thought]}).encode()


def test_encrypted_items_and_signatures_on_calls_are_signed_too() -> None:
    said = {"role": "assistant", "content": "a"}
    old, new = (decoded(items(*held), "openai-responses") for held in ([said], []))
    assert unbound_pointers(old, new) == ("/input/1",)
    part = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}
    contents = [{"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": [part]}]
    asked = decoded(json.dumps({"contents": contents}).encode(), "gemini")
    loose = unbound_pointers(asked, after(set_text(asked, "/contents/0/parts/0/text", "x"), asked))
    assert loose == ("/contents/1/parts/0/thoughtSignature",)
    details = [{"type": "reasoning.text", "text": "t", "signature": "s"}]
    chat = {"messages": [{"role": "user", "content": "go"},
                         {"role": "assistant", "content": "a", "reasoning_details": details}]}  # fmt: skip
    asked = decoded(json.dumps(chat).encode(), "openai-chat")
    assert unbound_pointers(asked, after(move(asked, "/messages/0", 1), asked)) == ("/messages/0/reasoning_details/0",)


def session() -> MemorySession:
    request = HttpRequest(
        "POST", "https://api.anthropic.com/v1/messages", Headers((("content-type", "application/json"),)), Body(BODY)
    )
    return MemorySession("s", (Exchange("e", request, HttpResponse(), started_at=1.0),))


def test_unbound_blocks_are_left_out_as_the_contract_takes_it() -> None:
    recorded = session()
    inspector, request = Inspector(recorded), recorded.exchange(0).request
    assert request
    told = assess(inspector, 0, apply_changes(request, BODY, set_text(ASKED, "/messages/2/content/0/content", "x")))
    assert told.unbound == (SECOND, THIRD)
    assert told.trial
    left = without_blocks(inspector, told.trial, told.unbound)
    assert left
    assert b"sig1==" in left.body.raw
    assert b"sig2==" not in left.body.raw and b"sig3==" not in left.body.raw
    assert not unbound_pointers(ASKED, decoded(left.body.raw, "anthropic-messages"))


def test_the_ways_are_the_blocks_alone_then_thinking_off() -> None:
    trial = Inspector(session()).trial(0, HttpRequest(body=Body(BODY)), protocol="anthropic-messages")
    assert [len(changes) for changes in removal_variants(trial, (THIRD,))][:3] == [1, 2, 4]
    assert list(removal_variants(trial, ())) == []
