from __future__ import annotations

import pytest

from tests.tui import samples
from workbench.chain.closure import CallLine, CallState
from workbench.ir import NodeRef
from workbench.views.chain import CALL_LOOK, call_body, call_line, closure_summary
from workbench.views.lines import plain

CALL, RESULT = NodeRef("request", 1, 0), NodeRef("request", 2, 0)


@pytest.mark.parametrize("state", list(CallState))
def test_every_state_has_a_sign_and_its_word(state: CallState) -> None:
    text = plain(call_line(CallLine("c1", "ls", CALL, (RESULT,), state)))
    assert text.startswith(f"{CALL_LOOK[state][0]} {state}")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (CallLine("c1", "ls", CALL, (RESULT,), CallState.CLOSED), ["ls", "c1", "→ message 3"]),
        (CallLine("", "ls", NodeRef("response", 0, 0), (), CallState.PENDING), ["empty id"]),
        (CallLine(None, None, None, (RESULT,), CallState.ORPHAN), ["no id", "no call"]),
    ],
)
def test_ids_and_places(line: CallLine, words: list[str]) -> None:
    assert all(word in plain(call_line(line)) for word in words)


def test_notes_are_told_when_open() -> None:
    line = CallLine("c1", "ls", CALL, (), CallState.MISSING, "message 3 follows, but does not contain the tool result")
    assert plain(call_body(line, 60)[0]).strip() == "message 3 follows, but does not contain the tool result"


def test_summary() -> None:
    assert closure_summary(samples.opened(samples.LOST_RESULT, 2).detail.closure) == "closed 1 of 2"


def test_without_calls_it_says_so() -> None:
    view = samples.opened(samples.LOST_RESULT, 1).contents["closure"]
    assert view.count() == 0
    assert "no tool calls" in plain(view.nothing(80)[0])
