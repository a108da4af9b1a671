"""Checks of replayed reasoning that a simulator can prove: only of what it sent, or knows as sent by others.

A client may replay a history from another server. The rules compare it with this simulator's responses; the real
provider checks whether the signature is genuine. So such a finding stays an error only if the signature is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.contracts import Finding
from workbench.ir import Carrier, Message, Reasoning
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import as_warning
from workbench.simulator._ids import is_ours
from workbench.wire import Exchange

_BY_HISTORY = ("reasoning.altered", "reasoning.order", "reasoning.unbound")
"""Rules that compare replayed with received content."""


def answers_of(exchanges: Iterable[Exchange]) -> Iterator[Message]:
    """Response messages of some exchanges."""
    for index, exchange in enumerate(exchanges):
        response = DecodedExchange(index, exchange).response
        yield from response.messages if response else ()


def proofs_of(answers: Iterable[Message]) -> Iterator[str]:
    """Signatures and encrypted reasoning in some answers."""
    for message in answers:
        for _, part in message.reasoning():
            yield from _proofs(part)


def downgrade_unprovable(
    findings: Sequence[Finding], decoded: DecodedExchange, known: frozenset[str]
) -> tuple[Finding, ...]:
    """The findings; those about content that this simulator did not send become warnings.

    Args:
        known: signatures sent by others.
    """
    return tuple(f if _is_provable(f, decoded, known) else as_warning(f) for f in findings)


def _is_provable(finding: Finding, decoded: DecodedExchange, known: frozenset[str]) -> bool:
    if finding.rule not in _BY_HISTORY or finding.check is None:
        return True
    part = _part_at(decoded, finding.pointer)
    if part is None:
        return True
    proofs = tuple(_proofs(part))
    if any(is_ours(proof) or proof in known for proof in proofs):
        return True
    has_own_text = part.carrier in (Carrier.THINKING, Carrier.REASONING_BLOCK) and bool(part.text)
    return has_own_text and finding.pointer.endswith("/signature")  # our text under a foreign signature


def _part_at(decoded: DecodedExchange, pointer: str) -> Reasoning | None:
    for message in decoded.messages(REQUEST):
        if pointer.startswith(message.pointer):
            for _, part in message.reasoning():
                if f"{pointer}/".startswith(f"{message.absolute(part)}/"):
                    return part
    return None


def _proofs(part: Reasoning) -> Iterator[str]:
    return (proof for proof in (part.signature, part.data) if isinstance(proof, str) and proof)
