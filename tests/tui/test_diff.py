"""The diff screen: what changed from one request to the next, by keys alone."""

from __future__ import annotations

import json

import pytest

from tests.tui.driving import Driver, showing, until
from workbench.config import resources
from workbench.diff import compare
from workbench.formats.importers import open_input
from workbench.tui.models import diff
from workbench.tui.screens.diff import DiffScreen
from workbench.views.lines import plain
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession, Session

SESSIONS = resources.folder("sessions")


def example(name: str) -> Session:
    return open_input(str(SESSIONS / f"{name}.jsonl"))


async def compared(driver: Driver) -> DiffScreen:
    await driver.press("d")
    screen = driver.app.screen
    assert isinstance(screen, DiffScreen)
    await until(driver.pilot, lambda: screen.changes.compared or "no earlier" in screen.changes.why)
    return screen


def test_a_removed_message_in_one_line_keeps_its_texts_apart_from_its_pointer() -> None:
    found = compare(
        b'{"messages":[{"role":"user","content":"one"},{"role":"user","content":"two"}]}', b'{"messages":[]}'
    )
    change = next(each for each in found.changes if each.before == "/messages/1")
    assert "/messages/1  two" in plain(diff.closed_line(change, diff.Places(found), 80))


async def test_a_request_is_laid_beside_the_one_before_it_and_enter_goes_to_its_bytes() -> None:
    async with showing(example("anthropic-long-session"), exchange=2) as driver:
        screen = await compared(driver)
        assert "Request 3 compared with request 1" in driver.text  # the title request in between is none of it
        assert "history kept; 2 messages added at the end" in driver.text
        await driver.press("j", "enter")
        await until(driver.pilot, lambda: driver.app.screen is not screen)
        selection = driver.screen.pointer.selection
        assert selection and selection.pointer == "/messages/2"
        assert driver.focused == "wire"
        for rows, is_stacked in ((16, False), (50, True)):  # a long list keeps its rows in a low terminal
            await driver.pilot.resize_terminal(160, rows)
            await until(driver.pilot, lambda is_stacked=is_stacked: driver.screen.has_class("-stacked") is is_stacked)  # type: ignore[misc]


async def test_a_conversation_that_begins_is_laid_beside_the_last_of_its_model() -> None:
    async with showing(example("anthropic-compaction-orphan"), size=(120, 40)) as driver:
        await compared(driver)
        assert "new conversation, same model" in driver.text
        assert "- removed" in driver.text
        await driver.press("tab", "enter")
        assert driver.screen.pointer.selection and driver.screen.pointer.selection.pointer == "/max_tokens"


async def test_the_first_request_says_that_there_is_nothing_before_it() -> None:
    async with showing(example("deepseek-reasoning-lost"), exchange=0, size=(80, 24)) as driver:
        screen = await compared(driver)
        assert "no earlier request to compare with" in driver.text
        await driver.press("enter", "j", "J")
        await until(driver.pilot, lambda: screen.changes.compared)
        assert "Request 2 compared with request 1" in driver.text
        await driver.press("escape")
        assert driver.app.screen is not screen


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (200, 60), (40, 10)])
async def test_every_size_holds_it(size: tuple[int, int]) -> None:
    async with showing(example("deepseek-reasoning-lost"), size=size, exchange=1) as driver:
        await compared(driver)
        assert driver.text.strip()


def hostile(text: str, temperature: int) -> Exchange:
    body = {"model": text, text: temperature, "messages": [{"role": text, "content": text * temperature}]}
    return Exchange(
        f"x{temperature}",
        HttpRequest("POST", "https://api.openai.com/v1/chat/completions", body=Body(json.dumps(body).encode())),
        HttpResponse(200, body=Body(b'{"object": "chat.completion", "choices": []}')),
    )


async def test_hostile_bodies_are_shown_in_visible_forms() -> None:
    text = "\x1b]52;c;eHg=\x07\u202e\x9b2J[/bold]"
    session = MemorySession("hostile", (hostile(text, 1), hostile(text, 2)))
    async with showing(session, exchange=1) as driver:
        await compared(driver)
        for key in ("j", "j", "tab", "j"):
            await driver.press(key)
            assert not set(driver.text) & set("\x1b\x07\x9b\u202e")


def test_a_new_turn_is_no_change_of_the_history() -> None:
    def body(*messages: str) -> bytes:
        return json.dumps({"messages": [{"role": "user", "content": m} for m in messages]}).encode()

    grown = compare(body("a"), body("a", "b", "c"))
    assert "history kept; 2 messages" in plain(diff.verdict(grown))
    cut = compare(body("a", "b"), body("b", "c"))
    assert "to the earlier request" in plain(diff.verdict(cut))
    assert "sent again unchanged" in plain(diff.verdict(compare(body("a"), body("a"))))
    spaced = body("a").replace(b": ", b":")
    assert "same meaning, different bytes" in plain(diff.verdict(compare(body("a"), spaced)))
