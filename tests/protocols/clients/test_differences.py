"""Which clients build something else, from which event on, in words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols.clients.test_javascript_sdks import END, JSON, LIST, READ, begin, call, grow, stop
from tests.protocols.clients.test_python_sdks import (
    BLOCK_EVENTS,
    CHAT_DELTAS,
    START,
    block_stream,
    chat_stream,
    healthy_blocks,
)
from tests.protocols.test_contract import STREAM, fixtures, leaves_of, with_at
from tests.tui.samples import MESSAGES, exchange
from workbench import protocols
from workbench.protocols.clients import differences
from workbench.protocols.clients.differences import ClientGroup, where_they_differ
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import State

ROLE = {"role": "assistant", "content": None}


def chat(*deltas: dict[str, Any]) -> tuple[ClientGroup, ...]:
    return where_they_differ(DecodedExchange(0, exchange({"model": "m", "messages": []}, chat_stream(deltas))))


def blocks(*events: dict[str, Any]) -> tuple[ClientGroup, ...]:
    body = block_stream([START, *events, *END])
    return where_they_differ(DecodedExchange(0, exchange({"model": "m", "messages": []}, body, url=MESSAGES)))


def of(groups: tuple[ClientGroup, ...], name: str) -> ClientGroup:
    return next(group for group in groups if name in group.policies)


def test_a_healthy_answer_is_built_alike_by_all() -> None:
    (group,) = chat(ROLE, {"content": "hi"}, call(0, "call_1", "f", '{"a"'), call(0, arguments=": 1}", kind=""))
    assert group.agrees
    assert len(group.policies) == len(differences.policies("openai-chat")) == 9


@settings(max_examples=40)
@given(healthy_blocks())
def test_healthy_blocks_are_built_alike_by_all(events: list[dict[str, Any]]) -> None:
    assert all(group.agrees for group in blocks(*events))


def test_calls_that_share_an_index_are_joined() -> None:
    groups = chat(ROLE, call(0, "call_1", "f", '{"a":1}'), call(0, "call_2", "g", '{"b":2}'))
    node = of(groups, "openai-node")
    assert node.event == 2
    assert '`{"a":1}{"b":2}`' in node.words
    assert "the arguments of several calls were joined" in node.words
    assert 'call 2 `g` with arguments `{"b":2}` is missing' in node.words
    assert of(groups, "langchain").agrees


def test_later_pieces_of_the_second_call_go_to_the_first_in_langchain() -> None:
    groups = chat(
        ROLE, call(0, "call_1", "f", '{"a":1}'), call(0, "call_2", "g", ""), call(0, arguments='{"b":2}', kind="")
    )
    group = of(groups, "langchain")
    assert group.event == 3
    assert 'call 1 `f`: arguments `{"a":1}{"b":2}`' in group.words


def test_an_id_that_is_missing_is_made_up_by_some() -> None:
    groups = chat(ROLE, call(0, None, "f", "{}"))
    assert of(groups, "vercel-openai-compatible").words == "invents an id for call 1, which was received with none"
    assert "is missing" in of(groups, "litellm").words
    assert of(groups, "openai-python").agrees


def test_reasoning_that_is_dropped_is_named() -> None:
    groups = chat(ROLE, {"reasoning_content": "so"}, {"reasoning_content": " it is"}, {"content": "x"})
    assert of(groups, "langchain").words == "reasoning_content (8 characters) is missing"
    node = of(groups, "openai-node")
    assert (node.event, node.words) == (2, "has only the last 6 of 8 characters of reasoning_content")


@pytest.mark.parametrize("pieces", [("<think>hm", "</think>hello"), ("<think>", "hm", "</think>", "hello")])
def test_reasoning_inside_the_text_is_text_for_all(pieces: tuple[str, ...]) -> None:
    """Also where its tags come by themselves, as a tokenizer has them."""
    (group,) = chat(ROLE, *({"content": piece} for piece in pieces))
    assert group.agrees


def test_a_reused_index_of_a_block() -> None:
    groups = blocks(
        begin(0, READ), grow(0, JSON, '{"a": 1}'), stop(0), begin(0, LIST), grow(0, JSON, '{"b": 2}'), stop(0)
    )
    assert of(groups, "vercel-anthropic").agrees
    python = of(groups, "anthropic-python")
    assert python.event == 5
    assert 'call 2 `list_dir`: arguments `{}`, sent as `{"b":2}`' in python.words
    assert of(groups, "anthropic-typescript").words.startswith("raises AnthropicError at event 5")


def test_arguments_that_are_cut_are_closed_without_a_word() -> None:
    groups = blocks(begin(0, READ), grow(0, JSON, '{"a": 1, "b": "x'), stop(0))
    assert 'arguments `{"a":1}`' in of(groups, "anthropic-python").words
    assert "were completed" in of(groups, "anthropic-python").words
    assert of(groups, "vercel-anthropic").agrees


@pytest.mark.parametrize("body", [{"choices": []}, b"data: {}\n\n"])
def test_nothing_is_compared_without_a_stream_of_a_known_protocol(body: object) -> None:
    assert where_they_differ(DecodedExchange(0, exchange(b"", body, url="https://example.com/"))) == ()


def test_nothing_is_compared_while_the_stream_still_arrives() -> None:
    whole = exchange({"model": "m", "messages": []}, chat_stream([ROLE, call(0, None, "f", "{}")], done=False))
    assert where_they_differ(DecodedExchange(0, whole))
    assert where_they_differ(DecodedExchange(0, replace(whole, state=State.OPEN))) == ()


def test_an_answer_of_very_many_calls_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "MOST_CALLS", 1)
    assert chat(ROLE, call(0, "call_1", "f", "{}"), call(1, "call_2", "g", "{}")) == ()


@settings(max_examples=100)
@given(st.lists(BLOCK_EVENTS, max_size=12), st.lists(CHAT_DELTAS, max_size=8))
def test_whatever_comes_every_client_is_in_one_group(events: list[Any], deltas: list[Any]) -> None:
    for groups, protocol in ((blocks(*events), "anthropic-messages"), (chat(*deltas), "openai-chat")):
        names = [name for group in groups for name in group.policies]
        assert sorted(names) == sorted(policy.name for policy in differences.policies(protocol))
        assert all(group.words or group.agrees for group in groups)


@given(st.binary(max_size=200), st.booleans())
def test_bytes_of_any_kind_never_raise(data: bytes, is_chat: bool) -> None:
    body = b"data: {}\n\nevent: message_start\ndata: [1]\n\n" + data + b"\n\n"
    url = "https://x/v1/chat/completions" if is_chat else MESSAGES
    where_they_differ(DecodedExchange(0, exchange({}, body, url=url)))


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-chat", "openai-responses", "gemini", "ollama"])
@settings(max_examples=60)
@given(data=st.data())
def test_a_value_of_another_type_never_raises(protocol: str, data: st.DataObject) -> None:
    lines = data.draw(st.sampled_from(fixtures(protocols.get(protocol), STREAM))).splitlines()
    told = [n for n, line in enumerate(lines) if b"{" in line]
    at = data.draw(st.sampled_from(told))
    before, brace, text = lines[at].partition(b"{")
    value = json.loads(brace + text)
    path = data.draw(st.sampled_from(list(leaves_of(value))))
    odd = data.draw(st.sampled_from([[], {}, [[]], None, 7]))
    lines[at] = before + json.dumps(with_at(value, path, odd)).encode()
    where_they_differ(DecodedExchange(0, exchange({}, b"\n".join(lines) + b"\n"), protocol=protocol))
