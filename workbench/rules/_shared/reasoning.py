"""Shared by the rules about reasoning: the reasoning that is sent, whether it is genuine, and where it was received."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import takewhile

from workbench import regex
from workbench.chain import Entry
from workbench.ir import Carrier, Media, Message, NodeRef, Opaque, Part, Reasoning, ToolCallIR, ToolResultIR
from workbench.protocols import REQUEST, asked_of, last_where
from workbench.rules._shared.context import RuleContext

BLOCKS = (Carrier.THINKING, Carrier.REDACTED_THINKING, Carrier.REASONING_BLOCK)
"""Carriers that are blocks of the content, in an order that counts."""


def stand_ins(case: RuleContext) -> frozenset[str]:
    """Signatures that the provider documents for calls it did not make; clients send them as they are or encoded."""
    plain = tuple(map(str, case.contract.term("reasoning.bypass") or ()))
    return frozenset((*plain, *(b64encode(value.encode()).decode() for value in plain)))


@asked_of(Reasoning)
def has_reasoning(message: Message) -> bool:
    """It carries reasoning."""
    return Reasoning in map(type, message.parts)


def sent_reasoning(
    case: RuleContext, test: Callable[..., object] = has_reasoning, *terms: object
) -> Iterator[tuple[NodeRef, Reasoning]]:
    """Every piece of reasoning in the messages of the history of which ``test(message, *terms)`` is true."""
    for n, message in case.suspects(test, *terms):
        for k, part in message.reasoning():
            yield NodeRef(REQUEST, n, k), part


def turn_from(case: RuleContext, start: int) -> list[NodeRef]:
    """The parts of a run of assistant messages: neighbours of one role are one turn."""
    role, messages = case.contract.closure.call_role, case.messages
    run = takewhile(lambda n: messages[n].role == role, range(start, len(messages)))
    return [NodeRef(REQUEST, n, k) for n in run for k in range(len(messages[n].parts))]


def last_turn(case: RuleContext) -> list[NodeRef]:
    """The parts of the last turn of the model."""
    role, messages = case.contract.closure.call_role, case.messages
    start = len(messages)
    while start and messages[start - 1].role != role:
        start -= 1
    while start and messages[start - 1].role == role:
        start -= 1
    return turn_from(case, start)


def loop_start(case: RuleContext) -> int:
    """The last message in which somebody else than the model said something, beside tool results; -1 if none did."""
    return last_where(case.messages, _is_said, case.contract.closure.call_role)


def _is_said(message: Message, role: str) -> bool:
    return message.role != role and any(not isinstance(part, ToolResultIR) for part in message.parts)


def received_words(entry: Entry) -> str:
    """Place where the reasoning of a turn was received, in words; empty if the session does not show it."""
    if entry.received_in is None:
        return ""
    if entry.is_bare:
        return f"the response of exchange {entry.received_in + 1} contains no reasoning"
    length = f", {len(entry.text)} characters" if entry.text else ""
    events = entry.received_events
    blocks = f" (stream events {events[0]}–{events[-1]})" if events else ""
    return f"received in exchange {entry.received_in + 1}{blocks}{length}"


def is_off(case: RuleContext) -> bool:
    """Thinking is off in this request, by its word or by the provider's default."""
    setting = case.request.thinking if case.request else None
    return setting == "off" or (setting is None and not case.contract.reasoning.thinking_default)


def is_rebuilt(case: RuleContext) -> bool:
    """There was no wire to see: a client's transcript does not hold the settings of a request."""
    return case.decoded.exchange.is_transcript


_NOUN = r"(?:reasoning(?:[ _]content)?|thinking|thoughts?|content)"
_FILLER = regex.compile(
    rf"\W*(?:(?:(?:the|no)\s+)?{_NOUN}?\W*(?:was|is|were|has been)?\s*"
    r"(?:omitted|redacted|removed|stripped|(?:un|not )available|placeholder|missing|lost|none|null|n/?a|hidden|empty"
    r"|undefined|nil|withheld|skipped|dummy|not (?:provided|recorded|included|shown|given|kept))"
    r"(?:\s+(?:from|by|for|due to)\s.{0,20})?"
    rf"|no\s+{_NOUN}(?:\s+(?:is|was|were))?(?:\s+(?:available|provided|recorded|given|here|needed|required|yet))?"
    rf"|{_NOUN}(?=\W*(?:\.\.\.|…))"
    r"|(?:(?:call(?:ed|ing)?|us(?:e|ed|ing)|invok(?:e|ed|ing))\s+)?(?:the\s+)?"
    r"(?:tool|function)(?:[ _]calls?|s)?(?:\s+[\w.-]{1,40})?"
    r"|(?:无|没有|暂无|空|略|省略)(?:思考|推理)?(?:内容|过程)?|(?:思考|推理)(?:内容|过程)?(?:已)?(?:省略|隐藏|为空|略|中)"
    r")?\W*",
    re.IGNORECASE | re.DOTALL,
)
_BRACKETED = regex.compile(
    rf"\s*[\[(<（【{{][^\[\]()<>（）【】{{}}\n]{{0,20}}{_NOUN}[^\[\]()<>（）【】{{}}\n]{{0,20}}[\])>）】}}]\s*",
    re.IGNORECASE,
)
"""A remark in brackets about reasoning, and nothing else."""

_DUMMY = r"(?:dummy|fake|placeholder|mock|sample|example|null|none|undefined|redacted|invalid|skip|unknown|todo|empty)"
_WORD = rf"(?:{_DUMMY}|no|test|sig|signature|thoughts?|thinking|reasoning|encrypted|content|data|value|validator)"
_DUMMY_PROOF = regex.compile(rf"(?=.*{_DUMMY})<?\W?{_WORD}(?:[ _.\-]{_WORD}){{0,5}}\W?>?\d{{0,3}}", re.IGNORECASE)


_SHORT_WORD = regex.compile(r"[a-z]{1,6}")
"""No proof is a word of a few small letters."""


def is_placeholder(text: str | None) -> bool:
    """Nobody thinks this: it is where reasoning was lost."""
    content = text or ""
    return 0 < len(content) <= 60 and bool(_FILLER.fullmatch(content) or _BRACKETED.fullmatch(content))


def is_dummy_proof(proof: str) -> bool:
    """Nobody issues this as a proof: words that somebody wrote in its place."""
    return 0 < len(proof) <= 60 and (_DUMMY_PROOF.fullmatch(proof) or _SHORT_WORD.fullmatch(proof)) is not None


def block_type(part: Part) -> str:
    """Type of a content block, as the wire of thinking blocks names it."""
    match part:
        case ToolCallIR():
            return "server_tool_use" if part.is_server else "tool_use"
        case ToolResultIR():
            return "tool_result"
        case Reasoning():
            return str(part.carrier)
        case Media():
            return part.kind
        case Opaque():
            return part.type
    return "text"
