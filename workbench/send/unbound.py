"""Signed blocks that an edit before them has made worthless, and the request without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench import contracts
from workbench.edits import signed
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.rules.inspection import Inspector, Trial
from workbench.send.target import Target
from workbench.wire.exchange import HttpRequest

RULE = "reasoning.unbound"


class Unbound(NamedTuple):
    """Signed blocks whose signature no longer fits what stands before them.

    Attributes:
        pointers: where they are in the request.
        message: what was edited, as far as that is known.
        without: the request without them; None where it cannot do without.
    """

    pointers: tuple[str, ...]
    message: str = ""
    without: HttpRequest | None = None


def unbound(
    inspector: Inspector, decoded: DecodedExchange, target: Target, before: DecodedExchange | None = None
) -> Unbound | None:
    """The blocks of a request that are unbound where a provider checks that, in this mode or in another; None for none.

    Args:
        inspector: of the session that the request belongs to.
        decoded: the request in its own protocol, in the place of a recorded one.
        before: the request that it was made of by an edit; None where only the session tells what was edited.
    """
    if decoded.request is None:
        return None
    for label in _checking(inspector, decoded, target):
        trial = inspector.judged(decoded, label)
        found = [f for f in trial.findings if f.rule == RULE]
        named = {p for f in found for p in (f.pointer, *f.related)}
        edited = set(signed.unbound(before, decoded)) if before else set()
        pointers = tuple(
            pointer
            for message in decoded.messages(REQUEST)
            for _, part in message.reasoning()
            if signed.is_signed(part) and (pointer := signed.pointer_of(message, part)) is not None
            if pointer in edited or any(f"{name}/".startswith(f"{pointer}/") for name in named)
        )
        if pointers:
            words = found[0].message if found else "an edit before it breaks its signature"
            return Unbound(pointers, words, _without(inspector, trial, pointers, label))
    return None


def _checking(inspector: Inspector, decoded: DecodedExchange, target: Target) -> Iterator[str]:
    """The contracts that hold signatures to what stands before them: those of the target, and of the request."""
    own = inspector.judged(decoded).contract.label
    names = dict.fromkeys(label.partition(":")[0] for label in (target.contract, own))
    for label in (label for name in names if name in contracts.names() for label in contracts.variants(name)):
        if contracts.get(label, protocol=decoded.protocol).enforced(RULE):
            yield label


def _without(inspector: Inspector, trial: Trial, pointers: tuple[str, ...], label: str) -> HttpRequest | None:
    made = signed.without(inspector, trial, pointers, label)
    if made is None:
        return None
    after = inspector.trial(trial.decoded.index, made, provider=label, protocol=trial.decoded.protocol)
    return None if any(f.rule == RULE for f in after.findings) else made
