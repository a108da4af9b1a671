"""Editing a request with keys only: nothing recorded is changed, everything is judged at once and can be undone."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.edit.forms import AddScreen, ContractChoiceScreen
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.repairs import RepairsScreen
from workbench.tui.widgets.writing import Writing
from workbench.wire.session import Session

CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
BODY: dict[str, object] = {
    "model": "gpt-4o",
    "temperature": 0.5,
    "messages": [
        {"role": "user", "content": "look \x1b[2J\u202e here"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "user", "content": "and now?"},
    ],
    "tools": [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}],
}


def session(body: object = BODY) -> Session:
    return samples.session(samples.exchange(body, {}, status=400))


class Editing:
    """The edit screen, driven."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    @property
    def screen(self) -> EditScreen:
        screen = self.driver.app.screen
        assert isinstance(screen, EditScreen)
        return screen

    @property
    def text(self) -> bytes:
        assert self.screen.judged_request
        return self.screen.judged_request.text

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def verdict(self) -> str:
        assert self.screen.judged_request
        return self.screen.judged_request.told.verdict

    def says(self, words: str) -> bool:
        return words in self.driver.text

    async def press(self, *keys: str) -> None:
        """Press keys; then until everything is done and judged."""
        await self.driver.press(*keys)
        await self.settled()

    async def settled(self) -> None:
        await until(self.driver.pilot, lambda: self.screen.study.is_settled and not self.screen.study.waiting)

    async def go(self, pointer: str) -> None:
        """Put the cursor on a row with keys."""
        rows = [row.pointer for row in self.screen.outline.rows]
        await self.press("g", *["j"] * rows.index(pointer))

    async def write(self, text: str) -> None:
        """Replace what is being written."""
        area = self.screen.query_one(Writing)
        area.load_text("")
        await self.driver.press(*text)


@asynccontextmanager
async def editing(given: Session, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Editing]:
    """The edit screen on the last exchange of a session, once it is judged."""
    async with showing(given, size, exchange=len(given) - 1) as driver:
        await driver.press("e")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
        edit = Editing(driver)
        await edit.settled()
        yield edit


async def test_a_text_is_edited_judged_while_it_is_typed_and_undone_to_the_byte() -> None:
    given = session()
    before = given.exchange(0).request
    assert before
    async with editing(given) as edit:
        await edit.go("/messages/2/content")
        await edit.driver.press("enter")
        await edit.write("what?")
        await until(edit.driver.pilot, lambda: b"what?" in edit.text)
        assert "verdict of the draft" in edit.driver.text and not edit.screen.study.is_settled
        await edit.press("ctrl+s")
        assert edit.body["messages"][2]["content"] == "what?"
        assert "text of message 3 changed" in edit.driver.text and "the recording is never modified" in edit.driver.text
        await edit.press("u")
        assert edit.text == before.body.raw and "as recorded" in edit.driver.text
        await edit.press("U")
        assert b"what?" in edit.text
    assert given.exchange(0).request == before


async def test_what_is_typed_before_the_field_is_there_is_text_of_it_and_no_command() -> None:
    async with editing(session()) as edit:
        await edit.go("/messages/2/content")
        study = edit.screen.study
        study.is_moving = True  # a verdict is awaited
        await edit.driver.press("enter", *"add ", "ctrl+s")
        assert not edit.screen.writer.is_writing and study.waiting
        study.is_moving = False
        study.run_waiting()
        await until(edit.driver.pilot, lambda: edit.screen.type_ahead.is_over and not edit.screen.writer.is_writing)
        await edit.settled()
        assert [m["content"] for m in edit.body["messages"]][1:] == [None, "add and now?"]
        await edit.driver.press("enter", *"more", "1", "q")  # from beside the field, back is to the field
        assert edit.screen.writer.is_writing and isinstance(edit.driver.app.focused, Writing)
        assert "more" in edit.driver.app.focused.text


async def test_keys_are_completed_by_what_the_types_of_the_provider_have() -> None:
    async with editing(session()) as edit:
        await edit.go("/temperature")
        assert "at least 0, at most 2" in edit.driver.text
        await edit.go("/messages/2")
        await edit.press("R")
        await edit.write('{"role": "user", "con')
        await edit.driver.press("ctrl+n")
        assert edit.screen.query_one(Writing).text == '{"role": "user", "content": '


async def test_messages_are_removed_doubled_moved_and_added() -> None:
    async with editing(session()) as edit:
        before = edit.text
        await edit.go("/messages/1")
        await edit.press("d", "d")
        assert [m["content"] for m in edit.body["messages"]] == ["look \x1b[2J\u202e here"]
        await edit.press("u", "u")
        assert edit.text == before
        await edit.go("/messages/2")
        await edit.press("K")
        assert [m["role"] for m in edit.body["messages"]] == ["user", "user", "assistant"]
        assert edit.screen.outline.here and edit.screen.outline.here.pointer == "/messages/1"
        await edit.press("J", "c")
        assert len(edit.body["messages"]) == 4
        await edit.driver.press("a")
        await until(edit.driver.pilot, lambda: isinstance(edit.driver.app.screen, AddScreen))
        await edit.driver.press(*"assistant", "enter", *"sure", "enter")
        await until(edit.driver.pilot, lambda: isinstance(edit.driver.app.screen, EditScreen))
        await edit.settled()
        assert edit.body["messages"][-1] == {"role": "assistant", "content": "sure"}


