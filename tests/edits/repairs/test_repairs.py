"""Repairs by rule and protocol: what is proposed, what it does to the bytes, and that it was tried."""

from __future__ import annotations

import json
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from workbench.contracts import Verdict
from workbench.edits import repairs
from workbench.edits.repairs import Proposal, RepairCost
from workbench.ir import Reasoning
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import loads
from workbench.wire.patch import Remove, Replace
from workbench.wire.session import MemorySession

CHAT, MESSAGES = "https://api.deepseek.com/chat/completions", "https://api.anthropic.com/v1/messages"
LS = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}


def exchange(number: int, body: Any, answer: Any = None, *, url: str = "", status: int = 200) -> Exchange:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = None
    if answer is not None:
        kind = Headers((("content-type", "application/json"),))
        response = HttpResponse(status, kind, Body(json.dumps(answer).encode()))
    return Exchange(str(number), HttpRequest(url=url, body=Body(text)), response)


def inspecting(*exchanges: Exchange, provider: str | None = None) -> Inspector:
    inspector = Inspector(MemorySession("test", exchanges), provider=provider)
    inspector.run()
    return inspector


def call(call_id: str = "c1", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "ls", "arguments": arguments}}


def asked(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "deepseek-v4", "messages": [{"role": "user", "content": "go"}, *messages], "tools": [LS], **more}


THOUGHT = "first the folder,\nthen the file"
TURN = {"role": "assistant", "content": None, "tool_calls": [call()]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "a b"}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }


def reasoning_lost(**more: Any) -> Inspector:
    """The answer brought reasoning, and the next request leaves it out."""
    first = exchange(1, asked(), answer({**TURN, "reasoning_content": THOUGHT}), url=CHAT)
    refused = {"error": {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."}}
    return inspecting(first, exchange(2, asked({**TURN, **more}, RESULT), refused, url=CHAT, status=400))


@pytest.mark.parametrize(
    "sent", [{}, {"reasoning_content": ""}, {"reasoning_content": "(omitted)"}, {"reasoning_content": THOUGHT[:-1]}]
)
def test_recorded_reasoning_comes_back_as_it_was(sent: dict[str, str]) -> None:
    inspector = reasoning_lost(**sent)
    fixed = repairs.fix(inspector, 1)
    if fixed.before is not Verdict.ACCEPTS:
        assert loads(fixed.request.body.raw)["messages"][1]["reasoning_content"] == THOUGHT
        assert fixed.after is Verdict.ACCEPTS


def test_lost_reasoning_is_never_made_up() -> None:
    """Nobody saw the answer: the ways on are to do without thinking, or to go back."""
    alone = inspecting(exchange(1, asked(TURN, RESULT), url=CHAT))
    finding = next(f for f in alone.rows[0].findings if f.rule == "reasoning.missing")
    tried = repairs.checked_repairs(alone, 0, finding)
    assert {t.proposal.cost for t in tried} == {RepairCost.MODE, RepairCost.CUT}
    for one in tried:
        parts = [p for m in one.trial.decoded.request.messages for p in m.parts]  # type: ignore[union-attr]
        assert not any(isinstance(p, Reasoning) for p in parts)


def test_signatures_come_back_in_their_place() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "EqQBCkYIARgCKkAabc"},
        {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}},
    ]
    history: list[Any] = [{"role": "user", "content": "go"}]
    body = {
        "model": "claude-sonnet-4-5", "max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": "ls", "input_schema": {"type": "object", "properties": {}}}],
    }  # fmt: skip
    came = {
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": blocks,
        "stop_reason": "tool_use",
    }
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]}
    stripped = [*history, {"role": "assistant", "content": blocks[1:]}, result]
    inspector = inspecting(
        exchange(1, {**body, "messages": history}, came, url=MESSAGES),
        exchange(2, {**body, "messages": stripped}, url=MESSAGES),
    )
    fixed = repairs.fix(inspector, 1)
    assert fixed.after is Verdict.ACCEPTS
    assert loads(fixed.request.body.raw)["messages"][1]["content"] == blocks


GEMINI = "https://generativelanguage.googleapis.com/v1beta"
NATIVE, WIRE = f"{GEMINI}/models/gemini-3-pro-preview:generateContent", f"{GEMINI}/openai/chat/completions"
SEALED, LONG_ID = "EvQAAAAAAAAAAAAA", "function-call-1234567890123"


