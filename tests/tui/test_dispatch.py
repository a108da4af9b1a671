"""Requests on their way, without a screen."""

from __future__ import annotations

import asyncio
import gzip
from threading import Event, Thread

import pytest

from tests.tui import samples
from workbench.errors import UsageError
from workbench.rules.inspection import Inspector
from workbench.send import sending
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.sending import BodyReceived, HeadReceived, RetryWait, Sender
from workbench.send.target_names import resolve
from workbench.tui import dispatch
from workbench.tui.dispatch import Dispatch, IncomingResponse, InspectorQuestions, known_to
from workbench.tui.service import JobAnswer
from workbench.wire.exchange import Exchange, Headers, State


def outgoing() -> tuple[Inspector, Outgoing]:
    inspector = Inspector(samples.example(samples.LOST_RESULT))
    return inspector, prepare(inspector.detail(2).decoded, resolve("sim:anthropic"))


def test_a_request_is_sent_in_a_loop_of_its_own() -> None:
    inspector, going = outgoing()
    heard = IncomingResponse(going, 0.0)
    exchange = Dispatch(inspector.session, lambda sender: sender.send(going, heard.add)).run()
    assert isinstance(exchange, Exchange) and exchange.response and exchange.response.status == 400
    so_far = heard.exchange()
    assert so_far.state is State.OPEN and so_far.response
    assert so_far.response.body == exchange.response.body


@pytest.mark.parametrize("is_early", [True, False])
def test_it_can_be_broken_off_from_another_thread(is_early: bool) -> None:
    begun = Event()

    async def forever(sender: Sender) -> Exchange:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    work = Dispatch(None, forever)
    if is_early:
        work.cancel()
        assert work.run() is None
        return
    thread = Thread(target=lambda: (begun.wait(10), work.cancel()))
    thread.start()
    assert work.run() is None
    thread.join()
    work.cancel()  # it is over: nothing happens


def test_what_fails_is_raised_to_whoever_runs_it() -> None:
    async def failing(sender: Sender) -> None:
        raise UsageError("no key")

    with pytest.raises(UsageError, match="no key"):
        Dispatch(None, failing).run()


def test_what_came_is_kept_without_what_an_attempt_before_brought() -> None:
    _, going = outgoing()
    heard = IncomingResponse(going, 7.0)
    heard.add(HeadReceived(529, Headers(), 0.1))
    heard.add(BodyReceived(b"busy", 0.2))
    heard.add(RetryWait(529, 1, 1.0, "busy"))
    assert heard.exchange().response is None and heard.size == 0 and len(heard.retries) == 1
    heard.add(HeadReceived(200, Headers((("content-type", "text/event-stream"),)), 1.2))
    heard.add(BodyReceived(b"data: ", 1.3))
    kept = heard.aborted_exchange()
    assert kept.state is State.ABORTED and kept.note == dispatch.BROKEN_OFF
    assert kept.response and kept.response.body.raw == b"data: " and kept.duration == 1.3


def test_questions_to_the_inspector_are_awaited_and_their_errors_raised() -> None:
    inspector, _ = outgoing()

    def in_its_thread(job: object) -> None:
        def answer() -> None:
            assert isinstance(job(inspector), JobAnswer)  # type: ignore[operator]

        Thread(target=answer).start()

    async def ask() -> tuple[int, str]:
        asking = InspectorQuestions(in_its_thread)
        number = await asking(lambda known: len(known.session))
        try:
            await asking(lambda known: known.detail(99))
        except IndexError:
            return number, "IndexError"
        return number, ""

    assert asyncio.run(ask()) == (3, "IndexError")


def test_of_a_large_session_simulators_are_given_the_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    inspector, _ = outgoing()
    session = inspector.session
    assert known_to(inspector, session, 2) is session
    monkeypatch.setattr(dispatch, "MOST_KNOWN", 10)
    kept = known_to(inspector, session, 2)
    here = inspector.rows[2].conversation
    assert len(kept) == sum(row.index == 2 or row.conversation == here for row in inspector.rows)


def test_of_a_bomb_that_arrives_only_what_it_was_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "MAX_RECORDED_BODY", 1000)
    heard, packed = IncomingResponse(outgoing()[1], 0.0), gzip.compress(bytes(5000))
    heard.add(HeadReceived(200, Headers((("content-encoding", "gzip"),)), 0.0))
    heard.add(BodyReceived(packed, 0.1))
    for exchange in (heard.exchange(), heard.aborted_exchange()):
        assert exchange.response and exchange.response.body.raw == b""
        assert exchange.response.body.original_length == len(packed) == heard.size
