"""The bare form of a request: a list of messages, each with a role and a content, of roles and parts that are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench import protocols, regex
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Anomaly, Message, NodeRef, Opaque
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, asked_of, history
from workbench.rules._shared.body_values import values_at
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.wording import LEGACY_ROLE, as_unproved, by_term, enforced_exactly, from_anomalies, quote
from workbench.rules.relations import PART

SHAPE = Rule(
    "content.shape",
    Severity.WARNING,
    "The provider interprets the structure of this content in an unintended way.",
    breaks=Breaks.CONVERSATION,
)

RULES = (SHAPE,)

_LISTS = ("/messages", "/contents")
_FORMS = (
    (regex.compile(r"(?:messages|contents) is (?:an? )?(?P<found>\w+), not a list"), "not-a-list"),
    (regex.compile(r"a message without a role"), "no-role"),
    (regex.compile(r"a message without content|the content of a '.*' message is absent"), "no-content"),
)
"""Notes of decoders on messages → name of the fault."""

_FIELDS = {"no-role": "role", "no-content": "content"}


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on requests that lack what every conversation has."""
    was_sent = not case.decoded.exchange.is_transcript
    yield from _check_anomalies(case)
    if case.request is None or not was_sent:
        return
    yield from _nobody(case)
    yield from _roles(case)
    yield from _types(case)


@of_messages
def _check_anomalies(case: RuleContext) -> Iterator[Finding]:
    """Anomalies that decoders noticed. A known refusal is of one shape and says nothing about others."""
    was_sent = not case.decoded.exchange.is_transcript
    faults = {(a.pointer, a.message): _anomaly_fault(a) for a in case.request_anomalies if a.slug == SHAPE.slug}
    for finding in from_anomalies(case, SHAPE):
        when, values = faults.get((finding.pointer, finding.message), ("", {})) if finding.side == REQUEST else ("", {})
        if when and was_sent and enforced_exactly(case, SHAPE, when):
            yield case.finding(SHAPE, REQUEST, finding.pointer, finding.message, when=when, values=values)
            continue
        finding = finding if enforced_exactly(case, SHAPE, "") else replace(as_unproved(finding), source="")
        yield replace(finding, severity=Severity.ERROR) if when == "not-a-list" else finding


def _anomaly_fault(anomaly: Anomaly) -> tuple[str, Mapping[str, str]]:
    """Fault that an anomaly of a request is, and the provider's words for it; empty for any other."""
    for pattern, when in _FORMS:
        found = pattern.fullmatch(anomaly.message)
        if found:
            return when, found.groupdict() | ({"field": _FIELDS[when]} if when in _FIELDS else {})
    return "", {}


def _nobody(case: RuleContext) -> Iterator[Finding]:
    """A list without any message."""
    if case.messages:
        return
    for key in _LISTS:
        for pointer, value in values_at(case.decoded, key):
            if value != [] or protocols.traits(case.decoded.protocol).may_be_empty:
                continue
            finding = case.finding(SHAPE, REQUEST, pointer, "the request contains no message", when="no-messages")
            yield finding if enforced_exactly(case, SHAPE, "no-messages") else as_unproved(finding)


@of_messages
def _roles(case: RuleContext) -> Iterator[Finding]:
    """Roles that this provider does not know; ``closure`` reports roles of tool results of another protocol."""
    known = case.contract.term("content.roles")
    if not isinstance(known, list):
        return
    results = case.contract.closure.result_role
    foreign = () if results in (None, "tool", LEGACY_ROLE) else ("tool", LEGACY_ROLE)
    for _, message in case.suspects(_is_of_other_role, (*map(str, known), *foreign)):
        text = f"role {quote(message.role)} is not known to {case.contract.title}; known: {', '.join(map(str, known))}"
        values = {"role": message.role, "found": message.role}
        yield by_term(case, SHAPE, "content.roles", f"{message.pointer}/role", text, when="role", values=values)


def _may_be_of_other_role(kind: history.MessageKind, known: tuple[str, ...]) -> bool:
    return bool(kind.role) and kind.role not in known


@history.asked_of_kind(_may_be_of_other_role)
def _is_of_other_role(message: Message, known: tuple[str, ...]) -> bool:
    return bool(message.role) and message.role not in known


@of_messages
def _types(case: RuleContext) -> Iterator[Finding]:
    """Parts of a type that the provider does not know; others report tool calls and results of another protocol."""
    known = case.contract.term("content.block-types")
    if not isinstance(known, list):
        return
    for n, message in case.suspects(_has_other_type, tuple(map(str, known))):
        for k, part in enumerate(message.parts):
            if _is_of_other_type(part, tuple(map(str, known))):
                kind = part.type if isinstance(part, Opaque) else ""
                text = f"content blocks of type {quote(kind)} are not known to {case.contract.title}"
                values = {"found": kind, "names": ", ".join(f"'{name}'" for name in known)}
                pointer = case.pointer(NodeRef(REQUEST, n, k))
                rule = SHAPE if kind.endswith("text") else PART  # a text by its name on another wire is no other kind
                yield by_term(case, rule, "content.block-types", pointer, text, when="block-type", values=values)


@asked_of(Opaque)
def _has_other_type(message: Message, known: tuple[str, ...]) -> bool:
    return any(_is_of_other_type(part, known) for part in message.parts)


def _is_of_other_type(part: object, known: tuple[str, ...]) -> bool:
    """A part with a type of its own that is none of these."""
    if not isinstance(part, Opaque) or not isinstance(part.value, dict):
        return False
    return isinstance(part.value.get("type"), str) and part.type not in known
