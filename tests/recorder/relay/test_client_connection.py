"""A client's connection: requests in a row, what is refused, and how connections end."""

from __future__ import annotations

import pytest

from tests.recorder.relaying import Stage, staged
from workbench.limits import MAX_HEADER_BLOCK
from workbench.recorder.events import ResponseHead
from workbench.recorder.relay import client_connection, refusal_log
from workbench.wire.exchange import State

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n%s"


def get(stage: Stage, path: bytes, host: bytes | None = None) -> bytes:
    return b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path, host or stage.host)


async def test_a_connection_is_kept_on_both_sides() -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(get(stage, b"/1"))
        peer = await stage.upstream.accept()
        for path in (b"/1", b"/2", b"/3"):
            if path != b"/1":
                client.send(get(stage, path))
            await peer.expects(get(stage, path, stage.there))
            peer.send(OK % path)
            await client.expects(OK % path)
        assert stage.upstream.seen == 1
        assert [(await stage.tap.end(key))[0] for key in (1, 2, 3)] == [State.COMPLETE] * 3


async def test_pipelined_requests_are_served_in_order() -> None:
    async with staged() as stage:
        client = await stage.client()
        post = b"POST /p HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
        sent, there = stage.request(post)
        client.send(get(stage, b"/1") + sent + b"\r\n" + get(stage, b"/3"))
        peer = await stage.upstream.accept()
        await peer.expects(get(stage, b"/1", stage.there))
        peer.send(OK % b"01")
        await peer.expects(there)
        await client.expects(OK % b"01")
        peer.send(OK % b"02")
        await peer.expects(get(stage, b"/3", stage.there))
        peer.send(OK % b"03")
        await client.expects(OK % b"02" + OK % b"03")
        assert stage.upstream.seen == 1


async def test_a_long_pipeline_is_not_read_ahead_without_bound() -> None:
    async with staged() as stage:
        client = await stage.client()
        count = 400_000
        client.send(get(stage, b"/1") * count)
        peer = await stage.upstream.accept()
        request = get(stage, b"/1", stage.there)
        for _ in range(50):
            await peer.expects(request)
            peer.send(OK % b"ok")
            await client.expects(OK % b"ok")
        assert client.writer.transport.get_write_buffer_size() > 0
        await client.close()


