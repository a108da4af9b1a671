"""Check answers against the grammar of their protocol: what clients read unasked, and what typed clients refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from workbench.contracts import Finding, Severity, dotted_path
from workbench.errors import WireError
from workbench.ir import JsonValue, NodeRef, Opaque
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import RESPONSE, MessageShape, Traits, fact, grammars, shape_of_value, traits
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.nodes import is_in
from workbench.rules._shared.wording import quote, show_value
from workbench.wire import Origin, loads, type_words, value_at

_READ_UNASKED = (
    *("function", "name", "arguments", "call_id", "input", "toolUseId", "message", "content", "summary"),
    *("type", "text", "input_tokens", "output_tokens", "finish_reason"),
)
"""Keys of calls, messages, blocks and token counts that clients read without a check that they are present."""
_READ_AT_START = ("usage",)
"""Keys of a message that clients read unasked when its stream goes on: the next event adds to its token counts."""
LARGEST_ANSWER = 1_000_000
"""Limit in bytes of a response that is checked against its grammar."""


def of_answer(case: RuleContext, found: list[Finding]) -> Iterator[Finding]:
    """Findings on parts of an answer that clients stumble over, where no other finding speaks of the place."""
    if _asks_with_one_text(case):
        return
    yield from _foreign_end(case, found)
    endless = list(_without_end(case, found))
    yield from endless
    yield from _of_unknown_types(case, found)
    reported = [f.pointer for f in found if f.side == RESPONSE and f.severity is not Severity.INFO and f.pointer]
    reported += [f.pointer for f in endless]
    repeated = {"tools", *(case.request.params if case.request else ())}  # of the request: no client reads it again
    for body in _bodies(case):
        for grammar, fault, text in _faults(case, body):
            at = fault.pointer or f"/{fault.name}"
            is_reported = any(is_in(other, at) or is_in(at, other) for other in reported)
            if is_reported or at.split("/")[1] in repeated:
                continue
            reported.append(at)
            source = f"{grammar.label} ({grammar.date})"
            place = {"events": body.events} if body.events else {}
            finding = case.finding(get_rule("answer.reshaped"), RESPONSE, fault.pointer, text, source=source, **place)
            yield replace(finding, severity=Severity.WARNING)


def _asks_with_one_text(case: RuleContext) -> bool:
    """The prompt is one text (Llama, Titan behind InvokeModel): no grammar here is of its answer."""
    return case.request is not None and any(not message.pointer for message in case.request.messages[:1])


class _AnswerBody(NamedTuple):
    """An answer, or what one event of a stream has of it.

    Attributes:
        value: the object that the grammar is of.
        is_whole: nothing of it is in other events.
        events: the event that it is in; empty for a whole answer.
        is_head: a message that later events of a stream add to.
        at: place of the value in the response.
        kind: its type; empty for that of a response.
    """

    value: JsonValue
    is_whole: bool = True
    events: tuple[int, ...] = ()
    is_head: bool = False
    at: str = ""
    kind: grammars.Kind = ""


def _bodies(case: RuleContext) -> Iterator[_AnswerBody]:
    """Parts of an answer that are held to the grammar: all of it, or the first and the last event of a stream."""
    decoded, answer = case.decoded, case.response
    if answer is None or not answer.messages or answer.error or not answer.is_complete:
        return
    exchange = decoded.exchange
    is_wrapped = answer.anomalies and answer.anomalies[0].slug == "answer.reshaped" and answer.anomalies[0].pointer
    if exchange.is_transcript or exchange.origin is Origin.RECONSTRUCTED or is_wrapped:
        return
    if decoded.framing is None and len(decoded.response_text) <= LARGEST_ANSWER:
        value = _value_of(decoded.response_text)
        yield from [_AnswerBody(value)] if value is not None else []
        return
    known = traits(decoded.protocol)
    yield from _parts_of_stream(case, known)
    if known.whole_in_event is None:
        return
    numbers = [n for n, event in enumerate(decoded.events) if event.data and event.data.strip() != b"[DONE]"]
    for number in dict.fromkeys((*numbers[:1], *numbers[-1:])):
        event = _value_of(decoded.events[number].data or b"")
        value = value_at(event, known.whole_in_event) if isinstance(event, dict) else None
        if isinstance(value, dict):
            is_whole = known.end_repeats_calls and number == numbers[-1]
            yield _AnswerBody(value, is_whole, (number,), is_head=bool(known.whole_in_event) and number == numbers[0])


def _parts_of_stream(case: RuleContext, known: Traits) -> Iterator[_AnswerBody]:
    """The blocks or items of a stream as they begin."""
    grammar, part = grammars.grammar_of(case.decoded.protocol or ""), known.part_in_event
    if grammar is None or part is None:
        return
    kind = grammar.object(grammar.answer).keys[part.key]
    for number, event in enumerate(case.decoded.events):
        if event.data and part.marker in event.data[:MOST_BEFORE_TYPE]:
            value = _value_of(event.data)
            found = value.get(part.member) if isinstance(value, dict) else None
            if isinstance(value, dict) and isinstance(found, dict):
                yield _AnswerBody(found, True, (number,), at=f"/{part.key}/{value.get(part.place)}", kind=kind[1])


MOST_BEFORE_TYPE = 100
"""Bytes of an event in which its type is, wherever the server writes it: nothing long comes before."""


def _value_of(text: bytes) -> JsonValue:
    try:
        return loads(text) if len(text) <= LARGEST_ANSWER else None
    except WireError:
        return None


def _of_unknown_types(case: RuleContext, found: list[Finding]) -> Iterator[Finding]:
    """Blocks of a stream whose type the vendor's types do not list: clients leave them out, or raise an error."""
    answer, grammar = case.response, _vendors_grammar(case)
    if (
        answer is None
        or grammar is None
        or not answer.is_stream
        or answer.error
        or any(f.side == RESPONSE and _is_break(f) for f in found)
    ):
        return
    own = _own_grammar(case) or grammar
    for n, message in enumerate(answer.messages):
        for k, part in enumerate(message.parts):
            if isinstance(part, Opaque) and not any(each.lists("type", part.type) for each in (grammar, own)):
                text = f"a part of the response is of type {quote(part.type, 60)}, {_UNLISTED}"
                yield replace(
                    case.at(get_rule("answer.reshaped"), NodeRef(RESPONSE, n, k), text), severity=Severity.WARNING
                )


