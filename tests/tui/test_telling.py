from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest
from textual.message import Message

from workbench.library import session_summary
from workbench.library.session_summary import SessionSummary
from workbench.tui.story_reader import StoryReader, StoryReady


class Heard:
    """What a telling thread posts; waits for it."""

    def __init__(self) -> None:
        self.telling = StoryReader()
        self.told: list[tuple[Path, SessionSummary]] = []
        self.came = Event()
        self.thread = Thread(target=self.telling.run, args=(self.hear,), daemon=True)
        self.wanted = 1

    def hear(self, message: Message) -> None:
        assert isinstance(message, StoryReady)
        self.told.append((message.path, message.story))
        if len(self.told) >= self.wanted:
            self.came.set()

    def end(self) -> None:
        self.telling.stop()
        self.thread.join(30)
        assert not self.thread.is_alive()


def test_what_is_in_sight_is_told_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_summary, "describe_file", lambda path, is_stopped: SessionSummary("", path.name, ""))
    heard = Heard()
    heard.wanted = 2
    heard.telling.ask([Path("a"), Path("b")])
    heard.thread.start()
    assert heard.came.wait(30)
    heard.end()
    assert [path.name for path, _ in heard.told] == ["a", "b"]


def test_what_went_out_of_sight_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, steps = Event(), []

    def slow(path: Path, is_stopped: object) -> SessionSummary | None:
        if path.name == "b":
            return SessionSummary("", "b", "")
        begun.set()
        while not is_stopped():  # type: ignore[operator]
            pass
        steps.append("broken off")
        return None

    monkeypatch.setattr(session_summary, "describe_file", slow)
    heard = Heard()
    heard.telling.ask([Path("a")])
    heard.thread.start()
    assert begun.wait(30)
    heard.telling.ask([Path("b")])
    assert heard.came.wait(30)
    heard.end()
    assert [path.name for path, _ in heard.told] == ["b"]
    assert steps == ["broken off"]


def test_a_fault_of_ours_ends_one_story_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(path: Path, is_stopped: object) -> SessionSummary:
        if path.name == "a":
            raise KeyError("torn \x1b")
        return SessionSummary("", "b", "")

    monkeypatch.setattr(session_summary, "describe_file", faulty)
    heard = Heard()
    heard.wanted = 2
    heard.telling.ask([Path("a"), Path("b")])
    heard.thread.start()
    assert heard.came.wait(30)
    heard.end()
    assert [told.verdict for _, told in heard.told] == ["not read", "b"]
