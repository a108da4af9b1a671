"""Every kind of damage to a body has its name, and what is nearly one has not."""

from __future__ import annotations

import json
import unicodedata

import pytest

from tests.diff.damage.sightings import ASKED, CALL, changed, of_requests, seen, text
from workbench.diff.damage import DamageKind, damages_between
from workbench.diff.damage.bodies import body_damages

USER, BLOCKS, ANSWER, RESULT = (f"/messages/{n}" for n in range(1, 5))
ARGUMENTS = f"{ANSWER}/tool_calls/0/function/arguments"


def put(**members):
    return lambda body: body.update(members)


def message(number, **members):
    return lambda body: body["messages"][number].update(members)


def said(change):
    return message(1, content=change(ASKED["messages"][1]["content"]))


def call(**members):
    return lambda body: body["messages"][3]["tool_calls"][0]["function"].update(members)


def renumbered(body):
    body["messages"][3]["tool_calls"][0]["id"] = body["messages"][4]["tool_call_id"] = "c9"


def merge_messages(body):
    body["messages"][1:3] = [{"role": "user", "content": [{"type": "text", "text": ASKED["messages"][1]["content"]},
                                                          *ASKED["messages"][2]["content"]]}]  # fmt: skip


def merge_apart(body):
    body["messages"][1]["content"] += "\n" + body["messages"].pop(4)["content"]


def split_text(body):
    body["messages"][0]["content"] = [{"type": "text", "text": t} for t in ("Be ", "brief.")]


