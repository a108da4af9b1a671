"""Reasoning comes back as it came in, from whom it came, to who asks for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from workbench.chain.closure import NodeRef
from workbench.chain.ledger import Entry, Sent
from workbench.decode import REQUEST
from workbench.ir import Carrier, JsonValue, Message, Part, Reasoning, Text, ToolCallIR
from workbench.rules._case import Case, Rule
from workbench.rules._finding import Finding, Severity
from workbench.rules._words import as_warning, quote, with_related
from workbench.wire.exchange import Origin

WARNING = Severity.WARNING

MISSING = Rule("reasoning.missing", WARNING, "Reasoning state that has to be replayed is absent.")
EMPTY = Rule("reasoning.empty", WARNING, "Reasoning state is present but its value or signature is empty.")
FABRICATED = Rule("reasoning.fabricated", WARNING, "An invented value stands in place of the recorded reasoning.")
ALTERED = Rule("reasoning.altered", WARNING, "Replayed reasoning differs from what was received.")
FOREIGN = Rule(
    "reasoning.foreign",
    WARNING,
    "Reasoning state of another provider, account or model, or sent to a provider that refuses it.",
)
ORDER = Rule("reasoning.order", WARNING, "The reasoning block is not at the place it was received in.")
STALE = Rule(
    "reasoning.stale", WARNING, "Reasoning is replayed although its debt has ended and the provider wants it gone."
)
MISPLACED = Rule("reasoning.misplaced", WARNING, "The reasoning field is in the wrong object.")

RULES = (MISSING, EMPTY, FABRICATED, ALTERED, FOREIGN, ORDER, STALE, MISPLACED)

BLOCKS = (Carrier.THINKING, Carrier.REDACTED_THINKING)
"""Carriers that are blocks of the content, in an order that counts."""


def check(case: Case) -> Iterator[Finding]:
    """Findings on the reasoning that the request sends, and does not send."""
    if case.request is None:
        return
    for entry in case.ledger.entries:
        yield from _entry(case, entry)
    yield from _foreign(case)
    yield from _fabricated(case)
    yield from _order(case)
    yield from _stale(case)
    yield from _without_calls(case)
    yield from _misplaced(case)


def _entry(case: Case, entry: Entry) -> Iterator[Finding]:
    if entry.sent is Sent.MISSING and entry.message is not None:
        if case.request and case.request.thinking is None and _is_rebuilt(case):
            return  # a transcript does not say whether thinking was on
        finding = _missing(case, entry, entry.message)
        yield finding if _is_required(case) else as_warning(finding)
    elif entry.sent is Sent.EMPTY and entry.sent_part and _was_something(entry):
        what = "signature" if entry.differs == "signature" else "text"
        message = f"the {_field(case, entry)} is there but its {what} is empty"
        yield case.at(EMPTY, entry.sent_part, message, name=what, evidence=_history(entry), when=f"no-{what}")
    elif entry.sent is Sent.ALTERED and not _is_placeholder(entry.sent_text):
        yield from _altered(case, entry)


def _is_required(case: Case) -> bool:
    """The provider insists; in other modes it goes on without, and the model without its thread."""
    when, thinking = case.contract.reasoning.required_when, case.request.thinking if case.request else None
    return when in ("", thinking)


def _is_rebuilt(case: Case) -> bool:
    return case.decoded.exchange.origin is Origin.RECONSTRUCTED


def _was_something(entry: Entry) -> bool:
    """What came in empty may go back empty, and what nobody asks for may be anything."""
    return entry.differs == "signature" or (entry.owed and entry.differs != "")


def _missing(case: Case, entry: Entry, number: int) -> Finding:
    turn = case.decoded.messages(REQUEST)[number]
    message = f"the turn made a call while thinking; its {_field(case, entry)} was not sent back"
    if not entry.call_ids:
        message = f"the turn was made while thinking; its {_field(case, entry)} was not sent back"
    if _carrier(case, entry) in BLOCKS and turn.parts:
        return case.at(MISSING, NodeRef(REQUEST, number, 0), message, evidence=_history(entry))
    return case.finding(MISSING, REQUEST, turn.pointer, message, evidence=_history(entry))


def _altered(case: Case, entry: Entry) -> Iterator[Finding]:
    if entry.sent_part is None:
        return
    rule = ORDER if entry.differs == "order" else ALTERED
    name = entry.differs if entry.differs in ("text", "signature", "data") else None
    how = {
        "order": "stands in another order than it was received in",
        "count": "has lost or gained a block since it was received",
    }.get(entry.differs, "differs from what was received")
    finding = case.at(
        rule, entry.sent_part, f"the replayed {_field(case, entry)} {how}", name=name, evidence=_difference(entry)
    )
    yield finding if _is_binding(case, entry) else as_warning(finding)


def _is_binding(case: Case, entry: Entry) -> bool:
    """The provider compares this turn, and not the latest one alone."""
    exact = case.contract.reasoning.exact
    latest = max((e.turn for e in case.ledger.entries if e.message is not None), default=-1)
    return exact == "all" or (exact == "latest" and entry.turn == latest)


def _carrier(case: Case, entry: Entry) -> str:
    return entry.carrier or next(iter(case.contract.reasoning.carriers), Carrier.REASONING_CONTENT)


def _field(case: Case, entry: Entry) -> str:
    carrier = _carrier(case, entry)
    return "thinking block" if carrier in BLOCKS else str(carrier)


def _history(entry: Entry) -> str:
    """Where the reasoning came in, and why it is owed."""
    parts = [_received(entry), entry.why]
    return " · ".join(p for p in parts if p)


def _received(entry: Entry) -> str:
    if entry.received_in is None:
        return ""
    length = f", {len(entry.text)} characters" if entry.text else ""
    events = entry.received_events
    blocks = f" (stream events {events[0]}–{events[-1]})" if events else ""
    return f"received in exchange {entry.received_in + 1}{blocks}{length}"


def _difference(entry: Entry) -> str:
    parts = [_received(entry)]
    if entry.differs == "text" and entry.text is not None and entry.sent_text is not None:
        at = next((n for n, (a, b) in enumerate(zip(entry.text, entry.sent_text, strict=False)) if a != b), None)
        at = min(len(entry.text), len(entry.sent_text)) if at is None else at
        was, now = entry.text[at : at + 40], entry.sent_text[at : at + 40]
        parts.append(f"from character {at}: was {quote(was)}, is {quote(now)}")
    return " · ".join(p for p in parts if p)


def _sent(case: Case) -> Iterator[tuple[NodeRef, Message, Reasoning]]:
    """Every piece of reasoning in the history."""
    for n, message in enumerate(case.decoded.messages(REQUEST)):
        for k, part in message.reasoning():
            yield NodeRef(REQUEST, n, k), message, part


def _genuine(case: Case) -> frozenset[NodeRef]:
    """Reasoning that stands as it was received in this session."""
    return frozenset(
        e.sent_part for e in case.ledger.entries if e.sent_part and e.received_in is not None and e.sent is Sent.SENT
    )


def _foreign(case: Case) -> Iterator[Finding]:
    terms, contract = case.contract.reasoning, case.contract
    speaks = bool(terms.carriers) or contract.enforced(FOREIGN.slug) is not None
    genuine, origins = _genuine(case), _origins(case)
    for ref, _, part in _sent(case):
        if part.carrier not in terms.carriers:
            if speaks and part.carrier is not Carrier.THINK_TEXT:
                yield case.at(
                    FOREIGN, ref, f"{contract.title} has no {part.carrier}: the field is not its own", name="text"
                )
            continue
        issuer = origins.get(part.signature or "")
        if issuer and issuer != contract.name:
            message = f"the signature was issued by {issuer}, this request goes to {contract.name}"
            yield case.at(FOREIGN, ref, message, name="signature", evidence=quote(part.signature, 60))
        elif part.carrier in BLOCKS and ref not in genuine and not issuer:
            yield from _bad_proof(case, ref, part)


def _origins(case: Case) -> Mapping[str, str]:
    """Signature → name of the contract under which it was received."""
    return {
        part.signature: case.providers[index]
        for index, answer in case.earlier.answers
        if case.providers.get(index, "generic") != "generic"
        for message in answer.messages
        for _, part in message.reasoning()
        if part.signature
    }


_HEX_OR_UUID = re.compile(r"[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?:-\d+)?")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def _bad_proof(case: Case, ref: NodeRef, part: Reasoning) -> Iterator[Finding]:
    """A signature, or redacted data, that this kind of provider cannot have issued: by its form alone."""
    if case.contract.term("reasoning.signature") != "verified-everywhere":
        return
    name, proof = ("signature", part.signature) if part.carrier is Carrier.THINKING else ("data", part.data)
    if not isinstance(proof, str) or not proof:
        return
    if _HEX_OR_UUID.fullmatch(proof):
        reason = "hexadecimal digits, as other vendors issue them"
    elif not _BASE64.fullmatch(proof) or len(proof.rstrip("=")) % 4 == 1:
        reason = "no base64"
    elif proof.startswith("gAAAAA"):
        reason = "an encrypted token of another vendor"
    else:
        return
    message = f"the {name} of this block was not issued by {case.contract.title}: it is {reason}"
    yield case.at(FOREIGN, ref, message, name=name, evidence=quote(proof, 60))


_FILLER = re.compile(
    r"\W*(?:(?:(?:the|no)\s+)?(?:reasoning(?:[ _]content)?|thinking|thoughts?|content)?\W*(?:was|is|were|has been)?\s*"
    r"(?:omitted|redacted|removed|stripped|(?:un|not )available|placeholder|missing|lost|none|null|n/?a)"
    r"(?:\s+(?:from|by|for|due to)\s.{0,20})?|tool[ _]calls?)?\W*",
    re.IGNORECASE | re.DOTALL,
)


def _is_placeholder(text: str | None) -> bool:
    """Nobody thinks this: it stands where reasoning was lost."""
    return bool(text) and len(text or "") <= 60 and _FILLER.fullmatch(text or "") is not None


def _fabricated(case: Case) -> Iterator[Finding]:
    genuine = _genuine(case)
    texts = [(r, p) for r, _, p in _sent(case) if p.text and not p.signature and r not in genuine]
    counts = Counter(p.text for _, p in texts)
    for ref, part in texts:
        times = counts[part.text]
        if _is_placeholder(part.text):
            message = "this is a placeholder, not what the model thought"
        elif times > 2 or (times == 2 and len(counts) == 1):
            message = f"the same text stands in {times} turns: it was put there, the model did not think it"
        else:
            continue
        finding = case.at(FABRICATED, ref, message, name="text", evidence=quote(part.text))
        yield with_related(finding, [case.pointer(r, "text") for r, p in texts if p.text == part.text])


def _order(case: Case) -> Iterator[Finding]:
    """Blocks have to lead their turn and may not end it; neighbours of one role are one turn."""
    if not case.contract.reasoning.leading:
        return
    known = {e.sent_part: e for e in case.ledger.entries if e.received_in is not None and e.sent is Sent.SENT}
    for turn in _assistant_turns(case):
        parts = [(ref, case.part(ref)) for ref in turn]
        blocks = [ref for ref, part in parts if isinstance(part, Reasoning) and part.carrier in BLOCKS]
        entry = next((known[ref] for ref in blocks if ref in known), None)
        if entry:
            yield from _moved(case, entry, turn)
        elif not blocks:
            continue
        elif blocks[0] != turn[0] and case.request and case.request.thinking == "on":
            message = "the turn holds thinking blocks and does not begin with one"
            yield case.at(ORDER, blocks[0], message, when="not-leading")
        elif blocks[-1] == turn[-1] and not _is_rebuilt(case):
            yield case.at(ORDER, blocks[-1], "the last block of the turn is a thinking block", when="last-block")


def _moved(case: Case, entry: Entry, turn: list[NodeRef]) -> Iterator[Finding]:
    """A block that came in before a call, or before any text, and is sent behind it."""
    received = [p for n, a in case.earlier.answers if n == entry.received_in for m in a.messages for p in m.parts]
    came = _before_blocks(received)
    for ref, ahead in zip(turn, _ahead([case.part(r) for r in turn]), strict=True):
        part = case.part(ref)
        key = (part.text, part.signature) if isinstance(part, Reasoning) else None
        if key in came and ahead - came[key]:
            yield case.at(ORDER, ref, "the block came in before what it now stands behind", evidence=_received(entry))


def _before_blocks(parts: list[Part]) -> dict[tuple[str | None, str | None] | None, frozenset[str]]:
    pairs = zip(parts, _ahead(parts), strict=True)
    return {(p.text, p.signature): ahead for p, ahead in pairs if isinstance(p, Reasoning)}


def _ahead(parts: list[Part]) -> Iterator[frozenset[str]]:
    """For each part, the ids of the calls before it, and "" where text stands before it."""
    seen: frozenset[str] = frozenset()
    for part in parts:
        yield seen
        if isinstance(part, ToolCallIR) and part.id:
            seen |= {part.id}
        elif isinstance(part, Text) and part.text.strip():
            seen |= {""}


def _assistant_turns(case: Case) -> Iterator[list[NodeRef]]:
    """The parts of each run of assistant messages."""
    turn: list[NodeRef] = []
    for n, message in enumerate(case.decoded.messages(REQUEST)):
        if message.role == case.contract.closure.call_role:
            turn += [NodeRef(REQUEST, n, k) for k in range(len(message.parts))]
        elif turn:
            yield turn
            turn = []
    if turn:
        yield turn


def _stale(case: Case) -> Iterator[Finding]:
    """Reasoning in the last turn although thinking is off. Sources disagree whether it is refused: a warning."""
    request = case.request
    if request is None or case.contract.enforced(STALE.slug) is None:
        return
    is_off = request.thinking == "off" or (request.thinking is None and not case.contract.reasoning.thinking_default)
    last = next((t for t in reversed(list(_assistant_turns(case)))), [])
    for ref in last if is_off else []:
        part = case.part(ref)
        if isinstance(part, Reasoning) and part.carrier in BLOCKS:
            yield as_warning(case.at(STALE, ref, "thinking is off, and the last turn still carries its thinking block"))


def _without_calls(case: Case) -> Iterator[Finding]:
    """Turns without calls that leave their reasoning out, where sources disagree whether the provider asks for it."""
    request = case.request
    if request is None or not request.tools or case.contract.term("reasoning.without-calls") != "warning":
        return
    if request.thinking == "off" or (request.thinking is None and not case.contract.reasoning.thinking_default):
        return
    bare = [e for e in case.ledger.entries if e.sent is Sent.NOT_OWED and e.message is not None and e.text]
    places = [case.decoded.messages(REQUEST)[e.message].pointer for e in bare if e.message is not None]
    if bare:
        message = f"{len(bare)} turn{'s' * (len(bare) > 1)} without calls left out the {_field(case, bare[0])}"
        evidence = f"{_received(bare[0])} · the documentation exempts such turns, clients report refusals"
        yield with_related(as_warning(case.finding(MISSING, REQUEST, places[0], message, evidence=evidence)), places)


_FIELDS = (Carrier.REASONING_CONTENT, Carrier.REASONING_DETAILS)
"""Carriers whose field names mean nothing else in any object of the wire."""


def _misplaced(case: Case) -> Iterator[Finding]:
    """Reasoning fields on objects that are no assistant message."""
    request = case.request
    if request is None:
        return
    objects: list[tuple[str, Mapping[str, JsonValue]]] = [("", request.params)]
    for message in request.messages:
        if message.role != case.contract.closure.call_role:
            objects.append((message.pointer, message.extra))
            objects += [(message.absolute(r), {r.carrier: r.text}) for _, r in message.reasoning()]
        objects += [(message.absolute(part), part.extra) for _, part in message.tool_calls()]
        objects += [(message.absolute(part), part.extra) for _, part in message.tool_results()]
    for pointer, held in objects:
        for name in _FIELDS:
            yield from _strays(case, pointer, held, name)


def _strays(case: Case, pointer: str, held: Mapping[str, JsonValue], name: str) -> Iterator[Finding]:
    inner = held.get("function")
    for at, keys in ((pointer, held), (f"{pointer}/function", inner if isinstance(inner, Mapping) else {})):
        if name in keys:
            place = at if at.endswith(f"/{name}") else f"{at}/{name}"
            message = f"{name} stands on an object that is no assistant message: nobody looks for it here"
            yield case.finding(MISPLACED, REQUEST, place, message)
