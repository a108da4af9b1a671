"""``workbench bisect``: the first turn from which a chain cannot be continued."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.trials.minimize.requests import anthropic
from workbench.config import resources

SESSIONS = resources.folder("sessions")
BROKEN = SESSIONS / "deepseek-reasoning-lost.jsonl"
HEALTHY = SESSIONS / "anthropic-long-session.jsonl"


def test_exchange_message_rule_and_words(run: Run) -> None:
    done = run("bisect", BROKEN)
    assert done.status == 1
    assert done.out.splitlines() == [
        "cannot be continued from exchange 2, message 2 onwards: reasoning.missing",
        "  /messages/1  this turn called a tool while thinking, but its reasoning_content was not sent back",
        "  provider error: The `reasoning_content` in the thinking mode must be passed back to the API.",
        "  began in exchange 2: exchange 1 returned the reasoning; this is the first request that does not send the "
        "reasoning back unchanged",
        "the first 1 of 3 messages can be continued, the first 3 cannot (contract deepseek:v4)",
        "0 requests, 3 local checks",
    ]


def test_a_chain_that_holds(run: Run) -> None:
    done = run("bisect", HEALTHY)
    assert done.status == 0 and "can be continued to the end" in done.out


def test_json_and_a_target(run: Run, tmp_path: Path) -> None:
    body = anthropic(20)
    del body["messages"][46]["content"][0]
    path = tmp_path / "body.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    done = run("bisect", path, "--target", "sim:anthropic", "--format", "json")
    told = json.loads(done.out)
    assert done.status == 1 and told["target"] == "sim:anthropic" and told["verified"]
    assert told["messages"] == 81 and told["good"] == {"messages": 45}
    broken = told["broken"]
    assert (broken["messages"], broken["message"], broken["rule"]) == (47, 45, "closure.missing-result")
    assert broken["pointer"].startswith("/messages/45") and "tool_result" in broken["words"]
    assert 0 < told["calls"] <= 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "sim:nobody"), "nobody"),
        (("--target", "http://127.0.0.1:9/v1", "--as", "openai-chat"), "add --yes"),
        (("--budget", "0", "--target", "sim:deepseek"), "allows no request"),
        (("--exchange", "7"), "no exchange 7"),
    ],
)
def test_bad_words_are_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("bisect", BROKEN, *words)
    assert done.status == 2 and said in done.err and done.out == ""
