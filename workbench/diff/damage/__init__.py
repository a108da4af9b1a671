"""Damage: changes to an exchange between two hops (before and after a gateway), or between two files.

In: two decoded recordings of one exchange. Out: each change by kind, with its place and the first bytes that differ. It
does not judge whether a change matters: rules do (``workbench.rules.gateway_hops``), ``compare`` and ``audit`` list it.
It may import what ``diff`` may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.diff.damage import _head_damage
from workbench.diff.damage.bodies import body_damages, content_damages
from workbench.diff.damage.kinds import Damage, DamageKind, damage_words
from workbench.diff.damage.streams import delay_damages, stream_damages
from workbench.fronts import lazy
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.wire import State

if TYPE_CHECKING:
    from workbench.diff.damage.bodies import SPELLING, ValueChange, changes_of, is_inside
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "SPELLING",
    "Damage",
    "DamageKind",
    "ValueChange",
    "changes_of",
    "damage_words",
    "damages_between",
    "damages_of_tries",
    "is_inside",
]


def damages_between(
    before: DecodedExchange, after: DecodedExchange, *, is_passed_on: bool = True
) -> tuple[Damage, ...]:
    """Changes between two recordings of one exchange, the first divergence first; () if there are none.

    For each side the head comes first, then the body in the order of its bytes, then headers and times.

    Args:
        before: the client's side of a gateway.
        after: the upstream's. A request went from ``before`` to ``after``, a response the other way.
        is_passed_on: both are one exchange at two hops. Else they are two versions of one: the response, too, went from
            ``before`` to ``after``, and times tell nothing.
    """
    answers = (after, before) if is_passed_on else (before, after)
    return (*_requests(before, after), *_answers(*answers, is_passed_on=is_passed_on))


def damages_of_tries(before: DecodedExchange | None, after: Sequence[DecodedExchange]) -> tuple[Damage, ...]:
    """Changes between one exchange and all requests that a gateway made from it.

    Args:
        before: the exchange at the client; None for a request of the gateway's own.
        after: the forwarded exchanges, one for each try; empty if the gateway responded without forwarding.
    """
    if before is None:
        return (Damage(DamageKind.ASKED, REQUEST, "", "", "the client did not send this request"),) if after else ()
    if not after:
        return (Damage(DamageKind.ANSWERED, REQUEST, "", "", "nothing was forwarded"),)
    found = damages_between(before, after[-1])
    if len(after) == 1:
        return found
    statuses = [str(d.exchange.response.status) if d.exchange.response else "no response" for d in after]
    words = f"{len(after)} attempts: {', '.join(statuses[:8])}"
    return (Damage(DamageKind.REPEATED, REQUEST, "", "", words, len(after), is_same_meaning=True), *found)


def _requests(before: DecodedExchange, after: DecodedExchange) -> Iterator[Damage]:
    old, new = before.exchange.request, after.exchange.request
    if old is None or new is None:
        return
    is_other = _have_different_protocols(before, after)
    heads = [] if is_other else list(_head_damage.request_head_damages(old, new))
    yield from heads
    if is_other:
        yield _protocol_damage(REQUEST, before, after)
        yield from content_damages(REQUEST, before, after)
    else:
        yield from body_damages(REQUEST, before.request_text, after.request_text)
        yield from _head_damage.header_damages(REQUEST, old, new)
    yield from _head_damage.coding_damages(REQUEST, old, new)


def _answers(upstream: DecodedExchange, client: DecodedExchange, *, is_passed_on: bool) -> Iterator[Damage]:
    old, new = upstream.exchange.response, client.exchange.response
    if client.is_arriving or upstream.is_arriving:
        return
    if old is None or new is None:
        yield from _missing(upstream, client) if is_passed_on else ()
        return
    yield from _head_damage.response_head_damages(old, new)
    is_other = _have_different_protocols(upstream, client)
    if is_other:
        yield _protocol_damage(RESPONSE, upstream, client)
    bodies = _bodies(upstream, client, is_other=is_other, is_passed_on=is_passed_on)
    yield from (d for d in bodies if d.kind is not DamageKind.TRUNCATED or not _client_left(client))
    if not is_other:
        is_streamed = bool(upstream.events) != bool(client.events)
        found = _head_damage.header_damages(RESPONSE, old, new)
        yield from (damage for damage in found if not is_streamed or damage.at != "/headers/content-type")
    yield from _head_damage.coding_damages(RESPONSE, old, new)


def _missing(upstream: DecodedExchange, client: DecodedExchange) -> Iterator[Damage]:
    """Damage if only one side has a response: the gateway made one, or kept one."""
    old, new = upstream.exchange.response, client.exchange.response
    if new and upstream.exchange.state is State.ABORTED:
        why = "the gateway did not wait for the response" if _client_left(upstream) else "the upstream did not respond"
        yield Damage(
            DamageKind.ANSWERED, RESPONSE, "/status", "/status", f"{why}, and the client received {new.status}"
        )
    elif old and upstream.exchange.state is State.COMPLETE and _is_broken_off(client):
        yield Damage(
            DamageKind.TRUNCATED,
            RESPONSE,
            "/status",
            "/status",
            f"the upstream responded {old.status}, but the client received nothing",
        )


def _is_broken_off(client: DecodedExchange) -> bool:
    return client.exchange.state is State.ABORTED and not _client_left(client)


def _client_left(decoded: DecodedExchange) -> bool:
    """True if the client went away before the response was complete."""
    return decoded.exchange.is_left


def _bodies(
    upstream: DecodedExchange, client: DecodedExchange, *, is_other: bool, is_passed_on: bool
) -> Iterator[Damage]:
    if _is_error(upstream) or _is_error(client):
        yield from _errors(upstream, client)
    elif not upstream.response_text or not client.response_text:
        yield from body_damages(RESPONSE, upstream.response_text, client.response_text)
    elif bool(upstream.events) != bool(client.events):
        kind = DamageKind.STREAM_TO_BODY if upstream.events else DamageKind.BODY_TO_STREAM
        was = f"{len(upstream.events or client.events):,} events"
        yield Damage(kind, RESPONSE, "", "", was, 1, 0, False, 0)
        yield from content_damages(RESPONSE, upstream, client)
    elif is_other:
        yield from content_damages(RESPONSE, upstream, client)
        yield from delay_damages(upstream, client) if upstream.events and is_passed_on else ()
    elif upstream.events:
        yield from _with_truncation(upstream, client, stream_damages(upstream, client, timed=is_passed_on))
    else:
        found = body_damages(RESPONSE, upstream.response_text, client.response_text)
        yield from _with_truncation(upstream, client, found)


def _with_truncation(upstream: DecodedExchange, client: DecodedExchange, damages: Sequence[Damage]) -> Iterator[Damage]:
    """Add a truncation if the shorter body is a prefix of the other, and its bytes alone do not show it."""
    yield from damages
    is_known = any(damage.kind is DamageKind.TRUNCATED for damage in damages)
    if damages and not is_known and _head_damage.is_cut(client, upstream):
        yield Damage(DamageKind.TRUNCATED, RESPONSE, "", "", "the connection ended before the response was complete")


def _errors(upstream: DecodedExchange, client: DecodedExchange) -> Iterator[Damage]:
    """Damage of an error body with a different meaning; one that differs in spelling only is treated as any body."""
    found = body_damages(RESPONSE, upstream.response_text, client.response_text)
    if all(damage.is_same_meaning for damage in found):
        yield from found
        return
    old, new = (d.response.error if d.response else None for d in (upstream, client))
    message_change = f"{old.message!r} became {new.message!r}" if old and new and old.message != new.message else ""
    words = message_change or (
        _became_error(upstream, client)
        if not _is_error(upstream)
        else "the error has a different structure"
        if old and new
        else "the error has a different body"
    )
    yield replace(found[0], kind=DamageKind.ERROR_REWRITTEN, words=words, places=len(found), is_same_meaning=False)


def _became_error(upstream: DecodedExchange, client: DecodedExchange) -> str:
    old, new = (d.exchange.response.status if d.exchange.response else 0 for d in (upstream, client))
    return f"a response of status {old} became an error of status {new}"


def _is_error(decoded: DecodedExchange) -> bool:
    http = decoded.exchange.response
    return bool(http and http.status >= 400)


def _have_different_protocols(a: DecodedExchange, b: DecodedExchange) -> bool:
    return bool(a.protocol and b.protocol and a.protocol != b.protocol)


def _protocol_damage(side: str, before: DecodedExchange, after: DecodedExchange) -> Damage:
    words = f"{before.protocol} became {after.protocol}"
    return Damage(DamageKind.PROTOCOL_CHANGED, side, "", "", words, 1, 0, True, 0)
