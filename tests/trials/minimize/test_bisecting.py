"""The first turn from which a chain can no longer be continued."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trials.minimize.requests import anthropic, begun, bench_of, chat, finish, inspector_of
from workbench.ir import ApiError, ModelResponse
from workbench.trials.minimize import Bisection, BodyJudge, TargetVerdict

ROUNDS = 12


@pytest.mark.parametrize("at", [0, 3, 11])
def test_the_border_is_where_the_result_was_lost(at: int) -> None:
    body = anthropic(ROUNDS)
    del body["messages"][4 * at + 2]["content"][0]
    found = finish(Bisection(bench_of("anthropic-messages", "anthropic", body)).run())
    assert found.messages == 4 * ROUNDS + 1
    assert (found.good, found.broken) == (4 * at + 1, 4 * at + 3)
    assert found.finding and found.finding.rule == "closure.missing-result"
    assert found.finding.pointer.startswith(f"/messages/{4 * at + 1}/")
    assert found.is_verified and found.calls == 0 and "tool_result" in found.words


def test_a_chain_that_is_whole_has_no_border() -> None:
    found = finish(Bisection(bench_of("openai-chat", "openai", chat(3))).run())
    assert found.broken is None and found.good == found.messages


def test_a_fault_outside_of_the_history_breaks_every_beginning() -> None:
    body = chat(3)
    body["tools"][1]["function"]["name"] = "a b"
    found = finish(Bisection(bench_of("openai-chat", "openai", body)).run())
    assert found.good == 0 and found.finding and found.finding.pointer.startswith("/tools/1")


def test_the_exchange_that_first_sent_the_break_is_named() -> None:
    bodies: list[Any] = [begun(anthropic(6), 4 * n + 1) for n in range(1, 6)]
    for body in bodies[2:]:
        del body["messages"][10]["content"][0]
    inspector = inspector_of("anthropic-messages", "anthropic", *bodies)
    inspector.run()
    found = finish(Bisection(BodyJudge(inspector, 4)).run())
    assert found.exchange == 2 and found.good == 9


def test_a_target_is_asked_a_few_times_and_no_oftener_than_it_may() -> None:
    """It refuses a word that no rule knows: halving 24 places takes five calls and the whole."""
    body = anthropic(ROUNDS)
    body["messages"][20]["content"] = "say xyzzy please"
    asked: list[bytes] = []

    def ask(text: bytes) -> TargetVerdict:
        asked.append(text)
        if b"xyzzy" in text:
            return TargetVerdict(400, ModelResponse("anthropic-messages", error=ApiError("bad word")))
        return TargetVerdict(200)

    bench = bench_of("anthropic-messages", "anthropic", body)
    found = finish(Bisection(bench, 30).run(), ask)
    assert (found.good, found.broken, found.words, found.finding) == (19, 21, "bad word", None)
    assert found.is_verified and found.calls == len(asked) <= 7
    few = finish(Bisection(bench, 3).run(), ask)
    assert few.calls == 3 and not few.is_verified
