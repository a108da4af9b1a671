"""Who may speak when."""

from __future__ import annotations

import pytest

from workbench.rules import roles

CALL = {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}


def chat(*said):
    """Messages by their roles; ``calls`` is an assistant message with a call, ``late`` a user message."""
    calls = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    special = {"calls": calls, "tool": {"role": "tool", "tool_call_id": "a", "content": "ok"}}
    return {"model": "m", "messages": [special.get(role, {"role": role, "content": "x"}) for role in said]}


ORDER = [
    ("by turns", ("user", "assistant", "user"), []),
    ("system first", ("system", "user", "assistant"), []),
    ("calls and results apart", ("user", "calls", "tool", "calls", "tool", "assistant", "user"), []),
    ("two users", ("user", "user"), [(1, "Unexpected role 'user' after role 'user'")]),
    ("two answers", ("user", "assistant", "assistant"), [(2, "Unexpected role 'assistant' after role 'assistant'")]),
    ("an answer first", ("assistant", "user"), [(0, "Unexpected role 'assistant' after role 'assistant'")]),
    ("no word after the results", ("user", "calls", "tool", "user"), [(3, "Unexpected role 'user' after role 'tool'")]),
    ("told once", ("user", "user", "assistant", "user"), [(1, "Unexpected role 'user' after role 'user'")]),
]


@pytest.mark.parametrize(("said", "expected"), [r[1:] for r in ORDER], ids=[r[0] for r in ORDER])
def test_turns(under, said, expected):
    checks = [("content.role-order", "Unexpected role '{role}' after role '{before}'")]
    found = under(roles, {"content.role-order": "alternate"}, checks, chat(*said))
    assert [(f.pointer, f.refusal) for f in found] == [(f"/messages/{n}", text) for n, text in expected]
    assert not under(roles, {}, checks, chat(*said))


FOLLOWERS = {
    "system": ["user", "assistant", "system"],
    "user": ["assistant", "system", "user"],
    "assistant": ["assistant", "user", "tool"],
    "tool": ["assistant", "tool"],
}

AFTER = [
    ("a whole loop", ("system", "user", "calls", "tool", "assistant", "user", "user"), []),
    ("no word after the results", ("user", "calls", "tool", "user"), [(3, "'user' after 'tool', message 2")]),
    ("a word before the results", ("user", "calls", "user", "tool"), [(3, "'tool' after 'user', message 2")]),
    ("a note in the middle", ("user", "assistant", "system"), [(2, "'system' after 'assistant', message 1")]),
    ("a role nobody lists", ("user", "developer", "assistant"), [(1, "'developer' after 'user', message 0")]),
]


@pytest.mark.parametrize(("said", "expected"), [r[1:] for r in AFTER], ids=[r[0] for r in AFTER])
def test_roles_follow_those_that_they_may(under, said, expected):
    checks = [("content.role-order", "'{role}' after '{before}', message {previous}")]
    found = under(roles, {"content.role-order": FOLLOWERS}, checks, chat(*said))
    assert [(f.pointer, f.refusal) for f in found] == [(f"/messages/{n}", text) for n, text in expected]


def test_somebody_has_to_ask(under):
    checks = [("content.role-order", "no user", "no-user")]
    (found,) = under(roles, {"content.user-required": True}, checks, chat("system", "assistant"))
    assert (found.pointer, found.refusal) == ("/messages/0", "no user")
    assert not under(roles, {"content.user-required": True}, checks, chat("system", "user"))


POSITION = [
    ("first", ("system", "user"), []),
    ("first", ("user", "system"), [1]),
    ("first", ("system", "system", "user"), [1]),
    ("before-assistant-or-last", ("system", "user"), [0]),
    ("before-assistant-or-last", ("user", "system", "assistant", "user", "system"), []),
    ("before-assistant-or-last", ("user", "system", "system", "user"), [2]),
    ("top-level", ("user", "system"), [1]),
    ("anywhere", ("user", "system", "user"), []),
]


@pytest.mark.parametrize(("place", "said", "expected"), POSITION)
def test_system_messages(under, place, said, expected):
    checks = [
        ("content.system-position", "no {role} role", "no-system-role"),
        ("content.system-position", "not here", "position"),
    ]
    found = under(roles, {"content.system-position": place}, checks, chat(*said))
    assert [f.pointer for f in found] == [f"/messages/{n}" for n in expected]
    words = "no system role" if place == "top-level" else "not here"
    assert all((f.refusal, f.severity) == (words, "error") for f in found)


def test_the_roles_of_every_protocol(under):
    body = {"contents": [{"role": role, "parts": [{"text": "x"}]} for role in ("user", "model", "model")]}
    (finding,) = under(roles, {"content.role-order": "alternate"}, [], body, protocol="gemini")
    assert finding.pointer == "/contents/2"


CALLS = [
    ("after a user", ("user", "calls", "tool", "calls"), [], []),
    ("after a word of the model", ("user", "assistant", "calls"), [2], []),
    ("at the beginning", ("calls", "tool"), [0], [0]),
    ("at the beginning, behind a word of the model", ("system", "assistant", "calls"), [2], [2]),
]


@pytest.mark.parametrize(("said", "strict", "merged"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_calls_follow_a_user_or_results(under, said, strict, merged):
    checks = [("content.role-order", "not here", "call-after-model")]
    for value, expected in (("calls-after-user", strict), ("calls-not-first", merged)):
        found = under(roles, {"content.role-order": value}, checks, chat(*said))
        assert [f.pointer for f in found] == [f"/messages/{n}" for n in expected]
