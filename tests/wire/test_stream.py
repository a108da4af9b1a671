"""Streams of every framing: the same events for every cut, with places; broken ones are read as far as they go."""

from __future__ import annotations

import json
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import LocalProtocolError
from workbench.wire.stream import (
    Framing,
    aws_message,
    framing_of,
    is_sealed,
    read_stream,
    rewrite,
    sealed_payload,
)

SSE, NDJSON, ARRAY, AWS = Framing.SSE, Framing.NDJSON, Framing.JSON_ARRAY, Framing.AWS
AWS_TYPE = "application/vnd.amazon.eventstream"
VALUES = [{"a": "zwölf", "b": [1, {"c": "]}"}]}, {}, {"text": 'x"\\\n'}]
PAYLOADS = [json.dumps(value).encode() for value in VALUES]
FRAMED = {
    SSE: b"".join(b"data: %s\n\n" % payload for payload in PAYLOADS),
    NDJSON: b"".join(b"%s\r\n" % payload for payload in PAYLOADS),
    ARRAY: b"[" + b"\n,\r\n".join(PAYLOADS) + b"\n]\n",
    AWS: b"".join(aws_message("chunk", payload) for payload in PAYLOADS),
}
SEALED = b"".join(aws_message("chunk", sealed_payload(payload)) for payload in PAYLOADS)


@pytest.mark.parametrize(
    ("body", "content_type", "framing"),
    [
        (FRAMED[SSE], "text/event-stream", SSE),
        (FRAMED[NDJSON], "application/x-ndjson", NDJSON),
        (FRAMED[NDJSON], "text/event-stream", NDJSON),
        (FRAMED[NDJSON], "", NDJSON),
        (b'{"done":true}', "application/x-ndjson", NDJSON),
        (b'\xef\xbb\xbf{"done":true}\n', "Application/X-NDJSON; charset=utf-8", NDJSON),
        (b'{"done":true}', "", None),
        (b'{"done":true}\n', "application/json", None),
        (b'{\n "a": {}\n}\n', "", None),
        (b'{"a": {}\n,"b": {}}', "", None),
        (b'{"a": {}}}\n{', "", None),
        (b"data: {}\n\n", "application/x-ndjson", SSE),
        (b"not found", "application/x-ndjson", None),
        (FRAMED[ARRAY], "application/json", ARRAY),
        (b' [\n{"candidates": []', "application/json; charset=UTF-8", ARRAY),
        (b'[{"error": {"code": 429}}]', "application/json", None),
        (b"[1, 2]", "application/json", None),
        (b"[[0.1]]", "", None),
        (FRAMED[AWS], AWS_TYPE, AWS),
        (FRAMED[AWS], "", AWS),
        (FRAMED[AWS][:5], AWS_TYPE, AWS),
        (FRAMED[AWS][:5], "", None),
        (b'{"message": "no"}', AWS_TYPE, None),
        (b"", AWS_TYPE, None),
        (b"", "application/x-ndjson", None),
        (b"hello", "", None),
    ],
)
def test_framing(body, content_type, framing):
    assert framing_of(body, content_type) is framing


@pytest.mark.parametrize("framing", FRAMED, ids=lambda framing: framing.name)
def test_events_have_data_and_places(framing):
    body = FRAMED[framing]
    stream = read_stream(body)
    assert (stream.framing, stream.faults) == (framing, ())
    assert [event.data for event in stream.events] == PAYLOADS
    assert [event.number for event in stream.events] == [0, 1, 2]
    assert all(event.terminated for event in stream.events)
    assert {(event.id, event.retry, event.comments) for event in stream.events} == {(None, None, ())}
    first = stream.events[0]
    assert body[slice(*first.span("/a") or ())] == b'"zw\\u00f6lf"'
    assert body[slice(*first.span("/b/1/c") or ())] == b'"]}"'
    assert first.span("/none") is None
    assert [body[event.start : event.end].count(data) for event, data in zip(stream.events, PAYLOADS, strict=True)]


