"""Ids of calls that a simulator gives."""

from __future__ import annotations

import json

import pytest

from tests.simulator.conftest import SCHEMA
from workbench.simulator import Simulator
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

TOOL = {"type": "function", "function": {"name": "list_dir", "parameters": SCHEMA}}
ASK = {"model": "m", "messages": [{"role": "user", "content": "list"}], "tools": [TOOL]}
JSON = (("content-type", "application/json"),)


def called(simulator: Simulator, body: dict[str, object]) -> dict[str, object]:
    """The message of an answer that calls."""
    reply = simulator.send("POST", "/v1/chat/completions", JSON, json.dumps(body).encode())
    message: dict[str, object] = json.loads(reply.body())["choices"][0]["message"]
    assert message["tool_calls"]
    return message


def id_of(message: dict[str, object]) -> str:
    return message["tool_calls"][0]["id"]  # type: ignore[index,no-any-return]


@pytest.mark.parametrize("label", ["openai", "kimi", "deepseek"])
def test_an_id_that_the_session_knows_is_not_given_again(label: str) -> None:
    first = called(Simulator(label), ASK)
    request = HttpRequest("POST", "http://x/v1/chat/completions", Headers(JSON), Body(json.dumps(ASK).encode()))
    answer = json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": first}]}).encode()
    known = MemorySession("s", (Exchange("a", request, HttpResponse(200, Headers(JSON), Body(answer))),))
    assert id_of(called(Simulator(label, known=known), ASK)) != id_of(first)


@pytest.mark.parametrize("label", ["openai", "kimi", "deepseek"])
def test_an_id_of_the_request_is_not_given_again(label: str) -> None:
    first = called(Simulator(label, permissive=True), ASK)
    result = {"role": "tool", "tool_call_id": id_of(first), "content": "a"}
    again = {"role": "user", "content": "use list_dir again, please"}
    more = {**ASK, "messages": [*ASK["messages"], first, result, again]}  # type: ignore[misc]
    assert id_of(called(Simulator(label, permissive=True), {**more, "tool_choice": "required"})) != id_of(first)
