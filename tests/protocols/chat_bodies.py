"""Hypothesis strategies for Chat Completions bodies and streams, healthy ones and ones of the wrong shape."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON, NOTHING, NUMBER, OBJECT, TEXT, block, maybe

Json = dict[str, Any]


def filled(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """An object; a field may yield ``NOTHING``."""
    return st.fixed_dictionaries(fields).map(lambda value: {k: v for k, v in value.items() if v is not NOTHING})


THINK = st.sampled_from(["<think>a\n</think>\n\nb", "<think></think>", "x\n</think>\ny", "<think>open", "é</think>"])
PROSE = TEXT | THINK
ID = st.sampled_from(["call_1", "call_2", ""])
ARGUMENTS = OBJECT.map(json.dumps) | JSON.map(lambda v: json.dumps(v, ensure_ascii=False, indent=1)) | TEXT
CALL = filled(
    id=maybe(ID),
    type=maybe(st.just("function")),
    index=maybe(st.integers(0, 3)),
    function=filled(name=maybe(TEXT), arguments=maybe(ARGUMENTS | st.none() | OBJECT), strict=maybe(st.booleans())),
)
CUSTOM = filled(id=ID, type=st.just("custom"), custom=filled(name=TEXT, input=TEXT))
URL = filled(
    url=st.sampled_from(["https://a.example/i.png", "data:image/png;base64,AA=="]), detail=maybe(st.just("low"))
)
PART = (
    block("text", text=PROSE, cache_control=maybe(OBJECT))
    | block("image_url", image_url=URL | TEXT)
    | block("input_audio", input_audio=filled(data=TEXT, format=st.just("wav")))
    | block("file", file=filled(file_id=maybe(TEXT), file_data=maybe(TEXT), filename=maybe(TEXT)))
    | block("refusal", refusal=TEXT)
    | block("thinking", thinking=st.lists(block("text", text=TEXT), max_size=2) | TEXT, closed=maybe(st.booleans()))
    | block("from_the_future", value=JSON)
)
CONTENT = PROSE | st.none() | st.lists(PART, max_size=3)
DETAIL = block(
    "reasoning.text",
    text=maybe(TEXT),
    summary=maybe(TEXT),
    signature=maybe(TEXT),
    data=maybe(TEXT),
    index=maybe(NUMBER),
)
SAID = {
    "content": maybe(CONTENT),
    "reasoning_content": maybe(TEXT | st.none()),
    "reasoning": maybe(TEXT | st.none()),
    "reasoning_details": maybe(st.lists(DETAIL, max_size=2)),
    "refusal": maybe(TEXT | st.none()),
    "tool_calls": maybe(st.lists(CALL | CUSTOM | block("from_the_future", id=ID), max_size=3) | st.none()),
    "function_call": maybe(filled(name=TEXT, arguments=ARGUMENTS)),
    "new_key": maybe(JSON),
}
ANSWER = filled(role=st.just("assistant"), **SAID)
MESSAGE = (
    filled(role=st.sampled_from(["system", "developer", "user"]), content=CONTENT, name=maybe(TEXT))
    | ANSWER
    | filled(role=st.just("tool"), tool_call_id=maybe(ID), content=maybe(CONTENT), name=maybe(TEXT))
    | filled(role=st.just("function"), name=TEXT, content=TEXT)
)
WRONG = filled(role=maybe(JSON), **{key: maybe(JSON) for key in (*SAID, "tool_call_id", "name")}) | JSON
REQUEST = filled(model=st.just("gpt-x"), messages=st.lists(MESSAGE | WRONG, max_size=4), temperature=maybe(NUMBER))
CHOICE = filled(
    index=st.integers(0, 2), message=ANSWER | WRONG, finish_reason=maybe(st.sampled_from(["stop", None, 3]))
)
RESPONSE = filled(
    id=maybe(JSON), object=st.just("chat.completion"), choices=st.lists(CHOICE | JSON, max_size=2), usage=maybe(JSON)
)

CALL_DELTA = filled(
    index=maybe(st.integers(0, 2) | JSON),
    id=maybe(ID | JSON),
    type=maybe(st.just("function")),
    function=maybe(
        filled(
            name=maybe(st.sampled_from(["f", "g", ""]) | JSON),
            arguments=maybe(st.sampled_from(['{"a":', "1}", ""]) | JSON),
        )
    ),
    extra=maybe(JSON),
)
DELTA = filled(
    role=maybe(st.just("assistant")),
    content=maybe(st.sampled_from(["<think>", "a", "</think>", "\n", "é", ""]) | CONTENT),
    reasoning_content=maybe(TEXT | st.none()),
    reasoning=maybe(TEXT),
    reasoning_details=maybe(st.lists(DETAIL | JSON, max_size=2)),
    refusal=maybe(TEXT),
    tool_calls=maybe(st.lists(CALL_DELTA | JSON, max_size=2) | JSON),
    function_call=maybe(filled(name=maybe(TEXT), arguments=maybe(TEXT)) | JSON),
    new_key=maybe(JSON),
)
CHUNK = filled(
    id=maybe(st.sampled_from(["c1", "c2", ""])),
    object=maybe(st.just("chat.completion.chunk")),
    choices=maybe(
        st.lists(
            filled(
                index=maybe(st.integers(0, 1)),
                delta=maybe(DELTA | JSON),
                finish_reason=maybe(st.sampled_from(["stop", 1, None])),
            )
            | JSON,
            max_size=2,
        )
        | JSON
    ),
    usage=maybe(JSON),
    error=maybe(JSON),
)


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def frame(value: Mapping[str, Any] | bytes) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else dump(value)) + b"\n\n"


def chunk(delta: Json | None = None, reason: str | None = None, *, index: int = 0, **more: Any) -> Json:
    choices = [] if delta is None else [{"index": index, "delta": delta, "finish_reason": reason}]
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": choices, **more}


def stream(chunks: Sequence[Mapping[str, Any] | bytes], *, done: bool = True) -> bytes:
    return b"".join(map(frame, chunks)) + (b"data: [DONE]\n\n" if done else b"")


STREAM = st.builds(
    stream, st.lists(CHUNK | st.sampled_from([b"[1]", b"{", b"", b"[DONE]"]), max_size=6), done=st.booleans()
)
