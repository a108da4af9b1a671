"""Reasoning, cut down to what a target takes: a proof is bound to its carrier, and none is ever made up."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import replace

from workbench.convert.losses import Ledger
from workbench.ir import NOTHING, Carrier, Part, Reasoning
from workbench.protocols import Capabilities

SINGLE = (Carrier.REASONING_CONTENT, Carrier.REASONING, Carrier.MESSAGE_THINKING, Carrier.TOOL_PLAN)
"""Carriers that are one string beside the content."""

_UNREADABLE = {
    Carrier.REDACTED_THINKING: "redacted thinking",
    Carrier.ENCRYPTED_ITEM: "encrypted reasoning",
    Carrier.THOUGHT_SIGNATURE: "a thought signature",
}


def fit_reasoning(part: Reasoning, pointer: str, capabilities: Capabilities, ledger: Ledger) -> Reasoning | None:
    """The part as the target carries it; None where it has no place."""
    if part.extra:
        ledger.lose_keys(pointer, part.extra)
    part = _ported(part, capabilities)
    is_proved = bool(part.signature) or part.data is not None
    if part.carrier in capabilities.reasoning:
        if is_proved or part.carrier not in capabilities.proved_reasoning:
            return replace(part, extra=NOTHING) if part.extra else part
        ledger.lose(pointer, "reasoning without the signature that the target asks for")
        return None
    if not part.text:
        ledger.lose(pointer, _UNREADABLE.get(part.carrier, "reasoning that cannot be read"))
        return None
    if part.signature is not None:
        suffix = part.source.fields.get("signature", "")
        ledger.lose(pointer + suffix, "the signature of reasoning, which is bound to its protocol")
    if part.data is not None:
        ledger.lose(pointer + part.source.fields.get("data", ""), "encrypted state of reasoning")
    plain = capabilities.plain_reasoning
    if not plain or plain in capabilities.proved_reasoning:
        why = (
            "without a signature of the target's own" if capabilities.proved_reasoning else "for which it has no place"
        )
        ledger.lose(pointer, f"reasoning {why}")
        return None
    return replace(part, carrier=Carrier(plain), signature=None, data=None, extra=NOTHING)


def _ported(part: Reasoning, capabilities: Capabilities) -> Reasoning:
    """The same reasoning in the block that another service puts it in: the proof is the same one, made by the model.

    Signatures of Claude's thinking count at every service that offers it; the opaque data of redacted thinking is a
    text at one and the base64 of its bytes at the other (``redactedContent`` is a blob in botocore's service model).
    """
    if part.carrier in capabilities.reasoning or not (part.signature or part.data):
        return part
    if (
        part.carrier in (Carrier.THINKING, Carrier.REDACTED_THINKING)
        and Carrier.REASONING_BLOCK in capabilities.reasoning
    ):
        data = b64encode(part.data.encode("utf-8", "surrogatepass")).decode() if isinstance(part.data, str) else None
        is_whole = data is not None or part.data is None
        return replace(part, carrier=Carrier.REASONING_BLOCK, data=data) if is_whole else part
    if part.carrier is not Carrier.REASONING_BLOCK or Carrier.THINKING not in capabilities.reasoning:
        return part
    if part.data is None:
        return replace(part, carrier=Carrier.THINKING)
    text = _text_of(part.data) if part.text is None else None
    return part if text is None else replace(part, carrier=Carrier.REDACTED_THINKING, data=text)


def _text_of(data: object) -> str | None:
    try:
        return b64decode(data, validate=True).decode() if isinstance(data, str) else None
    except (NotBase64, ValueError):
        return None


def joined(parts: list[Part], pointers: list[str], ledger: Ledger) -> list[Part]:
    """Reasoning of a carrier that is one string is one part."""
    first: dict[Carrier, int] = {}
    kept = list[Part]()
    for part, pointer in zip(parts, pointers, strict=True):
        if isinstance(part, Reasoning) and part.carrier in SINGLE:
            at = first.setdefault(part.carrier, len(kept))
            if at < len(kept):
                before = kept[at]
                assert isinstance(before, Reasoning)
                kept[at] = replace(before, text=f"{before.text}\n\n{part.text}")
                ledger.lose(pointer, "a second piece of reasoning", "joined to the first with an empty line")
                continue
        kept.append(part)
    return kept
