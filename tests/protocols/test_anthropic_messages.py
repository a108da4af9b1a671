"""The Anthropic Messages adapter against fixtures, the official SDK, recordings of others and hostile input."""

from __future__ import annotations

import contextlib
import csv
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols import block_bodies as bodies
from tests.protocols import laws
from tests.protocols.block_bodies import BEGIN, Json
from tests.protocols.said import answer, feed
from tests.thinning import Thin
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.formats.importers import open_input
from workbench.ir import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
)
from workbench.protocols.anthropic_messages import adapter
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.wire.session import exchanges_of

FIXTURES = Path(__file__).resolve().parent.parent / "data" / "anthropic"
NAME = adapter.name


# -- whose is it


CLAUDE = {"model": "claude-x", "max_tokens": 9}
PLAIN = {"role": "user", "content": "hi"}
OPENAI_TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}
CLAIMS: list[tuple[str, Json, float, float]] = [
    ("tools with input_schema", {"messages": [], "tools": [{"name": "a", "input_schema": {}}]}, 0.9, 1),
    (
        "… and a message of the other protocol",
        {
            "messages": [{"role": "tool", "tool_call_id": "c", "content": ""}],
            "tools": [{"name": "a", "input_schema": {}}],
            **CLAUDE,
        },
        0.9,
        1,
    ),
    (
        "… and nothing else of this one",
        {
            "messages": [{"role": "tool", "tool_call_id": "c", "content": ""}],
            "tools": [{"name": "a", "input_schema": {}}],
        },
        0.4,
        0.6,
    ),
    ("a tool_result", {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, 0.9, 1),
    ("a system key", {"messages": [PLAIN], "system": "s"}, 0.7, 1),
    ("Claude and max_tokens", {"messages": [PLAIN], **CLAUDE}, 0.5, 0.7),
    ("nothing to tell by", {"messages": [PLAIN]}, 0.05, 0.3),
    ("tools of the other protocol", {"messages": [PLAIN], "tools": [OPENAI_TOOL], **CLAUDE}, 0, 0.1),
    ("calls of the other protocol", {"messages": [{"role": "assistant", "tool_calls": []}], **CLAUDE}, 0, 0.1),
    ("keys of the other protocol", {"messages": [PLAIN], "stream_options": {}, **CLAUDE}, 0, 0.1),
    ("no messages", {"model": "claude-x", "input": []}, 0, 0),
]


@pytest.mark.parametrize(("body", "low", "high"), [c[1:] for c in CLAIMS], ids=[c[0] for c in CLAIMS])
def test_claims_of_requests(body: Json, low: float, high: float) -> None:
    assert low <= adapter.claims_request(body) <= high


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.anthropic.com/v1/messages", True),
        ("https://api.anthropic.com/v1/messages?beta=true", True),
        ("https://api.deepseek.com/anthropic/v1/messages", True),
        ("https://api.deepseek.com/anthropic/messages", True),
        ("/v1/messages", True),
        ("https://x/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@1:streamRawPredict", True),
        ("https://api.anthropic.com/v1/messages/count_tokens", False),
        ("https://api.anthropic.com/v1/messages/batches", False),
        ("https://api.openai.com/v1/threads/t/messages", False),
        ("https://api.openai.com/v1/chat/completions", False),
    ],
)
def test_claims_of_urls(url: str, expected: bool) -> None:
    assert adapter.claims_url(url) is expected


def test_claims_of_answers_and_events() -> None:
    assert adapter.claims_response(bodies.message_body([])) > 0.9
    assert adapter.claims_response({"type": "error", "error": {"message": "m"}}) == 0
    assert adapter.claims_response({"choices": [{"message": {}}]}) == 0
    assert adapter.claims_event("message_start", BEGIN) > adapter.claims_event(None, BEGIN) > 0.8
    assert adapter.claims_event(None, {"choices": []}) == adapter.claims_event("x", [1]) == 0


# -- laws


@settings(max_examples=60, deadline=None)
@given(bodies.REQUEST | bodies.WRONG_REQUEST, bodies.BODY_STYLE)
def test_laws_of_request_leaves(body: Json, style: Json) -> None:
    laws.check(bodies.dump(body, **style), REQUEST, NAME)


@settings(max_examples=40, deadline=None)
@given(st.lists(bodies.ANSWERED | bodies.WRONG, max_size=3), bodies.BODY_STYLE)
def test_laws_of_answer_leaves(blocks: list[Any], style: Json) -> None:
    laws.check(bodies.dump(bodies.message_body(blocks), **style), RESPONSE, NAME)


ANSWERS = st.lists(bodies.ANSWERED, max_size=3).map(bodies.message_body)


