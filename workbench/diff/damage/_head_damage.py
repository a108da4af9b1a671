"""Damage around the bodies: method, path, query, status, headers, content coding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

from workbench.diff.damage.kinds import Damage, DamageKind
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.wire import HttpRequest, HttpResponse, Topic, meaning, split_url
from workbench.wire.secrets import is_header, is_parameter

OF_A_CONNECTION = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
        *("host", "content-length", "date", "server", "via", "forwarded", "alt-svc", "age", "x-real-ip"),
        *("content-encoding", "accept-encoding"),
    }
)
"""Headers that belong to one connection, name the forwarding programs, or follow from the body.

The content coding is compared separately.
"""

_HELPS = frozenset({Topic.VERSION, Topic.LIMIT, Topic.RETRY, Topic.ACCOUNT})
"""Topics of headers that a client or server acts on."""


def request_head_damages(before: HttpRequest, after: HttpRequest) -> Iterator[Damage]:
    """Damage to method, path and query of a request."""
    if before.method.upper() != after.method.upper():
        words = f"{before.method} became {after.method}"
        yield Damage(DamageKind.METHOD_CHANGED, REQUEST, "/method", "/method", words)
    old, new = split_url(before.url), split_url(after.url)
    if old.path.rstrip("/") != new.path.rstrip("/"):
        is_prefixed = old.path.endswith(new.path) or new.path.endswith(old.path)
        words = f"{old.path or '/'} became {new.path or '/'}"
        yield Damage(DamageKind.PATH_CHANGED, REQUEST, "/path", "/path", words, is_same_meaning=is_prefixed)
    yield from _query_damages(old.query, new.query)


def response_head_damages(upstream: HttpResponse, client: HttpResponse) -> Iterator[Damage]:
    """Damage to the status of a response."""
    if upstream.status != client.status and upstream.status and client.status:
        words = f"{upstream.status} became {client.status}"
        yield Damage(DamageKind.STATUS_CHANGED, RESPONSE, "/status", "/status", words)


def header_damages(
    side: str, before: HttpRequest | HttpResponse, after: HttpRequest | HttpResponse
) -> Iterator[Damage]:
    """Headers that were dropped, added or changed. For secrets only their presence is compared."""
    if not before.headers or not after.headers:
        return  # they were not recorded
    olds, news = _values(before), _values(after)
    has_secret = any(_is_secret(name) for name in news)
    for name in dict.fromkeys((*olds, *news)):
        old, new = olds.get(name), news.get(name)
        if name in OF_A_CONNECTION or name.startswith("x-forwarded-") or old == new:
            continue
        at = f"/headers/{name}"
        if _is_secret(name):
            if old is None or new is None:
                kind = DamageKind.HEADER_DROPPED if new is None else DamageKind.HEADER_ADDED
                yield Damage(kind, side, at, at, name, is_same_meaning=has_secret)
            continue
        is_same = not _is_read(name)
        if new is None:
            yield Damage(DamageKind.HEADER_DROPPED, side, at, at, f"{name} was {old}", is_same_meaning=is_same)
        elif old is None:
            yield Damage(DamageKind.HEADER_ADDED, side, at, at, f"{name}: {new}", is_same_meaning=is_same)
        elif _media(name, old) != _media(name, new):
            words = f"{name}: {old} became {new}"
            yield Damage(DamageKind.HEADER_CHANGED, side, at, at, words, is_same_meaning=is_same)


def coding_damages(
    side: str, before: HttpRequest | HttpResponse, after: HttpRequest | HttpResponse
) -> Iterator[Damage]:
    """Damage if the body arrived in one content coding and left in another: transport alone."""
    old, new = (http.body.encoding.strip().lower() for http in (before, after))
    if old != new and before.body.is_raw and after.body.is_raw:
        words = f"{old or 'none'} became {new or 'none'}"
        yield Damage(DamageKind.CODING_CHANGED, side, "", "", words, 1, 0, True, 0)


def is_cut(decoded: DecodedExchange, other: DecodedExchange) -> bool:
    """True if a response stops before its end and the other one is complete."""
    state = decoded.exchange.state
    return state is not other.exchange.state and state.value in ("aborted", "incomplete")


def _query_damages(before: str, after: str) -> Iterator[Damage]:
    olds, news = (_parameters(query) for query in (before, after))
    for name in dict.fromkeys((*olds, *news)):
        old, new = olds.get(name), news.get(name)
        if old == new or (old is not None and new is not None and _hides(name)):
            continue
        words = f"{name} was {'dropped' if new is None else 'added' if old is None else 'changed'}"
        yield Damage(DamageKind.QUERY_CHANGED, REQUEST, "/query", "/query", words, is_same_meaning=_hides(name))


def _parameters(query: str) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        found.setdefault(name, []).append(value)
    return found


def _hides(name: str) -> bool:
    return is_parameter(name)


def _values(http: HttpRequest | HttpResponse) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name, value in http.headers:
        found.setdefault(name.lower(), []).append(value.strip())
    return {name: ", ".join(values) for name, values in found.items()}


def _is_secret(name: str) -> bool:
    return is_header(name)


def _is_read(name: str) -> bool:
    """True if a client or a server acts on the header."""
    if name == "content-type":
        return True
    about = meaning(name)
    return about is not None and about.topic in _HELPS


def _media(name: str, value: str) -> str:
    """A media type without the spelling of its parameters."""
    return value.lower().replace(" ", "").replace('"', "") if name == "content-type" else value
