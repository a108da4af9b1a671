"""A recording that goes on, and its judge in this process: exchanges pass one by one, as a recorder writes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from workbench.recorder.breakpoints.judge import BreakpointJudge
from workbench.recorder.breakpoints.kinds import Breakpoint, PauseReason, parse
from workbench.wire.exchange import Exchange, HttpResponse
from workbench.wire.session.store import open_session
from workbench.wire.session.writer import SessionWriter

Reasons = tuple[PauseReason, ...]


class Living:
    """One recording, being judged."""

    def __init__(self, writer: SessionWriter, judge: BreakpointJudge) -> None:
        self.writer, self.judge = writer, judge

    def began(self, exchange: Exchange) -> int:
        """Its request stands in the file."""
        assert exchange.request
        seq = self.writer.begin(replace(exchange, response=None))
        self.writer.request(seq, exchange.request)
        return seq

    def passes(
        self, exchange: Exchange, kinds: tuple[Breakpoint, ...]
    ) -> tuple[tuple[PauseReason, ...], tuple[PauseReason, ...]]:
        """Why its request and its answer would be paused; then it is over."""
        seq = self.began(exchange)
        asked = self.judge.request(exchange.id, kinds, 0.0)
        answered: Reasons = ()
        if isinstance(exchange.response, HttpResponse) and exchange.response.status == 200:
            answered = self.judge.response(exchange.id, exchange.response, kinds, 0.0)
        self.writer.finish(seq, exchange)
        return asked, answered


@contextmanager
def living(path: Path) -> Iterator[Living]:
    """A new recording."""
    with closing(SessionWriter(path)) as writer, closing(open_session(path)) as session:
        yield Living(writer, BreakpointJudge(session))


EVERY = parse("all")
