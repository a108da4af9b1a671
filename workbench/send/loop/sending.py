"""The request of a loop step on its way to a target, and the exchange that results. Sends nothing itself."""

from __future__ import annotations

from dataclasses import replace

from workbench.protocols import DecodedExchange
from workbench.send.loop.steps import Send
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.target import Target
from workbench.wire import Exchange


def outgoing(step: Send, target: Target, model: str = "", protocol: str = "") -> Outgoing:
    """The request of a step, prepared for a target. Arguments and errors as ``prepare``."""
    asked = DecodedExchange(0, Exchange("", step.request), step.protocol or None)
    return prepare(asked, target, protocol=protocol, model=model)


def with_sent_body(exchange: Exchange, sent: Outgoing) -> Exchange:
    """The exchange for the loop to continue with: the body as sent, since the stored one has its secrets replaced."""
    if exchange.request is None:
        return exchange
    return replace(exchange, request=replace(exchange.request, body=sent.request.body, redactions=()))
