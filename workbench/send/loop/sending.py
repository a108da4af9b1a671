"""A step that sends, and a target: what goes there, and the exchange that comes of it. Nothing is sent here."""

from __future__ import annotations

from dataclasses import replace

from workbench.protocols.decode import DecodedExchange
from workbench.send.loop.steps import Send
from workbench.send.outgoing import Outgoing, prepare
from workbench.send.target import Target
from workbench.wire.exchange import Exchange


def outgoing(step: Send, target: Target, model: str = "", protocol: str = "") -> Outgoing:
    """The request of a step on its way to a target, in what that speaks. Arguments and errors as ``prepare``."""
    asked = DecodedExchange(0, Exchange("", step.request), step.protocol or None)
    return prepare(asked, target, protocol=protocol, model=model)


def as_sent(exchange: Exchange, sent: Outgoing) -> Exchange:
    """An exchange for the loop to go on with: its body as it was sent, although what is kept of it holds no secret."""
    if exchange.request is None:
        return exchange
    return replace(exchange, request=replace(exchange.request, body=sent.request.body, redactions=()))
