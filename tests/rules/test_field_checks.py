"""Checks of the fields beside the messages run where a field, the URL, a beta or the contract is new."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from workbench.chain import Conversation
from workbench.contracts import Contract, Finding, Severity, loading
from workbench.protocols import DecodedExchange, KnownMessages
from workbench.rules._shared.body_values import fact_of_fields, reads_fields
from workbench.rules._shared.context import Rule, RuleContext
from workbench.wire import Body, Exchange, Headers, HttpRequest

URL = "https://api.anthropic.com/v1/messages"
HEATED = Rule("test.heated", Severity.WARNING, "The temperature is not zero.")
RUNS: list[int] = []


@reads_fields
def check_heat(case: RuleContext) -> Iterator[Finding]:
    RUNS.append(case.decoded.index)
    if case.request and case.request.params.get("temperature"):
        yield case.finding(HEATED, "request", "/temperature", "it is hot")


def heat(decoded: DecodedExchange) -> object:
    RUNS.append(decoded.index)
    return decoded.request and decoded.request.params.get("temperature")


class Story:
    """Requests of one conversation, each with one message more."""

    def __init__(self) -> None:
        self.known, self.said, self.count = KnownMessages(), [{"role": "user", "content": "first"}], 0

    def case(self, *, contract: Contract, url: str = URL, beta: str = "", **fields: Any) -> RuleContext:
        self.said.append({"role": "assistant" if self.count % 2 else "user", "content": f"text {self.count}"})
        body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": self.said, **fields}
        headers = Headers((("content-length", str(self.count)), *((("anthropic-beta", beta),) if beta else ())))
        sent = HttpRequest("POST", url, headers, Body(json.dumps(body).encode()))
        decoded = DecodedExchange(self.count, Exchange("e", sent), known=self.known)
        self.count += 1
        return RuleContext(decoded, contract, Conversation(-1))


def resolve(name: str) -> Contract:
    return loading.read(name).resolve(None, "", None)


@pytest.fixture
def contract() -> Contract:
    RUNS.clear()
    return resolve("anthropic")


def test_what_found_nothing_runs_again_where_it_reads_something_new(contract: Contract) -> None:
    story = Story()
    for fields in ({}, {}, {"temperature": 0}, {"temperature": 0}, {"temperature": 0, "top_k": 1}):
        assert [*check_heat(story.case(contract=contract, **fields))] == []
    assert RUNS == [0, 2, 4]
    for around in ({"url": URL + "?beta=true"}, {"beta": "one"}, {"beta": "one"}, {"contract": resolve("openai")}):
        assert [*check_heat(story.case(temperature=0, top_k=1, **{"contract": contract, **around}))] == []
    assert RUNS == [0, 2, 4, 5, 6, 8]


def test_what_found_something_finds_it_in_each_request_at_its_place(contract: Contract) -> None:
    story = Story()
    found = [[*check_heat(story.case(contract=contract, temperature=n))] for n in (1, 1, 0, 1)]
    assert [[f.exchange for f in each] for each in found] == [[0], [1], [], [3]]
    first, second = found[0][0].span, found[1][0].span
    assert first and second and first < second


def test_a_fact_of_fields_is_computed_once_for_the_same_fields(contract: Contract) -> None:
    story = Story()
    cases = [story.case(contract=contract, temperature=n) for n in (1, 1, 0, 0)]
    assert [fact_of_fields(case.decoded, heat) for case in cases] == [1, 1, 0, 0]
    assert RUNS == [0, 2]


def test_without_known_messages_every_request_is_read(contract: Contract) -> None:
    story = Story()
    story.known = None  # type: ignore[assignment]
    for _ in range(2):
        assert [*check_heat(story.case(contract=contract))] == []
    assert RUNS == [0, 1]


def test_a_case_that_notes_what_is_read_runs_every_check(contract: Contract) -> None:
    story = Story()
    for _ in range(3):
        assert [*check_heat(story.case(contract=contract).note_reads())] == []
    assert RUNS == [0, 1, 2]
