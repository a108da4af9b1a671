"""Error bodies: every envelope seen gives its innermost message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from tests.protocols import block_bodies as bodies
from workbench.protocols.common.error_body import read_error, read_error_text


def wrapped(value: Any, times: int) -> Any:
    for _ in range(times):
        value = {"error": {"message": json.dumps(value), "code": "relay"}}
    return value


INNER = {"type": "error", "error": {"type": "overloaded_error", "message": "deep"}, "request_id": "req_1"}
CASES: list[tuple[str, Any, tuple[str, str | None, str | None]]] = [
    ("Anthropic", INNER, ("deep", "overloaded_error", None)),
    (
        "with a machine-readable code",
        {"type": "error", "error": {"type": "t", "message": "m", "details": {"error_code": "thread_not_found"}}},
        ("m", "t", "thread_not_found"),
    ),
    ("OpenAI", {"error": {"message": "m", "type": "t", "param": "p", "code": None}}, ("m", "t", None)),
    ("text", {"error": "m"}, ("m", None, None)),
    ("code and message alone", {"code": "1210", "message": "m"}, ("m", None, "1210")),
    ("Google, in a list", [{"error": {"code": 400, "message": "m", "status": "INVALID"}}], ("m", "INVALID", "400")),
    ("detail", {"detail": "m"}, ("m", None, None)),
    ("validation", {"detail": [{"loc": ["body", 0], "msg": "a"}, {"msg": "b"}]}, ("body.0: a; b", None, None)),
    (
        "message that is an object",
        {"object": "error", "message": {"detail": [{"msg": "m"}]}, "type": "t"},
        ("m", None, None),
    ),
    ("relayed once", wrapped(INNER, 1), ("deep", "overloaded_error", "relay")),
    ("relayed three times", wrapped(INNER, 3), ("deep", "overloaded_error", "relay")),
    (
        "relayed with words around it",
        {"error": {"message": f"BadRequest - b'{json.dumps(INNER)}' (500)"}},
        ("deep", "overloaded_error", None),
    ),
    ("relayed with backslashes", {"error": {"message": 'x {\\"error\\":{\\"message\\":\\"m\\"}}'}}, ("m", None, None)),
    (
        "relayed beside the message",
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(INNER)}}},
        ("deep", "overloaded_error", "400"),
    ),
    ("JSON that is no error", {"error": {"message": 'got {"a": 1}'}}, ('got {"a": 1}', None, None)),
    ("nothing said", {"error": {}}, ("", None, None)),
]


@pytest.mark.parametrize(("value", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_errors(value: Any, expected: tuple[str, str | None, str | None]) -> None:
    error = read_error(value)
    assert error and (error.message, error.type, error.code) == expected
    assert error.raw is value


@pytest.mark.parametrize(
    "value", [None, 3, "x", {}, [], {"error": None}, {"content": []}, {"message": {"content": ""}}]
)
def test_what_is_no_error(value: Any) -> None:
    assert read_error(value) is None


def test_the_request_id_of_the_innermost_error_counts() -> None:
    error = read_error(wrapped(INNER, 2))
    assert error and error.request_id == "req_1"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"Internal Server Error\n", "Internal Server Error"),
        (b"<!doctype html><html><head><title> 502 Bad Gateway </title></head>", "502 Bad Gateway"),
        (b"<b>", "<b>"),
        (b"\xff", "\ufffd"),
        (b"", ""),
    ],
)
def test_errors_that_are_no_json(body: bytes, message: str) -> None:
    assert read_error_text(body).message == message


@given(bodies.JSON)
def test_any_value_is_an_error_or_none(value: Any) -> None:
    read_error(value)
    read_error({"error": value})
    read_error({"error": {"message": json.dumps(value)}})


PLACES: list[tuple[Any, str, dict[str, str]]] = [
    (INNER, "/error/message", {}),
    ({"error": "m", "hint": "h"}, "/error", {"hint": "h"}),
    (
        [{"error": {"message": "m", "failed_generation": "g", "code": "c"}}],
        "/0/error/message",
        {"failed_generation": "g"},
    ),
    ({"detail": [{"msg": "a"}]}, "/detail", {}),
    (wrapped(INNER, 2), "/error/message", {}),
    ({"error": {"message": "m", "metadata": {"raw": json.dumps(INNER)}}}, "/error/metadata/raw", {}),
]


@pytest.mark.parametrize(("value", "pointer", "details"), PLACES)
def test_where_the_message_stands_and_what_stands_beside_it(value: Any, pointer: str, details: dict[str, str]) -> None:
    error = read_error(value)
    assert error is not None
    assert (error.pointer, error.details) == (pointer, details)
