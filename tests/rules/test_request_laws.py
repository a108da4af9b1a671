"""Laws of what one request shows: a legal one gives no finding, and one mutation gives its finding at its place."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings

from tests.rules.conftest import say
from workbench import testing
from workbench.rules import choice, gateway, params, relations, roles, secrets

KINDS = ["auto", "none", "any", "required", "tool", "function"]
FAMILIES = (choice, gateway, params, relations, roles, secrets)


class Families:
    """All of them as one."""

    @staticmethod
    def check(case):
        return [finding for family in FAMILIES for finding in family.check(case)]


KEY = "sk-ant-api03-" + "q8Zt4LmW2pXv9Rb1" * 2
LISTS = {"openai-chat": "messages", "anthropic-messages": "messages", "openai-responses": "input"}


def terms(body):
    """A contract that the body keeps."""
    return {
        "choice.values": KINDS,
        "choice.needs-tools": True,
        "choice.forced-with-thinking": "refused-when-manual",
        "content.system-position": "first",
        "gateway.max-cache-marks": 4,
        "params.unknown-fields": "refused",
        "params.fields": list(body),
        "params.refused": [{"at": "/x_setting", "above": 1}, {"at": "/stream", "is": "yes"}],
        "params.required": ["/model"],
    }


def findings(body, kept, protocol):
    return [(f.rule, f.pointer) for f in say(Families, kept, [], body, protocol=protocol)]


def legal(body, protocol):
    """The body without what this contract refuses of a conversation: a word of the system among the others."""
    body[LISTS[protocol]] = [m for m in body[LISTS[protocol]] if m.get("role") not in ("system", "developer")]
    for key in ("thinking", "reasoning", "reasoning_effort", "tool_choice"):
        body.pop(key, None)
    return body


def tool(protocol):
    function = {"name": "x_tool", "parameters": {"type": "object"}}
    return {
        "openai-chat": {"type": "function", "function": function},
        "openai-responses": {"type": "function", **function},
        "anthropic-messages": {"name": "x_tool", "input_schema": {"type": "object"}},
    }[protocol]


def named(protocol, name):
    return {
        "openai-chat": {"type": "function", "function": {"name": name}},
        "openai-responses": {"type": "function", "name": name},
        "anthropic-messages": {"type": "tool", "name": name},
    }[protocol]


def thinking(protocol):
    responses = protocol == "openai-responses"
    return {"reasoning": {"effort": "high"}} if responses else {"thinking": {"type": "enabled", "budget_tokens": 2048}}


def marked(text="x"):
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def appended(body, protocol, *more):
    return {**body, LISTS[protocol]: [*body[LISTS[protocol]], *more]}


def with_tools(body, protocol, **more):
    return {**body, "tools": [tool(protocol)], **more}


MUTATIONS = {
    "a field": lambda b, p: ({**b, "x_strange": 1}, "gateway.unknown-field", "/x_strange"),
    "a setting": lambda b, p: ({**b, "x_setting": 2}, "params.unsupported", "/x_setting"),
    "a value": lambda b, p: ({**b, "stream": "yes"}, "params.unsupported", "/stream"),
    "no model": lambda b, p: ({**b, "model": None}, "params.missing", "/model"),
    "a choice of nothing": lambda b, p: (
        {**b, "tools": [], "tool_choice": named(p, "x_tool")},
        "choice.without-tools",
        "/tool_choice",
    ),
    "a choice of another": lambda b, p: (
        with_tools(b, p, tool_choice=named(p, "y_tool")),
        "choice.unsupported",
        "/tool_choice",
    ),
    "a kind of choice": lambda b, p: (with_tools(b, p, tool_choice="validated"), "choice.unsupported", "/tool_choice"),
    "a forced call while thinking": lambda b, p: (
        with_tools(b, p, tool_choice=named(p, "x_tool"), **thinking(p)),
        "choice.thinking-conflict",
        "/tool_choice",
    ),
    "a system message": lambda b, p: (
        appended(b, p, {"role": "system", "content": "x"}),
        "content.system-position",
        f"/{LISTS[p]}/{len(b[LISTS[p]])}",
    ),
    "a credential": lambda b, p: (
        appended(b, p, {"role": "user", "content": f"use {KEY}"}),
        "secret.in-body",
        f"/{LISTS[p]}/{len(b[LISTS[p]])}/content",
    ),
    "five marks": lambda b, p: (
        appended(b, p, {"role": "user", "content": [marked()] * 5}),
        "gateway.cache-limit",
        f"/{LISTS[p]}/{len(b[LISTS[p]])}/content/4/cache_control",
    ),
}
NEW_KEYS = {"tools", "tool_choice", "thinking", "reasoning", "x_setting", "stream"}


@pytest.mark.parametrize("protocol", LISTS)
def test_one_mutation_gives_one_finding_at_its_place(protocol):
    @settings(max_examples=3)
    @given(testing.request_bodies(protocol, noise=False))
    def law(raw):
        body = legal(json.loads(raw), protocol)
        kept = terms(body) | {"params.fields": sorted({*body} | NEW_KEYS)}
        assert findings(body, kept, protocol) == []
        for name, mutate in MUTATIONS.items():
            if name == "five marks" and protocol == "openai-responses":
                continue  # it has no marks
            changed, rule, pointer = mutate(copy.deepcopy(body), protocol)
            assert findings(changed, kept, protocol) == [(rule, pointer)], name

    law()
