"""Reasoning has the right origin: this provider issued it, and a model wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench import regex
from workbench.chain import Entry
from workbench.contracts import Breaks, Finding, Severity
from workbench.contracts import loading as contracts
from workbench.ir import Carrier, Message, NodeRef, Reasoning, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, HistoryPrefix, asked_of
from workbench.rules._shared.acceptance import is_answered
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.nodes import item_id
from workbench.rules._shared.reasoning import (
    BLOCKS,
    is_dummy_proof,
    is_placeholder,
    is_rebuilt,
    sent_reasoning,
    stand_ins,
)
from workbench.rules._shared.wording import MOST_RELATED, as_warning, quote, with_related
from workbench.terms import Scope

WARNING = Severity.WARNING

FABRICATED = Rule(
    "reasoning.fabricated",
    WARNING,
    "An invented value replaces the recorded reasoning.",
    breaks=Breaks.CONVERSATION,
)
FOREIGN = Rule(
    "reasoning.foreign",
    WARNING,
    "Reasoning state is from another provider, account or model, or the provider refuses it.",
    breaks=Breaks.REQUEST,
)

RULES = (FABRICATED, FOREIGN)

GENERIC = "generic"
"""Contract of an unknown provider: it does not show who issued a signature."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on reasoning that cannot be this provider's, and on values that replace it."""
    if case.request is not None:
        yield from _foreign(case)
        yield from _check_fabricated(case)


@of_messages
def _foreign(case: RuleContext) -> Iterator[Finding]:
    contract, carriers = case.contract, case.contract.reasoning.carriers
    refused = contract.term("reasoning.refused-carriers", ())
    speaks = "reasoning.carriers" in contract.terms or contract.check_for(FOREIGN.slug) is not None
    others = set(case.providers.values()) - {GENERIC, contract.name}
    is_verified, own = contract.term("reasoning.signature") == "verified-everywhere", contract.term("reasoning.proof")
    terms = (tuple(refused), tuple(carriers), is_verified, str(own or ""))
    for ref, part in sent_reasoning(case) if others else sent_reasoning(case, _may_be_foreign, *terms):
        issuer = _issuer(case, case.genuine.get(ref))
        if part.carrier in refused and not is_rebuilt(case):
            yield _refused_field(case, ref, part)
        elif part.carrier not in carriers:
            if speaks and part.carrier is not Carrier.THINK_TEXT and not is_rebuilt(case):
                yield _unread_field(case, ref, part)
        elif issuer:
            message = f"the signature was issued by {issuer}, but this request goes to {contract.name}"
            values = {"id": item_id(case.message(ref))}
            yield case.at(FOREIGN, ref, message, name="signature", evidence=quote(part.signature, 60), values=values)
        elif ref not in case.genuine:
            yield from _bad_proof(case, ref, part)


@asked_of(Reasoning)
def _may_be_foreign(
    message: Message, refused: tuple[str, ...], carriers: tuple[str, ...], is_verified: bool, own: str
) -> bool:
    """Its reasoning is in a field of others, or cannot be of a provider that verifies it or whose proofs are known."""
    return any(
        part.carrier in refused
        or part.carrier not in carriers
        or part.extra.get("format")
        or (is_verified and bool(_bad_form(part)))
        or is_dummy_proof(_proof(part)[1])
        or (own and _is_of_other_form(part, own))
        for _, part in message.reasoning()
    )


def _refused_field(case: RuleContext, ref: NodeRef, part: Reasoning) -> Finding:
    """Reasoning in a field that this provider refuses, whoever it is from."""
    message = f"{case.contract.title} refuses {part.carrier} in a request"
    values = {"field": str(part.carrier), "name": str(part.carrier), "role": case.message(ref).role}
    return case.at(FOREIGN, ref, message, name="text", when=str(part.carrier), values=values)


def _unread_field(case: RuleContext, ref: NodeRef, part: Reasoning) -> Finding:
    """Reasoning in a field that this provider does not read; only worth knowing if it requires none, and answered."""
    contract, known = case.contract, case.contract.terms.get("reasoning.carriers")
    read = (
        f"the provider reads {', '.join(contract.reasoning.carriers)}"
        if contract.reasoning.carriers
        else "the provider ignores all reasoning"
    )
    message = f"{contract.title} does not read reasoning from {part.carrier}: {read}"
    source = f"{known.source} ({known.date})" if known else ""
    finding = as_warning(case.at(FOREIGN, ref, message, name="text", source=source))
    is_harmless = contract.reasoning.scope is Scope.NEVER and is_answered(case.response)
    return replace(finding, severity=Severity.INFO) if is_harmless else finding


