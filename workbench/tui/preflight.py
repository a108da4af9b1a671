"""What would be sent, and everything there is to say of it before: made in the inspector's thread."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import LocalProtocolError
from workbench.probes.profiles.choosing import Choice, choose, earlier, of_request
from workbench.wire.exchange import Exchange

if TYPE_CHECKING:
    from workbench.edits.branches import Node
    from workbench.protocols.decode import DecodedExchange
    from workbench.rules.inspection import Inspector, Trial
    from workbench.send.outgoing import Outgoing
    from workbench.send.target import Target
    from workbench.send.unbound import Unbound

NOTHING_MEASURED = Choice()


class Preflight(NamedTuple):
    """A request on its way.

    Attributes:
        own: the request in its own protocol.
        outgoing: what would go out.
        trial: what the target's contract says of that.
        unbound: signed blocks that an edit unbinds; None where every signature still holds, or none goes out.
        choice: the profile that holds, and what is corrected because of it.
    """

    own: DecodedExchange
    outgoing: Outgoing
    trial: Trial
    unbound: Unbound | None = None
    choice: Choice = NOTHING_MEASURED


def chosen(target: Target, own: DecodedExchange, off: Collection[str] = (), protocol: str = "") -> Choice:
    """The newest measured profile of exactly the target, model and protocol of a request, and what it asks for.

    Args:
        off: names of the corrections that are switched off.
        protocol: to write it in, "" for what the target speaks.
    """
    from workbench.probes.profiles import Store

    return choose(of_request(Store.of_user().latest(), target, own, protocol=protocol), time.time(), off=off)


def look(
    inspector: Inspector,
    node: Node,
    target: Target,
    protocol: str = "",
    stream: bool | None = None,
    off: Collection[str] | None = None,
) -> Preflight:
    """The request of a node as it would go to a target.

    Args:
        protocol: to write it in, "" for what the target speaks.
        stream: ask for a stream, or for none; None as the request has it.
        off: names of the corrections that are switched off; None to correct nothing.

    Raises:
        LocalProtocolError: there is no request, or it cannot be said in that protocol.
        UsageError: the target does not speak that protocol.
    """
    from workbench.probes.profiles.corrected import leaving, protocol_of
    from workbench.send.outgoing import prepare
    from workbench.send.preflight import judged
    from workbench.send.unbound import unbound

    request = node.exchange.request
    if request is None:
        raise LocalProtocolError("no request was recorded", where=f"exchange {node.index + 1}")
    recorded = inspector.detail(node.index).decoded
    own = inspector.trial(node.index, request, protocol=recorded.protocol).decoded
    choice = NOTHING_MEASURED if off is None else chosen(target, own, off, protocol)
    spoken = protocol or protocol_of(choice.decided, target.protocols)
    outgoing = prepare(own, target, protocol=spoken, stream=stream)
    outgoing = leaving(outgoing, choice.decided, earlier(inspector, node.index, choice.decided))
    trial = judged(inspector, node.index, outgoing, Exchange(node.id, outgoing.request))
    found = None if outgoing.is_converted else unbound(inspector, own, target, recorded)
    return Preflight(own, outgoing, trial, found, choice)
