"""``workbench matrix``: the verdict of every contract, for people and as JSON."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from workbench.config import resources
from workbench.send import matrix

SESSIONS = resources.folder("sessions")
BROKEN = SESSIONS / "deepseek-reasoning-lost.jsonl"
HEALTHY = SESSIONS / "anthropic-tool-loop.jsonl"


def test_every_contract_has_a_line_with_rule_and_place(run: Run) -> None:
    done = run("matrix", BROKEN)
    lines = done.out.splitlines()
    assert lines[0] == "exchange 2: openai-chat, deepseek-v4-flash, 3 messages, contract deepseek:v4"
    assert all(any(line[2:].startswith(f"{label} ") for line in lines) for label in matrix.labels())
    (refused,) = [line for line in lines if line.startswith("✗ deepseek:v4 ")]
    assert refused.split() == ["✗", "deepseek:v4", "refuses", "reasoning.missing", "/messages/1"]
    assert "400         The `reasoning_content` in the thinking mode must be passed back" in done.out


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((BROKEN,), 1),
        ((BROKEN, "generic"), 0),
        ((BROKEN, "deepseek"), 1),
        ((BROKEN, "deepseek", "--exchange", 1), 0),
        ((HEALTHY,), 0),
    ],
)
def test_it_exits_with_the_verdict_of_those_that_were_asked(run: Run, words: tuple[object, ...], status: int) -> None:
    assert run("matrix", *words).status == status


def test_json_says_all_of_it(run: Run) -> None:
    answer = json.loads(run("matrix", "--format", "json", BROKEN, "deepseek:v3.2", "anthropic").out)
    assert (answer["exchange"], answer["protocol"], answer["messages"]) == (1, "openai-chat", 3)
    found = {row["contract"]: row for row in answer["contracts"]}
    old, other = found["deepseek:v3.2"], found["anthropic"]
    assert (old["verdict"], old["rule"], old["pointer"], old["status"]) == (
        "refuses",
        "reasoning.missing",
        "/messages/1",
        400,
    )
    assert old["answer"]["error"]["message"].startswith("Missing `reasoning_content` field")
    assert old["bytes"] and old["source"] and not old["converted"]
    assert (other["verdict"], other["converted"], other["protocol"]) == ("accepts", True, "anthropic-messages")
    assert all(set(loss) == {"pointer", "what", "instead"} for loss in other["losses"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((BROKEN, "nobody"), "no contract named 'nobody'"),
        ((BROKEN, "--exchange", 9), "no exchange 9"),
        (("nowhere.json",), "nowhere.json"),
    ],
)
def test_what_cannot_be_asked_is_one_line(run: Run, words: tuple[object, ...], said: str) -> None:
    done = run("matrix", *words)
    assert done.status == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def sent(run: Run, *words: object) -> tuple[int, dict[str, dict[str, dict]]]:
    """Exit status, and the outcomes by variant and target."""
    done = run("matrix", HEALTHY, *words, "--format", "json")
    told = json.loads(done.out)
    assert told["exchange"] == 1
    return done.status, {v["name"]: {o["target"]: o for o in v["outcomes"]} for v in told["variants"]}


def test_one_thing_is_different_at_several_targets(run: Run) -> None:
    wanted = ("--what-if", "unchanged", "--what-if", "reasoning")
    status, found = sent(run, "anthropic", *wanted, "--target", "sim:generic")
    assert status == 1
    assert list(found) == ["unchanged", *(f"reasoning={how}" for how in ("dropped", "emptied", "trimmed", "moved"))]
    moved = found["reasoning=moved"]["sim:anthropic"]
    assert (moved["verdict"], moved["status"], moved["rule"]) == ("refuses", 400, "reasoning.order")
    assert found["reasoning=moved"]["sim:generic"]["verdict"] == "accepts"
    assert found["unchanged"]["sim:anthropic"]["verdict"] == "accepts"


def test_without_a_target_the_own_contract_is_asked(run: Run) -> None:
    status, found = sent(run, "--what-if", "stream")
    ((outcome,),) = (found[name].values() for name in found)
    assert status == 0
    assert outcome["target"].startswith("sim:anthropic")


def test_what_cannot_be_varied_is_said(run: Run) -> None:
    none = run("matrix", HEALTHY, "--what-if", "results")
    assert none.status == 3
    assert "not tried: no two results are adjacent" in none.out
    unknown = run("matrix", HEALTHY, "--what-if", "weather")
    assert unknown.status == 2
    assert "no variant named 'weather'" in unknown.err


def test_a_real_endpoint_is_asked_about_first(run: Run) -> None:
    done = run("matrix", HEALTHY, "--target", "http://127.0.0.1:9/v1", "--protocol", "anthropic-messages")
    assert done.status == 2
    assert "at most 1 request to http://127.0.0.1:9/v1" in done.err
    assert "add --yes" in done.err
