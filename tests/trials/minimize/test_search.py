"""The smallest request that fails in the same way: how small it gets, that nothing of it can go, what it costs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.trials.minimize.requests import anthropic, bench_of, chat, finish, responses
from workbench.contracts import refusal_of
from workbench.ir import ApiError, ModelResponse
from workbench.trials.minimize import BodyJudge, MinimizeSearch, TargetVerdict, units
from workbench.wire import patch

ROUNDS = 22


def lose_a_result(body: Any) -> None:
    results = body["messages"][14]["content"]
    del results[0]


def lose_a_call(body: Any) -> None:
    del body["messages"][13]["content"][1]


def share_an_id(body: Any) -> None:
    body["messages"][13]["content"][2]["id"] = body["messages"][13]["content"][1]["id"]
    body["messages"][14]["content"][1]["tool_use_id"] = body["messages"][13]["content"][1]["id"]


def empty_a_text(body: Any) -> None:
    body["messages"][41]["content"][0]["text"] = ""


def name_a_tool_badly(body: Any) -> None:
    body["tools"][17]["name"] = "read the file!"


def lose_a_tool_message(body: Any) -> None:
    del body["messages"][23]


def lose_an_assistant(body: Any) -> None:
    del body["messages"][22]


def name_a_function_badly(body: Any) -> None:
    body["tools"][17]["function"]["name"] = "read the file!"


def cut_arguments(body: Any) -> None:
    body["messages"][22]["tool_calls"][0]["function"]["arguments"] = '{"path": "a'


def lose_an_output(body: Any) -> None:
    del body["input"][42]


def lose_an_item(body: Any) -> None:
    del body["input"][41]


MADE = {"anthropic-messages": anthropic, "openai-chat": chat, "openai-responses": responses}
FAULTS = [
    ("anthropic-messages", "anthropic", lose_a_result, "closure.missing-result"),
    ("anthropic-messages", "anthropic", lose_a_call, "closure.orphan-result"),
    ("anthropic-messages", "anthropic", share_an_id, "closure.duplicate-id"),
    ("anthropic-messages", "anthropic", empty_a_text, "content.empty"),
    ("anthropic-messages", "anthropic", name_a_tool_badly, "schema.name"),
    ("openai-chat", "openai", lose_a_tool_message, "closure.missing-result"),
    ("openai-chat", "openai", lose_an_assistant, "closure.orphan-result"),
    ("openai-chat", "openai", name_a_function_badly, "schema.name"),
    ("openai-chat", "mistral", lose_a_tool_message, ""),
    ("openai-chat", "openai", cut_arguments, "args.invalid-json"),
    ("openai-responses", "openai", lose_an_output, "closure.missing-result"),
    ("openai-responses", "openai", lose_an_item, "closure.orphan-result"),
]


def broken(protocol: str, label: str, spoil: Any, rounds: int = ROUNDS) -> BodyJudge:
    body = MADE[protocol](rounds)
    spoil(body)
    return bench_of(protocol, label, body)


@pytest.mark.parametrize(("protocol", "label", "spoil", "rule"), FAULTS)
def test_a_fault_in_a_long_request_is_left_alone(protocol: str, label: str, spoil: Any, rule: str) -> None:
    bench = broken(protocol, label, spoil)
    before = bench.failure(bench.text)
    assert before is not None and (not rule or before.rule == rule)
    result = finish(MinimizeSearch(bench).run())
    assert result.removed_share >= 0.95 and result.is_minimal and result.calls == 0
    assert bench.failure(result.text) == before
    assert json.loads(result.text)
    _nothing_can_go(bench, result.text)


def _nothing_can_go(bench: BodyJudge, text: bytes) -> None:
    """None of the elements, one by one."""
    judged = bench.judge(text)
    listers = (units.rounds, units.pairs, units.tools, units.properties, units.empty_texts, units.first_characters)
    deeper = (units.nodes(depth) for depth in range(1, units.depth_of(judged) + 1))
    for lister in (*listers, *deeper):
        for unit in lister(judged):
            if patch.Remove("/model") in unit:
                continue
            less = patch.apply(text, unit)
            assert bench.failure(less) != judged.failure, unit


def test_what_stays_is_byte_for_byte_as_it_was() -> None:
    body = anthropic(3)
    lose_a_result_of_the_second = body["messages"][6]["content"]
    del lose_a_result_of_the_second[0]
    text = json.dumps(body, indent=3).replace('"toolu_1_0"', '"\\u0074oolu_1_0"').encode()
    result = finish(MinimizeSearch(bench_of("anthropic-messages", "anthropic", text)).run())
    assert rb'"id": "\u0074oolu_1_0"' in result.text


def test_a_healthy_request_is_nothing_to_search_in() -> None:
    result = finish(MinimizeSearch(bench_of("anthropic-messages", "anthropic", anthropic(2))).run())
    assert result.failure is None and result.text == result.original
    assert "no error in the request" in result.note


def test_a_body_that_is_no_json_loses_stretches_of_bytes() -> None:
    text = json.dumps(chat(3)).encode()[:-40] + b"]]"
    result = finish(MinimizeSearch(bench_of("openai-chat", "openai", text)).run())
    assert result.failure is not None and result.failure.verdict == "unreadable"
    assert len(result.text) <= 2 and result.is_minimal


class Provider:
    """A target that refuses as its contract does, as a simulator would, and remembers what it was asked."""

    def __init__(self, bench: BodyJudge, least: int = 0) -> None:
        self.bench, self.least = bench, least
        self.asked: list[bytes] = []

    def __call__(self, body: bytes) -> TargetVerdict:
        self.asked.append(body)
        judged = self.bench.judge(body)
        finding = judged.finding
        if finding is None or finding.check is None or len(body) < self.least:
            return TargetVerdict(200, ModelResponse("anthropic-messages"))
        refused = refusal_of(finding, judged.trial.contract)
        assert refused
        error = refused.body["error"]
        return TargetVerdict(
            refused.status, ModelResponse("anthropic-messages", error=ApiError(error["message"], error["type"]))
        )


def test_a_target_that_agrees_is_asked_twice() -> None:
    bench = broken("anthropic-messages", "anthropic", lose_a_result)
    target = Provider(bench)
    result = finish(MinimizeSearch(bench, 10).run(), target)
    assert result.calls == 2 == len(target.asked)
    assert result.failure and result.failure.status == 400 and result.removed_share > 0.95


def test_a_target_that_wants_more_gets_more() -> None:
    """It accepts everything shorter than 1,000 bytes: the search goes back to what both refuse, and on from there."""
    bench = broken("anthropic-messages", "anthropic", lose_a_result, rounds=8)
    target = Provider(bench, least=1000)
    result = finish(MinimizeSearch(bench, 150).run(), target)
    assert 1000 <= len(result.text) < 1100 and result.calls <= 150
    assert len(set(target.asked)) == len(target.asked), "no body is asked about twice"


def test_a_failure_that_no_rule_knows_is_searched_by_asking() -> None:
    """The contract accepts it; the target refuses every request that holds a word."""
    body = anthropic(4)
    body["messages"][5]["content"][0]["text"] = "say xyzzy please"
    bench = bench_of("anthropic-messages", "anthropic", body)

    def ask(body: bytes) -> TargetVerdict:
        if b"xyzzy" in body:
            return TargetVerdict(400, ModelResponse("anthropic-messages", error=ApiError("message 5: bad word", "bad")))
        return TargetVerdict(200, ModelResponse("anthropic-messages"))

    result = finish(MinimizeSearch(bench, 150, is_exact=False).run(), ask)
    assert b"xyzzy" in result.text and len(result.text) < 100
    assert result.failure and result.failure.words == "message …: bad word"
    assert "does not predict" in result.note


def test_the_budget_is_kept_and_said() -> None:
    body = anthropic(4)
    bench = bench_of("anthropic-messages", "anthropic", body)
    asked: list[bytes] = []

    def ask(body: bytes) -> TargetVerdict:
        asked.append(body)
        return TargetVerdict(500 if b"brown" in body else 200, None)

    result = finish(MinimizeSearch(bench, 5, is_exact=False).run(), ask)
    assert len(asked) == result.calls == 5
    assert not result.is_minimal and "budget used up after 5 requests" in result.note


def test_a_search_that_is_stopped_keeps_its_best() -> None:
    bench = broken("anthropic-messages", "anthropic", lose_a_result)
    search = MinimizeSearch(bench)
    steps = search.run()
    while len(search.text) == len(bench.text):
        next(steps)
    result = search.result()
    assert len(result.text) < len(result.original) and not result.is_minimal
    assert bench.failure(result.text) == bench.failure(bench.text)
