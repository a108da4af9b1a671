"""Thinking switched off in the words of who is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench import contracts
from workbench.contracts import Finding, Severity
from workbench.edits.fault import Fault
from workbench.edits.repairs import _thinking
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.patch import Insert, Replace
from workbench.wire.session import MemorySession

CHAT, MESSAGES = "openai-chat", "anthropic-messages"
DISABLED = {"type": "disabled"}
SENT = {
    "openai-chat": {"messages": [{"role": "user", "content": "go"}]},
    "anthropic-messages": {"messages": [{"role": "user", "content": "go"}], "max_tokens": 9},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "go"}]}]},
}

ROWS = [
    ("its own word", "deepseek", CHAT, {}, [[Insert("/thinking", DISABLED)]]),
    ("a member of the template's", "vllm", CHAT, {}, [[Insert("/chat_template_kwargs", {"enable_thinking": False})]]),
    ("beside other members of it", "vllm", CHAT, {"chat_template_kwargs": {"x": 1}},
     [[Insert("/chat_template_kwargs/enable_thinking", False)]]),
    ("the word of the protocol", "anthropic", MESSAGES, {}, [[Insert("/thinking", DISABLED)]]),
    ("a budget goes with it", "anthropic", MESSAGES, {"thinking": {"type": "enabled", "budget_tokens": 1024}},
     [[Replace("/thinking", DISABLED)], [Replace("/thinking", DISABLED)]]),
    ("the switch that is there, of nobody's", "generic", CHAT, {"enable_thinking": True},
     [[Replace("/enable_thinking", False)]]),
    ("off already", "deepseek", CHAT, {"thinking": DISABLED}, []),
    ("no word is known", "generic", CHAT, {}, []),
    ("it takes every word and thinks on", "lm-studio", CHAT, {}, []),
    ("it always thinks", "gemini", "gemini", {"model": "gemini-3-pro-preview"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "protocol", "more", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_ways(provider: str, protocol: str, more: dict[str, Any], expected: list[list[object]]) -> None:
    body = {"model": "m", **SENT[protocol], **more}
    url = f"/v1beta/models/{body['model']}:generateContent" if protocol == "gemini" else ""
    request = HttpRequest(url=url, body=Body(json.dumps(body).encode()))
    inspector = Inspector(MemorySession("t", (Exchange("1", request),)), provider=provider, protocol=protocol)
    case = inspector.trial(0, request, provider=provider, protocol=protocol).case
    fault = Fault(Finding("reasoning.missing", Severity.ERROR, 0, "request", "", ""), case)
    assert [list(changes) for changes in _thinking.switch_off(fault)] == expected


def test_contracts_say_it_with_a_source() -> None:
    facts = [facts["reasoning.switch"] for name in contracts.names() for _, facts in contracts.read(name).facts
             if "reasoning.switch" in facts]  # fmt: skip
    assert len(facts) >= 9
    assert all(fact.source and fact.date for fact in facts)
