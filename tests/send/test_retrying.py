"""When a request is sent again."""

from __future__ import annotations

import pytest

from workbench.send.endpoint import MOST_SECONDS, backoff, blames_request, is_retryable, requested_wait
from workbench.wire.exchange import Headers


@pytest.mark.parametrize(
    ("status", "told", "again"),
    [
        (200, "", False),
        (400, "", False),
        (408, "", False),
        (429, "", True),
        (500, "", True),
        (503, "", True),
        (529, "", True),
        (503, "false", False),
        (409, "true", True),
        (200, "true", False),
    ],
)
def test_which_refusals_are_for_now(status, told, again):
    assert is_retryable(status, Headers((("X-Should-Retry", told),) if told else ())) is again


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "1e400"}, None),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "Thu, 99 Jan 1970 00:00:00 GMT"}, None),
    ],
)
def test_what_a_server_asks_for(headers, wait):
    assert requested_wait(Headers(tuple(headers.items())), 100.0) == wait


def test_backoff_doubles_up_to_a_limit():
    assert [backoff(n, 0.0) for n in (1, 2, 3, 4, 5, 99)] == [0.5, 1.0, 2.0, 4.0, 8.0, MOST_SECONDS]
    assert backoff(1, 1.0) == 0.375


@pytest.mark.parametrize(
    ("body", "blames"),
    [
        (
            b'{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: x","type":"server_error"}}',
            True,
        ),
        (b'{"error":{"message":"no such role","type":"invalid_request_error"}}', True),
        (b'{"error":"failed to parse messages: no content"}', True),
        (b'{"error":{"code":500,"message":"Failed to parse input at pos 12: </tool_call>"}}', False),
        (b'{"error":{"message":"overloaded","type":"server_error"}}', False),
        (b'{"error":[1]}', False),
        (b"[]", False),
        (b"<html>", False),
    ],
)
def test_which_errors_say_that_the_request_is_at_fault(body, blames):
    assert blames_request(body) is blames
