from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.driving import screen_text, until
from workbench import resources
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.home import HomePane, HomeScreen
from workbench.tui.screens.session import SessionScreen


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 50)])
async def test_every_example_tells_its_story(size: tuple[int, int]) -> None:
    app = WorkbenchApp()
    async with app.run_test(size=size) as pilot:
        pane = app.screen.query_one(HomePane)
        await until(pilot, lambda: len(pane.stories) == len(pane.paths))
        text = screen_text(app)
        assert "✗ closure.missing-result" in text
        assert "✓ no breaks" in text
        assert "tools are never executed" in text


async def test_enter_opens_an_example_and_q_comes_back() -> None:
    app = WorkbenchApp()
    async with app.run_test(size=(120, 40)) as pilot:
        pane = app.screen.query_one(HomePane)
        wanted = next(n for n, path in enumerate(pane.paths) if path.stem == samples.LOST_REASONING)
        await pilot.press(*"j" * wanted, "enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.opened)
        assert "reasoning.missing" in screen_text(app)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_a_file_is_opened_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = resources.folder("sessions") / f"{samples.LOST_RESULT}.jsonl"
    path = tmp_path / "mine.jsonl"
    path.write_bytes(source.read_bytes())
    app = WorkbenchApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("o", *path.name, "enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.opened)
        assert "mine.jsonl" in screen_text(app)


async def test_a_path_that_cannot_be_read_says_so_and_home_stays() -> None:
    app = WorkbenchApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("o", *"nothing.here", "enter")
        await until(pilot, lambda: "✗ nothing.here" in screen_text(app))
        assert isinstance(app.screen, HomeScreen)
        await pilot.press("o", "escape", "question_mark", "escape", "j", "k", "G")


async def test_without_examples_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: tmp_path)
    app = WorkbenchApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("enter", "j")
        assert "press o to open a file" in screen_text(app)


async def test_a_tiny_terminal_gets_a_message() -> None:
    app = WorkbenchApp()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert "60 columns" in screen_text(app)
