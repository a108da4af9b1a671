"""Recorded requests, sent again to a simulator: the base of exported tests.

    turn = recorded(HERE / "transcript.jsonl", 2, "deepseek", "openai-chat")
    provider = strict_provider("deepseek", known=turn.before)
    turn.send(provider.simulator)
    assert not provider.refusals

Nothing is sent over the network and nothing is written: the simulator runs in this process.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from workbench import contracts, protocols
from workbench.chain import CallState
from workbench.contracts import Finding, Severity
from workbench.edits import with_body
from workbench.errors import UsageError
from workbench.ir import ModelRequest
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.rules import CheckedVariant, Inspector
from workbench.simulator import SimulatedReply, Simulator
from workbench.wire import Exchange, HttpRequest, State, decode_partial
from workbench.wire.session import MemorySession, exchanges_of, open_session

__all__ = ["Turn", "own_contracts", "recorded", "turn"]


def recorded(path: Path, number: int, provider: str, protocol: str) -> Turn:
    """One request of a session file.

    Args:
        number: of the exchange, from one.
        provider: label of the contract to judge by ("deepseek:v4").
        protocol: of the request.

    Raises:
        UsageError: there is no such request.
        SessionFormatError: the file is not a session.
        OSError: it cannot be read.
    """
    session = open_session(path)
    try:
        return turn(tuple(exchanges_of(session)), number, provider, protocol)
    finally:
        session.close()


def turn(exchanges: Sequence[Exchange], number: int, provider: str, protocol: str) -> Turn:
    """One request among exchanges. Raises UsageError."""
    if not 1 <= number <= len(exchanges) or exchanges[number - 1].request is None:
        raise UsageError(f"no request {number}", hint=f"the transcript has {len(exchanges)} exchanges")
    before = MemorySession("before", tuple(exchanges[: number - 1]))
    return Turn(number, replace(exchanges[number - 1], state=State.COMPLETE), before, provider, protocol)


@dataclass(frozen=True, repr=False)
class Turn:
    """One request, and the exchanges before it.

    Attributes:
        number: in its transcript, from one.
        exchange: the request with its recorded response.
        before: earlier exchanges, oldest first (``before.exchanges``).
        provider, protocol: contract to judge by, and protocol of the request.
    """

    number: int
    exchange: Exchange
    before: MemorySession
    provider: str
    protocol: str

    def __repr__(self) -> str:
        return f"<request {self.number} to {self.provider}, {len(self.body):,} bytes>"

    @property
    def request(self) -> HttpRequest:
        """The HTTP request: URL, headers and body."""
        assert self.exchange.request is not None
        return self.exchange.request

    @cached_property
    def body(self) -> bytes:
        """The content-decoded body."""
        return decode_partial(self.request.body)[0]

    def with_body(self, body: bytes) -> Turn:
        """The same turn with another body and no response."""
        if body == self.body:
            return self
        return replace(self, exchange=replace(self.exchange, request=with_body(self.request, body), response=None))

    def send(self, simulator: Simulator) -> SimulatedReply:
        """Response of the simulator; ``.status``, ``.body()``."""
        request = self.request
        return simulator.send(request.method, self.target, request.headers, request.body.raw)

    @property
    def target(self) -> str:
        """Path and query: of the recorded URL if they lead to the provider, else the protocol's own."""
        adapter, url = protocols.get(self.protocol), self.request.url
        start = url.find("/", url.find("://") + 3) if "://" in url else 0
        path = url[start:] if start >= 0 else ""
        if adapter.claims_url(path):
            return path
        request = DecodedExchange(0, replace(self.exchange, response=None), self.protocol).request
        return adapter.path(request or ModelRequest(self.protocol, "unknown", ()))

    @cached_property
    def trial(self) -> CheckedVariant:
        """Findings on the request, after everything before it."""
        session = MemorySession("replayed", (*self.before.exchanges, self.exchange))
        inspector = Inspector(session, provider=self.provider, protocol=self.protocol)
        return inspector.trial(len(session) - 1, self.request, response=self.exchange.response)

    def found(self, rules: Collection[str] = ()) -> tuple[Finding, ...]:
        """Errors in the request, and all findings of the named rules on it."""
        asked = (f for f in self.trial.findings if f.side == REQUEST)
        return tuple(f for f in asked if f.severity is Severity.ERROR or f.rule in rules)

    def findings(self, rules: Collection[str] = ()) -> list[str]:
        """The same as lines: ``reasoning.missing at /messages/1: …``."""
        return [f"{f.rule} at {f.pointer or '/'}: {f.message}" for f in self.found(rules)]

    @property
    def unanswered(self) -> list[str]:
        """Calls without a result and results without a call, where they are required: ``call_1 read_file: missing``."""
        lines = self.trial.case.closure.lines
        asked = (line for line in lines if line.call is None or line.call.side != RESPONSE)
        open_lines = (line for line in asked if line.state is not CallState.CLOSED)
        return [f"{line.id or '(no id)'} {line.name or ''}: {line.state}" for line in open_lines]


@contextmanager
def own_contracts(folder: Path) -> Iterator[None]:
    """Use contracts from ``folder/workbench/profiles`` instead of the user's, within the context."""
    name = "XDG_CONFIG_HOME"
    before = os.environ.get(name)
    os.environ[name] = str(folder)
    contracts.forget()
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
        contracts.forget()
