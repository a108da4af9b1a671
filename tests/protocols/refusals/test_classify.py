"""Failures of many providers, as they come and as people paste them, and the kind of each."""

from __future__ import annotations

import re
from pathlib import Path
from time import process_time

import pytest

from workbench.contracts import pages
from workbench.errors import WireError
from workbench.protocols import refusals
from workbench.protocols.common.error_body import read_error, read_error_text
from workbench.protocols.refusals._classify import LONGEST
from workbench.protocols.refusals._kinds import table
from workbench.wire.exchange import Headers
from workbench.wire.jsontext import loads

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "texts.tsv").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
"""Status (0: none is known), text as seen, kinds it may be called, where it was seen."""


def decoded(text: str):
    try:
        return read_error(loads(text.encode())) or read_error_text(text.encode())
    except WireError:
        return read_error_text(text.encode())


def test_an_error_body_is_of_its_kind():
    wrong = []
    for status, text, expected, source in ROWS:
        found = refusals.of_error(decoded(text), int(status))
        if found is None or found.kind.name not in expected.split("|"):
            wrong.append((expected, found and (found.kind.name, found.by, found.words), text, source))
    assert not wrong


def test_a_pasted_text_is_of_its_kind():
    """Without its status a few texts say nothing: they may be unknown, and never something else."""
    unknown = 0
    for _, text, expected, source in ROWS:
        found = refusals.classify(f"Error: {text} (see the log)")
        unknown += found is None
        vague = found is not None and found.kind.name in ("request-refused", "not-found")
        assert found is None or vague or found.kind.name in expected.split("|"), (expected, found, text, source)
    assert unknown <= len(ROWS) // 20


PLACES = ("", "model", "parameter", "media", "url", "tools", "tool_choice", "state", "field", "message")


def test_the_table_is_sound():
    known = table()
    assert len(known.kinds) == len({kind.says for kind in known.kinds.values()})
    for kind in known.kinds.values():
        assert kind.fix, kind.name
        assert set(kind.rules) <= set(pages.slugs()), kind.name
        assert kind.at in (
            "",
            "model",
            "parameter",
            "media",
            "url",
            "tools",
            "tool_choice",
            "state",
            "field",
            "message",
        )
    for pattern, kind, source in (*known.sure.rows, *known.texts.rows):
        assert source, (kind.name, pattern.pattern)
        assert not re.search(r"[A-Z]", re.sub(r"\\.|\(\?P<", "", pattern.pattern)), (
            f"{pattern.pattern}: texts are tried in small letters"
        )
        assert not re.search(r"[)\]][*+]\)?[*+]|\.\*.*\.\*", pattern.pattern), "a pattern that may not be linear"


def test_the_table_of_statements_is_sound():
    from workbench.protocols.refusals._statements import _rows

    for row in _rows().rows:
        assert row.rule in pages.slugs(), row.rule
        assert not re.search(r"[A-Z]", re.sub(r"\\.", "", row.says.pattern)), row.says.pattern


SAID = {
    "Function Call arguments are not valid JSON.. Trying again.": "args.invalid-json",
    "ModelBehaviorError: Tool get_date not found in agent main": "call.unknown-tool",
    "Found AIMessages with tool_calls that do not have a corresponding ToolMessage.": "closure.missing-result",
    "patternProperties is not supported by this API": "schema.unsupported-keyword",
    "duplicate tool_call_ids in the request": "closure.duplicate-id",
    "tool names must be unique": "schema.duplicate-name",
    "too many tools: 200, at most 128 tools": "schema.too-many-tools",
    "1 validation error for SearchArgs query Field required [type=missing]": "args.schema",
    "11 validation errors for JSONRPCMessage JSONRPCRequest.method Field required [type=missing]": "mcp.framing",
    "MCP error -32001: Request timed out": "mcp.timeout",
    "received 1007 (invalid frame payload data); then sent 1007 (invalid frame payload data)": "socket.closed",
    "The server could not read the tool of the user": "",
    "no tool was needed, and the result is a valid message": "",
}


@pytest.mark.parametrize(("text", "rule"), SAID.items())
def test_a_statement_in_plain_words_tells_a_rule(text, rule):
    complaint = refusals.refusal_of_complaint(refusals.complaint_of(text))
    found = refusals.classify(text) or complaint
    assert (found.rule if found else "") == rule


