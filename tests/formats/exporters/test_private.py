"""Redacted sessions: nothing private is left, everything has the same length, and the findings are the same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests import breakages
from tests.breakages.artefacts import artefact
from tests.formats.exporters.selecting import bodies, findings
from tests.thinning import Thin
from workbench.config.resources import folder
from workbench.errors import LocalProtocolError
from workbench.formats import exporters
from workbench.formats.exporters._kept_words import FIXED, TEXT, contract_words
from workbench.formats.exporters._private_json import is_stand_in
from workbench.formats.exporters._private_text import prove_findings, redact_and_prove, redact_session
from workbench.formats.exporting import PASSES, ExportRequest
from workbench.formats.importers import open_input
from workbench.ir import Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.protocols.decode import RESPONSE, DecodedExchange
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession, Session, exchanges_of

EXAMPLES = sorted(folder("sessions").glob("*.jsonl"))
SALT = b"of a test"
_WORD = re.compile("[A-Za-z]{5,}")


def holds(session: Session) -> None:
    """Every law of a redacted session."""
    made = redact_session(session, SALT)
    prove_findings(session, made)
    for was, now in zip(exchanges_of(session), exchanges_of(made), strict=True):
        assert list(map(len, bodies(was))) == list(map(len, bodies(now)))
    again = redact_session(made, b"another salt")
    assert list(map(bodies, exchanges_of(again))) == list(map(bodies, exchanges_of(made)))
    assert not left(session, made)


def left(session: Session, made: Session) -> set[str]:
    """Words of the private texts of a session that still stand in them, and that nothing of a contract holds."""
    was, now = (list(map(DecodedExchange, range(len(s)), exchanges_of(s))) for s in (session, made))
    kept = FIXED.union(*map(contract_words, was))
    private = set().union(*map(said, was))
    return {
        word
        for word in private & set().union(*map(said, now))
        if word.lower() not in kept and not is_stand_in(word.lower())
    }


def said(decoded: DecodedExchange) -> set[str]:
    texts: list[str] = []
    for side in ("request", RESPONSE):
        for message in decoded.messages(side):
            for part in message.parts:
                inner = part.content if isinstance(part, ToolResultIR) else (part,)
                texts += [p.text or "" for p in inner if isinstance(p, Text | Reasoning)]
                texts += [json.dumps(p.input) for p in inner if isinstance(p, ToolCallIR)]
    return set(_WORD.findall(TEXT.sub(" ", " ".join(texts))))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples(path: Path) -> None:
    holds(open_input(str(path)))


def test_a_sample_of_what_others_recorded(recordings: Path, thin: Thin) -> None:
    index = (recordings / "index.tsv").read_text().splitlines()[1:]
    for line in thin(index[::7], 3):
        name, size = line.split("\t")[0], int(line.split("\t")[13])
        if size < 60_000:
            holds(open_input(str(recordings / name)))


def test_every_breakage_of_the_catalogue(tmp_path: Path, thin: Thin) -> None:
    for entry in thin(breakages.entries(), 3):
        given = artefact(entry)
        if given:
            path = tmp_path / f"{entry['id']}{given.suffix}"
            path.write_bytes(given.raw)
            session = open_input(str(path))
            prove_findings(session, redact_session(session, SALT))


def asked(
    value: object, url: str = "https://api.openai.com/v1/chat/completions", *headers: tuple[str, str]
) -> Exchange:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Exchange("1", HttpRequest("POST", url, Headers(headers), Body(body)), HttpResponse(200))


def made(*exchanges: Exchange) -> tuple[Exchange, ...]:
    return tuple(exchanges_of(redact_session(MemorySession("it", exchanges), SALT)))


def body(value: object) -> str:
    request = made(asked(value))[0].request
    assert request
    return request.body.raw.decode("utf-8", "surrogateescape")


def test_each_character_is_written_as_the_one_it_replaces() -> None:
    raw = (
        rb'{ "model":"gpt-4.1",'
        b'"messages":[{"role":"user",'
        b'"content":"Caf\\u00e9 caf\xc3\xa9 \\ud835\\udc00\\n\\tSecret42 \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e  "}] }'
    )
    text = body(raw)
    assert re.fullmatch(
        r'\{ "model":"gpt-4\.1","messages":\[\{"role":"user","content":"[A-Z][a-z]{2}\\u00[0-9a-f]{2} '
        r'[a-z]{3}[\xc0-\xff] \\ud835\\ud[c-f][0-9a-f]{2}\\n\\t[A-Z][a-z]{5}42 [一-鿿]{3}  "\}\] \}',
        text,
    ), text
    assert "Caf" not in text and "ecret" not in text and len(text.encode()) == len(raw)


def test_the_same_text_has_the_same_stand_in_however_it_is_written() -> None:
    path = "/home/grandmother/Müller\\notes 日記.txt"
    inner = json.dumps({"path": path})
    text = body({"a": {"b": path}, "messages": [{"role": "tool", "content": f"read {path}"}, {"arguments": inner}]})
    held = json.loads(text)
    stand_in = held["a"]["b"]
    assert stand_in != path and "grandmother" not in text
    assert held["messages"][0]["content"].endswith(stand_in)
    assert json.loads(held["messages"][1]["arguments"]).popitem()[1] == stand_in


def test_names_of_a_contract_stay_and_what_is_said_does_not() -> None:
    tool = {"name": "get_weather", "description": "Tell of the weather",
            "parameters": {"type": "object", "properties": {"place": {"enum": ["Lisbon", "Porto"]}}}}  # fmt: skip
    call = {
        "id": "call_abc",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"place": "Porto", "who": "Amelia"}'},
    }
    text = body({
        "model": "gpt-4.1", "user": "amelia", "temperature": 0.25,
        "tools": [{"type": "function", "function": tool}],
        "messages": [{"role": "user", "content": "Amelia wonders about Porto: <think>hidden</think> 12 1234"},
                     {"role": "assistant", "tool_calls": [call]}],
    })  # fmt: skip
    for kept in ("get_weather", "Porto", "Lisbon", "call_abc", '"who\\"', "<think>", "0.25", " 12 ", '"properties"'):
        assert kept in text
    for private in ("Amelia", "amelia", "wonders", "hidden", "1234", "Tell of the"):
        assert private not in text


def test_a_word_that_a_stream_cuts_is_the_word_that_is_sent_back() -> None:
    def chunk(text: str) -> bytes:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        value = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"

    stream = b"".join(map(chunk, ("The grandm", "other of Ame", "lia, sö ", "schön"))) + b"data: [DONE]\n\n"
    first = asked({"model": "m", "stream": True, "messages": [{"role": "user", "content": "who?"}]})
    answer = HttpResponse(200, Headers((("content-type", "text/event-stream"),)), Body(stream))
    history = [
        {"role": "user", "content": "who?"},
        {"role": "assistant", "content": "The grandmother of Amelia, sö schön"},
    ]
    one, two = made(
        Exchange("1", first.request, answer),
        asked({"model": "m", "messages": [*history, {"role": "user", "content": "oh"}]}),
    )
    streamed = "".join(
        m.parts[0].text or "" for m in DecodedExchange(0, one).messages(RESPONSE) if isinstance(m.parts[0], Text)
    )
    assert two.request and json.loads(two.request.body.raw)["messages"][1]["content"] == streamed
    assert "grandm" not in streamed and one.response and len(one.response.body.raw) == len(stream)


def test_what_is_sealed_keeps_its_alphabet_and_is_the_same_everywhere() -> None:
    seal = "EqQBCkYIAxgCKkA/+abcDEF0123456789==" * 4
    text = body(
        {"messages": [{"content": [{"type": "thinking", "thinking": "hm", "signature": seal}, {"signature": seal}]}]}
    )
    first, second = (part["signature"] for part in json.loads(text)["messages"][0]["content"])
    assert first == second != seal and re.sub("[A-Za-z0-9]", "x", first) == re.sub("[A-Za-z0-9]", "x", seal)


def test_an_error_keeps_the_words_of_its_provider_and_not_those_it_quotes() -> None:
    request = asked({"model": "gpt-4.1", "messages": [{"role": "user", "content": "about Amelia"}]})
    error = {"error": {"message": "Invalid value: 'Amelia'. Supported values are: 'system'", "code": "invalid_value"}}
    refused = HttpResponse(400, Headers(), Body(json.dumps(error).encode()))
    response = made(Exchange("1", request.request, refused))[0].response
    assert response
    assert b"Invalid value: '" in response.body.raw and b"invalid_value" in response.body.raw
    assert b"Amelia" not in response.body.raw


def test_heads_hold_no_private_word() -> None:
    url = "https://gateway.grandmother.example/v1/chat/completions?tenant=grandmother"
    request = made(asked({"messages": []}, url, ("x-team", "grandmother"), ("content-type", "application/json")))[
        0
    ].request
    assert request and "grandmother" not in request.url and len(request.url) == len(url)
    assert request.url.startswith("https://") and "/v1/chat/completions?tenant" not in request.url
    assert "grandmother" not in str(request.headers) and request.headers.get("content-type") == "application/json"


def test_a_difference_is_named_and_nothing_is_exported() -> None:
    session = open_input(str(folder("sessions") / "deepseek-reasoning-lost.jsonl"))
    healthy = MemorySession("it", tuple(exchanges_of(session))[:1])
    with pytest.raises(LocalProtocolError, match=r"exchange 2, request /messages/1: .*reasoning\.missing is no longer"):
        prove_findings(session, healthy)
    with pytest.raises(LocalProtocolError, match=r"exchange 1, response .*closure\.pending is no longer found"):
        prove_findings(healthy, session)
    with pytest.raises(LocalProtocolError, match=r"closure\.pending is new"):
        prove_findings(MemorySession("it", ()), healthy)
    assert findings(redact_and_prove([session]).inspectors[0].session) == findings(session)


def test_what_is_read_is_counted_and_may_be_cancelled() -> None:
    session = open_input(str(folder("sessions") / "anthropic-long-session.jsonl"))
    asked = ExportRequest(session, tuple(range(len(session))), is_redacted=True)
    steps: list[tuple[int, int]] = []
    replace(asked, step=lambda done, total: steps.append((done, total))).export(exporters.load("text"))
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1))
    assert {total for _, total in steps} == {PASSES * len(session)}
    assert PASSES * len(session) <= len(steps) <= 2 * PASSES * len(session)

    def cancel(done: int, total: int) -> None:
        if done > total // 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        replace(asked, step=cancel).export(exporters.load("text"))