@pytest.mark.parametrize("framing", FRAMED, ids=lambda framing: framing.name)
def test_every_prefix_has_the_same_whole_events(framing):
    body = FRAMED[framing]
    whole = read_stream(body, framing=framing).events
    for cut in range(len(body)):
        events = read_stream(body[:cut], framing=framing).events
        kept = [event for event in events if event.terminated]
        assert list(whole[: len(kept)]) == kept
        assert len(events) - len(kept) <= 1, "only the last one is torn"
        assert [event.number for event in events] == list(range(len(events)))


def test_sealed_data_is_decoded_and_its_place_is_all_of_its_base64():
    stream = read_stream(SEALED)
    assert [event.data for event in stream.events] == PAYLOADS
    event = stream.events[0]
    assert is_sealed(event)
    assert SEALED[slice(*event.span("/a") or ())] == sealed_payload(PAYLOADS[0])[10:-2]
    assert event.span("/none") is None
    assert not is_sealed(read_stream(FRAMED[AWS]).events[0])


@pytest.mark.parametrize(
    ("payload", "data"),
    [
        (b'{"bytes":"e30=","p":"abc"}', b"{}"),
        (b'{"p":"abc", "bytes": "e30="}', b"{}"),
        (b'{"bytes":"???"}', b'{"bytes":"???"}'),
        (b'{"bytes":7}', b'{"bytes":7}'),
        (b'{"bytes":""}', b'{"bytes":""}'),
        (b'{"other":"bytes"}', b'{"other":"bytes"}'),
        (b"", b""),
    ],
)
def test_what_is_sealed(payload, data):
    (event,) = read_stream(aws_message("chunk", payload)).events
    assert event.data == data


def test_names_of_messages():
    error = b"".join(
        bytes([len(n)]) + n + b"\x07" + len(v).to_bytes(2, "big") + v
        for n, v in ((b":message-type", b"error"), (b":error-code", b"Bad"), (b":error-message", b"no more"))
    )
    odd = b"\x01a\x00" + b"\x01b\x04\0\0\0\1" + b"\x01c\x06\0\2xy" + b"\x0b:event-type\x07\x00\x04odd!" + b"\x05cut"
    bodies = (
        aws_message("throttlingException", b'{"message":"slow"}', kind="exception"),
        _message(error, b""),
        _message(odd, b"{}"),
    )
    events = read_stream(b"".join(bodies)).events
    assert [event.name for event in events] == ["throttlingException", "Bad", "odd!"]
    assert [event.comments for event in events] == [(), (b"no more",), ()]


def _message(headers: bytes, payload: bytes) -> bytes:
    lengths = (16 + len(headers) + len(payload)).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    whole = lengths + crc32(lengths).to_bytes(4, "big") + headers + payload
    return whole + crc32(whole).to_bytes(4, "big")


def _flipped(body: bytes, at: int) -> bytes:
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]


FIRST = aws_message("chunk", PAYLOADS[0])


@pytest.mark.parametrize(
    ("body", "data", "faults"),
    [
        (_flipped(FRAMED[AWS], len(FIRST) - 1), PAYLOADS, ["the checksum of message 0 is wrong"]),
        (
            _flipped(FRAMED[AWS], 3),
            [None, *PAYLOADS[1:]],
            [f"bytes 0 to {len(FIRST)} are not an event stream message: the checksum of the lengths is wrong"],
        ),
        (
            FIRST + b"<html>no gateway</html>",
            [PAYLOADS[0], None],
            [
                f"bytes {len(FIRST)} to {len(FIRST) + 23} are not an event stream message: "
                "the checksum of the lengths is wrong"
            ],
        ),
        (FIRST[:-4], [PAYLOADS[0]], ["the stream ends inside a message"]),
        (FIRST + FIRST[:7], [PAYLOADS[0], None], ["the stream ends inside a message"]),
    ],
    ids=["message CRC", "lengths", "other bytes", "cut in CRC", "cut in prelude"],
)
def test_broken_messages(body, data, faults):
    stream = read_stream(body, AWS_TYPE)
    assert [event.data for event in stream.events] == data
    assert [fault.text for fault in stream.faults] == faults


