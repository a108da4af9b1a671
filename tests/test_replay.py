"""Recorded requests sent again to simulators: what exported tests stand on."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import replay
from workbench.errors import UsageError
from workbench.simulator import Simulator
from workbench.wire.exchange import Exchange, HttpRequest

LOST = Path(__file__).resolve().parents[1] / "sessions" / "deepseek-reasoning-lost.jsonl"


@pytest.fixture
def lost() -> replay.Turn:
    return replay.recorded(LOST, 2, "deepseek", "openai-chat")


def test_a_request_is_sent_after_what_was_said_before_it(lost: replay.Turn) -> None:
    assert len(lost.before) == 1
    reply = lost.send(Simulator("deepseek", known=lost.before))
    assert reply.status == 400 and reply.served.finding is not None
    assert reply.served.finding.rule == "reasoning.missing"
    assert lost.findings()[0].startswith("reasoning.missing at /messages/1: ")
    assert lost.unanswered == []
    assert repr(lost) == f"<request 2 to deepseek, {len(lost.body):,} bytes>"


def test_another_body_takes_its_place_and_nobody_has_answered_it(lost: replay.Turn) -> None:
    assert lost.with_body(lost.body) is lost
    off = lost.with_body(lost.body.replace(b'"enabled"', b'"disabled"'))
    assert off.exchange.response is None and lost.exchange.response is not None
    assert off.findings() == []
    assert off.send(Simulator("deepseek", known=off.before)).status == 200
    unread = lost.with_body(b"{")
    assert unread.send(Simulator("deepseek")).status == 400


def test_calls_without_results_are_named_but_not_those_that_were_just_answered(lost: replay.Turn) -> None:
    first = replay.recorded(LOST, 1, "deepseek", "openai-chat")
    assert first.unanswered == []
    without = lost.with_body(lost.body.replace(b'"role": "tool"', b'"role": "user"'))
    assert without.unanswered == ["call_00_Xk2vJ8mQ0rT5yL1pZs7D list_dir: misplaced"]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://api.deepseek.com/beta/chat/completions?x=1", "/beta/chat/completions?x=1"),
        ("https://proxy.example/my/own/path", "/v1/chat/completions"),
        ("", "/v1/chat/completions"),
    ],
)
def test_it_goes_where_the_provider_listens(lost: replay.Turn, url: str, target: str) -> None:
    exchange = Exchange("1", HttpRequest(url=url, body=lost.request.body))
    turn = replay.turn([exchange], 1, "deepseek", "openai-chat")
    assert turn.target == target
    assert turn.with_body(b"{").target == target


@pytest.mark.parametrize("number", [0, 3])
def test_there_is_no_such_request(number: int) -> None:
    with pytest.raises(UsageError, match=f"no request {number}"):
        replay.recorded(LOST, number, "deepseek", "openai-chat")