def _issuer(case: RuleContext, entry: Entry | None) -> str:
    """Name of the other provider that signed reasoning was received from; "" where none is known."""
    if entry is None or entry.received_in is None or not entry.signature:
        return ""
    name = case.providers.get(entry.received_in, GENERIC)
    own = (GENERIC, case.contract.name, *(case.contract.term("reasoning.shared-with") or ()))
    return "" if name in own or case.contract.name == GENERIC else name


_HEX_OR_UUID = regex.compile(r"[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?:-\d+)?")
_BASE64 = regex.compile(r"[A-Za-z0-9+/]+={0,2}")
_SHORTENED = regex.compile(r"[A-Za-z0-9+/]+(?:\.{3,}|…)[A-Za-z0-9+/]*={0,2}")
"""Marks of a text that was shortened for readers of a log: the text that was sent may have been complete."""


def _bad_proof(case: RuleContext, ref: NodeRef, part: Reasoning) -> Iterator[Finding]:
    """A signature, or encrypted content, that this provider cannot have issued: by its form alone."""
    name, proof = _proof(part)
    is_verified = case.contract.term("reasoning.signature") == "verified-everywhere"
    if is_dummy_proof(proof) and proof not in stand_ins(case) and not (is_verified and _bad_form(part)):
        message = f"the {name} of this block is a placeholder that no provider issued"
        yield case.at(FABRICATED, ref, message, name=name, evidence=quote(proof, 60))
        return
    reason = _bad_form(part) if is_verified and part.carrier in (*BLOCKS, Carrier.REASONING_BLOCK) else ""
    reason = reason or _of_other_format(case, part)
    own = case.contract.term("reasoning.proof")
    if not reason and isinstance(own, str) and _is_of_other_form(part, own) and proof not in stand_ins(case):
        reason = _foreign_form(case, part, proof)
    if not reason:
        return
    message = f"the {name} of this block was not issued by {case.contract.title}: it is {reason}"
    values = {"id": item_id(case.message(ref))}
    finding = case.at(FOREIGN, ref, message, name=name, evidence=quote(proof, 60), values=values)
    yield as_warning(finding) if _SHORTENED.fullmatch(proof) else finding


_PROVED = (Carrier.THINKING, Carrier.REASONING_BLOCK, Carrier.THOUGHT_SIGNATURE, Carrier.ENCRYPTED_ITEM)
"""Carriers whose proof has one form for each provider; redacted blocks are as their provider likes."""
_TOKEN = regex.compile(r"[A-Za-z0-9+/_-]+={0,2}")


def _is_of_other_form(part: Reasoning, own: str) -> bool:
    """It has a proof that does not begin as those of the provider."""
    _, proof = _proof(part)
    return part.carrier in _PROVED and bool(proof) and re.match(own, proof) is None


def _of_other_format(case: RuleContext, part: Reasoning) -> str:
    """Whose proof it looks like, where it says whose it is (``format``) and is not; an empty string if it is."""
    owner = (case.contract.term("reasoning.formats") or {}).get(str(part.extra.get("format")))
    proof = part.signature or part.data
    form = contracts.proof_forms().get(_title(owner)) if owner else None
    if not form or not isinstance(proof, str) or not proof or re.match(form, proof):
        return ""
    return _foreign_form(case, part, proof)


def _title(name: str) -> str:
    return contracts.read(name).title if name in contracts.names() else ""


def _foreign_form(case: RuleContext, part: Reasoning, proof: str) -> str:
    """Whose proof it looks like, in words; an empty string if nobody's."""
    if _HEX_OR_UUID.fullmatch(proof):
        return "hexadecimal digits, a format of other vendors"
    if part.carrier is Carrier.ENCRYPTED_ITEM and not _TOKEN.fullmatch(proof):
        return "not base64"
    forms = contracts.proof_forms().items()
    owner = next((title for title, form in forms if title != case.contract.title and re.match(form, proof)), "")
    return f"in the signature format of {owner}" if owner else ""


