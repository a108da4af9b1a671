"""The conversion screen: a side of an exchange as any other protocol, and what is lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from workbench import protocols
from workbench.safetext import cells
from workbench.tui.models.conversion import choices
from workbench.tui.screens.conversion import ConversionScreen
from workbench.tui.screens.write import WriteScreen
from workbench.tui.widgets.body import BodyPane
from workbench.views.lines import plain
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

THINKING = "anthropic-thinking-trimmed"


async def converted(driver: Driver, *keys: str) -> ConversionScreen:
    await driver.press("c")
    screen = driver.app.screen
    assert isinstance(screen, ConversionScreen)
    await until(driver.pilot, lambda: screen.losses.shown)
    for key in keys:
        await driver.press(key)
    return screen


async def to(driver: Driver, screen: ConversionScreen, protocol: str) -> None:
    while screen.target != protocol:
        await driver.press("l")
    await until(driver.pilot, lambda: screen.losses.shown and screen.losses.shown.converted.protocol == protocol)


async def test_a_request_stands_beside_itself_in_another_protocol_with_its_losses_marked() -> None:
    async with showing(samples.example(THINKING), exchange=1) as driver:
        screen = await converted(driver)
        await to(driver, screen, "openai-chat")
        shown = screen.losses.shown
        assert shown and shown.source == "anthropic-messages"
        assert "/chat/completions" in driver.text
        lost = {loss.pointer for loss in shown.converted.losses}
        assert "/messages/1/content/0/signature" in lost
        assert all(shown.places), "every loss stands somewhere on the wire"
        assert f"Losses · {len(lost)}" in driver.text


async def test_enter_on_a_loss_goes_to_its_bytes() -> None:
    async with showing(samples.example(THINKING), exchange=1) as driver:
        screen = await converted(driver)
        await to(driver, screen, "openai-chat")
        shown = screen.losses.shown
        assert shown
        number = [loss.pointer for loss in shown.converted.losses].index("/messages/1/content/0/signature")
        await driver.press(*"j" * number, "enter")
        await until(driver.pilot, lambda: driver.app.screen is not screen)
        selection = driver.screen.pointer.selection
        assert selection and selection.pointer.startswith("/messages/1/content/0")
        assert driver.focused == "wire"


async def test_its_own_protocol_gives_the_same_bytes() -> None:
    async with showing(samples.example(THINKING), exchange=1) as driver:
        screen = await converted(driver)
        await to(driver, screen, "anthropic-messages")
        assert screen.losses.shown and screen.losses.shown.converted.body == screen.losses.shown.body
        assert "identical" in driver.text
        assert "nothing lost" in driver.text


async def test_the_answer_and_other_exchanges_can_be_converted_too() -> None:
    async with showing(samples.example(THINKING), exchange=0) as driver:
        screen = await converted(driver)
        before = screen.side
        await driver.press("r")
        await until(driver.pilot, lambda: screen.losses.shown and screen.losses.shown.side != before)
        await driver.press("J")
        await until(
            driver.pilot, lambda: screen.index == 1 and (screen.losses.shown is None or screen.losses.shown.exchange)
        )
        await driver.press("q")
        assert driver.app.screen is driver.screen


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (30, 8)])
async def test_every_size_shows_the_chosen_protocol(size: tuple[int, int]) -> None:
    async with showing(samples.example(THINKING), size=(160, 50), exchange=1) as driver:
        screen = await converted(driver)
        await driver.pilot.resize_terminal(*size)
        for name in (*protocols.protocols(), ""):
            if size[0] >= 60:
                assert f"▸{screen.target}" in driver.text, name
            await driver.press("l", "tab")
        await driver.press("escape")


async def test_what_cannot_be_converted_says_why() -> None:
    odd = Exchange("1", HttpRequest("POST", "http://a.example/v1/other", body=Body(b'{"a": 1}')), HttpResponse(200))
    async with showing(MemorySession("odd", (odd,)), size=(120, 40)) as driver:
        await driver.press("c")
        screen = driver.app.screen
        assert isinstance(screen, ConversionScreen)
        await until(driver.pilot, lambda: screen.losses.why != "converting …")
        assert "Converting" not in driver.text.splitlines()[0]
        await driver.press("r", "l", "J", "q")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_chosen_protocol_is_in_sight(width: int) -> None:
    targets = tuple(f"protocol-{n}" for n in range(9))
    for name in targets:
        assert f"▸{name}" in plain(choices(targets, name, width))[:width]


async def test_what_it_becomes_can_be_written_to_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.json").write_text("kept")
    async with showing(samples.example(THINKING), exchange=1) as driver:
        screen = await converted(driver)
        await to(driver, screen, "openai-chat")
        await driver.press("w")
        asking = driver.app.screen
        assert isinstance(asking, WriteScreen)
        asking.put("path", "there.json")
        await driver.press("enter")
        await until(driver.pilot, lambda: "exists: choose another name" in driver.text)
        asking.put("path", "new.json")
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.app.screen is screen)
        assert screen.losses.shown
        assert (tmp_path / "new.json").read_bytes() == screen.losses.shown.converted.body
        assert (tmp_path / "there.json").read_text() == "kept"


async def test_a_stream_framed_in_binary_is_shown_by_its_events() -> None:
    async with showing(samples.example(samples.TOOL_LOOP), exchange=0) as driver:
        screen = await converted(driver)
        if screen.side == "request":
            await driver.press("r")
        await to(driver, screen, "bedrock-invoke")
        await until(driver.pilot, lambda: screen.losses.shown and screen.losses.shown.side == "response")
        assert "message_start" in driver.text and "\\0" not in driver.text
        assert screen.losses.shown and b"\0" in screen.losses.shown.converted.body


def is_fitting(pane: BodyPane) -> bool:
    return pane.rows is not None and pane.rows.width == pane.text_width


async def test_a_body_is_laid_out_again_when_its_room_changes_and_nothing_is_resized() -> None:
    async with showing(samples.example(THINKING), size=(120, 30), exchange=1) as driver:
        screen = await converted(driver)
        await to(driver, screen, "bedrock-converse")
        for pane, is_bordered in ((screen.after, False), (screen.after, True), (screen.before, True)):
            pane.styles.border_left = ("solid", "white") if is_bordered else None
            await until(driver.pilot, lambda pane=pane: driver.text and is_fitting(pane))
            assert pane.rows
            widths = [sum(cells(span.text) for span in pane.rows.line(row, ())) for row in range(len(pane.rows))]
            assert max(widths) <= pane.text_width


async def test_a_loss_and_its_place_stand_apart() -> None:
    async with showing(samples.example(THINKING), exchange=1) as driver:
        await to(driver, await converted(driver), "openai-chat")
        assert "! the thinking switch ('adaptive')  /thinking/type" in driver.text
