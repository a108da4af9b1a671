"""How often tool use went right and wrong."""

from __future__ import annotations

from workbench.rules.inspection import Inspector
from workbench.rules.metrics.prices import Prices
from workbench.rules.metrics.session_costs import costs_of
from workbench.rules.metrics.tool_use_counts import CountKey, Counts, count_exchanges, group_counts
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

URL = "https://api.openai.com/v1/chat/completions"
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {"type": "function", "function": {"name": "read", "parameters": PARAMETERS}}
DAY = 1_780_000_000.0  # 2026-05-28, UTC


def call(arguments: str, id: str = "call_1") -> dict:
    return {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}


def exchange(n: int, messages: list, answer: dict, **more: object) -> Exchange:
    asked = {"model": "gpt-4.1", "tools": [TOOL], "messages": messages, **more}
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **answer}, "finish_reason": "stop"}
    said = {"id": f"chatcmpl-{n}", "object": "chat.completion", "model": "gpt-4.1", "choices": [choice]}
    request = HttpRequest(url=URL, headers=Headers((("user-agent", "OpenAI/Python 3.0"),)), body=Body(dumps(asked)))
    return Exchange(f"x{n}", request, HttpResponse(200, body=Body(dumps(said))), started_at=DAY + n)


ASKED = [{"role": "user", "content": "Read it."}]


def answered(arguments: str, result: str, id: str = "call_1") -> list:
    return [
        {"role": "assistant", "content": None, "tool_calls": [call(arguments, id)]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


def count(*exchanges: Exchange) -> list[tuple[CountKey, Counts]]:
    inspector = Inspector(MemorySession("s", exchanges))
    return list(count_exchanges(inspector, costs_of(inspector, Prices("", ()))))


def total(*exchanges: Exchange) -> Counts:
    return sum((counts for _, counts in count(*exchanges)), Counts())


def test_calls_that_parse_and_calls_that_fit() -> None:
    calls = [call('{"path": "a"}'), call('{"path": ', "call_2"), call('{"file": "a"}', "call_3")]
    found = total(exchange(0, ASKED, {"tool_calls": calls}))
    assert (found.calls, found.parsed, found.fitting) == (3, 2, 1)


def test_a_broken_call_that_was_turned_back_and_made_again() -> None:
    found = total(
        exchange(0, ASKED, {"tool_calls": [call('{"path": ')]}),
        exchange(1, [*ASKED, *answered('{"path": ', "Error: not JSON")], {"tool_calls": [call('{"path": "a"}')]}),
    )
    assert (found.broken, found.repaired, found.blocked, found.executed) == (1, 1, 1, 0)


def test_a_broken_call_that_was_run_all_the_same() -> None:
    found = total(
        exchange(0, ASKED, {"tool_calls": [call('{"file": "a"}')]}),
        exchange(1, [*ASKED, *answered('{"file": "a"}', "the text")], {"content": "done"}),
    )
    assert (found.broken, found.repaired, found.blocked, found.executed) == (1, 0, 0, 1)


def test_a_lost_result_is_an_error_of_closure() -> None:
    lost = [*ASKED, answered('{"path": "a"}', "x")[0], {"role": "user", "content": "go on"}]
    found = total(exchange(0, lost, {"content": "?"}))
    assert (found.histories, found.unclosed) == (1, 1)


def test_requests_that_switch_parallel_calls_off() -> None:
    found = total(exchange(0, ASKED, {"content": "x"}, parallel_tool_calls=False), exchange(1, ASKED, {"content": "y"}))
    assert (found.with_tools, found.serial) == (2, 1)


def test_counts_are_grouped_by_who_answered_who_asked_and_when() -> None:
    (key, _), *_ = count(exchange(0, ASKED, {"content": "x"}))
    assert (key.provider, key.model, key.day) == ("openai", "gpt-4.1", "2026-05-28")
    assert key.client
    found = [
        (CountKey("b"), Counts(exchanges=1)),
        (CountKey("a"), Counts(exchanges=2)),
        (CountKey("b"), Counts(exchanges=4)),
    ]
    assert {name: c.exchanges for name, c in group_counts(found, "provider").items()} == {"a": 2, "b": 5}
