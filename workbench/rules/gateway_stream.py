"""A stream that was held back, merged or split differently on its way to the client.

Two places of one turn tell by their events and by when these came; one place alone tells where everything that a model
wrote over seconds arrives at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Basis, Breaks, FaultOrigin, Finding, Severity
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote, weaker
from workbench.rules.gateway_hops import is_meant

BUFFERED = Rule(
    "gateway.buffered",
    Severity.WARNING,
    "The stream is buffered and delivered late.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)

RULES = (BUFFERED,)

FEWEST = 8
"""Events with which a stream is long enough to be judged."""

AT_ONCE, LONG, MOST_TOKENS = 0.05, 1.0, 2_000
"""Seconds within which everything comes at once; that a model wrote before; and tokens a second no model writes."""

HELD = 0.2
"""Share of the time of the events further up within which those of a stream that was held back arrive."""


class Arrivals(NamedTuple):
    """Arrival times of the events of a stream, in seconds from the start of its exchange."""

    first: float
    last: float

    @property
    def spread(self) -> float:
        """From the first to the last."""
        return self.last - self.first


def check(case: RuleContext) -> Iterator[Finding]:
    """Against the place nearer to the model; else by the times of this place alone."""
    answer = case.decoded.answer
    if answer is None or not answer.is_stream or len(case.decoded.events) < 2:
        return
    inner = None if case.hops.is_alone else case.hops.inner
    if inner is None or inner.answer is None or not inner.answer.is_stream:
        yield from _alone(case)
    elif inner.answer.error is None and answer.error is None and not is_meant(case.decoded, inner):
        yield from _against(case, inner)


def _alone(case: RuleContext) -> Iterator[Finding]:
    mine, answer = arrivals(case.decoded), case.response
    wrote = answer.usage.output if answer and answer.usage else None
    if mine is None or len(case.decoded.events) < FEWEST or mine.spread > AT_ONCE or mine.first < LONG:
        return
    if wrote is None or wrote < MOST_TOKENS * AT_ONCE:
        return
    message = f"{len(case.decoded.events):,} events arrived at once, {mine.first:.1f} s after the request"
    seen = f"{wrote:,} tokens within {mine.spread * 1000:.0f} ms: something buffered the stream until its end"
    yield case.finding(BUFFERED, RESPONSE, "", message, events=_all(case.decoded), evidence=seen)


def _against(case: RuleContext, inner: DecodedExchange) -> Iterator[Finding]:
    mine, theirs = arrivals(case.decoded), arrivals(inner)
    there = f"{_hop(inner)} (exchange {inner.index + 1})"
    if mine and theirs and theirs.spread >= LONG and mine.spread <= HELD * theirs.spread:
        late = f"the stream was buffered between {there} and {_hop(case.decoded)}"
        seen = f"the events arrived over {theirs.spread:.1f} s there and within {mine.spread:.1f} s here"
        yield _with_place(
            case, inner, case.finding(BUFFERED, RESPONSE, "", late, events=_all(case.decoded), evidence=seen)
        )
        return
    outer_pieces, inner_pieces = _pieces(case.decoded), _pieces(inner)
    if outer_pieces == inner_pieces or min(outer_pieces, inner_pieces) == 0:
        return
    how = "merged" if outer_pieces < inner_pieces else "split differently"
    counts = f"{inner_pieces:,} received, {outer_pieces:,} forwarded"
    message = f"the events were {how} between {there} and {_hop(case.decoded)}: {counts}"
    yield _with_place(case, inner, case.finding(weaker(BUFFERED, Severity.INFO), RESPONSE, "", message))


def arrivals(decoded: DecodedExchange) -> Arrivals | None:
    """Arrival of the first and the last event; None if the recording has no times."""
    first, last = (decoded.arrival(decoded.events[n]) for n in (0, -1))
    return Arrivals(first, last) if first is not None and last is not None else None


def _pieces(decoded: DecodedExchange) -> int:
    """Events that carried a piece of a text, of reasoning or of arguments."""
    parts = (part for message in decoded.messages(RESPONSE) for part in message.parts)
    return len({segment.event for part in parts for pieces in part.source.segments.values() for segment in pieces})


def _all(decoded: DecodedExchange) -> tuple[int, ...]:
    return tuple(range(len(decoded.events)))


def _hop(decoded: DecodedExchange) -> str:
    return quote(decoded.exchange.hop, 40) if decoded.exchange.hop else "the unnamed hop"


def _with_place(case: RuleContext, inner: DecodedExchange, finding: Finding) -> Finding:
    words = f"the stream of exchange {inner.index + 1}, recorded at {_hop(inner)}, arrived without delay"
    return replace(finding, origin=FaultOrigin(finding.exchange, RESPONSE, "", words, case.decoded.exchange.hop))
