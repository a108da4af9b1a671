"""Recorded requests, sent to simulators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench import contracts
from workbench.contracts import choose
from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.protocols.decode import DecodedExchange
from workbench.protocols.known_messages import KnownMessages
from workbench.simulator import ServedRequest, Simulator
from workbench.wire.exchange import Exchange, Origin
from workbench.wire.session import Session

_ORIGIN = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#]*")


class Sent(NamedTuple):
    """A recorded request, the status it got then, and what the simulator of its contract made of it."""

    file: str
    index: int
    label: str
    status: int
    error: str
    served: ServedRequest

    @property
    def name(self) -> str:
        return f"{self.file}#{self.index + 1}"

    def line(self) -> str:
        return f"{self.name} {self.label} {self.status}→{self.served.line()[:300]} · recorded: {self.error[:200]}"


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*/*/*") if path.is_file())


def sent(folder: Path, simulators: dict[str, Simulator]) -> Iterator[Sent]:
    """Every request with a recorded answer, to the simulator of its contract: one for each."""
    for path in files(folder):
        try:
            session = open_input(str(path))
        except WorkbenchError:
            continue
        try:
            yield from _of_file(str(path.relative_to(folder)), session, simulators)
        finally:
            session.close()


def _of_file(name: str, session: Session, simulators: dict[str, Simulator]) -> Iterator[Sent]:
    known = KnownMessages()
    for index, row in enumerate(session.summaries()):
        if row.origin is Origin.RECONSTRUCTED or not row.status:
            continue
        exchange = session.exchange(index)
        if exchange.request is None or exchange.response is None:
            continue
        decoded = DecodedExchange(index, exchange, known=known)
        if decoded.request is None or decoded.protocol is None:
            continue
        clues = contracts.Clues(url=exchange.request.url, model=decoded.request.model, params=decoded.request.params)
        contract, _ = choose(clues, decoded.protocol)
        simulator = simulators.setdefault(contract.name, Simulator(contract.name))
        served = _send(simulator, exchange)
        error = decoded.response.error.message if decoded.response and decoded.response.error else ""
        yield Sent(name, index, contract.name, exchange.response.status, error, served)


def _send(simulator: Simulator, exchange: Exchange) -> ServedRequest:
    request = exchange.request
    assert request is not None
    target = _ORIGIN.sub("", request.url) or "/"
    reply = simulator.send("POST", target, request.headers, request.body.raw)
    reply.body()
    return reply.served
