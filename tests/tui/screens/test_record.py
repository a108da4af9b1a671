from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.driving import until
from tests.tui.screens.test_home import at_home
from tests.tui.test_running import Fake, recorders
from workbench.config import resources
from workbench.errors import UsageError
from workbench.recorder import process
from workbench.tui.screens.record import RecordingScreen, RecordScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.wire.session.writer import SessionWriter

__all__ = ["recorders"]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_recording_is_started_by_keys_alone(recorders: list[Fake], size: tuple[int, int]) -> None:
    async with at_home(size) as home:
        await home.press("r", *"anth", "tab", "enter")
        await until(home.pilot, lambda: isinstance(home.app.screen, RecordingScreen))
        await home.until("export ANTHROPIC_BASE_URL=http://127.0.0.1:4000")
        (recorder,) = recorders
        assert recorder.out.parent == resources.state_folder("recordings")
        copied: list[str] = []
        home.app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
        await home.press("y")
        assert copied[0].startswith("export ")
        recorder.out.parent.mkdir(parents=True)
        SessionWriter(recorder.out).close()
        await home.press("enter")
        await until(home.pilot, lambda: isinstance(home.app.screen, SessionScreen))
        await home.until(recorder.out.name)
        await home.back()
        await until(home.pilot, lambda: home.here == recorder.out.name)


async def test_it_is_stopped_on_home(recorders: list[Fake]) -> None:
    async with at_home() as home:
        await home.press("r", *"openai", "enter")
        await until(home.pilot, lambda: isinstance(home.app.screen, RecordingScreen))
        await home.press("escape", "S")
        await home.until("Stop the recording")
        await home.press("n")
        assert recorders[0].is_running
        await home.press("S", "y")
        await until(home.pilot, lambda: not recorders[0].is_running)
        await home.press("S")
        await home.until("no recording started here")


@pytest.mark.parametrize(
    ("typed", "said"),
    [("", "no upstream"), ("nobody", "no such provider"), ("https://a https://b", "two upstreams")],
)
async def test_what_is_wrong_is_said_in_the_dialog(recorders: list[Fake], typed: str, said: str) -> None:
    async with at_home() as home:
        await home.press("r", *typed, "enter")
        await home.until(said)
        assert isinstance(home.app.screen, RecordScreen)
        assert not recorders


async def test_a_file_that_is_there_is_appended_to_when_that_is_said_twice(
    recorders: list[Fake], own_home: Path
) -> None:
    (own_home / "a.wb").touch()
    async with at_home() as home:
        await home.press("r", *"openai", "shift+tab", "ctrl+u", *"~/a.wb", "enter")
        await home.until("exists · enter again: append to it")
        assert not recorders
        await home.press("enter")
        await until(home.pilot, lambda: recorders and recorders[0].out == own_home / "a.wb")


async def test_the_place_the_protocol_and_the_breakpoints_are_asked_too(recorders: list[Fake]) -> None:
    async with at_home() as home:
        back = "shift+tab"  # moves at once, as tab does when there is nothing to complete
        await home.press("r", *"sim:qwen", back, back, *"nothing", back, *"inner", back, *"openai-chat", "enter")
        await home.until("no breakpoint named")
        await home.press("ctrl+u", *"closure, id", "enter")
        await home.until("protocol openai-chat")
        assert recorders[0].words == {"spoken": "openai-chat", "hop": "inner", "breaks": ("closure", "id")}
        await home.until("hop")
        await home.until("breakpoints: closure, id")


async def test_a_simulator_is_offered_and_speaks_what_the_client_speaks(recorders: list[Fake]) -> None:
    async with at_home() as home:
        await home.press("r", *"sim:anthrop")
        await home.until("simulated, nothing leaves this machine")
        await home.press(*"ic", "enter")
        await home.until("→ sim:anthropic")
        assert recorders[0].words["spoken"] == ""
        assert "translated" not in home.text


async def test_a_protocol_that_there_is_not_is_said_at_its_field(recorders: list[Fake]) -> None:
    async with at_home() as home:
        await home.press("r", *"sim:deepseek:v3", "shift+tab", "shift+tab", "shift+tab", "shift+tab", *"morse", "enter")
        await home.until("no protocol named 'morse'")
        assert home.app.focused and home.app.focused.id == "spoken"
        assert not recorders


async def test_a_recorder_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*given: object, **named: object) -> Fake:
        raise UsageError("port 80 \x1b[2J is taken")

    monkeypatch.setattr(process, "start", start)
    async with at_home() as home:
        await home.press("r", *"openai", "enter")
        await home.until("port 80 \\x1b[2J is taken")
        await home.press("escape")


async def test_providers_are_offered(recorders: list[Fake], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda command: None)  # clients of this machine would be offered first
    async with at_home() as home:
        await home.press("r")
        await home.until("https://api.deepseek.com")
        await home.press(*"anthropic ")
        await home.until("and forward to https://api.anthropic.com")
        await home.press("down", "down", "enter")
        await home.until("anthropic openai")
        await home.press("enter")
        await until(home.pilot, lambda: recorders)
        assert set(recorders[0].urls) == {"anthropic", "openai"}


async def test_one_question_is_asked_and_the_rest_is_folded(recorders: list[Fake]) -> None:
    async with at_home() as home:
        await home.press("r")
        await home.until("protocol, hop name, breakpoints, session file · tab: show")
        assert "Hop name" not in home.text and "your client must send its requests to this proxy" in home.text
        await home.press(*"openai")
        await home.until("enter: listen on this machine, record, and forward to https://api.openai.com")
        await home.press("tab")
        await home.until("Hop name")
        assert "tab: show" not in home.text
        await home.until("in the client's own protocol, unchanged")


async def test_a_client_of_this_machine_is_recorded_by_its_name(
    recorders: list[Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda command: f"/bin/{command}" if command == "claude" else None)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    async with at_home() as home:
        await home.press("r")
        await home.until("Claude Code, found on this machine: sets ANTHROPIC_BASE_URL")
        await home.press("down", "enter")
        await home.until("forward to https://api.anthropic.com")
        await home.press("enter")
        await until(home.pilot, lambda: isinstance(home.app.screen, RecordingScreen))
        await home.until("Start it in another terminal")
        assert set(recorders[0].urls) == {"anthropic"}
        lines = [line.strip() for line in home.text.splitlines()]
        at = next(n for n, line in enumerate(lines) if "Start it in another terminal" in line)
        assert "Claude Code: ANTHROPIC_BASE_URL=http://127.0.0.1" in lines[at + 1]


async def test_what_is_wrong_is_beside_its_field(recorders: list[Fake]) -> None:
    async with at_home((120, 40)) as home:
        await home.press("r", *"openai", "shift+tab", "shift+tab", *"nothing", "enter")
        await home.until("no breakpoint named")
        lines = home.text.splitlines()
        at = next(n for n, line in enumerate(lines) if "no breakpoint named" in line)
        assert "nothing" in lines[at - 1] and "Breakpoints" in lines[at - 2]
