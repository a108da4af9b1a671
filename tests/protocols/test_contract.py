"""What every adapter owes, whatever its protocol."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.block_bodies import JSON
from workbench import protocols
from workbench.errors import ProtocolMismatch, WireError
from workbench.ir import Carrier, JsonValue, ModelRequest, ModelResponse
from workbench.protocols import Adapter
from workbench.wire.sse import read_events
from workbench.wire.stream import read_stream

DATA = Path(__file__).resolve().parent.parent / "data"
FOLDERS = {
    "anthropic-messages": "anthropic",
    "bedrock-converse": "bedrock_converse",
    "bedrock-invoke": "bedrock_invoke",
    "cohere-v2": "cohere",
    "gemini": "gemini",
    "gemini-interactions": "gemini_interactions",
    "gemini-live": "gemini_live",
    "ollama": "ollama",
    "openai-chat": "openai_chat",
    "openai-realtime": "openai_realtime",
    "openai-responses": "openai_responses",
}
"""Protocol → folder of its fixtures. An adapter without fixtures has no place here."""

STREAM = "response.stream"

every = pytest.mark.parametrize("adapter", list(protocols.every()), ids=lambda a: a.name)


def fixtures(adapter: Adapter, kind: str) -> list[bytes]:
    """Bodies of a kind: ``request.json``, ``response.json`` or ``response.stream``, however that is framed."""
    paths = sorted((DATA / FOLDERS[adapter.name]).glob("*.response.*" if kind == STREAM else f"*.{kind}"))
    found = [path.read_bytes() for path in paths if not (kind == STREAM and path.suffix == ".json")]
    assert found, f"no fixtures {kind} of {adapter.name}"
    return found


def answer(adapter: Adapter, body: bytes) -> ModelResponse:
    """A whole body or a stream, decoded."""
    events = read_stream(body).events
    if not events:
        return adapter.decode_response(body)
    decoder = adapter.stream_decoder()
    for event in events:
        decoder.feed(event)
    return decoder.result()


@every
def test_names(adapter: Adapter) -> None:
    assert protocols.get(adapter.name) is adapter
    assert adapter.name in protocols.protocols()
    assert adapter.capabilities.reasoning.carriers <= {carrier.value for carrier in Carrier}
    assert adapter.capabilities.tools.arguments in ("string", "object")


# -- what nobody touched is written as it was


@every
def test_requests_come_out_as_they_were(adapter: Adapter) -> None:
    for body in fixtures(adapter, "request.json"):
        assert adapter.encode_request(adapter.decode_request(body), body) == body


@every
@pytest.mark.parametrize("kind", ["response.json", STREAM])
def test_answers_come_out_as_they_were(adapter: Adapter, kind: str) -> None:
    for body in fixtures(adapter, kind):
        assert adapter.encode_response(answer(adapter, body), body) == body


# -- unknown keys survive


def objects(value: JsonValue, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every object in a body."""
    if isinstance(value, dict):
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in pairs:
        yield from objects(child, (*path, step))


