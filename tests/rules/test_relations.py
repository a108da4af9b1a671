"""Relations: each test, each condition, each consequence, one row of data at a time."""

from __future__ import annotations

import pytest

from workbench.contracts.error_texts import explain
from workbench.rules import relations

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "read", "description": "Read", "parameters": {"type": "object"}}}
CHAT = {
    "model": "m-1",
    "tools": [TOOL, {**TOOL, "strict": True}],
    "messages": [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
    ],
    "n": 3,
    "limit": 2,
    "stop": ["a", "b", "a"],
    "wish": "exact",
}

ROWS = [
    ("is", {"at": "/n", "is": 3}, ["/n"]),
    ("is another", {"at": "/n", "is": 4}, []),
    ("is true, not one", {"at": "/tools/*/strict", "is": 1}, []),
    ("is null", {"at": "/messages/*/content", "is": None}, ["/messages/2/content"]),
    ("one of some", {"at": "/messages/*/role", "in": ["system", "tool"]},
     ["/messages/0/role", "/messages/3/role", "/messages/4/role"]),
    ("none of some", {"at": "/messages/*/role", "not-in": ["user", "assistant", "tool"]}, ["/messages/0/role"]),
    ("of a type", {"at": "/messages/*/content", "type": "array"}, ["/messages/1/content"]),
    ("a whole number is a number", {"at": "/n", "type": "number"}, ["/n"]),
    ("of no such type", {"at": "/messages/*/content", "not-type": ["string", "array"]}, []),
    ("above", {"at": "/n", "above": 2}, ["/n"]),
    ("below", {"at": "/n", "below": 3}, []),
    ("longer", {"at": "/stop", "longer": 2}, ["/stop"]),
    ("shorter", {"at": "/wish", "shorter": 6}, ["/wish"]),
    ("of more bytes", {"at": "/wish", "bytes-above": 3}, ["/wish"]),
    ("a pattern", {"at": "/messages/*/tool_calls/*/id", "matches": "2$"}, ["/messages/2/tool_calls/1/id"]),
    ("not a pattern", {"at": "/messages/*/tool_calls/*/id", "not-matches": "2$"}, ["/messages/2/tool_calls/0/id"]),
    ("blank", {"at": "/messages/*/content", "blank": True}, ["/messages/3/content"]),
    ("has a key", {"at": "/tools/*", "has": "strict"}, ["/tools/1"]),
    ("lacks a key", {"at": "/tools/*", "lacks": "strict"}, ["/tools/0"]),
    ("keys by a pattern", {"at": "/tools/*/function", "key-not-matches": "^[a-o]"}, ["/tools/0/function",
     "/tools/1/function"]),
    ("absent at the top", {"at": "/max_tokens", "absent": True}, ["/max_tokens"]),
    ("absent further down", {"at": "/tools/*/strict", "absent": True}, ["/tools/0/strict"]),
    ("absent in messages", {"at": "/messages/*/tool_call_id", "absent": True, "when": {"role": "user"}},
     ["/messages/1/tool_call_id"]),
    ("in messages that a filter picks", {"at": "/messages/*[role=tool]/content", "longer": 0}, ["/messages/4/content"]),
    ("not absent", {"at": "/n", "absent": True}, []),
    ("equal to another", {"at": "/n", "same-as": "/limit"}, []),
    ("other than another", {"at": "/n", "differs-from": "/limit"}, ["/n"]),
    ("above another", {"at": "/n", "above-at": "/limit"}, ["/n"]),
    ("among others", {"at": "/wish", "in-at": "/stop"}, []),
    ("not among others", {"at": "/wish", "not-in-at": "/stop"}, ["/wish"]),
    ("among the values of a place", {"at": "/stop/0", "not-among": "/stop/*"}, []),
    ("not among the values of a place", {"at": "/wish", "not-among": "/stop/*"}, ["/wish"]),
    ("not among the values of no place", {"at": "/wish", "not-among": "/nothing/*"}, ["/wish"]),
    ("the same as a sibling", {"at": "/messages/*/tool_calls/*/id", "differs-from": "../type"},
     ["/messages/2/tool_calls/0/id", "/messages/2/tool_calls/1/id"]),
    ("a value twice", {"at": "/stop/*", "repeated": True}, ["/stop/2"]),
    ("a value twice in messages", {"at": "/messages/*/tool_calls/*/function/name", "repeated": True},
     ["/messages/2/tool_calls/1/function/name"]),
    ("mixed", {"at": "/stop/*", "mixed": True}, ["/stop/1"]),
    ("too many", {"at": "/messages/*/tool_calls/*", "count-above": 1}, ["/messages/2/tool_calls/1"]),
    ("not too many", {"at": "/messages/*/tool_calls/*", "count-above": 2}, []),
    ("out of order", {"at": "/messages/*/role", "order": ["system", "assistant", "user"]}, ["/messages/2/role"]),
    ("any depth", {"at": "/tools/**/type", "is": "object"},
     ["/tools/0/function/parameters/type", "/tools/1/function/parameters/type"]),
    ("any depth of the messages", {"at": "/messages/**/url", "is": "u"}, ["/messages/1/content/1/image_url/url"]),
    ("elements of a type", {"at": "/messages/*/content/*[type=image_url]/image_url/url", "is": "u"},
     ["/messages/1/content/1/image_url/url"]),
    ("of a role", {"at": "/messages/*/content", "when": {"role": "tool"}},
     ["/messages/3/content", "/messages/4/content"]),
    ("beside a sibling", {"at": "/messages/*/content/*/type", "when": {"../text": "go"}},
     ["/messages/1/content/0/type"]),
    ("without a sibling", {"at": "/messages/*/content/*/type", "when": {"../text": "absent"}},
     ["/messages/1/content/1/type"]),
    ("beside a parameter", {"at": "/n", "when": {"/wish": "exact"}}, ["/n"]),
    ("beside one of some", {"at": "/n", "when": {"/wish": ["near", "exact"]}}, ["/n"]),
    ("beside another value", {"at": "/n", "when": {"/wish": "near"}}, []),
    ("without a parameter", {"at": "/n", "when": {"/max_tokens": "absent"}}, ["/n"]),
    ("beside a message", {"at": "/n", "when": {"/messages/*/content/*/type": "image_url"}}, ["/n"]),
    ("beside no such message", {"at": "/n", "when": {"/messages/*/content/*/type": {"is": "x", "none": True}}}, ["/n"]),
    ("over HTTP", {"at": "/n", "when": {"transport": "http"}}, ["/n"]),
    ("over a WebSocket", {"at": "/n", "when": {"transport": "websocket"}}, []),
    ("of a size", {"at": "/n", "when": {"more-messages": 4}}, ["/n"]),
    ("of another size", {"at": "/n", "when": {"more-messages": 5}}, []),
    ("of many bytes", {"at": "/n", "when": {"more-bytes": 5000}}, []),
    ("of a stream", {"at": "/n", "when": {"stream": True}}, []),
    ("of no stream", {"at": "/n", "when": {"stream": False}}, ["/n"]),
    ("accepted", {"at": "/n", "then": "accepted"}, []),
]  # fmt: skip


