"""The relay as a whole: where it listens, many streams at once, a tap that fails, its end."""

from __future__ import annotations

import asyncio
import hashlib
from typing import get_args

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recorder.relaying import Notes, Peer, staged
from workbench.errors import UsageError
from workbench.recorder.events import Event, ResponseHead
from workbench.recorder.relay.server import Relay
from workbench.wire.exchange import State

GET = b"GET /%d HTTP/1.1\r\nHost: %s\r\n\r\n"


@pytest.mark.parametrize("host", ["0.0.0.0", "localhost", "::", "192.168.1.2", ""])
def test_only_loopback_is_listened_on(host: str) -> None:
    with pytest.raises(UsageError, match="not a loopback address"):
        Relay({"x": "http://h"}, Notes(), host=host)


async def test_urls() -> None:
    for names in (["x"], ["x", "y"]):
        relay = Relay({name: "http://h/v1" for name in names}, Notes())
        await relay.start()
        assert relay.url("x") == f"http://127.0.0.1:{relay.port}" + ("/x" if len(names) > 1 else "")
        with pytest.raises(KeyError):
            relay.url("z")
        await relay.close()


async def test_a_port_that_is_taken() -> None:
    async with staged() as stage:
        with pytest.raises(UsageError, match=": Address already in use; choose another port"):
            await Relay({"x": "http://h"}, Notes(), port=stage.relay.port).start()


async def test_closing_ends_what_is_under_way() -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(GET % (1, stage.host))
        peer = await stage.upstream.accept()
        await stage.relay.close()
        await client.is_cut()
        await peer.is_cut()
        assert await stage.tap.end(1) == (State.ABORTED, "the recorder was stopped")
        with pytest.raises(OSError):
            await stage.client()
        await stage.relay.close()


async def test_200_streams_at_once_come_whole_and_apart() -> None:
    """Each answer is cut in its own places; each stream waits for the others between its chunks."""
    count, chunks = 200, 8
    barrier = asyncio.Barrier(count)

    def part(number: int, turn: int) -> bytes:
        return hashlib.sha256(b"%d.%d" % (number, turn)).digest() * (number % 7 + 1)

    async with staged() as stage:

        async def serve() -> None:
            peer = await stage.upstream.accept()
            number = int((await peer.until(b"\r\n\r\n")).split()[1][1:])
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for turn in range(chunks):
                await barrier.wait()
                data = part(number, turn)
                peer.send(b"%x\r\n%s\r\n" % (len(data), data))
            peer.send(b"0\r\n\r\n")

        async def ask(number: int) -> None:
            client = await stage.client()
            client.send(GET % (number, stage.host))
            await client.expects(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for turn in range(chunks):
                data = part(number, turn)
                await client.expects(b"%x\r\n%s\r\n" % (len(data), data))
            await client.expects(b"0\r\n\r\n")

        await asyncio.gather(*(serve() for _ in range(count)), *(ask(n) for n in range(count)))
        for key, calls in list(stage.tap.calls.items()):
            assert await stage.tap.end(key) == (State.COMPLETE, "")
            number = int(calls[0][1][1].target[1:])  # type: ignore[index]
            assert stage.tap.body(key, "says") == b"".join(part(number, turn) for turn in range(chunks))


@pytest.mark.parametrize("kind", get_args(Event))
async def test_a_listener_that_raises_is_disabled(kind: type[Event]) -> None:
    class Broken(Notes):
        calls_after = 0

        def on_event(self, event: Event) -> None:
            if isinstance(event, kind):
                Broken.calls_after += 1
                raise RuntimeError("the listener is broken")
            super().on_event(event)

    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    async with staged(tap=Broken()) as stage:
        client = await stage.client()
        sent, there = stage.request(b"POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\nab")
        client.send(sent)
        peer = await stage.upstream.accept()
        for _ in range(2):
            await peer.expects(there)
            peer.send(answer)
            await client.expects(answer)
            client.send(sent)
        assert str(stage.relay.listener_failure) == "the listener is broken"
        assert Broken.calls_after == 1


SIDE = st.tuples(
    st.binary(max_size=300),
    st.lists(st.integers(1, 60), max_size=6),
    st.booleans(),
    st.lists(st.integers(1, 400), max_size=6),
)


def framed(content: bytes, sizes: list[int], in_chunks: bool) -> tuple[bytes, bytes]:
    """Framing header and the bytes of a body."""
    if not in_chunks:
        return b"Content-Length: %d\r\n" % len(content), content
    parts, at = [], 0
    for size in [*sizes, len(content)]:
        piece = content[at : at + size]
        parts.append(b"%x;x\r\n%s\r\n" % (len(piece), piece) if piece else b"")
        at += len(piece)
    return b"Transfer-Encoding: chunked\r\n", b"".join(parts) + b"0\r\nX-End: 1\r\n\r\n"


async def send_cut(peer: Peer, data: bytes, places: list[int]) -> None:
    at = 0
    for place in [*sorted(places), len(data)]:
        peer.send(data[at:place])
        at = max(at, place)
        await peer.writer.drain()
        await asyncio.sleep(0)


@given(SIDE, SIDE)
@settings(max_examples=60)
def test_bytes_out_are_bytes_in(request_side: tuple, response_side: tuple) -> None:  # type: ignore[type-arg]
    """Random bodies, framed and cut at random: equal on the far side, and for the tap what h11 reads of them."""

    async def run() -> None:
        async with staged() as stage:
            header, body = framed(*request_side[:3])
            sent, there = stage.request(b"POST /x HTTP/1.1\r\nHost: HOST\r\n" + header + b"\r\n")
            answer_header, answer_body = framed(*response_side[:3])
            answer = b"HTTP/1.1 200 OK\r\n" + answer_header + b"\r\n" + answer_body
            client = await stage.client()
            await send_cut(client, sent + body, request_side[3])
            peer = await stage.upstream.accept()
            await peer.expects(there + body)
            await send_cut(peer, answer, response_side[3])
            await client.expects(answer)
            assert await stage.tap.end(1) == (State.COMPLETE, "")
            assert stage.tap.body(1, "asks") == request_side[0]
            assert stage.tap.body(1, "says") == response_side[0] == by_h11(answer)
            assert isinstance(stage.tap.pieces(1, "answered")[0], ResponseHead)

    asyncio.run(run())


def by_h11(answer: bytes) -> bytes:
    oracle = h11.Connection(h11.CLIENT)
    oracle.send(h11.Request(method="POST", target="/x", headers=[("Host", "x")]))
    oracle.receive_data(answer)
    content = b""
    while not isinstance(event := oracle.next_event(), h11.EndOfMessage):
        content += bytes(event.data) if isinstance(event, h11.Data) else b""
    return content
