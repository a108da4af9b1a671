"""Soft defaults: what most providers refuse is a warning under a contract that says nothing of it."""

from __future__ import annotations

import json

import pytest

from workbench import contracts
from workbench.contracts import common_practice as practice
from workbench.contracts.contract import Fact
from workbench.rules.common_defaults import soft_contract
from workbench.rules.inspection import Inspector
from workbench.wire import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

GO = [{"role": "user", "content": "go"}]
DEVELOPER = [{"role": "developer", "content": "be brief"}, *GO]
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}


def tool(name):
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


CASES = {
    "an older term": ({"tools": [tool("a b")]}, "schema.name", "/tools/0/function/name"),
    "a term that is a flag": ({"tool_choice": "auto"}, "choice.without-tools", "/tool_choice"),
    "relations of several providers": ({"messages": DEVELOPER}, "content.shape", "/messages/0/role"),
    "a value of a whole list": ({"tools": []}, "params.unsupported", "/tools"),
}


@pytest.fixture
def found(inspect):
    """Findings on a Chat request with these members, as (rule, severity, pointer)."""

    def run(asked, provider="generic", response=None, **more):
        body = {"model": "m", "messages": GO, **asked}
        every = inspect(body, response, protocol="openai-chat", provider=provider, **more)
        return [f for f in every if f.severity != "info"]

    return run


@pytest.mark.parametrize(("asked", "rule", "pointer"), CASES.values(), ids=CASES)
def test_what_most_refuse_is_a_warning_where_nothing_is_said(found, asked, rule, pointer):
    (finding,) = found(asked)
    assert (finding.rule, finding.severity, finding.pointer) == (rule, "warning", pointer)
    assert " providers refuse this (" in finding.message
    assert finding.basis == "common"
    assert not finding.refusal
    assert finding.check is None


@pytest.mark.parametrize("provider", ["openai", "deepseek", "mistral", "kimi"])
def test_who_refuses_it_makes_it_an_error(found, provider):
    (finding,) = found({"tools": [tool("a b")]}, provider)
    assert (finding.rule, finding.severity) == ("schema.name", "error")
    assert "providers refuse" not in finding.message


def test_who_accepts_it_is_silent(found):
    assert found({"messages": DEVELOPER, "model": "gpt-5"}, "openai") == []


def test_what_fewer_than_two_thirds_refuse_is_silent(found):
    assert found({"tools": [tool("a" * 70)]}) == []  # 3 of 5


def test_an_accepted_request_is_no_suspicion(found):
    assert found({"tools": [tool("a b")]}, response=ANSWER) == []


def test_another_value_at_the_place_is_voted_on_anew(found):
    assert found({"tool_choice": "none"}) == []
    assert [f.rule for f in found({"tool_choice": "auto"})] == ["choice.without-tools"]


def test_the_same_value_is_voted_on_once(found, monkeypatch):
    from workbench.rules import common_defaults

    asked = []
    vote = common_defaults._vote
    monkeypatch.setattr(common_defaults, "_vote", lambda *words: asked.append(words) or vote(*words))
    assert len(found({"tools": [tool("a b"), tool("c"), tool("a b ")]})) == 2
    assert len({finding.pointer for _, finding in asked}) == len(asked)


def test_what_too_few_may_refuse_is_asked_of_no_other_contract(monkeypatch):
    from workbench.rules import common_defaults

    asked = []
    voter = common_defaults._voter
    monkeypatch.setattr(common_defaults, "_voter", lambda *words: asked.append(words) or voter(*words))
    monkeypatch.setattr(common_defaults, "_votes", lambda contract: {})  # or an earlier vote counts
    body = json.dumps({"model": "gpt-5", "messages": GO, "tools": [tool("a")]})
    request = HttpRequest("POST", "", body=Body(body.encode()))
    Inspector(MemorySession("one", (Exchange("1", request),)), provider="openai").run()
    assert asked == []


def test_the_names_are_those_of_the_contracts_that_refuse(found):
    (finding,) = found({"tools": [tool("a.b")]})
    assert finding.message.endswith("4 of 5 providers refuse this (deepseek, kimi, mistral, openai)")


@pytest.mark.parametrize(("refusing", "saying", "is_most"), [(3, 3, True), (3, 4, True), (3, 5, False), (2, 2, False)])
def test_two_thirds_and_three_at_least(refusing, saying, is_most):
    assert practice.is_most(refusing, saying) is is_most


def test_every_borrowed_term_says_where_it_is_from():
    for file in contracts.files():
        for protocol in file.protocols:
            own = contracts.get(file.name, protocol=protocol)
            borrowed = soft_contract(own)
            for key, fact in borrowed.terms.items():
                assert own.terms.get(key) == fact or fact.source == practice.COMMON_SOURCE + key
            assert all(r in own.relations or r.source.startswith(practice.COMMON_SOURCE) for r in borrowed.relations)
            assert not [r for r in borrowed.relations if r not in own.relations and r.is_enforced]


def test_a_contract_that_states_a_term_keeps_its_own():
    own = contracts.get("generic", protocol="openai-chat")
    fact = Fact(True, practice.COMMON_SOURCE + "choice.needs-tools", "")
    known = practice.CommonPractice({"choice.needs-tools": fact})
    assert practice.soften(own, known).term("choice.needs-tools") is True
    assert practice.soften(practice.soften(own, known), practice.CommonPractice()).term("choice.needs-tools") is True
    accepting = practice.soften(own, practice.CommonPractice({"choice.needs-tools": Fact(False, "own", "")}))
    assert practice.soften(accepting, known).term("choice.needs-tools") is False
