"""Reasoning items of a list of items: each goes with what it led to, and holds what the server does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Carrier, Message, ModelResponse, NodeRef, Opaque, Reasoning
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, asked_of
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.nodes import item_id, item_kind
from workbench.rules._shared.reasoning import is_rebuilt
from workbench.rules._shared.wording import as_warning, quote, with_related

WARNING = Severity.WARNING

UNPAIRED = Rule(
    "reasoning.unpaired",
    WARNING,
    "A reasoning item and the item that belongs to it are not both present.",
    breaks=Breaks.REQUEST,
)
BY_REFERENCE = Rule(
    "reasoning.by-reference",
    WARNING,
    "An item is sent by id only, but the server did not store the item.",
    breaks=Breaks.REQUEST,
)

RULES = (UNPAIRED, BY_REFERENCE)

SAID_BY_MODEL = "assistant"
"""Role of every item that an answer may hold."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the reasoning items of a request."""
    if case.request is None or not case.request.itemized:
        return
    is_paired = case.contract.check_for(UNPAIRED.slug) or case.contract.term("reasoning.paired")
    if is_paired and not is_rebuilt(case):  # a transcript does not hold items as they were sent
        for finding in (*_without_follower(case), *_without_reasoning(case)):
            yield as_warning(finding) if _is_stateless(case) else finding
    if case.contract.check_for(BY_REFERENCE.slug):
        yield from _by_reference(case)


def _is_stateless(case: RuleContext) -> bool:
    """Nothing of this conversation is stored: pairing was not enforced where somebody tried it (agentao 321)."""
    return case.request is not None and case.request.params.get("store") is False


@of_messages
def _without_follower(case: RuleContext) -> Iterator[Finding]:
    """Reasoning that something follows which it did not lead to: nothing, others' words, or an item made again.

    An item without an id is not the one that came in, as a recorded refusal shows (gpt-5, 2025-09).
    """
    messages = case.messages
    for n, message in case.suspects(_is_reasoning):
        follower = messages[n + 1] if n + 1 < len(messages) else None
        if follower is None:
            what = "nothing"
        elif follower.role != SAID_BY_MODEL:
            what = f"an item of role {quote(follower.role)}"
        elif not item_id(follower) and not _is_stateless(case):
            what = "an item without an id"
        else:
            continue
        text = f"a reasoning item is followed by {what}: the item that belongs to it is missing"
        values = {"id": item_id(message), "kind": "reasoning"}
        yield case.at(UNPAIRED, NodeRef(REQUEST, n, 0), text, when="no-follower", values=values)


def _without_reasoning(case: RuleContext) -> Iterator[Finding]:
    """Items that came in behind a reasoning item, as this session saw, and are sent without it."""
    sent_ids = {item_id(message): n for n, message in case.suspects(item_id)}
    for exchange, answer in case.earlier.answers:
        for reasoning, followers in _groups(answer):
            here = [name for name in followers if name in sent_ids]
            if reasoning in sent_ids or not here:
                continue
            refs = [NodeRef(REQUEST, sent_ids[name], 0) for name in here]
            kind = item_kind(case.message(refs[0]))
            text = f"the {kind} {quote(here[0], 60)} was received after the reasoning item {quote(reasoning, 60)}"
            finding = case.at(
                UNPAIRED,
                refs[0],
                f"{text}, which is not sent back together with the reasoning item",
                evidence=f"received in exchange {exchange + 1}",
                when="no-reasoning",
                values={"id": here[0], "kind": kind, "reasoning": reasoning},
            )
            yield with_related(finding, [case.pointer(ref) for ref in refs])


class _ReasoningGroup(NamedTuple):
    """A reasoning item of an answer, and the ids of the items up to the next one."""

    reasoning: str
    followers: tuple[str, ...]


def _groups(answer: ModelResponse) -> Iterator[_ReasoningGroup]:
    if not answer.itemized:
        return
    reasoning, followers = "", list[str]()
    for message in answer.messages:
        if _is_reasoning(message):
            if reasoning and followers:
                yield _ReasoningGroup(reasoning, tuple(followers))
            reasoning, followers = item_id(message), []
        elif item_id(message):
            followers.append(item_id(message))
    if reasoning and followers:
        yield _ReasoningGroup(reasoning, tuple(followers))


def _by_reference(case: RuleContext) -> Iterator[Finding]:
    """Items without what they hold, of answers that nobody stored."""
    unstored = _unstored_items(case)
    for n, message in case.suspects(_is_empty_shell):
        name = item_id(message)
        if not _is_stateless(case) and name not in unstored:
            continue
        what = "a reasoning item without its encrypted content" if _is_reasoning(message) else "a reference"
        why = "store is false" if _is_stateless(case) else f"exchange {unstored[name] + 1} had store false"
        text = f"{what} names {quote(name, 60)} only by its id, and {why}: the server did not store the item"
        field = "data" if _is_reasoning(message) else None
        values = {"id": name, "kind": item_kind(message)}
        yield case.at(BY_REFERENCE, NodeRef(REQUEST, n, 0), text, name=field, values=values)


def _unstored_items(case: RuleContext) -> Mapping[str, int]:
    """Id of each item of an answer that says it was not stored → its exchange."""
    answers = ((n, a) for n, a in case.earlier.answers if a.itemized and a.params.get("store") is False)
    return {name: n for n, a in answers for m in a.messages if (name := item_id(m))}


@asked_of(Reasoning)
def _is_reasoning(message: Message) -> bool:
    return any(r.carrier is Carrier.ENCRYPTED_ITEM for _, r in message.reasoning())


@asked_of(Opaque, Reasoning)
def _is_empty_shell(message: Message) -> bool:
    """True for an item that only names another one by its id, without the content."""
    part = message.parts[0] if message.parts else None
    if isinstance(part, Opaque):
        return part.type == "item_reference" and bool(item_id(message))
    if not isinstance(part, Reasoning) or part.carrier is not Carrier.ENCRYPTED_ITEM:
        return False
    return bool(item_id(message)) and not part.data and not part.extra.get("content")
