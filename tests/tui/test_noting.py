"""Marks and notes on the session screen, by keys alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.test_hostile import EVIL, assert_clean
from workbench.edits.notes import NotePlace, UserNote
from workbench.tui.screens.session.notes import MARK, NOTE, not_kept, signs
from workbench.views.lines import plain


def toasts(driver: Driver) -> list[str]:
    return [n.message for n in driver.app._notifications]


async def ready(driver: Driver) -> None:
    await driver.shows(2)
    await until(driver.pilot, lambda: driver.screen.notes.book)


def row(driver: Driver, index: int) -> str:
    return plain(driver.pane("exchanges").head(index, 100))


async def test_marks_and_notes_are_put_shown_and_kept() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await ready(driver)
        await driver.press("3", "space")
        pane = driver.pane("ir")
        assert plain(pane.head(pane.cursor, 100)).endswith(MARK)
        assert MARK in row(driver, 2)
        assert row(driver, 2).index("✗") < row(driver, 2).index(MARK), "the verdict comes first"
        await driver.press("a", *"lost here", "enter")
        assert f"{NOTE} lost here" in plain(pane.head(pane.cursor, 100))
        await driver.press("1", "g")
        await driver.shows(0)
        await driver.press("a", *"first", "enter")
        assert row(driver, 0).endswith(NOTE) or f"{NOTE}  " in row(driver, 0)
        assert "first" not in row(driver, 0), "what is said stands in the way of the verdict"
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await ready(driver)
        assert NOTE in row(driver, 0)
        await driver.press("1", "g")
        await driver.shows(0)
        await driver.press("a")
        assert driver.app.focused is not None
        await driver.press("end", *" one", "enter")
        await driver.press("a")
        assert f"{NOTE}first one" in driver.text.replace(f"{NOTE} first", f"{NOTE}first")
        await driver.press("escape")
        assert NOTE in row(driver, 0)
        await driver.press("a", "delete", "enter")
        assert NOTE not in row(driver, 0)


async def test_the_next_mark_is_gone_to_within_the_filter() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await ready(driver)
        await driver.press("apostrophe")
        assert "no marks or notes" in driver.text
        await driver.press("3", "space")
        place = driver.screen.pointer.selection and driver.screen.pointer.selection.pointer
        await driver.press("1", "g")
        await driver.shows(0)
        await driver.press("space", "apostrophe")
        await driver.shows(2)
        assert driver.screen.pointer.selection and driver.screen.pointer.selection.pointer == place
        await driver.press("apostrophe")
        await driver.shows(0)
        assert "no more marks: continued at the first one" in driver.text
        driver.screen.exchange_filter.apply("mark:")
        assert list(driver.screen.state.visible) == [0, 2]
        await driver.press("1", "space")
        assert list(driver.screen.state.visible) == [2]


async def test_a_broken_file_is_one_line(own_home: Path) -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await ready(driver)
        await driver.press("1", "space")
        assert driver.screen.notes.book
        path = driver.screen.notes.book.path
    assert own_home in path.parents
    path.write_text("{")
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await ready(driver)
        assert "could not be read" in driver.text


async def test_what_cannot_be_written_is_said(own_home: Path) -> None:
    (own_home / ".local").write_text("no folder")
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await ready(driver)
        await driver.press("1", "space")
        assert "not saved, lost when this session is closed" in " ".join(toasts(driver))
        assert MARK in row(driver, 2)


async def test_hostile_notes_are_shown_safely() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await ready(driver)
        book = driver.screen.notes.book
        assert book and driver.screen.opened
        exchange = driver.screen.opened.row.summary.id
        for place in (NotePlace(exchange), NotePlace(exchange, "request", "/messages/1"), NotePlace(EVIL, EVIL, EVIL)):
            book.put(UserNote(place, is_marked=True, text=EVIL, changed=1))
        driver.screen.notes._update(None)
        await driver.press("3", "a")
        assert_clean(driver)
        await driver.press("escape", "apostrophe")
        assert_clean(driver)


@pytest.mark.parametrize(
    ("notes", "text"),
    [
        ([], ""),
        ([UserNote(NotePlace("1"), is_marked=True)], MARK),
        ([UserNote(NotePlace("1"), text="a"), UserNote(NotePlace("1", "request"), text="b")], f"{NOTE} a +1"),
        ([UserNote(NotePlace("1"), is_marked=True, text="a")], f"{MARK} {NOTE} a"),
    ],
)
def test_signs(notes: list[UserNote], text: str) -> None:
    assert plain(signs(notes)) == text


def test_what_cannot_be_kept_says_how_long_it_lasts_where_it_failed_and_what_to_do() -> None:
    path = Path("/proc/.local/state/workbench/edits/notes/1.json")
    said = not_kept(path, FileNotFoundError(2, "No such file or directory", "/proc/.local"))
    assert said == (
        "not saved, lost when this session is closed: /proc/.local/state/workbench/edits/notes cannot be written "
        "(No such file or directory); set XDG_STATE_HOME to a writable folder"
    )
    assert not_kept(path, OSError("a newer version")) == "not saved, lost when this session is closed: a newer version"