HOSTILE = {
    "two lengths": (b"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    "length and chunked": (
        b"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "coding unknown": (b"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\n\r\n", 501),
    "coding behind a tab": (b"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding:\x0bchunked\r\n\r\n", 400),
    "space before the colon": (b"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length : 1\r\n\r\na", 400),
    "folded": (b"GET / HTTP/1.1\r\nHost: HOST\r\nX: 1\r\n 2\r\n\r\n", 400),
    "bare LF": (b"GET / HTTP/1.1\r\nHost: HOST\r\nX: 1\nContent-Length: 1\r\n\r\n", 400),
    "only LF": (b"GET / HTTP/1.1\nHost: HOST\n\n", 400),
    "bare CR": (b"GET / HTTP/1.1\r\nHost: HOST\r\nX: 1\rY: 2\r\n\r\n", 400),
    "NUL": (b"GET / HTTP/1.1\r\nHost: HOST\r\nX: \x00\r\n\r\n", 400),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n", 400),
    "foreign Host": (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    "foreign page": (b"GET / HTTP/1.1\r\nHost: HOST\r\nOrigin: https://evil.example\r\n\r\n", 403),
    "tunnel": (b"CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", 405),
    "forward proxy": (b"GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 400),
    "endless head": (b"GET / HTTP/1.1\r\nHost: HOST\r\nX: " + b"x" * (MAX_HEADER_BLOCK + 1), 431),
}  # fmt: skip


@pytest.mark.parametrize(("text", "status"), HOSTILE.values(), ids=HOSTILE)
async def test_hostile_requests_are_refused_and_go_nowhere(text: bytes, status: int) -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(stage.request(text)[0])
        head, _, body = (await client.rest()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"\r\nX-Workbench-Relay: refused\r\n" in head and head.endswith(b"\r\nConnection: close")
        assert body.startswith(b"workbench: ") and body.isascii() and body.endswith(b"\n") and body.count(b"\n") == 1
        assert stage.upstream.seen == 0
        for key in stage.tap.calls:
            assert stage.tap.story(key) == ["began", "asked", "answered", "says", "ended"]
            assert stage.tap.body(key, "says") == body


UNREADABLE = {"TLS", "endless head", "only LF"}
"""What has no head with a request line, or none that could be read."""


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_refused_is_in_the_recording_and_told_once(name: str) -> None:
    told: list[str] = []
    async with staged(on_refusal=told.append) as stage:
        for _ in range(2):
            client = await stage.client()
            client.send(stage.request(HOSTILE[name][0])[0])
            await client.rest()
        status = HOSTILE[name][1]
        assert len(told) == 1 and told[0].startswith(f"a request was refused with status {status}: ")
        is_recorded = name not in UNREADABLE
        assert len(stage.tap.calls) == (2 if is_recorded else 0)
        for calls in stage.tap.calls.values():
            answered = next(value for event, value in calls if event == "answered")
            assert isinstance(answered, ResponseHead) and answered.status == status
            assert answered.headers.get("X-Workbench-Relay") == "refused"


async def test_only_so_many_refusals_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusal_log, "MAX_RECORDED_REFUSALS", 2)
    async with staged() as stage:
        for _ in range(3):
            client = await stage.client()
            client.send(HOSTILE["tunnel"][0])
            await client.rest()
        assert len(stage.tap.calls) == 2


async def test_a_refused_request_has_the_url_that_it_was_for() -> None:
    async with staged() as stage:
        for request in (
            b"GET /v1/x?a=1 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            HOSTILE["tunnel"][0],
            HOSTILE["HTTP/2"][0],
        ):
            client = await stage.client()
            client.send(request)
            await client.rest()
        heads = [calls[0][1][1] for calls in stage.tap.calls.values()]
        asked = [(head.method, head.url, head.http_version) for head in heads]
        there = stage.there.decode()
        assert asked == [
            ("GET", f"http://{there}/v1/x?a=1", "HTTP/1.1"), ("CONNECT", "h:443", "HTTP/1.1"), ("PRI", "*", "HTTP/2.0"),
        ]  # fmt: skip


async def test_a_head_that_does_not_come_to_its_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connection, "HEAD_SECONDS", 0.0)
    async with staged() as stage:
        client = await stage.client()
        client.send(b"GET / HT")
        assert (await client.rest()).startswith(b"HTTP/1.1 408 ")
        assert stage.tap.calls == {}


async def test_a_connection_without_a_request_may_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connection, "HEAD_SECONDS", 0.0)
    async with staged() as stage:
        client = await stage.client()
        client.send(b"\r\n")
        client.send(get(stage, b"/1"))
        peer = await stage.upstream.accept()
        for answer in (b"01", b"02"):
            await peer.until(b"\r\n\r\n")
            peer.send(OK % answer)
            await client.expects(OK % answer)
            client.send(get(stage, b"/2"))


async def test_a_refusal_reaches_a_client_that_is_still_sending() -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(b"POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9999999\r\n\r\n" + bytes(4_000_000))
        assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 421 ")


async def test_a_refusal_behind_a_request_waits_for_its_answer() -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(get(stage, b"/1") + b"nonsense\r\n\r\n")
        peer = await stage.upstream.accept()
        peer.send(OK % b"01")
        await client.expects(OK % b"01")
        assert (await client.rest()).startswith(b"HTTP/1.1 400 ")


async def test_a_client_that_only_connects_leaves_nothing_behind() -> None:
    async with staged() as stage:
        for sent in (b"", b"GET / HT"):
            client = await stage.client()
            client.send(sent)
            client.writer.write_eof()
            assert await client.rest() == b""
        assert stage.tap.calls == {}


async def test_several_upstreams() -> None:
    async with staged({"a": "http://127.0.0.1:PORT/v1", "b.c": "http://localhost:PORT"}) as stage:
        assert stage.relay.url("b.c") == f"http://127.0.0.1:{stage.relay.port}/b.c"
        client = await stage.client()
        client.send(get(stage, b"/a/x?q=1"))
        peer = await stage.upstream.accept()
        await peer.expects(get(stage, b"/v1/x?q=1", stage.there))
        peer.send(OK % b"01")
        await client.expects(OK % b"01")
        client.send(get(stage, b"/b.c/x"))
        peer = await stage.upstream.accept()
        await peer.expects(get(stage, b"/x", b"localhost:%d" % stage.upstream.port))
        peer.send(OK % b"02")
        await client.expects(OK % b"02")
        client.send(get(stage, b"/c"))
        assert b"available: /a/" in await client.rest()
        assert [calls[0][1][0] for calls in stage.tap.calls.values()] == ["a", "b.c", ""]  # type: ignore[index]
