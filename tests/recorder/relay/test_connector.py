"""Upstreams with TLS, and those that cannot be reached."""

from __future__ import annotations

import asyncio
import socket
import ssl

import pytest
import trustme

from tests.recorder.relaying import Peer, Stage, serving, staged
from workbench.wire.exchange import State

OK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
GET = b"GET /x HTTP/1.1\r\nHost: %s\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: %s\r\nContent-Length: 4\r\n\r\nbody"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_side(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def client_side(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def refused(stage: Stage) -> tuple[bytes, str]:
    """Ask; the answer's text and what the tap was told of the end."""
    client = await stage.client()
    client.send(POST % stage.host)
    head = await client.until(b"\r\n\r\n")
    text = await client.until(b"\n")
    assert b"\r\nX-Workbench-Relay: failed\r\n" in head and text.startswith(b"workbench: ")
    state, why = await stage.tap.end(1)
    assert state is State.ABORTED
    assert stage.tap.story(1) == ["began", "asks", "asked", "ended"]
    client.send(POST % stage.host)  # the connection lives on
    await client.until(b"\r\n\r\n")
    return head[9:12] + b" " + text, why


async def test_tls_with_the_name_asked_for(authority: trustme.CA) -> None:
    names: list[str | None] = []
    serves = server_side(authority, "localhost")
    serves.sni_callback = lambda _, name, __: names.append(name)
    async with staged({"x": "https://localhost:PORT"}, serves=serves, tls=client_side(authority)) as stage:
        client = await stage.client()
        there = b"localhost:%d" % stage.upstream.port
        client.send(GET % stage.host)
        peer = await stage.upstream.accept()
        for _ in range(2):
            await peer.expects(GET % there)
            peer.send(OK)
            await client.expects(OK)
            client.send(GET % stage.host)
        assert (names, stage.upstream.seen) == (["localhost"], 1)
        assert stage.tap.calls[1][0][1][1].url == f"https://localhost:{stage.upstream.port}/x"  # type: ignore[index]


async def test_tls_carries_long_bodies_both_ways(authority: trustme.CA) -> None:
    body = bytes(range(256)) * 16_384
    serves = server_side(authority, "127.0.0.1")
    async with staged({"x": "https://127.0.0.1:PORT"}, serves=serves, tls=client_side(authority)) as stage:
        client = await stage.client()
        head = b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n"
        client.send(head % (stage.host, len(body)) + body)
        peer = await stage.upstream.accept()
        await peer.expects(head % (stage.there, len(body)) + body)
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        peer.send(answer)
        await client.expects(answer)
        client.send(GET % stage.host)
        await peer.expects(GET % stage.there)
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        await client.until(b"half")
        peer.writer.transport.abort()
        await client.is_cut()
        assert (await stage.tap.end(2))[0] is State.ABORTED


@pytest.mark.parametrize("trusts", [False, True])
async def test_a_certificate_that_is_not_accepted(authority: trustme.CA, trusts: bool) -> None:
    """Signed by nobody known, or for another name."""
    serves = server_side(authority, "other.example" if trusts else "localhost")
    tls = client_side(authority) if trusts else None
    async with staged({"x": "https://localhost:PORT"}, serves=serves, tls=tls) as stage:
        text, why = await refused(stage)
        assert text.startswith(b"502 ") and b"certificate of localhost:" in text and b"SSL_CERT_FILE" in text
        assert "certificate" in why


async def test_no_tls_behind_https() -> None:
    async with staged({"x": "https://127.0.0.1:PORT"}) as stage:

        async def plain() -> Peer:
            peer = await stage.upstream.accept()
            peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return peer

        task = asyncio.ensure_future(plain())
        text, _ = await refused_once(stage)
        await task
        assert b"TLS with 127.0.0.1:" in text


async def refused_once(stage: Stage) -> tuple[bytes, str]:
    client = await stage.client()
    client.send(POST % stage.host)
    await client.until(b"\r\n\r\n")
    return await client.until(b"\n"), (await stage.tap.end(1))[1]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_nothing_listens() -> None:
    port = free_port()
    async with staged({"x": f"http://127.0.0.1:{port}"}) as stage:
        text, why = await refused(stage)
        assert (
            text
            == b"502 workbench: nothing is listening on 127.0.0.1:%d; start the upstream or correct its URL\n" % port
        )
        assert why == f"nothing is listening on 127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (socket.gaierror(-2, "Name or service not known"), b"the name api.invalid cannot be resolved: Name or service"),
        (OSError(113, "No route to host"), b"api.invalid:80 cannot be reached: [Errno 113] No route"),
        (UnicodeError("label too long"), b"api.invalid:80 cannot be reached: label too long"),
        (TimeoutError(), b"api.invalid:80 did not accept a connection within 30 seconds"),
    ],
)
async def test_other_ways_not_to_be_reached(monkeypatch: pytest.MonkeyPatch, error: Exception, said: bytes) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise error

    async with staged({"x": "http://api.invalid"}) as stage:
        client = await stage.client()
        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", fails)
        client.send(POST % stage.host)
        await client.until(b"\r\n\r\n")
        assert said in await client.until(b"\n")


async def test_a_client_that_waits_to_be_asked_for_its_body_is_answered_at_once() -> None:
    async with staged({"x": f"http://127.0.0.1:{free_port()}"}) as stage:
        client = await stage.client()
        client.send(b"POST / HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n" % stage.host)
        assert (await client.rest()).startswith(b"HTTP/1.1 502 ")
        assert stage.tap.story(1) == ["began", "ended"]


async def test_the_whole_request_is_recorded_though_nobody_takes_it() -> None:
    async with staged({"x": f"http://127.0.0.1:{free_port()}"}) as stage:
        client = await stage.client()
        client.send(b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 5000000\r\n\r\n" % stage.host + bytes(5_000_000))
        assert (await client.until(b"\n")).startswith(b"HTTP/1.1 502 ")
        assert len(stage.tap.body(1, "asks")) == 5_000_000


async def test_a_client_that_hangs_up_while_a_connection_is_made() -> None:
    with socket.socket() as silent:  # takes connections and never speaks TLS
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        async with staged({"x": f"https://127.0.0.1:{silent.getsockname()[1]}"}) as stage:
            client = await stage.client()
            client.send(GET % stage.host)
            await client.writer.drain()
            silent.setblocking(False)
            taken, _ = await asyncio.get_running_loop().sock_accept(silent)
            await client.close()
            assert await stage.tap.end(1) == (State.ABORTED, "the client disconnected")
            taken.setblocking(False)
            while await asyncio.get_running_loop().sock_recv(taken, 65536):
                pass  # the hello; then the end, as the relay let go of it
            taken.close()


async def test_the_relay_does_not_call_itself() -> None:
    async with serving() as placeholder:
        port = placeholder.port
    from tests.recorder.relaying import Notes
    from workbench.recorder.relay.server import Relay

    notes = Notes()
    relay = Relay({"x": f"http://localhost:{port}"}, notes, port=port)
    await relay.start()
    peer = Peer(*await asyncio.open_connection("127.0.0.1", port))
    peer.send(GET % b"127.0.0.1:%d" % port)
    assert (await peer.until(b"\n")).startswith(b"HTTP/1.1 508 Loop Detected")
    assert b"is this recorder itself" in await peer.until(b"URL\n")
    peer.writer.transport.abort()
    await relay.close()
    assert len(notes.calls) == 1
