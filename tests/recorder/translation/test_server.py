"""The path piece by piece: each event leaves as it comes, and an end on one side is an end on the other."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from tests.recorder.relaying import Notes, Peer, serving
from tests.recorder.translation.bridging import blocks, upstream
from workbench.recorder.translation.path import TranslationPath
from workbench.recorder.translation.requests import TranslationRules
from workbench.wire.exchange import State

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


DONE = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


def event(finish_reason=None, **delta):
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    data = {"id": "c1", "model": "m", "object": "chat.completion.chunk", "choices": [choice]}
    said = b"data: %s\n\n" % json.dumps(data).encode()
    return b"%x\r\n%s\r\n" % (len(said), said)


class Stage:
    def __init__(self, path, tap, server):
        self.path, self.tap, self.server = path, tap, server
        self.peers = []

    async def asks(self, body, path=b"/v1/messages"):
        """A client that has sent its request, and the upstream that has read what became of it."""
        client = Peer(*await asyncio.open_connection("127.0.0.1", self.path.port))
        self.peers.append(client)
        raw = json.dumps(body).encode()
        head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n"
        client.send(head % (path, self.path.port, len(raw)) + raw)
        return client

    async def takes(self):
        provider = await self.server.accept()
        head = await provider.until(b"\r\n\r\n")
        length = next(
            int(v) for n, _, v in (ln.partition(b":") for ln in head.split(b"\r\n")) if n == b"content-length"
        )
        return provider, head, json.loads(await provider.reader.readexactly(length))


@asynccontextmanager
async def staged(**rules):
    tap = Notes()
    async with serving() as server:
        up = upstream("sim:deepseek", f"http://127.0.0.1:{server.port}/beta")
        async with TranslationPath({"default": up}, TranslationRules("openai-chat", **rules), tap, hop="far") as path:
            stage = Stage(path, tap, server)
            yield stage
            for peer in stage.peers:
                peer.writer.transport.abort()


def test_events_leave_as_they_come():
    async def play():
        async with staged() as stage:
            client = await stage.asks(blocks(stream=True))
            provider, head, body = await stage.takes()
            assert head.startswith(b"POST /beta/v1/chat/completions HTTP/1.1\r\n") and body["stream"] is True
            assert b"x-workbench-turn" not in head
            provider.send(STREAM + event(role="assistant", reasoning_content="Hm"))
            assert b"200 OK" in await client.until(b"\r\n\r\n")
            assert b'"Hm"' in await client.until(b'"thinking_delta","thinking":"Hm"')
            provider.send(event(content="Yes"))
            before = await client.until(b'"text_delta","text":"Yes"')
            assert b'"signature_delta","signature":"workbench:' in before
            provider.send(event(finish_reason="stop") + DONE)
            assert b"message_stop" in await client.until(b"0\r\n\r\n")
            assert [await stage.tap.end(key) for key in (1,)] == [(State.COMPLETE, "")]
            state, note = await stage.tap.end(2)
            assert state is State.COMPLETE and "handle: workbench:" in note

    asyncio.run(play())


def test_a_client_that_hangs_up_ends_the_stream_upstream():
    async def play():
        async with staged() as stage:
            client = await stage.asks(blocks(stream=True))
            provider, _, _ = await stage.takes()
            provider.send(STREAM + event(role="assistant", content="Yes"))
            await client.until(b'"Yes"')
            client.reset()
            assert await provider.is_cut()
            assert [(await stage.tap.end(key))[0] for key in (1, 2)] == [State.ABORTED] * 2

    asyncio.run(play())


def test_a_client_that_hangs_up_before_the_answer_ends_the_request():
    async def play():
        async with staged() as stage:
            client = await stage.asks(blocks())
            provider, _, _ = await stage.takes()
            client.reset()
            assert await provider.is_cut()
            assert (await stage.tap.end(2))[0] is State.ABORTED

    asyncio.run(play())


@pytest.mark.parametrize("path", [b"/v1/messages", b"/v1/chat/completions"])
def test_an_upstream_that_breaks_off_ends_the_stream_without_an_end(path):
    async def play():
        async with staged() as stage:
            client = await stage.asks(blocks(stream=True, tools=[], model="deepseek-v4-flash"), path)
            provider, _, _ = await stage.takes()
            provider.send(STREAM + event(role="assistant", content="Yes"))
            await client.until(b'"Yes"')
            provider.reset()
            rest = b""
            with pytest.raises(ConnectionError):
                rest = await client.rest()
                raise ConnectionResetError
            assert b"message_stop" not in rest and b"0\r\n\r\n" not in rest
            state, note = await stage.tap.end(2)
            assert state is State.ABORTED and "ended its response early" in note

    asyncio.run(play())


def test_an_upstream_that_is_not_there_is_an_error_of_the_client():
    async def play():
        async with staged() as stage:
            client = await stage.asks(blocks())
            (await stage.takes())[0].reset()
            said = await client.until(b"}}")
            assert (
                b" 502 " in said and b'"type":"error"' in said and b"closed the connection before it responded" in said
            )

    asyncio.run(play())


def test_many_at_once_keep_to_their_own():
    async def play():
        async with staged() as stage:
            clients = [await stage.asks(blocks(stream=True, system=f"s{n}")) for n in range(20)]
            taken = [await stage.takes() for _ in clients]
            for provider, _, body in taken:
                words = body["messages"][0]["content"]
                done = b"data: [DONE]\n\n"
                provider.send(
                    STREAM
                    + event(role="assistant", content=f"<{words}>")
                    + b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done)
                )
            for n, client in enumerate(clients):
                assert f'"<s{n}>"'.encode() in await client.until(b"0\r\n\r\n")
            heads = {key: calls[0][1][1] for key, calls in stage.tap.calls.items()}
            went = {key: head for key, head in heads.items() if head.hop == "far:upstream"}
            for key, head in went.items():
                said = json.loads(stage.tap.body(head.parent, "asks"))["system"]
                assert json.loads(stage.tap.body(key, "asks"))["messages"][0]["content"] == said

    asyncio.run(play())
