"""State that both ends of an audit share during a case: a piece of a response is sent when the last one is through.

So a gateway that passes on what it gets costs no time, and one that holds it back is detected without a clock.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from workbench.recorder.audit.case import AuditCase, Theme, mark
from workbench.recorder.audit.sighting import Sighting
from workbench.wire import decode_partial

_LEAST = 0.05
"""Seconds that a piece is waited for at least, once a gateway has held something back."""

_SLOWER = 4
"""Once it has, pieces are waited for so many times as long as the slowest that came through took."""

_ENOUGH = 2
"""Pieces of one answer that are waited for in vain."""

_APART = 0.05
"""Seconds between further pieces where the case is about that: so the recorded times alone show it, too."""

_HALF = 0.02
"""Seconds that a piece which is no whole event is waited for: who passes on whole events only may hold it back."""


class PieceTimeout:
    """Time that a piece may take through the gateway before it counts as held back."""

    def __init__(self, seconds: float) -> None:
        self._whole = seconds
        self._slowest = 0.0
        self.is_whole = True

    @property
    def seconds(self) -> float:
        """Time to wait for the next piece."""
        return self._whole if self.is_whole else min(self._whole, max(_LEAST, _SLOWER * self._slowest))

    def record(self, seconds: float) -> None:
        """Record the time of a piece that came through."""
        self._slowest = max(self._slowest, seconds)

    def shorten(self) -> None:
        """Wait less from now on: something did not come in time."""
        self.is_whole = False


class CaseStage:
    """One case while it runs.

    Attributes:
        seen: what reached our upstream of it, in order.
        held: how many pieces of the answer were not through when all patience had ended.
        is_over: the client has all it will get.
        is_settled: it is known whether the client's hang-up reached our upstream.
    """

    def __init__(self, case: AuditCase, patience: PieceTimeout) -> None:
        self.case = case
        self.sightings: list[Sighting] = []
        self.held = 0
        self.is_over = asyncio.Event()
        self.is_settled = asyncio.Event()
        self._patience = patience
        self._came = 0
        self._in_vain = 0
        self._sent_at: float | None = None
        self._news = asyncio.Event()

    @property
    def came(self) -> int:
        """Bytes of the response body that the client has."""
        return self._came

    def piece_sent(self, at: float) -> None:
        """Note that our upstream sent a piece of the response."""
        self._sent_at = at

    def client_got(self, data: bytes, at: float) -> None:
        """Note a piece of the response body that reached the client."""
        self._came += len(data)
        if self._sent_at is not None:
            self._patience.record(at - self._sent_at)
            self._sent_at = None
        self._news.set()

    def client_over(self) -> None:
        """Note that nothing more reaches the client."""
        self.is_over.set()
        self._news.set()

    async def client_has_more(self, than: int) -> None:
        """Wait until the client has more than this; after the timeout the piece counts as held."""
        is_event = self.case.response.in_events
        if self._in_vain >= _ENOUGH:
            await asyncio.sleep(_APART if self.case.theme is Theme.BUFFERING else 0)
            return
        try:
            async with asyncio.timeout(self._patience.seconds if is_event else _HALF):
                while self._came <= than and not self.is_over.is_set():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            self._sent_at = None
            if is_event:
                self._in_vain += 1
                self.held += self._patience.is_whole
                self._patience.shorten()

    async def wait_for_hang_up(self, seconds: float) -> None:
        """Wait until it is known whether the hang-up arrived, at most this long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.is_settled.wait()

    def is_of_case(self, seen: Sighting) -> bool:
        """A request that reached our upstream is of this case: by its mark, else as the first possible one."""
        text, _ = decode_partial(seen.request_body.body(seen.began, seen.headers.get("content-encoding") or ""))
        words = mark(self.case.name)
        if words.encode() in text or words in seen.url:
            return True
        is_other = b"audit:" in text or "audit:" in seen.url
        if self.sightings and not text:  # asked again, as it was the first time
            return (seen.method, seen.url) == (self.sightings[0].method, self.sightings[0].url)
        if is_other or self.sightings:
            return False
        return seen.method == self.case.request.method or _last(seen.url) == _last(self.case.request.path)


def _last(path: str) -> str:
    """Last step of a path, without the query."""
    return path.partition("?")[0].rpartition("/")[2]