@settings(max_examples=60, deadline=None)
@given(ANSWERS.flatmap(lambda body: st.tuples(st.just(body), bodies.streamed(body))), st.integers(1, 40))
def test_a_stream_says_what_the_body_says(drawn: tuple[Json, list[Json]], size: int) -> None:
    body, events = drawn
    data = b"".join(map(bodies.frame, events))
    said = feed(data)
    assert feed(data, size=size) == said
    assert (said.params, said.finish_reason, said.usage) == (
        answer(body).params,
        answer(body).finish_reason,
        answer(body).usage,
    )
    assert without_text(said.messages) == without_text(answer(body).messages)


def without_text(messages: Sequence[Message]) -> list[Message]:
    """The messages without the argument text, which only a stream has."""
    return [
        replace(m, parts=tuple(replace(p, raw=None) if isinstance(p, ToolCallIR) else p for p in m.parts))
        for m in messages
    ]


@settings(max_examples=40, deadline=None)
@given(ANSWERS.flatmap(bodies.streamed))
def test_laws_of_stream_leaves(events: list[Json]) -> None:
    laws.check(b"".join(map(bodies.frame, events)), RESPONSE, NAME)


@settings(max_examples=60, deadline=None)
@given(ANSWERS.flatmap(bodies.streamed), st.randoms(use_true_random=False), bodies.JSON)
def test_shuffled_and_wrong_events_never_raise(events: list[Json], chance: random.Random, wrong: Any) -> None:
    picked = [chance.choice(events) for _ in events]
    twisted = [e | {chance.choice(list(e)): wrong} if chance.random() < 0.3 else e for e in picked]
    data = b"".join(f"data: {json.dumps(e)}\n\n".encode() for e in twisted)
    assert feed(data).protocol == NAME
    laws.check_places(data, RESPONSE, NAME)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | bodies.JSON.map(bodies.dump))
def test_random_bytes_never_crash(data: bytes) -> None:
    for decode in (
        adapter.decode_request,
        adapter.decode_response,
        lambda body: adapter.decode_response(body, status=500),
    ):
        with contextlib.suppress(WireError, ProtocolMismatch):
            decode(data)
    framed = b"event: content_block_start\ndata: " + data.replace(b"\n", b"\ndata: ") + b"\n\n"
    assert feed(framed).protocol == NAME
    assert feed(data).protocol == NAME


# -- writing


def test_keys_and_tools_are_written_back() -> None:
    body = bodies.dump(
        {"model": "a", "messages": [], "tools": [{"name": "f", "input_schema": {}}], "max_tokens": 5}, indent=1
    )
    said = adapter.decode_request(body)
    tool = replace(said.tools[0], name="g")
    changed = adapter.encode_request(replace(said, model="b", tools=(tool,), params={"max_tokens": 6}), body)
    assert changed == body.replace(b'"a"', b'"b"').replace(b'"f"', b'"g"').replace(b"5", b"6")


def test_a_part_with_further_keys_is_rewritten() -> None:
    part = {"type": "text", "text": "before", "cache_control": {"type": "ephemeral"}}
    body = bodies.dump({"model": "a", "messages": [{"role": "user", "content": [part]}]}, indent=1)
    said = adapter.decode_request(body)
    (message,) = said.messages
    parts = (replace(message.parts[0], text="after", extra=dict(message.parts[0].extra)),)
    changed = adapter.encode_request(replace(said, messages=(replace(message, parts=parts),)), body)
    assert changed == body.replace(b"before", b"after")


