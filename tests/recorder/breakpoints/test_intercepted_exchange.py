"""Exchanges that breakpoints hold: what leaves when, what each deed does, and what is recorded of it."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping

import pytest

from tests.recorder import holding
from tests.recorder.holding import (
    ANSWER,
    ASKED,
    BEFORE,
    CALL,
    END,
    JSON,
    STREAM,
    Held,
    chunk,
    held,
    pausing,
    request,
    told,
    unchunked,
)
from tests.recorder.relaying import Peer, turns
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.recorder.breakpoints.intercepted_events import BEHIND
from workbench.wire.exchange import State

OTHER = ASKED.replace(b"hi", b"something else")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_healthy_request_is_held_until_its_last_byte_and_goes_on_as_it_came() -> None:
    async with held("closure", verdict=pausing()) as stage:
        whole = request(stage)
        client = await stage.asks(whole[:-1])
        await turns()
        assert not stage.upstream.seen, "nothing is forwarded before the request is whole"
        client.send(whole[-1:])
        server = await stage.forwarded()
        server.send(OK)
        await client.expects(OK)
        assert await stage.tap.end(1) == (State.COMPLETE, "")
        assert stage.tap.story(1) == ["began", "asks", "asked", "answered", "says", "ended"]
        assert stage.tap.body(1, "asks") == ASKED and stage.tap.passed[1]["request"].is_equal
        assert [verb for verb, _ in stage.judge.asked] == ["request"]


@pytest.mark.parametrize(
    "text",
    [
        b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"POST /v1/files HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /v1/messages/count_tokens HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
async def test_what_asks_no_model_is_not_held(text: bytes) -> None:
    async with held("all", verdict=pausing("request", "response")) as stage:
        client = await stage.asks(stage.request(text)[0])
        server = await stage.upstream.accept()
        await server.expects(stage.request(text)[1])
        server.send(OK)
        await client.expects(OK)
        assert not stage.judge.asked


async def test_nothing_armed_holds_nothing() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        stage.gate.disarm("all")
        client = await stage.asks()
        (await stage.forwarded()).send(OK)
        await client.expects(OK)
        assert not stage.judge.asked


async def test_a_pause_says_what_is_held_why_and_how_long_the_client_waits() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        await stage.asks()
        pause = await stage.paused()
        assert (pause["exchange"], pause["side"], pause["reasons"]) == ("run-1", "request", [holding.REASON])
        assert (pause["bytes"], pause["sent"], pause["timeout"]) == (len(ASKED), 0, 600.0)
        assert 0 <= pause["since"] + 600 - pause["times_out_at"] < 60
        assert pause["deeds"] == ["continue", "edit", "answer", "drop"]
        assert stage.gate.find_pause(1).exchange.held_body() == (ASKED, 0)
        assert not stage.upstream.seen


async def test_a_request_goes_on_as_it_came() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        client = await stage.asks()
        stage.gate.decide((await stage.paused())["id"], "continue")
        (await stage.forwarded()).send(OK)
        await client.expects(OK)
        state, why = await stage.tap.end(1)
        assert state is State.COMPLETE and why.startswith("paused at a breakpoint (closure) for ")
        assert why.endswith(": continued")
        assert (await stage.event("ended"))["how"] == "continued"


async def test_chunks_of_a_request_go_on_as_they_came() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        head = b"POST /v1/messages HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % stage.host
        body = chunk(ASKED[:9]) + chunk(ASKED[9:]) + b"0\r\n\r\n"
        client = await stage.asks(head + body)
        stage.gate.decide((await stage.paused())["id"], "continue")
        server = await stage.upstream.accept()
        await server.until(b"\r\n\r\n")
        await server.expects(body)
        server.send(OK)
        await client.expects(OK)
        assert stage.tap.body(1, "asks") == ASKED


async def test_an_edited_request_goes_instead_and_both_are_recorded() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        packed = gzip.compress(ASKED, mtime=0)
        client = await stage.asks(request(stage, packed, more=b"Content-Encoding: gzip\r\n"))
        number = (await stage.paused())["id"]
        assert stage.gate.find_pause(number).exchange.held_body() == (ASKED, 0), "people see it without its coding"
        stage.gate.decide(number, "edit", OTHER)
        server = await stage.upstream.accept()
        assert b"gzip" not in (head := await server.until(b"\r\n\r\n"))
        assert head.count(b"Content-Length: %d\r\n" % len(OTHER)) == 1
        await server.expects(OTHER)
        server.send(OK)
        await client.expects(OK)
        await stage.tap.end(1)
        assert (stage.tap.body(1, "asks"), stage.tap.body(1, "says")) == (packed, b"ok")
        assert (stage.tap.body(2, "asks"), stage.tap.body(2, "says")) == (OTHER, b"ok")
        made = stage.tap.calls[2][0][1][1]  # type: ignore[index]
        assert (made.parent, made.branch, made.hop) == (1, "edited at a breakpoint", BEHIND)
        assert await stage.tap.end(2) == (State.COMPLETE, "") and stage.tap.passed[2]["request"].is_equal


async def test_a_simulator_answers_in_the_upstreams_place() -> None:
    def verdict(verb: str, words: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        return told(b"data: 1\n\n") if verb == "answer" else pausing("request")(verb, words)

    async with held("closure", verdict=verdict) as stage:
        client = await stage.asks()
        with pytest.raises(UsageError, match="not a simulator"):
            await stage.gate.answer((await stage.paused())["id"], "https://example.com")
        await stage.gate.answer(1, "sim:anthropic")
        head = await client.until(b"\r\n\r\n")
        assert b"X-Workbench-Breakpoint: sim:anthropic" in head
        await client.expects(chunk(b"data:") + chunk(b" 1\n\n") + b"0\r\n\r\n")
        state, why = await stage.tap.end(1)
        assert state is State.COMPLETE and why.endswith("answered by sim:anthropic")
        assert stage.tap.body(1, "says") == b"data: 1\n\n" and not stage.upstream.seen
        client.send(request(stage))
        assert (await stage.paused())["id"] == 2, "the connection is kept"


async def test_a_dropped_request_goes_nowhere() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        client = await stage.asks()
        stage.gate.decide((await stage.paused())["id"], "drop")
        with pytest.raises(ConnectionError):
            await client.rest()
        state, why = await stage.tap.end(1)
        assert state is State.ABORTED and why.endswith("dropped") and not stage.upstream.seen


async def test_a_client_that_hangs_up_ends_its_pause() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        client = await stage.asks()
        await stage.paused()
        client.reset()
        assert (await stage.event("ended"))["how"] == "the client disconnected"
        assert (await stage.tap.end(1))[0] is State.ABORTED and not stage.gate.pauses


async def test_several_pauses_stand_at_once() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        clients = [await stage.asks(request(stage, ASKED + b" " * n)) for n in range(3)]
        numbers = {(await stage.paused())["bytes"] - len(ASKED): n for n in (1, 2, 3)}
        assert len(stage.gate.pauses) == 3
        stage.gate.decide(numbers[2], "continue")
        (await stage.forwarded(ASKED + b"  ")).send(OK)
        await clients[2].expects(OK)
        assert [p["id"] for p in stage.gate.pauses] == sorted({1, 2, 3} - {numbers[2]})
        with pytest.raises(UsageError, match="no pause"):
            stage.gate.decide(numbers[2], "continue")


async def test_what_cannot_be_judged_goes_on_and_says_so() -> None:
    async with held("closure", verdict=lambda verb, words: {"unjudged": "the file is gone"}) as stage:
        client = await stage.asks()
        (await stage.forwarded()).send(OK)
        await client.expects(OK)
        assert (await stage.event("unjudged"))["why"] == "the file is gone"
        assert await stage.tap.end(1) == (State.COMPLETE, "not checked at a breakpoint: the file is gone")


async def test_a_request_that_is_too_long_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.recorder.breakpoints.intercepted_exchange.MAX_HELD_REQUEST", 20)
    async with held("closure", verdict=pausing("request")) as stage:
        whole = request(stage)
        client = await stage.asks(whole[:-5])
        assert "20 bytes" in (await stage.event("unjudged"))["why"]
        server = await stage.upstream.accept()
        await server.until(b"\r\n\r\n")
        await server.expects(ASKED[:-5])
        client.send(whole[-5:])
        await server.expects(ASKED[-5:])
        server.send(OK)
        await client.expects(OK)
        await stage.tap.end(1)
        assert stage.tap.body(1, "asks") == ASKED and stage.tap.story(1).count("asked") == 1


async def test_a_client_that_waits_to_be_asked_for_its_body() -> None:
    async with held("closure", verdict=pausing()) as stage:
        head, _, body = request(stage, more=b"Expect: 100-continue\r\n").partition(b"\r\n\r\n")
        client = await stage.asks(head + b"\r\n\r\n")
        await client.expects(b"HTTP/1.1 100 Continue\r\n\r\n")
        client.send(body)
        server = await stage.upstream.accept()
        assert b"xpect" not in await server.until(b"\r\n\r\n")
        await server.expects(ASKED)


async def test_what_is_no_http_is_refused() -> None:
    async with held("closure", verdict=pausing()) as stage:
        head = b"POST /v1/messages HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" % stage.host
        client = await stage.asks(head)
        assert b"400" in await client.until(b"\r\n\r\n")
        assert (await stage.tap.end(1))[0] is State.ABORTED and not stage.upstream.seen


# Answers


async def answering(stage: Held, text: bytes) -> tuple[Peer, Peer]:
    """A client, and the upstream that has sent this."""
    client = await stage.asks()
    server = await stage.forwarded()
    server.send(text)
    return client, server


async def test_a_simulator_answers_a_stream_of_which_the_head_alone_has_left() -> None:
    says = [{**told(b"data: 1\n\n"), "status": 400}, told(b"data: 1\n\n")]

    def verdict(verb: str, words: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        return says.pop(0) if verb == "answer" else pausing("response")(verb, words)

    async with held("arguments", verdict=verdict) as stage:
        client, _ = await answering(stage, STREAM + chunk(CALL) + chunk(END) + b"0\r\n\r\n")
        pause = await stage.paused()
        assert pause["sent"] == 0 and pause["deeds"] == ["continue", "edit", "answer", "drop"]
        with pytest.raises(
            UsageError, match="the upstream's response head has already been sent, but sim:gemini responds with 400"
        ):
            await stage.gate.answer(pause["id"], "sim:gemini")
        await stage.gate.answer(pause["id"], "sim:gemini")
        await client.until(b"\r\n\r\n")
        await client.expects(chunk(b"data: 1\n\n") + b"0\r\n\r\n")
        state, why = await stage.tap.end(1)
        assert state is State.COMPLETE and why.endswith("answered by sim:gemini")
        assert stage.tap.body(1, "says") == b"data: 1\n\n" and stage.tap.body(2, "says") == CALL + END


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
async def test_a_stream_is_held_from_its_first_call_on(size: int) -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        whole = BEFORE + CALL + END
        pieces = b"".join(chunk(whole[n : n + size]) for n in range(0, len(whole), size))
        client, _ = await answering(stage, STREAM + pieces + b"0\r\n\r\n")
        pause = await stage.paused()
        assert (pause["side"], pause["bytes"], pause["sent"]) == ("response", len(whole), len(BEFORE))
        assert pause["deeds"] == ["continue", "edit", "drop"]
        await client.until(b"\r\n\r\n")
        seen = b""
        while unchunked(seen) != BEFORE:
            seen += await client.until(b"\r\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await client.reader.read(1)
        stage.gate.decide(pause["id"], "continue")
        rest = await client.until(b"\r\n0\r\n\r\n")
        assert unchunked(seen + rest) == whole
        assert (await stage.tap.end(1))[0] is State.COMPLETE
        assert stage.tap.body(1, "says") == whole and stage.tap.passed[1]["response"].is_equal


async def test_events_leave_one_by_one_before_a_call() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client, server = await answering(stage, STREAM)
        await client.expects(STREAM)
        for one in BEFORE.split(b"\n\n")[:-1]:
            server.send(chunk(one[:4]) + chunk(one[4:] + b"\n\n"))
            assert unchunked(await client.until(b"\n\n\r\n")) == one + b"\n\n"


async def test_an_answer_without_a_call_is_not_held_or_judged() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client, _ = await answering(stage, STREAM + chunk(BEFORE) + chunk(END) + b"0\r\n\r\n")
        await client.expects(STREAM)
        assert unchunked(await client.until(b"\r\n0\r\n\r\n")) == BEFORE + END
        assert await stage.tap.end(1) == (State.COMPLETE, "") and not stage.judge.asked


async def test_a_refusal_passes_as_it_came() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        refusal = b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)
        client, _ = await answering(stage, refusal)
        await client.expects(refusal)
        assert not stage.judge.asked


async def test_an_edited_stream_keeps_what_has_left_and_both_are_recorded() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client, _ = await answering(stage, STREAM + chunk(BEFORE + CALL + END) + b"0\r\n\r\n")
        number = (await stage.paused())["id"]
        with pytest.raises(UsageError, match="must begin with the same bytes"):
            stage.gate.decide(number, "edit", b"data: no\n\n")
        with pytest.raises(UsageError, match="this decision is not possible"):
            await stage.gate.answer(number, "sim:anthropic")
        stage.gate.decide(number, "edit", BEFORE + END)
        await client.expects(STREAM)
        assert unchunked(await client.until(b"\r\n0\r\n\r\n")) == BEFORE + END
        await stage.tap.end(1)
        assert stage.tap.body(1, "says") == BEFORE + END
        assert stage.tap.body(2, "says") == BEFORE + CALL + END and stage.tap.body(2, "asks") == ASKED
        made = stage.tap.calls[2][0][1][1]  # type: ignore[index]
        assert (made.parent, made.branch) == (1, "before the edit at a breakpoint")


async def test_an_answer_that_is_no_stream_can_become_any_other() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        packed = gzip.compress(ANSWER, mtime=0)
        head = JSON.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") % len(packed)
        client, server = await answering(stage, head)
        server.send(packed[:9])
        await turns()
        server.send(packed[9:])
        pause = await stage.paused()
        assert (pause["bytes"], pause["sent"]) == (len(ANSWER), 0) and "answer" in pause["deeds"]
        stage.gate.decide(pause["id"], "edit", b'{"other": true}')
        head = await client.until(b"\r\n\r\n")
        assert b"gzip" not in head and b"Content-Length: 15\r\n" in head
        await client.expects(b'{"other": true}')
        await stage.tap.end(1)
        assert (stage.tap.body(1, "says"), stage.tap.body(2, "says")) == (b'{"other": true}', packed)


async def test_a_length_that_was_announced_is_kept() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        body = BEFORE + CALL + END
        head = JSON.replace(b"application/json", b"text/event-stream") % len(body)
        client, _ = await answering(stage, head + body)
        number = (await stage.paused())["id"]
        with pytest.raises(UsageError, match="has a Content-Length of"):
            stage.gate.decide(number, "edit", BEFORE)
        changed = body.replace(b'"partial_json": "{}"', b'"partial_json": "[]"')
        stage.gate.decide(number, "edit", changed)
        await client.expects(head + changed)


async def test_a_compressed_stream_is_held_from_the_piece_with_the_call() -> None:
    import zlib

    async with held("arguments", verdict=pausing("response")) as stage:
        pack = zlib.compressobj(wbits=31)
        first = pack.compress(BEFORE) + pack.flush(zlib.Z_SYNC_FLUSH)
        second = pack.compress(CALL + END) + pack.flush()
        head = STREAM.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
        client, server = await answering(stage, head + chunk(first))
        await client.expects(head + chunk(first))
        server.send(chunk(second) + b"0\r\n\r\n")
        pause = await stage.paused()
        assert (pause["sent"], pause["deeds"]) == (len(BEFORE), ["continue", "drop"])
        stage.gate.decide(pause["id"], "continue")
        await client.expects(chunk(second) + b"0\r\n\r\n")


async def test_an_answer_that_ends_with_its_connection() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client, server = await answering(stage, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + BEFORE)
        assert b"Connection: close" in await client.until(b"\r\n\r\n")
        await client.expects(BEFORE)
        server.send(CALL + END)
        await server.close()
        stage.gate.decide((await stage.paused())["id"], "continue")
        assert await client.rest() == CALL + END


async def test_a_client_of_http_1_0() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client = await stage.asks(request(stage).replace(b"HTTP/1.1", b"HTTP/1.0"))
        (await stage.forwarded()).send(STREAM + chunk(BEFORE + CALL + END) + b"0\r\n\r\n")
        stage.gate.decide((await stage.paused())["id"], "continue")
        assert (await client.rest()).partition(b"\r\n\r\n")[2] == BEFORE + CALL + END


async def test_a_dropped_answer_is_recorded_whole() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client, _ = await answering(stage, STREAM + chunk(BEFORE + CALL + END) + b"0\r\n\r\n")
        stage.gate.decide((await stage.paused())["id"], "drop")
        with pytest.raises(ConnectionError):
            await client.rest()
        assert (await stage.tap.end(1))[0] is State.ABORTED
        assert stage.tap.body(1, "says") == BEFORE + CALL + END


async def test_an_answer_that_breaks_off_is_passed_on_as_far_as_it_came() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client, server = await answering(stage, STREAM + chunk(BEFORE + CALL))
        await client.expects(STREAM)
        await client.until(b"message_start")
        server.reset()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await client.until(b"\r\n0\r\n\r\n")
        assert (await stage.tap.end(1))[0] is State.ABORTED and not stage.judge.asked
        assert stage.tap.body(1, "says") == BEFORE + CALL


async def test_a_client_that_hangs_up_before_its_answer_is_decided() -> None:
    async with held("arguments", verdict=pausing("response")) as stage:
        client, _ = await answering(stage, STREAM + chunk(BEFORE + CALL + END) + b"0\r\n\r\n")
        await stage.paused()
        client.reset()
        assert (await stage.event("ended"))["how"] == "the client disconnected"
        assert (await stage.tap.end(1))[0] is State.ABORTED
        assert stage.tap.body(1, "says") == BEFORE + CALL + END


async def test_an_answer_that_is_too_long_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.recorder.breakpoints.held_response.MAX_HELD_ANSWER", len(BEFORE) + 10)
    async with held("arguments", verdict=pausing("response")) as stage:
        client, _ = await answering(stage, STREAM + chunk(BEFORE + CALL) + chunk(END) + b"0\r\n\r\n")
        await client.expects(STREAM)
        assert unchunked(await client.until(b"\r\n0\r\n\r\n")) == BEFORE + CALL + END
        assert "bytes" in (await stage.event("unjudged"))["why"] and not stage.judge.asked


async def test_both_sides_of_one_exchange_can_be_paused() -> None:
    async with held("all", verdict=pausing("request", "response")) as stage:
        client = await stage.asks()
        stage.gate.decide((await stage.paused())["id"], "edit", OTHER)
        (await stage.forwarded(OTHER)).send(JSON % len(ANSWER) + ANSWER)
        pause = await stage.paused()
        assert (pause["id"], pause["side"]) == (2, "response")
        stage.gate.decide(2, "continue")
        await client.expects(JSON % len(ANSWER) + ANSWER)
        await stage.tap.end(1)
        assert sorted(stage.tap.calls) == [1, 2], "one child, for the edited request"
        assert stage.tap.body(2, "says") == ANSWER


async def test_the_end_of_the_recorder_ends_every_pause() -> None:
    async with held("closure", verdict=pausing("request")) as stage:
        client = await stage.asks()
        await stage.paused()
        await stage.relay.close()
        assert await client.is_cut()
        assert (await stage.tap.end(1))[1].startswith("the recorder was stopped")
