"""A terminal that has only ASCII is written only ASCII."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.color import Color

from tests.tui import samples
from tests.tui.driving import Driver, until
from tests.tui.terminals import in_terminal
from workbench import safetext
from workbench.config import resources
from workbench.glyphs import ascii_only
from workbench.tui.app import WorkbenchApp
from workbench.wire.session import Session

HOSTILE = "日本 é “x” 👩‍👩‍👧 ﷽ \u202e✗"
SIZES = [(80, 24), (160, 50)]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    safetext.use_ascii(False)


def hostile() -> Session:
    request = {"model": HOSTILE, "messages": [{"role": "user", "content": HOSTILE}], "tools": []}
    answer = {"choices": [{"message": {"role": "assistant", "content": HOSTILE}, "finish_reason": HOSTILE}]}
    bodies = (json.dumps(value, ensure_ascii=False).encode() for value in (request, answer))
    return samples.session(samples.exchange(*bodies), name=HOSTILE)


def written(driver: Driver) -> str:
    """What reaches the terminal: every strip, through the filters."""
    strips = driver.app.screen._compositor.render_strips()
    for line_filter in driver.app.get_line_filters():
        strips = [strip.apply_filter(line_filter, Color(0, 0, 0)) for strip in strips]
    widths = {sum(len(segment.text) for segment in strip) for strip in strips}
    assert widths == {driver.app.size.width}
    return "\n".join(strip.text for strip in strips)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["", samples.LOST_RESULT], ids=["hostile", "example"])
async def test_every_pane_and_dialog_is_ascii(name: str, size: tuple[int, int]) -> None:
    app = WorkbenchApp(samples.example(name) if name else hostile(), is_ascii=True)
    async with app.run_test(size=size, notifications=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: driver.screen.state.is_done and driver.screen.opened)
        for keys in ("1", "2", "H", "3", "4", "5", "6", "7", "slash", "escape", "question_mark", "escape", "ctrl+p"):
            await driver.press(keys)
            assert written(driver).isascii(), keys


async def test_signs_have_stand_ins_and_data_is_escaped() -> None:
    app = WorkbenchApp(hostile(), is_ascii=True)
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: driver.screen.state.is_done and driver.screen.opened)
        await driver.press("2")
        text = written(driver)
        assert "\\u65e5\\u672c \\xe9 \\u201c" in text
        assert "\\u2717" in text  # raw bytes are exact: no stand-in
        assert "[2 Wire]" in text


def test_an_ascii_terminal_is_noticed(own_home: Path) -> None:
    session = str(resources.folder("sessions") / f"{samples.LOST_RESULT}.jsonl")
    asked = {"PYTHONIOENCODING": "ascii"}
    with in_terminal(own_home, "open", session, env=asked) as terminal:
        seen = terminal.until("next break")
        terminal.leave()
        _, rest = terminal.end()
        assert (seen + rest).isascii()


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain", "plain"), ("╭─ x ─╮", "+- x -+"), ("日本", "????"), ("e\u0301", "e"), ("…", "~"), ("▸✗│", ">x|")],
)
def test_chrome_keeps_its_width(text: str, shown: str) -> None:
    assert ascii_only(text) == shown


def test_bytes_that_are_not_text_stay_what_they_are() -> None:
    safetext.use_ascii(True)
    assert safetext.visible("é✗\t\x1b") == "\\xe9x    \\x1b"
    assert "".join(p.text for p in safetext.pieces(safetext.from_bytes(b"\xff\xc3\xa9"), is_bytes=True)) == "\\xff\\xe9"
    assert safetext.cells("é") == 4
