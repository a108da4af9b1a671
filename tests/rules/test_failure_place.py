"""Where a failure of any provider lies in the request, and what is said of failures that no request shows."""

from __future__ import annotations

import pytest

URL = "https://example.org/cat.png"
IMAGE = {"type": "image_url", "image_url": {"url": URL}}
SECOND = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
AUDIO = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}


def body(*parts, **more):
    content = [{"type": "text", "text": "look"}, *parts]
    return {"model": "glm-9", "messages": [{"role": "user", "content": content}], **more}


def error(message, **more):
    return {"error": {"message": message, **more}}


IMAGE_AT, SECOND_AT = "/messages/0/content/1", "/messages/0/content/2"
PLACES = [
    ("a model", body(), 404, error("model 'glm-9' not found"), "model-unknown", "/model"),
    ("a retired model", body(), 400, error("this model has reached its end of life"), "model-retired", "/model"),
    ("a URL", body(SECOND, IMAGE), 400, error(f"Error while downloading {URL}.", code="invalid_value"),
     "url-not-fetched", f"{SECOND_AT}/image_url/url"),
    ("a URL that is not named", body(IMAGE, SECOND), 400, error("image url can not be accessed"), "url-not-fetched",
     IMAGE_AT),
    ("a feature", body(logprobs=True), 400, error("logprobs is not enabled for this model"), "feature-disabled",
     "/logprobs"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "status", "answer", "kind", "pointer"), [r[1:] for r in PLACES], ids=[r[0] for r in PLACES]
)
def test_a_kind_points_at_its_place(inspect, request_, status, answer, kind, pointer):
    (finding,) = [f for f in inspect(request_, answer, status=status, protocol="openai-chat") if f.kind]
    assert (finding.rule, finding.kind, finding.side, finding.pointer) == ("answer.error", kind, "request", pointer)
    assert finding.span is not None


MEDIA = [
    ("an image that is not taken", body(AUDIO, SECOND), 400, error("this model does not support image input"),
     "media-unsupported", SECOND_AT),
    ("audio that is not taken", body(SECOND, AUDIO), 400, error("this model does not support audio input"),
     "media-unsupported", SECOND_AT),
    ("an image that is too large", body(SECOND), 400, error("image exceeds the maximum size of 5 MB"),
     "media-too-large", IMAGE_AT),
    ("bytes", body(SECOND), 400, error("illegal base64 data at input byte 4"), "media-unreadable", IMAGE_AT),
]  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "status", "answer", "kind", "pointer"), [r[1:] for r in MEDIA], ids=[r[0] for r in MEDIA]
)
def test_a_kind_of_medium_that_is_refused_is_a_finding_of_its_rule(inspect, request_, status, answer, kind, pointer):
    (finding,) = [f for f in inspect(request_, answer, status=status, protocol="openai-chat") if f.kind]
    rule = "content.image-limit" if kind == "media-too-large" else "content.unsupported-part"
    assert (finding.rule, finding.kind, finding.side, finding.pointer) == (rule, kind, "request", pointer)


RULES = [
    ("a parameter out of its range", {"temperature": 5}, "temperature must be between 0 and 1.0 inclusive.",
     "params.unsupported", "parameter-range", "/temperature"),
    ("one below a group", {"options": {"num_ctx": 1}}, "num_ctx must be at least 512", "params.unsupported",
     "parameter-range", "/options/num_ctx"),
    ("one that is not taken", {"top_k": 5}, "Argument not supported on this model: topK", "params.unsupported",
     "parameter-unsupported", "/top_k"),
    ("a field", {"flavour": "x"}, "json: unknown field 'flavour'", "gateway.unknown-field", "json-schema-field",
     "/flavour"),
    ("no tools", {"tools": [{"type": "function", "function": {"name": "f"}}]}, "glm-9 does not support tools",
     "tools.unsupported", "tools-unsupported", "/tools"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message", "rule", "kind", "pointer"), [r[1:] for r in RULES], ids=[r[0] for r in RULES]
)
def test_a_kind_that_has_a_rule_is_a_finding_of_it(inspect, more, message, rule, kind, pointer):
    found = inspect(body(**more), error(message), status=400, protocol="openai-chat")
    assert [(f.rule, f.kind, f.pointer, f.severity) for f in found if f.kind] == [(rule, kind, pointer, "error")]


UNSHOWN = [
    (429, error("slow down", code="rate_limit_exceeded"), "rate-limit",
     "nothing in the request causes this; the same request may succeed later"),
    (400, error("API key not valid. Please pass a valid API key."), "key", "nothing in the request causes this"),
    (402, error("Insufficient Balance"), "quota", 
     "nothing in the request causes this; the same request may succeed later"),
    (529, error("Overloaded"), "overload", "nothing in the request causes this; the same request may succeed later"),
    (400, error("Tool choice is required, but model did not call a tool"), "model-answer-invalid",
     "the request is not at fault"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "answer", "kind", "words"), UNSHOWN)
def test_what_no_request_shows_is_said_to_be_that(inspect, status, answer, kind, words):
    (finding,) = inspect(body(), answer, status=status, protocol="openai-chat")
    assert (finding.kind, finding.side) == (kind, "response")
    assert finding.message.endswith(words)


def test_an_answer_that_a_filter_took_is_of_its_kind_with_status_200(inspect):
    answer = error("The response was filtered", code="content_filter")
    (finding,) = inspect(body(), answer, status=200, protocol="openai-chat")
    assert finding.kind == "content-filter"


def test_an_error_in_a_stream_says_its_kind(inspect):
    stream = b'data: {"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}\n\n'
    found = inspect(body(), stream, protocol="openai-chat")
    (finding,) = [f for f in found if f.rule == "stream.error-event"]
    assert finding.kind == "quota"
    assert finding.message.endswith("nothing in the request causes this; the same request may succeed later")