VALUES = {
    "nothing": (lambda body: None, []),
    "a field dropped": (lambda body: body.pop("max_tokens"), ["field dropped /max_tokens"]),
    "a message dropped": (lambda body: body["messages"].pop(1), ["field dropped /messages"]),
    "a field added": (put(store=True), ["field added /store"]),
    "a message added": (lambda body: body["messages"].append({"role": "user", "content": "ok?"}),
                        ["field added /messages/5"]),
    "a field renamed": (lambda body: body.update(max_completion_tokens=body.pop("max_tokens")),
                        ["field renamed /max_completion_tokens"]),
    "other names of switches are none": (lambda body: (body.pop("user"), body.update(store=None)),
                                         ["null or empty dropped /user", "field added /store"]),
    "a field moved": (lambda body: body.update(extra_body={"max_tokens": body.pop("max_tokens")}),
                      ["field moved /extra_body/max_tokens"]),
    "instructions moved": (lambda body: body.update(system=body["messages"].pop(0)["content"]),
                           ["field moved /system"]),
    "null dropped": (lambda body: body.pop("user"), ["null or empty dropped /user"]),
    "null became empty": (put(user=""), ["value changed /user"]),
    "a value": (put(model="vendor/m"), ["value changed /model"]),
    "digits of a number": (put(seed=12345678901234567000), ["value changed /seed"]),
    "a switch for a number": (put(temperature=True), ["value changed /temperature"]),
    "items in another order": (lambda body: body["messages"].insert(1, body["messages"].pop(2)),
                               ["items reordered /messages/1"]),
    "key order": (lambda body: body.update(model=body.pop("model")), ["key order"]),
    "key order inside": (message(4, role=ASKED["messages"][4]["role"]), []),
    "ids mapped": (renumbered, ["ids mapped /messages/3/tool_calls/0/id"]),
    "an id of one side": (message(4, tool_call_id="c9"), [f"value changed {RESULT}/tool_call_id"]),
    "trimmed": (said(str.strip), [f"text trimmed {USER}/content"]),
    "trimmed at one end": (said(str.rstrip), [f"text trimmed {USER}/content"]),
    "padded": (said(lambda s: s + " "), [f"value changed {USER}/content"]),
    "cut": (said(lambda s: s[:6]), [f"text cut {USER}/content"]),
    "cut with a mark": (message(4, content="a..."), [f"value changed {RESULT}/content"]),
    "other words": (said(lambda s: "tea"), [f"value changed {USER}/content"]),
    "another case": (said(str.upper), [f"value changed {USER}/content"]),
    "decomposed": (said(lambda s: unicodedata.normalize("NFD", s)), [f"Unicode normalised {USER}/content"]),
    "read as Latin-1": (said(lambda s: s.encode().decode("latin-1")), [f"characters damaged {USER}/content"]),
    "question marks": (said(lambda s: s.encode("ascii", "replace").decode()), [f"characters damaged {USER}/content"]),
    "no emoji": (said(lambda s: s.replace("\U0001f600", "")), [f"characters damaged {USER}/content"]),
    "texts merged": (message(2, content=[{"type": "text", "text": "one\ntwo"}]), [f"texts merged {BLOCKS}/content/0"]),
    "texts to one": (message(2, content="one\n\ntwo"), [f"texts merged {BLOCKS}/content"]),
    "messages merged that stood apart": (merge_apart,
                                         [f"texts merged {USER}/content"]),
    "a call renamed": (call(name="fs__ls"), [f"value changed {ANSWER}/tool_calls/0/function/name"]),
    "tools renamed": (lambda body: [tool.update(name="x_" + tool["name"]) for tool in body["tools"]],
                      ["value changed /tools/0/name"]),
    "a number in a list": (lambda body: body["stop_ids"].insert(0, float(body["stop_ids"].pop(0))),
                           ["value changed /stop_ids/0"]),
    "messages merged": (merge_messages, [f"texts merged {USER}"]),
    "a text split": (split_text, ["text split /messages/0/content"]),
    "a text as blocks": (message(0, content=[{"type": "text", "text": "Be brief."}]),
                         ["content shape changed /messages/0/content"]),
    "arguments written anew": (call(arguments='{"n":1,"path":"."}'), [f"JSON in a text written anew {ARGUMENTS}"]),
    "arguments changed": (call(arguments='{"path": "/", "n": 1}'), [f"value changed {ARGUMENTS}"]),
    "arguments as an object": (call(arguments={"path": ".", "n": 1}), [f"reshaped {ARGUMENTS}"]),
    "two at once": (lambda body: (body.pop("max_tokens"), said(str.strip)(body)),
                    ["field dropped /max_tokens", f"text trimmed {USER}/content"]),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_what_became_of_a_value(name):
    change, expected = VALUES[name]
    assert of_requests(text(ASKED), text(changed(ASKED, change))) == expected


SPELLINGS = {
    "compact": (text(ASKED), text(ASKED, separators=(",", ":")), ["whitespace"]),
    "escapes": (text(ASKED), text(ASKED, ensure_ascii=True), ["escapes"]),
    "escapes undone": (text(ASKED, ensure_ascii=True), text(ASKED), ["escapes"]),
    "slashes": (text(ASKED), text(ASKED).replace(b"/ ", b"\\/ "), ["escapes"]),
    "numbers": (text(ASKED), text(ASKED).replace(b"1.0", b"1"), ["number spelling"]),
    "exponents": (text(ASKED), text(ASKED).replace(b"900", b"9e2"), ["number spelling"]),
    "several": (text(ASKED), text(changed(ASKED, lambda b: b.pop("seed")), ensure_ascii=True, indent=1),
                ["whitespace", "field dropped", "escapes"]),
    "a dropped number is no other spelling": (
        b'{"a": 1.0, "b": 1}', b'{"b": 1}', ["field dropped"]),
    "a dropped text is no other spelling": (
        rb'{"a": "\u00e9", "b": "x"}', b'{"b": "x"}', ["field dropped"]),
    "keys twice": (b'{"a": 1, "a": 2}', b'{"a": 2}', ["duplicate key lost"]),
    "keys twice, the first kept": (b'{"a": 1, "a": 2}', b'{"a": 1}', ["duplicate key lost", "value changed"]),
    "keys twice, kept": (b'{"a": 1, "a": 2}', b'{"a": 1, "a": 2}', []),
    "a mark before it": (b'\xef\xbb\xbf{"a": 1}', b'{"a": 1}', ["whitespace"]),
    "wrapped": (b'{"a": 1}', b'{"data": {"a": 1}}', ["reshaped"]),
    "unwrapped": (b'{"data": {"a": 1}}', b'{"a": 1}', ["reshaped"]),
    "cut off": (b'{"a": 1}', b'{"a"', ["truncated"]),
    "another kind": (b'{"a": 1}', b"a=1", ["reshaped"]),
    "nothing": (b'{"a": 1}', b"", ["truncated"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_other_bytes_of_the_same_value(name):
    before, after, expected = SPELLINGS[name]
    assert sorted(damage.kind.value for damage in body_damages("request", before, after)) == sorted(expected)


def test_the_first_divergence_comes_first_with_its_bytes():
    before = b'{"model":"m","messages":[{"role":"user","content":"hi "}],"n":1.0,"x":1}'
    after = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"n":1}'
    trimmed, number, dropped = body_damages("request", before, after)
    assert (trimmed.kind, trimmed.first_was, trimmed.first) == (DamageKind.TEXT_TRIMMED, 53, 53)
    assert before[:53] == after[:53] and before[53:54] != after[53:54]
    assert (number.kind, before[number.first_was :][:3], after[number.first :][:1]) == (
        DamageKind.NUMBER_SPELLING, b"1.0", b"1")  # fmt: skip
    assert before[dropped.first_was :].startswith(b'"x"')


def test_many_places_of_one_kind_are_one_damage():
    many = {"messages": [{"role": "user", "content": f" {n} "} for n in range(30)]}
    (found,) = body_damages("request", text(many), text({"messages": [
        {"role": "user", "content": f"{n}"} for n in range(30)]}))  # fmt: skip
    assert (found.kind, found.places, len(found.further)) == (DamageKind.TEXT_TRIMMED, 30, 20)
    assert found.further[0] == "/messages/1/content"


def test_what_is_spelled_otherwise_means_the_same_and_nothing_else_does():
    same = {
        DamageKind.KEY_ORDER,
        DamageKind.IDS_MAPPED,
        DamageKind.ARGUMENTS_RESPELLED,
        DamageKind.EMPTY_DROPPED,
        DamageKind.CONTENT_SHAPE,
    }
    for name, (change, _) in VALUES.items():
        for damage in damages_between(seen(text(ASKED)), seen(text(changed(ASKED, change)))):
            is_nothing = damage.kind is DamageKind.FIELD_ADDED and name == "other names of switches are none"
            assert damage.is_same_meaning == (damage.kind in same or is_nothing), name


def test_long_lists_of_altered_messages_stay_paired():
    before = {"messages": [{"role": "user", "content": f" question {n} {'x' * 50}"} for n in range(800)]}
    after = {"messages": [{**m, "content": m["content"].strip()} for n, m in enumerate(before["messages"]) if n % 5]}
    found = body_damages("request", text(before), text(after))
    assert {d.kind: d.places for d in found} == {DamageKind.FIELD_DROPPED: 160, DamageKind.TEXT_TRIMMED: 640}


def test_parallel_calls_that_went_are_named_one_by_one():
    calls = [{**CALL, "id": f"call_{n}"} for n in range(3)]
    before, after = (changed(ASKED, lambda b, c=c: b["messages"][3].update(tool_calls=c)) for c in (calls, calls[:1]))
    (found,) = body_damages("request", json.dumps(before).encode(), json.dumps(after).encode())
    assert (found.kind, found.was, found.places) == (DamageKind.FIELD_DROPPED, f"{ANSWER}/tool_calls/1", 2)
