"""Two exchanges side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from workbench.chain import Conversations
from workbench.diff import comparison
from workbench.diff.comparison import (
    Comparison,
    compare_answers,
    compare_exchanges,
    compare_hops,
    hops_of,
)
from workbench.diff.damage import DamageKind
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

compare_sessions = partial(comparison.compare_sessions, conversations=Conversations)

URL = "https://api.openai.com/v1/chat/completions"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def answer(**message: object) -> bytes:
    said = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": "stop"}
    return dumps({"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [said]})


def streamed(*deltas: dict, end: str = "stop") -> bytes:
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": end})
    base = {"id": "chatcmpl-2", "object": "chat.completion.chunk", "model": "m"}
    events = [b"data: " + dumps({**base, "choices": [chunk]}) + b"\n\n" for chunk in chunks]
    return b"".join((*events, b"data: [DONE]\n\n"))


def exchange(body: bytes, said: bytes | None = None, status: int = 200, **headers: str) -> Exchange:
    kind = "text/event-stream" if said and said.startswith(b"data:") else "application/json"
    response = None if said is None else HttpResponse(status, Headers((("content-type", kind),)), Body(said))
    return Exchange("x", HttpRequest(url=URL, headers=Headers(tuple(headers.items())), body=Body(body)), response)


def decoded(body: bytes = b"", said: bytes | None = None, status: int = 200, **headers: str) -> DecodedExchange:
    return DecodedExchange(0, exchange(body or dumps(ASKED), said, status, **headers))


def call(name: str, arguments: str, id: str = "call_1") -> dict:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def differing(before: DecodedExchange, after: DecodedExchange) -> list[tuple[str, object, object]]:
    pairs = compare_answers(before, after).pairs
    return [
        ((p.after or p.before).kind, p.before and p.before.value, p.after and p.after.value)  # type: ignore[union-attr]
        for p in pairs
        if not p.is_same
    ]


def test_a_stream_and_a_whole_body_that_say_the_same_are_the_same() -> None:
    whole = decoded(said=answer(content="Hello there"))
    stream = decoded(said=streamed({"role": "assistant"}, {"content": "Hello "}, {"content": "there"}))
    found = compare_answers(whole, stream)
    assert found.is_same
    assert found.first == 0


def test_call_ids_and_the_spelling_of_arguments_are_no_difference() -> None:
    one = decoded(said=answer(tool_calls=[call("f", '{"a": 1.0}')]))
    other = decoded(said=answer(tool_calls=[call("f", '{"a":1}', "call_9")]))
    assert compare_answers(one, other).is_same


ANSWERS = {
    "another text": (answer(content="a"), answer(content="b"), [("text", "a", "b")]),
    "a lost parallel call": (
        answer(tool_calls=[call("f", "{}"), call("g", "{}", "call_2")]),
        answer(tool_calls=[call("g", "{}")]),
        [("call", {}, None)],
    ),
    "other arguments": (
        answer(tool_calls=[call("f", '{"a":1}')]),
        answer(tool_calls=[call("f", '{"a":2}')]),
        [("call", {"a": 1}, {"a": 2})],
    ),
    "reasoning that came": (
        answer(content="x"),
        answer(content="x", reasoning_content="because"),
        [("reasoning", None, "because")],
    ),
    "a text where a call was": (
        answer(tool_calls=[call("f", "{}")]),
        answer(content="f()"),
        [("text", None, "f()"), ("call", {}, None)],
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_items_that_belong_together_stand_side_by_side(name: str) -> None:
    before, after, expected = ANSWERS[name]
    found = differing(decoded(said=before), decoded(said=after))
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_a_refusal_beside_an_answer() -> None:
    refused = decoded(said=dumps({"error": {"message": "no", "type": "invalid_request_error"}}), status=400)
    kinds = {kind: (old, new) for kind, old, new in differing(refused, decoded(said=answer(content="yes")))}
    assert kinds["status"] == (400, 200)
    assert kinds["error"] == ("no", None)
    assert kinds["text"] == (None, "yes")


def test_no_answer_beside_an_answer() -> None:
    found = compare_exchanges(decoded(), decoded(said=answer(content="yes")))
    assert found.answers
    assert all(pair.before is None for pair in found.answers.pairs)
    assert not found.is_same


def test_headers_of_one_connection_are_left_out() -> None:
    old = decoded(said=answer(content="a"), Host="a.example", **{"anthropic-beta": "x"})
    new = decoded(said=answer(content="a"), host="b.example", **{"Content-Length": "9"})
    assert [h.name for h in compare_exchanges(old, new).headers] == ["anthropic-beta"]


def test_another_spelling_is_the_same_meaning_in_other_bytes() -> None:
    spaced = dumps(ASKED).replace(b":", b" : ")
    found = compare_exchanges(decoded(dumps(ASKED), answer(content="a")), decoded(spaced, answer(content="a")))
    assert found.is_same and not found.is_same_bytes
    assert found.request and found.request.changes[0].spelling == ("whitespace",)


def pairs(found: list[Comparison]) -> list[tuple[int | None, int | None]]:
    return [(one.before, one.after) for one in found]


def test_sessions_are_aligned_at_equal_requests() -> None:
    a, b, c, d = (dumps({**ASKED, "seed": n}) for n in range(4))
    before = MemorySession("A", tuple(exchange(body) for body in (a, b, c)))
    after = MemorySession("B", tuple(exchange(body) for body in (b, d, d, c)))
    found = list(compare_sessions(before, after))
    assert pairs(found) == [(0, None), (1, 0), (None, 1), (None, 2), (2, 3)]
    assert [one.is_same_bytes for one in found] == [False, True, False, False, True]


def test_what_differs_at_one_place_stands_side_by_side() -> None:
    a, b, c, d = (dumps({**ASKED, "seed": n}) for n in range(4))
    before = MemorySession("A", tuple(exchange(body) for body in (a, b, c)))
    after = MemorySession("B", tuple(exchange(body) for body in (a, d, c)))
    assert pairs(list(compare_sessions(before, after))) == [(0, 0), (1, 1), (2, 2)]
    assert list(compare_sessions(MemorySession("A", ()), MemorySession("B", ()))) == []


def test_conversations_stand_side_by_side_in_whatever_order_they_were_recorded() -> None:
    def said(words: str, *more: str, hop: str = "", seed: int = 0) -> Exchange:
        roles = ("user", "assistant")
        messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate((words, *more))]
        return replace(exchange(dumps({**ASKED, "seed": seed, "messages": messages})), hop=hop)

    fix, title, other = "fix the failing test", "a title of five words", "list every file that is here"
    before = MemorySession("A", (said(fix), said(title), said(fix, "how", "so")))
    after = MemorySession(
        "B",
        (
            said(title, seed=1),
            said(other),
            said(fix, seed=1),
            said(fix, "how", "again"),
            said(fix, "how", "so", seed=1),
        ),
    )
    assert pairs(list(compare_sessions(before, after))) == [(None, 1), (0, 2), (1, 0), (None, 3), (2, 4)]
    assert pairs(list(compare_sessions(MemorySession("A", (said("ho"),)), MemorySession("B", (said("hi"),))))) == [
        (0, 0)
    ]
    alone = MemorySession("A", (said(fix, hop="client"),))
    both = MemorySession("B", (said(fix, hop="upstream"), said(other, hop="client"), said(fix, hop="client", seed=1)))
    assert pairs(list(compare_sessions(alone, both))) == [(None, 0), (None, 1), (0, 2)], "each hop with its own"


def sighting(hop: str, body: bytes, said: bytes, at: float | None = None, lasts: float = 1.0) -> Exchange:
    seen = exchange(body, said)
    return replace(seen, id=f"{hop}{at}", hop=hop, started_at=at, duration=None if at is None else lasts)


def asked(words: str) -> bytes:
    return dumps({**ASKED, "messages": [{"role": "user", "content": words}]})


TURNS = [f"  where is number {n} of them?  " for n in (1, 2, 3)]
OUTER = [sighting("client", asked(words), answer(content="There"), 10.0 * n, 2.0) for n, words in enumerate(TURNS)]
INNER = [sighting("g", asked(words.strip()), answer(content="There "), 10.0 * n + 0.5) for n, words in enumerate(TURNS)]


def test_two_places_stand_side_by_side_turn_by_turn() -> None:
    title = sighting("g", asked("a title"), answer(content="T"), 0.6, 0.1)
    before, after = MemorySession("A", tuple(OUTER)), MemorySession("B", (INNER[0], title, *INNER[1:]))
    found = list(compare_sessions(before, after))
    assert sorted(pairs(found), key=str) == [(0, 0), (1, 2), (2, 3), (None, 1)]
    turn = found[0]
    assert turn.outer == "before" and not turn.is_same_bytes and not turn.is_same
    assert [(d.kind, d.side) for d in turn.damages] == [
        (DamageKind.TEXT_TRIMMED, "request"),
        (DamageKind.TEXT_TRIMMED, "response"),
    ]
    (alone,) = [one for one in found if one.before is None]
    assert alone.damages[0].kind is DamageKind.ASKED


def test_the_place_nearer_to_the_client_is_known_by_its_times() -> None:
    found = list(compare_sessions(MemorySession("B", tuple(INNER)), MemorySession("A", tuple(OUTER))))
    assert pairs(found) == [(0, 0), (1, 1), (2, 2)]
    assert {one.outer for one in found} == {"after"}
    assert found[0].damages[0].kind is DamageKind.TEXT_TRIMMED


def test_places_without_names_are_told_by_times_that_enclose_one_another() -> None:
    outer, inner = ([replace(one, hop="") for one in place] for place in (OUTER, INNER))
    found = list(compare_sessions(MemorySession("A", tuple(outer)), MemorySession("B", tuple(inner))))
    assert {one.outer for one in found} == {"before"}
    copies = list(compare_sessions(MemorySession("A", tuple(outer)), MemorySession("A", tuple(outer))))
    assert {one.outer for one in copies} == {""} and all(one.is_same_bytes for one in copies)


def test_the_places_of_one_recording() -> None:
    far = [replace(one, hop="far", started_at=(one.started_at or 0) + 0.1, duration=0.5) for one in INNER]
    session = MemorySession("S", tuple(one for turn in zip(far, INNER, OUTER, strict=True) for one in turn))
    assert hops_of(session) == ["client", "g", "far"]
    assert [one.is_same_bytes for one in compare_hops(session, "g", "far")] == [True, True, True]
    assert pairs(list(compare_hops(session, "client", "g"))) == [(2, 1), (5, 4), (8, 7)]


def test_a_turn_that_was_tried_again_stands_beside_the_last_try() -> None:
    first = sighting("g", asked(TURNS[0].strip()), b'{"error": {"message": "later"}}', 0.2, 0.1)
    session = MemorySession("B", (first, INNER[0]))
    (found,) = compare_sessions(MemorySession("A", (OUTER[0],)), session)
    assert (found.after, found.tries, found.damages[0].kind) == (1, (0, 1), DamageKind.REPEATED)
