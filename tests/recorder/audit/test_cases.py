"""What is sent and answered is legal: an audit that sent rubbish would blame the gateway."""

from __future__ import annotations

import gzip

import pytest

from workbench.contracts import pages
from workbench.protocols.decode import DecodedExchange
from workbench.recorder.audit.case import AuditCase, ResponseEnd, Theme, mark
from workbench.recorder.audit.cases import PROTOCOLS, cases_of, conversion_cases, hello
from workbench.recorder.audit.sighting import BodySighting, Sighting
from workbench.wire.exchange import Headers
from workbench.wire.http1.head import read_response
from workbench.wire.jsontext import loads


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_request_is_json_and_known_by_its_mark(protocol: str) -> None:
    cases = cases_of(protocol)
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        body = case.request.body
        if body is None:
            continue
        text = gzip.decompress(body) if ("Content-Encoding", "gzip") in case.request.headers else body
        assert mark(case.name).encode() in text, case.name
        assert b"@" not in text.replace(b"ann@example.com", b"").replace(b"@type", b""), case.name
        loads(text)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_answer_is_one_of_the_protocol(protocol: str) -> None:
    """But for those that are broken off, and pages that are no JSON, our own reader has nothing to say of them."""
    for case in cases_of(protocol):
        if case.response.end is not ResponseEnd.WHOLE or case.response.status == 503:
            continue
        if case.request.method != "POST" or case.request.path.endswith("/count_tokens"):
            continue
        decoded = DecodedExchange(0, _sighting(case).exchange("one", 0.0))
        assert decoded.protocol == protocol, case.name
        assert decoded.response, case.name
        assert not [p for p in decoded.problems if p.message.startswith("response")], case.name


def _sighting(case: AuditCase) -> Sighting:
    seen = Sighting("client", "POST", f"http://x{case.request.path}", Headers(case.request.headers), 0.0)
    lines = "".join(f"\r\n{name}: {value}" for name, value in case.response.headers)
    seen.response = read_response(f"HTTP/1.1 {case.response.status} OK{lines}".encode())
    seen.response_body = BodySighting(list(case.response.pieces), [0.0] * len(case.response.pieces))
    seen.ended = 1.0
    return seen


def test_every_theme_has_cases_in_every_protocol() -> None:
    for protocol in PROTOCOLS:
        assert {case.theme for case in cases_of(protocol)} == set(Theme), protocol


def test_every_rule_that_a_case_names_can_be_explained() -> None:
    named = {case.rule for protocol in PROTOCOLS for case in cases_of(protocol) if case.rule}
    assert named <= set(pages.slugs())


def test_another_model_is_asked_for_where_the_protocol_names_it() -> None:
    assert hello("gemini", "m/1").request.path == "/v1beta/models/m/1:generateContent"
    assert b'"model":"m/1"' in (hello("openai-chat", "m/1").request.body or b"")
    assert cases_of("openai-chat", "gpt-4o-mini") is cases_of("openai-chat")


def test_a_gateway_that_translates_gets_requests_of_one_protocol_and_answers_of_the_other() -> None:
    cases = {case.name: case for case in conversion_cases("anthropic-messages", "openai-chat")}
    assert b"chat.completion" in cases["signature"].response.pieces[0]
    assert b'"stream":true' in (cases["streamed-parallel"].request.body or b"")
    assert cases["streamed-parallel"].request.path == "/v1/messages"
    assert "number-spelling" not in cases
