"""Hypothesis strategies for bodies and streams of Ollama's own API, healthy ones and ones of the wrong shape."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON, OBJECT, TEXT, maybe
from tests.protocols.chat_bodies import PROSE, filled

Json = dict[str, Any]

FUNCTION = filled(name=maybe(TEXT), arguments=maybe(OBJECT | TEXT | st.none()), index=maybe(st.integers(0, 3)))
CALL = filled(id=maybe(TEXT), type=maybe(st.just("function")), function=FUNCTION, new_key=maybe(JSON)) | JSON
SAID = {
    "content": maybe(PROSE | st.none() | JSON),
    "thinking": maybe(TEXT | st.none() | JSON),
    "images": maybe(st.lists(TEXT | JSON, max_size=2) | JSON),
    "tool_calls": maybe(st.lists(CALL, max_size=3) | JSON),
    "new_key": maybe(JSON),
}
ANSWER = filled(role=st.just("assistant"), **SAID)
MESSAGE = (
    ANSWER
    | filled(role=st.sampled_from(["system", "user"]), **SAID)
    | filled(role=st.just("tool"), tool_name=maybe(TEXT | JSON), tool_call_id=maybe(TEXT), **SAID)
    | filled(role=maybe(JSON), **SAID)
    | JSON
)
TOOL = filled(type=st.just("function"), function=filled(name=TEXT, description=maybe(TEXT), parameters=OBJECT)) | JSON
BESIDE = {
    "model": maybe(st.just("m") | JSON),
    "stream": maybe(st.booleans() | JSON),
    "think": maybe(st.booleans() | st.just("low") | JSON),
    "format": maybe(st.just("json") | OBJECT | JSON),
    "options": maybe(filled(temperature=maybe(JSON), num_predict=maybe(st.integers(-2, 9)), new=maybe(JSON)) | JSON),
    "keep_alive": maybe(JSON),
}
CHAT = filled(messages=st.lists(MESSAGE, max_size=4) | JSON, tools=maybe(st.lists(TOOL, max_size=2) | JSON), **BESIDE)
PROMPT = filled(
    prompt=TEXT | JSON, system=maybe(TEXT | JSON), images=maybe(st.lists(TEXT | JSON, max_size=2) | JSON), **BESIDE
)
REQUEST = CHAT | PROMPT
ENDED = {
    "done": maybe(st.booleans() | JSON),
    "done_reason": maybe(st.sampled_from(["stop", "length", "load"]) | JSON),
    "prompt_eval_count": maybe(st.integers(0, 9) | JSON),
    "eval_duration": maybe(JSON),
    "created_at": maybe(TEXT),
}
PROMPTED = filled(
    model=st.just("m"),
    response=PROSE,
    thinking=maybe(TEXT | JSON),
    images=maybe(st.lists(TEXT, max_size=2) | JSON),
    **ENDED,
)
RESPONSE = filled(model=maybe(st.just("m") | JSON), message=ANSWER, **ENDED) | PROMPTED
PIECE = maybe(st.sampled_from(["<think>", "a", "</think>", "\n", "é", ""]) | st.none() | OBJECT)
LINE = (
    filled(model=maybe(JSON), message=filled(role=st.just("assistant"), **SAID | {"content": PIECE}), **ENDED)
    | filled(message=JSON, done=st.booleans())
    | filled(error=TEXT | JSON)
    | OBJECT
)


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def stream(lines: Iterable[Mapping[str, Any] | bytes]) -> bytes:
    return b"".join((line if isinstance(line, bytes) else dump(line)) + b"\n" for line in lines)


LINES = st.lists(LINE | st.sampled_from([b"[1]", b"{", b"", b"null"]), min_size=2, max_size=6)
PROMPTED_LINE = filled(model=st.just("m"), response=PIECE, thinking=maybe(TEXT), **ENDED)
STREAM = LINES.map(stream) | st.lists(PROMPTED_LINE, min_size=2, max_size=4).map(stream)


def line(message: Json | None = None, **more: Any) -> Json:
    """A line of a stream; without a message, the one that is done."""
    start = {"model": "m", "created_at": "2026-08-07T06:08:09.335586Z"}
    if message is None:
        return {**start, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", **more}
    return {**start, "message": {"role": "assistant", **message}, "done": False, **more}


def call(name: str, arguments: Any, **more: Any) -> Json:
    return {"function": {"name": name, "arguments": arguments}, **more}
