"""The smallest edit that turns refused into accepted: the inverse of what was done to the request comes first."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.trials.minimize.requests import anthropic, begun, bench_of, chat, finish, responses
from workbench.trials.minimize import FixSearch, TargetVerdict
from workbench.trials.minimize.fixes import aligned_changes
from workbench.wire import patch

ROUNDS = 12


def _put(path: str, value: Any) -> Callable[[Any], None]:
    def spoil(body: Any) -> None:
        *above, last = (int(step) if step.isdecimal() else step for step in path.split("/"))
        for step in above:
            body = body[step]
        body[last] = value

    return spoil


def _delete(path: str) -> Callable[[Any], None]:
    def spoil(body: Any) -> None:
        *above, last = (int(step) if step.isdecimal() else step for step in path.split("/"))
        for step in above:
            body = body[step]
        del body[last]

    return spoil


def _swap(body: Any) -> None:
    messages = body["messages"]
    messages[8], messages[7] = messages[7], messages[8]


def _marked(body: Any) -> None:
    for tool in body["tools"][:5]:
        tool["cache_control"] = {"type": "ephemeral"}


MADE = {"anthropic-messages": anthropic, "openai-chat": chat, "openai-responses": responses}
BEGUN = {"anthropic-messages": 37, "openai-chat": 42, "openai-responses": 37}
"""Messages of an earlier request, which ends with what the user asks."""

PLANTED = [
    ("anthropic-messages", "anthropic", _delete("messages/14/content/0")),
    ("anthropic-messages", "anthropic", _delete("messages/13/content/1")),
    ("anthropic-messages", "anthropic", _delete("messages/14")),
    ("anthropic-messages", "anthropic", _put("messages/14/content/1/tool_use_id", "toolu_x")),
    ("anthropic-messages", "anthropic", _put("messages/13/content/0/text", "")),
    ("anthropic-messages", "anthropic", _put("messages/13/content", [])),
    ("anthropic-messages", "anthropic", _put("tools/17/name", "read the file!")),
    ("anthropic-messages", "anthropic", _put("tools/17/input_schema/type", "string")),
    ("anthropic-messages", "anthropic", _put("messages/13/content", [{"type": "text", "text": "ok"}])),
    ("anthropic-messages", "anthropic", _put("tool_choice", {"type": "tool", "name": "nope"})),
    ("anthropic-messages", "anthropic", _marked),
    ("openai-chat", "openai", _delete("messages/8")),
    ("openai-chat", "openai", _swap),
    ("openai-chat", "openai", _put("messages/6/content", None)),
    ("openai-chat", "openai", _put("messages/8/tool_call_id", "call_x")),
    ("openai-chat", "openai", _put("tools/3/function/name", "a b")),
    ("openai-responses", "openai", _delete("input/10")),
    ("openai-responses", "openai", _put("input/9/call_id", "call_x")),
]


@pytest.mark.parametrize(("protocol", "label", "spoil"), PLANTED)
def test_the_inverse_is_the_first_edit(protocol: str, label: str, spoil: Any) -> None:
    good, body = MADE[protocol](ROUNDS), MADE[protocol](ROUNDS)
    if protocol == "anthropic-messages":
        good["tool_choice"], body["tool_choice"] = {"type": "auto"}, {"type": "auto"}
    spoil(body)
    bench = bench_of(protocol, label, begun(good, BEGUN[protocol]), body)
    assert bench.failure(bench.text) is not None
    first, *_ = finish(FixSearch(bench).run())
    assert json.loads(first.text) == good
    assert first.earlier == 0 and first.repair.verified
    assert "request 1" in first.repair.title


def test_a_part_of_what_an_element_had_is_offered_behind_all_of_it() -> None:
    good, body = anthropic(ROUNDS), anthropic(ROUNDS)
    body["messages"][13]["content"] = [{"type": "text", "text": "ok"}]
    whole, part, *_ = finish(FixSearch(bench_of("anthropic-messages", "anthropic", begun(good, 37), body)).run())
    assert not whole.is_part and part.is_part and part.repair.verified
    assert json.loads(whole.text) == good
    assert json.loads(part.text)["messages"][13]["content"][0]["text"] == "ok"


def test_what_was_changed_beside_it_stays() -> None:
    """Another temperature, another description, and a member that nobody knows."""
    earlier, body = chat(ROUNDS), chat(ROUNDS)
    earlier["temperature"], body["temperature"] = 1, 0.5
    body["tools"][5]["function"]["description"] = "in other words"
    body["tools"][3]["function"]["name"] = "a b"
    first, *_ = finish(FixSearch(bench_of("openai-chat", "openai", begun(earlier, 42), body)).run())
    mended = json.loads(first.text)
    assert mended["temperature"] == 0.5 and mended["tools"][5]["function"]["description"] == "in other words"
    assert mended["tools"][3] == earlier["tools"][3]


def test_without_a_history_there_are_the_repairs() -> None:
    body = anthropic(3)
    del body["messages"][6]["content"][0]
    found = finish(FixSearch(bench_of("anthropic-messages", "anthropic", body)).run())
    assert found and all(each.earlier is None and each.repair.verified for each in found)
    assert [each.cost for each in found] == sorted(each.cost for each in found)


def test_the_target_is_asked_about_each_and_what_it_refuses_comes_last() -> None:
    body = anthropic(3)
    earlier = begun(body, 9)
    body = anthropic(3)
    del body["messages"][2]["content"][0]
    bench = bench_of("anthropic-messages", "anthropic", earlier, body)
    asked: list[bytes] = []

    def ask(text: bytes) -> TargetVerdict:
        asked.append(text)
        return TargetVerdict(400 if len(asked) == 1 else 200)

    found = finish(FixSearch(bench, bench.failure(bench.text), 2).run(), ask)
    assert len(asked) == 2
    assert found[-1].text == asked[0] and found[-1].accepted is False
    assert found[0].text == asked[1] and found[0].accepted is True


def test_a_history_that_was_rewritten_is_not_put_back_first() -> None:
    """A summary took the place of what was said; a result of what is gone was left in it."""
    earlier, body = anthropic(1), anthropic(1)
    orphan = body["messages"][2]["content"][0]
    body["messages"] = [
        {"role": "user", "content": [{"type": "text", "text": "so far: nothing"}, orphan]},
        *body["messages"][3:],
    ]
    found = finish(FixSearch(bench_of("anthropic-messages", "anthropic", earlier, body)).run())
    assert found and found[0].earlier is None and found[0].repair.title == "remove tool result 'toolu_0_0'"


NOW = {"a": [1, 2, 3], "messages": [{"n": 1}, {"n": 2}], "gone": 0}
CHANGES = [
    ({"a": [1, 3], "messages": [{"n": 1}, {"n": 2}], "gone": 0}, [patch.Remove("/a/1")]),
    ({"a": [1, 2, 3], "messages": [{"n": 1}], "gone": 0}, []),
    ({"a": [1, 2, 3], "messages": [{"n": 7}], "gone": 0}, [patch.Replace("/messages/0/n", 7)]),
    ({"a": [1, 2, 3], "messages": [{"n": 1}, {"n": 2}]}, [patch.Remove("/gone")]),
    ({"a": [1, 2, 3], "messages": [{"n": 1}, {"n": 2}], "gone": 0, "b": 1}, [patch.Insert("/b", 1)]),
    ({"a": [0, 1, 2, 3], "messages": [{"n": 1}, {"n": 2}], "gone": 0}, [patch.Insert("/a/0", 0)]),
]


@pytest.mark.parametrize(("then", "changes"), CHANGES)
def test_lists_are_aligned_and_what_was_added_at_the_end_of_a_history_stays(then: Any, changes: list[Any]) -> None:
    assert list(aligned_changes("", NOW, then, histories=("messages",))) == changes
