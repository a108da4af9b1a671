from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.tui.driving import screen_text, until
from workbench.recorder import process
from workbench.tui.app import WorkbenchApp
from workbench.tui.running import Plan, RecorderTrouble


class Fake:
    """A recorder that writes nothing."""

    made: list[Fake]

    def __init__(self, upstreams: Mapping[str, str], out: Path, **words: object) -> None:
        self.urls = {name: f"http://127.0.0.1:4{n}00" for n, name in enumerate(upstreams)}
        self.out, self.words = out, words
        self.is_running = True

    def stop(self) -> None:
        self.is_running = False


@pytest.fixture
def recorders(monkeypatch: pytest.MonkeyPatch) -> list[Fake]:
    """What was started in place of recorders."""
    made: list[Fake] = []

    def start(upstreams: Mapping[str, str], out: Path, *, on_trouble: Callable[[str], None], **words: object) -> Fake:
        made.append(Fake(upstreams, out, **words))
        return made[-1]

    monkeypatch.setattr(process, "start", start)
    monkeypatch.setattr(process, "start_translation", start)
    return made


def silent(line: str) -> None:
    """No trouble."""


async def test_leaving_asks_first_and_stops_what_runs(recorders: list[Fake], tmp_path: Path) -> None:
    app = WorkbenchApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.recordings.start(Plan({"default": "https://h"}, tmp_path / "a.wb"), silent)
        await pilot.press("q")
        await until(pilot, lambda: "A recording is running; it ends when Workbench exits" in screen_text(app))
        await pilot.press("n")
        await pilot.pause()
        assert app.is_running
        assert recorders[0].is_running
        await pilot.press("ctrl+q")
        await until(pilot, lambda: "A recording is running" in screen_text(app))
        await pilot.press("ctrl+q")
        await pilot.press("y")
        await until(pilot, lambda: not app.is_running)
    assert not recorders[0].is_running


async def test_no_recorder_outlives_the_app(recorders: list[Fake], tmp_path: Path) -> None:
    app = WorkbenchApp()
    async with app.run_test() as pilot:
        app.recordings.start(Plan({"default": "https://h"}, tmp_path / "a.wb"), silent)
        await pilot.pause()
    assert not recorders[0].is_running
    late = app.recordings.start(Plan({"default": "https://h"}, tmp_path / "b.wb"), silent)
    assert not late.recording.is_running


async def test_with_nothing_recorded_it_just_leaves() -> None:
    app = WorkbenchApp()
    async with app.run_test() as pilot:
        await pilot.press("q", "q")
        await until(pilot, lambda: not app.is_running)


async def test_a_recorder_in_trouble_is_heard() -> None:
    app = WorkbenchApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.post_message(RecorderTrouble("no space \x1b[2J left [/b]"))
        await until(pilot, lambda: "no space \\x1b[2J left [/b]" in screen_text(app))
