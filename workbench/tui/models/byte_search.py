"""Search in the bytes of all exchanges: the matches of each, and their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.safetext import from_bytes, visible
from workbench.tui.models.wire import BodySearch, shown_body
from workbench.views import REQUEST, RESPONSE, Line, Span, count, line

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange

BEFORE, AFTER = 24, 60
"""Bytes shown on either side of a match."""


class ExchangeMatches(NamedTuple):
    """Matches in one exchange.

    Attributes:
        exchange: index of the exchange.
        request: number of matches in the request; ``response``: in the response.
        side: side of the first match.
        offset: its first byte.
        excerpt: the bytes around it.
    """

    exchange: int
    request: int
    response: int
    side: str
    offset: int
    excerpt: Line

    @property
    def total(self) -> int:
        """Number of matches on both sides."""
        return self.request + self.response


def search_exchange(decoded: DecodedExchange, wanted: str) -> ExchangeMatches | None:
    """Matches of a text in the bytes of an exchange, also where a stream sent it in pieces; None without a match."""
    found = {side: _spans(decoded, side, wanted) for side in (REQUEST, RESPONSE)}
    side = REQUEST if found[REQUEST] else RESPONSE
    if not found[side]:
        return None
    first = found[side][0]
    excerpt = _excerpt(shown_body(decoded, side), first)
    return ExchangeMatches(decoded.index, len(found[REQUEST]), len(found[RESPONSE]), side, first[0], excerpt)


def _spans(decoded: DecodedExchange, side: str, wanted: str) -> list[tuple[int, int]]:
    search = BodySearch(wanted)
    for _ in search.run(shown_body(decoded, side), decoded if side == RESPONSE else None):
        pass
    return search.spans


def _excerpt(body: bytes, span: tuple[int, int]) -> Line:
    start, end = span
    return line(
        Span("…" if start > BEFORE else "", "muted"),
        Span(from_bytes(body[max(0, start - BEFORE) : start]), is_bytes=True),
        Span(from_bytes(body[start:end]), "match", is_bytes=True),
        Span(from_bytes(body[end : end + AFTER]), is_bytes=True),
    )


def matches_line(exchange_matches: ExchangeMatches, digits: int) -> Line:
    """One exchange with its counts and its first match."""
    sides = ((exchange_matches.request, "request"), (exchange_matches.response, "response"))
    words = " · ".join(f"{many:,} in {side}" for many, side in sides if many)
    return line(
        Span(f"{exchange_matches.exchange + 1:,} ", "strong", -digits - 1),
        Span(f"{words}  ", "muted", 36),
        *exchange_matches.excerpt,
    )


def headline(wanted: str, exchange_matches: list[ExchangeMatches], done: int, total: int) -> Line:
    """The searched text, the number of matches, and of exchanges that have them."""
    many = sum(each.total for each in exchange_matches)
    where = f"{many:,} {'match' if many == 1 else 'matches'} in {len(exchange_matches):,} of {count(done, 'exchange')}"
    return line(
        Span(f' "{visible(wanted)}"', "accent strong"),
        Span(f"   {where}" if exchange_matches else f"   no match in {count(done, 'exchange')}"),
        Span(" so far" if done < total else "", "muted"),
    )
