"""Requests that the recorder itself refused: they never reached the provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.lazy_dataclass import replace
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote
from workbench.wire import RELAY_HEADER

if TYPE_CHECKING:
    from workbench.rules.inspection import InspectedExchange

REFUSED = Rule(
    "recording.refused",
    Severity.ERROR,
    "The recorder refused the request, so it never reached the provider.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)
FALLBACK = Rule(
    "recording.websocket-refused",
    Severity.INFO,
    "The recorder was configured to refuse WebSockets, so that the client uses HTTP.",
    is_advice=True,
    basis=Basis.RECORDING,
)

RULES = (REFUSED, FALLBACK)

_UPGRADE_REQUIRED = 426
_NO_BODY = "request.unread"


def check(case: RuleContext) -> Iterator[Finding]:
    """A finding on a response of the recorder's own."""
    yield from find_refused(case.decoded)


def find_refused(decoded: DecodedExchange) -> tuple[Finding, ...]:
    """The finding on a request that the recorder refused, of whatever protocol it was; empty if it did not."""
    http = decoded.exchange.response
    if http is None or (http.headers.get(RELAY_HEADER) or "").lower() != "refused":
        return ()
    rule, message = (
        REFUSED,
        f"the recorder refused this request with status {http.status}: it never reached the provider",
    )
    if http.status == _UPGRADE_REQUIRED:
        rule, message = (
            FALLBACK,
            "the recorder refused this WebSocket with 426; clients that support HTTP then fall back to HTTP",
        )
    text = decoded.response_text.decode("utf-8", "replace").strip().removeprefix("workbench: ")
    span = decoded.place(RESPONSE, "").span
    return (
        Finding(rule.slug, rule.severity, decoded.index, RESPONSE, "", message, span=span,
                evidence=quote(text, 200), basis=rule.basis),
    )  # fmt: skip


def is_refused_handshake(decoded: DecodedExchange) -> bool:
    """The request asks for a WebSocket, and the response does not open one."""
    request, response = decoded.exchange.request, decoded.exchange.response
    if request is None or response is None or request.method != "GET" or response.status == _OPENED:
        return False
    return (request.headers.get("upgrade") or "").lower() == "websocket"


_OPENED = 101
"""Status with which a server opens a WebSocket."""


def with_refusal(row: InspectedExchange, decoded: DecodedExchange) -> InspectedExchange:
    """The row; if the recorder refused the request, with findings on the request alone: no provider answered."""
    refused = find_refused(decoded)
    if not refused:
        return row
    return replace(row, findings=(*refused, *(f for f in row.findings if f.side != RESPONSE and f.rule != _NO_BODY)))
