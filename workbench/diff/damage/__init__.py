"""Damage: what happened to an exchange between two hops (before and behind a gateway), or in two files.

In: two decoded sightings of one exchange. Out: each change by its kind, with its place and the first bytes that differ.
It does not say whether a change matters: rules weigh it (``workbench.rules.gateway_hops``), ``compare`` and ``audit``
list it. It may import what ``diff`` may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.diff.damage import _around
from workbench.diff.damage._said import of_said
from workbench.diff.damage.bodies import of_bodies
from workbench.diff.damage.kinds import Damage, Kind
from workbench.diff.damage.streams import held_back, of_streams
from workbench.fronts import lazy
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.wire import State

if TYPE_CHECKING:
    from workbench.diff.damage.bodies import SPELLING, Change, changes_of, is_inside
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "SPELLING",
    "Change",
    "Damage",
    "Kind",
    "across",
    "between",
    "changes_of",
    "is_inside",
]


def between(before: DecodedExchange, after: DecodedExchange, *, is_passed_on: bool = True) -> tuple[Damage, ...]:
    """What happened between two sightings of one exchange, the first divergence first; () where nothing did.

    Of each side what stands in the head comes first, then the body in the order of its bytes, then headers and times.

    Args:
        before: the client's side of a gateway.
        after: the upstream's. A request went from ``before`` to ``after``, an answer the other way.
        is_passed_on: the two are one exchange. Else they are two versions of one: the answer, too, went from
            ``before`` to ``after``, and no times tell.
    """
    answers = (after, before) if is_passed_on else (before, after)
    return (*_requests(before, after), *_answers(*answers, is_passed_on=is_passed_on))


def across(before: DecodedExchange | None, after: Sequence[DecodedExchange]) -> tuple[Damage, ...]:
    """The same of everything that a gateway made of one exchange.

    Args:
        before: what came in; None for what the gateway asked by itself.
        after: what went on, one for each try; none where the gateway answered by itself.
    """
    if before is None:
        return (Damage(Kind.ASKED, REQUEST, "", "", "nothing came in"),) if after else ()
    if not after:
        return (Damage(Kind.ANSWERED, REQUEST, "", "", "nothing was forwarded"),)
    found = between(before, after[-1])
    if len(after) == 1:
        return found
    statuses = [str(d.exchange.response.status) if d.exchange.response else "no answer" for d in after]
    words = f"{len(after)} tries: {', '.join(statuses[:8])}"
    return (Damage(Kind.REPEATED, REQUEST, "", "", words, len(after), is_same_meaning=True), *found)


def _requests(before: DecodedExchange, after: DecodedExchange) -> Iterator[Damage]:
    old, new = before.exchange.request, after.exchange.request
    if old is None or new is None:
        return
    is_other = _speak_otherwise(before, after)
    heads = [] if is_other else list(_around.around_request(old, new))
    yield from heads
    if is_other:
        yield _of_protocols(REQUEST, before, after)
        yield from of_said(REQUEST, before, after)
    else:
        yield from of_bodies(REQUEST, before.request_text, after.request_text)
        yield from _around.headers(REQUEST, old, new)
    yield from _around.coding(REQUEST, old, new)


def _answers(upstream: DecodedExchange, client: DecodedExchange, *, is_passed_on: bool) -> Iterator[Damage]:
    old, new = upstream.exchange.response, client.exchange.response
    if client.is_arriving or upstream.is_arriving:
        return
    if old is None or new is None:
        yield from _missing(upstream, client) if is_passed_on else ()
        return
    yield from _around.around_answer(old, new)
    is_other = _speak_otherwise(upstream, client)
    if is_other:
        yield _of_protocols(RESPONSE, upstream, client)
    bodies = _bodies(upstream, client, is_other=is_other, is_passed_on=is_passed_on)
    yield from (d for d in bodies if d.kind is not Kind.TRUNCATED or not _is_left(client))
    if not is_other:
        is_streamed = bool(upstream.events) != bool(client.events)
        found = _around.headers(RESPONSE, old, new)
        yield from (damage for damage in found if not is_streamed or damage.at != "/headers/content-type")
    yield from _around.coding(RESPONSE, old, new)


def _missing(upstream: DecodedExchange, client: DecodedExchange) -> Iterator[Damage]:
    """An answer on one side alone: the gateway's own, or one that it kept."""
    old, new = upstream.exchange.response, client.exchange.response
    if new and upstream.exchange.state is State.ABORTED:
        why = "the gateway did not wait for an answer" if _is_left(upstream) else "no answer came"
        yield Damage(Kind.ANSWERED, RESPONSE, "/status", "/status", f"{why}, and the client got {new.status}")
    elif old and upstream.exchange.state is State.COMPLETE and _is_broken_off(client):
        yield Damage(Kind.TRUNCATED, RESPONSE, "/status", "/status", f"{old.status} came, and the client got nothing")