def _is_break(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _without_end(case: RuleContext, found: list[Finding]) -> Iterator[Finding]:
    """A whole answer that does not say why it ended."""
    answer, at = case.response, traits(case.decoded.protocol).end_pointer
    is_told = any(f.rule in ("stream.finish-reason", "answer.error") for f in found)
    if not at or is_told or answer is None or answer.is_stream or answer.finish_reason:
        return
    body = next(_bodies(case), None)
    if body is None or value_at(body.value, at) not in (None, "", False):
        return
    text = f"the response is whole, but its {dotted_path(at)} is absent or empty: clients cannot tell why it ended"
    yield replace(case.finding(get_rule("answer.reshaped"), RESPONSE, at, text), severity=Severity.WARNING)


_AnswerFault: TypeAlias = tuple[grammars.BodyGrammar, grammars.ShapeFault, str]
"""A fault of an answer, with its grammar and what it is in words."""


def _faults(case: RuleContext, body: _AnswerBody) -> Iterator[_AnswerFault]:
    """Faults of an answer; of one event of a stream, only those of what it repeats of the whole."""
    if body.kind:
        yield from _faults_of_part(case, body)
        return
    found = *_lacking_keys(case, body.value), *_foreign_values(case, body.value), *_foreign_types(case, body.value)
    for grammar, fault, text in found:
        is_at_top = fault.code == grammars.MISSING and not fault.pointer
        is_of_type = fault.code == grammars.WRONG_TYPE and fault.pointer.split("/")[1] not in _IN_PIECES
        if body.is_head if is_at_top else body.is_whole or is_of_type:
            yield grammar, fault, text


_IN_PIECES = ("choices", "candidates", "content", "output")
"""Keys whose value is in many events of a stream."""


def _faults_of_part(case: RuleContext, body: _AnswerBody) -> Iterator[_AnswerFault]:
    """Faults of a block or item that begins: keys that it lacks, and values of another type."""
    grammar = grammars.grammar_of(case.decoded.protocol or "")
    if grammar is not None:
        for fault in grammar.faults(body.kind, body.value, body.at):
            at = dotted_path(fault.pointer)
            if _lacks_key(fault):
                yield grammar, fault, f"{at} begins without {quote(fault.name)}: {_UNASKED}"
            elif _has_foreign_type(fault):
                found = type_words(value_at(body.value, fault.pointer.removeprefix(body.at)))
                yield grammar, fault, f"{at} begins as {found}: typed clients raise an error"


def _lacking_keys(case: RuleContext, body: JsonValue) -> Iterator[_AnswerFault]:
    """Required keys that an answer lacks, unless the provider's own types do not require them."""
    grammar, own = grammars.grammar_of(case.decoded.protocol or ""), _own_grammar(case)
    if grammar is None or not grammar.answer or not _may_have(_lacks_key, grammar, body):
        return
    known = None
    if own is not None and own is not grammar:
        known = {(f.pointer, f.name) for f in own.faults(f"#{own.answer}", body)}
    for fault in grammar.faults(f"#{grammar.answer}", body):
        if _lacks_key(fault) and (known is None or (fault.pointer, fault.name) in known):
            has_no = f"{dotted_path(fault.pointer) or 'the response'} has no {quote(fault.name)}"
            yield grammar, fault, f"{has_no}: {_UNASKED}"


def _foreign_values(case: RuleContext, body: JsonValue) -> Iterator[_AnswerFault]:
    """Values of another server that the vendor's types do not list: clients that validate answers refuse all of it."""
    grammar, own = _vendors_grammar(case), grammars.grammar_of(case.decoded.protocol or "", case.contract.name)
    if grammar is None or not _may_have(_has_foreign_value, grammar, body):
        return
    for fault in filter(_has_foreign_value, grammar.faults(f"#{grammar.answer}", body)):
        key, value = fault.pointer.rpartition("/")[2], value_at(body, fault.pointer)
        if own is None or own is grammar or not own.lists(key, value):
            yield grammar, fault, f"{dotted_path(fault.pointer)} is {show_value(value)}, {_UNLISTED}"


def _foreign_types(case: RuleContext, body: JsonValue) -> Iterator[_AnswerFault]:
    """Values of another type than the vendor's and the provider's types state: typed clients refuse all of it."""
    grammar, own = grammars.grammar_of(case.decoded.protocol or ""), _own_grammar(case)
    if grammar is None or not grammar.answer or not _may_have(_has_foreign_type, grammar, body):
        return
    known = None
    if own is not None and own is not grammar:
        known = {f.pointer for f in own.faults(f"#{own.answer}", body)}
    for fault in filter(_has_foreign_type, grammar.faults(f"#{grammar.answer}", body)):
        if known is None or fault.pointer in known:
            found = type_words(value_at(body, fault.pointer))
            expected = f", not {fault.expected}" if fault.expected else ""
            yield grammar, fault, f"{dotted_path(fault.pointer)} is {found}{expected}: typed clients raise an error"


def _own_grammar(case: RuleContext) -> grammars.BodyGrammar | None:
    """The grammar of the provider's own answers; None if it has none of answers."""
    own = grammars.grammar_of(case.decoded.protocol or "", case.contract.name)
    return own if own and own.answer else None


def _has_foreign_type(fault: grammars.ShapeFault) -> bool:
    return fault.code == grammars.WRONG_TYPE


def _lacks_key(fault: grammars.ShapeFault) -> bool:
    if fault.code != grammars.MISSING:
        return False
    return fault.name in (_READ_UNASKED if fault.pointer else _READ_AT_START)


def _has_foreign_value(fault: grammars.ShapeFault) -> bool:
    return fault.code in (grammars.WRONG_VALUE, grammars.UNKNOWN_VARIANT)


def _may_have(test: Callable[[grammars.ShapeFault], bool], grammar: grammars.BodyGrammar, body: JsonValue) -> bool:
    """An answer may have faults that pass a test, by its shape with all texts that the grammar lists."""
    return fact(shape_of_value(body, grammars.listed_keys(grammar)), _shape_may_have, test, grammar)


def _shape_may_have(
    shape: MessageShape, test: Callable[[grammars.ShapeFault], bool], grammar: grammars.BodyGrammar
) -> bool:
    return any(map(test, grammar.faults(f"#{grammar.answer}", shape.skeleton)))


_UNASKED = "clients read it without checking that it exists"
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
