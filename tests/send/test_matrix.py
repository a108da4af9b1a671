"""One history under every contract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import contracts, rules, testing
from workbench.config import resources
from workbench.contracts import Finding, Verdict
from workbench.errors import LocalProtocolError, UsageError
from workbench.formats.importers import open_input
from workbench.protocols import DecodedExchange
from workbench.rules import SharedResults
from workbench.rules.inspection import Inspector
from workbench.send import matrix
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

SESSIONS = resources.folder("sessions")


def inspector(name: str) -> Inspector:
    return Inspector(open_input(str(SESSIONS / f"{name}.jsonl")))


def rows(name: str, *wanted: str) -> dict[str, matrix.MatrixRow]:
    looked = inspector(name)
    return {row.contract: row for row in matrix.rows(looked, matrix.longest(looked), wanted)}


def test_every_variant_of_every_contract_is_asked() -> None:
    every = [label for name in contracts.names() for label in contracts.variants(name)]
    assert list(rows("deepseek-reasoning-lost")) == every == matrix.labels()
    assert matrix.labels(["deepseek", "openai"]) == [*contracts.variants("deepseek"), *contracts.variants("openai")]
    assert matrix.labels(["deepseek:v3.2"]) == ["deepseek:v3.2"]


def test_eras_refuse_in_their_own_words() -> None:
    found = rows("deepseek-reasoning-lost", "deepseek:v4", "deepseek:v3.2", "generic")
    assert [row.verdict for row in found.values()] == [Verdict.REFUSES, Verdict.REFUSES, Verdict.ACCEPTS]
    new, old = found["deepseek:v4"], found["deepseek:v3.2"]
    assert new.finding and old.finding and new.refusal and old.refusal
    assert (new.finding.rule, new.finding.pointer) == ("reasoning.missing", "/messages/1")
    assert new.refusal.status == 400
    assert "passed back" in str(new.refusal.body)
    assert "at message index 1" in str(old.refusal.body)


def test_a_contract_of_another_protocol_gets_the_history_converted() -> None:
    row = rows("anthropic-parallel-result-lost", "openai")["openai"]
    assert (row.is_converted, row.protocol, row.verdict) == (True, "openai-chat", Verdict.REFUSES)
    assert row.finding and row.finding.span
    assert b"toolu_01Tests" in row.body[slice(*row.finding.span)]


def test_what_conversion_costs_is_told() -> None:
    row = rows("anthropic-thinking-trimmed", "gemini")["gemini"]
    assert row.is_converted
    assert row.losses


def test_the_longest_history_is_asked_about() -> None:
    assert matrix.longest(inspector("deepseek-reasoning-lost")) == 1
    with pytest.raises(LocalProtocolError, match="not a request to a model"):
        matrix.longest(Inspector(MemorySession("empty", ())))


def test_what_is_no_request_of_a_model_has_no_verdict() -> None:
    looked = Inspector(MemorySession("other", (Exchange("e", HttpRequest(url="https://x/", body=Body(b"{}"))),)))
    with pytest.raises(LocalProtocolError, match="exchange 1"):
        list(matrix.rows(looked, 0))
    with pytest.raises(UsageError, match="no contract named 'nobody'"):
        matrix.labels(["nobody"])


def test_asking_changes_nothing(tmp_path: Path) -> None:
    looked = inspector("anthropic-parallel-result-lost")
    before = looked.run()
    list(matrix.rows(looked, 2))
    assert looked.run() == before


def every_field(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Those too that findings are not compared by."""
    return [{field.name: getattr(found, field.name) for field in fields(found)} for found in findings]


def check_shared(looked: Inspector, decoded: DecodedExchange) -> None:
    """What contracts share of one request is what each finds by itself."""
    shared = SharedResults()
    for label in reversed(matrix.labels()):
        alone, beside = looked.judge(decoded, label), looked.judge(decoded, label, shared=shared)
        assert every_field(beside.findings) == every_field(alone.findings), label
        assert (beside.case.closure, beside.case.ledger) == (alone.case.closure, alone.case.ledger), label


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["anthropic-thinking-trimmed", "deepseek-reasoning-lost", "openai-arguments-twice"])
def test_contracts_share_no_finding_that_one_of_them_would_not_have(name: str) -> None:
    looked = inspector(name)
    check_shared(looked, looked.detail(matrix.longest(looked)).decoded)


@settings(max_examples=4)
@given(st.sampled_from(["anthropic-messages", "gemini", "openai-chat"]).flatmap(testing.request_bodies))
def test_contracts_share_no_finding_on_any_request(body: bytes) -> None:
    looked = Inspector(MemorySession("any", (Exchange("e", HttpRequest(body=Body(body))),)))
    check_shared(looked, looked.detail(0).decoded)


def test_a_rule_runs_once_for_contracts_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, run = Counter[str](), rules._run_each
    monkeypatch.setattr(rules, "_run_each", lambda names, case: (runs.update(names), run(names, case))[1])
    looked, shared = inspector("deepseek-reasoning-lost"), SharedResults()
    decoded = looked.detail(1).decoded
    runs.clear()
    labels = matrix.labels()
    for label in labels:
        looked.judge(decoded, label, shared=shared)
    assert runs["encoding"] == 1  # it reads nothing of a contract
    assert 1 < runs["reasoning"] < len(labels) / 2
