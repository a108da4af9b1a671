"""The paths of providers: those of model requests, and others that clients call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from workbench import protocols as adapters
from workbench.protocols import COUNT, STORED, Body, SmallEndpoint, endpoint
from workbench.protocols.common import undecoded_protocols

__all__ = ["COUNT", "MODEL", "OWN", "STORED", "Route", "route", "socket_route"]

MODEL = "model"

OWN = "own"
"""Kind of a small endpoint with a body of its own."""

_ROOT = r"/?\Z"

COMMON = (
    endpoint("GET HEAD", r"/(?:health|healthz|ping)", lambda _names, _: {"status": "ok"}),
    endpoint("GET HEAD", r"", lambda _names, _: {"status": "ok"}),
)
"""Small endpoints of every server."""


class Route(NamedTuple):
    """Kinds of requests.

    Attributes:
        protocol: whose path it is, and whose error bodies refuse it.
        kind: ``MODEL``, ``COUNT``, ``STORED``, ``OWN``, ``"method"`` (not with this method), ``"options"``;
            empty if there is nothing.
        target: path and query as the protocol has them.
        name: what the path names.
        methods: those that would do, where the method does not.
        foreign: the protocol that has the path, where the contract does not speak it.
        body: of an endpoint of kind ``OWN``.
    """

    protocol: str
    kind: str
    target: str
    name: str = ""
    methods: tuple[str, ...] = ()
    foreign: str = ""
    body: Body | None = None


def route(method: str, target: str, headers: Mapping[str, str], protocols: Sequence[str]) -> Route:
    """Target of a request.

    Args:
        headers: by names in lower case.
        protocols: those the contract covers, its own first; () for every one.
    """
    supported = tuple(protocols) or adapters.by_rank()
    ordered = _by_preference(target, headers, supported)
    path = target.partition("?")[0]
    if method == "OPTIONS":
        return Route(ordered[0], "options", target)
    wrong: tuple[str, ...] = ()
    for protocol, each in _small(ordered):
        found = each.path.search(path)
        if found and (each.path.pattern != _ROOT or path in ("", "/")):
            if method in each.methods:
                name = unquote(found[1]) if found.re.groups else ""
                kind, body = (each.answer, None) if isinstance(each.answer, str) else (OWN, each.answer)
                return Route(protocol, kind, target, name, body=body)
            wrong = wrong or each.methods
    for protocol in ordered:
        adapter = adapters.get(protocol)
        claimed = next((t for t in _spellings(target) if adapter.claims_url(t)), None)
        if claimed is not None:
            return Route(protocol, MODEL if method == "POST" else "method", claimed, methods=("POST",))
    foreign = _foreign(method, target, supported)
    if foreign:
        return Route(ordered[0], "", target, foreign=foreign)
    return Route(ordered[0], "method" if wrong else "", target, methods=wrong)


def socket_route(target: str, protocols: Sequence[str]) -> Route | None:
    """Target of a WebSocket handshake; None if no protocol is spoken over one there.

    Args:
        protocols: those the contract covers, its own first; () for every one.
    """
    for protocol in tuple(protocols) or adapters.by_rank():
        adapter = adapters.get(protocol)
        claimed = next((t for t in _spellings(target) if adapter.claims_url(t)), None)
        if claimed is not None and adapter.dialogue:
            return Route(protocol, MODEL, claimed)
    return None


def _small(ordered: Sequence[str]) -> Iterator[tuple[str, SmallEndpoint]]:
    """Small endpoints with the protocol that answers, those of every server last."""
    for protocol in ordered:
        yield from ((protocol, each) for each in adapters.get(protocol).serving.endpoints)
    yield from ((ordered[0], each) for each in COMMON)


def _foreign(method: str, target: str, supported: Sequence[str]) -> str:
    """The protocol that would answer this, of those that are not spoken; "" for none."""
    path = target.partition("?")[0]
    for name in (n for n in adapters.protocols() if n not in supported):
        endpoints = (e for e in adapters.get(name).serving.endpoints if method in e.methods)
        if adapters.get(name).claims_url(target) or any(e.path.search(path) for e in endpoints):
            return name
    return undecoded_protocols.name_url(path) or ""


def _spellings(target: str) -> tuple[str, ...]:
    """The target as it came, and with the version that some base URLs leave out."""
    path, mark, query = target.partition("?")
    versioned = path
    for adapter in adapters.every():
        for pattern, replacement in adapter.serving.spellings:
            versioned = re.sub(pattern, replacement, versioned)
    return (target, versioned + mark + query)


def _by_preference(target: str, headers: Mapping[str, str], protocols: tuple[str, ...]) -> tuple[str, ...]:
    """The protocols, first the one that the request itself points at: small endpoints have the same path in several."""
    for protocol in sorted(protocols):
        clues = adapters.get(protocol).serving.clues
        if any(name in headers for name in clues.headers) or (clues.base and clues.base in target):
            return (protocol, *(p for p in protocols if p != protocol))
    return protocols
