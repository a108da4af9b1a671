"""Lines of the send screen."""

from __future__ import annotations

import pytest

from tests.tui import samples
from workbench.edits.branches import Workspace
from workbench.rules.inspection import Inspector
from workbench.safetext import cells
from workbench.send.target import Target
from workbench.tui.models import send
from workbench.tui.models.headline import TOOLS
from workbench.tui.preflight import PreparedRequest, preview_request
from workbench.views.lines import plain

LIVE = Target("live", "anthropic-messages", "https://api.example.com", key_variable="EXAMPLE_KEY")
SIMULATED = Target("sim:anthropic", contract="anthropic")


def shown(target: Target = LIVE, protocol: str = "", index: int = 2) -> PreparedRequest:
    session = samples.example(samples.LOST_RESULT)
    return preview_request(Inspector(session), Workspace(session).root(index), target, protocol)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize(
    ("target", "words"), [(LIVE, "LIVE api.example.com · key $EXAMPLE_KEY"), (SIMULATED, "simulated")]
)
def test_the_promise_is_always_there(target: Target, words: str, width: int) -> None:
    lines = send.headline("Send request 3 · an edit with a long title", (), target, (width, 40), is_set=True)
    assert words in plain(lines[0])
    assert TOOLS in plain(lines[0]) or width <= 80
    assert cells(plain(lines[0])) <= 2 * width


@pytest.mark.parametrize(("target", "rows"), [(SIMULATED, 1), (LIVE, 2)])
def test_in_a_low_window_a_title_takes_one_row_unless_requests_leave(target: Target, rows: int) -> None:
    title = f"Request 2 → {target.name} · an edit with a long title"
    first, _ = send.headline(title, (), target, (40, 20), is_set=True)
    assert target.name in plain(first)
    assert cells(plain(first).rstrip()) <= 40 * rows or not target.is_simulator


def test_a_key_is_named_and_said_to_be_set_or_not() -> None:
    told = [plain(fact.head) for fact in send.facts(shown(), is_set=True)]
    assert any("$EXAMPLE_KEY is set; its value is sent to api.example.com only" in line for line in told)
    told = [plain(fact.head) for fact in send.facts(shown(), is_set=False)]
    assert any("$EXAMPLE_KEY is not set" in line for line in told)


def test_what_the_contract_will_say_comes_first_with_its_bytes() -> None:
    first, *_ = send.facts(shown(SIMULATED), is_set=False)
    assert plain(first.head).startswith("✗ anthropic refuses  closure.missing-result")
    assert first.spans and any("expected response: 400" in text for text, _ in first.text)


@pytest.mark.parametrize(("is_set", "words"), [(True, "with the key in $EXAMPLE_KEY."), (False, "which is not set.")])
def test_the_question_says_what_goes_where(is_set: bool, words: str) -> None:
    asked = send.question(shown().outgoing, is_set=is_set)
    assert "POST https://api.example.com/v1/messages: 919 B" in asked and words in asked
    assert "Tools are never run" in asked