async def test_a_repair_of_the_edited_request_makes_the_contract_accept_it() -> None:
    async with editing(session()) as edit:
        assert edit.verdict == "refuses"
        await edit.press("1")
        await edit.driver.press("f")
        await until(edit.driver.pilot, lambda: isinstance(edit.driver.app.screen, RepairsScreen))
        await edit.driver.press("a")
        await until(edit.driver.pilot, lambda: isinstance(edit.driver.app.screen, EditScreen))
        await edit.settled()
        assert edit.verdict == "accepts" and "✓ accepts" in edit.driver.text
        assert edit.screen.query_one("#headline").size.height == 2
        await edit.driver.press("f")
        await until(edit.driver.pilot, lambda: "nothing to repair" in edit.driver.text)


async def test_a_repair_in_the_session_begins_a_branch() -> None:
    async with showing(session(), (120, 40)) as driver:
        await until(driver.pilot, lambda: driver.screen.findings.current and not driver.screen.repair_lookup.is_looking)
        await driver.press("f", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, EditScreen))
        edit = Editing(driver)
        await edit.settled()
        assert edit.verdict == "accepts" and edit.screen.node.parent is not None


async def test_raw_bytes_may_be_no_json_and_are_mended_again() -> None:
    async with editing(session()) as edit:
        before = edit.text
        await edit.go("/temperature")
        await edit.driver.press("R")
        await edit.write("0.5,,")
        await edit.press("ctrl+s")
        assert edit.text == before.replace(b"0.5", b"0.5,,")
        assert edit.verdict == "unknown" and "line 1, column" in edit.driver.text
        assert [row.pointer for row in edit.screen.outline.rows] == [""]
        assert "the whole body" in edit.driver.text
        await edit.driver.press("E")  # no editor is configured
        await until(edit.driver.pilot, lambda: "set EDITOR" in edit.driver.text)
        await edit.press("u")
        assert edit.text == before


async def test_a_parameter_is_one_line_and_json_that_cannot_be_read_is_not_kept() -> None:
    async with editing(session()) as edit:
        await edit.go("/temperature")
        await edit.driver.press("e")
        await edit.write("0.7.")
        await edit.driver.press("enter")
        assert edit.screen.query(Writing) and edit.body["temperature"] == 0.5
        await edit.driver.press("backspace")
        await edit.press("enter")
        assert edit.body["temperature"] == 0.7
        await edit.driver.press("e")
        await edit.write("9")
        await edit.press("escape")
        assert edit.body["temperature"] == 0.7 and "cancelled" in edit.driver.text


async def test_a_value_is_edited_in_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor.py"
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    monkeypatch.setattr(WorkbenchApp, "suspend", lambda self: nullcontext())
    async with editing(session()) as edit:
        await edit.go("/messages/2/content")
        for script, said, text in (
            ("pass", "no change", "and now?"),
            ("sys.exit(3)", "the editor exited with status 3", "and now?"),
            ("p.write_bytes(p.read_bytes() + b'!\\n')", "text of message 3 changed", "and now?!"),
        ):
            editor.write_text(f"import pathlib, sys\np = pathlib.Path(sys.argv[-1])\n{script}\n")
            await edit.press("E")
            await until(edit.driver.pilot, partial(edit.says, said))
            assert edit.body["messages"][2]["content"] == text


async def test_the_whole_body_is_written_as_its_bytes_whatever_it_is_asked_as() -> None:
    async with editing(session()) as edit:
        for key in ("e", "v"):
            await edit.go("")
            await edit.press(key)
            assert edit.says("the whole body · as raw bytes")
            await edit.press("escape")


async def test_what_was_edited_is_found_again(tmp_path: Path) -> None:
    async with editing(session()) as edit:
        await edit.go("/messages/2")
        await edit.press("d")
        await edit.driver.press("q")
    async with editing(session()) as edit:
        assert "as recorded" in edit.driver.text, "what was recorded is shown first"
        await edit.press("U")
        assert "message 3 removed" in edit.driver.text
        assert len(edit.body["messages"]) == 2


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_hostile_text_is_never_shown_as_it_is(size: tuple[int, int]) -> None:
    async with editing(session(), size) as edit:
        await edit.go("/messages/0/content")
        await edit.press("2")
        assert "\\x1b[2J" in edit.driver.text
        await edit.driver.press("1", "e")
        assert "shown as escapes" in edit.driver.text
        assert "\\u001b[2J\\u202e" in edit.screen.query_one(Writing).text
        await edit.driver.press("end", "left", "!")
        await edit.press("ctrl+s")
        assert edit.body["messages"][0]["content"] == "look \x1b[2J\u202e here!"
        for pane in "3456":
            await edit.press(pane)
            assert "\x1b" not in edit.driver.text and "\u202e" not in edit.driver.text


async def test_another_contract_judges() -> None:
    async with editing(session()) as edit:
        await edit.driver.press("m")
        await until(edit.driver.pilot, lambda: isinstance(edit.driver.app.screen, ContractChoiceScreen))
        await edit.driver.press(*"generic", "enter")
        await until(edit.driver.pilot, lambda: "contract generic" in edit.driver.text)
        assert edit.verdict != "refuses"
