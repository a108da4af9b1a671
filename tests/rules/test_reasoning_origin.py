from __future__ import annotations

import json

import pytest

from workbench.rules._shared.reasoning import is_placeholder
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

GO = {"role": "user", "content": "go"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]}
MANUAL = {"type": "enabled", "budget_tokens": 1024}
HEX = "0123456789abcdef" * 2


def think(signature):
    return {"type": "thinking", "thinking": "I need it.", "signature": signature}


PROOFS = [
    ("base64", "EqQBCkYIARgCKkD1sigA", False),
    ("base64, padded", "EqQBCkYIARgCKkD1sig=", False),
    ("base64 of an odd length", "EqQBCkYIARgCKkD1sigAB", False),
    ("hex digits", HEX, True),
    ("uuid", "8f14e45f-ceea-467a-9a36-dedd4bea2543", True),
    ("url-safe alphabet", "Eq_BCkYIARgCKkD1-igA", True),
    ("encrypted token", "gAAAAABo2xYzAbCdEfGh", True),
    ("words", "not a signature", True),
]


@pytest.mark.parametrize(("signature", "is_foreign"), [r[1:] for r in PROOFS], ids=[r[0] for r in PROOFS])
def test_the_form_of_a_signature(anthropic, signature, is_foreign):
    turn = {"role": "assistant", "content": [think(signature), USE]}
    found = anthropic([GO, turn, RESULT], thinking=MANUAL)
    expected = [("reasoning.foreign", "error", "/messages/1/content/0/signature")] * is_foreign
    assert [(f.rule, f.severity, f.pointer) for f in found] == expected


def test_a_signature_that_was_shortened_for_people_is_a_warning(anthropic):
    turn = {"role": "assistant", "content": [think("EqQBCkYIARgCKkD1..."), USE]}
    (finding,) = anthropic([GO, turn, RESULT], thinking=MANUAL)
    assert (finding.rule, finding.severity) == ("reasoning.foreign", "warning")


def test_a_signature_that_a_recorder_replaced_is_a_warning(anthropic):
    turn = {"role": "assistant", "content": [think("signature_REDACTED_1"), USE]}
    (finding,) = anthropic([GO, turn, RESULT], thinking=MANUAL)
    assert (finding.rule, finding.severity, finding.check) == ("reasoning.foreign", "warning", None)
    assert finding.message.endswith("it looks like a stand-in that a recorder wrote")


def test_a_signature_vouches_for_no_placeholder(anthropic):
    block = {**think("EqQBCkYIARgCKkD1sigA"), "thinking": "(thinking omitted)"}
    (finding,) = anthropic([GO, {"role": "assistant", "content": [block, USE]}, RESULT], thinking=MANUAL)
    assert (finding.rule, finding.pointer) == ("reasoning.fabricated", "/messages/1/content/0/thinking")


def test_a_provider_without_any_carrier_is_said_to_have_none(chat):
    (finding,) = chat([GO, {"role": "assistant", "content": "hi", "reasoning_content": "greet"}, GO])
    assert (finding.rule, finding.severity) == ("reasoning.foreign", "warning")
    assert finding.pointer == "/messages/1/reasoning_content"


def test_a_field_that_the_provider_ignores_is_only_told_once_it_has_answered(chat):
    history = [GO, {"role": "assistant", "content": "hi", "reasoning_content": "greet"}, GO]
    answer = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}]}
    found = chat(history, answer, provider="ollama", model="qwen3")
    assert [(f.rule, f.severity) for f in found if f.rule == "reasoning.foreign"] == [("reasoning.foreign", "info")]
    (alone,) = [f for f in chat(history, provider="ollama", model="qwen3") if f.rule == "reasoning.foreign"]
    assert alone.severity == "warning" and "the provider reads reasoning" in alone.message