def gemini_turn(signature: str | None, others: int = 0) -> dict[str, Any]:
    """A content of the model: calls without ids, of which the first is signed."""
    calls: list[dict[str, Any]] = [{"functionCall": {"name": "ls", "args": {"n": n}}} for n in range(others + 1)]
    if signature:
        calls[0]["thoughtSignature"] = signature
    return {"role": "model", "parts": calls}


def gemini_said(shown: dict[str, Any]) -> dict[str, Any]:
    said = {"role": "user", "parts": [{"text": "go"}]}
    parts = [{"functionResponse": {"name": "ls", "response": {"n": n}}} for n in range(len(shown["parts"]))]
    before = [said, {"role": "model", "parts": [{"text": "a turn that nobody recorded"}]}, said]
    return {"contents": [*before, shown, {"role": "user", "parts": parts}]}


def openai_turn(call_id: str, signature: str | None) -> dict[str, Any]:
    signed = {"extra_content": {"google": {"thought_signature": signature}}} if signature else {}
    return {"role": "assistant", "content": None, "tool_calls": [{**call(call_id), **signed}]}


def openai_said(shown: dict[str, Any]) -> dict[str, Any]:
    old = {"role": "assistant", "content": "a turn that nobody recorded"}
    result = {**RESULT, "tool_call_id": shown["tool_calls"][0]["id"]}
    return {**asked(old, {"role": "user", "content": "on"}, shown, result), "model": "gemini-3-pro-preview"}


SIGNED_CALLS = [
    ("gemini", [gemini_turn(SEALED)], gemini_turn(None), NATIVE),
    ("gemini, two calls", [gemini_turn(SEALED, 1)], gemini_turn(None, 1), NATIVE),
    ("gemini, tried twice", [gemini_turn("EvQB"), gemini_turn(SEALED)], gemini_turn(None), NATIVE),
    ("openai", [openai_turn(LONG_ID, SEALED)], openai_turn(LONG_ID, None), WIRE),
    ("openai, a counter", [openai_turn("c_0", "EvQB"), openai_turn("c_0", SEALED)], openai_turn("c_0", None), WIRE),
    ("openai, an id of the client's", [openai_turn("", SEALED)], openai_turn("call_1", None), WIRE),
]  # fmt: skip


@pytest.mark.parametrize(("came", "shown", "url"), [r[1:] for r in SIGNED_CALLS], ids=[r[0] for r in SIGNED_CALLS])
def test_a_signature_comes_back_to_its_call(came: list[Any], shown: dict[str, Any], url: str) -> None:
    """The answer to an exchange is found by what it calls, also where calls have no ids."""
    is_gemini = "parts" in shown
    said, key = (gemini_said(shown), "contents") if is_gemini else (openai_said(shown), "messages")
    answers = [{"candidates": [{"content": c, "finishReason": "STOP"}]} if is_gemini else answer(c) for c in came]
    before = {**said, key: said[key][:3]}
    told = [exchange(n, before, a, url=url) for n, a in enumerate(answers)]
    inspector = inspecting(*told, exchange(9, said, url=url))
    finding = next(f for f in inspector.rows[-1].findings if f.rule == "reasoning.missing")
    assert finding.evidence == f"the call was received in exchange {len(came)}, with a signature"
    first = repairs.checked_repairs(inspector, len(came), finding)[0]
    assert first.repair.title == f"restore the reasoning from exchange {len(came)}"
    mended = loads(first.trial.decoded.request_text)[key][3]
    kept = shown["parts"] if is_gemini else shown["tool_calls"]
    signed = {"thoughtSignature": SEALED} if is_gemini else {"extra_content": {"google": {"thought_signature": SEALED}}}
    assert (mended["parts"] if is_gemini else mended["tool_calls"]) == [{**kept[0], **signed}, *kept[1:]]


TRAILING_COMMA = {"role": "assistant", "content": None, "tool_calls": [call(arguments='{"a": 1,}')]}
HALF = json.dumps(asked({"role": "user", "content": "x"})).encode().replace(b'"x"', b'"x\\ud83d"')
ANY = asked(tool_choice="any", thinking={"type": "disabled"})
OTHER_ID = {**asked(TURN, {**RESULT, "tool_call_id": "c2"}), "model": "gpt-4o"}

