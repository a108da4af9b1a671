"""Hypothesis strategies for bodies and streams of the Interactions API, healthy ones and ones of the wrong shape."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON, OBJECT, TEXT, block, maybe
from tests.protocols.chat_bodies import filled

Json = dict[str, Any]

CONTENT = (
    block("text", text=TEXT | JSON, annotations=maybe(st.lists(OBJECT, max_size=2)))
    | block("image", data=maybe(TEXT), uri=maybe(TEXT | JSON), mime_type=maybe(TEXT | JSON))
    | block("video", uri=TEXT, new_key=maybe(JSON))
    | JSON
)
CONTENTS = st.lists(CONTENT, max_size=3) | JSON
SIGNATURE = maybe(TEXT | JSON)
STEP = (
    block("user_input", content=maybe(CONTENTS))
    | block("model_output", content=maybe(CONTENTS), error=maybe(OBJECT))
    | block("thought", summary=maybe(CONTENTS), signature=SIGNATURE, new_key=maybe(JSON))
    | block(
        "function_call", id=maybe(TEXT | JSON), name=maybe(TEXT), arguments=maybe(OBJECT | JSON), signature=SIGNATURE
    )
    | block("function_result", call_id=maybe(TEXT | JSON), result=maybe(TEXT | CONTENTS), is_error=maybe(st.booleans()))
    | block("google_search_call", id=maybe(TEXT), arguments=maybe(OBJECT), signature=SIGNATURE)
    | block("code_execution_result", call_id=maybe(TEXT), result=maybe(TEXT), new_key=maybe(JSON))
    | block("step_of_the_future", id=maybe(TEXT))
    | filled(role=st.sampled_from(["user", "model"]), content=TEXT | CONTENTS)
    | CONTENT
)
TOOL = block("function", name=maybe(TEXT | JSON), parameters=maybe(OBJECT)) | block("google_search") | JSON
CHOICE = st.sampled_from(["auto", "any", "validated"]) | filled(allowed_tools=filled(mode=maybe(st.just("any")))) | JSON
REQUEST = filled(
    model=maybe(TEXT | JSON),
    input=TEXT | st.lists(STEP, max_size=4) | CONTENT,
    system_instruction=maybe(TEXT | JSON),
    tools=maybe(st.lists(TOOL, max_size=2) | JSON),
    generation_config=maybe(filled(tool_choice=maybe(CHOICE), temperature=maybe(JSON)) | JSON),
    previous_interaction_id=maybe(TEXT | JSON),
    stream=maybe(st.booleans() | JSON),
)
STATUS = st.sampled_from(["completed", "requires_action", "incomplete", "failed", "in_progress"])
USAGE = filled(total_input_tokens=maybe(st.integers(0, 9) | JSON), total_thought_tokens=maybe(st.integers(0, 9)))
RESPONSE = filled(
    id=maybe(TEXT | JSON),
    object=st.just("interaction"),
    model=maybe(TEXT),
    status=maybe(STATUS | JSON),
    usage=maybe(USAGE | JSON),
    steps=maybe(st.lists(STEP, max_size=4) | JSON),
)


def events(values: list[Any]) -> bytes:
    """A stream of events, each of them named where it says its type."""
    blocks = []
    for value in values:
        kind = value.get("event_type") if isinstance(value, dict) else None
        name = (
            b"event: %s\n" % kind.encode() if isinstance(kind, str) and kind.isascii() and kind.isprintable() else b""
        )
        blocks.append(b"%sdata: %s\n\n" % (name, json.dumps(value).encode()))
    return b"".join(blocks)


DELTA = (
    block("text", text=TEXT | JSON)
    | block("arguments_delta", arguments=st.sampled_from(['{"a":', "1}", "{}", "x"]) | JSON)
    | block("thought_signature", signature=TEXT)
    | block("thought_summary", content=CONTENT)
    | block("text_annotation_delta", annotations=st.lists(OBJECT, max_size=2) | JSON)
    | block("image", data=TEXT)
    | block("google_search_call", arguments=maybe(OBJECT), signature=SIGNATURE)
    | JSON
)
INDEX = st.integers(0, 2) | JSON
EVENT = (
    filled(event_type=st.just("step.start"), index=INDEX, step=STEP)
    | filled(event_type=st.just("step.delta"), index=INDEX, delta=DELTA)
    | filled(event_type=st.just("step.stop"), index=INDEX, usage=maybe(USAGE))
    | filled(event_type=st.sampled_from(["interaction.created", "interaction.completed"]), interaction=RESPONSE)
    | filled(event_type=st.just("interaction.status_update"), interaction_id=maybe(TEXT), status=STATUS | JSON)
    | filled(event_type=st.just("error"), error=maybe(OBJECT | TEXT))
    | JSON
)
BEGUN = {"event_type": "interaction.created", "interaction": {"id": "v1_a", "status": "in_progress"}}
STREAM = st.lists(EVENT, max_size=8).map(lambda values: events([BEGUN, *values]))
