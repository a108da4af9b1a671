"""Hypothesis strategies for conversations and their wire bodies: fuzz a gateway, a proxy or a client with them.

    from hypothesis import given
    from workbench import protocols, testing

    @given(testing.request_bodies("openai-chat"))
    def test_the_gateway_reads_what_clients_send(body: bytes) -> None:
        request = protocols.get("openai-chat").decode_request(body)   # instead: post it to the gateway
        assert request.messages

``requests`` and ``answers`` are conversations in normal form (see ``Adapter.write_request``); ``request_bodies``,
``answer_bodies`` and ``streams`` are their encodings in a protocol, reduced to what it supports and spelled as clients
spell: unknown fields, keys in any order, escapes, line breaks. ``chunked`` cuts bytes anywhere.

Everything is deterministic under Hypothesis' seed and shrinks. Only this module needs Hypothesis.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from workbench import protocols
from workbench.convert import NormalRequest, NormalResponse, fit_request, fit_response
from workbench.errors import WireError
from workbench.ir import (
    NOTHING,
    Carrier,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.lazy_dataclass import replace
from workbench.wire import dumps, loads

try:
    from hypothesis import assume
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError("workbench.testing needs Hypothesis: install the package 'hypothesis'") from error

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "answer_bodies",
    "answers",
    "chunked",
    "json_objects",
    "json_schemas",
    "request_bodies",
    "requests",
    "streams",
    "tools",
]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ODD_IDS = ("functions.read:0", "tool/1", "ü", "x" * 70, "call:1", "call_1")
_ODD_NAMES = ("server.read", "mcp/read", "größe", "n" * 70)
_BROKEN = ('{"path": ', "not json", "[1, 2]", '"text"', "")
_SIGNED = (Carrier.THINKING, Carrier.REASONING_BLOCK)
_SEALED = (Carrier.REDACTED_THINKING, Carrier.ENCRYPTED_ITEM)
_SIGNATURE = b64encode(b"proof of what was thought").decode()
_PIXEL = b64encode(b"\x89PNG\r\n\x1a\n").decode()
_PDF = b64encode(b"%PDF-1.4").decode()


@cache
def texts(*, min_size: int = 1) -> SearchStrategy[str]:
    """Visible text of any script, with line breaks and quotes."""
    plain = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="<>"), min_size=1, max_size=12)
    spiced = st.sampled_from(('a "quoted" word', "zwei\nZeilen", "😀 e\u0301", "{}", "\\n"))
    texts_with_words = st.one_of(plain.filter(str.strip), spiced)
    return texts_with_words if min_size else st.one_of(texts_with_words, st.just(""))


@cache
def json_objects() -> SearchStrategy[dict[str, JsonValue]]:
    """JSON objects, nested up to three levels."""
    scalars = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e6, 1e6), texts())
    values = st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts(), inner, max_size=2), max_leaves=4
    )
    return st.dictionaries(texts(), values, max_size=3)


@cache
def json_schemas() -> SearchStrategy[dict[str, JsonValue]]:
    """JSON Schemas of arguments: objects with described, nested, required and enumerated properties."""
    scalar = st.sampled_from(
        (
            {"type": "string"},
            {"type": "integer", "minimum": 0},
            {"type": "string", "enum": ["a", "b"]},
            {"type": "boolean", "description": "whether"},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        )
    )
    nested = st.one_of(scalar, st.builds(lambda item: {"type": "array", "items": item}, scalar))
    names = st.text(_LETTERS, min_size=1, max_size=6)
    return st.dictionaries(names, nested, max_size=3).map(
        lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)[:1]}
    )


@cache
def _tool_names() -> SearchStrategy[list[str]]:
    plain = st.text(_LETTERS + "_", min_size=1, max_size=12)
    return st.lists(st.one_of(plain, plain, st.sampled_from(_ODD_NAMES)), max_size=3, unique=True)


@cache
@st.composite
def tools(draw: DrawFn) -> tuple[ToolDef, ...]:
    """Declared tools with different names, custom ones among them."""
    names = draw(_tool_names())
    found = []
    for name in names:
        about = draw(st.none() | texts())
        if draw(st.integers(0, 7)) == 0:
            found.append(ToolDef(name, about, None, "custom"))
        else:
            found.append(ToolDef(name, about, draw(json_schemas()), strict=draw(st.sampled_from((None, True, False)))))
    return tuple(found)


@st.composite
def requests(draw: DrawFn) -> ModelRequest:
    """Requests in normal form, with calls, results, reasoning of every carrier, media, tools and parameters."""
    declared = draw(tools())
    messages: list[Message] = [Message("user", draw(_user_parts()))]
    ids = draw(_ids())
    for _ in range(draw(st.integers(0, 3))):
        answer = draw(_answer(declared, ids))
        messages.append(Message("assistant", answer))
        calls = [part for part in answer if isinstance(part, ToolCallIR)]
        if calls:
            messages.append(Message("tool", tuple(draw(_result(call)) for call in calls)))
        if draw(st.integers(0, 5)) == 0:
            messages.append(Message("system", (Text(draw(texts())),)))
        if not calls or draw(st.booleans()):
            messages.append(Message("user", draw(_user_parts())))
    choice = draw(st.sampled_from((None, None, ToolChoice("auto"), ToolChoice("any"), ToolChoice("none"))))
    if declared and draw(st.integers(0, 3)) == 0:
        choice = ToolChoice("tool", declared[0].name)
    return ModelRequest(
        protocol="",
        model=draw(st.sampled_from(("gpt-5", "claude-sonnet-4-5", "gemini-3-pro", "qwen3:8b"))),
        messages=tuple(messages),
        system=tuple(Text(text) for text in draw(st.lists(texts(), max_size=2))),
        tools=declared,
        tool_choice=choice if declared else None,
        parallel=draw(st.sampled_from((None, None, True, False))) if declared else None,
        stream=draw(st.booleans()),
        thinking=draw(st.sampled_from((None, None, "on", "off", "adaptive"))),
        params=draw(_params()),
    )


@st.composite
def answers(draw: DrawFn, *, stream: bool = False) -> ModelResponse:
    """Answers in normal form: text, reasoning and calls, one choice or two, with token counts."""
    declared = draw(tools())
    ids = draw(_ids())
    count = draw(st.sampled_from((1, 1, 1, 2)))
    messages = tuple(Message("assistant", draw(_answer(declared, ids))) for _ in range(count))
    called = any(isinstance(part, ToolCallIR) for part in messages[0].parts)
    counts = st.integers(0, 10**6)
    usage = Usage(draw(counts), draw(counts), draw(st.none() | counts), draw(st.none() | counts))
    return ModelResponse(
        protocol="",
        id=draw(st.sampled_from(("msg_1", "chatcmpl-1"))),
        model="a-model",
        messages=messages,
        stop="tool_calls" if called else draw(st.sampled_from(("stop", "length", "filter"))),
        usage=replace(usage, reasoning=draw(st.none() | st.integers(0, usage.output or 0))),
        is_stream=stream,
    )


@st.composite
def request_bodies(draw: DrawFn, protocol: str, *, noise: bool = True) -> bytes:
    """Request bodies of a protocol; with ``noise`` also unknown fields and odd spelling. Raises UsageError."""
    adapter = protocols.get(protocol)
    request = draw(requests())
    params = tuple(protocols.Param(f"/{name}", value, name) for name, value in request.params.items())
    normal = fit_request(NormalRequest(request, params), adapter.capabilities).normal
    assume(normal.messages)  # a lone picture in a form that the protocol does not support
    body = adapter.write_request(replace(normal, protocol=protocol))
    return draw(_spell(body)) if noise else dumps(body)


@st.composite
def answer_bodies(draw: DrawFn, protocol: str, *, noise: bool = True) -> bytes:
    """Response bodies of a protocol. Raises UsageError."""
    adapter = protocols.get(protocol)
    normal = fit_response(NormalResponse(draw(answers())), adapter.capabilities).normal
    body = adapter.write_response(replace(normal, protocol=protocol))
    return draw(_spell(body)) if noise else dumps(body)


@st.composite
def streams(draw: DrawFn, protocol: str) -> bytes:
    """Streams of a protocol, sometimes cut short. Raises UsageError."""
    adapter = protocols.get(protocol)
    normal = fit_response(NormalResponse(draw(answers(stream=True))), adapter.capabilities).normal
    body = adapter.write_stream(replace(normal, protocol=protocol))
    return body[: draw(st.integers(1, len(body)))] if draw(st.integers(0, 9)) == 0 else body


@st.composite
def chunked(draw: DrawFn, body: bytes) -> list[bytes]:
    """The same bytes in pieces, as a network may deliver them: cut anywhere, even inside a character."""
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=8)))
    return [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]


@cache
@st.composite
def _ids(draw: DrawFn) -> Sequence[str | None]:
    """Distinct ids, of every spelling seen; or none at all."""
    if draw(st.integers(0, 7)) == 0:
        return (None,) * 40
    prefix = draw(st.sampled_from(("call_", "toolu_", "")))
    odd = draw(st.lists(st.sampled_from(_ODD_IDS), unique=True, max_size=3))
    return [*odd, *(f"{prefix}{n:09d}" for n in range(40 - len(odd)))]


@cache
@st.composite
def _user_parts(draw: DrawFn) -> tuple[Part, ...]:
    return tuple(draw(_shown_parts(1, 3)))


@cache
def _shown_parts(least: int, most: int) -> SearchStrategy[list[Text | Media]]:
    texts_mostly = st.one_of(texts().map(Text), texts().map(Text), _media())
    return st.lists(texts_mostly, min_size=least, max_size=most)


@cache
def _kinds() -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(("text", "reasoning", "call")), min_size=1, max_size=4)


@st.composite
def _answer(draw: DrawFn, declared: Sequence[ToolDef], ids: Sequence[str | None]) -> tuple[Part, ...]:
    """Reasoning, texts and calls; takes ids from the given list."""
    pool = ids if isinstance(ids, list) else list(ids)
    parts = list[Part]()
    for kind in draw(_kinds()):
        if kind == "call" and declared and pool:
            parts.append(draw(_call(draw(st.sampled_from(list(declared))), pool.pop(0))))
        elif kind == "reasoning":
            parts.append(draw(_reasoning()))
        else:
            parts.append(Text(draw(texts())))
    return tuple(parts)


@st.composite
def _call(draw: DrawFn, tool: ToolDef, call_id: str | None) -> ToolCallIR:
    if tool.kind == "custom":
        return ToolCallIR(call_id, tool.name, draw(texts()), "custom")
    if draw(st.integers(0, 7)) == 0:
        return _broken_call(call_id, tool, draw(st.sampled_from(_BROKEN)))
    arguments = draw(json_objects())
    raw = draw(st.sampled_from((None, json.dumps(arguments), json.dumps(arguments, indent=1, ensure_ascii=False))))
    return ToolCallIR(call_id, tool.name, arguments, "function", raw)


def _broken_call(call_id: str | None, tool: ToolDef, raw: str) -> ToolCallIR:
    """A call whose arguments are no object, or not JSON."""
    try:
        return ToolCallIR(call_id, tool.name, loads(raw), "function", raw)
    except WireError:
        return ToolCallIR(call_id, tool.name, None, "function", raw, error="not JSON")


@st.composite
def _result(draw: DrawFn, call: ToolCallIR) -> ToolResultIR:
    content = draw(_shown_parts(0, 2))
    failed = draw(st.sampled_from((None, None, False, True)))
    name = draw(st.sampled_from((None, call.name)))
    return ToolResultIR(call.id, tuple(content), failed, call.name if call.id is None else name)


@cache
@st.composite
def _reasoning(draw: DrawFn) -> Reasoning:
    """Reasoning of any carrier, usually with the proof of its protocol."""
    carrier = draw(st.sampled_from(list(Carrier)))
    if carrier in _SEALED:
        return Reasoning(carrier, None, data=_SIGNATURE)
    signature = _SIGNATURE if carrier in _SIGNED and draw(st.integers(0, 3)) else None
    return Reasoning(carrier, draw(texts()), signature)


@cache
def _media() -> SearchStrategy[Media]:
    return st.sampled_from(
        (
            Media("image", "image/png", _PIXEL),
            Media("image", None, url="https://example.org/a.png"),
            Media("document", "application/pdf", _PDF),
            Media("document", "text/plain", b64encode(b"plain words").decode()),
            Media("audio", "audio/wav", _PIXEL),
            Media("image", None, file_id="file_1"),
        )
    )


@cache
def _values() -> Mapping[str, SearchStrategy[JsonValue]]:
    return {
        "max_tokens": st.integers(1, 10**5),
        "temperature": st.sampled_from((0, 0.7, 1.0)),
        "top_p": st.sampled_from((0.1, 0.95)),
        "top_k": st.integers(1, 100),
        "stop": st.lists(texts(), min_size=1, max_size=2),
        "seed": st.integers(0, 2**31),
        "frequency_penalty": st.sampled_from((0.5, 1.5)),
        "effort": st.sampled_from(("low", "medium", "high")),
        "thinking_budget": st.integers(1024, 10**4),
        "response_schema": json_schemas().map(lambda schema: {"schema": schema, "name": "answer"}),
        "user": st.just("user-1"),
    }


@cache
@st.composite
def _params(draw: DrawFn) -> Mapping[str, JsonValue]:
    values = _values()
    names = draw(st.lists(st.sampled_from(sorted(values)), unique=True, max_size=4))
    return {name: draw(values[name]) for name in names} or NOTHING


@st.composite
def _spell(draw: DrawFn, body: JsonValue) -> bytes:
    """A body in some client's spelling: unknown keys, another order of keys, escapes, line breaks."""
    noisy = _shuffle(draw, body) if isinstance(body, dict) else body
    is_ascii = draw(st.booleans())
    indent = draw(st.sampled_from((None, None, 2)))
    return json.dumps(noisy, ensure_ascii=is_ascii, indent=indent).encode()


def _shuffle(draw: DrawFn, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    keys = draw(st.permutations(list(body)))
    noisy = {key: body[key] for key in keys}
    if draw(st.integers(0, 3)) == 0:
        noisy["x_unknown"] = draw(texts())
    for value in noisy.values():
        if isinstance(value, list) and value and isinstance(value[-1], dict) and draw(st.integers(0, 5)) == 0:
            value[-1]["x_beside"] = draw(texts())
    return noisy
