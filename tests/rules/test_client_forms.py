"""Forms of answers on which single clients fail: each is found in its example, none in what the maker itself sends."""

from __future__ import annotations

import json

import pytest

from tests.rules.test_clients import HEAD
from tests.siblings.further_wires import ALL
from tests.siblings.wires import Wire
from workbench import protocols
from workbench.contracts.answer_forms import AnswerForm, AnswerPiece, known_answer_forms
from workbench.contracts.reader import Node
from workbench.errors import ProfileError
from workbench.rules._shared import client_forms
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.session import MemorySession

FORMS = [(name, form) for name in protocols.protocols() for form in known_answer_forms(name)]
FIRST = HEAD + b'[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
BEGUN = HEAD + b'[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":'
PIECE = HEAD + b'[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\n'
END = HEAD + b'[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
WHOLE = FIRST + BEGUN + b'{"name":"f","arguments":""}}]}}]}\n\n' + PIECE + END
LATE = FIRST + BEGUN + b'{"name":"f"}}]}}]}\n\n' + PIECE + END
RAISES = {"name": "c", "then": "raises"}


def found(
    body: bytes, agent: str = "", provider: str = "openai", origin: Origin = Origin.RECORDED
) -> list[tuple[str, str, tuple[int, ...], str]]:
    request = HttpRequest(url="", headers=Headers((("user-agent", agent),)), body=Body(b""))
    answer = HttpResponse(200, Headers((("content-type", "text/event-stream"),)), Body(body))
    session = MemorySession("a", (Exchange("1", request, answer, origin=origin),))
    run = Inspector(session, protocol="openai-chat", provider=provider).run()
    return [(f.rule, f.severity.value, f.events, f.message) for f in run.findings if f.rule.startswith("stream.")]


def test_a_first_piece_without_arguments_names_who_fails_on_it() -> None:
    assert found(WHOLE) == []
    ((rule, severity, events, message),) = found(LATE)
    assert (rule, severity, events) == ("stream.client-raises", "info", (1,))
    assert "first piece of a call without arguments" in message and "Open WebUI" in message


def test_forms_at_one_place_are_one_remark() -> None:
    bare = FIRST.replace(b'"id":"c1",', b"").replace(b'"created":1,', b"")
    assert len(bare) < len(FIRST) - 20
    ((rule, severity, events, message),) = found(WHOLE.replace(FIRST, bare))
    assert (rule, severity, events) == ("stream.client-raises", "info", (0,))
    assert "an answer without id (" in message and "an answer without created (" in message


def test_a_client_of_one_provider_is_named_there_alone() -> None:
    assert found(WHOLE, provider="groq") == []
    ((rule, severity, events, message),) = found(WHOLE, provider="mistral")
    assert (rule, severity, events) == ("stream.client-raises", "info", (2,))
    assert "@ai-sdk/mistral" in message


def test_what_is_rebuilt_from_a_transcript_has_no_form() -> None:
    assert found(LATE) and found(LATE, origin=Origin.RECONSTRUCTED) == []


def test_conditions_are_on_the_same_event() -> None:
    (form,) = [
        form for form in known_answer_forms("anthropic-messages") if form.words == "a message_delta without usage"
    ]
    assert list(form.places({"type": "message_delta", "delta": {}})) == ["/usage"]
    assert not list(form.places({"type": "message_stop"}))


@pytest.mark.parametrize("body", [b": keep-alive\n\n" + WHOLE, WHOLE.replace(b"\n", b"\r\n")])
def test_comments_and_carriage_returns_are_a_matter_of_framing(body: bytes) -> None:
    assert {row[:2] for row in found(body)} == {("stream.framing", "info")}


def test_lines_without_a_space_are_a_matter_of_framing() -> None:
    ((rule, severity, events, _),) = found(WHOLE.replace(b"data: {", b"data:{"))
    assert (rule, severity, events) == ("stream.framing", "info", (0,))


@pytest.mark.parametrize(("protocol", "form"), FORMS, ids=lambda each: each if isinstance(each, str) else each.words)
def test_each_form_is_in_its_example(protocol: str, form: AnswerForm) -> None:
    if form.line:
        assert isinstance(form.example, str) and form.is_in(form.example.encode())
    else:
        assert list(form.places(form.example)), "the test does not pass on the example"
    assert all(client.source.startswith("https://") and client.date for client in form.clients)


@pytest.mark.parametrize("wire", [wire for wire in ALL if known_answer_forms(wire.name)], ids=lambda wire: wire.name)
def test_what_the_maker_sends_has_none(wire: Wire) -> None:
    whole = wire.answer(text="I look.")
    events = wire.events(text="I look.")
    for form in known_answer_forms(wire.name):
        assert not form.is_in(b"data: " + json.dumps(events[0]).encode())
        assert not (AnswerPiece.BODY in form.pieces and list(form.places(whole))), form.words
    rows = Inspector(MemorySession("a", (wire.exchange("1", wire.whole(), wire.stream(events)),))).run()
    assert not [f.message for f in rows.findings if f.rule.startswith("stream.")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"at": "/a", "above": 3}, "unknown key"),
        ({"at": "/a", "is": "x", "form": "f"}, "texts are compared only at"),
        ({"at": "/a", "longer": 3, "form": "f"}, "whether a value is empty"),
        ({"at": "/a", "absent": True, "when": {"/b": "x"}, "form": "f"}, "texts are compared only at"),
        ({"at": "/a", "absent": True, "form": "f"}, "no client"),
        ({"at": "/a", "absent": True, "form": "f", "pieces": ["middle"], "clients": [RAISES]}, "is not one of"),
        ({"at": "/a", "absent": True, "form": "f", "clients": [{"name": "c", "then": "waits"}]}, "is not one of"),
    ],
)  # fmt: skip
def test_a_line_that_says_something_else_is_refused(line: dict[str, object], words: str) -> None:
    from workbench.contracts import answer_forms as module

    with pytest.raises(ProfileError, match=words):
        module._form(Node(line, "forms"))


def test_nothing_of_an_answer_is_kept_and_depth_is_no_fault() -> None:
    deep = HEAD + b'[{"index":0,"delta":{"role":"assistant","content":"a secret text"}}],"more":'
    assert found(deep + b"[" * 400 + b"]" * 400 + b"}\n\n" + WHOLE) == []
    assert "a secret text" not in repr(client_forms._result_cache)
