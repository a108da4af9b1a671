"""``workbench minimize``: what is left, what it cost, the edits, for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.trials.minimize.requests import anthropic
from workbench.config import resources
from workbench.errors import WorkbenchError
from workbench.trials import minimize

SESSIONS = resources.folder("sessions")
BROKEN = SESSIONS / "anthropic-parallel-result-lost.jsonl"
REASONING = SESSIONS / "deepseek-reasoning-lost.jsonl"
HEALTHY = SESSIONS / "anthropic-tool-loop.jsonl"


def test_the_broken_exchange_is_found_and_made_small(run: Run) -> None:
    done = run("minimize", BROKEN)
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0] == "exchange 3, sim:anthropic: refuses · 400 · invalid_request_error · closure.missing-result"
    assert "nothing more can be removed" in lines[2] and "of 150" in lines[2]
    assert "toolu_01Tests" in lines[3] and "src/parser.py" not in lines[3]
    assert lines[4].startswith("fix 1: add an error result") and lines[4].endswith("(sim:anthropic: accepted)")


def test_json_says_all_of_it_and_out_takes_the_bytes(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "smallest.json"
    done = run("minimize", REASONING, "--target", "sim:deepseek", "--format", "json", "-o", out)
    told = json.loads(done.out)
    assert (done.status, told["exchange"], told["target"]) == (1, 1, "sim:deepseek")
    assert told["failure"]["rule"] == "reasoning.missing" and told["failure"]["status"] == 400
    assert told["bytes"]["after"] == len(out.read_bytes()) < told["bytes"]["before"]
    assert told["body"].encode() == out.read_bytes()
    assert told["minimal"] and told["calls"] <= told["budget"]
    first = told["edits"][0]
    assert first["title"] == "restore the reasoning from exchange 1" and first["accepted"]
    assert first["edits"][0]["op"] == "insert" and first["edits"][0]["pointer"] == "/messages/1/reasoning_content"
    assert run("minimize", REASONING, "-o", out).status == 2, "what is there is not replaced"
    assert run("minimize", REASONING, "-o", out, "--force").status == 1


def test_another_protocol_and_contract(run: Run) -> None:
    """Said in another protocol the result is lost all the same."""
    done = run("minimize", BROKEN, "--target", "sim:openai", "--as", "openai-chat", "--format", "json")
    told = json.loads(done.out)
    assert told["protocol"] == "openai-chat" and told["contract"] == "openai"
    assert told["failure"]["rule"] == "closure.missing-result" and '"tool_calls"' in told["body"]


def test_what_the_target_accepts_is_not_made_smaller(run: Run) -> None:
    done = run("minimize", HEALTHY)
    assert done.status == 0 and done.out == "exchange 2, sim:anthropic: the target accepts the request\n"


def test_a_bare_body_will_do(run: Run, tmp_path: Path) -> None:
    body = anthropic(20)
    del body["messages"][14]["content"][0]
    path = tmp_path / "body.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    told = json.loads(run("minimize", path, "--format", "json").out)
    assert told["gone"] > 0.95 and told["failure"]["rule"] == "closure.missing-result"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "sim:nobody"), "nobody"),
        (("--target", "http://127.0.0.1:9/v1", "--as", "openai-chat"), "add --yes"),
        (("--budget", "0"), "allows no request"),
        (("--exchange", "9"), "no exchange 9"),
        (("--as", "nothing"), "nothing"),
    ],
)
def test_bad_words_are_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("minimize", BROKEN, *words)
    assert done.status == 2 and said in done.err and done.err.startswith("workbench: ")
    assert done.out == ""


def test_a_server_that_is_not_there_is_a_fault_of_the_network(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.send.sending.backoff", lambda *_: 0.0)
    done = run("minimize", BROKEN, "--target", "http://127.0.0.1:9/v1", "--as", "anthropic-messages", "--yes")
    assert done.status == 4 and "127.0.0.1" in done.err


def test_ctrl_c_keeps_the_smallest_so_far(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = minimize.MinimizeSearch._finish

    def interrupted(self: minimize.MinimizeSearch) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(minimize.MinimizeSearch, "_finish", interrupted)
    done = run("minimize", BROKEN, "--format", "json")
    monkeypatch.setattr(minimize.MinimizeSearch, "_finish", real)
    told = json.loads(done.out)
    assert done.status == 130 and "the smallest request so far" in done.err
    assert told["bytes"]["after"] < told["bytes"]["before"] and not told["minimal"]


def test_a_target_that_does_not_judge_leaves_it_undecided(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_key(*_: object) -> minimize.TargetVerdict:
        raise minimize.UnansweredError("the target gave no verdict on the request: it answered 401")

    monkeypatch.setattr(minimize, "target_verdict", no_key)
    done = run("minimize", BROKEN)
    assert done.status == 3 and "it answered 401" in done.err
    assert issubclass(minimize.UnansweredError, WorkbenchError)
