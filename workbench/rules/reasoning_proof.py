"""Signatures that travel on a call: the first call of every step has to send the one that it came with.

Facts (Gemini docs, thought signatures; 31 recorded calls): the current turn begins at the last content of the user that
holds more than responses; each content of the model behind it is a step; of parallel calls the first alone is signed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.chain import Entry
from workbench.contracts import Finding, Severity
from workbench.ir import Carrier, Message, NodeRef, Reasoning, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, asked_of
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.reasoning import is_rebuilt, loop_start, sent_reasoning, stand_ins
from workbench.rules._shared.wording import enforced_exactly, quote
from workbench.rules.reasoning import MISSING
from workbench.rules.reasoning_origin import FABRICATED, FOREIGN
from workbench.terms import Scope

RULES = ()

PROOF = "extra_content"
"""Member of a call on the OpenAI wire that holds its signature: ``{"google": {"thought_signature": …}}``."""

_BASE64 = regex.compile(r"[A-Za-z0-9+/_-]+={0,2}")


@of_messages
def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on calls of the current turn that are without their signature, or with a stand-in for it."""
    if case.request is None or Carrier.THOUGHT_SIGNATURE not in case.contract.reasoning.carriers or is_rebuilt(case):
        return
    yield from _signatures(case)
    if case.contract.reasoning.scope is Scope.TOOL_LOOP:
        for number, part in _unsigned_steps(case):
            yield _missing(case, number, part)


def _unsigned_steps(case: RuleContext) -> Iterator[tuple[int, int]]:
    """(message, part) of the first call of each step of the current turn that has no signature."""
    role = case.contract.closure.call_role
    unsigned = [n for n, _ in case.suspects(_is_unsigned, role)]
    start = loop_start(case) if unsigned else -1
    for n in unsigned[bisect_right(unsigned, start) :]:
        first = _first_call(case.messages[n])
        if first is not None:
            yield n, first


@asked_of(ToolCallIR)
def _is_unsigned(message: Message, role: str) -> bool:
    """True if the message is of this role and its first call has no signature."""
    first = _first_call(message)
    return message.role == role and first is not None and not _proof(message, first)


def _first_call(message: Message) -> int | None:
    return next((k for k, _ in message.tool_calls()), None)


def _proof(message: Message, call: int) -> str:
    """The signature of a call: it is in the same part of the wire, and as a part before it here."""
    part = message.parts[call]
    at = part.source.pointer
    on_it = [p.signature for p in message.parts[:call] if isinstance(p, Reasoning) and p.source.pointer == at]
    return next(filter(None, on_it), "") or (proof_of(part) if isinstance(part, ToolCallIR) else "")


def proof_of(call: ToolCallIR) -> str:
    """The signature that is a member of a call: on the OpenAI wire it is in ``extra_content``; "" for none."""
    proofs = call.extra.get(PROOF)
    vendors = proofs.values() if isinstance(proofs, Mapping) else ()
    found = (vendor.get("thought_signature") for vendor in vendors if isinstance(vendor, Mapping))
    return next((s for s in found if isinstance(s, str) and s), "")


def _missing(case: RuleContext, number: int, part: int) -> Finding:
    ref = NodeRef(REQUEST, number, part)
    call, message = case.part(ref), case.message(ref)
    name = call.name or "" if isinstance(call, ToolCallIR) else ""
    text = f"the first call of this step, {quote(name, 60)}, has no thought signature"
    if any(r.signature for _, r in message.reasoning()):
        text += ": there is a signature on another part of the same message"
    values = {"name": name, "position": str(number + 1)}
    return case.at(MISSING, ref, text, evidence=_history(case, number), values=values)


def _history(case: RuleContext, number: int) -> str:
    """Place where the call was received, and whether it was signed there."""
    entry = next((e for e in reversed(case.ledger.entries) if e.message == number and e.received_in is not None), None)
    if entry is None:
        return ""
    came = "with a signature" if entry.signature or _is_signed(case, entry) else "without a signature"
    return f"the call was received in exchange {(entry.received_in or 0) + 1}, {came}"


def _is_signed(case: RuleContext, entry: Entry) -> bool:
    """A call of the answer that a turn shows holds a signature."""
    decoded = case.peek(entry.received_in) if entry.received_in is not None else None
    messages = decoded.response.messages if decoded and decoded.response else ()
    return any(proof_of(call) for message in messages for _, call in message.tool_calls())


def _is_suspicious(message: Message, known: frozenset[str], is_decoded: bool) -> bool:
    """It carries a stand-in, or a signature that is not base64 where that is looked at."""
    signatures = (part.signature for _, part in message.reasoning() if part.signature)
    return any(s in known or (is_decoded and not _BASE64.fullmatch(s)) for s in signatures)


def _signatures(case: RuleContext) -> Iterator[Finding]:
    """Signatures that nobody issued: the documented stand-ins, which pass, and what is not base64, which does not."""
    known = stand_ins(case)
    is_decoded = enforced_exactly(case, FOREIGN, "not-base64") is not None
    for ref, part in sent_reasoning(case, _is_suspicious, known, is_decoded):
        if part.signature in known:
            text = (
                "a documented placeholder for a signature: the provider accepts the placeholder, but the model's "
                "reasoning is lost"
            )
            finding = case.at(FABRICATED, ref, text, name="signature", evidence=quote(part.signature))
            yield replace(finding, severity=Severity.INFO, check=None, refusal="")
        elif is_decoded and part.signature and not _BASE64.fullmatch(part.signature):
            text = "this thought signature is not a single base64 value"
            values = {"found": part.signature}
            yield case.at(FOREIGN, ref, text, name="signature", when="not-base64", values=values)
