"""What the two ends of an audit share of the case that is on: a piece of an answer follows when the last one is through.

So a gateway that passes on what comes costs no time, and one that holds it back is seen without a clock.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from workbench.audit.case import Case, mark
from workbench.audit.sighting import Sighting
from workbench.wire.encoding import decode_partial

_SHORT = 20
"""Once a gateway has held something back, later pieces are waited for so much shorter."""

_ENOUGH = 3
"""Pieces of one answer that are waited for in vain."""


class Patience:
    """How long a piece may take through the gateway before it counts as held back."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._whole = seconds

    def is_spent(self) -> None:
        """Something did not come in time."""
        self.seconds = self._whole / _SHORT


class Stage:
    """One case while it is on.

    Attributes:
        seen: what reached our upstream of it, in order.
        held: numbers of the pieces of the answer of which the client had nothing in time.
        is_over: the client has all it will get.
        is_settled: it is known whether the client's hang-up reached our upstream.
    """

    def __init__(self, case: Case, patience: Patience) -> None:
        self.case = case
        self.seen: list[Sighting] = []
        self.held: list[int] = []
        self.is_over = asyncio.Event()
        self.is_settled = asyncio.Event()
        self._patience = patience
        self._came = 0
        self._news = asyncio.Event()

    @property
    def came(self) -> int:
        """Bytes of the answer's body that the client has."""
        return self._came

    def client_got(self, data: bytes) -> None:
        """A piece of the answer's body reached the client."""
        self._came += len(data)
        self._news.set()

    def client_over(self) -> None:
        """Nothing more reaches the client."""
        self.is_over.set()
        self._news.set()

    async def client_has_more(self, than: int, piece: int) -> None:
        """Wait until the client has more than so many bytes, has given up, or patience ends: then the piece is held."""
        if len(self.held) >= _ENOUGH:
            if self._came <= than:
                self.held.append(piece)
            return
        try:
            async with asyncio.timeout(self._patience.seconds):
                while self._came <= than and not self.is_over.is_set():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            self.held.append(piece)
            self._patience.is_spent()

    async def settled(self, seconds: float) -> None:
        """Wait until it is known whether the hang-up arrived, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.is_settled.wait()

    def takes(self, seen: Sighting) -> bool:
        """Whether a request that reached our upstream is of this case: by its mark, else as the first of its kind."""
        text, _ = decode_partial(seen.asked.body(seen.began, seen.headers.get("content-encoding") or ""))
        words = mark(self.case.name)
        if words.encode() in text or words in seen.url:
            return True
        is_other = b"audit:" in text or "audit:" in seen.url
        return not is_other and not self.seen and seen.method == self.case.asked.method
