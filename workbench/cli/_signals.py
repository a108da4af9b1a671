"""Signals that end a command."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupted_by(*numbers: signal.Signals) -> Iterator[None]:
    """Let these signals raise KeyboardInterrupt, as ctrl-c does."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
