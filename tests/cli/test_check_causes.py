"""One cause is one finding in every form of ``check``, and what was accepted does not decide the exit status."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import store

GO = {"role": "user", "content": "go on"}
OPEN = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}]}
ODD_TOOL = {"name": "list files", "input_schema": {"type": "object"}}


def session(path: Path, begin: list[dict[str, Any]], count: int = 4, **more: object) -> str:
    """A conversation of accepted requests, each with the whole history."""
    exchanges, history = [], begin
    for number in range(count):
        sent = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": history, **more}
        said = {"role": "assistant", "content": [{"type": "text", "text": f"answer {number}"}]}
        answer = {"type": "message", "model": "claude-sonnet-4-5", "stop_reason": "end_turn", **said}
        request = HttpRequest(url="https://api.anthropic.com/v1/messages", body=Body(json.dumps(sent).encode()))
        exchanges.append(Exchange(str(number), request, HttpResponse(body=Body(json.dumps(answer).encode()))))
        history = [*history, said, GO]
    store.save(exchanges, path, form="text")
    return str(path)


@pytest.fixture
def lost(tmp_path: Path) -> str:
    """A call without its result, in four requests."""
    return session(tmp_path / "lost.jsonl", [GO, OPEN, GO])


@pytest.fixture
def accepted(tmp_path: Path) -> str:
    """A tool with a name that the contract says is refused, accepted four times."""
    return session(tmp_path / "accepted.jsonl", [GO], tools=[ODD_TOOL])


def test_a_fault_is_counted_once_in_text_with_the_range_it_lasts(run: Run, lost: str) -> None:
    done = run("check", lost)
    assert done.status == 1
    assert done.out.count("closure.missing-result\n") == 1
    assert "exchange 1 to 4 · request · /messages/1/content/0" in done.out
    assert "1 error, 0 warnings" in done.out


def test_json_gives_the_first_and_the_last_exchange(run: Run, lost: str) -> None:
    (file,) = json.loads(run("check", "--format", "json", lost).out)["files"]
    (broken,) = [f for f in file["findings"] if f["severity"] == "error"]
    assert (broken["rule"], broken["exchange"], broken["last"]) == ("closure.missing-result", 0, 3)
    assert broken["repairs"]


def test_sarif_has_one_result_and_junit_one_failure(run: Run, lost: str) -> None:
    (analysis,) = json.loads(run("check", "--format", "sarif", lost).out)["runs"]
    (result,) = [r for r in analysis["results"] if r["level"] == "error"]
    assert (result["properties"]["exchange"], result["properties"]["last"]) == (0, 3)
    suite = ET.fromstring(run("check", "--format", "junit", lost).out).find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
    assert [case.find("failure") is not None for case in suite.iter("testcase")] == [True, False, False, False]


def test_every_exchange_is_repaired_all_the_same(run: Run, lost: str, tmp_path: Path) -> None:
    done = run("check", "--fix", "-o", str(tmp_path / "fixed.jsonl"), "--format", "json", lost)
    (file,) = json.loads(done.out)["files"]
    assert [f["exchange"] for f in file["fixed"]] == [0, 1, 2, 3]
    assert all(f["repairs"] for f in file["fixed"])
    assert not [f for f in file["findings"] if f["severity"] == "error"]


def test_what_was_accepted_is_a_note_and_counted_for_its_fact(run: Run, accepted: str) -> None:
    done = run("check", "--fail-on", "warning", accepted)
    assert done.status == 0
    assert "0 errors, 0 warnings" in done.out
    assert "contract anthropic, schema.name" in done.out
    assert "contradicted by 4 accepted requests (api.anthropic.com), first in exchange 1" in done.out
    (file,) = json.loads(run("check", "--format", "json", accepted).out)["files"]
    (note,) = [f for f in file["findings"] if f["rule"] == "contract.disagrees"]
    assert (note["severity"], note["exchange"], note["last"], note["basis"]) == ("info", 0, 3, "recording")
    (fact,) = file["contradictions"]
    assert {k: note["contradicts"][k] for k in ("contract", "rule", "fact", "source", "date", "by")} == {
        k: fact[k] for k in ("contract", "rule", "fact", "source", "date", "by")
    }
    assert (fact["rule"], fact["count"], fact["exchanges"]) == ("schema.name", 4, [0, 1, 2, 3])
    assert fact["source"] and fact["date"]


def test_a_contract_that_is_asked_for_judges_and_says_who_accepted_it(run: Run, accepted: str) -> None:
    done = run("check", "--provider", "anthropic", accepted)
    assert done.status == 1
    assert "accepted by api.anthropic.com, status 200" in done.out


def test_the_matrix_judges_and_says_who_accepted_it(run: Run, accepted: str) -> None:
    done = run("matrix", accepted, "anthropic")
    assert done.status == 1
    assert "contract anthropic, accepted by api.anthropic.com" in done.out
    answer = json.loads(run("matrix", accepted, "anthropic", "--format", "json").out)
    assert answer["accepted_by"] == "api.anthropic.com"
    assert {row["verdict"] for row in answer["contracts"]} == {"refuses"}


def test_what_is_about_to_be_sent_again_says_so_too(run: Run, accepted: str) -> None:
    done = run("send", accepted, "--target", "sim:anthropic", "--exchange", "1")
    assert "contract anthropic: refuses with 400  schema.name" in done.out
    assert "(accepted by api.anthropic.com in the recording)" in done.out


def test_a_fact_that_is_contradicted_at_several_places_is_said_once(run: Run, tmp_path: Path) -> None:
    tools = [{**ODD_TOOL, "name": f"list files {n}"} for n in range(5)]
    path = session(tmp_path / "several.jsonl", [GO], tools=tools)
    (file,) = json.loads(run("check", "--format", "json", path).out)["files"]
    (note,) = [f for f in file["findings"] if f["rule"] == "contract.disagrees"]
    assert (note["exchange"], note["last"], note["pointer"]) == (0, 3, "/tools/0/name")
    assert [(p["exchange"], p["last"], p["pointer"]) for p in note["places"]] == [
        (0, 3, f"/tools/{n}/name") for n in range(5)
    ]
    (analysis,) = json.loads(run("check", "--format", "sarif", path).out)["runs"]
    (result,) = [r for r in analysis["results"] if r["ruleId"] == "contract.disagrees"]
    assert result["properties"]["places"] == note["places"]
    assert run("check", "--format", "junit", path).out.count("contract.disagrees") == 1
    text = run("check", path).out
    assert text.count("contract.disagrees") == 1
    others = "; ".join(f"exchange 1 · /tools/{n}/name" for n in (1, 2, 3))
    assert f"also at: {others}; … and 1 more" in text
