from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.message import Message

from tests.tui import samples
from workbench.errors import UnreadableInput, WorkbenchError
from workbench.rules.inspection import Inspector
from workbench.tui.inspection_requests import KEY_SECONDS
from workbench.tui.service import (
    InspectedRows,
    InspectionThread,
    JobAnswer,
    OpenedExchange,
    OpenFailure,
    SessionList,
    Trouble,
    guard,
)
from workbench.wire.session import MemorySession, Session


def run(session: Session, *asked: int, until: type[Message] | None = None) -> list[Message]:
    """Every message of a run that is stopped after the answers, or when all is inspected."""
    service = InspectionThread(session, None, None)
    came: list[Message] = []
    waiting = list(asked)

    def post(message: Message) -> None:
        came.append(message)
        is_all = isinstance(message, InspectedRows) and len(message.rows) == len(session)
        if isinstance(message, OpenedExchange | Trouble) or (is_all and not asked):
            if waiting:
                service.ask(waiting.pop(0))
            else:
                service.stop()

    if waiting:
        service.ask(waiting.pop(0))
    service.run(post)
    return came


def test_it_goes_through_the_session() -> None:
    (last,) = run(samples.example(samples.LOST_RESULT))[-1:]
    assert isinstance(last, InspectedRows)
    assert [row.index for row in last.rows] == [0, 1, 2]


def test_an_exchange_is_opened_when_those_before_it_are_inspected() -> None:
    came = run(samples.example(samples.LOST_RESULT), 1, 0)
    kinds = [type(m) for m in came]
    assert kinds.index(InspectedRows) < kinds.index(OpenedExchange)
    assert [m.opened.index for m in came if isinstance(m, OpenedExchange)] == [1, 0]


def test_what_cannot_be_shown_is_said_and_the_rest_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Inspector.detail

    def broken(self: Inspector, index: int) -> object:
        if index == 1:
            raise RuntimeError("torn \x1b[2J")
        return honest(self, index)

    monkeypatch.setattr(Inspector, "detail", broken)
    came = run(samples.example(samples.LOST_RESULT), 1, 2)
    (trouble,) = (m for m in came if isinstance(m, Trouble))
    assert (trouble.index, trouble.text) == (1, "exchange 2 cannot be shown: RuntimeError: torn \x1b[2J")
    assert [m.opened.index for m in came if isinstance(m, OpenedExchange)] == [2]


def test_inspection_that_breaks_off_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(self: Inspector) -> Iterator[object]:
        raise OSError("disk gone")
        yield

    monkeypatch.setattr(Inspector, "steps", steps)
    (trouble,) = (m for m in run(samples.example(samples.LOST_RESULT)) if isinstance(m, Trouble))
    assert trouble.text == "inspection stopped at exchange 1: disk gone"


def test_a_session_it_opened_is_closed_at_the_end() -> None:
    closed = []

    class Watched(MemorySession):
        def close(self) -> None:
            closed.append(self.name)

    service = InspectionThread(lambda: Watched("x", ()), None, None)
    service.stop()
    came: list[Message] = []
    service.run(came.append)
    assert [type(m) for m in came] == [SessionList]
    assert closed == ["x"]


def test_a_session_that_cannot_be_opened_is_said() -> None:
    def opener() -> Session:
        raise UnreadableInput("no importer can read it")

    came: list[Message] = []
    InspectionThread(opener, None, None).run(came.append)
    assert [str(m.error) for m in came if isinstance(m, OpenFailure)] == ["no importer can read it"]


def test_an_opener_that_is_broken_is_said_like_a_session_that_cannot_be_opened() -> None:
    def opener() -> Session:
        raise RuntimeError("no such thing")

    came: list[Message] = []
    InspectionThread(opener, None, None).run(came.append)
    assert [str(m.error) for m in came if isinstance(m, OpenFailure)] == ["RuntimeError: no such thing"]


def test_a_session_that_fails_while_it_is_looked_at_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refresh(self: Inspector) -> object:
        raise WorkbenchError("the file is gone")

    monkeypatch.setattr(Inspector, "refresh", refresh)
    came: list[Message] = []
    InspectionThread(samples.example(samples.LOST_RESULT), None, None).run(came.append)
    assert [m.text for m in came if isinstance(m, Trouble)] == ["inspection stopped: the file is gone"]


def test_whoever_asked_is_told_that_a_question_failed() -> None:
    told: list[str] = []

    def job(inspector: Inspector) -> Message:
        raise KeyError("x")

    answer = guard(job, told.append)(Inspector(samples.example(samples.LOST_RESULT)))
    assert isinstance(answer, JobAnswer) and not told
    answer.deliver()
    assert told == ["KeyError: 'x'"]


def test_the_pass_pauses_after_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now, pauses = 100.0, list[float]()

        def monotonic(self) -> float:
            return self.now

        thread_time = monotonic

        def sleep(self, seconds: float) -> None:
            self.pauses.append(seconds)
            self.now += seconds

    clock, session = Clock(), samples.example(samples.LOST_RESULT)
    for module in ("service", "inspection_requests"):
        monkeypatch.setattr(f"workbench.tui.{module}.time", clock)
    service = InspectionThread(session, None, None)
    service.note_key()

    def post(message: Message) -> None:
        if isinstance(message, InspectedRows) and len(message.rows) == len(session):
            service.stop()

    service.run(post)
    assert clock.pauses == [pytest.approx(KEY_SECONDS)]
