"""A session in pieces, the same in memory, and each exchange by itself: the same bytes, IR, places and findings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.protocols import REQUEST, DecodedExchange, KnownMessages
from workbench.provenance import leaves
from workbench.rules.inspection import Inspector
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, PiecedText
from workbench.wire.session import MemorySession, Session, open_session, store

JSON = Headers((("content-type", "application/json"),))
LONG = "x" * 4096
"""Makes a body long enough to be stored in pieces."""

Json = dict[str, Any]


def blocks_body(said: list[Any], head: Json, tail: Json) -> Json:
    tools = [{"name": "read", "description": LONG, "input_schema": {"type": "object"}}]
    return {"model": "claude-sonnet-4-5", "max_tokens": 99, **head, "messages": said, "tools": tools, **tail}


def chat_body(said: list[Any], head: Json, tail: Json) -> Json:
    function = {"name": "read", "description": LONG, "parameters": {"type": "object"}}
    return {"model": "gpt-5", **head, "messages": said, "tools": [{"type": "function", "function": function}], **tail}


def items_body(said: list[Any], head: Json, tail: Json) -> Json:
    return {"model": "gpt-5", "instructions": LONG, **head, "input": said, **tail}


def blocks_turn(number: int) -> list[Any]:
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"path": f"{number}"}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"text {number} \u20ac"}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def chat_turn(number: int) -> list[Any]:
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n":{number}}}'}}
    result = {"role": "tool", "tool_call_id": f"call_{number}", "content": f"text {number}"}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, result]


def items_turn(number: int) -> list[Any]:
    tools = [{"type": "function", "name": f"more_{number}", "parameters": {}}]
    return [
        {"type": "function_call", "call_id": f"call_{number}", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": f"call_{number}", "output": f"text {number}"},
        *([{"type": "additional_tools", "tools": tools}] if number % 5 == 4 else []),
    ]


KINDS: dict[str, tuple[str, Callable[..., Json], Callable[[int], list[Any]]]] = {
    "blocks": ("https://api.anthropic.com/v1/messages", blocks_body, blocks_turn),
    "chat": ("https://api.openai.com/v1/chat/completions", chat_body, chat_turn),
    "items": ("https://api.openai.com/v1/responses", items_body, items_turn),
}
ODD = (None, 3, {}, {"role": 4, "content": "x"}, {"role": "user", "content": "\ud83d half"}, [[]])


@st.composite
def bodies(draw: st.DrawFn, kind: str) -> list[bytes]:
    """Requests of an agent, each with something that the one before it did not have."""
    _, body, turn = KINDS[kind]
    said: list[Any] = [{"role": "user", "content": "fix it"}]
    head: Json = {}
    tail: Json = {}
    made = list[bytes]()
    for number in range(draw(st.integers(3, 9))):
        step = draw(st.sampled_from(("grow", "grow", "grow", "back", "again", "head", "tail", "odd", "mark", "side")))
        now = said
        if step == "grow":
            now = said = said + turn(number)
        elif step == "back":
            now = said = said[: draw(st.integers(1, len(said)))] + turn(number)
        elif step == "head":
            head = {"temperature": number}
        elif step == "tail":
            tail = {"metadata": {"user_id": f"{number}"}, "stream": False}
        elif step == "odd":
            now = said = [*said, draw(st.sampled_from(ODD))]
        elif step == "mark" and isinstance(said[-1], dict):
            now = [*said[:-1], {**said[-1], "cache_control": {"type": "ephemeral"}}]
        elif step == "side":
            now = [{"role": "user", "content": f"a title for {number}"}]
        gap = draw(st.sampled_from((None, None, None, 1)))
        made.append(
            json.dumps(body(now, head, tail), indent=gap, ensure_ascii=draw(st.booleans())).encode("utf-8", "replace")
        )
    return made


RAW = (
    lambda text: text.replace(b'"messages": [', b'"messages": [], "messages": [', 1),
    lambda text: text[:-1] + b', "model": "other"}',
    lambda text: b"\xef\xbb\xbf" + text,
    lambda text: text[:-20],
    lambda text: text.replace(b"fix it", b"fix \xff it", 1),
    lambda text: text[:-1] + b', "more": 01}',
    lambda text: text + b" x",
)


def exchanges(kind: str, texts: list[bytes]) -> tuple[Exchange, ...]:
    url = KINDS[kind][0]
    answer = HttpResponse(200, JSON, Body(b"{}"))
    return tuple(Exchange(f"e{n}", HttpRequest("POST", url, JSON, Body(text)), answer) for n, text in enumerate(texts))


def places(decoded: DecodedExchange) -> Iterator[object]:
    """Every place on the wire that a pane or a finding may ask for."""
    for message in decoded.messages(REQUEST):
        yield decoded.place(REQUEST, message.pointer)
        for leaf in leaves(message):
            yield decoded.place_of(REQUEST, message, leaf.part, leaf.name)
    for pointer in ("", "/tools", "/tools/0", "/model", "/messages", "/input", "/metadata/user_id", "/max_tokens"):
        yield decoded.place(REQUEST, pointer)
    yield decoded.request_index.elements("")
    yield decoded.request_index.pointer_at(len(decoded.request_text) // 2)
    yield decoded.turns


def reading(decoded: DecodedExchange) -> tuple[object, ...]:
    """All that is read of a request."""
    request = decoded.request
    members = [decoded.request_members.get(key) for key in ("model", "tools", "messages", "input", "stream", "none")]
    return (
        repr(request and replace(request, messages=tuple(request.messages))),
        request and [a.pointer for a in request.anomalies],
        [m.pointer for m in decoded.messages(REQUEST)],
        [tool.pointer for tool in request.tools] if request else (),
        repr(members),
        decoded.protocol,
        decoded.request_body.size,
        [decoded.request_has(test) for test in (has_mark, has_half)],
        decoded.request_text,
        list(places(decoded)),
        [p.message for p in decoded.problems],
    )


def has_mark(text: bytes) -> bool:
    return b'"cache_control"' in text


def has_half(text: bytes) -> bool:
    return b"\\ud83d" in text


def check_same(made: tuple[Exchange, ...], folder: Path) -> None:
    """The session in memory, in a file of either form, and without anything kept."""
    alone = [reading(DecodedExchange(n, exchange)) for n, exchange in enumerate(made)]
    found = list[Any]()
    for name in ("a.wb", "a.jsonl", ""):
        session: Session = MemorySession("a", made)
        if name:
            store.save(made, folder / name)
            session = open_session(folder / name)
        with closing(session):
            known = KnownMessages()
            assert [reading(DecodedExchange(n, session.exchange(n), known=known)) for n in range(len(made))] == alone
            backwards = KnownMessages()
            for n in reversed(range(len(made))):
                assert reading(DecodedExchange(n, session.exchange(n), known=backwards)) == alone[n]
            inspections = (Inspector(session).run(), Inspector(session, known=None).run())
            found += [
                (i.findings, [replace(row, summary=None) for row in i.rows], i.conversations) for i in inspections
            ]  # type: ignore[arg-type]
    assert all(other == found[0] for other in found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_requests_are_read_the_same_from_pieces(kind: str, data: st.DataObject) -> None:
    texts = data.draw(bodies(kind))
    if data.draw(st.booleans()):
        number = data.draw(st.integers(0, len(texts) - 1))
        texts[number] = data.draw(st.sampled_from(RAW))(texts[number])
    with tempfile.TemporaryDirectory() as folder:
        check_same(exchanges(kind, texts), Path(folder))


def test_a_body_is_joined_only_for_who_asks(tmp_path: Path) -> None:
    _, body, turn = KINDS["blocks"]
    said: list[Any] = [{"role": "user", "content": "fix it"}]
    texts = list[bytes]()
    for number in range(30):
        said += turn(number)
        texts.append(json.dumps(body(said, {}, {})).encode())
    store.save(exchanges("blocks", texts), tmp_path / "a.wb")
    with closing(open_session(tmp_path / "a.wb")) as session:
        known = KnownMessages()
        for n in range(len(texts)):
            exchange = session.exchange(n)
            decoded = DecodedExchange(n, exchange, known=known)
            assert isinstance(decoded.request_body, PiecedText)
            assert len(decoded.messages(REQUEST)) == 2 * n + 3
            assert n == 0 or "request_text" not in vars(decoded)
    assert exchange.request is not None
    assert exchange.request.body.raw == texts[-1]  # the file is closed
    assert exchange.request.body == Body(texts[-1])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=6), min_size=2, max_size=12), st.data())
def test_parts_of_a_body_in_pieces(pieces: list[bytes], data: st.DataObject) -> None:
    from workbench.wire.body_text import PieceRun, WholeText

    run = PieceRun(None)
    run.extend(range(len(pieces) - 1), b"\0" * 8 * (len(pieces) - 1), pieces[:-1])
    text, whole = PiecedText(run, len(pieces) - 1, pieces[-1]), b"".join(pieces)
    start, end = sorted(data.draw(st.integers(0, len(whole))) for _ in range(2))
    assert text.between(start, end) == whole[start:end]
    assert (text.whole(), text.size) == (whole, len(whole))
    other = data.draw(st.binary(max_size=9)) if data.draw(st.booleans()) else whole + b"x"
    shared = text.count_shared(WholeText(other))
    assert whole[:shared] == other[:shared]
    assert whole[shared : shared + 1] != other[shared : shared + 1] or shared == min(len(whole), len(other))
