"""What would go to a target: only what is asked for changes, and every loss is said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulator.conftest import block, chat
from workbench.errors import LocalProtocolError, UsageError
from workbench.protocols.decode import DecodedExchange
from workbench.send.outgoing import prepare
from workbench.send.target import Target
from workbench.send.target_names import resolve
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, Redaction

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent?key=AIzaSy"
GEMINI_BODY = b'{ "contents": [{"role": "user", "parts": [{"text": "hi"}]}] }'
ODD = b'{"model" : "m\\u0031",\n\t"messages": [ {"role":"user","content":"\\u00e9"} ], "x": 1.0e3 }'


def decoded(body, protocol="openai-chat", url="", **more):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    asked = HttpRequest("POST", url, Headers(more.pop("headers", ())), Body(data), **more)
    return DecodedExchange(0, Exchange("a", asked), protocol)


def endpoint(protocol="openai-chat", **more):
    return Target("there", protocol, "https://x.example/v1", **more)


def test_its_own_protocol_goes_byte_for_byte():
    made = prepare(decoded(ODD), endpoint())
    assert made.request.body.raw == ODD
    assert made.request.url == "https://x.example/v1/chat/completions"
    assert (made.protocol, made.model, made.is_stream, made.notes) == ("openai-chat", "m1", False, ())
    assert not made.is_converted and made.asks_first


def test_a_simulator_gets_a_path_and_asks_nobody():
    made = prepare(decoded(block(), "anthropic-messages"), resolve("sim:anthropic"))
    assert made.request.url == "/v1/messages" and not made.asks_first
    assert made.contract.name == "anthropic"


@pytest.mark.parametrize(
    ("change", "body"),
    [
        ({"model": "other"}, ODD.replace(b'"m\\u0031"', b'"other"')),
        ({"stream": True}, ODD.replace(b"1.0e3 }", b'1.0e3,\n\t"stream" : true }')),
        ({"stream": False}, ODD),
        ({"model": "m1"}, ODD),
    ],
)
def test_only_what_is_asked_for_changes(change, body):
    made = prepare(decoded(ODD), endpoint(), **change).request.body.raw
    if change == {"stream": True}:  # laid out as its neighbours are
        assert made.startswith(ODD[:-2]) and json.loads(made) == {**json.loads(ODD), "stream": True}
    else:
        assert made == body


def test_a_stream_is_taken_back_with_its_options():
    asked = b'{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}'
    made = prepare(decoded(asked), endpoint(), stream=False)
    assert made.request.body.raw == b'{"model":"m","stream":false,"messages":[]}'
    assert "stream_options removed: only accepted together with streaming" in made.notes and not made.is_stream


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({}, "models/gemini-3:generateContent"),
        ({"stream": True}, "models/gemini-3:streamGenerateContent?alt=sse"),
        ({"model": "gemini-4"}, "models/gemini-4:generateContent"),
    ],
)
def test_gemini_says_model_and_stream_in_its_path(change, path):
    made = prepare(decoded(GEMINI_BODY, "gemini", GEMINI_URL), resolve("gemini"), **change)
    assert made.request.url == f"https://generativelanguage.googleapis.com/v1beta/{path}"
    assert made.request.body.raw == GEMINI_BODY and "AIza" not in repr(made.request)


def test_ollama_streams_unless_told_otherwise():
    body = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    where = endpoint("ollama")
    assert prepare(decoded(body, "ollama"), where).is_stream
    assert prepare(decoded(body, "ollama"), where, stream=True).request.body.raw == body
    assert prepare(decoded(body, "ollama"), where, stream=False).request.body.raw == body[:-1] + b',"stream":false}'


def test_the_model_of_a_target_counts_unless_one_is_named():
    where = endpoint(model="theirs")
    assert json.loads(prepare(decoded(chat()), where).request.body.raw)["model"] == "theirs"
    made = prepare(decoded(chat()), where, model="mine")
    assert made.model == json.loads(made.request.body.raw)["model"] == "mine"
    assert made.notes == ("model mine instead of m",)


@given(
    st.sampled_from(["openai-chat", "anthropic-messages", "ollama"]), st.text(min_size=1, max_size=30), st.booleans()
)
def test_model_and_stream_are_all_that_differs(protocol, model, stream):
    asked = block() if protocol == "anthropic-messages" else chat()
    made = prepare(decoded(asked, protocol), endpoint(protocol), model=model, stream=stream)
    read = DecodedExchange(0, Exchange("b", made.request), protocol)
    assert read.request.model == model and read.request.stream == stream
    told = json.loads(made.request.body.raw)
    assert {**told, "model": asked["model"], "stream": None} == {**asked, "stream": None}
    back = prepare(read, endpoint(protocol), model=asked["model"]).request.body.raw
    assert {**json.loads(back), "stream": None} == {**asked, "stream": None}


def test_another_protocol_is_written_where_the_target_speaks_no_other():
    made = prepare(decoded(chat()), resolve("sim:anthropic"))
    assert (made.protocol, made.is_converted, made.request.url) == ("anthropic-messages", True, "/v1/messages")
    assert made.notes[0] == "converted from openai-chat to anthropic-messages" and made.losses
    assert made.request.headers.get("anthropic-version") == "2023-06-01"


def test_it_is_spelled_as_the_provider_spells_it():
    asked = {**block(), "max_tokens": 77}
    made = prepare(decoded(asked, "anthropic-messages"), resolve("mistral"))
    told = json.loads(made.request.body.raw)
    assert told["max_tokens"] == 77 and "max_completion_tokens" not in told
    assert any(note.startswith("the request names the recorded model claude-sonnet-4-5") for note in made.notes)


def test_of_several_protocols_its_own_counts():
    made = prepare(decoded(block(), "anthropic-messages"), resolve("deepseek"))
    assert made.request.url == "https://api.deepseek.com/anthropic/v1/messages" and not made.is_converted
    made = prepare(decoded(chat()), resolve("deepseek"), protocol="anthropic-messages")
    assert made.request.url == "https://api.deepseek.com/anthropic/v1/messages" and made.is_converted


BROKEN = b'{"model": "m", "messages": [\xff'


def test_what_cannot_be_read_goes_as_it_is():
    made = prepare(decoded(BROKEN), endpoint(), model="other", stream=True)
    assert made.request.body.raw == BROKEN and made.request.url.endswith("/v1/chat/completions")
    assert made.notes[0].startswith("the body is sent unchanged:")
    assert "the model cannot be changed: the body is unreadable" in made.notes
    assert "streaming cannot be changed: the body is unreadable" in made.notes


def test_what_cannot_be_read_may_need_a_model_for_its_path():
    unread = decoded(b"{", "gemini")
    with pytest.raises(LocalProtocolError, match="set the model with --model"):
        prepare(unread, resolve("gemini"))
    made = prepare(unread, resolve("gemini"), model="gemini-3", stream=True)
    assert made.request.url.endswith("/v1beta/models/gemini-3:streamGenerateContent?alt=sse") and made.is_stream


def test_a_request_of_nothing_goes_to_its_own_path():
    asked = HttpRequest("POST", "https://x.example/v1/embeddings?key=abc&a=1", Headers(), Body(b"[1]"))
    made = prepare(
        DecodedExchange(0, Exchange("a", asked)), Target("t", "openai-chat", "https://y.example"), protocol=""
    )
    assert made.request.body.raw == b"[1]" and made.request.url.startswith("https://y.example/v1/")


def test_what_is_worth_a_word():
    marks = (Redaction("body", 3, 9, "api-key"),)
    plain = Target("lan", "openai-chat", "http://10.0.0.7:8000", key_variable="K")
    notes = prepare(decoded(chat(), redactions=marks), plain).notes
    assert "the body contains stand-ins for secrets that were redacted when recording" in notes
    assert "the API key is sent unencrypted: 10.0.0.7 uses plain http" in notes


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [
        (lambda: prepare(DecodedExchange(0, Exchange("a")), endpoint()), LocalProtocolError, "no request was recorded"),
        (lambda: prepare(decoded(chat()), endpoint(), protocol="gemini"), UsageError, "there does not support gemini"),
        (lambda: prepare(decoded(chat()), endpoint(), protocol="morse"), UsageError, "no protocol named 'morse'"),
    ],
)
def test_what_cannot_go_there(what, error, said):
    with pytest.raises(error, match=said):
        what()
