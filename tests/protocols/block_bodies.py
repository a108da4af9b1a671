"""Hypothesis strategies for bodies made of typed blocks, healthy ones and ones of the wrong shape."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

TEXT = st.text(max_size=6) | st.sampled_from(["", " ", "\\", '"', "é", "東京", "😀", "\n", "</x>"])
NUMBER = st.integers(-9, 10**20) | st.floats(-8, 8, allow_nan=False).map(lambda x: round(x, 2))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
NOTHING: Any = object()
"""A key that is left out."""


def block(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """A block of a type; a field may yield ``NOTHING``."""
    filled = st.fixed_dictionaries({"type": st.just(kind), **fields})
    return filled.map(lambda value: {k: v for k, v in value.items() if v is not NOTHING})


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.just(NOTHING) | strategy


MARK = maybe(st.just({"type": "ephemeral", "ttl": "1h"}))
SOURCE = (
    block("base64", media_type=st.just("image/png"), data=st.just("iVBORw0KGgo="))
    | block("url", url=TEXT)
    | block("file", file_id=TEXT)
    | block("text", media_type=st.just("text/plain"), data=TEXT)
    | block("content", content=st.lists(block("text", text=TEXT), max_size=2))
)
ID = st.sampled_from(["toolu_1", "toolu_2", ""])
TEXT_BLOCK = block("text", text=TEXT, cache_control=MARK)
IMAGE = block("image", source=SOURCE)
DOCUMENT = block("document", source=SOURCE, title=maybe(TEXT))
THINKING = block("thinking", thinking=TEXT, signature=maybe(TEXT))
REDACTED = block("redacted_thinking", data=TEXT)
TOOL_USE = block("tool_use", id=ID, name=TEXT, input=OBJECT, cache_control=MARK)
SERVER_USE = block("server_tool_use", id=ID, name=TEXT, input=OBJECT) | block(
    "mcp_tool_use", id=ID, name=TEXT, server_name=TEXT, input=OBJECT
)
SERVER_RESULT = block(
    "web_search_tool_result",
    tool_use_id=ID,
    content=block("web_search_tool_result_error", error_code=TEXT)
    | st.lists(block("web_search_result", url=TEXT, page_age=st.none()), max_size=2),
)
OTHER = block("container_upload", file_id=TEXT) | block("from_the_future", value=JSON)
INNER = TEXT_BLOCK | IMAGE | DOCUMENT | block("tool_reference", tool_name=TEXT)
RESULT = block(
    "tool_result",
    tool_use_id=ID,
    content=maybe(TEXT | st.lists(INNER, max_size=3)),
    is_error=maybe(st.booleans()),
    cache_control=MARK,
)
ANSWERED = TEXT_BLOCK | THINKING | REDACTED | TOOL_USE | SERVER_USE | SERVER_RESULT | OTHER
"""Blocks of an answer."""

BLOCK = ANSWERED | RESULT | IMAGE | DOCUMENT
WRONG = JSON | st.sampled_from(["text", "image", "tool_use", "tool_result", "thinking"]).flatmap(
    lambda kind: st.dictionaries(
        st.sampled_from(
            ["text", "source", "id", "name", "input", "tool_use_id", "content", "is_error", "thinking", "signature"]
        ),
        JSON,
    ).map(lambda fields: {"type": kind, **fields})
)
"""Blocks that are none, or lack what they need."""


def content(blocks: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return TEXT | st.lists(blocks, max_size=3)


MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system"]), "content": content(BLOCK)})
WRONG_MESSAGE = JSON | st.fixed_dictionaries(
    {}, optional={"role": JSON, "content": content(WRONG) | JSON, "tool_call_id": TEXT, "tool_calls": JSON}
)
TOOL = st.fixed_dictionaries(
    {"name": TEXT, "input_schema": OBJECT},
    optional={"description": TEXT, "strict": st.booleans(), "type": st.just("custom")},
)
REQUEST = st.fixed_dictionaries(
    {"model": st.just("claude-x"), "messages": st.lists(MESSAGE, max_size=3)},
    optional={"system": content(TEXT_BLOCK), "tools": st.lists(TOOL, max_size=2), "max_tokens": st.just(9)},
)
WRONG_REQUEST = st.fixed_dictionaries(
    {"messages": st.lists(WRONG_MESSAGE, max_size=3) | JSON},
    optional={key: JSON for key in ("model", "system", "tools", "tool_choice", "thinking", "thread", "stream")},
)


def message_body(blocks: list[Json], reason: str | None = "end_turn") -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }


def dump(value: object, *, ascii: bool = False, indent: int | None = None) -> bytes:
    return json.dumps(value, ensure_ascii=ascii, indent=indent).encode("utf-8", "surrogatepass")


BODY_STYLE = st.fixed_dictionaries({"ascii": st.booleans(), "indent": st.sampled_from([None, 1])})

GROWS = {"text": ("text", "text_delta", "text"), "thinking": ("thinking", "thinking_delta", "thinking")}


def frame(event: Json, *, newline: str = "\n") -> bytes:
    return f"event: {event['type']}{newline}data: {json.dumps(event, ensure_ascii=False)}{newline}{newline}".encode()


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces, some of them empty."""
    at = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    return [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]


@st.composite
def streamed(draw: st.DrawFn, body: Json) -> list[Json]:
    """The events of a stream that builds a message."""
    start = body | {"content": [], "stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": start}]
    for index, whole in enumerate(body["content"]):
        opened, deltas = draw(_opened(whole))
        events.append({"type": "content_block_start", "index": index, "content_block": opened})
        events += ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events += [{"type": "ping"}] if draw(st.booleans()) else []
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}})
    return [*events, {"type": "message_stop"}]


@st.composite
def _opened(draw: st.DrawFn, block: Json) -> tuple[Json, list[Json]]:
    """How a block is opened, and the deltas that fill it."""
    kind = block["type"]
    if kind in GROWS:
        key, delta, name = GROWS[kind]
        deltas = [{"type": delta, name: piece} for piece in draw(cut(block[key]))]
        opened = block | {key: ""}
        if block.get("signature"):
            deltas += [{"type": "signature_delta", "signature": piece} for piece in draw(cut(block["signature"]))]
            opened["signature"] = ""
        return opened, deltas
    if kind.endswith("tool_use"):
        text = json.dumps(block["input"], ensure_ascii=draw(st.booleans())) if block["input"] else ""
        return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in draw(cut(text))]
    return block, []


def start(index: int, **block: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def finish(reason: str) -> tuple[Json, Json]:
    change = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}
    return change, {"type": "message_stop"}


BEGIN: Json = {"type": "message_start", "message": message_body([], None)}
OPEN_TEXT = start(0, type="text", text="")
OPEN_CALL = start(0, type="tool_use", id="toolu_1", name="f", input={})
OK = (BEGIN, OPEN_TEXT, delta(0, "text_delta", text="a"), stop(0), *finish("end_turn"))
"""A healthy stream."""
