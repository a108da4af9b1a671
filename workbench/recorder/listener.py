"""Tells the tap what happens, and keeps traffic safe from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from workbench.recorder.events import Tap

_P = ParamSpec("_P")


class Teller:
    """Calls a tap until it raises; then it is let go of, and ``failure`` says why."""

    def __init__(self, tap: Tap) -> None:
        self.tap = tap
        self.failure: Exception | None = None
        self._keys = 0

    def new_key(self) -> int:
        """A key for the next exchange."""
        self._keys += 1
        return self._keys

    def tell(self, method: Callable[_P, None], /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        """Call one of the tap's methods."""
        if self.failure is None:
            try:
                method(*args, **kwargs)
            except Exception as failure:
                self.failure = failure
