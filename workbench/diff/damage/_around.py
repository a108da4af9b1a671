"""What changed around the bodies: method, path, query, status, headers, content coding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

from workbench.diff.damage.kinds import Damage, Kind
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
"""Headers that belong to one connection, say who passed a message on, or follow from the body. The coding of a body is
named by itself."""

_HELPS = frozenset({Topic.VERSION, Topic.LIMIT, Topic.RETRY, Topic.ACCOUNT})
"""What a header has to be about for its reader to act on it."""


def around_request(before: HttpRequest, after: HttpRequest) -> Iterator[Damage]:
    """What happened to the head of a request."""
    if before.method.upper() != after.method.upper():
        words = f"{before.method} became {after.method}"
        yield Damage(Kind.METHOD_CHANGED, REQUEST, "/method", "/method", words)
    old, new = split_url(before.url), split_url(after.url)
    if old.path.rstrip("/") != new.path.rstrip("/"):
        is_prefixed = old.path.endswith(new.path) or new.path.endswith(old.path)
        words = f"{old.path or '/'} became {new.path or '/'}"
        yield Damage(Kind.PATH_CHANGED, REQUEST, "/path", "/path", words, is_same_meaning=is_prefixed)
    yield from _query(old.query, new.query)


def around_answer(upstream: HttpResponse, client: HttpResponse) -> Iterator[Damage]:
    """What happened to the head of an answer."""
    if upstream.status != client.status and upstream.status and client.status:
        words = f"{upstream.status} became {client.status}"
        yield Damage(Kind.STATUS_CHANGED, RESPONSE, "/status", "/status", words)


def headers(side: str, before: HttpRequest | HttpResponse, after: HttpRequest | HttpResponse) -> Iterator[Damage]:
    """Headers that went, came or changed. Of secrets it is only told whether they are there."""
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
                kind = Kind.HEADER_DROPPED if new is None else Kind.HEADER_ADDED
                yield Damage(kind, side, at, at, name, is_same_meaning=has_secret)
            continue
        is_same = not _is_read(name)
        if new is None:
            yield Damage(Kind.HEADER_DROPPED, side, at, at, f"{name}: it was {old}", is_same_meaning=is_same)
        elif old is None:
            yield Damage(Kind.HEADER_ADDED, side, at, at, f"{name}: {new}", is_same_meaning=is_same)
        elif _media(name, old) != _media(name, new):
            words = f"{name}: {old} became {new}"
            yield Damage(Kind.HEADER_CHANGED, side, at, at, words, is_same_meaning=is_same)


def coding(side: str, before: HttpRequest | HttpResponse, after: HttpRequest | HttpResponse) -> Iterator[Damage]:
    """The body came in one content coding and went on in another, or in none: transport alone."""
    old, new = (http.body.encoding.strip().lower() for http in (before, after))
    if old != new and before.body.is_raw and after.body.is_raw:
        words = f"{old or 'none'} became {new or 'none'}"
        yield Damage(Kind.CODING_CHANGED, side, "", "", words, 1, 0, True, 0)


def is_cut(decoded: DecodedExchange, other: DecodedExchange) -> bool:
    """An answer that ends before its end, and came whole."""
    state = decoded.exchange.state
    return state is not other.exchange.state and state.value in ("aborted", "incomplete")


def _query(before: str, after: str) -> Iterator[Damage]:
    olds, news = (_parameters(query) for query in (before, after))
    for name in dict.fromkeys((*olds, *news)):
        old, new = olds.get(name), news.get(name)
        if old == new or (old is not None and new is not None and _hides(name)):
            continue
        words = f"{name} was {'dropped' if new is None else 'added' if old is None else 'changed'}"
        yield Damage(Kind.QUERY_CHANGED, REQUEST, "/query", "/query", words, is_same_meaning=_hides(name))


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
    """A client or a server acts on it."""
    if name == "content-type":
        return True
    about = meaning(name)
    return about is not None and about.topic in _HELPS


def _media(name: str, value: str) -> str:
    """A media type without the spelling of its parameters."""
    return value.lower().replace(" ", "").replace('"', "") if name == "content-type" else value
