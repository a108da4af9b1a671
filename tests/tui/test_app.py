"""What belongs to no screen: the user's keys, the palette, clicks on the footer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import screen_text, showing, until
from workbench import contracts
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.help import HelpScreen


@pytest.fixture
def own_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "workbench").mkdir()
    return tmp_path / "workbench" / "keys.yaml"


async def test_a_users_keys_are_bound_shown_and_explained(own_keys: Path) -> None:
    own_keys.write_text(
        'session.zoom: [f8, X]\nwire.headers: none\nsession.next-break: "["\nsession.previous-break: "]"\n'
    )
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        assert " [ next break  ] previous break" in driver.text
        assert "f8 zoom" in driver.text
        await driver.press("2", "z")
        assert not driver.screen.has_class("-zoom")
        await driver.press("f8")
        assert driver.screen.has_class("-zoom")
        await driver.press("X")
        assert not driver.screen.has_class("-zoom")
        before = driver.text.split("\n")[:-2]
        await driver.press("H")
        assert driver.text.split("\n")[:-2] == before and "H does nothing here · ?: help" in driver.text
        await driver.press("question_mark", "G")
        named = {key.word: key.show for _, key in driver.app.palette_actions(driver.app.screen_stack[0])}
        assert named["zoom"] == "f8"
        assert named["headers"] == ""


async def test_what_is_wrong_with_them_is_said_once(own_keys: Path) -> None:
    own_keys.write_text('session.zom: f8\nsession.zoom: "\\e[2J"\nsession.search: f7\n')
    app = WorkbenchApp(None)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: "did you mean session.zoom?" in screen_text(app))
        (said,) = app._notifications
        assert said.message.endswith("did you mean session.zoom? (and 1 more: workbench keys)")
        await pilot.press("question_mark")
        await until(pilot, lambda: "! keys.yaml: session.zoom: '\\x1b[2J' is not the name of" in screen_text(app))


async def test_broken_contracts_of_ones_own_are_said_and_stop_nothing(own_keys: Path) -> None:
    folder = own_keys.parent / "profiles"
    folder.mkdir()
    (folder / "mine.yaml").write_text(": [")
    contracts.forget()
    try:
        async with showing(samples.example(samples.LOST_RESULT)) as driver:
            await until(driver.pilot, lambda: bool(driver.app._notifications))
            (said,) = driver.app._notifications
            assert (said.title, "mine.yaml:1: not YAML" in said.message) == ("profiles", True)
            assert "closure.missing-result" in driver.text
    finally:
        contracts.forget()


async def test_every_key_in_force_is_a_command() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("2")
        named = [key.id for _, key in driver.app.palette_actions(driver.screen)]
        assert {"wire.headers", "pane.down", "session.next-break", "global.suspend", "global.theme"} <= set(named)
        assert not {"session.inspect", "session.follow", "session.breaks"} & set(named), "these would do nothing now"
        assert len(named) == len(set(named))
        assert "content-type" not in driver.text.lower()
        await driver.press("colon", *"headers", "enter")
        await until(driver.pilot, lambda: "content-type" in driver.text.lower())


async def test_a_click_on_the_footer_presses_the_key() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        column = driver.text.splitlines()[-1].index("? help")
        await driver.pilot.click("#keys", offset=(column, 0))
        await until(driver.pilot, lambda: isinstance(driver.app.screen, HelpScreen))


async def test_a_click_on_a_tab_brings_its_pane_to_the_front() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        line = next(x for x in driver.text.splitlines() if "5 Closure" in x)
        await driver.pilot.click("#tabs", offset=(line.index("Closure"), 0))
        await until(driver.pilot, lambda: driver.focused == "closure")


async def test_a_toast_whose_time_is_nearly_over_is_not_shown() -> None:
    """Textual gives its timer what is left of its time, and a timer of must not be negative never ends."""
    app = WorkbenchApp()
    async with app.run_test(notifications=True) as pilot:
        app.notify("over at once", timeout=0.0001, markup=False)
        app.notify("stays", timeout=60, markup=False)
        await pilot.pause()
        assert [toast.message for toast in app._notifications] == ["stays"]


async def test_keys_that_come_twice_do_their_work_once() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        session = driver.screen
        session.action_filter()
        session.action_filter()
        await driver.press("escape")
        await driver.press("question_mark")
        help_screen = driver.app.screen

        def leave() -> None:
            help_screen.dismiss()

        for _ in range(3):
            help_screen.call_later(leave)
        await until(driver.pilot, lambda: not help_screen.is_attached)
        assert driver.app.screen is session
