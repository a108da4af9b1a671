"""The arguments screen: rung by rung from what a model wrote to what a tool may be given."""

from __future__ import annotations

import json

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.test_hostile import assert_clean, hostile_session
from workbench.tui.screens import ladder
from workbench.tui.screens.ladder import LadderScreen
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession, Session

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
    "required": ["path"],
}
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}
IN_TEXT = (
    "I look.\n<tool_call>\n<function=read_file>\n<parameter=path>\na.py\n</parameter>\n"
    "<parameter=lines>\n3\n</parameter>\n</function>\n</tool_call>"
)


def calling(*arguments: str, text: str = "ok", ids: str = "call_{}") -> Session:
    messages: list[object] = [{"role": "user", "content": "go"}]
    for n, raw in enumerate(arguments):
        call = {"id": ids.format(n), "type": "function", "function": {"name": "read_file", "arguments": raw}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": ids.format(n), "content": "done"})
    message = {"role": "assistant", "content": text}
    answer = {"object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": message}]}
    request = {"model": "m", "messages": messages, "tools": [TOOL]}
    return MemorySession("calls", (samples.exchange(request, answer),))


async def ladder_of(driver: Driver) -> LadderScreen:
    await driver.press("A")
    screen = driver.app.screen
    assert isinstance(screen, LadderScreen)
    work = screen.worklist
    await until(driver.pilot, lambda: work.subjects is not None and len(work.judgements) == len(work.subjects))
    return screen


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ('{"path": "a", "lines": 3}', ("valid", "strict", "validated")),
        ('{"path": "a", "lines": "3"}', ("coerced", '"lines": "3"', '"lines": 3', "was read as 3")),
        ('{"path": "a",}', ("repaired", '{"path": "a",}', "a trailing comma was removed")),
        (
            json.dumps('{"path": "a"}'),
            ("unwrapped", "JSON inside a JSON string", r'- "{\"path\": \"a\"}"', '+ {"path": "a"}'),
        ),
        ('{"lines": 3}', ("SCHEMA_VALIDATION_FAILED", '"is_error": true', '"retryable": true')),
        ('{"path": "a', ("TRUNCATED", "is incomplete")),
    ],
)
async def test_every_rung_is_shown_with_before_and_after(raw: str, shown: tuple[str, ...]) -> None:
    async with showing(calling(raw)) as driver:
        await ladder_of(driver)
        for words in shown:
            assert words in driver.text


async def test_a_call_in_text_is_shown_as_the_call_it_would_be() -> None:
    async with showing(calling(text=IN_TEXT)) as driver:
        screen = await ladder_of(driver)
        assert "qwen3-coder in text" in driver.text
        assert '"lines": 3' in driver.text  # typed by the schema
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.app.screen is not screen)
        selection = driver.screen.pointer.selection
        assert selection and selection.side == "response"
        assert "content" in selection.pointer


@pytest.mark.parametrize("raw", ["not a call", "<tool_call>\n<function=read_file>\n<parameter=path>\na.py"])
async def test_what_is_wrong_with_its_markup_is_said(raw: str) -> None:
    async with showing(calling(text=raw)) as driver:
        await ladder_of(driver)
        assert ("unclosed" in driver.text) == ("<" in raw)
        assert (ladder.NO_CALLS[:30] in driver.text) == ("<" not in raw)


async def test_the_selected_call_is_shown_first_and_so_is_that_of_a_result() -> None:
    async with showing(calling('{"path": "a"}', '{"path": "b"}', '{"path": "c"}')) as driver:
        opened = driver.screen.opened
        assert opened
        for pointer in ("/messages/3/tool_calls/0", "/messages/4"):
            driver.screen.pointer.select(opened.at_node(opened.outline.by_pointer("request", pointer) or 0))
            screen = await ladder_of(driver)
            assert screen.cursor_number() == 1, pointer
            await driver.press("q")


async def test_enter_goes_to_the_call() -> None:
    async with showing(calling('{"path": "a"}', '{"path": "b"}')) as driver:
        screen = await ladder_of(driver)
        await driver.press("g", "tab", "j", "enter")
        await until(driver.pilot, lambda: driver.app.screen is not screen)
        selection = driver.screen.pointer.selection
        assert selection and selection.pointer.startswith("/messages/1/tool_calls/0")


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (30, 8)])
async def test_every_size(size: tuple[int, int]) -> None:
    async with showing(calling('{"path": "a",}' + " " * 5000, text=IN_TEXT)) as driver:
        await ladder_of(driver)
        await driver.pilot.resize_terminal(*size)
        for key in ("g", "tab", "j", "tab", "G"):
            await driver.press(key)
        assert driver.text.count("\n") + 1 == size[1]


async def test_hostile_calls_and_tools_reach_the_screen_clean() -> None:
    async with showing(hostile_session(), size=(120, 40)) as driver:
        await ladder_of(driver)
        for key in ("g", "tab", "G", "q", "T", "tab", "tab", "q", "c", "l", "tab", "q"):
            await driver.press(key)
            assert_clean(driver)


async def test_the_result_that_a_request_carries_is_below_the_call() -> None:
    async with showing(calling('{"path": "a"}'), size=(120, 40)) as driver:
        screen = await ladder_of(driver)
        assert "Result · request 1, message 3" in driver.text
        assert loads(screen.result.body) == {"role": "tool", "tool_call_id": "call_0", "content": "done"}


async def test_the_result_is_that_of_the_call_where_ids_are_repeated() -> None:
    async with showing(calling('{"path": "a"}', '{"path": "b"}', ids="call_0"), size=(120, 40)) as driver:
        await ladder_of(driver)
        assert "Result · request 1, message 5" in driver.text
        await driver.press("k")
        assert "Result · request 1, message 3" in driver.text


async def test_the_result_of_a_response_is_in_a_later_request_where_ids_are_repeated() -> None:
    first, second = (calling(*['{"path": "a"}'] * n, ids="call_0").exchange(0) for n in (1, 2))
    assert first.request
    call = {"id": "call_0", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": message}]}
    answered = samples.exchange(loads(first.request.body.raw), answer)
    async with showing(MemorySession("calls", (answered, second)), size=(120, 40)) as driver:
        await ladder_of(driver)
        assert "Result · request 2, message 5" in driver.text


async def test_without_calls_the_response_is_shown_and_no_empty_pane() -> None:
    async with showing(calling(), size=(120, 40)) as driver:
        screen = await ladder_of(driver)
        assert "choose another exchange" in driver.text and "Response · " in driver.text
        assert screen.sent.body and not screen.rungs.region.height and not screen.result.region.height
