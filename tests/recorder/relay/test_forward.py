"""Bytes that reach the upstream and the client, compared one by one, and what the tap is told."""

from __future__ import annotations

import asyncio

import pytest

from tests.recorder.relaying import Peer, Stage, staged
from workbench.recorder.events import RequestHead, ResponseHead
from workbench.recorder.relay.forward import IGNORED_UPGRADE
from workbench.wire.exchange import State

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
GET = b"GET /x HTTP/1.1\r\nHost: HOST\r\n\r\n"

REQUESTS = {
    "get": b"GET /v1/models?beta=true&x=%2F HTTP/1.1\r\nHost: HOST\r\nAccept: */*\r\n\r\n",
    "no path is normalized": b"GET /a//b/../c/%7e?q=a+b&&c HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "length": b"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\r\nh\x00\r\n\xff",
    "headers keep order, case, duplicates and spacing": (
        b"POST /x HTTP/1.1\r\nX-b:  two  spaces \t\r\nhost: HOST\r\nX-A:1\r\nx-b: again\r\nX-Empty:\r\n"
        b"X-Latin: \xe9\xff\r\ncontent-LENGTH: 2\r\nContent-Encoding: gzip\r\n\r\n{}"
    ),
    "chunked": (
        b"POST /x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3;name=\"v\";x\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n"
    ),
    "chunked, empty": b"POST /x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: Chunked\r\n\r\n000\r\n\r\n",
    "odd method": b"M-SEARCH /x HTTP/1.1\r\nHost: HOST\r\n\r\n",
}  # fmt: skip

ANSWERS = {
    "length": (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 2\r\nX-A: 1\r\nx-a:2 \r\n\r\n{}",
        b"{}",
    ),
    "chunked": (
        b"HTTP/1.1 200 Fine\xff\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5;a=b\r\nhello\r\n3\r\n\r\n\x00\r\n00\r\nX-Sum: 1\r\n\r\n",
        b"hello\r\n\x00",
    ),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", b""),
    "204": (b"HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n", b""),
    "304 with a length": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", b""),
    "error": (b"HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 1\r\n\r\n!", b"!"),
    "same length twice": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", b"hi"),
}


async def ask(stage: Stage, client: Peer, text: bytes = GET) -> Peer:
    """Send a request on a new upstream connection and let the upstream read it."""
    sent, there = stage.request(text)
    client.send(sent)
    peer = await stage.upstream.accept()
    await peer.expects(there)
    return peer


@pytest.mark.parametrize("text", REQUESTS.values(), ids=REQUESTS)
async def test_requests_arrive_as_they_were_sent(text: bytes) -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client, text)
        peer.send(OK)
        await client.expects(OK)
        assert await stage.tap.end(1) == (State.COMPLETE, "")


@pytest.mark.parametrize("text", REQUESTS.values(), ids=REQUESTS)
async def test_requests_arrive_as_they_were_sent_byte_by_byte(text: bytes) -> None:
    async with staged() as stage:
        client = await stage.client()
        sent, there = stage.request(text)
        for n in range(len(sent)):
            client.send(sent[n : n + 1])
            await client.writer.drain()
            await asyncio.sleep(0)
        peer = await stage.upstream.accept()
        await peer.expects(there)
        peer.send(OK)
        await client.expects(OK)


@pytest.mark.parametrize(("answer", "body"), ANSWERS.values(), ids=ANSWERS)
async def test_answers_arrive_as_they_were_sent(answer: bytes, body: bytes) -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(answer)
        await client.expects(answer)
        assert await stage.tap.end(1) == (State.COMPLETE, "")
        assert stage.tap.body(1, "says") == body
        client.send(stage.request(GET)[0])  # both connections can be used again
        await peer.expects(stage.request(GET)[1])
        peer.send(OK)
        await client.expects(OK)


