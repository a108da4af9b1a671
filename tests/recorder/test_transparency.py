"""Whatever passes through the recorder, and wherever it breaks off: the same bytes leave, and stand in the file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.recorder.relaying import PATIENCE
from tests.recorder.traffic import CONNECTIONS, Plan, Traffic
from workbench.recorder.capture.keeper import Keeper, open_private
from workbench.recorder.capture.queue import Capture
from workbench.recorder.events import Event, ExchangeEnded, RequestStarted
from workbench.recorder.relay.server import Relay
from workbench.wire import digests
from workbench.wire.digests import BodyDigest
from workbench.wire.exchange import Body, Exchange, State
from workbench.wire.redaction import Redactor
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session


class Counted(Capture):
    """Records, and says when an exchange begins and when all that began are over."""

    def __init__(self, path: Path, traffic: Traffic) -> None:
        super().__init__(Keeper(open_private(path), Redactor()))
        self.traffic, self.going = traffic, set[int]()
        self.quiet = asyncio.Event()

    def on_event(self, event: Event) -> None:
        super().on_event(event)
        if isinstance(event, RequestStarted):
            self.going.add(event.key)
            self.quiet.clear()
            self.traffic.began[int(event.head.target.strip("/"))].set()
        elif isinstance(event, ExchangeEnded):
            self.going.discard(event.key)
            if not self.going:
                self.quiet.set()


async def pass_through(traffic: Traffic, path: Path) -> None:
    """Play all of it through a relay that records to this file."""
    upstream = await asyncio.start_server(traffic.serve, "127.0.0.1", 0)
    tap = Counted(path, traffic)
    relay = Relay({"u": f"http://127.0.0.1:{upstream.sockets[0].getsockname()[1]}"}, tap)
    await relay.start()
    await traffic.ask(relay.port)
    async with asyncio.timeout(PATIENCE):
        await tap.quiet.wait()
    await relay.close()
    await traffic.leave()
    upstream.close()
    await upstream.wait_closed()
    assert relay.listener_failure is None
    await asyncio.to_thread(tap.close)


@settings(max_examples=25)
@given(connections=CONNECTIONS)
def test_what_passes_is_what_was_sent_and_what_is_kept(
    connections: Sequence[Sequence[Plan]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("passed") / "live.wb"
    traffic = Traffic(connections)
    asyncio.run(pass_through(traffic, path))
    check_all(traffic, path)


def check_all(traffic: Traffic, path: Path) -> None:
    """Every exchange stands in the file, once, in the order of its connection, and is what passed."""
    assert not fsck(path).problems
    with closing(open_session(path)) as session:
        recorded = {int(e.request.url.rpartition("/")[2]): e for e in exchanges_of(session) if e.request}
        assert len(session) == len(traffic.plans)
    for numbers in traffic.connections:
        assert [n for n in recorded if n in numbers] == numbers
    for number, plan in traffic.plans.items():
        check(plan, recorded[number], traffic, number)


def check(plan: Plan, exchange: Exchange, traffic: Traffic, number: int) -> None:
    """One exchange: what the peers got, what was recorded, and the digests of both."""
    passed, is_whole = digests.read_digests(exchange), plan.broken is None
    asked, answered = traffic.asked.get(number), traffic.answered.get(number)
    assert exchange.request
    as_sent(plan.asked.body, exchange.request.body, passed["request"], is_whole=is_whole)
    if asked:
        assert plan.asked.wire.startswith(asked.wire)
        assert asked.head.split(b"\r\n")[2:-2] == plan.asked.lines
    if exchange.response:
        as_sent(plan.answered.body, exchange.response.body, passed["response"], is_whole=is_whole)
    if answered and exchange.response:
        assert plan.answered.wire.startswith(answered.wire)
        assert answered.head.split(b"\r\n")[1 : 1 + len(plan.answered.lines)] == plan.answered.lines
    if is_whole:
        assert exchange.state is State.COMPLETE
        assert asked and answered and (asked.wire, answered.wire) == (plan.asked.wire, plan.answered.wire)


def as_sent(body: bytes, kept: Body, passed: BodyDigest, *, is_whole: bool) -> None:
    """A recorded body is the beginning of what was sent, all of it if nobody broke off, and its digests say so."""
    assert kept.is_raw
    assert body.startswith(kept.raw)
    assert (passed.bytes_in, passed.digest_in) == (len(kept.raw), sha256(kept.raw).hexdigest())
    assert passed.digest_out == sha256(body[: passed.bytes_out]).hexdigest()
    assert [c.end for c in kept.chunks] == sorted({c.end for c in kept.chunks})
    assert (kept.chunks[-1].end if kept.chunks else 0) == len(kept.raw)
    assert [c.at for c in kept.chunks] == sorted(c.at for c in kept.chunks)
    if is_whole:
        assert kept.raw == body
        assert passed.is_equal
