"""The app beside a recorder that holds what it was armed for."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.driving import Driver, screen_text, until
from tests.tui.holding import Holder
from tests.tui.layouts import hold
from tests.tui.screens.test_follow import following, rows, toasts
from tests.tui.writing import BROKEN, Recorder, user
from workbench.tui.screens.breakpoints.screen import BreakpointsScreen
from workbench.tui.screens.edit.paused_request import EditPausedScreen
from workbench.wire.jsontext import loads

REASON = {"kind": "closure", "rule": "closure.missing-result", "words": "no result", "pointer": "/messages/1/content/0"}


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = Recorder(tmp_path / "live.wb")
    yield made
    made.close()


@pytest.fixture
def holder(recorder: Recorder) -> Iterator[Holder]:
    made = Holder(recorder.writer.path)
    yield made
    made.close()


async def said(driver: Driver, words: str) -> None:
    await until(driver.pilot, lambda: words in screen_text(driver.app))


async def test_a_held_request_is_announced_edited_and_passed_on(recorder: Recorder, holder: Holder) -> None:
    recorder.whole(user("hello"))
    seq = recorder.asks(*BROKEN)
    request = recorder.sent[seq].request
    assert request
    now = time.time()
    async with following(recorder.writer.path, (120, 40)) as driver:
        await rows(driver, 2)
        await driver.press("1")
        holder.hold(7, request.body.raw, exchange="e1", reasons=[REASON], since=now, times_out_at=now + 600)
        await said(driver, "closure.missing-result")
        await said(driver, "P: decide")
        await said(driver, "‖ paused")
        await said(driver, "client timeout in 9:")
        await driver.press("P")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, BreakpointsScreen))
        await said(driver, "toolu_abcdefgh12345678")
        await hold(driver, "breakpoints")
        await driver.press("e")
        await until(
            driver.pilot, lambda: isinstance(driver.app.screen, EditPausedScreen) and driver.app.screen.study.is_settled
        )
        await said(driver, "s: forward the edited request")
        await driver.press("d", "s")
        await until(driver.pilot, lambda: holder.asked)
        (asked,) = holder.asked
        assert (asked["do"], asked["pause"]) == ("edit", 7)
        assert loads(base64.b64decode(asked["body"]))["messages"][1]["content"] == []
        await said(driver, "request 2 was released: edit")
        await said(driver, "nothing is paused")


async def test_several_are_a_list_and_each_deed_goes_to_the_one_under_the_cursor(
    recorder: Recorder, holder: Holder
) -> None:
    for number in range(3):
        recorder.asks(user(f"question {number}"))
        deeds = ["continue", "drop", *(["answer"] if number == 2 else [])]
        holder.hold(number, b"{}", exchange=f"e{number}", reasons=[REASON], since=float(number), deeds=deeds)
    async with following(recorder.writer.path, (80, 24)) as driver:
        await said(driver, "‖ request 1 paused")
        await driver.press("P")
        await said(driver, "request 3")
        await driver.press("e")
        await said(driver, "cannot be forwarded with the edits")
        await driver.press("c")
        await until(driver.pilot, lambda: holder.asked)
        await said(driver, "▸‖ request 2")
        await driver.press("d")
        await said(driver, "Drop request 2?")
        await driver.press("y")
        await until(driver.pilot, lambda: len(holder.asked) == 2)
        await said(driver, "▸‖ request 3")
        await driver.press("a")
        await said(driver, "Respond with the simulator")
        await driver.press("enter")
        await until(driver.pilot, lambda: len(holder.asked) == 3)
        assert holder.asked == [
            {"do": "continue", "pause": 0},
            {"do": "drop", "pause": 1},
            {"do": "answer", "pause": 2, "target": "sim:anthropic"},
        ]
        await said(driver, "[ ] closure")
        await driver.press("space")
        await said(driver, "[x] closure")
        assert holder.armed == ["closure"]
        holder.hold(9, b"{}", exchange="e0", reasons=[REASON], since=9.0)
        await said(driver, "▸‖ request 1")
        holder.close()
        await driver.press("q", "P")
        await until(
            driver.pilot,
            lambda: driver.screen.breakpoints.listener and not driver.screen.breakpoints.listener.recorders,
        )


async def test_a_tool_call_says_what_is_called_and_is_edited_in_place(recorder: Recorder, holder: Holder) -> None:
    """At 80x24, where the bytes have no pane of their own."""
    recorder.asks(user("hello"))
    call = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/a"}}}'
    of_tools = {"answered_by": "recording", "method": "tools/call", "url": "mcp://files/read_file"}
    holder.hold(5, call, exchange="e0", reasons=[{**REASON, "kind": "mcp:files", "rule": ""}], **of_tools)
    async with following(recorder.writer.path, (80, 24)) as driver:
        await said(driver, "request 1 paused")
        await driver.press("P")
        await said(driver, 'with     {"path":"/a"}')
        await driver.press("d")
        await said(driver, "Then the call is")
        await driver.press("escape", "e")
        await said(driver, "Request, as sent to the tool server")
        await driver.press("x", "ctrl+s")
        await said(driver, "anyway")
        await driver.press("backspace", *["down"] * 7, "end", "left", "b", "ctrl+s")
        await until(driver.pilot, lambda: holder.asked)
        (asked,) = holder.asked
        assert loads(base64.b64decode(asked["body"])) == loads(call.replace(b"/a", b"/ab"))


async def test_a_recorder_that_ends_holds_nothing_and_a_replay_has_no_breakpoints(
    recorder: Recorder, holder: Holder
) -> None:
    recorder.asks(user("hello"))
    holder.hold(1, b"{}", exchange="e0", reasons=[], since=time.time())
    async with following(recorder.writer.path, (80, 24)) as driver:
        await said(driver, "request 1 paused")
        holder.close()
        await said(driver, "the recorder has ended")
        recorder.close()
        await until(driver.pilot, lambda: not driver.screen.state.is_live)
        await driver.press("P")
        assert "breakpoints need a live recording" in toasts(driver)[-1]


async def test_a_message_of_a_websocket_is_edited_in_place_and_what_waits_behind_it_is_said(
    recorder: Recorder, holder: Holder
) -> None:
    recorder.whole(user("hello"))
    why = {"kind": "frame:*", "rule": "", "words": "the message session.update has not been sent", "pointer": ""}
    words = {"note": "later messages wait behind it, pings too", "limit": "its messages are compressed together"}
    async with following(recorder.writer.path, (120, 40)) as driver:
        await rows(driver, 1)
        holder.hold(1, b'{"type":"session.update"}', exchange="e0", reasons=[why], deeds=["continue", "edit"], **words)
        await driver.press("P")
        for text in ("message sent", "pings too", "compressed together"):
            await said(driver, text)
        await driver.press("d")
        assert "cannot be dropped: its messages are compressed together" in toasts(driver)[-1]
        await driver.press("e")
        await said(driver, "Message, as sent to the server")
        await driver.press("ctrl+home", "space", "ctrl+s")
        await until(driver.pilot, lambda: holder.asked)
        assert base64.b64decode(holder.asked[0]["body"]) == b' {"type":"session.update"}'
