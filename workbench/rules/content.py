"""Content besides calls and reasoning: empty text, prefilled answers, media where none may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench import protocols
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Media, Message, NodeRef, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, RESPONSE
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.wording import as_unproved, enforced_exactly, from_anomalies, of_role, quote
from workbench.rules.shapes import SHAPE

ERROR, WARNING = Severity.ERROR, Severity.WARNING

EMPTY = Rule("content.empty", WARNING, "A text, part or turn is empty.", breaks=Breaks.REQUEST)
ASSISTANT_LAST = Rule(
    "content.assistant-last", WARNING, "The conversation ends with an assistant turn.", breaks=Breaks.REQUEST
)
TRAILING = Rule(
    "content.trailing-whitespace", WARNING, "The final assistant text ends with whitespace.", breaks=Breaks.REQUEST
)
MEDIA = Rule(
    "content.image-in-result", WARNING, "A result contains an image, but may only contain text.", breaks=Breaks.REQUEST
)

RULES = (EMPTY, ASSISTANT_LAST, TRAILING, MEDIA)


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the texts of the request as far as the provider cares, and on answers that say nothing."""
    yield from _odd_messages(case)
    yield from _lists(case)
    yield from _last_message(case)
    yield from _silent_answer(case)
    yield from _check_anomalies(case)


@of_messages
def _odd_messages(case: RuleContext) -> Iterator[Finding]:
    for n, message in case.suspects(_is_odd):
        yield from _texts(case, n, message)
        yield from _media(case, n, message)
        yield from _empty_failures(case, n, message)


def _is_odd(message: Message) -> bool:
    """True if the message is empty, contains blank text, or has a result with media or without content."""
    for part in message.parts:
        if isinstance(part, Text):
            if not part.text.strip():
                return True
        elif isinstance(part, ToolResultIR) and not part.is_server and (not part.content or _has_media(part)):
            return True
    return not message.parts


def _has_media(result: ToolResultIR) -> bool:
    return any([isinstance(part, Media) for part in result.content])


@of_messages
def _check_anomalies(case: RuleContext) -> Iterator[Finding]:
    """Anomalies that decoders noticed. A known refusal is of one shape and says nothing about others."""
    is_refused = enforced_exactly(case, EMPTY, "null") is not None
    for finding in from_anomalies(case, EMPTY, "null"):
        yield finding if is_refused else replace(as_unproved(finding), source="")


def _texts(case: RuleContext, number: int, message: Message) -> Iterator[Finding]:
    is_last = number == len(case.messages) - 1
    if _is_empty(message):
        when = "empty-message" if message.parts or message.extra.get("content", "") is not None else "null"
        if _is_assistant(case, message) and enforced_exactly(case, EMPTY, "empty-assistant"):
            when = "empty-assistant"
        if enforced_exactly(case, EMPTY, when) and not (is_last and _is_assistant(case, message)):
            text = f"the message {of_role(message.role)} has no content"
            yield case.finding(EMPTY, REQUEST, message.pointer, text, when=when)
        return
    for k, part in enumerate(message.parts):
        when = _blank(part)
        if when == "blank-text" and len(message.parts) > 1 and _is_assistant(case, message):
            when = "blank-beside"  # a provider's own answers have it, and it takes them back
        is_marked = isinstance(part, Text) and part.extra.get("cache_control")
        if when == "empty-text" and is_marked and enforced_exactly(case, EMPTY, "cached"):
            when = "cached"
        if when and enforced_exactly(case, EMPTY, when):
            what = {"empty-text": "empty", "cached": "empty, but marked with a cache breakpoint"}.get(
                when, "only whitespace"
            )
            yield case.at(EMPTY, NodeRef(REQUEST, number, k), f"the text is {what}", when=when)


def _is_empty(message: Message) -> bool:
    """True for no part at all, or an empty string instead of a list of parts."""
    if not message.parts:
        return True
    only = message.parts[0]
    return len(message.parts) == 1 and isinstance(only, Text) and not only.text and not _is_block(only)


def _is_block(text: Text) -> bool:
    """The text is an object of its own, and not the bare string of a message."""
    return bool(text.source.fields.get("text"))


def _blank(part: object) -> str:
    if not isinstance(part, Text) or part.text.strip():
        return ""
    return "blank-text" if part.text else "empty-text"


def _empty_failures(case: RuleContext, number: int, message: Message) -> Iterator[Finding]:
    """Results that say a tool failed, and not how."""
    if enforced_exactly(case, EMPTY, "empty-error"):
        for k, result in message.tool_results():
            if result.is_error and not result.content:
                text = f"the result of {quote(result.tool_call_id)} is an error without text"
                yield case.at(EMPTY, NodeRef(REQUEST, number, k), text, when="empty-error")


