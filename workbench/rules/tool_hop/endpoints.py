"""Rules on the address for messages that a stream of the older HTTP with server-sent events names.

The first event of such a stream is ``endpoint``: an address, relative to that of the stream, to which the client sends
its messages (specification of revision 2024-11-05, "Transports").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from workbench.contracts import Finding
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.protocols.mcp import STREAM
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.http import head_of, url_of
from workbench.rules.tool_hop.rules import HTTP, make
from workbench.undo_log import Journal
from workbench.wire import urls

_ENDPOINT = "endpoint"
_NOT_THERE = (404, 405)
_SESSION = b"session"
"""Word of a 404 that means the session in the address, and not the address."""
_BEGINNING = 300
"""Bytes of a body in which it is looked for."""


class _Endpoint(NamedTuple):
    """Where an address was named.

    Attributes:
        exchange: index of the stream.
        path: of the stream.
    """

    exchange: int
    path: str


class Endpoints:
    """Checks the addresses that streams name, and the requests to them.

    Args:
        journal: undo log; removes what was learned from exchanges that are inspected again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._named: dict[tuple[str, str], _Endpoint] = {}

    def check(self, decoded: DecodedExchange) -> Iterator[Finding]:
        """Findings on an exchange over HTTP with a tool server."""
        url, request = url_of(decoded.exchange), decoded.exchange.request
        if request is not None and request.method == STREAM:
            yield from self._take(decoded, url)
        elif named := self._named.get(_place(url)):
            yield from _of_refusal(decoded, urls.split_url(url).path, named)

    def _take(self, decoded: DecodedExchange, url: str) -> Iterator[Finding]:
        data = next((event.data for event in decoded.events if event.name == _ENDPOINT and event.data), b"")
        if not data:
            return
        stated, own = urljoin(url, data.decode("utf-8", "replace").strip()), urls.split_url(url)
        if data[:8].lower().startswith((b"http%3a", b"https%3a", b"%2f")):
            text = "the address in the event 'endpoint' is percent-encoded: clients read it as a relative path"
            yield make(decoded, HTTP, RESPONSE, "", text, quote(data.decode("utf-8", "replace")))
            return
        self._journal.put(self._named, _place(stated), _Endpoint(decoded.index, own.path))
        if (host := urls.split_url(stated).netloc).lower() != own.netloc.lower():
            text = f"the event 'endpoint' names the host {quote(host)}, but the stream is at {quote(own.netloc)}"
            yield make(decoded, HTTP, RESPONSE, "", f"{text}: clients refuse an address on a different origin")


def _place(url: str) -> tuple[str, str]:
    """Host and path of an address: clients keep its query, recordings do not always."""
    found = urls.split_url(url)
    return found.netloc.lower(), found.path


def _of_refusal(decoded: DecodedExchange, path: str, named: _Endpoint) -> Iterator[Finding]:
    response = decoded.exchange.response
    if response is None or response.status not in _NOT_THERE or _SESSION in decoded.response_text[:_BEGINNING].lower():
        return
    text = (
        f"exchange {named.exchange + 1} names this address in its event 'endpoint', but the server at this address "
        "answers with"
    )
    lost = _lost_prefix(named.path, path)
    hint = (
        f": the address lacks {quote(lost)}, which the address of the stream contains (a proxy may add it)"
        if lost
        else ""
    )
    yield make(decoded, HTTP, RESPONSE, "", f"{text} {response.status}{hint}", quote(head_of(decoded)))


def _lost_prefix(stream: str, address: str) -> str:
    """What the path of a stream has before a part that both share; empty if nothing is."""
    words = stream.split("/")[1:-1]
    first = next(iter(address.split("/")[1:]), "")
    before = words[: words.index(first)] if first in words else words
    return "/" + "/".join(before) if before and not address.startswith("/" + "/".join(before) + "/") else ""
