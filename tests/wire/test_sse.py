"""Event streams: the same blocks and places however the bytes come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.wire import sse
from workbench.wire.sse import SseEvent, SseReader, looks_like_stream, read_events


def in_pieces(body: bytes, cuts: list[int]) -> tuple[SseEvent, ...]:
    reader, events, at = SseReader(), list[SseEvent](), 0
    for cut in sorted(cut % (len(body) + 1) for cut in cuts):
        events += reader.feed(body[at:cut])
        at = cut
    return (*events, *reader.feed(body[at:]), *reader.close())


def careful(body: bytes) -> tuple[SseEvent, ...]:
    return in_pieces(body, [])


BITS = [
    b"data:",
    b"data: ",
    b"event: ",
    b"event",
    b"id:",
    b"retry: ",
    b":",
    b" ",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
]
BITS += [
    b"\xef\xbb\xbf",
    b"\xef",
    b"\0",
    b"7",
    b"x",
    b"\xc3\xa9",
    b"data: {}\n\n",
    b"event: a\ndata: b\n\n",
    b"\x0b",
    b"\xe2\x80\xa8",
]
bodies = st.lists(st.sampled_from(BITS), max_size=24).map(b"".join) | st.binary(max_size=30)


@settings(max_examples=250)
@given(bodies, st.lists(st.integers(0, 10**6), max_size=8))
def test_any_chunking_gives_the_same_events(body: bytes, cuts: list[int]) -> None:
    assert in_pieces(body, cuts) == careful(body)
    assert in_pieces(body, list(range(len(body)))) == careful(body)


@settings(max_examples=250)
@given(bodies, st.sampled_from([b"\n", b"\r\n", b"\r", b""]))
def test_the_fast_way_gives_the_same_events(body: bytes, line_end: bytes) -> None:
    if line_end:  # lines that all end alike are what the fast way is for
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", line_end)
    assert read_events(body) == careful(body)


@given(bodies)
def test_places_are_in_the_body(body: bytes) -> None:
    end = 0
    for number, event in enumerate(read_events(body)):
        assert event.number == number
        assert end <= event.start < event.end <= len(body)
        end = event.end
        assert (event.data is None) == (not event.data_spans)
        if event.data is not None:
            assert b"\n".join(body[s:e] for s, e in event.data_spans) == event.data
        assert all(event.start <= s <= e <= event.end for s, e in event.data_spans)
        event.span("/a")


# ---------------------------------------------------------------- what is written is what is read

line_text = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8)
field = st.tuples(st.sampled_from(["data", "event", "id", "retry", "", "other"]), line_text)
stream = st.lists(st.lists(field, min_size=1, max_size=4), max_size=5)


@given(stream, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.integers(1, 3))
def test_fields_are_read_as_they_were_written(
    blocks: list[list[tuple[str, str]]], line_end: str, bom: bool, blank_lines: int
) -> None:
    lines = ["".join(f"{name}: {value}{line_end}" for name, value in block) for block in blocks]
    body = ("\ufeff" if bom else "") + (line_end * blank_lines).join((*lines, ""))
    events = read_events(body.encode())
    assert len(events) == len(blocks)
    for event, block in zip(events, blocks, strict=True):
        values = {name: [v for n, v in block if n == name] for name, _ in block}
        ids = [v for v in values.get("id", []) if "\0" not in v]
        assert event.name == values.get("event", [None])[-1]
        assert event.data == ("\n".join(values["data"]).encode() if "data" in values else None)
        assert event.id == (ids[-1] if ids else None)
        assert event.comments == tuple(v.encode() for v in values.get("", []))
        assert event.terminated


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (b"", []),
        (b"\n\r\n\r\n", []),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb", [{"data": None, "terminated": False, "start": 0, "end": 2}]),
        (b"\xef\xbb\xbfdata: a\n\n", [{"data": b"a", "start": 3, "end": 10, "data_spans": ((9, 10),)}]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [{"data": b"a"}, {"data": None}]),
        (b"data\n\n", [{"data": b"", "data_spans": ((4, 4),)}]),
        (b"data:\n\n", [{"data": b"", "data_spans": ((5, 5),)}]),
        (b"data:  a \n\n", [{"data": b" a ", "data_spans": ((6, 9),)}]),
        (b"data:\ta\n\n", [{"data": b"\ta"}]),
        (b"data : a\n\n", [{"data": None}]),
        (b"DATA: a\n\n", [{"data": None}]),
        (b"data: a: b\n\n", [{"data": b"a: b"}]),
        (b"data: a\rdata: b\r\ndata: c\n\r", [{"data": b"a\nb\nc", "terminated": True, "end": 24}]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [{"start": 0, "end": 7}, {"start": 11, "end": 18}]),
        (b"data: a\r\r\ndata: b\n\n", [{"end": 7}, {"start": 10, "data": b"b"}]),
        (b"data: a\n", [{"data": b"a", "terminated": False, "end": 7}]),
        (b"data: a", [{"data": b"a", "terminated": False, "end": 7}]),
        (b"data: a\n\ndata: b", [{"terminated": True}, {"terminated": False, "start": 9, "end": 16}]),
        (b": ping\n\n\n\ndata: a\n\n", [{"comments": (b"ping",), "data": None}, {"number": 1, "start": 10}]),
        (b":\n: a\n:b\n\n", [{"comments": (b"", b"a", b"b")}]),
        (b"event: x\nevent: y\n\n", [{"name": "y", "data": None}]),
        (b"event\ndata\n\n", [{"name": "", "data": b""}]),
        (b"data: {}\nevent: late\n\n", [{"name": "late", "data": b"{}"}]),
        (b"event: \xff\ndata: \xff\n\n", [{"name": "\ufffd", "data": b"\xff"}]),
        (b"id: 1\nid: a\0b\nretry: 10\nretry: x\nretry: \xc2\xb2\n\n", [{"id": "1", "retry": 10}]),
        (b"retry: " + b"9" * 5000 + b"\n\n", [{"retry": None}]),
        (b"data: a\0\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8b\n\n", [{"data": b"a\0\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8b"}]),
    ],
)
def test_blocks(body: bytes, fields: list[dict[str, Any]]) -> None:
    events = read_events(body)
    assert [{k: getattr(e, k) for k in f} for e, f in zip(events, fields, strict=True)] == fields
    assert events == careful(body) == in_pieces(body, list(range(len(body))))


def test_blocks_come_out_as_soon_as_they_are_complete() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\r\n\r") != []
    assert reader.feed(b"\n") == []
    assert reader.feed(b"data: b\n") == []
    assert [e.data for e in reader.feed(b"\ndata: c")] == [b"b"]
    assert [e.start for e in reader.close()] == [20]
    assert reader.close() == []


def test_a_line_without_end_is_cut_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_SSE_LINE", 10)
    body = b"data: 0123456789\n\ndata: ok\n\n"
    first, second = read_events(body)
    assert (first.data, first.data_spans, first.end) == (b"0123", ((6, 10),), 16)
    assert (second.data, second.start) == (b"ok", 18)
    assert in_pieces(body, list(range(len(body)))) == (first, second)


def test_megabytes_without_a_line_end() -> None:
    line = b"data: " + b"x" * 8_000_000
    (event,) = read_events(line)
    assert (event.data_spans, event.terminated) == (((6, len(line)),), False)
    assert in_pieces(line, list(range(0, len(line), 1000))) == (event,)


# ---------------------------------------------------------------- pointers into the data


def test_pointers_lead_to_the_body() -> None:
    body = b': x\n\nevent: delta\ndata: {"delta": {"partial_json": "{\\"path\\": \\"/a\\""}}\n\n'
    event = read_events(body)[1]
    assert body[slice(*event.span("/delta/partial_json") or ())] == rb'"{\"path\": \"/a\""'
    assert body[slice(*event.span("/delta/partial_json/path") or ())] == rb"\"/a\""
    assert event.span("/nothing") is None
    assert read_events(body)[0].span("") is None


@given(
    st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), min_size=1),
    st.sampled_from(["\n", "\r\n"]),
)
def test_pointers_into_data_of_several_lines(value: dict[str, Any], line_end: str) -> None:
    lines = json.dumps(value, indent=1).split("\n")
    body = (line_end.join(f"data: {line}" for line in lines) + line_end * 2).encode()
    (event,) = read_events(body)
    for key, expected in value.items():
        pointer = "/" + key.replace("~", "~0").replace("/", "~1")
        assert json.loads(body[slice(*event.span(pointer) or ())]) == expected
    start, end = event.span("") or (0, 0)
    assert (body[start:][:1], body[end - 1 : end]) == (b"{", b"}")


# ---------------------------------------------------------------- is it a stream


@pytest.mark.parametrize(
    ("body", "content_type", "is_stream"),
    [
        (b"data: {}\n\n", "text/event-stream", True),
        (b"data: {}\n\n", "Text/Event-Stream; charset=utf-8", True),
        (b"x: y", "text/event-stream", True),
        (b' {"error": {}}', "text/event-stream", False),
        (b"\xef\xbb\xbf[{}]", "text/event-stream", False),
        (b"data: {}\n\n", "", True),
        (b"event: x\n", "application/json", True),
        (b"\n\r\n: ping\n", "", True),
        (b"\xef\xbb\xbfdata:1", "", True),
        (b"id: 1\nretry: 5\ndata: x", "text/plain", True),
        (b"id: 1\nname: x", "", False),
        (b"datax: 1", "", False),
        (b'{"data": 1}', "application/json", False),
        (b"hello", "", False),
        (b"", "", False),
    ],
)
def test_looks_like_stream(body: bytes, content_type: str, is_stream: bool) -> None:
    assert looks_like_stream(body, content_type) is is_stream
