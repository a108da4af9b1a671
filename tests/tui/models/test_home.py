from __future__ import annotations

from pathlib import Path

from tests.tui import samples
from workbench.inspection import Inspector
from workbench.tui.lines import plain
from workbench.tui.models import home


def story(name: str) -> home.Story:
    return home.tell(Inspector(samples.example(name)).run())


def test_a_broken_session_tells_its_first_break() -> None:
    told = story(samples.LOST_RESULT)
    assert told.verdict == "closure.missing-result"
    assert told.severity == "error"
    assert told.text.startswith("exchange 3: ")
    assert told.facts.startswith("3 exchanges · anthropic")


def test_a_healthy_session_says_so() -> None:
    told = story(samples.TOOL_LOOP)
    assert (told.severity, told.verdict) == (None, "no breaks")
    assert "✓ no breaks" in plain(home.story_line(Path("x.jsonl"), told, 80))


def test_what_was_not_judged_is_not_called_clean() -> None:
    other = samples.session(samples.exchange({"contents": []}, {"candidates": []}, url="https://h/x:generateContent"))
    told = home.tell(Inspector(other).run())
    assert "? not all was judged" in plain(home.story_line(Path("x.jsonl"), told, 80))
    assert told.text == "nothing to check: gemini is recognised but not decoded by this version"


def test_nothing_is_ever_an_empty_box() -> None:
    assert "inspecting" in plain(home.story_line(Path("x.jsonl"), None, 80))
    assert "press o" in plain(home.nothing(Path("folder"), 200)[0])