def strings(node: object) -> Iterator[str]:
    """Every string in an IR value."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for pair in node.items():
            yield from strings(pair)
    elif isinstance(node, list | tuple):
        for child in node:
            yield from strings(child)
    elif dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):
            if field.name not in ("source", "pointer", "facts"):
                yield from strings(getattr(node, field.name))


def with_unknown_key(body: bytes) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """The body with a key that no protocol knows, in each of its objects in turn."""
    whole = json.loads(body)
    for path in objects(whole):
        changed = copy.deepcopy(whole)
        node = changed
        for step in path:
            node = node[step]
        node["key_of_the_future"] = "value of the future"
        yield path, json.dumps(changed).encode()


@every
def test_unknown_keys_of_requests_survive(adapter: Adapter) -> None:
    for body in fixtures(adapter, "request.json"):
        for path, changed in with_unknown_key(body):
            assert "value of the future" in strings(adapter.decode_request(changed)), path


@every
def test_unknown_keys_of_answers_survive(adapter: Adapter) -> None:
    for body in fixtures(adapter, "response.json"):
        if adapter.decode_response(body).error:
            continue
        for path, changed in with_unknown_key(body):
            assert "value of the future" in strings(adapter.decode_response(changed)), path


# -- bodies are claimed by their own protocol


def misshapen(value: JsonValue) -> Iterator[JsonValue]:
    """A body with one scalar after another as a list, as an object, and away."""
    for pointer in leaves_of(value):
        for odd in ([], {}, [[]]):
            yield with_at(value, pointer, odd)


def leaves_of(value: JsonValue, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves_of(inner, (*path, key))
    if not isinstance(value, dict | list):
        yield path


def with_at(value: JsonValue, path: tuple[str | int, ...], new: JsonValue) -> JsonValue:
    if not path:
        return new
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = with_at(value[path[0]], path[1:], new)
    return made


@every
@pytest.mark.parametrize("side", ["request", "response"])
def test_no_odd_type_stops_a_claim(adapter: Adapter, side: str) -> None:
    claims = adapter.claims_request if side == "request" else adapter.claims_response
    for body in fixtures(adapter, f"{side}.json"):
        for odd in misshapen(json.loads(body)):
            assert 0 <= claims(odd) <= 1


@every
def test_fixtures_are_claimed(adapter: Adapter) -> None:
    others = [other for other in protocols.every() if other is not adapter]
    for body in fixtures(adapter, "request.json"):
        score = adapter.claims_request(json.loads(body))
        assert score > max((other.claims_request(json.loads(body)) for other in others), default=0), body[:200]
    for body in fixtures(adapter, "response.json"):
        if not adapter.decode_response(body).error:
            score = adapter.claims_response(json.loads(body))
            assert score > max((other.claims_response(json.loads(body)) for other in others), default=0)
    for body in fixtures(adapter, STREAM):
        claims = [_best_claim(a, body) for a in (adapter, *others)]
        assert claims[0] > max(claims[1:], default=0)


def _best_claim(adapter: Adapter, body: bytes) -> float:
    data = [(e.name, json.loads(e.data)) for e in read_stream(body).events if e.data and e.data.startswith(b"{")]
    return max(adapter.claims_event(name, value) for name, value in data)


@every
@given(
    st.one_of(
        JSON, st.dictionaries(st.sampled_from(["messages", "content", "choices", "tools", "type", "error"]), JSON)
    )
)
def test_claims_are_scores(adapter: Adapter, value: JsonValue) -> None:
    for score in (adapter.claims_request(value), adapter.claims_response(value), adapter.claims_event(None, value)):
        assert 0 <= score <= 1


# -- hostile input

KEYS = (
    *(
        "messages",
        "role",
        "content",
        "choices",
        "message",
        "delta",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "type",
    ),
    *(
        "text",
        "index",
        "id",
        "input",
        "tools",
        "usage",
        "content_block",
        "tool_use",
        "tool_result",
        "thinking",
        "system",
    ),
    *("error", "stop_reason", "finish_reason", "reasoning_details", "image_url", "source", "tool_call_id", "refusal"),
)
NAMES = st.sampled_from(KEYS)
SHAPED: st.SearchStrategy[JsonValue] = st.recursive(
    JSON | NAMES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


def survives(adapter: Adapter, body: bytes) -> None:
    """Every way to decode a body ends in a value or in one of the two errors."""
    for decode in (adapter.decode_request, adapter.decode_response, lambda b: adapter.decode_response(b, status=500)):
        try:
            found: ModelRequest | ModelResponse = decode(body)
        except (WireError, ProtocolMismatch) as error:
            assert "\n" not in str(error)
        else:
            assert found.protocol == adapter.name
    answer(adapter, b"data: " + body + b"\n\n")


@every
@given(st.binary(max_size=60))
def test_bytes_never_crash(adapter: Adapter, body: bytes) -> None:
    survives(adapter, body)
    decoder = adapter.stream_decoder()
    for event in read_events(body):
        decoder.feed(event)
        decoder.result()


@every
@given(SHAPED)
def test_json_never_crashes(adapter: Adapter, value: JsonValue) -> None:
    survives(adapter, json.dumps(value).encode())


@every
@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={"type": NAMES, "delta": SHAPED, "choices": SHAPED, "index": SHAPED, "error": SHAPED}
        ),
        max_size=5,
    )
)
def test_streams_never_crash(adapter: Adapter, events: list[JsonValue]) -> None:
    decoder = adapter.stream_decoder()
    for event in read_events(b"".join(b"data: %s\n\n" % json.dumps(e).encode() for e in events)):
        decoder.feed(event)
    assert decoder.result().is_stream


@every
@pytest.mark.parametrize("depth", [300, 1_500, 100_000])
def test_deep_bodies_never_crash(adapter: Adapter, depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    objects = b'{"a":' * depth + b"1" + b"}" * depth
    for body in (
        deep,
        objects,
        b'{"messages":[{"role":"user","content":%s}]}' % deep,
        b'{"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"arguments":%s}}]}]}' % objects,
        b'{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":%s}]}],"tools":[%s]}'
        % (objects, deep),
        b'{"choices":[{"message":{"content":%s}}],"content":%s}' % (deep, deep),
    ):
        survives(adapter, body)


@every
def test_errors_are_never_lost(adapter: Adapter) -> None:
    for body in (
        b"Bad Gateway",
        b"<html><title>502</title>",
        b'{"x": 1}',
        b"[1]",
        b'"no"',
        b'{"error": {"message": "no"}}',
    ):
        assert adapter.decode_response(body, status=502).error, body