def test_one_text_on_every_turn_with_calls(chat):
    def turn(call_id):
        call = {"id": call_id, "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        said = {"role": "assistant", "content": None, "reasoning_content": "Go on.", "tool_calls": [call]}
        return [said, {"role": "tool", "tool_call_id": call_id, "content": "a"}]

    last = {"role": "assistant", "content": "done", "reasoning_content": "All is read."}
    found = chat([GO, *turn("a"), *turn("b"), last, GO], provider="deepseek", model="deepseek-v4-flash")
    assert [(f.rule, f.pointer) for f in found] == [("reasoning.fabricated", "/messages/1/reasoning_content")]


def test_redacted_data_has_a_form_too(anthropic):
    turn = {"role": "assistant", "content": [{"type": "redacted_thinking", "data": HEX}, USE]}
    (finding,) = anthropic([GO, turn, RESULT], thinking=MANUAL)
    assert (finding.rule, finding.pointer) == ("reasoning.foreign", "/messages/1/content/0/data")


def test_a_signature_that_this_session_received_is_genuine_whatever_its_form(inspect):
    content = [think(HEX), {**USE, "id": "toolu_abcdefgh12345678"}]
    body = {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "tool_use"}
    request = {"model": "claude-opus-4-8", "max_tokens": 9, "thinking": {"type": "adaptive"}, "messages": [GO]}
    reply = {"type": "tool_result", "tool_use_id": "toolu_abcdefgh12345678", "content": "a"}
    history = [GO, {"role": "assistant", "content": content}, {"role": "user", "content": [reply]}]
    pairs = [(request, body), ({**request, "messages": history}, None)]
    assert not inspect(pairs, protocol="anthropic-messages", provider="anthropic")


def test_a_field_that_the_provider_does_not_speak(chat):
    turn = {"role": "assistant", "content": "hi", "reasoning": "greet"}
    found = chat([GO, turn, GO], provider="deepseek", model="deepseek-v4-flash")
    assert [(f.rule, f.severity, f.pointer) for f in found] == [
        ("reasoning.foreign", "warning", "/messages/1/reasoning")
    ]


ON = {"type": "enabled"}


def call(number, reasoning, field="reasoning_content"):
    arguments = json.dumps({"page": number})
    made = {"id": f"c{number}", "type": "function", "function": {"name": "ls", "arguments": arguments}}
    result = {"role": "tool", "tool_call_id": f"c{number}", "content": "a"}
    return [{"role": "assistant", "content": None, field: reasoning, "tool_calls": [made]}, result]


def history(*thoughts):
    return [GO, *(message for n, thought in enumerate(thoughts) for message in call(n, thought))]


FABRICATED = [
    ("different thoughts", ["Open a.", "Now b."], []),
    ("one text on every turn", ["x y z", "x y z"], ["/messages/1/reasoning_content"]),
    ("the same thought twice among others", ["Look.", "Look.", "Done."], []),
    ("one text on many turns", ["Look.", "Look.", "Look.", "Done."], ["/messages/1/reasoning_content"]),
    ("an obvious placeholder", ["Open a.", "[reasoning omitted]"], ["/messages/3/reasoning_content"]),
]


@pytest.mark.parametrize(("thoughts", "expected"), [r[1:] for r in FABRICATED], ids=[r[0] for r in FABRICATED])
def test_invented_reasoning(chat, thoughts, expected):
    found = chat(history(*thoughts), provider="deepseek", model="deepseek-v4-flash", thinking=ON)
    assert [(f.rule, f.severity, f.pointer) for f in found] == [
        ("reasoning.fabricated", "warning", pointer) for pointer in expected
    ]


def test_every_place_of_an_invented_text_is_related(chat):
    (finding,) = chat(history("x", "x", "x"), provider="deepseek", model="deepseek-v4-flash", thinking=ON)
    assert finding.related == ("/messages/3/reasoning_content", "/messages/5/reasoning_content")


def test_one_text_in_two_carriers_of_a_turn_is_said_once(chat):
    turn, result = call(0, "Look here.")
    turn["reasoning"] = "Look here."
    assert not chat([GO, turn, result], provider="generic")


def test_what_was_received_twice_alike_is_not_invented(inspect):
    messages = history("Again.", "Again.")
    request = {"model": "deepseek-v4-flash", "thinking": ON}
    pairs = [
        ({**request, "messages": messages[: 2 * n + 1]}, {"choices": [{"message": messages[2 * n + 1]}]})
        for n in range(2)
    ]
    found = inspect([*pairs, ({**request, "messages": messages}, None)], protocol="openai-chat", provider="deepseek")
    assert not found


@pytest.mark.parametrize("text", ["[reasoning omitted]", "(thinking was removed)", ".", " ", "…", "N/A", "tool call"])
def test_placeholders(text):
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["", "missing file, look again", "I removed the file.", "Open a.", "They lost it."])
def test_thoughts(text):
    assert not is_placeholder(text)


def test_a_signature_of_another_provider_of_the_session():
    call_id = "toolu_abcdefgh12345678"
    content = [think("EqQBCkYIARgCKkD1sigA"), {**USE, "id": call_id}]
    reply = {"type": "tool_result", "tool_use_id": call_id, "content": "a"}
    body = {"type": "message", "role": "assistant", "model": "deepseek-v4-pro", "content": content}
    request = {"max_tokens": 9, "thinking": {"type": "adaptive"}, "messages": [GO]}
    history = [GO, {"role": "assistant", "content": content}, {"role": "user", "content": [reply]}]
    exchanges = (
        exchange("https://api.deepseek.com/anthropic/v1/messages", {**request, "model": "deepseek-v4-pro"}, body),
        exchange("https://api.anthropic.com/v1/messages", {**request, "model": "claude-opus-4-8", "messages": history}),
    )
    findings = Inspector(MemorySession("switch", exchanges)).run().findings
    (finding,) = [f for f in findings if f.rule == "reasoning.foreign"]
    assert (finding.exchange, finding.severity) == (1, "error")
    assert "deepseek" in finding.message


def exchange(url, request, response=None):
    answer = HttpResponse(200, Headers(), Body(json.dumps(response).encode())) if response else None
    return Exchange(url, HttpRequest(url=url, body=Body(json.dumps(request).encode())), answer)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("model", ["deepseek-v4-flash", "minimax-m2"])