ONE_FAULT: list[tuple[str, str, Any, str, Any]] = [
    (
        "arguments that need mending",
        "generic",
        asked(TRAILING_COMMA, RESULT),
        "/messages/1/tool_calls/0/function/arguments",
        '{"a":1}',
    ),
    ("a broken character", "deepseek", HALF, "/messages/1/content", "x\ufffd"),
    ("a word of another wire", "deepseek", ANY, "/tool_choice", "required"),
    ("a result by its place", "openai", OTHER_ID, "/messages/2/tool_call_id", "c1"),
]


@pytest.mark.parametrize(
    ("provider", "body", "pointer", "value"), [row[1:] for row in ONE_FAULT], ids=[r[0] for r in ONE_FAULT]
)
def test_one_value_is_replaced(provider: str, body: Any, pointer: str, value: Any) -> None:
    inspector = inspecting(exchange(1, body), provider=provider)
    finding = next(f for f in inspector.rows[0].findings if repairs.is_repairable(f))
    best = repairs.offer(inspector, 0, finding)[0]
    assert best.verified
    assert [(e.op, e.pointer, e.new) for e in best.edits] == [("replace", pointer, value)]


def test_a_merged_call_is_split() -> None:
    merged = {"role": "assistant", "content": None, "tool_calls": [call(arguments='{"a":1}{"b":"}{"}')]}
    inspector = inspecting(exchange(1, asked(merged, RESULT, {"role": "user", "content": "on"})), provider="generic")
    finding = next(f for f in inspector.rows[0].findings if f.rule == "args.invalid-json")
    split = next(t for t in repairs.checked_repairs(inspector, 0, finding) if "split" in t.repair.title)
    made = loads(split.request.body.raw)["messages"]
    assert [c["function"]["arguments"] for c in made[1]["tool_calls"]] == ['{"a":1}', '{"b":"}{"}']
    assert [m["tool_call_id"] for m in made[2:4]] == [c["id"] for c in made[1]["tool_calls"]]
    assert split.repair.verified


def test_edits_say_which_bytes_they_replace() -> None:
    inspector = inspecting(exchange(1, asked(TURN, {**RESULT, "tool_call_id": "c2"})), provider="deepseek")
    text = inspector.detail(0).decoded.request_text
    for finding in inspector.rows[0].findings:
        for repair in repairs.offer(inspector, 0, finding):
            for edit in repair.edits:
                assert edit.span
                held = text[slice(*edit.span)]
                assert (loads(held) if held else None) == edit.old


def test_what_makes_it_worse_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third party's proposals are tried like any other; one that fails ends quietly."""
    inspector = inspecting(
        exchange(1, asked(TURN, {"role": "user", "content": "on"}, thinking={"type": "disabled"})), provider="deepseek"
    )
    finding = next(f for f in inspector.rows[0].findings if f.rule == "closure.missing-result")

    def bad(fault):
        yield Proposal("nothing at all", ())
        yield Proposal("not there", (Remove("/nowhere"),))
        yield Proposal("other damage", (Remove("/messages/1/tool_calls/0/id"),))
        yield Proposal("no request any more", (Replace("/messages", 1),))
        raise RuntimeError("broken")

    def good(fault):
        yield Proposal("all of it goes", (Remove("/messages/1"),), RepairCost.CUT)

    module = ModuleType("a_third_party")
    module.REPAIRS = {"closure.missing-result": (bad, good)}  # type: ignore[attr-defined]
    theirs = SimpleNamespace(names=lambda _: ("theirs",), load=lambda *_: module)
    monkeypatch.setattr(repairs, "plugins", theirs)
    repairs.families.cache_clear()
    try:
        assert [r.title for r in repairs.offer(inspector, 0, finding)] == ["all of it goes"]
    finally:
        monkeypatch.undo()
        repairs.families.cache_clear()


def test_a_finding_on_an_answer_has_no_repair() -> None:
    inspector = inspecting(exchange(1, asked(), answer({**TURN, "tool_calls": [call(arguments="{")]}), url=CHAT))
    findings = [f for f in inspector.rows[0].findings if f.side == "response"]
    assert findings and not any(repairs.offer(inspector, 0, f) for f in findings)


