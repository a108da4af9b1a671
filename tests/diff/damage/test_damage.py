"""What happened around the bodies, between protocols, and to whole exchanges."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff.damage.sightings import ASKED, CHAT, MESSAGES, brief, changed, said, seen, stream, text
from workbench.diff.damage import DamageKind, damage_words, damages_between, damages_of_tries
from workbench.wire.exchange import CLIENT_LEFT, State

ERROR = {"error": {"message": "no such model", "type": "not_found", "code": "404"}}
REQUESTS = {
    "nothing": ({}, {}, []),
    "of a connection": ({"asked": [("Host", "a"), ("Connection", "close"), ("Accept-Encoding", "br")]},
                        {"asked": [("host", "b"), ("Via", "1.1 b"), ("X-Forwarded-For", "::1")]}, []),
    "case and repetition": ({"asked": [("Anthropic-Beta", "a"), ("anthropic-beta", "b")]},
                            {"asked": [("anthropic-beta", "a, b")]}, []),
    "a header dropped": ({"asked": [("anthropic-beta", "a")]}, {}, ["header dropped /headers/anthropic-beta"]),
    "a header added": ({}, {"asked": [("x-trace", "1")]}, ["header added /headers/x-trace"]),
    "a header changed": ({"asked": [("anthropic-beta", "a,b")]}, {"asked": [("anthropic-beta", "a")]},
                         ["header changed /headers/anthropic-beta"]),
    "another key": ({"asked": [("authorization", "Bearer a")]}, {"asked": [("authorization", "Bearer b")]}, []),
    "a key that went": ({"asked": [("x-api-key", "a")]}, {}, ["header dropped /headers/x-api-key"]),
    "another host": ({"url": CHAT}, {"url": CHAT.replace("a.example", "b.example:8080")}, []),
    "a path": ({"url": CHAT}, {"url": CHAT.replace("v1", "v2")}, ["path changed /path"]),
    "a method": ({"method": "POST"}, {"method": "PUT"}, ["method changed /method"]),
    "a query": ({"url": CHAT + "?beta=true"}, {"url": CHAT}, ["query changed /query"]),
    "another key in the query": ({"url": CHAT + "?key=a"}, {"url": CHAT + "?key=b"}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_what_became_of_the_head_of_a_request(name):
    before, after, expected = REQUESTS[name]
    assert brief(damages_between(seen(**before), seen(**after))) == expected


def test_secrets_are_named_and_not_shown():
    before = seen(asked=[("x-api-key", "sk-secret-one"), ("cookie", "a=secret-two")], url=f"{CHAT}?api_key=secret-3")
    assert all("secret" not in damage.words for damage in damages_between(before, seen()))


ANSWERS = {
    "nothing": ({"answer": text(ERROR), "status": 404}, {"answer": text(ERROR), "status": 404}, []),
    "a status": ({"answer": b"{}", "status": 200}, {"answer": b"{}", "status": 201}, ["status changed /status"]),
    "a status and an error": ({"answer": text(ERROR), "status": 404}, {"answer": b'{"detail": "oops"}', "status": 500},
                              ["status changed /status", "error rewritten /error"]),
    "an error": ({"answer": text(ERROR), "status": 404},
                 {"answer": text(ERROR).replace(b"no such model", b"upstream failed"), "status": 404},
                 ["error rewritten /error/message"]),
    "an error in other bytes": ({"answer": text(ERROR), "status": 404},
                                {"answer": text(ERROR, indent=1), "status": 404}, ["whitespace"]),
    "an error in HTML": ({"answer": text(ERROR), "status": 404}, {"answer": b"<html>", "status": 404},
                         ["error rewritten"]),
    "when to try again": ({"answer": b"{}", "told": [("retry-after", "3")]}, {"answer": b"{}"},
                          ["header dropped /headers/retry-after"]),
    "its own server and date": ({"answer": b"{}", "told": [("server", "a"), ("date", "b")]},
                                {"answer": b"{}", "told": [("Server", "c")]}, []),
    "cut off": ({"answer": b'{"a": [1, 2]}'}, {"answer": b'{"a": [1', "state": State.ABORTED}, ["truncated"]),
    "a stream of which nothing went on": ({"answer": b"data: {}\n\n"}, {"answer": b""}, ["truncated"]),
    "a body where there was none": ({"answer": b""}, {"answer": b"{}"}, ["field added"]),
    "one that was cut off further up": ({"answer": b'{"a"', "state": State.ABORTED},
                                        {"answer": b'{"a"', "state": State.ABORTED}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_what_became_of_an_answer(name):
    upstream, client, expected = ANSWERS[name]
    assert brief(damages_between(seen(**client), seen(**upstream))) == expected


def test_two_versions_of_an_answer_are_compared_in_their_order():
    one, other = (seen(answer=text({"choices": [], **more})) for more in ({"x": 1}, {}))
    assert brief(damages_between(one, other, is_passed_on=False)) == ["field dropped /x"]
    assert brief(damages_between(one, other)) == ["field added /x"]


LEFT, BROKEN = ({"state": State.ABORTED, "note": note} for note in (CLIENT_LEFT, "the upstream hung up"))


@pytest.mark.parametrize(
    ("upstream", "client", "expected"),
    [
        (seen(**LEFT), seen(answer=b'{"error":"timeout"}', status=502), ["answered by the gateway /status"]),
        (seen(**BROKEN), seen(answer=b'{"error":"broken"}', status=502), ["answered by the gateway /status"]),
        (seen(answer=b"{}"), seen(**BROKEN), ["truncated /status"]),
        (seen(answer=b"{}"), seen(**LEFT), []),
        (seen(answer=b'{"a":1}'), seen(answer=b'{"a"', **LEFT), []),
        (seen(answer=b'{"a":1}'), seen(answer=b'{"a"', **BROKEN), ["truncated"]),
        (seen(answer=stream(said())), seen(answer=stream(said()[:6]), **LEFT), []),
        (seen(answer=stream(said())), seen(answer=stream(said()[:6]), **BROKEN), ["truncated"]),
    ],
)  # fmt: skip
def test_an_answer_of_one_side_alone_is_the_gateways_but_not_where_the_client_left(upstream, client, expected):
    assert brief(damages_between(client, upstream)) == expected


def test_a_gateway_that_asks_again_by_itself_or_not_at_all():
    one, failed = seen(answer=b"{}"), seen(answer=text(ERROR), status=503)
    assert [damage.kind for damage in damages_of_tries(one, [])] == [DamageKind.ANSWERED]
    assert [damage.kind for damage in damages_of_tries(None, [one])] == [DamageKind.ASKED]
    assert damages_of_tries(one, [one]) == ()
    (again,) = damages_of_tries(one, [failed, one])
    assert (again.kind, again.places, again.words) == (DamageKind.REPEATED, 2, "2 attempts: 503, 200")


SAME = {
    "model": "m", "max_tokens": 9, "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "list it"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "."}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a b"}]},
    ],
}  # fmt: skip
CHATTED = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "list it"},
        {"role": "assistant", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path":"."}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a b"},
    ],
}  # fmt: skip
PROTOCOLS = {
    "the same": (CHATTED, ["another protocol"]),
    "a result lost": (changed(CHATTED, lambda b: b["messages"].pop()),
                      ["another protocol", "field dropped /messages/2/content/0"]),
    "arguments changed": (
        changed(CHATTED, lambda b: b["messages"][2]["tool_calls"][0]["function"].update(arguments='{"path":"/"}')),
        ["another protocol", "value changed /messages/2/tool_calls/0/function/arguments"]),
    "instructions lost": (changed(CHATTED, lambda b: b["messages"].pop(0)), ["another protocol", "field dropped"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROTOCOLS)
def test_between_protocols_what_is_said_counts(name):
    body, expected = PROTOCOLS[name]
    found = damages_between(seen(text(SAME), url=MESSAGES), seen(text(body), url=CHAT))
    assert brief(found) == expected
    assert found[0].is_same_meaning


PLANTED = {
    DamageKind.FIELD_DROPPED: lambda body, n: body["messages"][n].pop("content"),
    DamageKind.FIELD_ADDED: lambda body, n: body["messages"][n].update(planted=True),
    DamageKind.VALUE_CHANGED: lambda body, n: body["messages"][n].update(role="other"),
    DamageKind.TEXT_CUT: lambda body, n: body["messages"][n].update(content=body["messages"][n]["content"][:-20]),
    DamageKind.TEXT_TRIMMED: lambda body, n: body["messages"][n].update(
        content=body["messages"][n]["content"].rstrip()
    ),
    DamageKind.KEY_ORDER: lambda body, n: body["messages"][n].update(role=body["messages"][n].pop("role")),
    DamageKind.CONTENT_SHAPE: lambda body, n: body["messages"][n].update(
        content=[{"type": "text", "text": body["messages"][n]["content"]}]
    ),
}
WORDS = st.lists(st.text(min_size=1), min_size=2, max_size=6)


@settings(max_examples=12)
@given(texts=WORDS, numbers=st.lists(st.floats(allow_nan=False) | st.integers()), seed=st.integers(0, 2**16))
def test_one_planted_damage_is_named_and_nothing_happens_to_equal_ones(texts, numbers, seed):
    chosen = random.Random(seed)
    texts = [f"{n}{said}{'x' * 30} " for n, said in enumerate(texts)]
    body = {"model": "m", "numbers": numbers, "messages": [{"role": "user", "content": said} for said in texts]}
    whole = json.dumps(body).encode()
    assert damages_between(seen(whole), seen(whole)) == ()
    for kind, plant in PLANTED.items():
        place = chosen.randrange(len(texts))
        harmed = changed(body, lambda b, p=place, plant=plant: plant(b, p))
        (found,) = damages_between(seen(whole), seen(json.dumps(harmed).encode()))
        assert found.kind is kind
        assert found.was.startswith(f"/messages/{place}") and found.places == 1


@settings(max_examples=10)
@given(texts=WORDS, seed=st.integers(0, 2**16))
def test_a_stream_cut_anew_is_that_and_a_lost_piece_is_one(texts, seed):
    chosen = random.Random(seed)
    events = said(texts)
    whole = stream(events)
    joined = "".join(texts)
    cuts = sorted(chosen.randrange(len(joined) + 1) for _ in range(3))
    pieces = [joined[a:b] for a, b in zip([0, *cuts], [*cuts, len(joined)], strict=True)]
    got = damages_between(seen(answer=stream(said(pieces)), url=MESSAGES), seen(answer=whole, url=MESSAGES))
    assert {damage.kind for damage in got} <= {DamageKind.EVENTS_RECUT}
    lost = [event for n, event in enumerate(events) if n != 3]
    (found,) = damages_between(seen(answer=stream(lost), url=MESSAGES), seen(answer=whole, url=MESSAGES))
    assert found.kind is DamageKind.DELTAS_LOST


def test_the_bodies_of_the_tests_mean_what_they_are_to_mean():
    assert (
        seen(text(ASKED)).protocol == "openai-chat" and seen(text(SAME), url=MESSAGES).protocol == "anthropic-messages"
    )


def test_every_kind_has_words_for_people_that_differ() -> None:
    words = {damage_words(kind) for kind in DamageKind}
    assert len(words) == len(DamageKind) and "rewritten" in words and not any("anew" in each for each in words)
