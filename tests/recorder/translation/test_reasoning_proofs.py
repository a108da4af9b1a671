"""Proofs for the reasoning of an answer: its own where the client's protocol knows it, else a handle."""

from __future__ import annotations

import pytest

from workbench import protocols
from workbench.ir import Carrier, Message, ModelResponse, Reasoning, Text, ToolCallIR, ToolDef
from workbench.recorder.translation.reasoning_proofs import ResponseNamer, Signer, name_of, read_text_calls

CALL = ToolCallIR("1", "ls", {}, "function")
PLAIN = Reasoning(Carrier.REASONING_CONTENT, "hm")
DETAIL = Reasoning(Carrier.REASONING_DETAILS, "hm", data=None)
REAL = Reasoning(Carrier.THINKING, "hm", "EqQB")
SEALED = Reasoning(Carrier.ENCRYPTED_ITEM, None, data="gAAA")


def proved(client, *parts):
    """(carrier, whether its proof is ours) of the reasoning that a client gets."""
    signer = Signer("a1", protocols.get(client).capabilities)
    made = list(signer.parts(parts))
    assert [p for p in made if not isinstance(p, Reasoning)] == [p for p in parts if not isinstance(p, Reasoning)]
    return [(p.carrier, name_of(p) == "a1") for p in made if isinstance(p, Reasoning)], len(signer.changes)


@pytest.mark.parametrize(
    ("client", "parts", "given", "said"),
    [
        ("anthropic-messages", (PLAIN, CALL), [(Carrier.THINKING, True)], 1),
        ("anthropic-messages", (PLAIN, DETAIL, CALL), [(Carrier.THINKING, True)], 1),
        ("anthropic-messages", (PLAIN, Text("x"), PLAIN), [(Carrier.THINKING, True)] * 2, 1),
        ("anthropic-messages", (REAL, CALL), [(Carrier.THINKING, False)], 0),
        ("anthropic-messages", (SEALED, CALL), [], 0),
        ("openai-responses", (PLAIN,), [(Carrier.ENCRYPTED_ITEM, True)], 1),
        ("openai-responses", (SEALED,), [(Carrier.ENCRYPTED_ITEM, False)], 0),
        ("gemini", (PLAIN, CALL, CALL), [(Carrier.REASONING_CONTENT, False), (Carrier.THOUGHT_SIGNATURE, True)], 1),
        ("gemini", (PLAIN, Text("x")), [(Carrier.REASONING_CONTENT, False)], 0),
        ("openai-chat", (REAL, CALL), [(Carrier.THINKING, False)], 0),
    ],
)
def test_reasoning_has_a_proof_where_the_client_wants_one(client, parts, given, said):
    made, changes = proved(client, *parts)
    if client == "gemini":
        made = sorted(made, key=lambda each: each[1])
    assert (made, changes) == (given, said)


def test_calls_without_ids_are_named():
    namer = ResponseNamer("a1")
    assert (namer.choose("x"), namer.choose(None), namer.choose("")) == (None, "call_a1_1", "call_a1_2")


HERMES = '<tool_call>\n{"name": "ls", "arguments": {"path": "."}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "calls", "words"),
    [
        (f"I look.\n{HERMES}", ["ls"], "I look.\n"),
        (HERMES * 2, ["ls", "ls"], ""),
        ("no call", [], "no call"),
        ("<tool_call>\nnot json\n</tool_call>", [], "<tool_call>\nnot json\n</tool_call>"),
    ],
)
def test_calls_are_read_out_of_text(text, calls, words):
    response = ModelResponse("openai-chat", messages=(Message("assistant", (Text(text),)),), stop="stop")
    made, changes = read_text_calls(response, "hermes", (ToolDef("ls", None, {"type": "object"}),))
    assert [call.name for _, call in made.messages[0].tool_calls()] == calls
    assert "".join(part.text for part in made.messages[0].parts if isinstance(part, Text)) == words
    assert made.stop == ("tool_calls" if calls else "stop") and len(changes) == len(calls)
