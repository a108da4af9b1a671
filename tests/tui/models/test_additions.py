"""What can be added at a row of the outline, and where it then stands."""

from __future__ import annotations

import json

import pytest

from tests.tui import samples
from workbench.edits import apply_splices
from workbench.edits.elements import elements_of
from workbench.errors import LocalProtocolError
from workbench.rules.inspection import Inspector
from workbench.tui.models.additions import Addition, add, choices
from workbench.tui.models.edit import EditRow, outline

CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
BODY = {
    "model": "gpt-4o",
    "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "user", "content": "and?"},
    ],
    "tools": [TOOL],
}
DECODED = Inspector(samples.session(samples.exchange(BODY, {}))).detail(0).decoded
ROWS: list[EditRow] = outline(elements_of(DECODED), ())


def at(pointer: str) -> int:
    return next(n for n, row in enumerate(ROWS) if row.pointer == pointer)


@pytest.mark.parametrize(
    ("pointer", "wanted", "changed", "stands"),
    [
        ("/messages/0", Addition("user message", "hm"), "/messages/1/content=hm", "/messages/1"),
        ("/messages/0/content", Addition("assistant message", "hm"), "/messages/1/role=assistant", "/messages/1"),
        ("", Addition("user message", "hm"), "/messages/3/content=hm", "/messages/3"),
        ("/messages/1/tool_calls/0", Addition("tool result", "a b"), "/messages/2/tool_call_id=call_1", ""),
        ("", Addition("tool", "cat"), "/tools/1/function/name=cat", "/tools/1"),
        ("", Addition("parameter", "temperature = 0.20"), "/temperature=0.2", "/temperature"),
        ("", Addition("parameter", 'model = "o3"'), "/model=o3", "/model"),
    ],
)
def test_what_is_added_stands_where_the_cursor_is(pointer: str, wanted: Addition, changed: str, stands: str) -> None:
    made = add(DECODED, ROWS, at(pointer), wanted)
    value = json.loads(apply_splices(DECODED.request_text, made.splices))
    path, _, told = changed.partition("=")
    for step in path.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    assert str(value) == told
    assert made.pointer == stands or not stands


def test_a_text_is_added_to_the_message_of_the_cursor() -> None:
    made = add(DECODED, ROWS, at("/messages/2/content"), Addition("text part", "now!"))
    assert b"now!" in apply_splices(DECODED.request_text, made.splices) and made.pointer == "/messages/2"


@pytest.mark.parametrize(
    ("pointer", "first", "has_text"),
    [
        ("", "user message", False),
        ("/messages/0", "user message", True),
        ("/messages/1/tool_calls/0", "tool result", True),
    ],
)
def test_the_likeliest_comes_first(pointer: str, first: str, has_text: bool) -> None:
    names = [choice.name for choice in choices(ROWS, at(pointer))]
    assert names[0] == first and ("text part" in names) == has_text


@pytest.mark.parametrize(
    "wanted", [Addition("tool", " "), Addition("parameter", "seed"), Addition("parameter", "a = {")]
)
def test_what_lacks_something_is_not_added(wanted: Addition) -> None:
    with pytest.raises(LocalProtocolError):
        add(DECODED, ROWS, 0, wanted)
