"""Edits of an HTTP request: headers follow the body, ranges are those of the text before, faults are said in a line."""

from __future__ import annotations

import gzip

import pytest

from workbench.edits import SetHeader, Splice, apply_changes, apply_splices, inverse, json_problem, text_of, with_body
from workbench.errors import LocalProtocolError
from workbench.wire.exchange import Body, Headers, HttpRequest, Redaction
from workbench.wire.patch import Remove

BODY = b'{"a": 1, "b": [2]}'


def asked(body: bytes = BODY, *more: tuple[str, str]) -> HttpRequest:
    return HttpRequest(body=Body(body), headers=Headers((("Content-Length", str(len(body))), *more)))


def test_headers_follow_the_body() -> None:
    packed = gzip.compress(BODY, mtime=0)
    http = HttpRequest(
        headers=Headers((("Content-Encoding", "gzip"), ("content-length", str(len(packed))))),
        body=Body(packed, encoding="gzip"),
        redactions=(Redaction("body", 0, 1, "api-key"), Redaction("header:x", 0, 1, "api-key")),
    )
    made = apply_changes(http, text_of(http), [Splice(6, 7, b"100")])
    assert made.body == Body(b'{"a": 100, "b": [2]}')
    assert made.headers.items == (("content-length", "20"),)
    assert [r.where for r in made.redactions] == ["header:x"]
    assert with_body(http, BODY) is http


def test_headers_change_by_name() -> None:
    http = asked(BODY, ("X-A", "1"), ("x-a", "2"))
    assert apply_changes(http, BODY, [SetHeader("x-A", "3")]).headers.all("x-a") == ("3",)
    assert apply_changes(http, BODY, [SetHeader("x-a", None)]).headers.all("x-a") == ()
    assert apply_changes(http, BODY, [SetHeader("new", "1")]).headers.items[-1] == ("new", "1")


def test_structure_and_ranges_are_not_changed_in_one_step() -> None:
    assert apply_changes(asked(), BODY, [Remove("/a")]).body.raw == b'{"b": [2]}'
    with pytest.raises(LocalProtocolError, match="values or byte ranges, but not both"):
        apply_changes(asked(), BODY, [Remove("/a"), Splice(0, 1, b"")])


@pytest.mark.parametrize("splices", [[Splice(0, 99, b"")], [Splice(3, 2, b"")], [Splice(0, 3, b""), Splice(2, 4, b"")]])
def test_ranges_lie_in_the_text_and_apart(splices: list[Splice]) -> None:
    with pytest.raises(LocalProtocolError, match="no such range"):
        apply_splices(BODY, splices)


def test_several_ranges_are_taken_back_together() -> None:
    splices = [Splice(15, 16, b""), Splice(0, 0, b"xx"), Splice(6, 7, b"100")]
    assert apply_splices(apply_splices(BODY, splices), inverse(BODY, splices)) == BODY


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BODY, ""),
        (b'{"a": 1.0e2, "a": NaN}', ""),
        (b'{\n  "\xc3\xa9": x\n}', "line 2, column 8, byte 10: not JSON"),
        (b'{"a": "\xff", ]', "line 1, column 12, byte 11: not JSON"),
        (b"", "line 1, column 1, byte 0: not JSON: expecting value; the text is empty"),
        (b"[" * 600 + b"]" * 600, "JSON nested deeper than 500 levels"),
    ],
)
def test_what_is_no_json_is_said_with_its_place(text: bytes, said: str) -> None:
    told = json_problem(text)
    assert told.startswith(said)
    assert bool(told) == bool(said)
    assert "\n" not in told
