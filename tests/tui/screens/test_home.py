from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from tests.library.samples import entries, put
from tests.tui import samples
from tests.tui.driving import screen_text, until
from tests.tui.holding import Holder
from tests.tui.layouts import hold
from tests.tui.test_hostile import EVIL, assert_clean
from workbench.config import resources
from workbench.library import home_sections, home_state, session_summary
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.widgets.home import HomePane
from workbench.wire.session.writer import SessionWriter


class Home:
    """The app at Home, with short ways to look at it."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.app = pilot.app

    @property
    def pane(self) -> HomePane:
        return self.app.screen_stack[0].query_one(HomePane)

    @property
    def text(self) -> str:
        return screen_text(self.app)

    @property
    def names(self) -> list[str]:
        return [item.name for item in self.pane.items()]

    @property
    def here(self) -> str:
        item = self.pane.item()
        return item.name if item else ""

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, said: str) -> None:
        await until(self.pilot, lambda: said in self.text or said in " ".join(self.text.split()))

    async def session(self) -> None:
        await until(self.pilot, lambda: isinstance(self.app.screen, SessionScreen) and self.app.screen.opened)

    async def back(self) -> None:
        await self.press("q")
        await until(self.pilot, lambda: isinstance(self.app.screen, HomeScreen))


@asynccontextmanager
async def at_home(size: tuple[int, int] = (120, 40)) -> AsyncIterator[Home]:
    app = WorkbenchApp()
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        home = Home(pilot)
        await until(pilot, lambda: any(row.heading.startswith(home_sections.FOUND) for row in home.pane.rows))
        yield home


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_every_session_in_sight_tells_its_story(size: tuple[int, int]) -> None:
    async with at_home(size) as home:
        await until(home.pilot, lambda: not home.pane.pending_summaries())
        assert "✗ closure.missing-result" in home.text
        assert "✗ reasoning.missing" in home.text
        assert "2 ex" in home.text
        assert ("anthropic · claude" in home.text) == (size[0] > 100)
        assert "tools are never run" in home.text


async def test_stories_are_told_when_they_come_into_sight() -> None:
    async with at_home((60, 15)) as home:
        await until(home.pilot, lambda: not home.pane.pending_summaries())
        assert len(home.pane.stories) < len(home.pane.items())
        await home.press("G")
        await until(home.pilot, lambda: home.pane.items()[-1].path in home.pane.stories)


async def test_enter_opens_a_session_and_q_comes_back_to_it() -> None:
    async with at_home() as home:
        wanted = home.names.index(samples.LOST_REASONING)
        await home.press(*"j" * wanted, "enter")
        await home.session()
        assert "reasoning.missing" in home.text
        await home.back()
        assert home.here == samples.LOST_REASONING
        await until(home.pilot, lambda: not home.pane.pending_summaries())
        await hold(home, "home")


async def test_a_session_that_was_opened_is_recent_and_remembered(own_home: Path) -> None:
    path = put(own_home / "mine.jsonl", (resources.folder("sessions") / f"{samples.LOST_RESULT}.jsonl").read_bytes())
    async with at_home() as home:
        await home.press("o", *"~/mi", "tab")
        await home.until("~/mine.jsonl")
        await home.press("enter")
        await home.session()
        assert "mine.jsonl" in home.text
        await home.back()
        await until(home.pilot, lambda: "mine.jsonl" in home.names)
        assert home_sections.RECENT in home.text
    assert home_state.recent() == (path,)
    async with at_home() as home:
        assert home.here == "mine.jsonl"
        path.unlink()
        await home.press("enter")
        await home.until("✗ ")
        assert "no such file" in home.text


async def test_a_file_that_cannot_be_read_says_so_and_its_path_is_offered_again(own_home: Path) -> None:
    put(own_home / "bad.bin", b"\0\1\2")
    async with at_home() as home:
        await home.press("o", *"~/bad.bin", "enter")
        await home.until("unknown binary format")
        assert isinstance(home.app.screen, HomeScreen)
        await home.press("o")
        await home.until("bad.bin  ")


async def test_clients_sessions_are_found_and_can_be_switched_off_for_good(own_home: Path) -> None:
    put(own_home / ".claude/projects/-home-ann-demo/a.jsonl", entries())
    put(own_home / ".local/share/opencode/opencode.db")
    async with at_home() as home:
        assert "demo" in home.names
        assert "1 OpenCode database not listed: export a session" in home.text
        await home.press("c")
        await until(home.pilot, lambda: "demo" not in home.names)
        assert home_sections.SWITCHED_OFF in home.text
    async with at_home() as home:
        assert "demo" not in home.names
        await home.press("c")
        await until(home.pilot, lambda: "demo" in home.names)
        await home.press("G", "enter")
        await home.session()
        await home.back()


async def test_a_switch_that_cannot_be_noted_says_so(own_home: Path) -> None:
    (own_home / ".local").write_text("in the way")
    async with at_home() as home:
        await home.press("c")
        await home.until("✗ cannot save this setting")


async def test_nothing_is_ever_an_empty_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "nothing"
    empty.mkdir()
    honest = resources.folder
    monkeypatch.setattr(resources, "folder", lambda name: empty if name == "sessions" else honest(name))
    async with at_home() as home:
        assert "no example sessions in" in home.text
        assert "no sessions of Claude Code" in home.text
        await home.press("enter", "j", "k", "G", "g", "n", "S")
        assert "no recording started here" in home.text


async def test_a_search_goes_through_the_list() -> None:
    async with at_home() as home:
        await until(home.pilot, lambda: not home.pane.pending_summaries())
        await home.press("/", *"deepseek", "enter")
        assert home.here == samples.LOST_REASONING
        await home.press("/", *"x" * 0, "escape")
        await home.press("/", *"zzz", "enter")
        await home.until("not in the list")
        assert "for an error message" in home.text


async def test_matches_are_walked_both_ways() -> None:
    async with at_home() as home:
        await home.press("/", *"openai-", "enter")
        first = home.here
        await home.press("n")
        second = home.here
        assert first.startswith("openai-")
        assert second.startswith("openai-")
        assert first != second
        await home.press("N")
        assert home.here == first


async def test_what_changed_is_told_again(own_home: Path) -> None:
    path = put(own_home / "mine.jsonl", (resources.folder("sessions") / f"{samples.LOST_RESULT}.jsonl").read_bytes())
    home_state.remember(path)
    async with at_home() as home:
        await until(home.pilot, lambda: path in home.pane.stories)
        assert home.pane.stories[path].severity == "error"
        put(path, (resources.folder("sessions") / f"{samples.TOOL_LOOP}.jsonl").read_bytes(), at=1000)
        await home.press("c")
        await until(home.pilot, lambda: path in home.pane.stories and not home.pane.stories[path].severity)


async def test_a_story_is_not_told_behind_another_screen(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = Event(), Event()

    def slow(path: Path, is_stopped: object) -> None:
        begun.set()
        while not is_stopped():  # type: ignore[operator]
            pass
        ended.set()

    monkeypatch.setattr(session_summary, "describe_file", slow)
    async with at_home() as home:
        await until(home.pilot, begun.is_set)
        await home.press("enter")
        await home.session()
        await until(home.pilot, ended.is_set)


async def test_what_a_live_session_holds_is_said_where_it_is_listed(own_home: Path) -> None:
    writer = SessionWriter(own_home / "live.wb")
    home_state.remember(writer.path)
    recorder = Holder(writer.path)
    try:
        why = {"kind": "closure", "rule": "closure.missing-result", "words": "", "pointer": ""}
        recorder.hold(1, b"{}", exchange="x", reasons=[why])
        async with at_home((80, 24)) as home:
            await home.until("‖ 1 paused")
            await home.press("g")
            await home.until("closure.missing-result")
            assert "enter: open the session, then P: decide" in " ".join(home.text.split())
            recorder.release(1, "continue")
            await home.press("c")  # looks again
            await until(home.pilot, lambda: "‖ 1 paused" not in home.text)
    finally:
        recorder.close()
        writer.close()


@pytest.mark.parametrize("size", [(60, 15), (160, 50)])
async def test_hostile_names_reach_the_screen_visibly(own_home: Path, size: tuple[int, int]) -> None:
    name = EVIL.replace("/", "").replace("\0", "")[:60] + "\n\u202e.jsonl"
    put(own_home / ".claude/projects" / name.removesuffix(".jsonl") / name, entries(f"/home/{EVIL}", EVIL))
    home_state.remember(put(own_home / name, entries("/x", EVIL)))
    home_state.remember(own_home / os.fsdecode(b"\xff\x1b]0;t\x07"))
    async with at_home(size) as home:
        for key in ("g", "j", "j", "G", "k"):
            await home.press(key)
            await until(home.pilot, lambda: not home.pane.pending_summaries())
            assert_clean(home)  # type: ignore[arg-type]
        await home.press("g", "j", "enter")
        await home.session()
        assert_clean(home)  # type: ignore[arg-type]
        await home.back()
        await until(home.pilot, lambda: home.names[1].startswith("\udcff"))
        await home.press("g", "j", "enter")
        await home.until("no such file")
        await home.press("o")
        assert_clean(home)  # type: ignore[arg-type]


async def test_the_first_paint_waits_for_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    begin, look = HomeScreen._begin, home_sections.all_sections
    monkeypatch.setattr(HomeScreen, "_begin", lambda self: (done.append("painted"), begin(self)))
    monkeypatch.setattr(home_sections, "all_sections", lambda: (done.append("looked"), look())[1])
    async with at_home():
        assert done[:2] == ["painted", "looked"]


async def test_a_tiny_terminal_gets_a_message() -> None:
    async with at_home((40, 10)) as home:
        await home.until("40 columns")
