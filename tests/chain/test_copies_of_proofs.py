"""A proof that a stream brought twice: whichever copy a client kept is a true one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from workbench import protocols
from workbench.chain._reasoning_replay import ReplayOutcome, compare
from workbench.ir import Reasoning
from workbench.wire.stream import read_stream

FIRST, LAST, OTHERS = "QUFB" * 16, "QkJC" * 16, "Q0ND" * 16
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": ""}
SUMMARY = {"type": "summary_text", "text": "hm"}


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {e.get('type', 'message')}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def sealed(proof: str) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs_1", "summary": [SUMMARY], "encrypted_content": proof}


def grown(**delta: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def detail(text: str | None = None, **more: str) -> dict[str, Any]:
    kind = "text" if text is not None or "signature" in more else "encrypted"
    said = {} if text is None else {"text": text}
    return {"choices": [{"index": 0, "delta": {"reasoning_details": [{"type": f"reasoning.{kind}", **said, **more}]}}]}


def called(proof: str, **call: Any) -> dict[str, Any]:
    parts = [{"functionCall": {"willContinue": True, **call}, "thoughtSignature": proof}]
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}]}


STREAMS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "the last event has another seal than the item": (
        "openai-responses",
        [
            {"type": "response.output_item.added", "output_index": 0, "item": sealed(FIRST) | {"summary": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": sealed(FIRST)},
            {"type": "response.completed", "response": {"output": [sealed(LAST)], "status": "completed"}},
        ],
    ),
    "a block is signed twice": (
        "anthropic-messages",
        [
            {"type": "content_block_start", "index": 0, "content_block": THOUGHT},
            grown(type="thinking_delta", thinking="hm"),
            grown(type="signature_delta", signature=FIRST),
            grown(type="signature_delta", signature=LAST),
        ],
    ),
    "Converse signs twice": (
        "bedrock-converse",
        [
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {key: text}}}}
            for key, text in (("text", "hm"), ("signature", FIRST), ("signature", LAST))
        ],
    ),
    "every chunk of a call is signed": (
        "gemini",
        [called(FIRST, name="now"), called(LAST, partialArgs=[{"jsonPath": "$.a", "stringValue": "b"}])],
    ),
    "an encrypted detail comes again under its id": (
        "openai-chat",
        [detail(data=FIRST, id="r1"), detail(data=LAST, id="r1")],
    ),
}


def received(name: str) -> Sequence[Reasoning]:
    protocol, events = STREAMS[name]
    decoder = protocols.get(protocol).stream_decoder()
    for event in read_stream(sse(*events)).events:
        decoder.feed(event)
    return [part for message in decoder.result().messages for _, part in message.reasoning()]


def sent(came: Sequence[Reasoning], proof: str) -> Reasoning:
    """The reasoning as a client sends it that kept this proof."""
    whole = came[0]
    return replace(whole, signature=proof) if whole.signature else replace(whole, data=proof)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    ("proof", "state"), [(FIRST, ReplayOutcome.SENT), (LAST, ReplayOutcome.SENT), (OTHERS, ReplayOutcome.ALTERED)]
)
def test_any_copy_is_true_and_nothing_else_is(name: str, proof: str, state: ReplayOutcome) -> None:
    came = received(name)
    assert compare([sent(came, proof)], came).sent is state


@pytest.mark.parametrize("name", STREAMS)
def test_as_it_came(name: str) -> None:
    came = received(name)
    assert compare(came, came).sent is ReplayOutcome.SENT


def test_the_pieces_of_one_signature_are_no_proofs() -> None:
    decoder = protocols.get("anthropic-messages").stream_decoder()
    pieces = (grown(type="signature_delta", signature=LAST[n : n + 10]) for n in range(0, len(LAST), 10))
    start = {"type": "content_block_start", "index": 0, "content_block": THOUGHT}
    for event in read_stream(sse(start, *pieces)).events:
        decoder.feed(event)
    (block,) = [part for message in decoder.result().messages for _, part in message.reasoning()]
    assert block.signature == LAST
    assert block.copies == ()
    assert compare([replace(block, signature=LAST[-10:])], [block]).sent is ReplayOutcome.ALTERED


def test_a_signature_on_two_parts_may_come_back_on_one() -> None:
    twice = {"parts": [{"functionCall": {"name": n, "args": {}}, "thoughtSignature": FIRST} for n in ("now", "here")]}
    body = json.dumps({"candidates": [{"content": {"role": "model", **twice}}]}).encode()
    came = [part for m in protocols.get("gemini").decode_response(body).messages for _, part in m.reasoning()]
    assert len(came) == 2
    assert compare(came[:1], came).sent is ReplayOutcome.SENT
