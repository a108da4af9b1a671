"""The sessions that ship: what ``check`` finds in each, and that they are what their maker writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make_sessions import __main__ as maker
from workbench.contracts import Severity
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspection, Inspector

FOLDER = Path(__file__).resolve().parent.parent / "sessions"

STORIES = {
    "anthropic-cancelled-call": [
        ("closure.missing-result", 1, "/messages/1/content/1"),
        ("closure.missing-result", 1, "/messages/1/content/2"),
    ],
    "anthropic-compaction-orphan": [("closure.orphan-result", 3, "/messages/0/content/1")],
    "anthropic-long-session": [],
    "anthropic-parallel-result-lost": [("closure.missing-result", 2, "/messages/1/content/2")],
    "anthropic-prompt-cache-broken": [],
    "anthropic-text-before-results": [("closure.result-not-first", 1, "/messages/2/content/0")],
    "anthropic-thinking-trimmed": [("reasoning.altered", 1, "/messages/1/content/0/thinking")],
    "anthropic-tool-loop": [],
    "deepseek-reasoning-lost": [("reasoning.missing", 1, "/messages/1")],
    "gateway-field-dropped": [
        ("reasoning.missing", 3, "/messages/1"),
        ("gateway.dropped-field", 3, "/messages/1/reasoning_content"),
    ],
    "gemini-response-lost": [("closure.missing-result", 1, "/contents/1/parts/1")],
    "gemini-signature-lost": [("reasoning.missing", 1, "/contents/1/parts/0")],
    "ollama-call-in-text": [("text.unparsed-call", 0, "/message/content")],
    "openai-arguments-twice": [
        ("args.double-encoded", 0, "/choices/0/message/tool_calls/0/function/arguments"),
        ("args.double-encoded", 1, "/choices/0/message/tool_calls/0/function/arguments"),
    ],
    "openai-call-never-runs": [("stream.finish-reason", 0, "/choices/0/finish_reason")],
    "openai-parallel-index-reused": [("stream.index", 0, "/choices/0/message/tool_calls/1")],
    "responses-call-interrupted": [("closure.missing-result", 1, "/input/1")],
}
"""Example → (rule, exchange, pointer) of its error findings."""


def inspect(name: str) -> Inspection:
    return Inspector(open_input(str(FOLDER / f"{name}.jsonl"))).run()


def test_every_example_has_its_story() -> None:
    assert {p.name for p in FOLDER.glob("*")} == {"order.txt", *(f"{name}.jsonl" for name in STORIES)}


def test_the_order_of_the_examples_names_each_once() -> None:
    assert sorted((FOLDER / "order.txt").read_text("utf-8").split()) == sorted(STORIES)


@pytest.mark.parametrize("name", STORIES)
def test_the_break_is_found_and_nothing_else(name: str) -> None:
    errors = [f for f in inspect(name).findings if f.severity is Severity.ERROR]
    assert [(f.rule, f.exchange, f.pointer) for f in errors] == STORIES[name]
    assert all(f.span for f in errors if f.rule != "gateway.dropped-field")  # what is not there has no bytes


def test_a_broken_cache_costs_and_breaks_nothing() -> None:
    found = [(f.rule, f.severity, f.exchange, f.pointer) for f in inspect("anthropic-prompt-cache-broken").findings]
    assert found == [("cost.cache-break", Severity.WARNING, n, "/system/0/text") for n in (1, 2)]


def test_what_a_gateway_drops_is_its_own_doing() -> None:
    result = inspect("gateway-field-dropped")
    assert [row.summary.hop for row in result.rows] == ["client", "upstream"] * 2
    dropped = next(f for f in result.findings if f.rule == "gateway.dropped-field")
    assert dropped.origin and (dropped.origin.exchange, dropped.origin.hop) == (3, "upstream")
    assert not [f for f in result.findings if f.exchange == 2 and f.severity is Severity.ERROR]


def test_a_title_request_in_between_is_a_conversation_of_its_own() -> None:
    rows = inspect("anthropic-parallel-result-lost").rows
    assert [r.conversation for r in rows] == [0, 1, 0]


def test_the_examples_are_what_their_maker_writes(tmp_path: Path) -> None:
    maker.write(tmp_path)
    for path in FOLDER.glob("*.jsonl"):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", STORIES)
def test_each_says_what_it_tells_where_it_was_published_and_that_it_is_constructed(name: str) -> None:
    about = open_input(str(FOLDER / f"{name}.jsonl")).about
    assert about["story"].count(".") == 1 and len(about["story"]) < 120
    assert about["source"].startswith("https://")
    assert about["made"].startswith("constructed")
