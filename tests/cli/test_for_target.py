"""Which contract a request is repaired and exported by: that of the target it is meant for."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
BODY = {
    "model": "sim-model",
    "thinking": {"type": "enabled"},
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "list"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "user", "content": "and?"},
    ],
}
TARGET = ("--target", "sim:deepseek")


def test_a_request_is_repaired_for_the_target(run: Run, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(BODY))
    found = json.loads(run("check", tmp_path / "body.json", *TARGET, "--format", "json").out)["files"][0]
    assert found["provider"] == "deepseek:v4"
    done = run("check", tmp_path / "body.json", "--fix", "-o", tmp_path / "out.json", *TARGET)
    assert done.status == 0, done.out
    assert json.loads((tmp_path / "out.json").read_text()) != BODY


def test_what_if_repairs_for_the_target(run: Run, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(BODY))
    made = run("matrix", tmp_path / "body.json", "--what-if", "all", *TARGET, "--format", "json")
    variants = {variant["name"]: variant for variant in json.loads(made.out)["variants"]}
    assert not variants["repair=done"]["why_not"]
    assert variants["repair=done"]["outcomes"][0]["verdict"] == "accepts"


def test_a_target_and_a_provider_are_two_words_for_one_thing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(BODY))
    both = run("check", tmp_path / "body.json", *TARGET, "--provider", "openai")
    assert both.status == 2 and "give one of them" in both.err
    unknown = run("check", tmp_path / "body.json", "--target", "http://localhost:9")
    assert unknown.status == 2 and "--provider" in unknown.err
