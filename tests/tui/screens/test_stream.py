"""The stream screen, driven by keys alone."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tests.protocols.clients.test_python_sdks import chat_stream
from tests.tui import samples
from tests.tui.driving import Driver, screen_text, showing, until
from tests.tui.test_hostile import EVIL, assert_clean, hostile_session
from workbench.tui.screens.stream import StreamScreen
from workbench.wire.session import MemorySession, Session

REUSED = "openai-parallel-index-reused"
SIZES = [(80, 24), (160, 50)]


async def stepping(driver: Driver) -> StreamScreen:
    """Press t, and wait for the stream."""
    await driver.press("t")
    await until(driver.pilot, lambda: isinstance(driver.app.screen, StreamScreen))
    screen = cast("StreamScreen", driver.app.screen)
    await until(driver.pilot, lambda: screen.stream)
    return screen


def chat(*deltas: dict[str, Any], done: bool = True) -> MemorySession:
    return samples.session(samples.exchange({"model": "m", "messages": []}, chat_stream(deltas, done=done)))


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "list_dir", "arguments": '{"pa'}}
GOES_ON = {"index": 0, "function": {"arguments": 'th": "."}'}}


@pytest.mark.parametrize("size", SIZES)
async def test_events_message_and_clients_stand_beside_each_other(size: tuple[int, int]) -> None:
    async with showing(samples.example(REUSED), size) as driver:
        screen = await stepping(driver)
        text = screen_text(driver.app)
        assert screen.events.cursor == 2  # the first anomaly
        assert "begins call search_docs" in text
        assert "a second tool call starts at index 0" in text
        assert '{"query": "Virginia Woolf"}' in text
        assert "7 of 9 clients build a different message" in text
        assert "id `call_0call_1`, sent as" in text


async def test_stepping_shows_the_message_after_each_event_and_lights_what_it_added() -> None:
    async with showing(chat({"role": "assistant"}, {"tool_calls": [CALL]}, {"tool_calls": [GOES_ON]})) as driver:
        screen = await stepping(driver)
        await driver.press("g")
        assert "nothing" not in screen_text(driver.app).partition("Clients")[0] or screen.built.event == 0
        await driver.press("j")
        assert screen.built.event == 1
        assert "5 characters, not JSON yet" not in screen_text(driver.app)
        assert "4 characters, not JSON yet" in screen_text(driver.app)
        assert lit(screen) == '{"pa'
        await driver.press("down")
        assert "13 characters, valid JSON" in screen_text(driver.app)
        assert lit(screen) == 'th": "."}'
        await driver.press("k")
        assert lit(screen) == '{"pa'
        await driver.press("G")
        assert "the stream  ended" in screen_text(driver.app)


def lit(screen: StreamScreen) -> str:
    return "".join(span.text for line in screen.built.lines for span in line if span.style == "lit")


async def test_n_and_p_go_through_the_marks() -> None:
    async with showing(samples.example(REUSED)) as driver:
        screen = await stepping(driver)
        marks = screen.stream.marks if screen.stream else ()
        await driver.press("g")
        seen = []
        for _ in marks:
            await driver.press("]")
            seen.append(screen.events.cursor)
        assert tuple(seen) == marks
        await driver.press("[")
        assert screen.events.cursor == marks[-2] if len(marks) > 1 else marks[0]


async def test_enter_goes_to_the_bytes_of_the_event() -> None:
    async with showing(samples.example(REUSED), (120, 40)) as driver:
        await stepping(driver)
        await driver.press("g", "j", "enter")
        await until(driver.pilot, lambda: not isinstance(driver.app.screen, StreamScreen))
        wire = driver.screen.wire
        assert driver.focused == "wire"
        assert wire.side == "response"
        assert wire.selection() is not None
        assert driver.screen.pointer.selection is not None
        assert 1 in driver.screen.pointer.selection.events


async def test_it_begins_at_the_event_that_is_selected() -> None:
    async with showing(samples.example(REUSED), (120, 40)) as driver:
        driver.screen.pointer.select(driver.screen.opened.at_event(3) if driver.screen.opened else None)  # type: ignore[arg-type]
        screen = await stepping(driver)
        assert screen.events.cursor == 3


async def test_search_zoom_and_the_way_back() -> None:
    async with showing(samples.example(REUSED), (120, 40)) as driver:
        screen = await stepping(driver)
        await driver.press("slash", *"tool_calls", "enter")
        first = screen.events.cursor
        await driver.press("n")
        assert screen.events.cursor != first
        await driver.press("N")
        assert screen.events.cursor == first
        await driver.press("escape", "z")
        assert not screen.built.display or screen.built.region.height == 0 or screen.has_class("-zoom")
        await driver.press("tab")
        assert screen.built.has_focus
        await driver.press("escape", "escape")
        await until(driver.pilot, lambda: not isinstance(driver.app.screen, StreamScreen))


async def test_a_client_leads_to_where_it_departs() -> None:
    async with showing(samples.example(REUSED), (120, 40)) as driver:
        screen = await stepping(driver)
        await driver.press("g", "shift+tab", "g", "j")
        assert screen.stream is not None
        assert screen.events.cursor == screen.stream.groups[1].event


@pytest.mark.parametrize(
    ("answer", "why"), [({"choices": []}, "not a stream"), (b"", "not a stream")], ids=["one body", "no body"]
)
async def test_without_a_stream_it_says_why(answer: object, why: str) -> None:
    session: Session = samples.session(samples.exchange({"model": "m", "messages": []}, answer))
    async with showing(session) as driver:
        await driver.press("t")
        assert not isinstance(driver.app.screen, StreamScreen)
        assert why in driver.text


async def test_the_session_says_that_clients_differ() -> None:
    async with showing(samples.example(REUSED)) as driver:
        await until(driver.pilot, lambda: "SDKs differ: t" in driver.text)
    async with showing(chat({"role": "assistant", "content": "hi"})) as driver:
        await driver.press("3")
        assert "SDKs differ" not in driver.text
    thinking = ({"role": "assistant", "reasoning_content": "a"}, {"reasoning_content": "b"}, {"content": "hi"})
    async with showing(chat(*thinking)) as driver:
        await driver.press("t")
        await until(driver.pilot, lambda: "clients build a different message" in driver.text)
        await driver.press("t", "3")
        assert "SDKs differ" not in driver.text


@pytest.mark.parametrize("size", [(60, 15), (160, 50)])
async def test_nothing_hostile_reaches_the_terminal(size: tuple[int, int]) -> None:
    async with showing(hostile_session(), size, exchange=1) as driver:
        screen = await stepping(driver)
        for n in range(len(screen.events.stream.events if screen.events.stream else ())):
            screen._go(n)
            await driver.pilot.pause()
            assert_clean(driver)
        await driver.press("tab", "G", "tab", "G", "z")
        assert_clean(driver)


async def test_hostile_calls_are_clean_in_what_clients_build() -> None:
    calls: list[dict[str, object]] = [
        {"index": 0, "id": EVIL, "type": "function", "function": {"name": EVIL, "arguments": EVIL}},
        {"index": 0, "id": EVIL + "2", "function": {"name": EVIL + "2", "arguments": EVIL}},
    ]
    async with showing(chat(*({"tool_calls": [call]} for call in calls))) as driver:
        screen = await stepping(driver)
        for pane in (screen.clients, screen.events, screen.built):
            pane.focus()
            for step in (-1, 1):
                pane.action_end(step)
                await driver.pilot.pause()
                assert_clean(driver)
