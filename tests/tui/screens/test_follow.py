"""The app beside a process that writes the session it shows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import cast

import pytest

from tests.tui.driving import Driver, screen_text, until
from tests.tui.writing import BROKEN, Recorder, delta, start, stop, user
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.stream import StreamScreen
from workbench.wire.session import store
from workbench.wire.session.sqlite import SqliteSession


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path / "live.wb")
    yield made
    made.close()


@asynccontextmanager
async def following(path: Path, size: tuple[int, int] = (160, 50)) -> AsyncIterator[Driver]:
    app = WorkbenchApp(partial(store.open_session, path))
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: driver.screen.state.is_listed)
        yield driver


async def rows(driver: Driver, count: int, **state: object) -> None:
    """Until so many exchanges are inspected, the last of them in a state."""

    def there() -> bool:
        known = driver.screen.state
        return len(known.rows) == count and all(getattr(known.rows[-1].summary, k) == v for k, v in state.items())

    await until(driver.pilot, there)


def toasts(driver: Driver) -> list[str]:
    return [f"{n.title}: {n.message}" for n in driver.app._notifications]


async def test_an_empty_live_session_waits_for_its_first_request(recorder: Recorder) -> None:
    recorder.writer.say({"urls": "http://127.0.0.1:8123"})
    async with following(recorder.writer.path) as driver:
        await until(driver.pilot, lambda: "waiting for the first request" in driver.text)
        assert "point the client at http://127.0.0.1:8123" in driver.text.replace("\n", " ")
        assert "live · client's API key not stored" in driver.text
        seq = recorder.asks(user("hello"))
        await driver.shows(0)
        assert driver.screen.state.rows[0].summary.state == "open"
        assert "waiting" not in driver.text
        recorder.streams(seq, start(), delta("hi "))
        await until(driver.pilot, lambda: "⇣ arriving" in driver.text and "hi " in driver.text)


async def test_the_opened_exchange_grows_in_place(recorder: Recorder) -> None:
    seq = recorder.asks(user("count"))
    recorder.streams(seq, start(), *(delta(f"number {n} ") for n in range(60)))
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        screen, wire = driver.screen, driver.screen.wire
        await driver.press("2")
        screen.wire.show_side("response")
        wire.move_to(100)
        await driver.press("j")
        here = (wire.cursor, wire.position, wire.scroll_offset, screen.pointer.selection)
        assert wire.scroll_offset.y > 0
        assert screen.opened
        before = len(screen.opened.decoded.events)
        recorder.streams(seq, *(delta(f"more {n} ") for n in range(90)))
        await until(driver.pilot, lambda: screen.opened and len(screen.opened.decoded.events) == before + 90)
        assert (wire.cursor, wire.position, wire.scroll_offset) == here[:3]
        assert screen.pointer.selection and here[3] and screen.pointer.selection.pointer == here[3].pointer
        await driver.press("G")
        assert wire.cursor == wire.count() - 1
        recorder.streams(seq, delta("at the end"), stop())
        recorder.ends(seq)
        await rows(driver, 1, state="complete")
        await until(driver.pilot, lambda: screen.opened and screen.opened.row.summary.state == "complete")
        assert wire.cursor == wire.count() - 1  # who stands at the end goes along
        assert wire.rows and wire.rows.body == recorder.body[seq]


async def stepping(driver: Driver, events: int) -> StreamScreen:
    """Open the stream screen, and wait for so many events."""
    await driver.press("t")
    screen = cast("StreamScreen", driver.app.screen)
    await has_events(driver, screen, events)
    return screen


async def has_events(driver: Driver, screen: StreamScreen, events: int) -> None:
    await until(driver.pilot, lambda: screen.stream and screen.events.count() == events)


async def test_the_stream_screen_goes_along_while_events_arrive(recorder: Recorder) -> None:
    seq = recorder.asks(user("count"))
    recorder.streams(seq, start())
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        assert "cut off" not in driver.text
        screen = await stepping(driver, 2)
        assert "2 events · still arriving" in screen_text(driver.app)
        assert "marked" not in screen_text(driver.app)
        assert "compared when the stream ends" in screen_text(driver.app)
        recorder.streams(seq, *(delta(f"number {n} ") for n in range(60)))
        await has_events(driver, screen, 62)
        assert (screen.events.cursor, screen.built.event) == (61, 61)
        assert "number 59" in screen_text(driver.app)
        await driver.press("k")
        steps = screen.stream and screen.stream.steps
        here = (screen.events.cursor, screen.events.scroll_offset, screen.built.event)
        recorder.streams(seq, *(delta(f"more {n} ") for n in range(90)))
        await has_events(driver, screen, 152)
        assert (screen.events.cursor, screen.events.scroll_offset, screen.built.event) == here
        assert screen.stream and screen.stream.steps is steps
        await driver.press("G")
        assert "more 89" in screen_text(driver.app)
        recorder.streams(seq, stop())
        recorder.ends(seq)
        await until(driver.pilot, lambda: "clients build this message" in screen_text(driver.app))
        text = screen_text(driver.app)
        assert "155 events" in text and "the stream  ended" in text and "still arriving" not in text
        assert screen.events.cursor == 154
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.app.screen is not screen)
        assert driver.screen.pointer.selection and 154 in driver.screen.pointer.selection.events
        assert driver.screen.follower.stream is None


async def test_what_still_grows_is_looked_at_where_it_ends(recorder: Recorder) -> None:
    seq = recorder.asks(user("count"))
    recorder.streams(seq, start(), *(delta(f"number {n} ") for n in range(30)))
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        assert driver.screen.pointer.selection and driver.screen.pointer.selection.events[0] == 1
        screen = await stepping(driver, 32)
        assert screen.events.cursor == 31


async def test_a_stream_that_ends_early_is_broken_once_it_has_ended(recorder: Recorder) -> None:
    seq = recorder.asks(user("count"))
    recorder.streams(seq, start(), delta("one"))
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        screen = await stepping(driver, 3)
        assert screen.stream and screen.stream.marks == ()
        recorder.ends(seq)
        await until(driver.pilot, lambda: "marked" in screen_text(driver.app))
        assert "the stream ends inside block 0" in screen_text(driver.app)
        assert "at the end of the stream" in screen_text(driver.app)
        await driver.press("q", "3")
        await until(driver.pilot, lambda: "SDKs differ: t" in driver.text)


async def test_half_an_event_is_shown_when_all_of_it_is_there(recorder: Recorder) -> None:
    seq = recorder.asks(user("count"))
    whole = delta("hello")
    recorder.streams(seq, start(), whole[:40])
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        screen = await stepping(driver, 2)
        recorder.streams(seq, whole[40:])
        await has_events(driver, screen, 3)
        assert "hello" in screen_text(driver.app)


async def test_another_exchange_is_not_opened_below_the_stream_screen(recorder: Recorder) -> None:
    seq = recorder.asks(user("count"))
    recorder.streams(seq, start())
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        await driver.press("F")
        screen = await stepping(driver, 2)
        recorder.whole(user("another"))
        recorder.streams(seq, delta("one"))
        await has_events(driver, screen, 3)
        await driver.press("q")
        await rows(driver, 2)
        assert driver.screen.navigation.goal.exchange == 0


async def test_rows_are_added_while_the_selection_stays(recorder: Recorder) -> None:
    for n in range(3):
        recorder.whole(user(f"question {n}"))
    async with following(recorder.writer.path) as driver:
        await rows(driver, 3)
        await driver.press("1", "j")
        await driver.shows(1)
        for n in range(3, 30):
            recorder.whole(user(f"question {n}"))
        await rows(driver, 30, state="complete")
        assert driver.screen.opened and driver.screen.opened.index == 1
        assert driver.pane("exchanges").cursor == 1
        assert driver.pane("exchanges").scroll_offset.y == 0
        assert driver.focused == "exchanges"


async def test_f_goes_along_with_the_newest_until_the_user_moves(recorder: Recorder) -> None:
    for n in range(2):
        recorder.whole(user(f"question {n}"))
    async with following(recorder.writer.path) as driver:
        await rows(driver, 2)
        await driver.press("1", "F")
        await driver.shows(1)
        assert "live · following" in driver.text
        recorder.whole(user("question 2"))
        await driver.shows(2)
        assert driver.pane("exchanges").cursor == 2
        recorder.asks(user("question 3"))
        await driver.shows(3)
        await driver.press("k")
        await driver.shows(2)
        assert "following" not in driver.text
        recorder.asks(user("question 4"))
        await rows(driver, 5)
        assert driver.screen.opened and driver.screen.opened.index == 2
        await driver.press("F", "F")
        assert "following" not in driver.text


async def test_following_goes_to_the_newest_that_passes_the_filter(recorder: Recorder) -> None:
    long = user("question " * 100)
    recorder.whole(long)
    recorder.whole(user("short"))
    async with following(recorder.writer.path) as driver:
        await rows(driver, 2)
        await driver.press("1", "ampersand", *"request:>500", "enter", "F")
        await driver.shows(0)
        assert "following" in driver.text
        recorder.whole(user("short again"))
        await rows(driver, 3)
        assert driver.screen.opened and driver.screen.opened.index == 0
        recorder.whole(long)
        await driver.shows(3)
        assert driver.pane("exchanges").cursor == 1
        assert "following" in driver.text
        await driver.press("k")
        await driver.shows(0)
        assert "following" not in driver.text


async def test_the_first_break_is_announced_once(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    alerts: list[str] = []
    monkeypatch.setattr(WorkbenchApp, "alert", lambda app, title: alerts.append(title))
    recorder.whole(user("hello"))
    async with following(recorder.writer.path) as driver:
        await rows(driver, 1)
        recorder.asks(*BROKEN)
        await until(driver.pilot, lambda: any("first break: exchange 2" in t for t in toasts(driver)))
        recorder.whole(*BROKEN, user("again"))
        await rows(driver, 3)
        assert sum("first break" in toast for toast in toasts(driver)) == 1
        assert len(alerts) == 1
        assert alerts[0].startswith("✗ break · ")
        await driver.press("]")
        await driver.shows(1)


async def test_a_break_that_was_there_is_not_announced(recorder: Recorder) -> None:
    recorder.whole(*BROKEN)
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        recorder.whole(*BROKEN, user("again"))
        await rows(driver, 2)
        assert not toasts(driver)


async def test_the_end_of_a_recording_is_said(recorder: Recorder) -> None:
    recorder.whole(user("hello"))
    async with following(recorder.writer.path) as driver:
        await rows(driver, 1)
        recorder.close()
        await until(driver.pilot, lambda: "recording ended" in driver.text)
        assert any("the recording has ended" in t for t in toasts(driver))


async def test_a_session_that_another_process_writes_is_followed_until_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "other.wb"
    script = (
        "import sys, pathlib\n"
        "from tests.tui.writing import *\n"
        "r = Recorder(pathlib.Path(sys.argv[1]))\n"
        "r.whole(user('one'))\n"
        "print('ready', flush=True)\n"
        "for line in sys.stdin:\n"
        "    exec(line)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == "ready\n"
        async with following(path) as driver:
            await rows(driver, 1)
            print("s = r.asks(user('two')); r.streams(s, start(), delta('half'))", file=process.stdin, flush=True)
            await rows(driver, 2, state="open")
            process.kill()
            await until(driver.pilot, lambda: "recording ended" in driver.text)
            await rows(driver, 2, state="incomplete")
            assert "⊘ incomplete" in driver.text


async def test_a_session_that_is_taken_up_again_is_followed_without_being_told_to(recorder: Recorder) -> None:
    recorder.whole(user("hello"))
    recorder.close()
    async with following(recorder.writer.path) as driver:
        await rows(driver, 1)
        assert "replay" in driver.text
        again = Recorder(recorder.writer.path)
        try:
            again.sent[0] = recorder.sent[0]
            again.asks(user("hello again"))
            await rows(driver, 2, state="open")
            assert "live · client's API key not stored" in driver.text
        finally:
            again.close()


async def test_inspection_is_stopped_by_esc_and_goes_on_when_asked(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(4):
        recorder.whole(user(f"question {n}"))
    recorder.close()
    gate, honest = Event(), SqliteSession.exchange

    def held(self: SqliteSession, index: int) -> object:
        return honest(self, index) if index < 2 or gate.wait(60) else None

    monkeypatch.setattr(SqliteSession, "exchange", held)
    async with following(recorder.writer.path) as driver:
        state = driver.screen.state
        await driver.press("escape")
        assert "stopped: I continues" in driver.text
        gate.set()
        await until(driver.pilot, lambda: driver.screen.inspecting._grown_at is None and state.rows)
        assert len(state.rows) < 4
        await driver.press("I")
        await rows(driver, 4)
        assert "stopped" not in driver.text


async def test_a_big_body_is_laid_out_once(recorder: Recorder) -> None:
    recorder.whole(*(user(f"question {n} " + "words " * 40) for n in range(600)))
    async with following(recorder.writer.path) as driver:
        await driver.shows(0)
        wire = driver.screen.wire
        wire.show_side("request")
        rows_made = wire.rows
        await until(driver.pilot, lambda: rows_made and rows_made.is_done)
        await driver.pilot.pause()
        assert wire.rows is rows_made
