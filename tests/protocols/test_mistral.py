"""Mistral's dialect of Chat Completions: content in chunks, calls that come whole, ids of nine characters."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest

from tests.protocols import laws
from tests.protocols.chat_bodies import Json, chunk, dump, stream
from workbench.formats.importers import open_input
from workbench.ir import Carrier, Message, Opaque, Part, Reasoning, Text, ToolCallIR, ToolChoice, ToolResultIR
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.openai_chat import adapter
from workbench.wire.session import exchanges_of

NAME = adapter.name
REFERENCE = {"type": "reference", "reference_ids": [1, "a"]}


def thinking(*texts: str, **more: Any) -> Json:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text} for text in texts], **more}


def thought(text: str, **extra: Any) -> Reasoning:
    return Reasoning(Carrier.THINKING_CHUNK, text, extra=extra)


CALL = {"id": "FI5qQGzDE", "function": {"name": "f", "arguments": '{"a": 1}'}, "index": 0}
MADE = ToolCallIR("FI5qQGzDE", "f", {"a": 1}, "openai", '{"a": 1}', extra={"index": 0})

MESSAGES: list[tuple[str, Json, tuple[Part, ...], Json]] = [
    (
        "thinking and text",
        {"role": "assistant", "content": [thinking("r", closed=True), {"type": "text", "text": "a"}], "prefix": False},
        (thought("r", closed=True), Text("a")),
        {"prefix": False},
    ),
    (
        "several thoughts in one chunk",
        {"role": "assistant", "content": [thinking("r", "s"), thinking()]},
        (thought("r"), thought("s"), thought("", thinking=[])),
        {},
    ),
    (
        "references in a thought",
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [REFERENCE]}]},
        (Opaque("thinking", {"type": "thinking", "thinking": [REFERENCE]}),),
        {},
    ),
    (
        "references",
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, REFERENCE]},
        (Text("a"), Opaque("reference", REFERENCE)),
        {},
    ),
    ("content without chunks", {"role": "assistant", "content": [], "tool_calls": [CALL]}, (MADE,), {}),
    (
        "a result with a name",
        {"role": "tool", "tool_call_id": "FI5qQGzDE", "name": "f", "content": "r"},
        (ToolResultIR("FI5qQGzDE", (Text("r"),), name="f"),),
        {},
    ),
    (
        "a prefix",
        {"role": "assistant", "content": "a", "prefix": True},
        (Text("a"),),
        {"prefix": True},
    ),
]


@pytest.mark.parametrize(("value", "parts", "extra"), [m[1:] for m in MESSAGES], ids=[m[0] for m in MESSAGES])
def test_messages(value: Json, parts: tuple[Part, ...], extra: Json) -> None:
    said = adapter.decode_request(dump({"model": "magistral-medium-latest", "messages": [value]}))
    assert said.messages == (Message(value["role"], parts, extra),)
    assert not said.anomalies
    laws.check(dump({"messages": [value]}), REQUEST, NAME)
    answer = adapter.decode_response(dump({"choices": [{"index": 0, "message": value}]}))
    assert answer.messages[0].parts == parts


def test_a_chunk_with_a_signature_is_no_chunk_of_theirs() -> None:
    block = {"type": "thinking", "thinking": "r", "signature": "s"}
    said = adapter.decode_request(dump({"messages": [{"role": "assistant", "content": [block]}]}))
    assert said.messages[0].parts == (Reasoning(Carrier.THINKING, "r", "s"),)


def test_any_is_some_tool() -> None:
    assert adapter.decode_request(dump({"messages": [], "tool_choice": "any"})).tool_choice == ToolChoice("any")


def whole(arguments: Any) -> Json:
    return chunk({"tool_calls": [{"id": "FI5qQGzDE", "function": {"name": "f", "arguments": arguments}, "index": 0}]})


STREAMS: list[tuple[str, list[Json], tuple[Part, ...], str, list[str]]] = [
    (
        "thinking, then text as a string",
        [
            chunk({"role": "assistant", "content": ""}),
            chunk({"content": [thinking("r")]}),
            chunk({"content": [thinking("s")]}),
            chunk({"content": [thinking()]}),
            chunk({"content": "a"}),
            chunk({"content": "b"}),
        ],
        (thought("rs"), Text("ab")),
        "stop",
        [],
    ),
    (
        "references between texts",
        [chunk({"content": [{"type": "text", "text": "a"}]}), chunk({"content": [REFERENCE]}), chunk({"content": "b"})],
        (Text("a"), Opaque("reference", REFERENCE), Text("b")),
        "stop",
        [],
    ),
    (
        "arguments at once",
        [whole('{"a": 1}')],
        (ToolCallIR("FI5qQGzDE", "f", {"a": 1}, "openai", '{"a": 1}'),),
        "tool_calls",
        [],
    ),
    (
        "arguments as an object",
        [whole({"a": 1})],
        (ToolCallIR("FI5qQGzDE", "f", {"a": 1}, "openai"),),
        "tool_calls",
        ["args.not-object"],
    ),
]


@pytest.mark.parametrize(("chunks", "parts", "reason", "noted"), [s[1:] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_streams(chunks: list[Json], parts: tuple[Part, ...], reason: str, noted: list[str]) -> None:
    body = stream([*chunks, chunk({}, reason)])
    found = laws.decode(body, RESPONSE, NAME).response
    assert found and found.messages[0].parts == parts
    assert [a.slug for a in found.anomalies] == noted
    laws.check(body, RESPONSE, NAME)


ERRORS: list[tuple[Any, str, str | None]] = [
    (
        {"object": "error", "message": "no", "type": "invalid_request_message_order", "param": None, "code": "3230"},
        "no",
        "3230",
    ),
    ({"detail": "Invalid API Key"}, "Invalid API Key", None),
    (
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
        "body.seed: Extra inputs are not permitted",
        None,
    ),
    (
        {"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "no"}]}, "type": "invalid_request_error"},
        "body: no",
        None,
    ),
]


@pytest.mark.parametrize(("body", "message", "code"), ERRORS)
def test_errors(body: Any, message: str, code: str | None) -> None:
    said = adapter.decode_response(dump(body), status=422)
    assert said.error and (said.error.message, said.error.code) == (message, code)


ODD = {"vercel-ai/mistral/mistral-incremental-tool-call.chunks.txt": {"stream.name.unusual"}}
"""File of a recording → what is noted of it beside its missing end: later pieces of the call have an empty name."""


def test_recordings(recordings: Path) -> None:
    """Every recording of the provider decodes, reasoning is readable, every leaf stands where it is said to."""
    with (recordings / "index.tsv").open() as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if row["provider"] == "mistral"]
    carriers, seen = set(), 0
    for row in rows:
        session = open_input(str(recordings / row["file"]))
        for number, exchange in enumerate(exchanges_of(session)):
            found = DecodedExchange(number, exchange)
            assert found.protocol == NAME and not found.problems
            for side, said, body in (
                (REQUEST, found.request, found.request_text),
                (RESPONSE, found.response, found.response_text),
            ):
                if said is not None:
                    odd = {a.slug for a in said.anomalies} - {"stream.no-terminator"}  # files of chunks alone
                    assert odd == ODD.get(row["file"], set()), (row["file"], said.anomalies)
                    subject = laws.check_places(body, side, NAME)
                    chance = random.Random(seen)
                    for message, leaf in chance.sample(subject.leaves(), min(3, len(subject.leaves()))):
                        laws.check_edit(subject, message, leaf, laws.other(leaf.value))
                    carriers |= {part.carrier for m in said.messages for _, part in m.reasoning() if part.text}
                    seen += 1
        session.close()
    assert len(rows) == 4 and seen > 10
    assert carriers == {Carrier.THINKING_CHUNK}
