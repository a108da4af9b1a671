"""What a transcript does not hold is no break: rules do not miss it, and what we chose for it is not judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.contracts import Severity
from workbench.formats.importers import atif, open_input
from workbench.rules.inspection import Inspector
from workbench.wire.jsontext import dumps

TRUE = {
    "pi.jsonl": {"answer.error", "closure.duplicate-result"},  # its client answers the open call before the late result
    "gemini-chat.json": {"closure.missing-result"},  # a cancelled call has no result in the file
    "otel.json": {"args.invalid-json"},  # recorded as broken
    "codex.jsonl": set(),
    "gemini-chat.jsonl": set(),
    "script.responses.jsonl": set(),
    "qwen-code.jsonl": set(),
    "inspect.json": set(),
    "atif.json": set(),
    "opencode.json": set(),
    "otel.jsonl": set(),
}
"""Fixture → rules that find an error or a warning in it, rightly."""


@pytest.mark.parametrize("name", TRUE)
def test_findings_of_our_fixtures_are_true(data: Path, name: str) -> None:
    result = Inspector(open_input(str(data / name))).run()
    assert {f.rule for f in result.findings if f.severity is not Severity.INFO} == TRUE[name]


@pytest.mark.parametrize(
    "model",
    ["anthropic/claude-sonnet-4-6", "openai/gpt-5", "google/gemini-3-pro", "deepseek/deepseek-reasoner", "bedrock/x"],
)
def test_reasoning_without_proof_is_no_break(model: str) -> None:
    """Its place is our choice, and the transcript keeps no signature."""
    asked = {"source": "user", "message": "Which files?"}
    call = {"tool_call_id": "c1", "function_name": "ls", "arguments": {"path": "."}}
    step = {"source": "agent", "message": "I look.", "reasoning_content": "First ls.", "tool_calls": [call]}
    step["observation"] = {"results": [{"source_call_id": "c1", "content": "a"}]}
    last = {"source": "agent", "message": "a", "reasoning_content": "Then say it."}
    text = dumps({"schema_version": "ATIF-v1.5", "agent": {"model_name": model}, "steps": [asked, step, last]})
    assert Inspector(atif.read(text, "x")).run().findings == ()
