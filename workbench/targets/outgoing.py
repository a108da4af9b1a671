"""What would go to a target: another protocol where the target speaks another, its URL, its headers, no key yet."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench import adapters
from workbench.conversion import Loss, convert
from workbench.decode import Decoded
from workbench.editing import with_body
from workbench.errors import LocalProtocolError
from workbench.rules import contracts
from workbench.targets.target import Target
from workbench.wire.exchange import HttpRequest


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request on its way to a target.

    Attributes:
        request: absolute URL (of a simulator: the path), headers without credentials, body as it will be sent.
        protocol: what it is written in; "" where nobody knows, as of a body that cannot be read.
        losses: what converting it cost; () where it was not converted.
        ids: call ids that were changed on the way, old → new.
        notes: what else was changed or is worth a word before sending, one line each.
    """

    target: Target
    request: HttpRequest
    protocol: str
    losses: tuple[Loss, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def asks_first(self) -> bool:
        """It leaves this machine's program: people are asked once in a session before that happens."""
        return not self.target.is_simulator


def prepare(decoded: Decoded, target: Target, *, protocol: str = "", stream: bool | None = None) -> Outgoing:
    """The request of a decoded exchange as it would go to a target.

    Args:
        decoded: its request may be unreadable: then the bytes go as they are, in the protocol asked for.
        protocol: to write it in; "" for what the target speaks, of several the request's own if it is among them.
        stream: ask for a stream, or for none; None as the request has it.

    Raises:
        LocalProtocolError: there is no request, or it cannot be said in that protocol.
        UsageError: the target does not speak that protocol.
    """
    asked = decoded.exchange.request
    if asked is None:
        raise LocalProtocolError("no request was recorded", where=f"exchange {decoded.index + 1}")
    spoken = contracts.protocols(target.contract) if target.is_simulator else (target.protocol,)
    own = decoded.protocol or ""
    wanted = protocol or (own if own in spoken or not spoken else spoken[0])
    if decoded.request is None or wanted == own:
        request = decoded.request
        path = adapters.get(own).path(request) if request and own in adapters.protocols() else asked.url
        return Outgoing(target, replace(asked, url=path), own)
    made = convert(decoded, wanted)
    return Outgoing(target, replace(with_body(asked, made.body), url=made.path), wanted, made.losses)