async def test_the_tap_hears_both_sides_without_framing() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client, REQUESTS["chunked"])
        peer.send(ANSWERS["chunked"][0])
        await client.expects(ANSWERS["chunked"][0])
        await stage.tap.end(1)
        assert stage.tap.story(1) == ["began", "asks", "asked", "answered", "says", "ended"]
        assert stage.tap.pieces(1, "asks") == [b"abc", b"0123456789"]
        assert stage.tap.pieces(1, "says") == [b"hello", b"\r\n\x00"]
        assert stage.tap.times == sorted(stage.tap.times)
        (name, head), response = stage.tap.calls[1][0][1], stage.tap.pieces(1, "answered")[0]
        assert name == "main"
        assert isinstance(head, RequestHead) and isinstance(response, ResponseHead)
        assert (head.method, head.target, head.http_version) == ("POST", "/x", "HTTP/1.1")
        assert head.url == f"http://127.0.0.1:{stage.upstream.port}/x"
        assert head.headers.items == (("Host", stage.host.decode()), ("Transfer-Encoding", "chunked"))
        assert (response.status, response.reason, response.http_version) == (200, "Fine\xff", "HTTP/1.1")


async def test_each_chunk_leaves_as_it_comes() -> None:
    """Neither side waits for a chunk, a line or a body to be whole."""
    async with staged() as stage:
        client = await stage.client()
        sent, there = stage.request(b"POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send(sent)
        peer = await stage.upstream.accept()
        await peer.expects(there)
        for part in (b"5\r\n", b"he", b"llo", b"\r\n"):
            client.send(part)
            await peer.expects(part)
        client.send(b"0\r\n\r\n")
        await peer.expects(b"0\r\n\r\n")
        for part in (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"6\r\n",
            b"data: ",
            b"\r\n",
            b"0\r\n\r\n",
        ):
            peer.send(part)
            await client.expects(part)
        assert (await stage.tap.end(1))[0] is State.COMPLETE


async def test_hop_by_hop_headers_stay_on_their_hop() -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(
            b"GET /x HTTP/1.1\r\nHost: %s\r\nConnection: keep-alive, X-Mine , content-length,host\r\n"
            b"Keep-Alive: timeout=9\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nX-Mine: 1\r\nUpgrade: h2c\r\n"
            b"Proxy-Authorization: Basic eA==\r\nContent-Length: 0\r\nX-Kept: 2\r\n\r\n" % stage.host
        )
        peer = await stage.upstream.accept()
        await peer.expects(b"GET /x HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nX-Kept: 2\r\n\r\n" % stage.there)
        peer.send(
            b"HTTP/1.1 200 OK\r\nConnection: keep-alive, x-own\r\nKeep-Alive: timeout=5\r\nX-Own: 1\r\nUpgrade: h2\r\n"
            b"Proxy-Authenticate: Basic\r\nContent-Length: 0\r\nTrailer: X\r\n\r\n"
        )
        await client.expects(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTrailer: X\r\n\r\n")


async def test_head_has_no_body_whatever_its_length() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client, b"HEAD /x HTTP/1.1\r\nHost: HOST\r\n\r\n")
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
        peer.send(answer)
        await client.expects(answer)
        await stage.tap.end(1)
        client.send(stage.request(GET)[0])
        await peer.expects(stage.request(GET)[1])


async def test_an_answer_that_ends_with_its_connection() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\nuntil ")
        await client.expects(b"HTTP/1.1 200 OK\r\nX: 1\r\nConnection: close\r\n\r\nuntil ")
        peer.send(b"the end")
        await peer.close()
        assert await client.rest() == b"the end"
        assert await stage.tap.end(1) == (State.COMPLETE, "")


async def test_http_1_0() -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(b"GET /x HTTP/1.0\r\nX: 1\r\n\r\n")
        peer = await stage.upstream.accept()
        await peer.expects(b"GET /x HTTP/1.0\r\nHost: %s\r\nX: 1\r\n\r\n" % stage.there)
        peer.send(b"HTTP/1.0 200 OK\r\n\r\nhello")
        await peer.close()
        assert await client.rest() == b"HTTP/1.0 200 OK\r\n\r\nhello"


async def test_a_client_of_http_1_0_gets_no_chunks() -> None:
    async with staged() as stage:
        client = await stage.client()
        client.send(b"GET /x HTTP/1.0\r\n\r\n")
        peer = await stage.upstream.accept()
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n")
        assert await client.rest() == b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\nhi!"
        assert stage.tap.body(1, "says") == b"hi!"


async def test_a_length_beside_chunks_is_not_passed_on() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
        await client.expects(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")


async def test_continue_and_other_interim_answers_are_passed_on_and_not_told() -> None:
    async with staged() as stage:
        client = await stage.client()
        head = b"POST /x HTTP/1.1\r\nHost: HOST\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        peer = await ask(stage, client, head)
        interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        peer.send(interim)
        await client.expects(interim)
        client.send(b"body")
        await peer.expects(b"body")
        peer.send(OK)
        await client.expects(OK)
        await stage.tap.end(1)
        assert len(stage.tap.pieces(1, "answered")) == 1


async def test_a_client_that_wants_the_connection_closed() -> None:
    async with staged() as stage:
        client = await stage.client()
        sent, _ = stage.request(b"GET /x HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n")
        client.send(sent)
        peer = await stage.upstream.accept()
        await peer.expects(stage.request(GET)[1])
        peer.send(OK)
        assert await client.rest() == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
        other = await stage.client()
        other.send(stage.request(GET)[0])
        await peer.expects(stage.request(GET)[1])  # the upstream's connection was kept


async def test_an_early_answer_does_not_stop_the_request() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client, b"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 8\r\n\r\nfour")
        peer.send(OK)
        await client.expects(OK)
        client.send(b"more" + stage.request(GET)[0])
        await peer.expects(b"more")
        assert await stage.tap.end(1) == (State.COMPLETE, "")
        assert stage.tap.body(1, "asks") == b"fourmore"
        await peer.expects(stage.request(GET)[1])


async def test_an_early_answer_is_read_to_its_end_though_the_upstream_takes_no_more() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client, b"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999\r\n\r\nfour")
        client.send(bytes(4_000_000))  # more than the sockets hold
        peer.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await client.expects(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await peer.close()
        state, why = await stage.tap.end(1)
        assert (state, "before the request was complete" in why) == (State.COMPLETE, True)
        assert await client.rest() == b""


async def test_an_answer_sent_before_the_upstream_broke_off_is_delivered() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client, b"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999\r\n\r\nfour")
        peer.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        peer.reset()
        client.send(bytes(1_000_000))
        await client.expects(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")


async def test_when_the_client_hangs_up_so_does_the_relay() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
        await client.until(b"hi")
        await client.close()
        assert await peer.is_cut()
        assert await stage.tap.end(1) == (State.ABORTED, "the client disconnected")
        assert stage.tap.body(1, "says") == b"hi"


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nConte"])
async def test_an_upstream_that_never_answers_is_a_bad_gateway(sent: bytes) -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client, b"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\nhi")
        peer.send(sent)
        await peer.close()
        text = await client.until(b"again\n")
        assert b"HTTP/1.1 502 Bad Gateway\r\n" in text and b"\r\nX-Workbench-Relay: failed\r\n" in text
        assert b"closed the connection before it responded" in text
        state, why = await stage.tap.end(1)
        assert (state, "closed the connection before it responded" in why) == (State.ABORTED, True)
        client.send(stage.request(GET)[0])  # the client's connection lives on
        assert (await (await stage.upstream.accept()).until(b"\r\n\r\n")) == stage.request(GET)[1]


