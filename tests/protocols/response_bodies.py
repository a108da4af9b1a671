"""Hypothesis strategies for bodies and streams made of items, healthy ones and ones of the wrong shape."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON, NUMBER, OBJECT, TEXT, block, maybe
from tests.protocols.chat_bodies import filled
from tests.record_responses import Json, stream, whole

ID = st.sampled_from(["call_1", "call_2", ""])
ITEM_ID = st.sampled_from(["id_1", "id_2"])
ARGUMENTS = OBJECT.map(json.dumps) | JSON.map(lambda v: json.dumps(v, ensure_ascii=False, indent=1)) | TEXT
STATUS = maybe(st.sampled_from(["completed", "incomplete"]))
URL = st.sampled_from(["https://a.example/i.png", "data:image/png;base64,AA=="])
INPUT = (
    block("input_text", text=TEXT)
    | block("input_image", image_url=maybe(URL), file_id=maybe(TEXT), detail=maybe(st.just("low")))
    | block("input_file", file_data=maybe(URL | TEXT), file_url=maybe(URL), file_id=maybe(TEXT), filename=maybe(TEXT))
    | block("input_audio", input_audio=filled(data=TEXT, format=st.just("wav")))
    | block("from_the_future", value=JSON)
)
OUTPUT = block("output_text", text=TEXT, annotations=st.lists(OBJECT, max_size=1), logprobs=maybe(st.just([])))
REFUSAL = block("refusal", refusal=TEXT)
CONTENT = TEXT | st.lists(INPUT, max_size=3)
TEXTS = st.lists(block("summary_text", text=TEXT, extra=maybe(TEXT)), max_size=3)

SAID = block("message", id=ITEM_ID, role=st.just("assistant"), status=STATUS, content=st.lists(OUTPUT, max_size=3))
CALL = block("function_call", id=ITEM_ID, call_id=ID, name=TEXT, arguments=ARGUMENTS, status=STATUS)
CUSTOM = block("custom_tool_call", id=ITEM_ID, call_id=ID, name=TEXT, input=TEXT, namespace=maybe(TEXT))
THOUGHT = block(
    "reasoning",
    id=ITEM_ID,
    summary=TEXTS,
    content=maybe(st.lists(block("reasoning_text", text=TEXT), max_size=2)),
    encrypted_content=maybe(TEXT),
)
SERVED = (
    block("web_search_call", id=ITEM_ID, status=STATUS, action=OBJECT)
    | block("file_search_call", id=ITEM_ID, queries=st.lists(TEXT, max_size=2), results=maybe(st.none()))
    | block("mcp_list_tools", id=ITEM_ID, server_label=TEXT, tools=st.lists(OBJECT, max_size=1))
    | block("from_the_future", id=ITEM_ID, value=JSON)
)
OUTCOMES = (
    block("mcp_call", id=ITEM_ID, name=TEXT, server_label=TEXT, arguments=ARGUMENTS, output=maybe(TEXT | st.none()))
    | block(
        "code_interpreter_call",
        id=ITEM_ID,
        code=TEXT,
        outputs=st.lists(block("logs", logs=TEXT) | block("image", url=URL) | OBJECT, max_size=2),
    )
    | block("image_generation_call", id=ITEM_ID, result=maybe(TEXT | st.none()))
)
ASKED = (
    block("computer_call", id=ITEM_ID, call_id=ID, action=OBJECT)
    | block("shell_call", call_id=ID, action=filled(commands=st.lists(TEXT, max_size=2)))
    | block("apply_patch_call", call_id=ID, operation=filled(diff=TEXT, path=TEXT))
    | block("tool_search_call", call_id=ID, execution=st.just("client"), arguments=OBJECT)
)
RESULT = (
    block("function_call_output", call_id=maybe(ID), output=maybe(CONTENT | JSON), status=STATUS)
    | block("custom_tool_call_output", call_id=ID, output=CONTENT)
    | block("computer_call_output", call_id=ID, output=block("computer_screenshot", image_url=URL))
    | block(
        "shell_call_output", call_id=ID, output=st.lists(filled(stdout=TEXT, stderr=TEXT, outcome=OBJECT), max_size=2)
    )
    | block("apply_patch_call_output", call_id=ID, status=st.just("completed"), output=maybe(TEXT))
)
MESSAGE = filled(role=st.sampled_from(["user", "developer", "system", "assistant"]), content=CONTENT, name=maybe(TEXT))
ITEM = MESSAGE | SAID | CALL | CUSTOM | THOUGHT | SERVED | OUTCOMES | ASKED | RESULT | filled(id=ITEM_ID)
WRONG: st.SearchStrategy[Any] = JSON | filled(
    type=maybe(st.sampled_from(["message", "reasoning", "function_call", "mcp_call", "shell_call_output"]) | JSON),
    **{k: maybe(JSON) for k in ("role", "content", "summary", "arguments", "output", "call_id", "id", "action")},
)
REQUEST = filled(model=st.just("gpt-x"), input=st.lists(ITEM | WRONG, max_size=4), temperature=maybe(NUMBER))
ANSWERED = SAID | CALL | CUSTOM | THOUGHT | SERVED | OUTCOMES | ASKED
RESPONSE = st.lists(ANSWERED | WRONG, max_size=4).map(lambda items: whole(*items))


def numbered(items: list[Json]) -> list[Json]:
    """The items with ids of their own."""
    return [item | {"id": f"item_{n}"} for n, item in enumerate(items)]


STREAMED = (SAID | CALL | CUSTOM | THOUGHT | block("web_search_call", status=STATUS, action=OBJECT)) | ASKED
STREAM = st.builds(
    lambda items, size: stream(whole(*numbered(items)), size=size), st.lists(STREAMED, max_size=4), st.integers(1, 5)
)
KIND = st.sampled_from(
    [
        *("response.created", "response.completed", "response.failed", "response.output_item.added"),
        *("response.output_item.done", "response.content_part.added", "response.content_part.done"),
        *("response.output_text.delta", "response.output_text.done", "response.function_call_arguments.delta"),
        *("response.reasoning_summary_text.delta", "response.output_text.annotation.added", "error"),
        *("response.shell_call_command.delta", "response.web_search_call.searching", "response.from.the_future"),
    ]
)
INDEX = st.integers(-1, 3) | JSON
EVENT = filled(
    type=maybe(KIND | JSON),
    output_index=maybe(INDEX),
    content_index=maybe(INDEX),
    item_id=maybe(ITEM_ID | JSON),
    item=maybe(ANSWERED | WRONG),
    part=maybe(OUTPUT | REFUSAL | WRONG),
    response=maybe(st.lists(ANSWERED, max_size=2).map(lambda items: whole(*items)) | JSON),
    delta=maybe(TEXT | JSON),
    text=maybe(TEXT | JSON),
    arguments=maybe(TEXT | JSON),
    error=maybe(JSON),
    sequence_number=maybe(st.integers(0, 9) | JSON),
)
EVENTS = st.lists(EVENT, max_size=8)
