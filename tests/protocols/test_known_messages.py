"""What is known of messages changes how long an inspection takes, and nothing else."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.ir import Message
from workbench.protocols import get
from workbench.protocols.history import fact, where
from workbench.protocols.known_messages import KnownMessages, KnownParts
from workbench.rules.inspection import Inspector
from workbench.wire.body_text import WholeText
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

EXAMPLES = sorted((Path(__file__).parent.parent.parent / "sessions").glob("*.jsonl"))
ANTHROPIC, CHAT = "https://api.anthropic.com/v1/messages", "https://api.openai.com/v1/chat/completions"


def same(session):
    with_known, alone = Inspector(session), Inspector(session, known=None)
    assert with_known.run() == alone.run()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_are_judged_the_same(path):
    same(open_input(str(path)))


def test_recordings_are_judged_the_same(recordings, thin):
    seen = 0
    for path in thin(sorted(p for p in recordings.rglob("*") if p.is_file() and p.stat().st_size < 900_000), 5):
        with suppress(WorkbenchError):  # no session
            session = open_input(str(path))
            same(session)
            seen += len(session)
    assert seen > 10


TEXTS = st.sampled_from(("", " ", "hello", "\ud83d", "x" * 50, "<think>a</think>b", "[[{{"))
IDS = st.sampled_from(("toolu_1", "toolu_2", "", None, 7, "x" * 80, "bad id!"))
BLOCKS = st.one_of(
    TEXTS.map(lambda t: {"type": "text", "text": t}),
    st.builds(
        lambda i, v: {"type": "tool_use", "id": i, "name": "read", "input": v}, IDS, st.sampled_from(({}, "{}", 1))
    ),
    st.builds(lambda i, t: {"type": "tool_result", "tool_use_id": i, "content": t}, IDS, TEXTS),
    st.builds(
        lambda t, s: {"type": "thinking", "thinking": t, "signature": s}, TEXTS, st.sampled_from(("", "c2ln", None))
    ),
    st.sampled_from(({"type": "image", "source": {"type": "base64", "data": "eA=="}}, {"type": "other"}, 3, {})),
)
CALLS = st.lists(
    st.builds(lambda i, a: {"id": i, "type": "function", "function": {"name": "read", "arguments": a}}, IDS, TEXTS),
    max_size=2,
)
MESSAGES = st.one_of(
    st.builds(
        lambda r, c: {"role": r, "content": c},
        st.sampled_from(("user", "assistant", "system", "tool", 4)),
        st.one_of(TEXTS, st.lists(BLOCKS, max_size=3), st.none()),
    ),
    st.builds(lambda c, r: {"role": "assistant", "tool_calls": c, "reasoning_content": r}, CALLS, TEXTS),
    st.builds(lambda i, t: {"role": "tool", "tool_call_id": i, "content": t, "reasoning_details": []}, IDS, TEXTS),
    st.sampled_from((None, 1, [], {})),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(MESSAGES, min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 8), st.booleans()), min_size=2, max_size=6),
    st.sampled_from((ANTHROPIC, CHAT)),
)
def test_requests_that_share_messages_are_judged_the_same(messages, cuts, url):
    """The messages come again at other places, between others, and written in another way."""
    exchanges = []
    for number, (start, stop, spaced) in enumerate(cuts):
        body = {"model": "claude-x", "messages": messages[start:stop] * (1 + number % 2), "max_tokens": 9}
        text = json.dumps(body, indent=1 if spaced else None).encode()
        exchanges.append(Exchange(f"e{number}", HttpRequest("POST", url, Headers(), Body(text)), HttpResponse(200)))
    same(MemorySession("made", tuple(exchanges)))


DEEP = b'{"messages": [{"role": "user", "content": %s}], "metadata": %s}'


@pytest.mark.parametrize(
    "body",
    (
        DEEP % (b"[" * 498 + b"]" * 498, b"{}"),
        DEEP % (b"[" * 497 + b"]" * 497, b"{}"),
        DEEP % (b'"x"', b"[" * 499 + b"]" * 499),
        DEEP % (b'"x"', b"[" * 500 + b"]" * 500),
        DEEP % (b'"\xff\xed\xa0\x80"', b'"\\ud83d"'),
        DEEP % (b"NaN", b"1e999"),
        DEEP % (b"1" * 5000, b"0"),
        DEEP % (b"01", b"0"),
        b'\xef\xbb\xbf{"messages": []}',
        b'{"messages": [1], "messages": [2], "a": 1, "a": 2}',
        b'{"messages": {"a": 1}}',
        b'{"messages": [1]} x',
        b'{"messages": [1}',
        b'{"\\ud83d": 1, "messages": [null]}',
        b"[]",
    ),
    ids=range(15),
)
@pytest.mark.parametrize("protocol", ("anthropic-messages", "openai-chat"))
def test_a_body_is_read_or_refused_the_same(protocol, body):
    def read(known):
        try:
            request = get(protocol).decode_request(body, known)
            return repr(request), [m.pointer for m in request.messages]
        except Exception as error:
            return type(error), str(error)

    assert read(KnownMessages()) == read(None)


def request(*messages):
    return json.dumps({"messages": messages}).encode()


ASKED, ODD = {"role": "user", "content": "x"}, {"role": "user", "content": 3}


def test_a_message_that_comes_again_is_the_same_object_at_its_place_and_an_equal_one_elsewhere():
    known, decode = KnownMessages(), get("anthropic-messages").decode_request
    first, again, moved = (decode(request(*m), known) for m in ((ODD,), (ODD, ASKED), (ASKED, ODD)))
    assert again.messages[0] is first.messages[0]
    assert moved.messages[1].parts is first.messages[0].parts
    assert [a.pointer for a in first.anomalies + moved.anomalies] == ["/messages/0/content", "/messages/1/content"]


def test_what_nobody_asks_for_is_forgotten():
    parts = KnownParts(most=200)
    known, decode = KnownMessages(parts), get("anthropic-messages").decode_request
    first = decode(request(ASKED), known).messages[0]
    for n in range(50):
        decode(request({"role": "user", "content": f"{n:50d}"}), known)
        assert len(parts._new) + len(parts._old) <= 8
    assert decode(request(ASKED), known).messages[0] is not first


def test_a_fact_is_found_once_and_does_not_outlive_a_change():
    found = []

    def text(message, more):
        found.append(1)
        return message.parts[0].text + more

    message = get("anthropic-messages").decode_request(request(ASKED), KnownMessages()).messages[0]
    assert [fact(message, text, "a"), fact(message, text, "a"), fact(message, text, "b")] == ["xa", "xa", "xb"]
    assert len(found) == 2
    changed = replace(message, parts=(replace(message.parts[0], text="y"),))
    assert fact(changed, text, "a") == "ya"


def test_without_a_memory_nothing_is_kept():
    message = get("anthropic-messages").decode_request(request(ASKED)).messages[0]
    assert type(message) is Message
    assert fact(message, len_of) == 1


def test_messages_are_picked_alike_with_a_memory_and_without():
    body = request(ASKED, {"role": "user", "content": []}, ASKED)
    for known in (KnownMessages(), None):
        messages = get("anthropic-messages").decode_request(body, known).messages
        for _ in range(2):
            assert [n for n, _ in where(messages, len_of)] == [0, 2]


def len_of(message):
    return len(message.parts)


def test_files_that_share_their_parts_are_judged_as_if_they_did_not():
    shared = KnownParts()
    for path in EXAMPLES:
        with_shared = Inspector(open_input(str(path)), known=KnownMessages(shared)).run()
        assert with_shared == Inspector(open_input(str(path)), known=None).run(), path.name
        again = Inspector(open_input(str(path)), known=KnownMessages(shared)).run()
        assert again == with_shared, path.name


def test_the_fields_of_requests_are_read_once_for_all_that_have_the_same_bytes():
    shared, adapter = KnownParts(), get("openai-chat")
    bodies = [
        json.dumps({"model": model, "messages": [{"role": "user", "content": text}], "tools": []}).encode()
        for model, text in (("m", "a"), ("m", "b"), ("n", "a"))
    ]
    readings = [KnownMessages(shared).decode(adapter, WholeText(body))[1] for body in bodies]
    first, same, other = (reading.found_of_fields for reading in readings)
    assert first is same
    assert other is not first
