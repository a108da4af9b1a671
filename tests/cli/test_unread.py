"""What was not read is never clean, and what is no answer is an error: in all protocols and forms."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import pytest

from tests.cli.conftest import Run
from workbench import protocols
from workbench.cli._check import formats, junit
from workbench.cli._check.file_report import FileReport
from workbench.ir import Message, ModelRequest, ModelResponse, Text, Usage
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin, State
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession
from workbench.wire.stream import Framing, read_stream

SAID = "The weather in Paris is fine."
ASKED = ModelRequest(
    "", model="a-model", messages=(Message("user", (Text("How is the weather?"),)),), params={"max_tokens": 100}
)
TOLD = ModelResponse(
    "",
    id="answer-1",
    model="a-model",
    messages=(Message("assistant", (Text(SAID),)),),
    finish_reason="stop",
    stop="stop",
    usage=Usage(input=9, output=9),
)
FORMS = ("whole", "streamed")
TYPES = {
    Framing.SSE: "text/event-stream",
    Framing.NDJSON: "application/x-ndjson",
    Framing.JSON_ARRAY: "application/json",
    Framing.AWS: "application/vnd.amazon.eventstream",
    None: "application/json",
}


@cache
def healthy(protocol: str, form: str) -> tuple[bytes, str]:
    """(body, content type) of an answer."""
    adapter = protocols.get(protocol)
    if form == "streamed":
        body = adapter.write_stream(TOLD)
        return body, TYPES[read_stream(body).framing]
    return dumps(adapter.write_response(TOLD)), "application/json"


def exchange(protocol: str, form: str, body: bytes, kind: str, coding: str = "", **more: object) -> Exchange:
    adapter = protocols.get(protocol)
    request = adapter.write_request(ModelRequest(protocol, **_fields(form)))
    path = adapter.path(ModelRequest(protocol, **_fields(form)))
    headers = (("content-type", kind), *((("content-encoding", coding),) if coding else ()))
    return Exchange(
        "1",
        HttpRequest(url=f"https://gateway.example{path}", body=Body(dumps(request))),
        HttpResponse(200, Headers(headers), Body(body, encoding=coding)),
        **more,
    )


def _fields(form: str) -> Mapping[str, object]:
    return {"model": ASKED.model, "messages": ASKED.messages, "params": ASKED.params, "stream": form == "streamed"}


def inspected(made: Exchange) -> FileReport:
    return FileReport("a.wb", Inspector(MemorySession("a", (made,))).run())


def enveloped(body: bytes, form: str) -> bytes:
    """The answer as the value of one key, or each of its events so."""
    stream = read_stream(body)
    if form == "whole":
        return b'{"code": 0, "msg": "success", "data": ' + body + b"}"
    pieces, at = [], 0
    for event in stream.events:
        for start, end in event.data_spans:
            inner = body[start:end]
            pieces += [body[at:start], inner if inner == b"[DONE]" else _in_data(inner)]
            at = end
    return b"".join((*pieces, body[at:]))


def _in_data(inner: bytes | None) -> bytes:
    return b'{"code": 0, "data": ' + (inner or b"null") + b"}"


def foreign(protocol: str) -> str:
    return "openai-chat" if protocol != "openai-chat" else "anthropic-messages"


PAGE = b"<!doctype html><html><head><title>Sign in</title></head><body>Sign in to go on</body></html>"
Damage = Callable[[str, str], tuple[bytes, str, str]]

CELLS = [(p, f) for p in protocols.protocols() for f in FORMS]


def takes(protocol: str, form: str, damage: str) -> bool:
    """AWS frames are an envelope themselves, with checksums: no gateway wraps what is in them."""
    return damage != "an envelope" or read_stream(healthy(protocol, form)[0]).framing is not Framing.AWS


DAMAGES: dict[str, Damage] = {
    "a login page": lambda p, f: (PAGE, "text/html", ""),
    "a page that says it were the answer": lambda p, f: (PAGE, healthy(p, f)[1], ""),
    "an empty object": lambda p, f: (b"{}", "application/json", ""),
    "an object of another kind": lambda p, f: (b'{"ok": true}', "application/json", ""),
    "nothing": lambda p, f: (b"", healthy(p, f)[1], ""),
    "null": lambda p, f: (b"null", "application/json", ""),
    "plain text": lambda p, f: (b"upstream connect error", "text/plain", ""),
    "another protocol's answer": lambda p, f: (*healthy(foreign(p), f), ""),
    "an envelope": lambda p, f: (enveloped(healthy(p, f)[0], f), healthy(p, f)[1], ""),
    "cut": lambda p, f: (healthy(p, f)[0][: len(healthy(p, f)[0]) // 2], healthy(p, f)[1], ""),
    "binary": lambda p, f: (bytes(range(128, 256)) * 4, healthy(p, f)[1], ""),
    "gzip that is cut": lambda p, f: (gzip.compress(healthy(p, f)[0], mtime=0)[:-20], healthy(p, f)[1], "gzip"),
    "no gzip": lambda p, f: (b"\x00\x01\x02" * 9, healthy(p, f)[1], "gzip"),
    "a wrong content type": lambda p, f: (healthy(p, f)[0], "text/html", ""),
}


@pytest.mark.parametrize(("protocol", "form"), CELLS)
def test_a_healthy_answer_is_clean(protocol: str, form: str) -> None:
    report = inspected(exchange(protocol, form, *healthy(protocol, form)))
    assert [f for f in report.inspection.findings if f.severity == "error"] == []
    assert report.status("error") == 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("protocol", "form", "damage"), [(*c, d) for c in CELLS for d in DAMAGES if takes(*c, d)])
def test_nothing_else_is(protocol: str, form: str, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = inspected(exchange(protocol, form, *DAMAGES[damage](protocol, form)))
    found = [f for f in report.inspection.findings if f.severity != "info" and f.side == "response"]
    assert found
    assert report.status("error") == (1 if any(f.severity == "error" for f in found) else 3)
    _every_form_says_it(report, capsys)


def _every_form_says_it(report: FileReport, capsys: pytest.CaptureFixture[str]) -> None:
    rules = {f.rule for f in report.inspection.findings}
    formats.as_json([report], [])
    assert {f["rule"] for f in json.loads(capsys.readouterr().out)["files"][0]["findings"]} == rules
    formats.sarif([report], [])
    assert {r["ruleId"] for r in json.loads(capsys.readouterr().out)["runs"][0]["results"]} == rules
    junit.junit([report], [])
    (case,) = ET.fromstring(capsys.readouterr().out).findall("testsuite/testcase")
    assert case.find("failure") is not None or case.find("skipped") is not None
    formats.text([report], [])
    said = capsys.readouterr().out
    assert all(rule in said for rule in rules)


ERRORS = ("a login page", "nothing", "an envelope", "another protocol's answer", "an object of another kind")


@pytest.mark.parametrize(("protocol", "form", "damage"), [(*c, d) for c in CELLS for d in ERRORS if takes(*c, d)])
def test_what_was_read_and_is_no_answer_is_an_error(protocol: str, form: str, damage: str) -> None:
    report = inspected(exchange(protocol, form, *DAMAGES[damage](protocol, form)))
    (found,) = [f for f in report.inspection.findings if f.severity == "error"]
    wanted = {"nothing": "answer.none", "an envelope": "answer.reshaped"}.get(damage, "answer.foreign")
    assert found.rule == wanted
    if damage == "another protocol's answer":
        assert foreign(protocol) in found.message


@pytest.mark.parametrize(("protocol", "form"), [c for c in CELLS if takes(*c, "an envelope")])
def test_an_answer_in_an_envelope_is_decoded_and_its_places_are_right(protocol: str, form: str) -> None:
    made = exchange(protocol, form, *DAMAGES["an envelope"](protocol, form))
    decoded = Inspector(MemorySession("a", (made,))).detail(0).decoded
    (message,) = decoded.messages("response")
    (text,) = (part for part in message.parts if isinstance(part, Text))
    place = decoded.place_of("response", message, text, "text")
    assert text.text == SAID
    assert "".join(json.loads(decoded.response_text[slice(*span)]) for span in place.spans) == SAID


LEFT = "the client hung up"
BROKEN = "the upstream closed the connection"


@pytest.mark.parametrize(
    ("note", "has_answer", "rule", "severity", "status"),
    [
        (LEFT, False, "answer.abandoned", "info", 0),
        (LEFT, True, "answer.abandoned", "info", 0),
        (BROKEN, False, "answer.none", "error", 1),
        (BROKEN, True, None, "error", 1),
    ],
)
@pytest.mark.parametrize(("protocol", "form"), CELLS)
def test_who_ended_the_exchange_decides(
    protocol: str, form: str, note: str, has_answer: bool, rule: str | None, severity: str, status: int
) -> None:
    body, kind = healthy(protocol, form)
    made = exchange(protocol, form, body[: len(body) // 2], kind, state=State.ABORTED, note=note)
    if not has_answer:
        made = Exchange(made.id, made.request, state=State.ABORTED, note=note)
    report = inspected(made)
    assert {str(f.severity) for f in report.inspection.findings} == {severity}
    assert rule in (None, *(f.rule for f in report.inspection.findings))
    assert report.status("error") == status


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_a_request_that_cannot_be_decoded_is_said(protocol: str) -> None:
    made = exchange(protocol, "whole", *healthy(protocol, "whole"))
    assert made.request
    cut = HttpRequest(url=made.request.url, body=Body(made.request.body.raw[:-9]))
    report = inspected(Exchange("1", cut, made.response))
    of_request = [f for f in report.inspection.findings if f.side == "request"]
    assert [(f.rule, str(f.severity)) for f in of_request] == [("request.unread", "warning")]
    assert report.status("error") == 3


def har(*entries: tuple[str, str, object, object]) -> bytes:
    """A HAR of (method, URL, request, answer)."""
    return json.dumps(
        {
            "log": {
                "version": "1.2",
                "creator": {},
                "entries": [
                    {
                        "request": {
                            "method": method, "url": url, "headers": [],
                            **({"postData": {"text": json.dumps(asked)}} if asked else {}),
                        },
                        "response": {"status": 200, "headers": [], "content": {"text": json.dumps(told)}},
                    }
                    for method, url, asked, told in entries
                ],
            }
        }
    ).encode()  # fmt: skip


MODELS = ("GET", "https://api.openai.com/v1/models", None, {"object": "list", "data": []})
TELEMETRY = ("POST", "https://telemetry.example/v1/events", {"events": []}, {"accepted": 3})
CHAT = (
    "POST",
    "https://api.openai.com/v1/chat/completions",
    {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]},
    {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]},
)


@pytest.mark.parametrize(
    ("entries", "status"), [((MODELS, CHAT, TELEMETRY), 0), ((MODELS,), 3), ((TELEMETRY,), 3), ((CHAT,), 0)]
)
def test_what_no_protocol_claims_does_not_decide(run: Run, entries: tuple[object, ...], status: int) -> None:
    done = run("check", "-", stdin=har(*entries))
    assert done.status == status
    assert done.out.count("not a model exchange: ") == sum(e is not CHAT for e in entries)


@pytest.mark.parametrize(
    ("headers", "rule", "status"),
    [
        ((), "answer.unread", 3),
        ((("Content-Type", "application/json"),), "answer.unread", 3),
        ((("content-type", "application/json"), ("server", "nginx")), "answer.foreign", 1),
    ],
)
def test_an_empty_object_without_a_header_of_a_server_was_not_kept(
    headers: tuple[tuple[str, str], ...], rule: str, status: int
) -> None:
    made = exchange("openai-chat", "whole", b"{}", "application/json")
    assert made.response
    answer = replace(made.response, headers=Headers(headers))
    report = inspected(replace(made, response=answer, origin=Origin.IMPORTED))
    assert [f.rule for f in report.inspection.findings] == [rule]
    assert report.status("error") == status


@pytest.mark.parametrize(
    ("headers", "origin", "rule"),
    [
        ((("transfer-encoding", "chunked"),), Origin.IMPORTED, "answer.unread"),
        ((("content-length", "17"),), Origin.RECORDED, "answer.unread"),
        ((("transfer-encoding", "chunked"),), Origin.RECORDED, "answer.none"),
        ((("content-length", "0"),), Origin.IMPORTED, "answer.none"),
        ((), Origin.IMPORTED, "answer.none"),
    ],
)
def test_an_empty_body_whose_headers_tell_of_one_was_not_kept(headers, origin: Origin, rule: str) -> None:
    made = exchange("openai-chat", "whole", b"", "application/json", origin=origin)
    report = inspected(replace(made, response=HttpResponse(200, Headers(headers), Body(b""))))
    assert [f.rule for f in report.inspection.findings] == [rule]


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (200, (), "status 200, and the body is empty"),
        (202, (), ""),
        (204, (), ""),
        (304, (), ""),
        (307, (("location", "https://b.example/v1"),), "status 307: a redirect to 'https://b.example/v1', which"),
    ],
)
def test_the_status_decides_whether_an_answer_needs_a_body(status: int, headers, said: str) -> None:
    made = exchange("openai-chat", "whole", b"", "application/json", origin=Origin.RECORDED)
    answer = HttpResponse(status, Headers((("content-length", "0"), *headers)), Body(b""))
    found = inspected(replace(made, response=answer)).inspection.findings
    assert [f.rule for f in found] == (["answer.none"] if said else [])
    assert not said or found[0].message.startswith(said)
