"""Planted faults: what is counted, and that the count can fail."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 (a fixture)
from tests.conftest import README
from workbench import rules
from workbench.edits.planted_faults import FAULTS, rewrite
from workbench.probes import selftest
from workbench.probes.selftest.answers import ANSWER_FAULTS
from workbench.probes.selftest.healthy import sessions
from workbench.wire.exchange import Body, HttpRequest
from workbench.wire.jsontext import loads

ASKED = ("anthropic", "gemini")


@pytest.fixture(scope="module")
def report() -> selftest.SelftestReport:
    return selftest.run(sessions(ASKED[:1]))


def test_healthy_sessions_are_what_they_are_called() -> None:
    for healthy in sessions(ASKED):
        count = len(healthy.session)
        assert count >= 4, healthy.name
        statuses = [e.response.status for e in healthy.session.exchanges if e.response]
        assert statuses == [200] * count, healthy.name


def test_every_fault_is_named_and_nothing_else_is(report: selftest.SelftestReport) -> None:
    assert report.misses == []
    assert report.alarms == []
    assert report.is_clean
    assert report.named_count == report.planted_count > 200
    assert report.healthy > 20


def test_the_readme_counts_the_kinds() -> None:
    assert f"`workbench selftest` plants {len(FAULTS) + len(ANSWER_FAULTS)} kinds of faults" in README


def test_every_rule_of_a_fault_exists() -> None:
    assert {slug for fault in (*FAULTS, *ANSWER_FAULTS) for slug in fault.rules} <= set(rules.every_rule())


def test_a_rule_that_sees_nothing_is_counted_as_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    family = rules.families()["closure"]
    monkeypatch.setattr(family, "check", lambda case: iter(()))
    blind = selftest.run(list(sessions(ASKED[:1]))[:1])
    lost = blind.tallies["a tool result is missing"]
    assert lost.planted > lost.named == 0
    assert {m.fault for m in blind.misses} >= {"a tool result is missing", "a tool call is missing"}
    assert not blind.is_clean


def test_a_rule_that_sees_too_much_is_a_false_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    family = rules.families()["closure"]
    rule = family.RULES[0]
    monkeypatch.setattr(family, "check", lambda case: iter([case.finding(rule, "request", "", "everything is wrong")]))
    eager = selftest.run(list(sessions(ASKED[:1]))[:1])
    alarms = [f for _, _, f in eager.alarms if f.rule == rule.slug]
    assert len(alarms) == eager.healthy
    assert not eager.is_clean


def test_a_request_written_in_another_way_is_the_same_request() -> None:
    body = '{"b": [1, {"z": 1, "a": "ö"}], "a": null}'.encode()
    others = list(rewrite(HttpRequest(body=Body(body))))
    assert len({other.body.raw for other in others} | {body}) == 4
    assert all(loads(other.body.raw) == loads(body) for other in others)
    assert not list(rewrite(HttpRequest(body=Body(b"no JSON"))))


def test_the_command_prints_the_table_and_exits_by_it(run: Run) -> None:  # noqa: F811
    done = run("selftest", "gemini")
    assert "found at the right place: " in done.out
    assert "false alarms: " in done.out
    answer = json.loads(run("selftest", "gemini", "--format", "json").out)
    is_clean = answer["planted"] == answer["named"] and not answer["control"]["alarms"]
    assert done.status == (0 if is_clean else 1)
    assert sum(f["planted"] for f in answer["faults"]) == answer["planted"]
    assert run("selftest", "nobody").status == 2