def test_a_refusal_of_an_endpoint_is_a_warning_where_nobody_knows_the_url(under):
    relation = {"source": "a test", "at": "/n", "when": {"url": "*/beta/*"}}
    (found,) = under(relations, {}, [], CHAT, relations=[relation])
    assert (found.pointer, found.severity) == ("/n", "warning")
    assert found.message.endswith("(if the request goes to */beta/*)")


@pytest.mark.parametrize(("relation", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_values_at_fault_are_named(under, relation, expected):
    found = under(relations, {}, [], CHAT, relations=[{"source": "a test", **relation}])
    assert [f.pointer for f in found] == expected
    assert all(f.severity == "error" for f in found)


def test_the_words_of_the_provider_are_filled_and_the_check_is_exact(under):
    said = {"at": "/n", "above": 2, "says": "{path} may not be {found}, at most {limit}", "rule": "params.unsupported"}
    (finding,) = under(relations, {}, [("params.unsupported", "of another fault")], CHAT, relations=[said])
    assert finding.refusal == "n may not be 3, at most 2"


def test_a_relation_that_rests_on_documents_is_a_warning(under):
    (finding,) = under(relations, {}, [], CHAT, relations=[{"at": "/n", "rests-on": "documents", "says": "no"}])
    assert (finding.severity, finding.refusal, finding.check) == ("warning", "", None)


def test_a_refusal_that_a_later_recording_disputes_is_a_warning_and_its_words_are_known(under):
    disputed = {"at": "/n", "rests-on": "disputed", "says": "no", "why": "too much"}
    (finding,) = under(relations, {}, [], CHAT, relations=[disputed])
    assert (finding.severity, finding.refusal, finding.check) == ("warning", "", None)
    assert finding.message.endswith("according to reports, but a later recording shows that it is accepted")
    why = "for 'role:system' the following must be satisfied[('messages.0.content' : value must be a string)]"
    words = f"'messages.0' : {why}"
    assert {match.rule for match in explain(words)} == {"content.shape"}


@pytest.mark.parametrize(
    ("then", "words"), [("ignored", "accepts and ignores the field"), ("rewritten", "changes the value")]
)
def test_a_value_without_effect_is_told(under, then, words):
    (finding,) = under(relations, {}, [], CHAT, relations=[{"at": "/n", "then": then}])
    assert (finding.rule, finding.severity) == ("params.ignored", "info")
    assert words in finding.message


RULES = [
    ({"at": "/temperature"}, "params.unsupported"),
    ({"at": "/temperature", "when": {"/top_p": "present"}}, "params.conflict"),
    ({"at": "/max_tokens", "absent": True}, "params.missing"),
    ({"at": "/tool_choice"}, "choice.unsupported"),
    ({"at": "/tools"}, "tools.unsupported"),
    ({"at": "/tools/*/type"}, "schema.tool-type"),
    ({"at": "/tools/*/function/description"}, "schema.description"),
    ({"at": "/tools/*/function/name"}, "schema.name"),
    ({"at": "/tools/*/function/strict"}, "schema.strict"),
    ({"at": "/tools/*/input_schema/**/format"}, "schema.unsupported-keyword"),
    ({"at": "/tools/*/cache_control"}, "schema.malformed"),
    ({"at": "/messages/*/content/*/type"}, "content.unsupported-part"),
    ({"at": "/messages/*/name"}, "content.shape"),
    ({"at": "/n", "then": "ignored"}, "params.ignored"),
]


@pytest.mark.parametrize(("relation", "slug"), RULES, ids=[row[0]["at"] for row in RULES])
def test_the_place_tells_the_rule(relation, slug):
    from workbench.contracts.reader import Node
    from workbench.contracts.relations import read_relation, rule_of

    assert rule_of(read_relation(Node(relation, "a test"), "", "")) == slug
