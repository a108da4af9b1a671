"""Shapes of messages: what a shape rules out is true of no message that has it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator

import pytest

from workbench import protocols
from workbench.chain.cache_breakpoints import _marked_pointers
from workbench.contracts import loading
from workbench.ir import JsonValue
from workbench.protocols.grammars import grammar_of
from workbench.protocols.history import RepeatedMessage
from workbench.protocols.message_shapes import SOME_TEXT, shape_of, shape_of_value
from workbench.rules import gateway, grammar, reasoning_place, soft_contract
from workbench.rules._shared import relation_values
from workbench.wire import WholeText

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
MESSAGES: dict[str, list[JsonValue]] = {
    "openai-chat": [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ],
    "anthropic-messages": [
        {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"n": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"n": 2.5}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"r": True}}}]},
    ],
    "openai-responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "call_1", "name": "find", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
    ],
}
KEYS = {"openai-chat": "messages", "anthropic-messages": "messages", "gemini": "contents", "openai-responses": "input"}
VALUES: tuple[JsonValue, ...] = (
    *(None, True, 0, 1.5, "", " ", "user", "developer", "tool_result", "x" * 40, [], {}),
    *([{"type": "document"}], {"type": "text", "text": "t"}, [{"type": "text", "text": ""}]),
)


def variants(protocol: str, count: int) -> Iterator[JsonValue]:
    """The messages of a protocol, and others that differ from them at one or two places."""
    rng = random.Random(protocol)
    yield from MESSAGES[protocol]
    for _ in range(count):
        message = copy.deepcopy(rng.choice(MESSAGES[protocol]))
        for _ in range(rng.randint(1, 2)):
            holder, key = rng.choice(list(_places(message)))
            if rng.random() < 0.2:
                holder.pop(key)
            else:
                holder[key] = copy.deepcopy(rng.choice(VALUES))
            if not list(_places(message)):
                break
        yield message


def _places(value: JsonValue) -> Iterator[tuple[dict, object] | tuple[list, int]]:
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, child in inner:
        yield value, key  # type: ignore[misc]
        yield from _places(child)


def placed(value: JsonValue) -> RepeatedMessage:
    role = value.get("role") if isinstance(value, dict) else None
    return RepeatedMessage(role if isinstance(role, str) else "", (), text=json.dumps(value).encode())


def questions(protocol: str) -> Iterator[relation_values.OnMessages]:
    for name in loading.names():
        if protocol in loading.protocols(name):
            contract = soft_contract(loading.get(name, protocol=protocol))
            yield from relation_values.by_list(contract).on_messages.values()


@pytest.mark.parametrize("protocol", MESSAGES)
def test_what_a_grammar_admits_as_a_shape_it_admits_as_a_message(protocol: str) -> None:
    known, clean = grammar_of(protocol), 0
    assert known
    for value in variants(protocol, 600):
        found = grammar._faults_of(placed(value), known, KEYS[protocol])
        assert found == grammar._check_message(known, KEYS[protocol], value), value
        clean += not found
    assert clean > 20


def test_relations_find_the_same_with_and_without_shapes() -> None:
    hits = 0
    asked = {protocol: list(questions(protocol)) for protocol in MESSAGES}
    for protocol, value in ((name, value) for name in MESSAGES for value in variants(name, 150)):
        message = placed(value)
        for group in asked[protocol]:
            numbers = relation_values._may_hit(message.kind, group)
            told = {n: found for n in numbers if (found := relation_values._hits(message, group.questions[n]))}
            alone = {n: q.values(value) if q.has_role(message.role) else () for n, q in enumerate(group.questions)}
            assert told == {n: found for n, found in alone.items() if found}, value
            hits += len(told)
    assert hits > 50


THINKING = {"type": "thinking", "thinking": "t", "signature": "s"}
ODD: tuple[JsonValue, ...] = (
    {"role": "user", "content": "a", "reasoning_content": "b", "cache_control": {"type": "ephemeral"}, "name": "c"},
    {"role": "assistant", "content": "a", "tool_plan": "b"},
    {"role": "user", "content": [THINKING, {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [THINKING]}]},
)
ASKED = (
    (gateway._strange_keys, ((("user", frozenset({"content"})), ("assistant", frozenset({"content", "tool_calls"}))),)),
    (_marked_pointers, ()),
    (reasoning_place._has_stray_fields, ("assistant",)),
)


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic-messages"])
def test_no_test_is_true_of_a_message_that_its_shape_rules_out(protocol: str) -> None:
    known, hits = protocols.KnownMessages(), dict.fromkeys(range(len(ASKED)), 0)
    for value in (*ODD, *variants(protocol, 200)):
        body = WholeText(json.dumps({"model": "m", "messages": [value]}).encode())
        for message in known.decode(protocols.get(protocol), body)[0].messages:
            for n, (test, terms) in enumerate(ASKED):
                may = test.may_be_of_shape  # type: ignore[attr-defined]
                hits[n] += bool(test(message, *terms))
                assert may(shape_of(message), *terms) or not test(message, *terms), (test, value)
    assert min(hits.values()) > 1


def test_every_field_of_reasoning_has_a_mark_by_which_shapes_are_asked() -> None:
    assert all(any(mark in name.lower() for mark in reasoning_place._MARKS) for name in reasoning_place._fields())


def test_messages_that_differ_in_texts_and_numbers_have_one_shape() -> None:
    one = {"role": "user", "content": [{"type": "text", "text": "a", "n": 1}]}
    other = {"role": "user", "content": [{"type": "text", "text": "b", "n": 2}, {"type": "text", "text": "c", "n": 3}]}
    assert shape_of_value(one) is shape_of_value(other)
    assert shape_of(placed(one)) is shape_of_value(other)


@pytest.mark.parametrize(
    "other",
    [
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": None},
        {"role": "user", "content": ["a"]},
        {"role": "user", "content": "a", "name": "b"},
        {"role": "user", "content": True},
    ],
)
def test_a_role_a_type_and_a_member_make_another_shape(other: JsonValue) -> None:
    assert shape_of_value(other) is not shape_of_value({"role": "user", "content": "a"})


def test_a_skeleton_has_no_texts_but_those_that_name_an_object() -> None:
    value = {"role": "user", "content": [{"type": "text", "text": "secret"}], "type": 5}
    assert shape_of_value(value).skeleton == {
        "role": "user",
        "content": [{"type": "text", "text": SOME_TEXT}],
        "type": -987_654_321,
    }


def test_what_is_nested_deeply_is_read_itself() -> None:
    deep: JsonValue = "x"
    for _ in range(400):
        deep = [deep]
    known = grammar_of("openai-chat")
    assert known
    for content in (deep, [{"type": "text", "text": deep}]):
        value: JsonValue = {"role": "user", "content": content}
        assert grammar._faults_of(placed(value), known, "messages") == grammar._check_message(known, "messages", value)
        assert grammar._faults_of(placed(value), known, "messages")
