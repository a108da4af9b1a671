"""Rules on the two eras of the protocol: a client whose probe of the newer one is refused begins with the older one."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Finding
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange
from workbench.protocols.mcp import response_object
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import VERSION, make, member

_OF_NEW_ERA = (-32020, -32021, -32022, -32602)
"""Codes with which a server of the newer era refuses: the client asks again instead of falling back."""

PATIENCE = 1.0
"""Seconds that a client has for the next step of a handshake, before it is said to have given up."""


class RefusedProbe(NamedTuple):
    """A ``server/discover`` that was refused.

    Attributes:
        exchange: its index; -1 for none.
        at: when it was sent, in seconds since the epoch.
        error_text: the refusal in the words of the server.
    """

    exchange: int = -1
    at: float = 0.0
    error_text: str = ""


def refused_probe(decoded: DecodedExchange) -> RefusedProbe | None:
    """The probe that an exchange is, if a server of the older era refused it."""
    http, response = decoded.exchange.request, decoded.exchange.response
    if http is None or http.method != "server/discover" or response is None:
        return None
    error = member(response_object(decoded), "error")
    is_refused = response.status >= 400 or error is not None
    if not is_refused or member(error, "code") in _OF_NEW_ERA:
        return None
    text = str(member(error, "message") or f"status {response.status}")
    return RefusedProbe(decoded.index, decoded.exchange.started_at or 0.0, text)


def of_probe(decoded: DecodedExchange, server: str, probe: RefusedProbe) -> Iterator[Finding]:
    """Findings on a request to the model, sent without the tools of a server that refused a probe."""
    began = decoded.exchange.started_at
    if probe.exchange >= 0 and began is not None and began >= probe.at + PATIENCE:
        text = (
            f"{quote(server)} refused the probe in exchange {probe.exchange + 1}, but the client did not fall back to "
            "initialize: the tools of that server are missing"
        )
        yield make(decoded, VERSION, REQUEST, "", text, quote(probe.error_text))
