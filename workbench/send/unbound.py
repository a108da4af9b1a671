"""Signed reasoning that an earlier edit invalidated, and the request without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench import contracts
from workbench.edits import signatures
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import Inspector, Trial
from workbench.send.target import Target
from workbench.wire import HttpRequest

RULE = "reasoning.unbound"


class UnboundReasoning(NamedTuple):
    """Signed blocks whose signature no longer matches the content before them.

    Attributes:
        pointers: of the blocks in the request.
        message: what was edited, as far as known.
        without: the request without them; None if they are required.
    """

    pointers: tuple[str, ...]
    message: str = ""
    without: HttpRequest | None = None


def find_unbound(
    inspector: Inspector, decoded: DecodedExchange, target: Target, before: DecodedExchange | None = None
) -> UnboundReasoning | None:
    """Invalid signed blocks of a request, if a provider checks that, in this mode or another; None if there are none.

    Args:
        inspector: of the session that the request belongs to.
        decoded: the request in its own protocol, in the place of a recorded one.
        before: the request before the edit; None if only the session shows the edit.
    """
    if decoded.request is None:
        return None
    for label in _checking_contracts(inspector, decoded, target):
        trial = inspector.judge(decoded, label)
        found = [f for f in trial.findings if f.rule == RULE]
        named = {p for f in found for p in (f.pointer, *f.related)}
        edited = set(signatures.unbound_pointers(before, decoded)) if before else set()
        pointers = tuple(
            pointer
            for message in decoded.messages(REQUEST)
            for _, part in message.reasoning()
            if signatures.is_signed(part) and (pointer := signatures.pointer_of(message, part)) is not None
            if pointer in edited or any(f"{name}/".startswith(f"{pointer}/") for name in named)
        )
        if pointers:
            words = found[0].message if found else "an edit before it breaks its signature"
            return UnboundReasoning(pointers, words, _request_without(inspector, trial, pointers, label))
    return None


def _checking_contracts(inspector: Inspector, decoded: DecodedExchange, target: Target) -> Iterator[str]:
    """Contracts that check signatures against earlier content: those of the target, and of the request."""
    own = inspector.judge(decoded).contract.label
    names = dict.fromkeys(label.partition(":")[0] for label in (target.contract, own))
    for label in (label for name in names if name in contracts.names() for label in contracts.variants(name)):
        if contracts.get(label, protocol=decoded.protocol).check_for(RULE):
            yield label


def _request_without(inspector: Inspector, trial: Trial, pointers: tuple[str, ...], label: str) -> HttpRequest | None:
    made = signatures.without_blocks(inspector, trial, pointers, label)
    if made is None:
        return None
    after = inspector.trial(trial.decoded.index, made, provider=label, protocol=trial.decoded.protocol)
    return None if any(f.rule == RULE for f in after.findings) else made