@pytest.mark.parametrize(
    "edit",
    [
        {"messages": ()},
        {"stream": True},
        {"thinking": "on"},
        {"tools": (ToolDef("f", None, {}),)},
        {"params": {"temperature": 1}},
        {"system": (Text("new"),)},
        {"tool_choice": ToolChoice("any")},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_an_edit_of_the_structure_is_refused(edit: Json) -> None:
    body = bodies.dump({"model": "a", "messages": [PLAIN]})
    with pytest.raises(LocalProtocolError):
        adapter.encode_request(replace(adapter.decode_request(body), **edit), body)


def test_a_stream_takes_no_edit_that_has_no_place() -> None:
    data = b"".join(map(bodies.frame, bodies.OK))
    with pytest.raises(LocalProtocolError):
        adapter.encode_response(replace(feed(data), finish_reason="max_tokens"), data)


@pytest.mark.parametrize("body", [b"Bad Gateway", b'{"type":"error","error":{"message":"m"}}'])
def test_errors_are_written_back_as_they_are(body: bytes) -> None:
    said = adapter.decode_response(body, status=500)
    assert adapter.encode_response(said, body) == body


# -- fixtures: what the official SDK sends, and what it makes of the same bytes


def fixtures(kind: str) -> list[Path]:
    return sorted(FIXTURES.glob(f"*.{kind}"))


def test_the_fixtures_are_there() -> None:
    assert len(fixtures("request.json")) == 10
    assert len(fixtures("response.*")) == 10


@pytest.mark.parametrize("path", fixtures("request.json") + fixtures("response.*"), ids=lambda p: p.name)
def test_fixtures(path: Path) -> None:
    side = REQUEST if ".request" in path.name else RESPONSE
    subject = laws.Subject(path.read_bytes(), side, NAME)
    allowed = {"stream.error-event"} if path.name == "refused-stream-1.response.sse" else set()
    assert {a.slug for a in subject.said.anomalies} == allowed
    laws.check(subject.body, side, NAME)


def test_the_client_replays_what_the_stream_brought() -> None:
    """Equal parts, but for the argument text: that is what closure and the ledger rest on."""
    brought = feed((FIXTURES / "loop-stream-1.response.sse").read_bytes()).messages
    replayed = adapter.decode_request((FIXTURES / "loop-stream-2.request.json").read_bytes())
    assert without_text(brought) == [replace(replayed.messages[1])]
    first, second, said = replayed.messages[2].parts
    assert isinstance(first, ToolResultIR) and isinstance(second, ToolResultIR)
    assert [type(p) for p in first.content] == [Text, Media]
    assert (first.is_error, second.is_error, said) == (None, True, Text("Go on."))
    assert (replayed.parallel, replayed.thinking) == (False, "on")


def sdk_message(data: bytes) -> Json:
    """What the official SDK adds a stream up to."""
    import anthropic
    import httpx2

    def reply(_: object) -> Any:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    http = anthropic.DefaultHttpxClient(transport=httpx2.MockTransport(reply))
    client = anthropic.Anthropic(api_key="none", base_url="http://localhost", http_client=http, max_retries=0)
    with client.beta.messages.stream(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]) as stream:
        message: Json = stream.get_final_message().to_dict(mode="json")
    return message


def check_against_sdk(data: bytes) -> None:
    theirs, ours = answer(sdk_message(data)), feed(data)
    assert without_text(ours.messages) == [replace(m, parts=tuple(map(trimmed, m.parts))) for m in theirs.messages]
    assert (ours.id, ours.finish_reason) == (theirs.id, theirs.finish_reason)
    assert ours.usage and theirs.usage and replace(ours.usage, raw={}) == replace(theirs.usage, raw={})


def trimmed(part: Part) -> Part:
    """Without what the SDK adds to a block."""
    extra = {k: v for k, v in getattr(part, "extra", {}).items() if k not in ("parsed_output",)}
    return part if isinstance(part, Opaque) else replace(part, extra=extra)


@pytest.mark.parametrize("path", [p for p in fixtures("response.sse") if "refused" not in p.name], ids=lambda p: p.name)
def test_streams_add_up_as_in_the_official_sdk(path: Path) -> None:
    check_against_sdk(path.read_bytes())


# -- recordings of others


def recorded(recordings: Path) -> Iterator[tuple[str, DecodedExchange]]:
    with (recordings / "index.tsv").open(encoding="utf-8", newline="") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if row["protocol"] == NAME]
    for row in rows:
        session = open_input(str(recordings / row["file"]))
        for number, exchange in enumerate(exchanges_of(session)):
            yield f"{row['file']} {number}", DecodedExchange(number, exchange)


NOT_HEALTHY = {
    "vercel-ai/anthropic/spliced-message-start.chunks.txt 0": {"stream.block-order"},
    "anthropic-sdk-python/anthropic/incomplete_partial_json_response.txt 0": {"stream.block-order"},
}
"""Two streams that their authors cut up on purpose."""


def sample(found: Sequence[Any]) -> Sequence[Any]:
    return found[:: max(1, len(found) // 6)]


def test_recordings(recordings: Path, thin: Thin) -> None:
    seen = 0
    for name, decoded in thin(recorded(recordings), 3):
        assert decoded.protocol == NAME and not decoded.problems, name
        for side, body, said in (
            (REQUEST, decoded.request_text, decoded.request),
            (RESPONSE, decoded.response_text, decoded.response),
        ):
            if said is None:
                continue
            seen += 1
            assert {a.slug for a in said.anomalies} == (NOT_HEALTHY.get(name, set()) if side == RESPONSE else set()), (
                name
            )
            laws.check(body, side, NAME, sample)
    assert seen > 25


def test_recorded_streams_add_up_as_in_the_official_sdk(recordings: Path) -> None:
    checked = 0
    for name, decoded in recorded(recordings):
        if decoded.events and name not in NOT_HEALTHY:
            check_against_sdk(decoded.response_text)
            checked += 1
    assert checked > 10
