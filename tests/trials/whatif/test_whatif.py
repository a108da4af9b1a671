"""One request with one thing different, and what several targets make of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.rules.conftest import exchange
from workbench.config import resources
from workbench.contracts import Verdict
from workbench.errors import LocalProtocolError, UsageError
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector
from workbench.send.sending import Sender
from workbench.send.target_names import resolve
from workbench.trials import whatif
from workbench.trials.whatif import RequestVariant, VariantOutcome
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import MemorySession, Session

Told = TypeVar("Told")

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"anyOf": [{"type": "integer"}]}}}

CHAT = {
    "model": "deepseek-v4-flash",
    "messages": [
        {"role": "user", "content": "Compare two cities."},
        {
            "role": "assistant",
            "content": "Looking.",
            "reasoning_content": "Both of them.",
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "weather", "arguments": '{"city": "A"}'}},
                {"id": "call_b", "type": "function", "function": {"name": "weather", "arguments": '{"city": "B"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "1 °C"},
        {"role": "tool", "tool_call_id": "call_b", "content": "2 °C"},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}],
}

MESSAGES = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 100,
    "messages": [
        {"role": "user", "content": "Compare two cities."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Both.", "signature": "c2ln"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_a", "name": "weather", "input": {"city": "A"}},
                {"type": "tool_use", "id": "toolu_b", "name": "weather", "input": {"city": "B"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_a", "content": "1 °C"},
                {"type": "tool_result", "tool_use_id": "toolu_b", "content": "2 °C"},
            ],
        },
    ],
    "tools": [{"name": "weather", "input_schema": WEATHER}],
}

ITEMS = {
    "model": "gpt-5",
    "input": [
        {"role": "user", "content": "Compare."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "b3BhcXVl"},
        {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_a", "output": "1 °C"},
    ],
    "tools": [{"type": "function", "name": "weather", "parameters": WEATHER}],
}

URLS = {
    "chat": "https://api.deepseek.com/v1/chat/completions",
    "messages": "https://api.anthropic.com/v1/messages",
    "items": "https://api.openai.com/v1/responses",
}
BODIES = {"chat": CHAT, "messages": MESSAGES, "items": ITEMS}


def asked(kind: str) -> Inspector:
    request = HttpRequest(url=URLS[kind], body=Body(dumps(BODIES[kind])))
    return Inspector(MemorySession(kind, (Exchange("one", request),)))


def varied(kind: str) -> dict[str, RequestVariant]:
    return {variant.name: variant for variant in whatif.variants(asked(kind), 0)}


def body(variant: RequestVariant) -> dict:
    assert variant.request, variant.why_not
    return loads(variant.request.body.raw)


def test_the_request_as_it_stands_comes_first() -> None:
    first = whatif.variants(asked("chat"), 0)[0]
    assert (first.name, body(first)) == (whatif.UNCHANGED, CHAT)


REASONING = {
    ("chat", "dropped"): lambda b: "reasoning_content" not in b["messages"][1],
    ("chat", "emptied"): lambda b: b["messages"][1]["reasoning_content"] == "",
    ("chat", "trimmed"): lambda b: b["messages"][1]["reasoning_content"] == "Both o",
    ("chat", "moved"): lambda b: b["messages"][1]["content"] == "<think>\nBoth of them.\n</think>\n\nLooking.",
    ("messages", "dropped"): lambda b: b["messages"][1]["content"][0]["type"] == "text",
    ("messages", "emptied"): lambda b: b["messages"][1]["content"][0]["thinking"] == "",
    ("messages", "trimmed"): lambda b: b["messages"][1]["content"][0]["thinking"] == "Bo",
    ("messages", "moved"): lambda b: b["messages"][1]["content"][-1]["signature"] == "c2ln",
    ("items", "dropped"): lambda b: len(b["input"]) == 3,
    ("items", "moved"): lambda b: [i.get("type") for i in b["input"]][1:3] == ["function_call", "reasoning"],
}


@pytest.mark.parametrize(("kind", "how"), REASONING, ids=lambda word: word)
def test_reasoning_is_varied_in_every_carrier(kind: str, how: str) -> None:
    changed = body(varied(kind)[f"reasoning={how}"])
    assert REASONING[kind, how](changed)
    assert changed != BODIES[kind]


def test_opaque_reasoning_is_neither_emptied_nor_cut() -> None:
    for how in ("emptied", "trimmed"):
        variant = varied("items")[f"reasoning={how}"]
        assert (variant.request, variant.why_not) == (None, "the reasoning of this request has no readable text")


def test_results_change_places() -> None:
    chat, messages = body(varied("chat")["results=reordered"]), body(varied("messages")["results=reordered"])
    assert [m.get("tool_call_id") for m in chat["messages"][2:]] == ["call_b", "call_a"]
    assert [p["tool_use_id"] for p in messages["messages"][2]["content"]] == ["toolu_b", "toolu_a"]
    assert varied("items")["results=reordered"].why_not == "no two results are adjacent"


def test_parallel_calls_are_switched_off_in_the_words_of_the_protocol() -> None:
    assert body(varied("chat")["parallel=off"])["parallel_tool_calls"] is False
    choice = body(varied("messages")["parallel=off"])["tool_choice"]
    assert choice == {"type": "auto", "disable_parallel_tool_use": True}


def test_schemas_are_brought_to_another_level() -> None:
    made = varied("items")
    simple = body(made["schema=simple-object"])["tools"][0]["parameters"]
    assert "anyOf" not in str(simple)
    strict = body(made["schema=strict-json-schema"])["tools"][0]
    assert strict["strict"] is True
    assert strict["parameters"]["additionalProperties"] is False
    texts = body(made["schema=string-only"])["tools"][0]["parameters"]["properties"]
    assert {p["type"] for p in texts.values()} == {"string"}


def test_bytes_beside_the_change_stay() -> None:
    before, after = dumps(CHAT), varied("chat")["reasoning=trimmed"].request
    assert after
    assert after.body.raw == before.replace(b'"Both of them."', b'"Both o"')


def test_variants_are_chosen_by_name_and_by_family() -> None:
    made = whatif.variants(asked("chat"), 0)
    assert [v.name for v in whatif.select(made, ["unchanged", "results"])] == ["unchanged", "results=reordered"]
    assert whatif.select(made, ["all"]) == made
    spoken = [v.name for v in whatif.select(made, ["all", "adapter=ollama"], {"openai-responses"})]
    assert [name for name in spoken if name.startswith("adapter=")] == ["adapter=ollama", "adapter=openai-responses"]
    with pytest.raises(UsageError, match="no variant named 'reasonin'"):
        whatif.select(made, ["reasonin"])


def test_what_is_no_request_of_a_model_is_not_varied() -> None:
    session = MemorySession("other", (Exchange("one", HttpRequest(url="https://example.com/", body=Body(b"[1]"))),))
    with pytest.raises(LocalProtocolError, match="not a request to a model"):
        whatif.variants(Inspector(session), 0)


def outcomes(
    session: Session, index: int, names: list[str], targets: list[str]
) -> dict[tuple[str, str], VariantOutcome]:
    inspector = Inspector(session)

    async def ask(job: Callable[[Inspector], Told]) -> Told:
        return job(inspector)

    async def every() -> list[VariantOutcome]:
        made = whatif.select(whatif.variants(inspector, index), names)
        async with Sender(known=session) as sender:
            return [o async for o in whatif.run(ask, index, made, [resolve(t) for t in targets], sender)]

    return {(o.variant.name, o.target.name): o for o in asyncio.run(every())}


def test_what_is_broken_is_tried_as_the_repairs_would_have_it() -> None:
    session = open_input(str(resources.folder("sessions") / "deepseek-reasoning-lost.jsonl"))
    found = outcomes(session, 1, ["unchanged", "repair"], ["sim:deepseek"])
    assert found["unchanged", "sim:deepseek"].verdict is Verdict.REFUSES
    mended = found["repair=done", "sim:deepseek"]
    assert mended.verdict is Verdict.ACCEPTS
    assert "restore the reasoning" in mended.variant.title
    healthy = {v.name: v for v in whatif.variants(Inspector(session), 0)}["repair=done"]
    assert (healthy.request, healthy.why_not) == (None, "the request has no fault to repair")


def test_each_target_says_what_it_makes_of_each_variant() -> None:
    session = open_input(str(resources.folder("sessions") / "anthropic-tool-loop.jsonl"))
    found = outcomes(session, 1, ["unchanged", "reasoning", "results"], ["sim:anthropic", "sim:openai"])
    strict = {name: o for (name, target), o in found.items() if target == "sim:anthropic"}
    assert {name: o.verdict for name, o in strict.items()} == {
        "unchanged": Verdict.ACCEPTS,
        "reasoning=dropped": Verdict.SUSPICIOUS,
        "reasoning=emptied": Verdict.REFUSES,
        "reasoning=trimmed": Verdict.REFUSES,
        "reasoning=moved": Verdict.REFUSES,
        "results=reordered": Verdict.UNKNOWN,
    }
    refused = strict["reasoning=moved"]
    assert refused.status == 400
    assert refused.finding and refused.finding.rule == "reasoning.order"
    assert "thinking blocks" in refused.text
    assert strict["results=reordered"].exchange is None
    elsewhere = found["unchanged", "sim:openai"]
    assert (elsewhere.verdict, elsewhere.losses > 0) == (Verdict.ACCEPTS, True)


def test_a_variant_that_cannot_be_sent_says_why_and_the_others_go_on() -> None:
    session = open_input(str(resources.folder("sessions") / "anthropic-tool-loop.jsonl"))
    found = outcomes(session, 1, ["unchanged", "adapter=cohere-v2"], ["sim:anthropic"])
    assert found["unchanged", "sim:anthropic"].verdict is Verdict.ACCEPTS
    unspoken = found["adapter=cohere-v2", "sim:anthropic"]
    assert (unspoken.verdict, unspoken.exchange) == (Verdict.UNKNOWN, None)
    assert "does not support cohere-v2" in unspoken.text


def test_a_refusal_that_no_rule_explains_is_decided_by_leaving_out_each_suspected_place() -> None:
    base = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    ok = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}
    more = {**base, "logit_bias": {"5": 1}, "seed": 7}
    refusal = {"error": {"message": "Invalid request", "type": "invalid_request_error"}}
    asked = [(base, ok, 200), (more, refusal, 400)]
    made = (exchange(request, answer, protocol="openai-chat", status=status) for request, answer, status in asked)
    inspector = Inspector(MemorySession("test", tuple(made)), provider="generic", protocol="openai-chat")
    found = {
        v.name: loads(v.request.body.raw) for v in whatif.variants(inspector, 1) if v.request and "without" in v.name
    }
    assert {name: sorted(body.keys() ^ more.keys()) for name, body in found.items()} == {
        "without=/logit_bias": ["logit_bias"],
        "without=/seed": ["seed"],
    }