def test_a_compressed_body_is_repaired_decoded() -> None:
    import gzip

    text = json.dumps(asked(TURN, {"role": "user", "content": "on"}, thinking={"type": "disabled"})).encode()
    headers = Headers((("content-encoding", "gzip"), ("Content-Length", "9")))
    request = HttpRequest(url=CHAT, headers=headers, body=Body(gzip.compress(text), "gzip"))
    fixed = repairs.fix(inspecting(Exchange("1", request)), 0)
    made = fixed.request
    assert fixed.after is Verdict.ACCEPTS
    assert loads(made.body.raw)["messages"][2]["role"] == "tool"
    assert made.headers.items == (("Content-Length", str(len(made.body.raw))),)


def test_a_budget_is_kept() -> None:
    inspector = inspecting(exchange(1, asked(TURN, {"role": "user", "content": "on"})), provider="deepseek")
    finding = next(f for f in inspector.rows[0].findings if repairs.is_repairable(f))
    assert repairs.offer(inspector, 0, finding, budget=0) == ()


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
NOT_SENT = {"type": "text", "text": "(image: not sent)"}


@pytest.mark.parametrize(("before", "every"), [((), "the"), (({"role": "user", "content": [PICTURE]},), "every")])
def test_a_text_replaces_media_that_are_refused_and_the_history_is_not_cut(before: tuple[Any, ...], every: str) -> None:
    messages = [*before, {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}]
    inspector = inspecting(exchange(1, {"model": "deepseek-chat", "messages": messages}, url=CHAT))
    (*_, found) = inspector.rows[0].findings
    assert found.rule == "content.unsupported-part"
    first, *_ = repairs.checked_repairs(inspector, 0, found)
    assert first.repair.verified and first.proposal.cost is RepairCost.STAND_IN
    assert first.repair.title.startswith(f"replace {every} image with the text")
    mended = loads(first.request.body.raw)["messages"]
    assert [message["content"][-1] for message in mended] == [NOT_SENT] * len(messages)


def test_a_text_keeps_the_cache_breakpoint_of_what_it_replaces() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    marked = {**picture, "cache_control": {"type": "ephemeral"}}
    messages = [{"role": "user", "content": [picture, marked]}]
    body = {"model": "claude-instant-1.2", "max_tokens": 9, "messages": messages}
    inspector = inspecting(exchange(1, body), provider="deepseek")
    found = next(each for each in inspector.rows[0].findings if each.rule == "content.unsupported-part")
    first = next(made for made in repairs.checked_repairs(inspector, 0, found) if "every image" in made.repair.title)
    assert loads(first.request.body.raw)["messages"][0]["content"] == [
        NOT_SENT,
        {**NOT_SENT, "cache_control": {"type": "ephemeral"}},
    ]


def test_a_text_replaces_the_only_medium_of_a_tool_result() -> None:
    file = {"type": "input_file", "file_url": "https://example.org/a.mp3"}
    read = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
    history = [
        {"role": "user", "content": "go"},
        read,
        {"type": "function_call_output", "call_id": "c1", "output": [file]},
    ]
    body = {
        "model": "gpt-5-mini",
        "input": history,
        "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}}],
    }
    words = "The file type you uploaded is not supported. Please try again with a pdf"
    refusal = {"error": {"message": words, "type": "invalid_request_error", "param": "file", "code": None}}
    inspector = inspecting(exchange(1, body, refusal, url="https://api.openai.com/v1/responses", status=400))
    found = next(each for each in inspector.rows[0].findings if each.rule == "content.unsupported-part")
    first, *_ = repairs.checked_repairs(inspector, 0, found)
    assert first.repair.title == "replace the file with the text '(file: not sent)'"
    (*_, made) = loads(first.request.body.raw)["input"]
    assert made["output"] == [{"type": "input_text", "text": "(file: not sent)"}]


def test_media_of_another_role_are_kept_where_they_are_accepted() -> None:
    shown, drawn = {"role": "user", "content": [PICTURE]}, {"role": "assistant", "content": [PICTURE, PICTURE]}
    messages = [shown, drawn, {"role": "user", "content": "on"}]
    inspector = inspecting(exchange(1, {"model": "gpt-4o", "messages": messages}, url=CHAT), provider="openai")
    found = next(each for each in inspector.rows[0].findings if each.rule == "content.unsupported-part")
    first, *_ = repairs.checked_repairs(inspector, 0, found)
    assert first.repair.verified
    assert first.repair.title.startswith("replace every image of role assistant with the text")
    mended = loads(first.request.body.raw)["messages"]
    assert [message["content"] for message in mended] == [[PICTURE], [NOT_SENT, NOT_SENT], "on"]