@of_messages
def _lists(case: RuleContext) -> Iterator[Finding]:
    """Content that is a list of parts, where it has to be a string."""
    anywhere = enforced_exactly(case, SHAPE, "array-content")
    in_results = enforced_exactly(case, SHAPE, "result-content")
    if not anywhere and not in_results:
        return
    for _, message in case.suspects(_is_list):
        if anywhere or any(message.tool_results()):
            when, pointer = "array-content" if anywhere else "result-content", f"{message.pointer}/content"
            text = f"the content of a message {of_role(message.role)} must be a string, not a list"
            yield case.finding(SHAPE, REQUEST, pointer, text, when=when)


def _is_list(message: Message) -> bool:
    parts = (*message.parts, *(part for _, result in message.tool_results() for part in result.content))
    return any(part.source.pointer.startswith("/content/") for part in parts)


def _media(case: RuleContext, number: int, message: Message) -> Iterator[Finding]:
    """Media that the results of this provider may not hold."""
    allowed = case.contract.term("content.tool-result-types")
    for k, result in message.tool_results() if allowed else ():
        for part in result.content:
            if isinstance(part, Media) and part.kind not in allowed:
                only = f"tool results of this provider may contain only {', '.join(allowed)}"
                text = f"the tool result contains {part.kind}, but {only}"
                values = {"found": part.kind, "role": message.role}
                seen = _call_of(case, number, k)
                yield _of_media(case, message.absolute(part), part.kind, text, values=values, evidence=seen)


def _of_media(case: RuleContext, pointer: str, kind: str, message: str, **more: Any) -> Finding:
    """A kind of media that is refused by its name, or like every other; else nobody knows what becomes of it."""
    finding = case.finding(MEDIA, REQUEST, pointer, message, when=kind, **more)
    return finding if enforced_exactly(case, MEDIA, kind, "") else as_unproved(finding)


def _call_of(case: RuleContext, number: int, part: int) -> str:
    result = case.part(NodeRef(REQUEST, number, part))
    return f"result of {quote(result.tool_call_id)}" if isinstance(result, ToolResultIR) else ""


def _last_message(case: RuleContext) -> Iterator[Finding]:
    """An answer that the client began for the model."""
    messages = case.messages
    if not messages or not _is_assistant(case, messages[-1]) or _is_paused(messages[-1]):
        return
    number, last = len(messages) - 1, messages[-1]
    text = last.parts[-1] if last.parts else None
    if case.contract.check_for(ASSISTANT_LAST.slug):
        takes_calls = case.contract.term("closure.open-at-end") != "refused"
        if last.extra.get("prefix") is not True and not (takes_calls and any(last.tool_calls())):
            yield case.finding(
                ASSISTANT_LAST,
                REQUEST,
                last.pointer,
                "the conversation ends with an assistant turn (a prefilled response)",
            )
    elif isinstance(text, Text) and text.text != text.text.rstrip() and case.contract.check_for(TRAILING.slug):
        where = NodeRef(REQUEST, number, len(last.parts) - 1)
        message = "the prefilled response ends with whitespace"
        yield case.at(TRAILING, where, message, name="text", evidence=quote(text.text[-40:]))


def _is_assistant(case: RuleContext, message: Message) -> bool:
    return message.role == case.contract.closure.call_role


def _is_paused(message: Message) -> bool:
    """A turn that the provider's own tools interrupted is sent back as it is."""
    return any(isinstance(p, ToolCallIR | ToolResultIR) and p.is_server for p in message.parts)


def _may_be_silent(case: RuleContext) -> bool:
    """True for a request that a model may leave without output."""
    parameter = protocols.traits(case.decoded.protocol).may_be_silent
    return parameter is not None and case.request is not None and parameter in case.request.params.items()


def _silent_answer(case: RuleContext) -> Iterator[Finding]:
    """An answer without a word and without a call."""
    answer = case.response
    if answer is None or answer.error or not answer.is_complete or answer.stop == "filter" or _may_be_silent(case):
        return
    if not answer.messages:
        is_misread = any(noticed.slug == "stream.framing" for noticed in answer.anomalies)
        if 200 <= case.status < 300 and not is_misread:
            yield case.finding(EMPTY, RESPONSE, "", "the response contains no message")
        return
    content = [p for m in answer.messages for p in m.parts if not (isinstance(p, Text) and not p.text.strip())]
    if any(not isinstance(p, Reasoning) for p in content):
        return
    limit = ": the output limit was reached before any text" if answer.stop == "length" else ""
    what = "contains only reasoning" if content else "is empty"
    reason = f"finish reason {quote(answer.finish_reason)}"
    pointer, events = answer.messages[0].pointer, answer.finish_events
    yield case.finding(EMPTY, RESPONSE, pointer, f"the response {what}{limit}", events=events, evidence=reason)
