"""Streams of the Responses protocol: what they add up to, what is wrong with them, and how they are edited."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols import response_bodies as bodies
from tests.record_responses import CALL_A, CITED, SQL, THOUGHT, USAGE, call, frame, message, reasoning, stream, whole
from workbench.errors import LocalProtocolError
from workbench.ir import MILD, Carrier, ModelResponse, Opaque, Reasoning, Text, ToolCallIR
from workbench.protocols.openai_responses import adapter
from workbench.wire.sse import SseReader, read_events

Json = dict[str, Any]
FOLDER = Path(__file__).resolve().parent.parent / "data" / "openai_responses"


def feed(data: bytes, size: int | None = None) -> ModelResponse:
    decoder, reader = adapter.stream_decoder(), SseReader()
    chunks = [data[n : n + size] for n in range(0, len(data), size)] if size else [data]
    for event in [e for chunk in chunks for e in reader.feed(chunk)] + reader.close():
        decoder.feed(event)
    return decoder.result()


def play(*events: Json | bytes) -> ModelResponse:
    return feed(b"".join(e if isinstance(e, bytes) else frame(e) for e in events))


def events_of(answer: Json, size: int = 7) -> list[Json]:
    """The events of a healthy stream, without their numbers."""
    values = [json.loads(event.data or b"") for event in read_events(stream(answer, size=size))]
    return [{k: v for k, v in value.items() if k != "sequence_number"} for value in values]


def slugs(said: ModelResponse) -> list[str]:
    return [a.slug for a in said.anomalies]


def delta(kind: str, text: str, index: int = 0, **more: Any) -> Json:
    return {"type": f"response.{kind}.delta", "item_id": "i", "output_index": index, "delta": text, **more}


def text_delta(text: str, index: int = 0, content: int = 0) -> Json:
    return delta("output_text", text, index, content_index=content)


CREATED = {"type": "response.created", "response": whole(status="in_progress", usage=None)}
ADDED = {"type": "response.output_item.added"}
COMPLETED = {"type": "response.completed", "response": whole()}
DONE = b"data: [DONE]\n\n"


ANSWERS = [
    whole(message("Hello, wörld 東京")),
    whole(THOUGHT, message("I look.", phase="commentary"), CALL_A, SQL),
    whole(CITED, message("")),
    whole(reasoning(content=["one", "two"]), message("x", status="incomplete"), status="incomplete",
          incomplete_details={"reason": "max_output_tokens"}),
    whole(status="failed", error={"code": "server_error", "message": "no"}, usage=None),
    whole(call(1, "now", ""), call(2, "now", "{}")),
    whole({"id": "x", "type": "of_the_future", "value": [1]}),
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
@pytest.mark.parametrize("size", [1, 1000])
def test_a_healthy_stream_is_its_last_event(answer: Json, size: int) -> None:
    said = feed(stream(answer, size=size))
    assert replace(said, anomalies=()) == adapter.decode_response(json.dumps(answer).encode())
    assert slugs(said) == (["stream.error-event"] if answer["error"] else [])
    assert said.is_stream and said.is_complete and said.itemized
    assert said.finish_events == (len(read_events(stream(answer, size=size))) - 1,)


def test_where_things_stand() -> None:
    said = feed(stream(whole(THOUGHT, CALL_A), size=9))
    thought, second = said.messages[0].parts
    assert isinstance(thought, Reasoning) and isinstance(second, Reasoning)
    assert (thought.data, thought.carrier) == ("gAAAAAdone==", Carrier.ENCRYPTED_ITEM)
    assert len(thought.source.segments["text"]) == 5  # deltas
    (done,) = thought.source.segments["data"]  # the value of the beginning was another one
    assert done.pointer == "/item/encrypted_content"
    called = said.messages[1].parts[0]
    assert isinstance(called, ToolCallIR)
    assert [s.pointer for s in called.source.segments["raw"]] == ["/delta"] * 4
    assert [s.pointer for s in called.source.segments["name"]] == ["/item/name"]
    assert called.source.events == tuple(range(called.source.events[0], called.source.events[-1] + 1))


def test_half_a_stream() -> None:
    events = events_of(whole(THOUGHT, message("Look."), CALL_A), size=4)
    for n in range(1, len(events)):
        said = play(*events[:n])
        assert not said.is_complete and said.finish_reason is None
        assert slugs(said) in (["stream.truncated"], ["stream.no-terminator"])
    said = play(*events[: next(n for n, e in enumerate(events) if "arguments.delta" in e["type"]) + 2])
    called = said.messages[2].parts[0]
    assert isinstance(called, ToolCallIR)
    assert (called.id, called.name, called.raw, called.input) == ("call_1a1B2", "read_file", '{"path":', None)
    assert said.messages[1].parts == (Text("Look.", {"annotations": [], "logprobs": []}),)


def test_the_last_event_may_be_without_items() -> None:
    """The backend of Codex sends ``output: []``: the items are those that were done."""
    events = events_of(whole(message("a"), CALL_A))
    said = play(*events[:-1], {"type": "response.completed", "response": whole()})
    assert [type(m.parts[0]).__name__ for m in said.messages] == ["Text", "ToolCallIR"]
    assert (slugs(said), said.stop) == ([], "tool_calls")


FAULTS: list[tuple[str, list[Json | bytes], list[str]]] = [
    ("nothing but the end", [COMPLETED], []),
    ("[DONE] behind the end", [CREATED, COMPLETED, DONE], []),
    ("[DONE] in place of the end", [CREATED, DONE], ["stream.no-terminator"]),
    ("a ping and something new", [CREATED, {"type": "keepalive"}, {"type": "response.new.thing"}, COMPLETED], []),
    ("a comment", [b": hi\n\n", CREATED, COMPLETED], []),
    ("no end", [CREATED], ["stream.no-terminator"]),
    ("something behind the end", [CREATED, COMPLETED, {"type": "response.new.thing"}], ["stream.framing"]),
    ("a delta of no item", [CREATED, text_delta("a"), COMPLETED], ["stream.block-order", "stream.block-order"]),
    ("a delta before the beginning", [text_delta("a")], ["stream.framing", "stream.truncated"]),
    ("no index", [CREATED, ADDED | {"item": CALL_A}], ["stream.index", "stream.truncated"]),
    ("another name", [b'event: x\ndata: {"type":"response.created","response":{}}\n\n', COMPLETED], ["stream.framing"]),
    ("no type", [CREATED, b'data: {"x": 1}\n\n', COMPLETED], ["stream.framing"]),
    ("no object", [CREATED, b"data: [1]\n\n", COMPLETED], ["stream.framing"]),
    ("no JSON", [CREATED, b"data: {\n\n", COMPLETED], ["stream.framing"]),
    ("cut", [CREATED, b'data: {"type"'], ["stream.truncated"]),
    ("an error", [CREATED, {"type": "error", "code": "x", "message": "no", "param": None}], ["stream.error-event"]),
    ("a wrapped error", [CREATED, {"type": "error", "error": {"message": "no"}}], ["stream.error-event"]),
    ("an error without a type", [CREATED, b'data: {"error": {"message": "no"}}\n\n'], ["stream.error-event"]),
    ("an error in words", [CREATED, b"event: error\ndata: upstream is gone\n\n"], ["stream.error-event"]),
    ("numbers that skip", [CREATED | {"sequence_number": 0}, COMPLETED | {"sequence_number": 2}], ["stream.framing"]),
    ("numbers that repeat", [CREATED | {"sequence_number": 0}, COMPLETED | {"sequence_number": 0}], ["stream.framing"]),
    ("twice", [CREATED, *events_of(whole(message("a")))[1:-1], CREATED, COMPLETED], ["stream.block-order"]),
]  # fmt: skip


@pytest.mark.parametrize(("events", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_faults(events: list[Json | bytes], expected: list[str]) -> None:
    said = play(*events)
    assert slugs(said) == expected
    if "stream.error-event" in expected:
        assert said.error and said.error.message in ("no", "upstream is gone")


def changed(answer: Json, kind: str, **new: Any) -> list[Json]:
    """The events of a stream, those of a type with other values."""
    return [e | new if e["type"].endswith(kind) else e for e in events_of(answer)]


def test_deltas_that_add_up_to_something_else() -> None:
    said = play(*changed(whole(CALL_A), "arguments.done", arguments="{}"))
    (found,) = said.anomalies
    assert (found.slug, found.pointer) == ("stream.block-order", "/output/0/arguments")
    called = said.messages[0].parts[0]
    assert isinstance(called, ToolCallIR) and called.raw == CALL_A["arguments"]  # the latest word counts
    said = play(*changed(whole(message("abc")), "text.delta", delta="x"))
    assert [(a.slug, a.pointer) for a in said.anomalies] == [("stream.block-order", "/output/0/content/0/text")]
    text = said.messages[0].parts[0]
    assert isinstance(text, Text) and text.text == "abc"
    assert text.source.segments["text"][0].pointer == "/text"  # of the event that said so first


@pytest.mark.parametrize(("key", "slug"), [("id", "stream.id"), ("call_id", "stream.id"), ("name", "stream.name")])
def test_items_that_change_their_name(key: str, slug: str) -> None:
    other = CALL_A | {key: "other"}
    events = [e | {"item": other} if e["type"].endswith("item.done") else e for e in events_of(whole(CALL_A))]
    said = play(*events[:-1], {"type": "response.completed", "response": whole(other)})
    assert [(a.slug, a.pointer) for a in said.anomalies] == [(slug, f"/output/0/{key}")]
    assert len(said.messages) == 1


def test_a_clients_tool_search_has_the_call_id_of_its_end() -> None:
    search = {"id": "tsc_1", "type": "tool_search_call", "call_id": "begun", "arguments": {}, "execution": "client"}
    ended = search | {"call_id": "ended"}
    said = play(
        {"type": "response.created", "response": whole()},
        {"type": "response.output_item.added", "output_index": 0, "item": search},
        {"type": "response.output_item.done", "output_index": 0, "item": ended},
        {"type": "response.completed", "response": whole(ended)},
    )
    assert [(a.slug, a.pointer) for a in said.anomalies] == [(f"stream.id{MILD}", "/output/0/call_id")]


def test_ids_that_differ_in_each_event_are_one_fault() -> None:
    said = play(
        *(e | {"item_id": f"other_{n}"} if "item_id" in e else e for n, e in enumerate(events_of(whole(CALL_A))))
    )
    (found,) = said.anomalies
    assert (found.slug, found.pointer) == ("stream.id", "/output/0/id") and len(found.events) > 1


def test_an_index_that_is_used_again() -> None:
    once = events_of(whole(CALL_A))[2:-1]
    twice = events_of(whole(call(2, "list_dir", "{}")))[2:-1]
    said = play(CREATED, *once, *twice, COMPLETED)
    assert slugs(said) == ["stream.index"]
    assert [m.parts[0].name for m in said.messages if isinstance(m.parts[0], ToolCallIR)] == ["read_file", "list_dir"]


def test_items_without_an_index_are_told_by_their_ids() -> None:
    """As llama.cpp streams them: all begin, then all end."""
    answer = whole(message("Hello"), CALL_A)
    events: list[Json] = [{k: v for k, v in value.items() if k != "output_index"} for value in events_of(answer)]
    events.sort(key=lambda event: event["type"].endswith(".done") + 2 * (event["type"] == COMPLETED["type"]))
    said = play(*events)
    assert set(slugs(said)) == {"stream.index"}
    assert [call.id for m in said.messages for _, call in m.tool_calls()] == [CALL_A["call_id"]]


def test_arguments_that_are_never_done() -> None:
    """Clients that wait for the event never see the call whole."""
    events = [e for e in events_of(whole(CALL_A)) if e["type"] != "response.function_call_arguments.done"]
    assert slugs(play(*events)) == ["stream.block-order"]


def test_items_that_are_never_done() -> None:
    said = play(*[e for e in events_of(whole(CALL_A))[:-1] if not e["type"].endswith("item.done")], COMPLETED)
    assert slugs(said) == ["stream.block-order"]
    assert said.messages[0].parts[0].raw == CALL_A["arguments"]  # type: ignore[union-attr]


def test_relays_that_leave_out_the_beginnings() -> None:
    said = play(CREATED, text_delta("Hel"), text_delta("lo"), delta("reasoning_summary_text", "Hm", 1, summary_index=0))
    assert said.messages[0].parts == (Text("Hello"),)
    (thought,) = said.messages[1].parts
    assert isinstance(thought, Reasoning) and thought.text == "Hm"


def test_unknown_events_are_kept_and_a_refusal_is_whole() -> None:
    refusal = {"type": "refusal", "refusal": "I cannot."}
    said = play(
        CREATED,
        {"type": "response.from.the_future", "x": 1},
        {"type": "response.output_item.added", "output_index": 0, "item": message("") | {"content": []}},
        {"type": "response.content_part.added", "output_index": 0, "content_index": 0, "part": refusal},
        delta("refusal", "I can", content_index=0),
        delta("refusal", "not.", content_index=0),
    )  # fmt: skip
    assert said.params["unknown_events"] == [{"type": "response.from.the_future", "x": 1}]
    assert said.messages[0].parts == (Opaque("refusal", refusal),)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sse")), ids=lambda p: p.name)
def test_every_chunking_gives_the_same(path: Path) -> None:
    body = path.read_bytes()
    assert {str(feed(body, size)) for size in (1, 7, 64, 1000)} == {str(feed(body))}


@given(bodies.EVENTS)
@settings(max_examples=100)
def test_nothing_crashes(events: list[Json]) -> None:
    decoder = adapter.stream_decoder()
    for event in read_events(b"".join(b"data: %s\n\n" % json.dumps(e).encode() for e in events)):
        decoder.feed(event)
        said = decoder.result()
        assert all(part.source.pointer is not None for m in said.messages for part in m.parts)


@given(bodies.EVENTS, st.integers(1, 40))
@settings(max_examples=40)
def test_any_chunking_of_anything_gives_the_same(events: list[Json], size: int) -> None:
    body = b"".join(b"data: %s\n\n" % json.dumps(e).encode() for e in events)
    assert feed(body, size) == feed(body)


CITATION = {"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0, "annotation": {}}
WHOLE = {"type": "response.output_text.done", "content_index": 0, "text": "b"}
HOSTILE: list[tuple[str, Callable[[int], Iterator[Json]]]] = [
    ("items", lambda n: (ADDED | {"output_index": i, "item": message("") | {"id": f"{i}"}} for i in range(n))),
    ("one index", lambda n: (ADDED | {"output_index": 0, "item": CALL_A} for i in range(n))),
    ("contents", lambda n: (text_delta("a", content=i) for i in range(n))),
    ("far contents", lambda n: (text_delta("a", content=10**9 + i) for i in range(n))),
    ("annotations", lambda n: (CITATION | {"annotation_index": i} for i in range(n))),
    ("strays", lambda n: (text_delta("a", index=i) for i in range(n))),
    ("beginnings", lambda n: (CREATED for i in range(n))),
    ("ends", lambda n: (WHOLE | {"output_index": i} for i in range(n))),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [h[1] for h in HOSTILE], ids=[h[0] for h in HOSTILE])
def test_hostile_streams_come_to_an_end(make: Callable[[int], Iterator[Json]]) -> None:
    assert feed(b"".join(map(frame, make(4000)))).anomalies  # in minutes, if something were quadratic


# -- edits


EDITED = stream(whole(THOUGHT, message("I look.", phase="commentary"), CALL_A, SQL), size=3)


def with_part(said: ModelResponse, n: int, **values: Any) -> ModelResponse:
    messages = list(said.messages)
    parts = messages[n].parts
    messages[n] = replace(messages[n], parts=(replace(parts[0], **values), *parts[1:]))
    return replace(said, messages=tuple(messages))


def with_extra(said: ModelResponse, n: int, **values: Any) -> ModelResponse:
    messages = list(said.messages)
    messages[n] = replace(messages[n], extra={**messages[n].extra, **values})
    return replace(said, messages=tuple(messages))


EDITS: list[tuple[str, Callable[[ModelResponse], ModelResponse], bytes, int]] = [
    ("a text", lambda r: with_part(r, 1, text="I see."), b"see", 4),
    ("arguments as text", lambda r: with_part(r, 2, raw='{"path":1}', input={"path": 1}), b'"{\\"path\\":', 0),
    ("an argument", lambda r: with_part(r, 2, input={"path": "elsewhere"}), b"elsewhere", 4),
    ("free text", lambda r: with_part(r, 3, input="DROP"), b"DROP", 4),
    ("a name", lambda r: with_part(r, 2, name="write_file"), b"write_file", 3),
    ("a call id", lambda r: with_part(r, 2, id="call_zz"), b"call_zz", 3),
    ("reasoning", lambda r: with_part(r, 0, text="Hm."), b"Hm.", 4),
    ("encrypted reasoning", lambda r: with_part(r, 0, data="gBBB"), b"gBBB", 2),
    ("the id of the answer", lambda r: replace(r, id="resp_other"), b"resp_other", 3),
    ("the model", lambda r: replace(r, model="gpt-other"), b"gpt-other", 3),
    ("the end", lambda r: replace(r, finish_reason="cancelled", stop="other"), b"cancelled", 1),
    ("an item's id", lambda r: with_extra(r, 1, id="msg_zz"), b"msg_zz", 9),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "new", "least"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS])
def test_an_edit_is_made_wherever_it_is_said(
    edit: Callable[[ModelResponse], ModelResponse], new: bytes, least: int
) -> None:
    wanted = edit(feed(EDITED))
    encoded = adapter.encode_response(wanted, EDITED)
    said = feed(encoded)
    assert not said.anomalies
    last = json.loads(read_events(encoded)[-1].data or b"")["response"]
    assert said == adapter.decode_response(json.dumps(last).encode())
    assert encoded.count(new) >= least
    assert (said.id, said.model, said.finish_reason) == (wanted.id, wanted.model, wanted.finish_reason)
    assert [m.parts for m in said.messages][1:2] == [m.parts for m in wanted.messages][1:2]
    assert len(read_events(encoded)) == len(read_events(EDITED))


def test_edits_that_cannot_be_made() -> None:
    said = feed(EDITED)
    for wrong in (
        replace(said, messages=said.messages[1:]),
        replace(said, error=feed(stream(ANSWERS[4])).error),
        with_part(said, 1, text=None),
    ):
        with pytest.raises(LocalProtocolError):
            adapter.encode_response(wrong, EDITED)


def test_usage_is_disjoint() -> None:
    usage = feed(EDITED).usage
    assert usage and (usage.input, usage.cache_read, usage.cache_write) == (46, 64, 10)
    assert (usage.output, usage.reasoning, usage.raw) == (40, 16, USAGE)