def _proof(part: Reasoning) -> tuple[str, str]:
    """(field, value) of what proves a block; an empty value if nothing does."""
    is_data = part.carrier in (Carrier.REDACTED_THINKING, Carrier.ENCRYPTED_ITEM)
    name, proof = ("data", part.data) if is_data else ("signature", part.signature)
    return name, proof if isinstance(proof, str) else ""


def _bad_form(part: Reasoning) -> str:
    """Reason why the proof of a block is none of a provider that signs in base64; an empty string if it may be one."""
    _, proof = _proof(part)
    if not proof:
        return ""
    if _HEX_OR_UUID.fullmatch(proof):
        return "hexadecimal digits, a format of other vendors"
    if not _BASE64.fullmatch(proof):
        return "not base64"
    return "an encrypted token of another vendor" if proof.startswith("gAAAAA") else ""


@asked_of(ToolCallIR)
def _has_calls(message: Message) -> bool:
    return any(True for _ in message.tool_calls())


def _may_be_invented(part: Reasoning) -> bool:
    """It has a text, and no signature vouches for that."""
    is_blank_tag = part.carrier is Carrier.THINK_TEXT and not (part.text or "").strip()  # some models write those
    is_vouched_for = part.signature and not is_placeholder(part.text)
    return bool(part.text) and not is_vouched_for and not is_blank_tag


class UnprovedTexts:
    """A fold over a history: texts of reasoning without a proof, and their places."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self.places: dict[str, list[NodeRef]] = {}
        self.doubtful: dict[str, None] = {}  # what nobody thinks, and what is there more than once
        self._order: list[str] = []  # of each place, its text
        self._count = 0

    def read(self, messages: Sequence[Message]) -> None:
        for n in range(self._count, len(messages)):
            for k, part in messages[n].reasoning():
                if part.text and _may_be_invented(part):
                    places = self.places.setdefault(part.text, [])
                    places.append(NodeRef(REQUEST, n, k))
                    self._order.append(part.text)
                    if len(places) > 1 or is_placeholder(part.text):
                        self.doubtful[part.text] = None
        self._count = len(messages)

    def fork(self, length: int) -> UnprovedTexts:
        """The first texts, which the fork takes with it: the other history reads them again when they are needed."""
        other = UnprovedTexts()
        other.places, other.doubtful, other._order = self.places, self.doubtful, self._order
        other._count = min(self._count, length)
        self._forget()
        while other._order and other.places[other._order[-1]][-1].message >= length:
            other._take_back(other._order.pop())
        return other

    def _take_back(self, text: str) -> None:
        """Take back the last place of a text."""
        places = self.places[text]
        places.pop()
        if len(places) < 2 and not (places and is_placeholder(text)):
            self.doubtful.pop(text, None)
        if not places:
            del self.places[text]


def _check_fabricated(case: RuleContext) -> Iterator[Finding]:
    """One finding for each text that replaces what was thought, however often it is there."""
    messages = case.messages
    if isinstance(messages, HistoryPrefix):
        known = messages.fold(UnprovedTexts)
    else:
        known = UnprovedTexts()
        known.read(messages)
    for text in known.doubtful:
        refs = _without_proof(case, known.places[text])
        times = len({ref.message for ref in refs})
        if refs and is_placeholder(text):
            message = "this is a placeholder, not the model's reasoning"
        elif times > 2 or (times == 2 and _is_everywhere(case, known, text, refs)):
            message = f"the same text is in {times} turns: a client inserted this text, the model did not write it"
        else:
            continue
        finding = case.at(FABRICATED, refs[0], message, name="text", evidence=quote(text))
        yield with_related(finding, [case.pointer(ref, "text") for ref in refs[: MOST_RELATED + 1]])


def _without_proof(case: RuleContext, places: Iterable[NodeRef]) -> list[NodeRef]:
    """Those of the places that are in this request, and do not hold what was received."""
    end = len(case.messages)
    return [ref for ref in places if ref.message < end and ref not in case.genuine]


def _is_everywhere(case: RuleContext, known: UnprovedTexts, text: str, refs: Iterable[NodeRef]) -> bool:
    """No other reasoning is without proof, or every turn with calls has this text."""
    is_only = not any(_without_proof(case, places) for other, places in known.places.items() if other != text)
    return is_only or {ref.message for ref in refs} == {n for n, _ in case.suspects(_has_calls)}
