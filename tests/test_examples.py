"""The sessions that ship: what ``check`` finds in each, and that they are what their maker writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import make_sessions
from workbench.importers import open_input
from workbench.inspection import Inspection, Inspector
from workbench.rules import Severity

FOLDER = Path(__file__).resolve().parent.parent / "sessions"

STORIES = {
    "anthropic-parallel-result-lost": [("closure.missing-result", 2, "/messages/1/content/2")],
    "anthropic-thinking-trimmed": [("reasoning.altered", 1, "/messages/1/content/0/thinking")],
    "anthropic-tool-loop": [],
    "deepseek-reasoning-lost": [("reasoning.missing", 1, "/messages/1")],
    "openai-call-never-runs": [("stream.finish-reason", 0, "/choices/0/finish_reason")],
}
"""Example → (rule, exchange, pointer) of its error findings."""


def inspect(name: str) -> Inspection:
    return Inspector(open_input(str(FOLDER / f"{name}.jsonl"))).run()


def test_every_example_has_its_story() -> None:
    assert {p.stem for p in FOLDER.glob("*")} == set(STORIES)


@pytest.mark.parametrize("name", STORIES)
def test_the_break_is_found_and_nothing_else(name: str) -> None:
    errors = [f for f in inspect(name).findings if f.severity is Severity.ERROR]
    assert [(f.rule, f.exchange, f.pointer) for f in errors] == STORIES[name]
    assert all(f.span for f in errors)


def test_a_title_request_in_between_is_a_conversation_of_its_own() -> None:
    rows = inspect("anthropic-parallel-result-lost").rows
    assert [r.conversation for r in rows] == [0, 1, 0]


def test_the_examples_are_what_their_maker_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_sessions, "FOLDER", tmp_path)
    make_sessions.main()
    for path in FOLDER.glob("*"):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
