"""Check answers against the grammar of their protocol: keys that clients read unasked, values that they refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from workbench.contracts import Finding, Severity, dotted_path
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import RESPONSE, MessageShape, fact, grammars, shape_of_value
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.nodes import is_in
from workbench.rules._shared.wording import quote, show_value
from workbench.wire import loads, value_at

_READ_UNASKED = ("function", "name", "arguments", "call_id", "input", "toolUseId", "message", "content", "summary")
"""Keys of calls and messages that clients read without a check that they are present."""
LARGEST_ANSWER = 1_000_000
"""Limit in bytes of a response that is checked against its grammar."""


def of_answer(case: RuleContext, found: list[Finding]) -> Iterator[Finding]:
    """What clients stumble over in an answer, where no finding speaks of the place."""
    yield from _foreign_end(case, found)
    body = _body_of_answer(case)
    if body is None:
        return
    reported = [f.pointer for f in found if f.side == RESPONSE and f.severity is not Severity.INFO and f.pointer]
    repeated = {"tools", *(case.request.params if case.request else ())}  # of the request: no client reads it again
    for grammar, fault, text in (*_lacking_keys(case, body), *_foreign_values(case, body)):
        is_reported = any(is_in(at, fault.pointer) or is_in(fault.pointer, at) for at in reported)
        if is_reported or fault.pointer.split("/")[1] in repeated:
            continue
        source = f"{grammar.label} ({grammar.date})"
        finding = case.finding(get_rule("answer.reshaped"), RESPONSE, fault.pointer, text, source=source)
        yield replace(finding, severity=Severity.WARNING)


def _body_of_answer(case: RuleContext) -> JsonValue:
    """The body of an answer that is held to the grammar; None if it is to none."""
    decoded, answer = case.decoded, case.response
    if answer is None or not answer.messages or answer.error or not answer.is_complete:
        return None
    is_sent = not decoded.exchange.is_transcript and len(decoded.response_text) <= LARGEST_ANSWER
    is_wrapped = answer.anomalies and answer.anomalies[0].slug == "answer.reshaped" and answer.anomalies[0].pointer
    if decoded.framing is not None or not is_sent or is_wrapped:
        return None
    try:
        return loads(decoded.response_text)
    except WireError:
        return None


_AnswerFault: TypeAlias = tuple[grammars.BodyGrammar, grammars.ShapeFault, str]
"""A fault of an answer, with its grammar and what it is in words."""


def _lacking_keys(case: RuleContext, body: JsonValue) -> Iterator[_AnswerFault]:
    """Required keys that the messages of an answer lack."""
    grammar = grammars.grammar_of(case.decoded.protocol or "", case.contract.name)
    if grammar is None or not grammar.answer or not _may_have(_lacks_key, grammar, body):
        return
    for fault in grammar.faults(f"#{grammar.answer}", body):
        if _lacks_key(fault):
            has_no = f"{dotted_path(fault.pointer)} has no {quote(fault.name)}"
            yield grammar, fault, f"{has_no}: clients read it without checking that it exists"


def _foreign_values(case: RuleContext, body: JsonValue) -> Iterator[_AnswerFault]:
    """Values of another server that the vendor's types do not list: clients that validate answers refuse all of it."""
    grammar, own = _vendors_grammar(case), grammars.grammar_of(case.decoded.protocol or "", case.contract.name)
    if grammar is None or not _may_have(_has_foreign_value, grammar, body):
        return
    for fault in filter(_has_foreign_value, grammar.faults(f"#{grammar.answer}", body)):
        key, value = fault.pointer.rpartition("/")[2], value_at(body, fault.pointer)
        if own is None or own is grammar or not own.lists(key, value):
            yield grammar, fault, f"{dotted_path(fault.pointer)} is {show_value(value)}, {_UNLISTED}"


def _lacks_key(fault: grammars.ShapeFault) -> bool:
    return fault.code == grammars.MISSING and bool(fault.pointer) and fault.name in _READ_UNASKED


def _has_foreign_value(fault: grammars.ShapeFault) -> bool:
    return fault.code == grammars.WRONG_VALUE


def _may_have(test: Callable[[grammars.ShapeFault], bool], grammar: grammars.BodyGrammar, body: JsonValue) -> bool:
    """An answer may have faults that pass a test, by its shape with all texts that the grammar lists."""
    return fact(shape_of_value(body, grammars.listed_keys(grammar)), _shape_may_have, test, grammar)


def _shape_may_have(
    shape: MessageShape, test: Callable[[grammars.ShapeFault], bool], grammar: grammars.BodyGrammar
) -> bool:
    return any(map(test, grammar.faults(f"#{grammar.answer}", shape.skeleton)))


_UNLISTED = "which the types of this protocol do not list: clients that validate responses raise an error"
_ENDS = ("finish_reason", "stop_reason")
"""Keys of the reason for which an answer ended."""


def _foreign_end(case: RuleContext, found: list[Finding]) -> Iterator[Finding]:
    """The same for the reason of a stream's end, unless a rule has said something of it."""
    answer, grammar = case.response, _vendors_grammar(case)
    if grammar is None or answer is None or not answer.is_stream or answer.error or not answer.finish_reason:
        return
    own = grammars.grammar_of(case.decoded.protocol or "", case.contract.name) or grammar
    is_told = any(f.rule == "stream.finish-reason" for f in found)
    key = next((key for key in _ENDS if grammar.texts_of(key)), "")
    if not key or is_told or any(each.lists(key, answer.finish_reason) for each in (grammar, own)):
        return
    text = f"the {key} is {quote(answer.finish_reason, 60)}, {_UNLISTED}"
    finding = case.finding(
        get_rule("answer.reshaped"), RESPONSE, "", text, events=answer.finish_events,
        source=f"{grammar.label} ({grammar.date})",
    )  # fmt: skip
    yield replace(finding, severity=Severity.WARNING)


def _vendors_grammar(case: RuleContext) -> grammars.BodyGrammar | None:
    """The grammar of the protocol's vendor, for answers of others; None where it has none of answers."""
    grammar = grammars.grammar_of(case.decoded.protocol or "")
    is_others = grammar is not None and bool(grammar.answer) and grammar.provider != case.contract.name
    return grammar if is_others else None
