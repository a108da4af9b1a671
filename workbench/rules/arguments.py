"""The arguments of calls: one JSON value of the declared shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench import protocols, regex
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Message, NodeRef, ToolCallIR, ToolDef
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange, asked_of, fact
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.wording import as_unproved, enforced_exactly, has_stray_deltas, quote, weaker
from workbench.rules.token_counts import is_limit_used_up
from workbench.toolcalls import input_type
from workbench.wire import dumps, type_name

if TYPE_CHECKING:
    from workbench.toolcalls.arguments import Ladder, SchemaFault

ERROR = Severity.ERROR

INVALID_JSON = Rule(
    "args.invalid-json", ERROR, "The argument text is not exactly one JSON value.", breaks=Breaks.CONVERSATION
)
DOUBLE = Rule(
    "args.double-encoded",
    ERROR,
    "One argument, or the whole argument value, is JSON inside a JSON string.",
    breaks=Breaks.CONVERSATION,
)
EMPTY = Rule("args.empty", ERROR, "The argument text is empty.", breaks=Breaks.CONVERSATION)
TRUNCATED = Rule("args.truncated", ERROR, "The output limit truncated the argument text.", breaks=Breaks.CONVERSATION)
SCHEMA = Rule(
    "args.schema",
    ERROR,
    (
        "The arguments do not match the declared schema: a required one is missing, a type is wrong, a value "
        "is not in the enum."
    ),
    breaks=Breaks.CONVERSATION,
)
NOT_OBJECT = Rule(
    "args.not-object",
    ERROR,
    "The arguments have the wrong type for this protocol (object or string).",
    breaks=Breaks.CONVERSATION,
)

RULES = (INVALID_JSON, DOUBLE, EMPTY, TRUNCATED, SCHEMA, NOT_OBJECT)


@of_messages
def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the calls of the response, and on replayed calls if the provider checks them."""
    strict = any(case.contract.checks_of(rule.slug) for rule in (EMPTY, NOT_OBJECT))
    for n, message in case.suspects(_is_replayed_wrong, case.decoded.protocol, strict):
        for k, call in message.tool_calls():
            yield from _check_replayed(case, NodeRef(REQUEST, n, k), call)
    broken = 0
    reported_tools: set[str | None] = set()  # tools whose schema cannot be applied
    for n, message in enumerate(case.decoded.messages(RESPONSE)):
        for k, call in message.tool_calls():
            broken += call.error is not None
            for finding in _check_new(case, NodeRef(RESPONSE, n, k), call, may_repair=broken <= MOST_REPAIRED):
                if finding.severity is not Severity.INFO:
                    yield finding
                elif call.name not in reported_tools:
                    reported_tools.add(call.name)
                    yield finding


MOST_REPAIRED = 5
"""Limit of broken calls in one response whose syntax is repaired: each repair starts a process."""


REPLAYED, REPLAYED_NULL = "replayed", "replayed-null"
"""Checks of providers that parse the argument text of the history; many of them accept null instead of an object."""


@asked_of(ToolCallIR)
def _is_replayed_wrong(message: Message, protocol: str | None, strict: bool) -> bool:
    """Some call is in the wrong container, does not parse, or is what only some providers look for."""
    for _, call in message.tool_calls():
        if call.error is not None or _is_wrong_container(protocol, call) or (strict and _is_text_of_no_object(call)):
            return True
    return False


def _is_text_of_no_object(call: ToolCallIR) -> bool:
    return call.raw is not None and call.format not in FREE_TEXT and not isinstance(call.input, dict)


def _check_replayed(case: RuleContext, ref: NodeRef, call: ToolCallIR) -> Iterator[Finding]:
    """Providers take replayed arguments as they are, but for their container and, some of them, their syntax."""
    values = {"name": call.name or "", "text": call.raw or "", **_where(call.error or "")}
    values["kind"] = _TYPES.get(type(call.input), "Object")
    if _is_wrong_container(case.decoded.protocol, call):
        finding = _container(case, NOT_OBJECT, ref, call)
        yield as_unproved(finding) if finding.check and finding.check.when in (REPLAYED, REPLAYED_NULL) else finding
    elif call.error is not None and (call.raw or "").strip():
        text = f"the arguments of a tool call in the history do not parse: {call.error}"
        finding = case.at(weaker(INVALID_JSON), ref, text, name="input", when=REPLAYED, values=values)
        yield finding if enforced_exactly(case, INVALID_JSON, REPLAYED, "") else as_unproved(finding)
    elif _is_text_of_no_object(call):
        is_empty = not (call.raw or "").strip()
        rule, what = (EMPTY, "empty") if is_empty else (NOT_OBJECT, f"{input_type(call.input)}, not an object")
        when = REPLAYED if is_empty or call.input is not None else REPLAYED_NULL
        if enforced_exactly(case, rule, when):
            text = f"the arguments of a tool call in the history are {what}"
            yield case.at(rule, ref, text, name="input", when=when, values=values)


