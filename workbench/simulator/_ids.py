"""Ids and proofs of reasoning: made from a seed and a count, so that a run says the same every time.

Shapes: what the providers' answers in recordings look like.

Checks of replayed reasoning that a simulator can prove: only of what it sent, or knows as sent by others.
A client may replay a history from another server. The rules compare it with this simulator's responses; the real
provider checks whether the signature is genuine. So such a finding stays an error only if the signature is ours.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence, Set
from hashlib import sha256, sha512

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import Carrier, Message, Reasoning
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import as_warning
from workbench.wire import Exchange

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_COUNTED = regex.compile(r"\{(\d+)\}")

_SIGN = b64encode(b"\x12\x51\x0aworkbench").decode()
_SEAL = "gAAAAAB" + urlsafe_b64encode(b"workbench").decode()
"""Beginnings of proofs: those of the providers, with a mark that distinguishes ours."""


def call_ids(messages: Iterable[Message]) -> frozenset[str]:
    """Ids of the calls in some messages."""
    return frozenset(call.id for message in messages for _, call in message.tool_calls() if call.id)


class Ids:
    """Makes ids, none twice.

    Args:
        reserved: ids of calls that others gave already.
    """

    def __init__(self, seed: str = "workbench", reserved: frozenset[str] = frozenset()) -> None:
        self._seed = seed
        self._count = 0
        self._reserved = reserved

    def make(self, shape: str, **known: str) -> str:
        """An id: ``{22}`` stands for 22 letters and digits, ``{name}`` for a given value."""
        self._count += 1
        letters = _letters(f"{self._seed}:{self._count}")
        text = _COUNTED.sub(lambda found: letters[: int(found[1])], shape)
        for name, value in known.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def of_call(self, shape: str, name: str, number: int, used: Set[str]) -> str:
        """The id of a call that has none of those that are taken. ``number``: of the call, for shapes that count."""
        call_id = self.make(shape, name=name, n=str(number))
        while call_id in used or call_id in self._reserved:
            number += 1
            call_id = self.make(shape, name=name, n=str(number))
        return call_id

    def proof(self, text: str, *, sealed: bool = False) -> str:
        """A signature bound to a text; ``sealed``: encrypted content instead."""
        self._count += 1
        digest = sha512(f"{self._seed}:{self._count}:{text}".encode("utf-8", "surrogatepass")).digest()
        return _SEAL + urlsafe_b64encode(digest).decode().rstrip("=") if sealed else _SIGN + b64encode(digest).decode()


def is_ours(proof: str) -> bool:
    """A simulator made it."""
    return proof.startswith((_SIGN, _SEAL))


def _letters(text: str) -> str:
    digest = b"".join(sha256(f"{text}:{n}".encode()).digest() for n in range(2))
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest)


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
