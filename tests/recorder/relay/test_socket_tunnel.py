"""A WebSocket through the relay: every byte as it came, and the ends as the two sides made them."""

from __future__ import annotations

import asyncio
import ssl

import pytest
import trustme

from tests.recorder.relaying import Notes, Peer, Stage, serving, staged
from workbench.recorder.relay.server import Relay
from workbench.wire.exchange import State

ASK = (
    b"GET /v1/responses HTTP/1.1\r\nHost: HOST\r\nConnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nx-Odd:  two  spaces \r\n\r\n"
)
AGREE = (
    b"HTTP/1.1 101 Switching Protocols\r\nUPGRADE: websocket\r\nconnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)
NOISE = bytes(range(256)) * 400


async def agreed(stage: Stage, early: bytes = b"") -> tuple[Peer, Peer]:
    """Both ends of a connection on which a WebSocket was agreed."""
    client = await stage.client()
    sent, arrives = stage.request(ASK)
    client.send(sent)
    server = await stage.upstream.accept()
    await server.expects(arrives)
    server.send(AGREE + early)
    await client.expects(AGREE + early)
    return client, server


async def test_all_bytes_pass_as_they_are_and_are_noted() -> None:
    async with staged() as stage:
        client, server = await agreed(stage, early=b"at once")
        for _ in range(3):
            client.send(NOISE)
            await server.expects(NOISE)
            server.send(NOISE[::-1])
            await client.expects(NOISE[::-1])
        server.writer.write_eof()
        await client.is_cut()
        await client.close()
        assert await stage.tap.end(1) == (State.COMPLETE, "")
        assert stage.tap.body(1, "asks") == NOISE * 3
        assert stage.tap.body(1, "says") == b"at once" + NOISE[::-1] * 3
        assert stage.tap.story(1)[:3] == ["began", "asked", "answered"]


async def test_over_tls_and_through_a_proxy_the_bytes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    serves, trusts = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("api.example").configure_cert(serves)
    authority.configure_trust(trusts)
    async with serving() as proxy, staged({"x": "https://api.example"}, tls=trusts) as stage:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        client = await stage.client()
        client.send(ASK.replace(b"HOST", stage.host))
        server = await proxy.accept()
        assert (await server.until(b"\r\n\r\n")).startswith(b"CONNECT api.example:443 ")
        server.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await server.writer.start_tls(serves)
        await server.expects(ASK.replace(b"HOST", b"api.example"))
        server.send(AGREE + b"at once")
        await client.expects(AGREE + b"at once")
        client.send(NOISE)
        await server.expects(NOISE)
        server.send(NOISE[::-1])
        await client.expects(NOISE[::-1])
        await client.close()
        await server.close()
        assert (await stage.tap.end(1))[0] in (State.COMPLETE, State.ABORTED)
        assert stage.tap.body(1, "asks") == NOISE


@pytest.mark.parametrize("first", ["client", "server"])
async def test_a_side_that_does_not_read_slows_the_other_down(first: str) -> None:
    """64 MB sent at once: most of it stays with its sender, and the other direction passes meanwhile."""
    async with staged() as stage:
        client, server = await agreed(stage)
        one, other = (client, server) if first == "client" else (server, client)
        one.send(bytes(64 << 20))
        await asyncio.sleep(0.3)
        assert one.writer.transport.get_write_buffer_size() > 32 << 20
        other.send(NOISE)
        await one.expects(NOISE)
        other.reset()
        await stage.tap.end(1)


async def test_a_client_that_breaks_off_is_noticed_while_nothing_is_read_from_it() -> None:
    async with staged() as stage:
        client, server = await agreed(stage)
        client.send(bytes(64 << 20))
        await asyncio.sleep(0.3)
        client.reset()
        state, why = await asyncio.wait_for(stage.tap.end(1), 5)
        assert state is State.ABORTED and why == "the client dropped the connection"
        with pytest.raises(ConnectionError):
            await server.rest()


@pytest.mark.parametrize("first", ["client", "server"])
async def test_one_side_may_end_before_the_other(first: str) -> None:
    async with staged() as stage:
        client, server = await agreed(stage)
        one, other = (client, server) if first == "client" else (server, client)
        one.send(b"last")
        one.writer.write_eof()
        assert await other.rest() == b"last"
        other.send(b"an answer to it")
        other.writer.write_eof()
        assert await one.rest() == b"an answer to it"
        assert await stage.tap.end(1) == (State.COMPLETE, "")


@pytest.mark.parametrize("first", ["client", "server"])
async def test_a_broken_side_breaks_the_other(first: str) -> None:
    async with staged() as stage:
        client, server = await agreed(stage)
        one, other = (client, server) if first == "client" else (server, client)
        one.reset()
        with pytest.raises(ConnectionError):
            await other.rest()
        state, why = await stage.tap.end(1)
        assert state is State.ABORTED and "dropped the connection" in why


async def test_a_refused_handshake_is_an_answer_like_others() -> None:
    async with staged() as stage:
        client = await stage.client()
        sent, arrives = stage.request(ASK)
        refusal = b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno"
        client.send(sent)
        server = await stage.upstream.accept()
        for key in (1, 2):
            await server.expects(arrives)
            server.send(refusal)
            await client.expects(refusal)
            assert await stage.tap.end(key) == (State.COMPLETE, "")
            client.send(sent)


NOT_PASSED = "this recorder does not forward WebSockets (--no-websocket): use plain HTTP requests"


async def test_they_can_be_refused() -> None:
    notes = Notes()
    relay = Relay({"main": "http://127.0.0.1:9"}, notes, passes_websockets=False)
    await relay.start()
    client = Peer(*await asyncio.open_connection("127.0.0.1", relay.port))
    client.send(ASK.replace(b"HOST", b"127.0.0.1:%d" % relay.port))
    assert (await client.rest()).startswith(b"HTTP/1.1 426 ")
    await client.close()
    await relay.close()
    assert await notes.end(1) == (State.COMPLETE, f"refused by the recorder: {NOT_PASSED}")
