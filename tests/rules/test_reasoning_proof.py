"""Thought signatures: the first call of every step of the current turn carries the one it was received with."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tests.rules.conftest import brief

PROOF, STAND_IN = "CiQB0rVY", "skip_thought_signature_validator"
THREE, OLD = "gemini-3-pro-preview", "gemini-2.5-flash"
DUMMY = "context_engineering_is_the_way_to_go"
FLASH = "gemini-3-flash-preview"


def ask(text="ls"):
    return {"role": "user", "parts": [{"text": text}]}


def step(*calls):
    parts = []
    for name, signature in calls:
        part = {"functionCall": {"name": name, "args": {}}}
        parts.append(part if signature is None else {**part, "thoughtSignature": signature})
    return {"role": "model", "parts": parts}


def done(*names):
    return {"role": "user", "parts": [{"functionResponse": {"name": n, "response": {"output": n}}} for n in names]}


@pytest.fixture
def gemini(inspect):
    def run(*contents, model=THREE):
        return inspect({"model": model, "contents": list(contents)}, protocol="gemini", provider="gemini")

    return run


def missing(content, part=0):
    return [("reasoning.missing", "error", f"/contents/{content}/parts/{part}")]


STEPS = [
    ("signed", [ask(), step(("ls", PROOF)), done("ls")], []),
    ("unsigned", [ask(), step(("ls", None)), done("ls")], missing(1)),
    ("an empty signature", [ask(), step(("ls", "")), done("ls")], missing(1)),
    ("of parallel calls the first alone", [ask(), step(("a", PROOF), ("b", None)), done("a", "b")], []),
    ("of parallel calls the second alone", [ask(), step(("a", None), ("b", PROOF)), done("a", "b")], missing(1)),
    ("two steps", [ask(), step(("a", PROOF)), done("a"), step(("b", None)), done("b")], missing(3)),
    ("an earlier turn", [ask(), step(("a", None)), done("a"), ask("more"), step(("b", PROOF)), done("b")], []),
    ("a history that begins with the call", [step(("a", None)), done("a")], missing(0)),
]


@pytest.mark.parametrize(("contents", "expected"), [r[1:] for r in STEPS], ids=[r[0] for r in STEPS])
def test_steps(gemini, contents, expected):
    assert [b for b in brief(gemini(*contents)) if b[0].startswith("reasoning.")] == expected


def test_older_models_owe_none(inspect):
    body = {"contents": [ask(), step(("ls", None)), done("ls")], "model": OLD}
    found = inspect(body, protocol="gemini", provider="gemini")
    assert not [f for f in found if f.rule == "reasoning.missing"] or body["model"] != OLD


def test_calls_with_ids_owe_it_too(gemini):
    contents = [ask(), step(("ls", None)), done("ls")]
    contents[1]["parts"][0]["functionCall"]["id"] = "call-1"
    contents[2]["parts"][0]["functionResponse"]["id"] = "call-1"
    assert brief(gemini(*contents)) == missing(1)


def test_a_signature_on_a_thought_beside_the_call_is_not_the_calls_own(gemini):
    contents = [ask(), step(("ls", None)), done("ls")]
    contents[1]["parts"].insert(0, {"text": "I list.", "thought": True, "thoughtSignature": PROOF})
    (finding,) = gemini(*contents)
    assert finding.pointer == "/contents/1/parts/1"
    assert "there is a signature on another part" in finding.message


def test_the_refusal_names_call_and_position(gemini):
    (finding,) = gemini(ask(), step(("ls", None)), done("ls"))
    assert "function call `default_api:ls` , position 2." in finding.refusal


@pytest.mark.parametrize("signature", [STAND_IN, DUMMY, b64encode(STAND_IN.encode()).decode()])
def test_documented_stand_ins_pass_and_are_named(gemini, signature):
    found = gemini(ask(), step(("ls", signature)), done("ls"))
    assert brief(found) == [("reasoning.fabricated", "info", "/contents/1/parts/0/thoughtSignature")]


def test_a_stand_in_for_a_signature_that_was_received_is_not_called_altered(inspect):
    body = {"contents": [ask()], "model": FLASH}
    answer = {"candidates": [{"content": step(("ls", PROOF)), "finishReason": "STOP"}]}
    later = {**body, "contents": [ask(), step(("ls", STAND_IN)), done("ls")]}
    found = inspect([(body, answer), (later, None)], protocol="gemini", provider="gemini")
    assert [f.rule for f in found] == ["reasoning.fabricated"]


def test_what_is_no_base64(gemini):
    (finding,) = gemini(ask(), step(("ls", f"{PROOF}==x")), done("ls"))
    assert (finding.rule, finding.severity) == ("reasoning.foreign", "error")
    assert 'Base64 decoding failed for "CiQB0rVY==x"' in finding.refusal


def test_the_openai_wire_has_it_beside_the_call(chat):
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    signed = {**call, "extra_content": {"google": {"thought_signature": PROOF}}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "a"}
    for made, expected in ((call, ["reasoning.missing"]), (signed, [])):
        messages = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [made]},
            result,
        ]
        assert [f.rule for f in chat(messages, provider="gemini-openai", model=THREE)] == expected
