"""Hypothesis strategies for bodies and streams of Cohere's second API, healthy ones and ones of the wrong shape."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON, OBJECT, TEXT, block, maybe
from tests.protocols.chat_bodies import ARGUMENTS, PROSE, filled

Json = dict[str, Any]

CALL = (
    filled(
        id=maybe(TEXT | JSON),
        type=maybe(st.just("function")),
        function=filled(name=maybe(TEXT), arguments=maybe(ARGUMENTS | OBJECT | st.none())),
    )
    | JSON
)
DOCUMENT = block("document", document=filled(id=maybe(TEXT), data=maybe(TEXT | OBJECT)) | JSON)
BLOCK = (
    block("text", text=PROSE | JSON)
    | block("thinking", thinking=TEXT | JSON, new_key=maybe(JSON))
    | block("image_url", image_url=filled(url=TEXT, detail=maybe(st.just("low"))))
    | DOCUMENT
    | JSON
)
SAID = {
    "content": maybe(PROSE | st.none() | st.lists(BLOCK, max_size=3) | JSON),
    "tool_plan": maybe(TEXT | st.none() | JSON),
    "tool_calls": maybe(st.lists(CALL, max_size=3) | JSON),
    "citations": maybe(st.lists(OBJECT, max_size=2)),
}
ANSWER = filled(role=maybe(st.just("assistant")), **SAID)
MESSAGE = (
    ANSWER
    | filled(role=st.sampled_from(["system", "user"]), **SAID)
    | filled(role=st.just("tool"), tool_call_id=maybe(TEXT | JSON), **SAID)
    | JSON
)
TOOL = filled(type=st.just("function"), function=filled(name=TEXT, parameters=OBJECT)) | JSON
REQUEST = filled(
    model=maybe(TEXT | JSON),
    messages=st.lists(MESSAGE, max_size=4) | JSON,
    tools=maybe(st.lists(TOOL, max_size=2) | JSON),
    tool_choice=maybe(st.sampled_from(["REQUIRED", "NONE"]) | JSON),
    strict_tools=maybe(st.booleans() | JSON),
    thinking=maybe(
        filled(type=maybe(st.sampled_from(["enabled", "disabled"]) | JSON), token_budget=maybe(JSON)) | JSON
    ),
    p=maybe(JSON),
    stream=maybe(st.booleans() | JSON),
)
REASON = st.sampled_from(["COMPLETE", "TOOL_CALL", "MAX_TOKENS", "ERROR"])
COUNTS = filled(input_tokens=maybe(st.integers(0, 9) | st.floats(0, 9) | JSON), output_tokens=maybe(st.integers(0, 9)))
USAGE = filled(tokens=maybe(COUNTS | JSON), cached_tokens=maybe(st.integers(0, 9) | JSON), billed_units=maybe(COUNTS))
RESPONSE = filled(id=maybe(TEXT | JSON), message=ANSWER, finish_reason=maybe(REASON | JSON), usage=maybe(USAGE | JSON))

INDEX = maybe(st.integers(0, 1) | JSON)
PIECE = st.sampled_from(["<think>", "a", "</think>", "\n", "é", ""])
CONTENT = filled(type=maybe(st.sampled_from(["text", "thinking"])), text=maybe(PIECE), thinking=maybe(PIECE))
CALL_DELTA = filled(
    id=maybe(st.sampled_from(["c", "d"])),
    type=maybe(st.just("function")),
    function=maybe(
        filled(name=maybe(st.sampled_from(["f", ""])), arguments=maybe(st.sampled_from(['{"a":', "1}", ""]) | JSON))
    ),
)
DELTA = filled(
    message=maybe(
        filled(
            role=maybe(st.just("assistant")),
            content=maybe(CONTENT | st.lists(CONTENT, max_size=2) | JSON),
            tool_plan=maybe(PIECE | JSON),
            tool_calls=maybe(CALL_DELTA | st.lists(CALL_DELTA, max_size=2) | JSON),
            citations=maybe(OBJECT | JSON),
        )
        | JSON
    ),
    finish_reason=maybe(REASON | JSON),
    usage=maybe(USAGE | JSON),
    error=maybe(TEXT),
)
KINDS = (
    *("message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start"),
    *("tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end", "debug"),
)
EVENT = filled(
    type=maybe(st.sampled_from(KINDS) | JSON),
    index=INDEX,
    delta=maybe(DELTA | JSON),
    id=maybe(TEXT),
    prompt=maybe(TEXT),
)


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def frame(value: Mapping[str, Any] | bytes) -> bytes:
    if isinstance(value, bytes):
        return b"data: " + value + b"\n\n"
    kind = value.get("type")
    name = b"event: %s\n" % kind.encode() if isinstance(kind, str) and kind in KINDS else b""
    return name + b"data: " + dump(value) + b"\n\n"


def stream(events: Iterable[Mapping[str, Any] | bytes]) -> bytes:
    return b"".join(map(frame, events))


STREAM = st.lists(EVENT | st.sampled_from([b"[1]", b"{", b"", b"[DONE]"]), max_size=8).map(stream)


def event(kind: str, message: Json | None = None, index: int | None = None, **more: Any) -> Json:
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, **more, **({} if message is None else {"delta": {"message": message}})}


START = event("message-start", {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}, id="m1")


def end(reason: str = "COMPLETE", **more: Any) -> Json:
    return {"type": "message-end", "delta": {"finish_reason": reason, **more}}


def text(*pieces: str, index: int = 0, kind: str = "text") -> list[Json]:
    """Content as it starts, grows and ends."""
    grown = [event("content-delta", {"content": {kind: piece}}, index) for piece in pieces]
    start = event("content-start", {"content": {"type": kind, kind: ""}}, index)
    return [start, *grown, event("content-end", index=index)]


def call(call_id: str, name: str, *pieces: str, index: int = 0) -> list[Json]:
    made = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    grown = [event("tool-call-delta", {"tool_calls": {"function": {"arguments": piece}}}, index) for piece in pieces]
    return [event("tool-call-start", {"tool_calls": made}, index), *grown, event("tool-call-end", index=index)]
