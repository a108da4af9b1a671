"""Hypothesis strategies for bodies made of contents, healthy ones and ones of the wrong shape; and their streams."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON, NOTHING, NUMBER, OBJECT, TEXT, cut, dump, maybe
from workbench.ir import ModelRequest, ModelResponse, Part
from workbench.protocols.gemini import adapter
from workbench.wire.sse import SseReader

Json = dict[str, Any]

SIGNATURE = st.sampled_from(["EqQB", "skip_thought_signature_validator", "é"])
ID = maybe(st.sampled_from(["c1", "c2", ""]))
NAME = st.sampled_from(["f", "g"]) | TEXT


def filled(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """An object; a field may yield ``NOTHING``."""
    return st.fixed_dictionaries(fields).map(lambda value: {k: v for k, v in value.items() if v is not NOTHING})


def part(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return filled(**fields, thoughtSignature=maybe(SIGNATURE), partMetadata=maybe(OBJECT))


INLINE = filled(
    mimeType=st.sampled_from(["image/png", "audio/wav", "application/pdf", "x/y", "image/*", "x/*"]),
    data=st.just("iVBORw=="),
)
FILE = filled(mimeType=maybe(st.just("video/mp4")), fileUri=TEXT)
MEDIA = part(inlineData=INLINE) | part(fileData=FILE, videoMetadata=maybe(OBJECT))
TEXT_PART = part(text=TEXT)
THOUGHT = part(text=TEXT, thought=st.just(True))
CALL = part(functionCall=filled(name=NAME, id=ID, args=maybe(OBJECT), unknown=maybe(JSON)))
SERVER = (
    part(toolCall=filled(toolType=NAME, id=ID, args=maybe(OBJECT)))
    | part(toolResponse=filled(toolType=NAME, id=ID, response=OBJECT))
    | part(executableCode=filled(language=st.just("PYTHON"), code=TEXT, id=ID))
    | part(
        codeExecutionResult=filled(outcome=st.sampled_from(["OUTCOME_OK", "OUTCOME_FAILED"]), output=maybe(TEXT), id=ID)
    )
)
ALONE = st.fixed_dictionaries({"thoughtSignature": SIGNATURE})
WRAPPED = st.sampled_from(["output", "error", "result", "return_value"]).flatmap(
    lambda key: (TEXT | st.lists(TEXT, max_size=2) | JSON).map(lambda value: {key: value})
)
RESULT = part(
    functionResponse=filled(
        name=NAME,
        id=ID,
        response=WRAPPED | OBJECT,
        parts=maybe(st.lists(filled(inlineData=INLINE) | filled(fileData=FILE), max_size=2)),
        scheduling=maybe(st.just("SILENT")),
    )
)
FUTURE = st.fixed_dictionaries({"fromTheFuture": JSON}, optional={"thoughtSignature": SIGNATURE})
ANSWERED = TEXT_PART | THOUGHT | CALL | SERVER | ALONE | MEDIA | FUTURE
"""Parts of an answer."""

PART = ANSWERED | RESULT
_KEYS = ("text", "functionCall", "functionResponse", "inlineData", "fileData", "thoughtSignature", "thought")
_INNER = ("name", "args", "id", "response", "parts", "mimeType", "data", "fileUri", "output", "code")
WRONG = JSON | st.dictionaries(
    st.sampled_from(_KEYS), JSON | st.dictionaries(st.sampled_from(_INNER), JSON), max_size=3
)
"""Parts that are none, or hold several kinds of data, or lack what they need."""

CONTENT = filled(role=maybe(st.sampled_from(["user", "model", "function"])), parts=st.lists(PART, max_size=4))
WRONG_CONTENT = JSON | filled(role=maybe(JSON), parts=st.lists(WRONG, max_size=3) | WRONG, more=maybe(JSON))
SCHEMA = filled(
    type=st.just("OBJECT"),
    properties=maybe(st.dictionaries(TEXT, filled(type=st.just("STRING"), nullable=maybe(st.booleans())), max_size=2)),
    maxProperties=maybe(st.just("3")),
)
TOOL = (
    filled(
        functionDeclarations=st.lists(filled(name=NAME, description=maybe(TEXT), parameters=maybe(SCHEMA)), max_size=2)
    )
    | filled(functionDeclarations=filled(name=NAME, parametersJsonSchema=OBJECT, response=maybe(OBJECT)))
    | filled(googleSearch=OBJECT)
)
CHOICE = filled(
    mode=maybe(st.sampled_from(["AUTO", "ANY", "NONE", "VALIDATED"])),
    allowedFunctionNames=maybe(st.lists(st.sampled_from(["f", "g"]), max_size=2)),
)
CONFIG = filled(
    temperature=maybe(NUMBER),
    maxOutputTokens=maybe(st.just(9)),
    thinkingConfig=maybe(
        filled(thinkingBudget=maybe(st.sampled_from([-1, 0, 9])), includeThoughts=maybe(st.booleans()))
    ),
)
PLAIN_REQUEST = filled(
    contents=st.lists(CONTENT, max_size=3),
    systemInstruction=maybe(filled(parts=st.lists(TEXT_PART, max_size=2) | TEXT_PART, role=maybe(st.just("user")))),
    tools=maybe(st.lists(TOOL, max_size=2)),
    toolConfig=maybe(filled(functionCallingConfig=maybe(CHOICE), retrievalConfig=maybe(OBJECT))),
    generationConfig=maybe(CONFIG),
    safetySettings=maybe(st.lists(OBJECT, max_size=1)),
)
REQUEST = PLAIN_REQUEST | PLAIN_REQUEST.map(lambda body: {"model": "gemini-x", "project": "p", "request": body})
WRONG_REQUEST = st.fixed_dictionaries(
    {"contents": st.lists(WRONG_CONTENT, max_size=3) | WRONG_CONTENT},
    optional={k: JSON for k in ("model", "systemInstruction", "tools", "toolConfig", "generationConfig")},
)

_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


def snaked(value: Any) -> Any:
    """The same body with every key of the protocol in its other spelling."""
    if isinstance(value, list):
        return [snaked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {_HUMP.sub(lambda m: f"_{m.group().lower()}", k): v if k in _FREE else snaked(v) for k, v in value.items()}


_FREE = ("args", "response", "partMetadata", "parameters", "parametersJsonSchema")


def answer_body(parts: list[Any], reason: str | None = "STOP") -> Json:
    finish = {} if reason is None else {"finishReason": reason}
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, **finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5, "totalTokenCount": 14},
        "modelVersion": "gemini-x",
        "responseId": "r1",
    }


def frame(chunk: Json, *, newline: str = "\r\n") -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}{newline}{newline}".encode("utf-8", "surrogatepass")


@st.composite
def streamed(draw: st.DrawFn, parts: list[Json]) -> list[Json]:
    """The chunks of a stream that brings parts: plain texts in pieces, the reason in a last chunk."""
    chunks: list[Json] = []
    for value in parts:
        if value.keys() <= {"text", "thought"}:
            pieces = draw(cut(value["text"]))
            chunks += (answer_body([value | {"text": piece}], None) for piece in pieces)
        else:
            chunks.append(answer_body([value], None))
    return [*chunks, answer_body([{"text": ""}])]


# -- what the adapter makes of values, in one call


def request(*contents: Any, **more: Any) -> ModelRequest:
    return adapter.decode_request(dump({"contents": list(contents), **more}))


def parts(*values: Any, role: str = "user") -> tuple[Part, ...]:
    return request({"role": role, "parts": list(values)}).messages[0].parts


def answer(value: Any, status: int = 200) -> ModelResponse:
    return adapter.decode_response(dump(value), status=status)


def feed(data: bytes, *, size: int | None = None) -> ModelResponse:
    decoder, reader = adapter.stream_decoder(), SseReader()
    chunks = [data[n : n + size] for n in range(0, len(data), size)] if size else [data]
    for event in [e for chunk in chunks for e in reader.feed(chunk)] + reader.close():
        decoder.feed(event)
    return decoder.result()


def play(*chunks: Json | bytes) -> ModelResponse:
    return feed(b"".join(c if isinstance(c, bytes) else frame(c) for c in chunks))
