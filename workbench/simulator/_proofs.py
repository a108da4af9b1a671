"""What a simulator can tell of replayed reasoning: only of what it sent itself, or was told that was sent.

A client may bring a history that another server answered. The rules compare it with what this one said at the same
place; the provider would ask whether the proof is genuine. So such a finding stands where the proof is of ours.
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
"""Rules that compare what is replayed with what was received."""


def answers_of(exchanges: Iterable[Exchange]) -> Iterator[Message]:
    """What the answers of some exchanges say."""
    for index, exchange in enumerate(exchanges):
        response = DecodedExchange(index, exchange).response
        yield from response.messages if response else ()


def proofs_of(answers: Iterable[Message]) -> Iterator[str]:
    """Signatures and sealed reasoning in some answers."""
    for message in answers:
        for _, part in message.reasoning():
            yield from _proofs(part)


def downgrade_unprovable(
    findings: Sequence[Finding], decoded: DecodedExchange, known: frozenset[str]
) -> tuple[Finding, ...]:
    """The findings; those that rest on a history which nobody here sent are warnings.

    Args:
        known: proofs that were sent by others.
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
    return has_own_text and finding.pointer.endswith("/signature")  # our text under a proof that is not


def _part_at(decoded: DecodedExchange, pointer: str) -> Reasoning | None:
    for message in decoded.messages(REQUEST):
        if pointer.startswith(message.pointer):
            for _, part in message.reasoning():
                if f"{pointer}/".startswith(f"{message.absolute(part)}/"):
                    return part
    return None


def _proofs(part: Reasoning) -> Iterator[str]:
    return (proof for proof in (part.signature, part.data) if isinstance(proof, str) and proof)
