"""Preview of a request before it is sent, with all notes on it; created in the inspector's thread."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from workbench.diff import compare
from workbench.errors import LocalProtocolError
from workbench.probes.profiles import ProfileChoice, choose, earlier, profile_of_request
from workbench.wire import Exchange

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.protocols import DecodedExchange
    from workbench.rules import CheckedVariant, Inspector
    from workbench.send import Outgoing, Target, UnboundReasoning
    from workbench.tui.models.rowtable import Range

NOTHING_MEASURED = ProfileChoice()


class PreparedRequest(NamedTuple):
    """A request before it is sent.

    Attributes:
        own: the request in its own protocol.
        outgoing: the request as it would be sent.
        trial: verdict of the target's contract on it.
        unbound: signed blocks that an edit invalidated; None if all signatures are valid, or none is sent.
        choice: the profile that applies, and its corrections.
        edits: byte ranges of the request as sent that differ from the recording; none if it is converted.
    """

    own: DecodedExchange
    outgoing: Outgoing
    trial: CheckedVariant
    unbound: UnboundReasoning | None = None
    choice: ProfileChoice = NOTHING_MEASURED
    edits: tuple[Range, ...] = ()


def choose_contract(
    target: Target, own: DecodedExchange, off: Collection[str] = (), protocol: str = ""
) -> ProfileChoice:
    """The newest measured profile of exactly the target, model and protocol of a request, and its corrections.

    Args:
        off: names of the corrections that are switched off.
        protocol: to write it in, "" for what the target speaks.
    """
    from workbench.probes.profiles import ProfileStore

    return choose(
        profile_of_request(ProfileStore.of_user().latest(), target, own, protocol=protocol), time.time(), off=off
    )


def preview_request(
    inspector: Inspector,
    node: BranchNode,
    target: Target,
    protocol: str = "",
    stream: bool | None = None,
    off: Collection[str] | None = None,
) -> PreparedRequest:
    """The request of a node as it would be sent to a target.

    Args:
        protocol: to write it in, "" for what the target speaks.
        stream: True to ask for a stream, False for a single response; None to leave it.
        off: names of the corrections that are switched off; None to correct nothing.

    Raises:
        LocalProtocolError: there is no request, or it cannot be converted to that protocol.
        UsageError: the target does not speak that protocol.
    """
    from workbench.probes.profiles import correct_outgoing, protocol_of
    from workbench.send import find_unbound, judge_exchange, prepare

    request = node.exchange.request
    if request is None:
        raise LocalProtocolError("no request was recorded", where=f"exchange {node.index + 1}")
    recorded = inspector.detail(node.index).decoded
    own = inspector.trial(node.index, request, protocol=recorded.protocol).decoded
    choice = NOTHING_MEASURED if off is None else choose_contract(target, own, off, protocol)
    target_protocol = protocol or protocol_of(choice.decided, target.protocols)
    outgoing = prepare(own, target, protocol=target_protocol, stream=stream)
    outgoing = correct_outgoing(outgoing, choice.decided, earlier(inspector, node.index, choice.decided))
    trial = judge_exchange(inspector, node.index, outgoing, Exchange(node.id, outgoing.request))
    found = None if outgoing.is_converted else find_unbound(inspector, own, target, recorded)
    edits = () if outgoing.is_converted else _edits(recorded, trial.decoded)
    return PreparedRequest(own, outgoing, trial, found, choice, edits)


def _edits(recorded: DecodedExchange, sent: DecodedExchange) -> tuple[Range, ...]:
    """Ranges of a request that are not in the recorded one."""
    return tuple(hunk.after for hunk in compare(recorded.request_text, sent.request_text).hunks)