CUT = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
    "chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nshort",
    "last chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
}


@pytest.mark.parametrize("answer", CUT.values(), ids=CUT)
@pytest.mark.parametrize("resets", [False, True])
async def test_a_cut_answer_is_cut_for_the_client_too(answer: bytes, resets: bool) -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(answer)
        await client.expects(answer)
        if resets:
            peer.reset()
            with pytest.raises(ConnectionError):
                await client.rest()
        else:
            await peer.close()
            assert await client.rest() == b""
        state, why = await stage.tap.end(1)
        assert (state, "closed the connection before its response was complete" in why) == (State.ABORTED, True)
        assert stage.tap.body(1, "says") == b"short"


async def test_an_open_ended_answer_that_breaks_off_does_not_look_whole() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        await client.until(b"half")
        peer.reset()
        with pytest.raises(ConnectionError):
            await client.rest()
        state, why = await stage.tap.end(1)
        assert (state, why.partition(" (")[0]) == (
            State.ABORTED,
            "the upstream closed the connection before its response was complete",
        )


BAD_ANSWERS = {
    "the response has no status line": b"hello\r\n\r\n",
    "not HTTP": b"\x15\x03\x03\x00\x02",
    "bare line ends": b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    "folded": b"HTTP/1.1 200 OK\r\nX: 1\r\n more\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "unknown coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "switching protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "endless head": b"HTTP/1.1 200 OK\r\nX: " + bytes(b"x" * 300_000),
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
async def test_an_answer_that_is_not_http_is_a_bad_gateway(answer: bytes) -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(answer)
        assert (await client.until(b"\n")).startswith(b"HTTP/1.1 502 ")
        assert "is not HTTP/1.1" in (await stage.tap.end(1))[1]
        assert await peer.is_cut()


async def test_what_is_no_http_is_shown_to_the_client_and_not_told() -> None:
    """A piece of it may be a piece of a secret, which nobody could recognise."""
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(b"no key\r\n\r\n")
        assert (
            b"not an HTTP/1.1 status line; received: 'no key'; no part of the response was forwarded"
            in await client.until(b"forwarded\n")
        )
        assert "no key" not in (await stage.tap.end(1))[1]


async def test_a_bad_chunk_in_an_answer_breaks_it_off() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
        await client.until(b"hi\r\n")
        peer.send(b"nonsense\r\n")
        with pytest.raises(ConnectionError):
            await client.rest()
        assert (await stage.tap.end(1))[0] is State.ABORTED


async def test_a_bad_chunk_in_a_request_is_refused_and_goes_nowhere() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(
            stage, client, b"POST /x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"
        )
        client.send(b"0x2\r\nhi\r\n")
        answer = await client.rest()
        assert answer.startswith(b"HTTP/1.1 400 ") and b"not a chunk size" in answer
        assert await peer.is_cut()
        assert (await stage.tap.end(1))[0] is State.ABORTED


@pytest.mark.parametrize("side", ["request", "answer"])
async def test_a_slow_reader_slows_the_sender_down(side: str) -> None:
    """64 MB sent at once into a side that does not read: most of it stays with its sender."""
    size, body = 64 * 1024 * 1024, bytes(range(256)) * 4096
    async with staged() as stage:
        client = await stage.client()
        head = b"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: %d\r\n\r\n" % (size if side == "request" else 0)
        peer = await ask(stage, client, head)
        source, sink = (client, peer) if side == "request" else (peer, client)
        if side == "answer":
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            await client.until(b"\r\n\r\n")
        for _ in range(size // len(body)):
            source.send(body)
        name = "asks" if side == "request" else "says"
        held = -1
        while held != (held := len(stage.tap.body(1, name))):  # until nothing moves any more
            for _ in range(200):
                await asyncio.sleep(0.0)
        assert held < size // 2
        for _ in range(size // len(body)):
            await sink.expects(body)
        assert stage.tap.body(1, name) == body * (size // len(body))


async def test_a_slow_client_that_hangs_up_is_noticed() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + bytes(16_000_000))
        await client.until(b"\r\n\r\n")
        client.reset()
        assert await peer.is_cut()
        assert await stage.tap.end(1) == (State.ABORTED, "the client disconnected")


@pytest.mark.parametrize("ends", [False, True])
async def test_an_upstream_that_speaks_before_it_is_asked(ends: bool) -> None:
    """A server that takes no more may say so as soon as it is connected to."""
    async with staged() as stage:
        client = await stage.client()
        client.send(stage.request(GET)[0])
        peer = await stage.upstream.accept()
        answer = b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"
        peer.send(answer)
        if ends:
            await peer.close()
        await client.expects(answer)
        assert (await stage.tap.end(1))[0] is State.COMPLETE


async def test_what_came_before_bad_framing_passes_and_is_told() -> None:
    async with staged() as stage:
        client = await stage.client()
        peer = await ask(stage, client)
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        peer.send(head + b"5\r\nhello\r\n5\r\nworld\r\nZZ\r\n")
        await client.expects(head + b"5\r\nhello\r\n5\r\nworld\r\n")
        assert await client.is_cut()
        state, why = await stage.tap.end(1)
        assert state is State.ABORTED and "not a chunk size" in why
        assert stage.tap.body(1, "says") == b"helloworld"
        assert stage.tap.passed[1]["response"].is_equal


async def test_another_upgrade_goes_on_as_a_plain_request_and_that_is_said() -> None:
    told: list[str] = []
    async with staged(on_refusal=told.append) as stage:
        asked = b"GET /x HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        for number in (1, 2):
            client = await stage.client()
            client.send(stage.request(asked)[0])
            if number == 1:
                server = await stage.upstream.accept()
            await server.expects(stage.request(GET)[1])
            server.send(OK)
            await client.expects(OK)
            assert await stage.tap.end(number) == (State.COMPLETE, IGNORED_UPGRADE.format("h2c"))
        assert told == [IGNORED_UPGRADE.format("h2c")]
