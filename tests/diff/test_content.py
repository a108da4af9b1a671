"""What two readings of one turn say differently, whatever the protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from workbench import testing
from workbench.diff.content import content_losses
from workbench.ir import Carrier, Media, Message, Reasoning, Text, ToolCallIR, ToolResultIR

CALL = ToolCallIR("call_1", "ls", {"path": "."}, "openai")
RESULT = ToolResultIR("call_1", (Text("a"),), is_error=True)
THOUGHT = Reasoning(Carrier.THINKING, "hm", "c2ln")
IMAGE = Media("image", "image/png", "AAAA")
BEFORE = (
    Message("user", (Text("list it"), IMAGE)),
    Message("assistant", (THOUGHT, Text("I list it."), CALL)),
    Message("tool", (RESULT,)),
)


def told(*after):
    return [(x.what, x.field, x.after is None) for x in content_losses("request", BEFORE, after)]


def swapped(old, new):
    """The history with one part replaced, or left out."""
    parts = ((m, tuple(new if p is old else p for p in m.parts if p is not old or new is not None)) for m in BEFORE)
    return [replace(m, parts=p) for m, p in parts]


ROWS = [
    ("nothing", THOUGHT, THOUGHT, []),
    ("the reasoning", THOUGHT, None, [("reasoning", "", True)]),
    ("its signature", THOUGHT, replace(THOUGHT, signature=None), [("reasoning", "signature", False)]),
    ("its text", THOUGHT, replace(THOUGHT, text="h"), [("reasoning", "text", False)]),
    ("its carrier is no loss", THOUGHT, replace(THOUGHT, carrier=Carrier.REASONING_CONTENT), []),
    ("a call", CALL, None, [("call", "", True)]),
    ("the id of a call", CALL, replace(CALL, id="x"), [("call", "id", False)]),
    ("its arguments", CALL, replace(CALL, input={"path": "/"}), [("call", "input", False)]),
    ("arguments as text are no loss", CALL, replace(CALL, raw='{"path":"."}'), []),
    ("an error mark", RESULT, replace(RESULT, is_error=None), [("result", "is_error", False)]),
    ("a result", RESULT, None, [("result", "", True)]),
    ("an image", IMAGE, None, [("media", "", True)]),
]


@pytest.mark.parametrize(("old", "new", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_what_is_lost(old, new, expected):
    assert told(*swapped(old, new)) == expected


def test_texts_may_be_joined_and_trimmed():
    joined = replace(BEFORE[1], parts=(THOUGHT, Text("Well.\nI list it. "), CALL))
    assert told(BEFORE[0], joined, BEFORE[2]) == []
    assert told(BEFORE[0], replace(joined, parts=(THOUGHT, CALL)), BEFORE[2]) == [("text", "", True)]


@given(testing.requests())
def test_nothing_is_lost_of_what_stays(request):
    assert list(content_losses("request", request.messages, request.messages)) == []
