"""Connections to the upstream: which are used again, and what happens to a request on one that is dead."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from tests.recorder.relaying import Peer, Stage, staged, turns
from workbench.recorder.relay.routes import parse_upstream
from workbench.recorder.relay.upstream_connection import ConnectionPool, UpstreamConnection
from workbench.wire.exchange import State

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
GET = b"GET /x HTTP/1.1\r\nHost: HOST\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\nhi"


async def answered(stage: Stage, client: Peer, answer: bytes = OK) -> Peer:
    """One exchange on a new upstream connection."""
    sent, there = stage.request(GET)
    client.send(sent)
    peer = await stage.upstream.accept()
    await peer.expects(there)
    peer.send(answer)
    await client.until(b"hi")
    await stage.tap.end(1)
    return peer


async def test_clients_share_idle_connections() -> None:
    async with staged() as stage:
        peer = await answered(stage, await stage.client())
        other = await stage.client()
        other.send(stage.request(POST)[0])
        await peer.expects(stage.request(POST)[1])
        third = await stage.client()
        third.send(stage.request(GET)[0])
        await (await stage.upstream.accept()).expects(stage.request(GET)[1])  # the first is in use


NOT_KEPT = {
    "close": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    "more than the answer": OK + b"HTTP/1.1 200 OK\r\n",
    "not long enough": b"HTTP/1.1 200 OK\r\nKeep-Alive: max=5, timeout=1\r\nContent-Length: 2\r\n\r\nhi",
}


@pytest.mark.parametrize("answer", NOT_KEPT.values(), ids=NOT_KEPT)
async def test_connections_that_are_not_used_again(answer: bytes) -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await answered(stage, client, answer)
        client.send(stage.request(GET)[0])
        again = await stage.upstream.accept()
        await again.expects(stage.request(GET)[1])
        again.send(OK)
        await client.expects(OK)
        assert await peer.is_cut()


async def test_an_old_connection_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.recorder.relay.upstream_connection.IDLE_UPSTREAM_SECONDS", 0.0)
    async with staged() as stage:
        client = await stage.client()
        peer = await answered(stage, client)
        client.send(stage.request(GET)[0])
        await stage.upstream.accept()
        assert await peer.is_cut()


async def test_what_nobody_asked_for_ends_a_connection() -> None:
    async with staged() as stage:
        peer = await answered(stage, await stage.client())
        peer.send(b"HTTP/1.1 408 Timeout\r\n\r\n")
        assert await peer.is_cut()


async def test_a_connection_that_was_closed_meanwhile_is_noticed() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await answered(stage, client)
        peer.writer.transport.abort()
        client.send(stage.request(POST)[0])
        again = await stage.upstream.accept()
        await again.expects(stage.request(POST)[1])
        again.send(OK)
        await client.expects(OK)


RETRIED = {
    "idempotent": b"GET /y HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "with a body": b"PUT /y HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhi\r\n0\r\n\r\n",
    "by its key": b"POST /y HTTP/1.1\r\nHost: HOST\r\nidempotency-key: 1\r\nContent-Length: 2\r\n\r\nhi",
}


@pytest.mark.parametrize("text", RETRIED.values(), ids=RETRIED)
@pytest.mark.parametrize("resets", [False, True])
async def test_a_request_on_a_dead_connection_is_sent_once_more(text: bytes, resets: bool) -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await answered(stage, client)
        sent, there = stage.request(text)
        client.send(sent)
        await peer.expects(there)
        peer.reset() if resets else await peer.close()
        again = await stage.upstream.accept()
        await again.expects(there)
        again.send(OK)
        await client.expects(OK)
        assert await stage.tap.end(2) == (State.COMPLETE, "")


async def test_it_is_not_sent_a_third_time() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await answered(stage, client)
        client.send(stage.request(GET)[0])
        await peer.close()
        again = await stage.upstream.accept()
        await again.expects(stage.request(GET)[1])
        await again.close()
        assert (await client.until(b"\n")).startswith(b"HTTP/1.1 502 ")
        assert stage.upstream.seen == 2


NOT_RETRIED = {
    "might have been done": POST,
    "too long to keep": b"PUT /y HTTP/1.1\r\nHost: HOST\r\nContent-Length: 300000\r\n\r\n" + bytes(300_000),
}


@pytest.mark.parametrize("text", NOT_RETRIED.values(), ids=NOT_RETRIED)
async def test_a_request_that_cannot_be_sent_twice_is_not(text: bytes) -> None:
    """RFC 9110 9.2.2: a proxy must not retry a request that is not idempotent."""
    async with staged() as stage:
        client = await stage.client()
        peer = await answered(stage, client)
        client.send(stage.request(text)[0])
        await peer.expects(stage.request(text)[1])
        await peer.close()
        assert (await client.until(b"\n")).startswith(b"HTTP/1.1 502 ")
        assert (await stage.tap.end(2))[0] is State.ABORTED
        assert stage.upstream.seen == 1


async def test_a_request_that_was_answered_in_part_is_not_sent_again() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await answered(stage, client)
        client.send(stage.request(GET)[0])
        await peer.expects(stage.request(GET)[1])
        peer.send(b"HTTP/1.1 2")
        await peer.close()
        assert (await client.until(b"\n")).startswith(b"HTTP/1.1 502 ")
        assert stage.upstream.seen == 1


class Hears:
    """Who uses a connection, and only listens."""

    def __init__(self) -> None:
        self.said = b""
        self.ends: list[Exception | None] = []

    def response_data(self, data: bytes) -> None:
        self.said += data

    def upstream_closed(self, error: Exception | None) -> None:
        self.ends.append(error)

    def set_upstream_full(self, is_full: bool) -> None:
        pass


async def test_what_was_said_before_a_write_failed_is_heard() -> None:
    """An early answer and a reset are there when the next piece of the request is written, and the write fails."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port, pool, user = listener.getsockname()[1], ConnectionPool(), Hears()
        upstream = parse_upstream("x", f"http://127.0.0.1:{port}")
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(lambda: UpstreamConnection(upstream, pool), "127.0.0.1", port)
        peer, _ = listener.accept()
        connection.user = user
        connection.transport.resume_reading()
        peer.sendall(OK)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        connection.transport.write(b"more")
        await turns()
    assert user.said == OK
    assert [type(end) for end in user.ends] == [ConnectionResetError]
    assert len(pool) == 0