def _is_broken_off(client: DecodedExchange) -> bool:
    return client.exchange.state is State.ABORTED and not _is_left(client)


def _is_left(decoded: DecodedExchange) -> bool:
    """Who had asked went away before the answer was whole."""
    return decoded.exchange.is_left


def _bodies(
    upstream: DecodedExchange, client: DecodedExchange, *, is_other: bool, is_passed_on: bool
) -> Iterator[Damage]:
    if _is_error(upstream) or _is_error(client):
        yield from _errors(upstream, client)
    elif not upstream.response_text or not client.response_text:
        yield from of_bodies(RESPONSE, upstream.response_text, client.response_text)
    elif bool(upstream.events) != bool(client.events):
        kind = Kind.STREAM_TO_BODY if upstream.events else Kind.BODY_TO_STREAM
        was = f"{len(upstream.events or client.events):,} events"
        yield Damage(kind, RESPONSE, "", "", was, 1, 0, False, 0)
        yield from of_said(RESPONSE, upstream, client)
    elif is_other:
        yield from of_said(RESPONSE, upstream, client)
        yield from held_back(upstream, client) if upstream.events and is_passed_on else ()
    elif upstream.events:
        yield from _cut(upstream, client, of_streams(upstream, client, timed=is_passed_on))
    else:
        found = of_bodies(RESPONSE, upstream.response_text, client.response_text)
        yield from _cut(upstream, client, found)


def _cut(upstream: DecodedExchange, client: DecodedExchange, found: Sequence[Damage]) -> Iterator[Damage]:
    """With a body that is the beginning of the other one named as cut off, where its bytes alone do not tell."""
    yield from found
    is_known = any(damage.kind is Kind.TRUNCATED for damage in found)
    if found and not is_known and _around.is_cut(client, upstream):
        yield Damage(Kind.TRUNCATED, RESPONSE, "", "", "the connection ended before the answer did")


def _errors(upstream: DecodedExchange, client: DecodedExchange) -> Iterator[Damage]:
    """An error body that became another one; one that is spelled otherwise is told as every body is."""
    found = of_bodies(RESPONSE, upstream.response_text, client.response_text)
    if all(damage.is_same_meaning for damage in found):
        yield from found
        return
    old, new = (d.response.error if d.response else None for d in (upstream, client))
    said = f"{old.message!r} became {new.message!r}" if old and new and old.message != new.message else ""
    words = said or ("it was no error" if not _is_error(upstream) else "its shape" if old and new else "its body")
    yield replace(found[0], kind=Kind.ERROR_REWRITTEN, words=words, places=len(found), is_same_meaning=False)


def _is_error(decoded: DecodedExchange) -> bool:
    http = decoded.exchange.response
    return bool(http and http.status >= 400)


def _speak_otherwise(a: DecodedExchange, b: DecodedExchange) -> bool:
    return bool(a.protocol and b.protocol and a.protocol != b.protocol)


def _of_protocols(side: str, before: DecodedExchange, after: DecodedExchange) -> Damage:
    words = f"{before.protocol} became {after.protocol}"
    return Damage(Kind.PROTOCOL_CHANGED, side, "", "", words, 1, 0, True, 0)
