"""Plug-in of pytest: messages of the app come late and in another order, as on a busy machine.

``pytest -p tests.tui.late_messages tests/tui --late 3``: the number picks which messages. A test that fails with it
and passes without it reads the screen too early, or the screen depends on what came first.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time

import pytest
from textual.message import Message
from textual.message_pump import MessagePump

THREAD_SECONDS = 0.06
"""A message of a thread is late by so much at most."""

LOOP_SECONDS = 0.015
"""A message of the app itself is late by so much at most."""

LATE_SHARE = 0.02
"""Share of the app's own messages that are late."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--late N``: messages of the app come late."""
    parser.addoption("--late", type=int, default=0, metavar="N", help="let messages of the app come late")


def pytest_configure(config: pytest.Config) -> None:
    """Delay messages if ``--late`` is given."""
    if config.getoption("--late"):
        _delay(random.Random(config.getoption("--late")))


def _delay(chance: random.Random) -> None:
    post_message, dispatch_message = MessagePump.post_message, MessagePump._dispatch_message

    def post_late(self: MessagePump, message: Message) -> bool:
        if threading.current_thread() is not threading.main_thread():
            time.sleep(chance.random() * THREAD_SECONDS)
        return post_message(self, message)

    async def dispatch_late(self: MessagePump, message: Message) -> None:
        if chance.random() < LATE_SHARE:
            await asyncio.sleep(chance.random() * LOOP_SECONDS)
        await dispatch_message(self, message)

    MessagePump.post_message, MessagePump._dispatch_message = post_late, dispatch_late  # type: ignore[method-assign]
