"""A value is written as text, as JSON or as bytes; what is not changed keeps its bytes."""

from __future__ import annotations

import json

import pytest

from tests.tui import samples
from workbench.edits import apply_changes
from workbench.errors import LocalProtocolError
from workbench.rules.inspection import Inspector
from workbench.tui.models import edit_modes
from workbench.tui.models.edit import EditRow, outline
from workbench.tui.models.edit_study import EditStudy, study
from workbench.wire.exchange import HttpRequest

LONG = '{"type":"object","properties":{"path":{"type":"string","description":"where to look for it"}},"n":1e0}'
BODY = (
    rb'{"model":"gpt-4o","temperature":1.0,"messages":['
    rb'{"role":"user","content":"caf\u00e9 \u001b\ud800"},{"role":"user","content":"one\ntwo \xff"}],'
    rb'"tools":[{"type":"function","function":{"name":"ls","parameters":' + LONG.encode() + b"}}]}"
).replace(rb"\xff", b"\xff")


def studied(body: bytes = BODY) -> EditStudy:
    inspector = Inspector(samples.session(samples.exchange(body, {})))
    request = inspector.session.exchange(0).request
    return study(inspector, 0, request or HttpRequest())


def row(found: EditStudy, pointer: str) -> EditRow:
    return next(each for each in outline(found.elements, {"/tools/0"}) if each.pointer == pointer)


def made(found: EditStudy, way: edit_modes.WritingWay, text: bytes) -> bytes:
    return apply_changes(found.request, found.text, way.make(text)).body.raw


@pytest.mark.parametrize(
    ("pointer", "word", "written", "typed", "old", "new"),
    [
        ("/temperature", "JSON", b"1.0", b"0.20", b"1.0", b"0.20"),
        ("/model", "text", b"gpt-4o", b"gpt-5", b"gpt-4o", b"gpt-5"),
        ("/messages/1/content", "text", b"one\ntwo \xff", b"one\n2 \xff", rb"one\ntwo", rb"one\n2"),
        ("/messages/0/content", "JSON", '"café \\u001b\\ud800"'.encode(), b'"x \\u001b\\ud800"', rb"caf\u00e9", b"x"),
        ("", "raw bytes", BODY, b"{", BODY, b"{"),
    ],
)
def test_only_what_is_typed_anew_is_changed(
    pointer: str, word: str, written: bytes, typed: bytes, old: bytes, new: bytes
) -> None:
    found = studied()
    way = edit_modes.likeliest(found, row(found, pointer))
    assert (way.word, way.written) == (word, written)
    assert made(found, way, way.written) == BODY
    assert made(found, way, typed) == BODY.replace(old, new)


def test_json_on_one_long_line_is_laid_out_and_only_what_differs_is_changed() -> None:
    found = studied()
    way = edit_modes.as_json(found, row(found, "/tools/0"))
    assert way.written.count(b"\n") > 10 and not way.is_line
    assert made(found, way, way.written.replace(b"where", b"the place")) == BODY.replace(b"where", b"the place")
    with pytest.raises(LocalProtocolError, match="not JSON"):
        way.make(b"{")


def test_what_acts_or_hides_is_written_as_an_escape() -> None:
    assert (
        edit_modes.escape_json('{\n "a": "\x1b\x7f\u202e\U000e0041"}')
        == b'{\n "a": "\\u001b\\u007f\\u202e\\udb40\\udc41"}'
    )
    assert json.loads(edit_modes.escape_json('"\U000e0041"')) == "\U000e0041"
    assert edit_modes.is_plain("a\n\tb") and not edit_modes.is_plain("a\rb") and not edit_modes.is_plain("\u2028")


def test_any_bytes_may_stand_in_a_range() -> None:
    found = studied()
    way = edit_modes.as_bytes(found, row(found, "/temperature"))
    assert made(found, way, b"}") == BODY.replace(b"1.0", b"}")
    broken = studied(BODY[:-1])
    assert broken.meant.problem and broken.elements == ()
    assert edit_modes.as_bytes(broken, EditRow(outline((), ())[0].element)).written == BODY[:-1]