def test_a_host_that_nobody_knows_names_the_field_of_reasoning_as_it_likes(model: str, field: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = {"role": "assistant", "content": None, field: "Let me look.", "tool_calls": [call]}
    talk = [{"role": "user", "content": "go"}, turn, {"role": "tool", "tool_call_id": "call_1", "content": "ok"}]
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
    body = json.dumps({"model": model, "messages": talk, "tools": tools}).encode()
    request = HttpRequest(url="https://inference.example/v1/chat/completions", body=Body(body))
    (row,) = Inspector(MemorySession("a", (Exchange("1", request),))).run().rows
    assert (row.provider or "").startswith("generic:")
    assert not [f.rule for f in row.findings if f.rule.startswith("reasoning.")]


OF_ANTHROPIC = "EqQBCkYIBxgCKkDzcwd9QrbMZ79kRrc7Ceq0ECkg"
OF_GEMINI = "EvcDCvQDAb4+9vtKOirtCQROXb6SGZXrAzu"
OF_OPENAI = "gAAAAABqPBJeFhsPCjOVtLmFf9nqhrg3Q1346dfx"
FORMS = [
    ("anthropic", "its key is named in more than 127 bytes", "EqYCCpMBCBAYAipA" + "0Ab9" * 8),
    ("anthropic", "of Bedrock", "EtkBCkgIEBABGAIqQIyk" + "0Ab9" * 8),
    ("anthropic", "without a version", "EuYBCkQYAiJAQ7ZO" + "0Ab9" * 8),
    ("gemini", "short", "CiQBcsja" + "0Ab9" * 8),
    ("gemini", "long", "CpICAY89" + "0Ab9" * 8),
]
"""Lengths in a proof take one or two bytes, which move what follows."""
PROOFS = {"anthropic": OF_ANTHROPIC, "gemini": OF_GEMINI, "openai": OF_OPENAI}


def proved(provider, proof):
    """(protocol, request, pointer of the proof) of a turn whose reasoning has a proof, on the wire of a provider."""
    if provider == "gemini":
        call = {"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": proof}
        result = {"functionResponse": {"name": "ls", "response": {"a": 1}}}
        said = [("user", {"text": "go"}), ("model", call), ("user", result)]
        contents = [{"role": role, "parts": [part]} for role, part in said]
        return "gemini", {"contents": contents}, "/contents/1/parts/0/thoughtSignature"
    if provider == "openai":
        item = {"type": "reasoning", "id": "rs_0a1816", "summary": [], "encrypted_content": proof}
        call = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}
        result = {"type": "function_call_output", "call_id": "c", "output": "a"}
        body = {"model": "gpt-5", "store": False, "input": [{"role": "user", "content": "go"}, item, call, result]}
        return "openai-responses", body, "/input/1/encrypted_content"
    use = {"type": "tool_use", "id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "name": "ls", "input": {}}
    turn = {"role": "assistant", "content": [{"type": "thinking", "thinking": "I list.", "signature": proof}, use]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": "a"}]}
    body = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}, turn, result]}
    return "anthropic-messages", body, "/messages/1/content/0/signature"


@pytest.mark.parametrize("issuer", PROOFS)
@pytest.mark.parametrize("provider", PROOFS)
def test_a_proof_is_told_by_its_form_in_every_direction(inspect, provider, issuer):
    protocol, body, pointer = proved(provider, PROOFS[issuer])
    found = inspect(body, protocol=protocol, provider=provider)
    assert [f.pointer for f in found if f.rule == "reasoning.foreign"] == ([] if issuer == provider else [pointer])


@pytest.mark.parametrize(("issuer", "proof"), [(row[0], row[2]) for row in FORMS], ids=[row[1] for row in FORMS])
@pytest.mark.parametrize("provider", PROOFS)
def test_every_form_of_a_proof_has_one_issuer(inspect, provider, issuer, proof):
    protocol, body, pointer = proved(provider, proof)
    found = inspect(body, protocol=protocol, provider=provider)
    assert [f.pointer for f in found if f.rule == "reasoning.foreign"] == ([] if issuer == provider else [pointer])


@pytest.mark.parametrize("proof", ["9f86d081884c7d659a2feaa0c55ad015", "806896f9-a0e7-497f-9645-51900b22342d"])
@pytest.mark.parametrize("provider", PROOFS)
def test_digits_of_other_vendors_are_no_proof(inspect, provider, proof):
    protocol, body, pointer = proved(provider, proof)
    found = inspect(body, protocol=protocol, provider=provider)
    assert [f.pointer for f in found if f.rule == "reasoning.foreign"] == [pointer]


def test_a_proof_of_unknown_form_is_not_foreign(inspect):
    protocol, body, _ = proved("gemini", "AVSoXO4AAAAAAAAAAAAAAAAAAAAA")
    assert not [f for f in inspect(body, protocol=protocol, provider="gemini") if f.rule == "reasoning.foreign"]
