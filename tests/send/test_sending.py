"""Sending: what goes over the wire, what comes back as it comes, and what remains where it does not."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.send.hostile import answer, hostile
from tests.simulator.conftest import chat
from workbench.protocols.decode import DecodedExchange
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.sending import BodyReceived, HeadReceived, RetryWait, Sender, SendInterrupted
from workbench.send.target import Target
from workbench.simulator import Dials, ScriptedModel, Simulator
from workbench.wire.encoding import decode_body
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, Origin, State

KEY = "sk-test-0123456789abcdefghij"
ENVIRON = {"SOME_KEY": KEY, "TEAM": "team-4711-secret"}
BODY = json.dumps(chat()).encode()


def target(url, **more):
    return Target("there", "openai-chat", url, key_variable="SOME_KEY", **more)


def leaving(where, body=BODY, **headers):
    """A request on its way, as it was recorded at its provider."""
    items = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    asked = HttpRequest("POST", "https://api.openai.com/v1/chat/completions", Headers(items), Body(body))
    return prepare(DecodedExchange(0, Exchange("a", asked), "openai-chat"), where)


def send(outgoing, *, heard=None, **more):
    """(exchange, events, waits) of one send that waits for nothing."""
    events, waits = [] if heard is None else heard, []

    async def slept(seconds):
        waits.append(seconds)

    async def run():
        given_ = {"environ": ENVIRON, "sleep": slept, "jitter": lambda: 0.0, **more}
        async with Sender(**given_) as sender:
            return await sender.send(outgoing, events.append, parent="a")

    return asyncio.run(run()), events, waits


def test_what_goes_over_the_wire():
    recorded = {
        "Host": "api.openai.com",
        "X-Custom": "kept",
        "authorization": "Bearer sk-recorded-000000000000000",
        "cookie": "session=abc",
        "Connection": "x-hop",
        "x-hop": "1",
        "accept-encoding": "gzip, br",
        "content-length": "3",
        "OpenAI-Organization": "org-1",
    }
    with hostile(answer(b'{"choices": []}')) as server:
        exchange, _, _ = send(leaving(target(server.url + "/v1"), **recorded))
        (head, body), (headers,) = server.asked[0], server.heads
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert body == BODY
    assert b"\r\nX-Custom: kept\r\n" in head
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["host"] == f"127.0.0.1:{server.port}" and headers["accept-encoding"] == "identity"
    assert headers["content-length"] == str(len(BODY))
    assert not {"cookie", "x-hop", "openai-organization"} & headers.keys()
    assert exchange.origin is Origin.RESENT and exchange.parent == "a" and exchange.state is State.COMPLETE
    assert exchange.meta == {"target": "there"}
    assert exchange.request.url == f"{server.url}/v1/chat/completions"


@given(st.binary(max_size=300))
def test_a_body_arrives_as_it_is(body):
    """Whatever the bytes are: no JSON, no UTF-8, nothing at all."""
    with hostile(answer()) as server:
        made = Outgoing(
            target(server.url), HttpRequest("POST", server.url + "/x", Headers(), Body(body)), "openai-chat"
        )
        send(made)
    assert server.asked[0][1] == body


@pytest.mark.parametrize("echo", ["{}", '{{"error": "bad key {}"}}', "data: {}\n\n"])
def test_a_key_that_is_echoed_is_nowhere(echo):
    text = echo.format(KEY).encode()
    with hostile([answer(text[:20], "401 Unauthorized", f"X-Echo: {KEY}", length=len(text)), text[20:]]) as server:
        exchange, events, _ = send(leaving(target(server.url)))
    assert server.heads[0]["authorization"].endswith(KEY)
    assert KEY not in repr(exchange) and KEY not in repr(events)
    assert b"".join(e.data for e in events if isinstance(e, BodyReceived)) == exchange.response.body.raw
    assert len(exchange.response.body.raw) == len(text)
    assert exchange.response.status == 401 and exchange.response.redactions


@pytest.mark.parametrize(
    ("refusal", "headers", "waits"),
    [
        ("429 Too Many Requests", ["Retry-After: 7"], [7.0]),
        ("429 Too Many Requests", ["retry-after-ms: 250"], [0.25]),
        ("503 Service Unavailable", ["Retry-After: Thu, 01 Jan 1970 00:01:40 GMT"], [40.0]),
        ("529 Overloaded", [], [0.5]),
        ("500 Internal Server Error", ["Retry-After: soon"], [0.5]),
    ],
)
def test_what_is_refused_for_now_is_sent_again(refusal, headers, waits):
    with hostile(answer(b"later", refusal, *headers), answer(b"{}")) as server:
        exchange, events, slept = send(leaving(target(server.url)), clock=lambda: 60.0)
    assert slept == waits
    assert events[0] == RetryWait(int(refusal[:3]), 1, waits[0], refusal)
    assert [body for _, body in server.asked] == [BODY, BODY]
    assert exchange.response.status == 200 and exchange.meta["attempts"] == 2


@pytest.mark.parametrize(
    ("refusal", "headers", "asked", "note"),
    [
        ("400 Bad Request", [], 1, ""),
        ("401 Unauthorized", [], 1, ""),
        ("500 Internal Server Error", ["x-should-retry: false"], 1, ""),
        ("429 Too Many Requests", ["Retry-After: 3600"], 1, "not retried: the server requests a wait of 3600 s"),
        ("529 Overloaded", [], 3, ""),
    ],
)
def test_what_is_refused_for_good_is_the_answer(refusal, headers, asked, note):
    with hostile(answer(b'{"error": {"message": "no"}}', refusal, *headers)) as server:
        exchange, _, waits = send(leaving(target(server.url)), retries=2)
    assert len(server.asked) == asked and len(waits) == asked - 1
    assert exchange.response.status == int(refusal[:3]) and exchange.state is State.COMPLETE
    assert exchange.note == note


def test_a_500_that_blames_the_request_is_the_answer():
    said = b'{"error": {"code": 500, "message": "Failed to parse tool call arguments as JSON", "type": "server_error"}}'
    with hostile(answer(said, "500 Internal Server Error")) as server:
        exchange, _, waits = send(leaving(target(server.url)))
    assert (len(server.asked), waits) == (1, [])
    assert exchange.response.status == 500 and exchange.response.body.raw == said


def test_a_500_that_breaks_off_is_sent_again():
    with hostile(answer(b'{"error"', "500 Internal Server Error", length=99), answer(b"{}")) as server:
        exchange, _, waits = send(leaving(target(server.url)))
    assert exchange.response.status == 200 and waits == [0.5]


def test_a_connection_that_breaks_before_the_answer_is_tried_again():
    with hostile(b"", answer(b"{}")) as server:
        exchange, events, waits = send(leaving(target(server.url)))
    assert exchange.response.status == 200 and len(server.asked) == 2 and waits == [0.5]
    assert isinstance(events[0], RetryWait) and events[0].status == 0


def test_no_answer_at_all_leaves_an_aborted_exchange():
    with hostile(b"") as server:
        exchange, _, waits = send(leaving(target(server.url)), retries=1)
    assert exchange.response is None and exchange.state is State.ABORTED and "no response" in exchange.note
    assert len(server.asked) == 2 and len(waits) == 1


def test_nobody_there_is_an_error_that_says_where():
    with hostile(b"") as server:
        port = server.port
    with pytest.raises(OSError, match=f"http://127.0.0.1:{port} cannot be reached"):
        send(leaving(target(f"http://127.0.0.1:{port}")), retries=1)


def test_an_answer_that_is_cut_is_kept_as_far_as_it_came():
    with hostile(answer(b'data: {"a": 1}\n\n', "200 OK", "Content-Type: text/event-stream", length=999)) as server:
        exchange, events, waits = send(leaving(target(server.url)))
    assert exchange.state is State.ABORTED and exchange.note.startswith("the connection was lost during the response")
    assert exchange.response.body.raw == b'data: {"a": 1}\n\n'
    assert len(server.asked) == 1 and not waits, "bytes were answered: it is not sent again"
    assert [type(e) for e in events] == [HeadReceived, BodyReceived]


def test_chunks_have_their_times():
    first_heard = threading.Event()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"

    class Events(list):
        def append(self, event):
            super().append(event)
            if isinstance(event, BodyReceived):
                first_heard.set()

    with hostile([head, b"3\r\none\r\n", first_heard, b"3\r\ntwo\r\n0\r\n\r\n"]) as server:
        exchange, events, _ = send(leaving(target(server.url)), heard=Events())
    assert [e.data for e in events[1:]] == [b"one", b"two"]
    assert [c.end for c in exchange.response.body.chunks] == [3, 6]
    assert [c.at for c in exchange.response.body.chunks] == [e.at for e in events[1:]]
    assert exchange.response.body.chunks[-1].at <= exchange.duration


def test_a_coding_that_nobody_asked_for_is_kept_and_read():
    packed = gzip.compress(b'{"choices": []}', mtime=0)
    with hostile(answer(packed, "200 OK", "Content-Encoding: gzip")) as server:
        exchange, _, _ = send(leaving(target(server.url)))
    assert exchange.response.body.raw == packed and decode_body(exchange.response.body) == b'{"choices": []}'


def test_of_a_bomb_remains_what_it_was(monkeypatch):
    monkeypatch.setattr("workbench.send.sending.MAX_RECORDED_BODY", 1000)
    packed = gzip.compress(b"a" * 1001, mtime=0)
    with hostile(answer(packed, "200 OK", "Content-Encoding: gzip")) as server:
        exchange, _, _ = send(leaving(target(server.url)))
    body = exchange.response.body
    assert exchange.state is State.ABORTED and exchange.note == body.note and "exceeds 1,000 bytes" in body.note
    assert (body.raw, body.is_raw, body.original_length) == (b"", False, len(packed))
    assert "exceeds 1,000 bytes" in DecodedExchange(0, exchange, "openai-chat").unread


@pytest.mark.parametrize("begins", [False, True])
def test_what_came_until_a_cancel_is_handed_over(begins):
    never = threading.Event()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n"
    with hostile([head, never] if begins else [never]) as server:
        events, asked = [], asyncio.Event

        async def run():
            ready = asked()

            def heard(event):
                events.append(event)
                if isinstance(event, BodyReceived):
                    ready.set()

            async with Sender(environ=ENVIRON) as sender:
                task = asyncio.ensure_future(sender.send(leaving(target(server.url)), heard))
                while not (ready.is_set() if begins else server.asked):
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        asyncio.run(run())
        assert server.hung_up.wait(5), "the connection is closed at once"
    assert isinstance(events[-1], SendInterrupted)
    kept = events[-1].exchange
    assert kept.state is State.ABORTED and kept.note == "interrupted" and KEY not in repr(kept)
    assert (kept.response.body.raw if kept.response else None) == (b"data: 1\n\n" if begins else None)


def test_a_wait_can_be_cancelled():
    with hostile(answer(b"later", "429 Too Many Requests", "Retry-After: 30")) as server:
        events = []

        async def run():
            waits = asyncio.Event()

            async def sleep(seconds):
                waits.set()
                await asyncio.Event().wait()

            async with Sender(environ=ENVIRON, sleep=sleep) as sender:
                task = asyncio.ensure_future(sender.send(leaving(target(server.url)), events.append))
                await waits.wait()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        asyncio.run(run())
    assert [type(e) for e in events] == [RetryWait, SendInterrupted]
    assert events[-1].exchange.response.status == 429 and events[-1].exchange.state is State.ABORTED


def test_a_simulator_answers_beside_the_loop():
    threads, own = set(), Simulator.send

    def noted(self, *args):
        threads.add(threading.current_thread().name)
        return own(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Simulator, "send", noted)
        exchange, events, _ = send(leaving(Target("sim:openai", contract="openai")))
    assert threads and threading.main_thread().name not in threads
    assert exchange.response.status == 200 and exchange.request.url.startswith("https://api.openai.com/v1/")
    assert [type(e) for e in events] == [HeadReceived, BodyReceived]


def test_a_served_simulator_streams(served):
    server = served(Simulator("openai", model=ScriptedModel(Dials(parallel=2))))
    body = json.dumps(chat(stream=True)).encode()
    exchange, events, _ = send(leaving(target(server.url + "/v1"), body))
    decoded = DecodedExchange(0, exchange)
    assert decoded.protocol == "openai-chat" and decoded.response.finish_reason == "tool_calls"
    assert len([c for m in decoded.response.messages for c in m.tool_calls()]) == 2
    assert len([e for e in events if isinstance(e, BodyReceived)]) > 2