_BYTE = regex.compile(r"byte (\d+), line (\d+): (?:not JSON: )?(.*)", re.DOTALL)


def _where(error: str) -> dict[str, str]:
    """Place where a text is no longer JSON, as parsers give it; for one line, with the column."""
    found = _BYTE.match(error)
    if found is None:
        return {"line": "1", "column": "1", "reason": error, "rest": error}
    position = {"line": found[2], "column": str(int(found[1]) + 1), "char": found[1]}
    return {**position, "reason": found[3], "rest": found[3]}


_TYPES = {str: "String", list: "Array", int: "Integer", float: "Float", bool: "Boolean", type(None): "None"}
"""Types of values as chat templates call them."""


FREE_TEXT = ("openai-custom", "openai-item")
"""Formats of calls whose input is not JSON text: free text, or the item of a built-in tool."""


def _is_wrong_container(protocol: str | None, call: ToolCallIR) -> bool:
    if call.raw is not None or call.format in FREE_TEXT or protocol is None:
        return False
    wants_object = protocols.get(protocol).capabilities.tools.arguments == "object"
    return wants_object != isinstance(call.input, dict) and (wants_object or call.input is not None)


def _container(case: RuleContext, rule: Rule, ref: NodeRef, call: ToolCallIR) -> Finding:
    expected = "an object" if not isinstance(call.input, dict) else "JSON text"
    return case.at(
        rule, ref, f"the arguments are {input_type(call.input)}, but this protocol expects {expected}", name="input",
        evidence=quote(call.input), values={"found": type_name(call.input)},
    )  # fmt: skip


def _check_new(case: RuleContext, ref: NodeRef, call: ToolCallIR, *, may_repair: bool) -> Iterator[Finding]:
    """A call that the model has just made."""
    tool = case.tools.get(call.name or "")
    if call.format in FREE_TEXT:
        return
    if _is_wrong_container(case.decoded.protocol, call):
        yield _container(case, weaker(NOT_OBJECT), ref, call)
        if not isinstance(call.input, dict):
            return
    if _is_last_of_truncated_stream(case, ref):
        return  # the stream's own finding says it: nobody would run this call
    if not (call.raw or "").strip() and not isinstance(call.input, dict):
        yield from _no_arguments(case, ref, tool)
    else:
        yield from _read_as_far_as_possible(case, ref, call, tool, may_repair=may_repair)


def _read_as_far_as_possible(
    case: RuleContext, ref: NodeRef, call: ToolCallIR, tool: ToolDef | None, *, may_repair: bool
) -> Iterator[Finding]:
    from workbench.toolcalls.arguments import (  # few files have calls of an answer, and a ladder is long
        Ladder,
        climb,
        is_plain_object,
    )

    schema = tool.schema if tool else None
    if call.error is None and is_plain_object(call.raw, call.input, schema):
        return
    ladder = climb(call.raw, call.input, schema) if call.error is None or may_repair else Ladder(error=call.error)
    yield from _read(case, ref, call, ladder)


def _is_last_of_truncated_stream(case: RuleContext, ref: NodeRef) -> bool:
    answer = case.response
    if answer is None or answer.is_complete:
        return False
    return not _is_followed(case, ref)


def _is_followed(case: RuleContext, ref: NodeRef) -> bool:
    """Another call comes behind this one in its message."""
    return ref.part < fact(case.decoded, _last_calls, ref.side)[ref.message]


def _last_calls(decoded: DecodedExchange, side: str) -> tuple[int, ...]:
    """Number of the part that is the last call of each message, -1 if a message has none."""
    return tuple([max([n for n, _ in message.tool_calls()], default=-1) for message in decoded.messages(side)])


