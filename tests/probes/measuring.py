"""Probes against a simulator in this process: without a thread, a socket, or a wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from workbench import contracts, probes, protocols
from workbench.probes import Measurement, Probe, Subject
from workbench.send.outgoing import Outgoing
from workbench.send.target_names import resolve
from workbench.simulator import Dials, HttpFault, ScriptedModel, Simulator, dials_of
from workbench.wire.exchange import Body, Exchange, Headers, HttpResponse, Origin

SEES_ALL = Dials(mends=1, parallel=2)
"""A model with which nothing goes wrong."""


@dataclass
class Direct:
    """Sends to a simulator as ``Sender`` does, at once."""

    simulator: Simulator
    sent: list[Outgoing] = field(default_factory=list)

    async def send(self, outgoing: Outgoing) -> Exchange:
        """What comes of a request."""
        self.sent.append(outgoing)
        asked = outgoing.request
        reply = self.simulator.send(asked.method, asked.url, asked.headers.items, asked.body.raw)
        data = b"".join(piece.data for piece in reply.pieces)
        answer = HttpResponse(reply.status, Headers(tuple(reply.headers)), Body(data))
        return Exchange(f"e{len(self.sent)}", asked, answer, origin=Origin.RESENT)


def measured(
    label: str, protocol: str = "", wanted: Sequence[str | Probe] = (), samples: int = 1, **dials: Any
) -> Measurement:
    """A simulator, measured; the dials are those of a healthy model but for these, dashes written as underscores."""
    spoken = contracts.read(label.partition(":")[0]).protocols
    protocol = protocol or (spoken[0] if spoken else "openai-chat")
    given = {name.replace("_", "-"): list(v) if isinstance(v, tuple) else v for name, v in dials.items()}
    fault = given.pop("http", None)
    model = ScriptedModel(dials_of(given, SEES_ALL))
    if isinstance(fault, HttpFault):
        model.dials = Dials(**{**{n: getattr(model.dials, n) for n in Dials.__slots__}, "http": fault})
    simulator = Simulator(label, model=model)
    made = Measurement(Subject(resolve(f"sim:{label}"), protocol, simulator.names()[0], ""))
    named = probes.select([w for w in wanted if isinstance(w, str)]) if not wanted or isinstance(wanted[0], str) else ()
    chosen = (*named, *(w for w in wanted if isinstance(w, Probe)))

    async def run() -> None:
        count = iter(range(10**6))
        sender: Any = Direct(simulator)
        async for _ in probes.measure(made, chosen, sender, samples=samples, nonce=lambda: f"n{next(count)}k"):
            pass

    with suppress(StopIteration):  # nothing in it waits: no event loop is needed
        run().send(None)
    return made


def outcomes(made: Measurement) -> dict[str, str]:
    """Probe → verdict."""
    return {result.probe: result.outcome.value for result in made.results}


def words(made: Measurement) -> str:
    """What the verdicts say, for failing tests."""
    return "; ".join(f"{result.probe}: {result.words}" for result in made.results)


def second() -> Iterator[tuple[str, str]]:
    """Every contract with every protocol of its own but the first."""
    for label in contracts.names():
        own = contracts.read(label).protocols or protocols.protocols()
        yield from ((label, protocol) for protocol in own[1:] if protocol in protocols.protocols())
