"""Clients are asked about one at a time, as long as the exchange is the one that is wanted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from tests.protocols.clients.test_python_sdks import chat_stream
from tests.tui import samples
from workbench.protocols.clients import differences
from workbench.rules.inspection import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.screens.session import sdk_differences as sdks
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.service import Job, JobAnswer

Desk = SimpleNamespace


def desk(answer: bytes) -> Any:
    """A desk with an exchange open; it keeps what it asks."""
    opened = ExchangeView(
        Inspector(samples.session(samples.exchange({"model": "m", "messages": []}, answer))).detail(0)
    )
    asked: list[Job] = []
    return Desk(opened=opened, navigation=Desk(here=opened), asked=asked, inspecting=Desk(do=asked.append))


def ask(of: Any, job: Job) -> None:
    cast(JobAnswer, job(cast("Inspector", None))).deliver()


ALIKE = chat_stream([{"role": "assistant"}, {"content": "hi"}])


def test_each_client_is_a_question_of_its_own() -> None:
    made = desk(ALIKE)
    job = sdks.comparing(cast("SessionScreen", made), made.opened)
    for number in range(len(differences.policies("openai-chat"))):
        ask(made, job)
        assert len(made.asked) == number + 1
    ask(made, job)
    assert len(made.asked) == 9


def test_nobody_is_asked_once_another_exchange_is_wanted() -> None:
    made = desk(ALIKE)
    job = sdks.comparing(cast("SessionScreen", made), made.opened)
    ask(made, job)
    made.navigation.here = None
    ask(made, job)
    assert len(made.asked) == 1
