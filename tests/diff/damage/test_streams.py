"""Every kind of damage to a stream has its name, and what is nearly one has not."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from tests.diff.damage.sightings import CHAT, MESSAGES, brief, changed, said, seen, stream, text, timed
from workbench.diff.damage import DamageKind, damages_between

SAID = said()
KEEP = ": keep-alive"
CHUNK = {"id": "c1", "object": "chat.completion.chunk", "model": "m"}


def chat(*deltas, end="stop", usage=True, done=True):
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
    chunks += [{"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}] * usage
    lines = [f"data: {json.dumps({**CHUNK, **chunk})}" for chunk in chunks]
    return stream([*lines, *["data: [DONE]"] * done])


def without(*numbers):
    return [event for n, event in enumerate(SAID) if n not in numbers]


def order(*numbers):
    return [SAID[n] for n in numbers]


def edited(number, change):
    events = [list(event) for event in SAID]
    events[number][1] = changed(events[number][1], change)
    return events


WHOLE = stream(SAID)
HI = ({"role": "assistant", "content": ""}, {"content": "Hi "}, {"content": "you"})
STREAMS = {
    "nothing": (WHOLE, WHOLE, []),
    "merged": (WHOLE, stream(said(["Hello there"], ['{"path": "."}'])), ["events re-cut /events/3"]),
    "split": (WHOLE, stream(said("Hello there", '{"path": "."}')), ["events re-cut /events/3"]),
    "no ping": (WHOLE, stream(without(2)), ["events dropped /events/2"]),
    "a ping": (stream(without(2)), WHOLE, ["events added /events/2"]),
    "a comment": (WHOLE, stream([*SAID[:4], KEEP, *SAID[4:]]), ["events added /events/4"]),
    "comments lost": (stream([KEEP, *SAID, KEEP]), WHOLE, ["events dropped /events/0"]),
    "no end": (WHOLE, stream(SAID[:-1]), ["events dropped /events/13"]),
    "cut off": (WHOLE, stream(SAID[:5]), ["truncated /content/0/text"]),
    "cut off in an event": (WHOLE, WHOLE[:700], ["truncated /events/5"]),
    "no blank line at the end": (WHOLE, WHOLE[:-1], ["truncated /events/13"]),
    "names": (WHOLE, stream(SAID, named=False), ["event names lost /events/0"]),
    "line endings": (WHOLE, stream(SAID, "\r\n"), ["framing changed"]),
    "no space": (WHOLE, WHOLE.replace(b"data: ", b"data:"), ["framing changed"]),
    "a piece lost": (WHOLE, stream(without(4)), ["deltas lost /content/0/text"]),
    "every piece of a call lost": (WHOLE, stream(without(8, 9, 10)), ["deltas lost /content/1/input"]),
    "a piece twice": (WHOLE, stream([*SAID[:5], *SAID[4:]]), ["deltas repeated /content/0/text"]),
    "pieces in another order": (WHOLE, stream(order(0, 1, 2, 4, 3, *range(5, 14))),
                                ["events reordered /content/0/text"]),
    "blocks that overlap": (WHOLE, stream(order(*range(6), 7, 6, *range(8, 14))), ["events reordered /events/7"]),
    "another text": (WHOLE, stream(edited(4, lambda e: e["delta"].update(text="low "))),
                     ["value changed /events/4/delta/text"]),
    "pieces trimmed": (WHOLE, stream(edited(4, lambda e: e["delta"].update(text="lo"))),
                       ["text trimmed /events/4/delta/text"]),
    "a member dropped": (WHOLE, stream(edited(0, lambda e: e["message"].pop("usage"))),
                         ["field dropped /events/0/message/usage"]),
    "key order": (WHOLE, stream(edited(0, lambda e: e.update(type=e.pop("type")))), ["key order /events/0"]),
    "compact": (WHOLE, stream(SAID, separators=(",", ":")), ["whitespace"]),
    "escapes": (stream(said(["é"]), ensure_ascii=False), stream(said(["é"])), ["escapes"]),
    "chat: merged": (chat(*HI), chat({"role": "assistant", "content": "Hi you"}), ["events re-cut /events/0"]),
    "chat: usage lost": (chat(*HI), chat(*HI, usage=False), ["events dropped /events/4"]),
    "chat: usage twice": (
        chat(*HI, done=False), chat(*HI, done=False) + chat(*HI, done=False).splitlines(keepends=True)[-2] + b"\n",
        ["events added /events/5"]),
    "chat: the end within the last piece, no usage": (
        chat(*HI),
        chat(*HI, usage=False).replace(b'"content": "you"}, "finish_reason": null}',
                                       b'"content": "you"}, "finish_reason": "stop"}')
        .replace(b'"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]', b'"choices": []'),
        ["events re-cut /events/3", "events dropped /events/4"]),
    "chat: [DONE] lost": (chat(*HI), chat(*HI, done=False), ["events dropped /events/5"]),
    "chat: reasoning lost": (chat({"reasoning_content": "hm"}, *HI), chat(*HI),
                             ["deltas lost /choices/0/message/reasoning_content"]),
    "chat: another end": (chat(*HI), chat(*HI, end="length"), ["value changed /events/3/choices/0/finish_reason"]),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_what_became_of_a_stream(name):
    upstream, client, expected = STREAMS[name]
    url = MESSAGES.replace("messages", "chat/completions") if name.startswith("chat") else MESSAGES
    found = damages_between(seen(answer=client, url=url), seen(answer=upstream, url=url))
    assert brief(found) == expected
    same = {
        DamageKind.EVENTS_RECUT,
        DamageKind.FRAMING_CHANGED,
        DamageKind.KEY_ORDER,
        DamageKind.WHITESPACE,
        DamageKind.ESCAPES,
    }
    quiet = ("no ping", "a ping", "a comment", "comments lost")
    assert all(damage.is_same_meaning == (damage.kind in same or name in quiet) for damage in found)


def test_the_first_bytes_of_events_cut_anew_are_told():
    client = stream(said(["Hello there"], ['{"path": "."}']))
    (found,) = damages_between(seen(answer=client, url=MESSAGES), seen(answer=WHOLE, url=MESSAGES))
    assert found.first == found.first_was == next(n for n in range(len(client)) if client[n] != WHOLE[n])


def items(*pieces):
    """An answer whose text is sent in pieces, and then whole."""
    deltas = [{"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": p}
              for p in pieces]  # fmt: skip
    done = {
        "type": "response.output_text.done",
        "item_id": "i",
        "output_index": 0,
        "content_index": 0,
        "text": "Hi you",
    }
    item = {"type": "message", "id": "i", "role": "assistant", "content": [{"type": "output_text", "text": "Hi you"}]}
    end = {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [item]}}
    events = [{**event, "sequence_number": n} for n, event in enumerate((*deltas, done, end))]
    return stream([(event["type"], event) for event in events])


ITEMS = {
    "nothing": (items("Hi ", "you"), []),
    "merged": (items("Hi you"), ["events re-cut /events/0"]),
    "a piece lost": (items("you"), ["deltas lost /events/0/delta"]),
}


@pytest.mark.parametrize("name", ITEMS)
def test_pieces_that_are_repeated_whole(name):
    client, expected = ITEMS[name]
    url = "https://a.example/v1/responses"
    assert brief(damages_between(seen(answer=client, url=url), seen(answer=items("Hi ", "you"), url=url))) == expected


BODY = {
    "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
    "content": [{"type": "text", "text": "Hello there"},
                {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "."}}],
    "usage": {"input_tokens": 3, "output_tokens": 9},
}  # fmt: skip
SHAPES = {
    "a stream as one body": (WHOLE, text(BODY), ["stream became one body"]),
    "one body as a stream": (text(BODY), WHOLE, ["body became a stream"]),
    "and a call is lost": (WHOLE, text({**BODY, "content": BODY["content"][:1]}),
                           ["stream became one body", "field dropped /content/1"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_stream_that_is_none_any_more(name):
    upstream, client, expected = SHAPES[name]
    assert brief(damages_between(seen(answer=client, url=MESSAGES), seen(answer=upstream, url=MESSAGES))) == expected


EVENTS = len(SAID)
NOISE = random.Random(7)
PACE = [0.1] * EVENTS
TIMES = {
    "passed on": (PACE, [0.1 + NOISE.uniform(-0.03, 0.03) for _ in PACE], False),
    "passed on late": (PACE, [0.7, *PACE[1:]], False),
    "a pause": (PACE, [*PACE[:5], 0.25, 0.0, 0.05, *PACE[8:]], False),
    "held to the end": (PACE, [1.4, *[0.0005] * (EVENTS - 1)], True),
    "in batches": (PACE, [0.1 if n % 4 == 0 else 0.0 for n in range(EVENTS)], True),
    "held, and played at its own pace": (PACE, [1.5, *[0.02] * (EVENTS - 1)], True),
    "came at once": ([0.001] * EVENTS, [0.1, *[0.0] * (EVENTS - 1)], False),
}


@pytest.mark.parametrize("name", TIMES)
def test_a_stream_that_was_held_back(name):
    sent, got, is_held = TIMES[name]
    upstream = timed(WHOLE, sent, started_at=100.01, duration=sum(sent))
    client = timed(WHOLE, got, started_at=100.0, duration=max(sum(got), sum(sent)) + 0.1)
    found = damages_between(client, upstream)
    assert [damage.kind for damage in found] == [DamageKind.BUFFERED] * is_held
    assert all(damage.is_same_meaning and damage.first is None for damage in found)


def test_a_stream_that_was_held_back_is_seen_through_other_cuts_and_without_a_common_clock():
    client = timed(stream(said(["Hello there"], ['{"path": "."}'])), [9.0, *[0.0] * 20])
    assert {d.kind for d in damages_between(client, timed(WHOLE, PACE))} == {
        DamageKind.EVENTS_RECUT,
        DamageKind.BUFFERED,
    }


def test_a_stream_of_another_protocol_is_held_back_just_so():
    pieces = [{"content": f"word {n} "} for n in range(10)]
    upstream = timed(chat(*pieces), [0.1] * 20, url=CHAT)
    client = stream(said([piece["content"] for piece in pieces], []))
    whole, paced = (timed(client, gaps) for gaps in ([2.0, *[0.0] * 20], [0.1] * 20))
    assert [damage.kind for damage in damages_between(whole, upstream)][-1] is DamageKind.BUFFERED
    assert DamageKind.BUFFERED not in [damage.kind for damage in damages_between(paced, upstream)]


def test_no_body_and_no_untimed_stream_is_held_back():
    slow = seen(answer=text(BODY), url=MESSAGES, chunks=timed(WHOLE, PACE).exchange.response.body.chunks)
    assert damages_between(seen(answer=text(BODY), url=MESSAGES), slow) == ()
    assert damages_between(seen(answer=WHOLE, url=MESSAGES), timed(WHOLE, PACE)) == ()


def test_a_content_coding_that_was_undone_is_transport_alone():
    packed = seen(answer=WHOLE, url=MESSAGES)
    sealed = seen(answer=gzip.compress(WHOLE), url=MESSAGES, encoding="gzip")
    (found,) = [damage for damage in damages_between(packed, sealed) if not damage.at.startswith("/headers")]
    assert (found.kind, found.is_same_meaning) == (DamageKind.CODING_CHANGED, True)


def test_ten_thousand_events_take_time_in_proportion():
    many = said([f"w{n} " for n in range(2_000)])
    lost = [event for n, event in enumerate(many) if n < 10 or n % 10]
    found = damages_between(seen(answer=stream(lost), url=MESSAGES), seen(answer=stream(many), url=MESSAGES))
    assert [(damage.kind, damage.places) for damage in found] == [
        (DamageKind.DELTAS_LOST, 200),
        (DamageKind.EVENTS_DROPPED, 1),
    ]
