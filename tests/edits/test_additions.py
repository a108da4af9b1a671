"""What is added stands in the shape and the place that its protocol wants."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.edits.bodies import conversation, decoded, made
from workbench import contracts, protocols
from workbench.chain import closure
from workbench.chain.closure import CallState
from workbench.edits.additions import insert_message, insert_result, insert_text, insert_tool
from workbench.edits.elements import ElementKind, elements_of, walk
from workbench.edits.operations import Splices, remove
from workbench.errors import LocalProtocolError
from workbench.ir import ToolResultIR
from workbench.protocols.decode import REQUEST, DecodedExchange

SPEAKERS = {
    "anthropic-messages": "anthropic",
    "bedrock-converse": "bedrock",
    "gemini": "gemini",
    "gemini-interactions": "gemini-interactions",
    "openai-chat": "openai",
    "openai-responses": "openai",
}


def after(asked: DecodedExchange, splices: Splices) -> DecodedExchange:
    return decoded(made(asked.request_text, splices), asked.protocol or "")


def without_results(protocol: str) -> DecodedExchange:
    """The conversation with its results taken out, and what held nothing else."""
    asked = decoded(conversation(protocol), protocol)
    while results := [one for one in walk(elements_of(asked)) if one.kind is ElementKind.RESULT]:
        asked = after(asked, remove(asked, results[0].pointer))
    return asked


def calls(asked: DecodedExchange) -> list[str]:
    return [one.pointer for one in walk(elements_of(asked)) if one.kind is ElementKind.CALL]


@pytest.mark.parametrize(("protocol", "provider"), SPEAKERS.items(), ids=SPEAKERS)
def test_results_close_the_calls_that_were_open(protocol: str, provider: str) -> None:
    asked = without_results(protocol)
    for pointer in calls(asked)[::-1]:
        asked = after(asked, insert_result(asked, pointer, f"answer to {pointer}"))
    results = [part for message in asked.messages(REQUEST) for part in message.parts if isinstance(part, ToolResultIR)]
    assert [result.tool_call_id for result in results] == ["call_1", "call_2"], "in the order of the calls"
    terms = contracts.get(provider, protocol=protocol).closure
    assert asked.request
    lines = closure.derive(asked.request, None, terms).lines
    assert [line.state for line in lines] == [CallState.CLOSED, CallState.CLOSED]
    assert not [flaw for line in lines for flaw in line.flaws]


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_a_result_answers_its_call_with_its_text(protocol: str) -> None:
    asked = without_results(protocol)
    first = calls(asked)[0]
    now = after(asked, insert_result(asked, first, "it is ☃", is_error=True))
    results = [part for message in now.messages(REQUEST) for part in message.parts if isinstance(part, ToolResultIR)]
    assert len(results) == 1
    assert "it is ☃" in str(results[0].content)
    assert results[0].tool_call_id in ("call_1", None)
    assert len(calls(now)) == 2


def test_without_ids_results_stand_in_the_order_of_the_calls() -> None:
    asked = without_results("ollama")
    asked = after(asked, insert_result(asked, calls(asked)[0], "one"))
    asked = after(asked, insert_result(asked, calls(asked)[1], "two"))
    told = [m["content"] for m in json.loads(asked.request_text)["messages"] if m["role"] == "tool"]
    assert told == ["one", "two"]


def test_a_result_in_front_of_what_the_user_said_makes_blocks_of_it() -> None:
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": "and?"}]
    asked = decoded(json.dumps({"messages": messages}).encode(), "anthropic-messages")
    now = json.loads(after(asked, insert_result(asked, "/messages/0/content/0", "x")).request_text)["messages"][1]
    assert [block["type"] for block in now["content"]] == ["tool_result", "text"]


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_messages_of_every_role_go_where_they_are_put(protocol: str) -> None:
    asked = decoded(conversation(protocol), protocol)
    before = asked.messages(REQUEST)
    last = after(asked, insert_message(asked, "user", "new")).messages(REQUEST)
    assert [m.parts for m in last[:-1]] == [m.parts for m in before]
    assert last[-1].role == before[0].role or before[0].role == "system"
    assert last[-1].parts[0].text == "new"  # type: ignore[union-attr]
    first = after(asked, insert_message(asked, "assistant", "new", before[0].pointer)).messages(REQUEST)
    assert first[0].role in ("assistant", "model")
    assert [m.parts for m in first[1:]] == [m.parts for m in before]


def test_a_system_prompt_goes_to_its_own_place() -> None:
    body = json.loads(conversation("gemini"))
    asked = decoded(json.dumps(body).encode(), "gemini")
    with pytest.raises(LocalProtocolError, match="the request already has a system prompt"):
        insert_message(asked, "system", "new")
    del body["systemInstruction"]
    asked = decoded(json.dumps(body).encode(), "gemini")
    now = json.loads(after(asked, insert_message(asked, "system", "new")).request_text)
    assert now["systemInstruction"] == {"parts": [{"text": "new"}]}


def body_of(*messages: object, key: str = "messages", **more: object) -> bytes:
    return json.dumps({key: list(messages), **more}).encode()


TEXTS: list[tuple[str, str, Any, Any]] = [
    ("a string becomes blocks", "openai-chat", "a", [{"type": "text", "text": "a"}, {"type": "text", "text": "new"}]),
    ("blocks grow", "anthropic-messages", [], [{"type": "text", "text": "new"}]),
    ("nothing becomes a string", "openai-chat", None, "new"),
    ("so does an empty one", "openai-chat", "", "new"),
]


@pytest.mark.parametrize(("protocol", "held", "now"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS])
def test_a_text_is_added_to_a_message(protocol: str, held: Any, now: Any) -> None:
    asked = decoded(body_of({"role": "user", "content": held}, model="m"), protocol)
    told = json.loads(after(asked, insert_text(asked, "/messages/0", "new")).request_text)["messages"][0]
    assert told == {"role": "user", "content": now}


def test_a_text_takes_the_form_of_the_one_beside_it() -> None:
    block = {"type": "output_text", "text": "a", "annotations": []}
    item = {"type": "message", "role": "assistant", "content": [block]}
    asked = decoded(body_of(item, key="input"), "openai-responses")
    told = json.loads(after(asked, insert_text(asked, "/input/0", "new", 0)).request_text)["input"][0]
    assert told["content"] == [block | {"text": "new"}, block]


def test_a_request_that_is_one_text_becomes_a_list() -> None:
    asked = decoded(b'{"model": "m", "input": "hello"}', "openai-responses")
    now = json.loads(after(asked, insert_message(asked, "user", "new")).request_text)
    assert now["input"] == [{"role": "user", "content": "hello"}, {"role": "user", "content": "new"}]


def test_the_first_message_and_the_first_tool() -> None:
    asked = decoded(b'{"model": "m", "messages": []}', "openai-chat")
    assert (
        b'"messages": [{"role": "user", "content": "new"}]'
        in after(asked, insert_message(asked, "user", "new")).request_text
    )
    now = json.loads(after(asked, insert_tool(asked, "f", {"type": "object"})).request_text)
    assert now["tools"][0]["function"]["name"] == "f"


@pytest.mark.parametrize(
    ("protocol", "held", "at"),
    [
        ("openai-chat", {"tools": []}, ("tools", 0, "function", "name")),
        (
            "bedrock-converse",
            {"toolConfig": {"toolChoice": {"auto": {}}}},
            ("toolConfig", "tools", 0, "toolSpec", "name"),
        ),
        ("gemini", {"tools": [{"googleSearch": {}}]}, ("tools", 0, "functionDeclarations", 0, "name")),
        ("gemini", {"tools": []}, ("tools", 0, "functionDeclarations", 0, "name")),
    ],
)
def test_a_tool_joins_what_is_there(protocol: str, held: dict[str, Any], at: tuple[str | int, ...]) -> None:
    body = {k: v for k, v in json.loads(conversation(protocol)).items() if k not in ("tools", "toolConfig")} | held
    asked = decoded(json.dumps(body).encode(), protocol)
    now = after(asked, insert_tool(asked, "f", {"type": "object"}))
    assert not now.request_index.duplicates()
    value = json.loads(now.request_text)
    for step in at:
        value = value[step]
    assert value == "f"


@pytest.mark.parametrize(
    ("add", "why"),
    [
        (lambda d: insert_message(d, "user", "x", "/model"), "no message at this pointer"),
        (lambda d: insert_message(d, "tool", "x"), "cannot have role 'tool'"),
        (lambda d: insert_text(d, "/messages/9", "x"), "no message at this pointer"),
        (lambda d: insert_text(d, "/messages/3", "x"), "cannot contain text"),
        (lambda d: insert_result(d, "/messages/3", "x"), "no client tool call"),
        (
            lambda d: insert_message(decoded(b"{", "openai-chat"), "user", "x"),
            "only be edited as text: line 1, column 2, byte 1",
        ),
    ],
)
def test_what_cannot_be_added_is_said_in_one_line(add: Callable[[DecodedExchange], Splices], why: str) -> None:
    with pytest.raises(LocalProtocolError, match=why) as error:
        add(decoded(conversation("openai-chat"), "openai-chat"))
    assert "\n" not in str(error.value)