def _no_arguments(case: RuleContext, ref: NodeRef, tool: ToolDef | None) -> Iterator[Finding]:
    if has_stray_deltas(case):
        return
    schema = tool.schema if tool else None
    required = schema.get("required") if isinstance(schema, dict) else None
    if _at_limit(case, ref):
        yield case.at(
            TRUNCATED, ref, "the output limit was reached before the arguments of this call were written", name="input"
        )
    elif required and isinstance(required, list):
        names = ", ".join(quote(name) for name in required)
        yield case.at(EMPTY, ref, f"the arguments are empty, but {names} is required", name="input")
    else:
        message = "the arguments are empty: a call without arguments is written {}"
        yield case.at(weaker(EMPTY), ref, message, name="input")


def _read(case: RuleContext, ref: NodeRef, call: ToolCallIR, ladder: Ladder) -> Iterator[Finding]:
    from workbench.toolcalls.arguments import ArgumentStep, Code

    if ladder.error:
        yield _unreadable(case, ref, call, ladder)
    elif ArgumentStep.UNWRAPPED in ladder.rungs:
        message = "the arguments are double-encoded: parsing them yields a string, not an object"
        yield case.at(DOUBLE, ref, message, name="input", evidence=quote(call.raw))
    elif not isinstance(ladder.value, dict):
        message = f"the arguments are {input_type(ladder.value)}, not an object"
        yield case.at(NOT_OBJECT, ref, message, name="input", evidence=quote(call.raw))
    elif _at_limit(case, ref) and any(f.keyword == "required" for f in ladder.faults):
        message = "the output limit truncated the arguments: some arguments are missing"
        yield case.at(TRUNCATED, ref, message, name="input", evidence="; ".join(f.message for f in ladder.faults))
    else:
        for fault in ladder.faults:
            yield _schema_fault(case, ref, fault)
    if ladder.problem and not ladder.error:
        is_own = ladder.refusal is not None and ladder.refusal.code is Code.TIMEOUT  # no fault of the schema
        why = "the arguments were not checked" if is_own else "the declared schema is not usable"
        message = f"{why}: {ladder.problem}"
        yield case.at(weaker(SCHEMA, Severity.INFO), ref, message, name="input", evidence=f"tool {quote(call.name)}")


def _unreadable(case: RuleContext, ref: NodeRef, call: ToolCallIR, ladder: Ladder) -> Finding:
    from workbench.toolcalls.arguments import ArgumentStep, is_cut

    seen = quote(call.raw)
    if _at_limit(case, ref) and is_cut(call.raw or ""):
        message = "the output limit truncated the arguments"
        return case.at(TRUNCATED, ref, message, name="input", evidence=seen)
    if ArgumentStep.REPAIRED in ladder.rungs:
        seen += f"; most likely meant: {quote(dumps(ladder.value).decode('utf-8', 'replace'))}"
    cause = next((cause_text for cause_text, form in _CAUSES if form.match(call.raw or "")), ladder.error)
    return case.at(INVALID_JSON, ref, f"the arguments do not parse: {cause}", name="input", evidence=seen)


_CAUSES = tuple(
    (said, regex.compile(form, re.DOTALL))
    for said, form in (
        ("the arguments are wrapped in a Markdown fence", r"\s*```"),
        ("the arguments are wrapped in markup", r"\s*<"),
        ("the arguments are a Python literal", r"\s*[{\[]\s*'"),
    )
)
"""Texts that models write instead of JSON, by their beginning."""


def _at_limit(case: RuleContext, ref: NodeRef) -> bool:
    """The answer ended at the output limit, whatever its reason says, and this call is its last."""
    answer = case.response
    if answer is None or _is_followed(case, ref):
        return False
    return answer.stop == "length" or is_limit_used_up(case, answer)


def _schema_fault(case: RuleContext, ref: NodeRef, fault: SchemaFault) -> Finding:
    from workbench.toolcalls.arguments import COERCIBLE, DOUBLE_ENCODED

    rule = {DOUBLE_ENCODED: DOUBLE, COERCIBLE: weaker(SCHEMA)}.get(fault.kind, SCHEMA)
    pointer = case.pointer(ref, "input") + fault.pointer
    where = f"the argument {quote(fault.pointer[1:])}" if fault.pointer else "the argument object"
    message = f"{where} {fault.message}"
    if fault.kind == DOUBLE_ENCODED:
        message += ": it is JSON inside a JSON string"
    return case.finding(rule, ref.side, pointer, message, evidence=f"schema keyword {fault.keyword}")
