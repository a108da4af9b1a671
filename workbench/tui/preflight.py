"""What would be sent, and everything there is to say of it before: made in the inspector's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.decode import Decoded
from workbench.errors import LocalProtocolError
from workbench.wire.exchange import Exchange

if TYPE_CHECKING:
    from workbench.inspection import Inspector, Trial
    from workbench.targets.outgoing import Outgoing
    from workbench.targets.target import Target
    from workbench.wire.exchange import HttpRequest
    from workbench.workspace import Node


class Loose(NamedTuple):
    """Signed blocks that an edit before them unbinds.

    Attributes:
        pointers: of the blocks.
        words: what was edited.
        without: the request without them; None where it cannot do without.
        title: how that is done, in the imperative.
    """

    pointers: tuple[str, ...]
    words: str
    without: HttpRequest | None = None
    title: str = ""


class Preflight(NamedTuple):
    """A request on its way.

    Attributes:
        own: the request in its own protocol.
        outgoing: what would go out.
        trial: what the target's contract says of that.
        loose: None where every signature still holds, or none goes out.
    """

    own: Decoded
    outgoing: Outgoing
    trial: Trial
    loose: Loose | None = None


def look(inspector: Inspector, node: Node, target: Target, protocol: str = "", stream: bool | None = None) -> Preflight:
    """The request of a node as it would go to a target.

    Args:
        protocol: to write it in, "" for what the target speaks.
        stream: ask for a stream, or for none; None as the request has it.

    Raises:
        LocalProtocolError: there is no request, or it cannot be said in that protocol.
        UsageError: the target does not speak that protocol.
    """
    from workbench.targets.outgoing import prepare

    request = node.exchange.request
    if request is None:
        raise LocalProtocolError("no request was recorded", where=f"exchange {node.index + 1}")
    recorded = inspector.detail(node.index).decoded
    own = inspector.trial(node.index, request, protocol=recorded.protocol)
    outgoing = prepare(own.decoded, target, protocol=protocol, stream=stream)
    trial = judge(inspector, node.index, outgoing, Exchange(node.id, outgoing.request))
    loose = None if outgoing.is_converted else _loose(inspector, recorded, own, target)
    return Preflight(own.decoded, outgoing, trial, loose)


def judge(inspector: Inspector, index: int, outgoing: Outgoing, exchange: Exchange) -> Trial:
    """What the target's contract says of what goes out, and of what came back where ``exchange`` has an answer."""
    decoded = Decoded(index, exchange, outgoing.protocol or None)
    return inspector.judged(decoded, outgoing.target.contract, is_alone=outgoing.is_converted)


def _loose(inspector: Inspector, recorded: Decoded, own: Trial, target: Target) -> Loose | None:
    """Blocks that an edit made here unbinds, else those that the recorded client has unbound."""
    from workbench.editing import signed
    from workbench.targets.unbound import unbound

    pointers = signed.unbound(recorded, own.decoded)
    if pointers:
        without = signed.without(inspector, own, pointers)
        words = "what stands before them was edited: their signatures may hold no longer"
        return Loose(pointers, words, without, "leave the signed blocks out that an edit unbinds")
    found = unbound(inspector, own.decoded, target)
    if found is None:
        return None
    first = found.findings[0]
    blocks = dict.fromkeys((first.pointer, *(p for p in first.related if p.endswith("/signature"))))
    return Loose(tuple(blocks), first.message, found.without, found.title)
