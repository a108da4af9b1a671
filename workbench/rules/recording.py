"""Requests that the recorder itself refused: they never reached the provider."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.protocols import RESPONSE
from workbench.rules.context import Rule, RuleContext
from workbench.rules.wording import quote
from workbench.wire import RELAY_HEADER

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
    "The recorder refused a WebSocket, as it was asked to, so that the client uses HTTP.",
    is_advice=True,
    basis=Basis.RECORDING,
)

RULES = (REFUSED, FALLBACK)

_UPGRADE_REQUIRED = 426


def check(case: RuleContext) -> Iterator[Finding]:
    """A finding on a response of the recorder's own."""
    http = case.decoded.exchange.response
    if http is None or (http.headers.get(RELAY_HEADER) or "").lower() != "refused":
        return
    text = case.decoded.response_text.decode("utf-8", "replace").strip().removeprefix("workbench: ")
    if http.status == _UPGRADE_REQUIRED:
        message = "the recorder refused this WebSocket with 426; clients that can use HTTP then do"
        yield case.finding(FALLBACK, RESPONSE, "", message, evidence=quote(text, 200))
    else:
        message = f"the recorder refused this request with status {http.status}: it never reached the provider"
        yield case.finding(REFUSED, RESPONSE, "", message, evidence=quote(text, 200))