def test_no_text_costs_more_than_its_length():
    """Patterns are tried over a capped text: four times as long must not cost sixteen times as much."""
    for piece in ("model ", "tokens 1000 ", "max_tokens url image "):
        costs = []
        for size in (LONGEST // 8, LONGEST // 2):
            text = (piece * size)[:size]
            start = process_time()
            refusals.classify(text)
            costs.append(process_time() - start)
        assert costs[1] < max(costs[0], 0.002) * 10, piece


WAITS = [
    ("in the text", "Rate limit reached. Please try again in 6m0s.", {}, "in 6 min"),
    ("in milliseconds", "Rate limit reached. Please try again in 250ms", {}, "in 0.25 s"),
    ("in words", "too many requests, retry after 26 seconds", {}, "in 26 s"),
    ("in a header", "too many requests", {"retry-after": "20"}, "in 20 s"),
    ("in milliseconds of a header", "too many requests", {"Retry-After-Ms": "1500"}, "in 1.5 s"),
    ("a date", "too many requests", {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"},
     "at Wed, 21 Oct 2026 07:28:00 GMT (retry-after)"),
    ("the limit that is used up", "too many requests", {
        "x-ratelimit-remaining-requests": "12", "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7.66s",
    }, "in 7.66 s (x-ratelimit-reset-tokens)"),
    ("a point in time", "too many requests", {"anthropic-ratelimit-tokens-reset": "2026-01-27T12:00:30Z"},
     "at 2026-01-27T12:00:30Z (anthropic-ratelimit-tokens-reset)"),
    ("nothing", "too many requests", {"x-ratelimit-limit-requests": "5"}, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "headers", "expected"), [r[1:] for r in WAITS], ids=[r[0] for r in WAITS])
def test_a_limit_says_when_it_is_over(text, headers, expected):
    found = refusals.classify(text, headers=Headers(tuple(headers.items())))
    assert found is not None and found.kind.name == "rate-limit"
    assert found.values.get("reset") == expected


def test_a_body_says_when_a_limit_is_over():
    body = b'{"error":{"code":429,"message":"Quota exceeded","details":[{"@type":"RetryInfo","retryDelay":"34.07s"}]}}'
    found = refusals.of_exchange(429, Headers(), body)
    assert found is not None and found.says().endswith("reset in 34.1 s")


TOKENS = [
    ("prompt is too long: 213462 tokens > 200000 maximum", "213,462", "200,000"),
    ("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", "1,196,265",
     "1,048,575"),
    ("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (60000 in the messages, "
     "10000 in the completion).", "70,000", "65,536"),
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", "537,812", "131,072"),
    ("Current length is 9000 while limit is 8192: reduce the length of the messages", "9,000", "8,192"),
    ("request (4390 tokens) exceeds the available context size (4096 tokens)", "4,390", "4,096"),
    ("too many tokens: size limit exceeded by 25836 tokens. The limit for this model is 288000 tokens.",
     "313,836", "288,000"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found", "limit"), TOKENS)
def test_a_context_that_is_too_long_says_by_how_much(text, found, limit):
    refusal = refusals.classify(text)
    assert refusal is not None
    assert refusal.says() == f"the context is too long: {found} tokens of {limit}"


def test_characters_are_no_tokens():
    text = (
        "You passed 894 input characters and requested 4096 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 0 tokens (at most 0 characters). (value=894)"
    )
    refusal = refusals.classify(text)
    assert refusal is not None and refusal.says() == "the context is too long"


def test_an_excess_is_said_where_the_limit_is_not_known():
    refusal = refusals.classify(
        "prompt too long; exceeded max context length by 1119046 tokens (ref: 96164522-08b2-4cbf)"
    )
    assert refusal is not None
    assert refusal.says() == "the context is too long: 1,119,046 tokens over the limit"


SPEAKERS = [
    ("client", "httpx.ConnectError: [Errno 111] Connection refused"),
    ("gateway LiteLLM", "litellm.RateLimitError: RateLimitError: OpenAIException - rate limit"),
    ("gateway OpenRouter", '{"error":{"message":"Provider returned error","code":429}}'),
    ("gateway nginx", "<html><title>502 Bad Gateway</title><hr>nginx/1.18.0</html>"),
    ("provider", "Error while downloading file. Upstream status code: 404."),
    ("gateway Envoy", "upstream connect error or disconnect/reset before headers"),
    ("provider", '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
]


@pytest.mark.parametrize(("who", "text"), SPEAKERS)
def test_who_says_it(who, text):
    found = refusals.classify(text)
    assert found is not None and str(found.speaker) == who


def test_what_is_no_failure_has_no_kind():
    for text in ("", "  ", "hello", "I have read the file.", "{}"):
        assert refusals.classify(text) is None
    assert refusals.of_exchange(200, Headers(), b'{"error":"model not found"}') is None
