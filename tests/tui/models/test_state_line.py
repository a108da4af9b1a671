from __future__ import annotations

from typing import Any

import pytest

from tests.rules.test_mcp import answer, call, refuse, session
from tests.tui import samples
from workbench.rules.inspection import Inspector
from workbench.tui.models.state_line import state_line
from workbench.views.lines import plain


@pytest.mark.parametrize(
    ("name", "exchange", "told"),
    [
        ("anthropic-thinking-trimmed", 1, "✗ reasoning 1 altered  ✓ closed 1 of 1  ✗ anthropic: 1 error"),
        ("anthropic-thinking-trimmed", 0, "∴ 1 new reasoning, none required  ○ 1 call to answer next"),
        ("anthropic-parallel-result-lost", 2, "✗ closure 1 missing"),
        ("deepseek-reasoning-lost", 1, "✗ reasoning 1 missing"),
    ],
)
def test_reasoning_closure_and_verdict_are_told(name: str, exchange: int, told: str) -> None:
    assert told in plain(state_line(samples.opened(name, exchange).detail, "recorded", 120))


@pytest.mark.parametrize(("width", "is_told"), [(120, True), (60, False)])
def test_what_does_not_fit_is_left_out_whole(width: int, is_told: bool) -> None:
    told = plain(state_line(samples.opened("anthropic-thinking-trimmed", 1).detail, "recorded", width))
    assert told.endswith("recorded") is is_told
    assert "✗ reasoning 1 altered" in told and "✗ anthropic: 1 error" in told  # the faults have room first
    assert ("✓ closed 1 of 1" in told) is is_told
    assert len(told) <= width


@pytest.mark.parametrize(
    ("reply", "told"),
    [(answer(1, content=[]), "✓ tool server: no findings"), (refuse(1, -32602), "! tool server: 1 warning")],
)
def test_a_call_of_a_tool_server_has_a_verdict_alone(reply: dict[str, Any], told: str) -> None:
    detail = Inspector(session(call(1), reply)).detail(1)
    assert plain(state_line(detail, "recorded", 120)).strip() == f"{told}  recorded"


def test_what_is_neither_a_model_nor_a_tool_server_is_not_decoded() -> None:
    other = samples.session(samples.exchange({}, {}, url="https://h.example/health"))
    assert "? not decoded" in plain(state_line(Inspector(other).detail(0), "recorded", 120))