@pytest.mark.parametrize(
    ("body", "count", "fault"),
    [
        (b'[{"a":1}', 1, "the array is not closed"),
        (b'[{"a":1},', 1, "the array is not closed"),
        (b'[{"a":1}] x', 1, "the array is followed by more bytes"),
        (b'[{"a":1}\x0b]', 1, "the array is not closed"),
        (b'[{"a":1}]\x0b', 1, "the array is followed by more bytes"),
        (b'[{"a":1},{"b"', 2, None),
        (b'[{"a":1} {"b":1}]', 1, "the array is not closed"),
    ],
)
def test_broken_arrays(body, count, fault):
    stream = read_stream(body)
    assert (len(stream.events), [f.text for f in stream.faults]) == (count, [fault] if fault else [])


def test_a_last_line_without_its_end():
    assert [e.terminated for e in read_stream(b'{"a":1}\n{"b":2}').events] == [True, True]
    assert [e.terminated for e in read_stream(b'{"a":1}\n{"b":{}').events] == [True, False]


@pytest.mark.parametrize("body", [FRAMED[AWS], SEALED], ids=["plain", "sealed"])
def test_a_rewritten_message_is_right_and_the_others_stay(body):
    events = read_stream(body).events
    new = rewrite(body, events, {1: b'{"new": "longer than before"}'})
    stream = read_stream(new)
    assert stream.faults == ()
    assert [event.data for event in stream.events] == [PAYLOADS[0], b'{"new": "longer than before"}', PAYLOADS[2]]
    assert new.startswith(body[: events[1].start])
    assert new.endswith(body[events[1].end :])


def test_what_cannot_be_rewritten():
    torn = FIRST[:-4]
    with pytest.raises(LocalProtocolError):
        rewrite(torn, read_stream(torn, AWS_TYPE).events, {0: b"{}"})


@given(st.binary(max_size=200), st.sampled_from(["", AWS_TYPE, "application/x-ndjson"]))
def test_hostile_bytes(noise, content_type):
    for body in (noise, FIRST + noise, noise + FIRST, b'[{"' + noise, b'{"a":1}\n{' + noise):
        stream = read_stream(body, content_type)
        assert all(0 <= e.start <= e.end <= len(body) for e in stream.events)
        for event in stream.events:
            event.span("/a")


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_harms_its_own_message_only(at, mask):
    at %= len(SEALED)
    body = SEALED[:at] + bytes([SEALED[at] ^ mask]) + SEALED[at + 1 :]
    stream = read_stream(body, AWS_TYPE)
    assert stream.faults
    hit = next(event.number for event in read_stream(SEALED).events if event.start <= at < event.end)
    good = [payload for number, payload in enumerate(PAYLOADS) if number != hit]
    assert [e.data for e in stream.events if e.data in good and e.terminated][: len(good)] == good


def test_the_same_as_botocore(recordings):
    parser = pytest.importorskip("botocore.eventstream")
    from workbench.formats.importers import open_input

    folder = recordings / "pydantic-ai" / "bedrock"
    session = open_input(str(folder / "test_bedrock__test_bedrock_model_iter_stream.yaml"))
    body = session.exchange(0).response.body.raw
    buffer = parser.EventStreamBuffer()
    buffer.add_data(body)
    theirs = [(m.headers[":event-type"], m.payload) for m in buffer]
    assert [(e.name, e.data) for e in read_stream(body).events] == theirs
    written = aws_message("metadata", b'{"usage":{}}')
    buffer = parser.EventStreamBuffer()
    buffer.add_data(written)
    (message,) = buffer
    assert (message.headers[":event-type"], message.payload) == ("metadata", b'{"usage":{}}')
