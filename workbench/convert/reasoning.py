"""Reduces reasoning to what the target accepts. A proof is bound to its carrier and is never invented."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64

from workbench.convert.losses import LossReport
from workbench.ir import NOTHING, Carrier, Part, Reasoning
from workbench.lazy_dataclass import replace
from workbench.protocols import Capabilities

SINGLE = (Carrier.REASONING_CONTENT, Carrier.REASONING, Carrier.MESSAGE_THINKING, Carrier.TOOL_PLAN)
"""Carriers that are one string next to the content."""

_UNREADABLE = {
    Carrier.REDACTED_THINKING: "redacted thinking",
    Carrier.ENCRYPTED_ITEM: "encrypted reasoning",
    Carrier.THOUGHT_SIGNATURE: "a thought signature",
}


def fit_reasoning(part: Reasoning, pointer: str, capabilities: Capabilities, report: LossReport) -> Reasoning | None:
    """The part as the target carries it; None if it has no place for it."""
    if part.extra:
        report.lose_keys(pointer, part.extra)
    part = _port(part, capabilities)
    is_proved = bool(part.signature) or part.data is not None
    if part.carrier in capabilities.reasoning.carriers:
        if is_proved or part.carrier not in capabilities.reasoning.proved:
            return replace(part, extra=NOTHING) if part.extra else part
        report.lose(pointer, "reasoning without the signature that the target requires")
        return None
    if not part.text:
        report.lose(pointer, _UNREADABLE.get(part.carrier, "reasoning that cannot be read"))
        return None
    if part.signature is not None:
        suffix = part.source.fields.get("signature", "")
        report.lose(pointer + suffix, "the signature of reasoning, which is only valid in its own protocol")
    if part.data is not None:
        report.lose(pointer + part.source.fields.get("data", ""), "encrypted reasoning state")
    plain = capabilities.reasoning.plain
    if not plain or plain in capabilities.reasoning.proved:
        why = "that the target did not sign" if capabilities.reasoning.proved else "that the target cannot represent"
        report.lose(pointer, f"reasoning {why}")
        return None
    return replace(part, carrier=Carrier(plain), signature=None, data=None, extra=NOTHING)


def _port(part: Reasoning, capabilities: Capabilities) -> Reasoning:
    """Move reasoning into the block that another service uses for it; the proof stays valid, the model made it.

    Signatures of Claude's thinking are valid at every service that offers it; the opaque data of redacted thinking is a
    text at one and the base64 of its bytes at the other (``redactedContent`` is a blob in botocore's service model).
    """
    if part.carrier in capabilities.reasoning.carriers or not (part.signature or part.data):
        return part
    if (
        part.carrier in (Carrier.THINKING, Carrier.REDACTED_THINKING)
        and Carrier.REASONING_BLOCK in capabilities.reasoning.carriers
    ):
        data = b64encode(part.data.encode("utf-8", "surrogatepass")).decode() if isinstance(part.data, str) else None
        is_whole = data is not None or part.data is None
        return replace(part, carrier=Carrier.REASONING_BLOCK, data=data) if is_whole else part
    if part.carrier is not Carrier.REASONING_BLOCK or Carrier.THINKING not in capabilities.reasoning.carriers:
        return part
    if part.data is None:
        return replace(part, carrier=Carrier.THINKING)
    text = _decode_base64_text(part.data) if part.text is None else None
    return part if text is None else replace(part, carrier=Carrier.REDACTED_THINKING, data=text)


def _decode_base64_text(data: object) -> str | None:
    try:
        return b64decode(data, validate=True).decode() if isinstance(data, str) else None
    except (NotBase64, ValueError):
        return None


def join_reasoning(parts: list[Part], pointers: list[str], report: LossReport) -> list[Part]:
    """Join reasoning parts of a carrier that is one string."""
    if Reasoning not in map(type, parts):
        return parts
    first: dict[Carrier, int] = {}
    result = list[Part]()
    for part, pointer in zip(parts, pointers, strict=True):
        if isinstance(part, Reasoning) and part.carrier in SINGLE:
            at = first.setdefault(part.carrier, len(result))
            if at < len(result):
                before = result[at]
                assert isinstance(before, Reasoning)
                result[at] = replace(before, text=f"{before.text}\n\n{part.text}")
                report.lose(pointer, "a second reasoning text", "joined to the first with an empty line")
                continue
        result.append(part)
    return result
