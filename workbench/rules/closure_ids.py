"""Ids of calls and results: there, and of a form that the provider takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from workbench import protocols
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Message, NodeRef, ToolCallIR, ToolResultIR
from workbench.protocols import REQUEST, RESPONSE, asked_of
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.wording import (
    LEGACY_ROLE,
    as_unproved,
    enforced_exactly,
    is_misread,
    quote,
    weaker,
    with_related,
)
from workbench.rules.closure import MISMATCH

ID_FORMAT = Rule(
    "closure.id-format",
    Severity.ERROR,
    "An id is empty, missing, too long or has a form that the provider refuses.",
    breaks=Breaks.REQUEST,
)

RULES = (ID_FORMAT,)


@of_messages
def check(case: RuleContext) -> Iterator[Finding]:
    """Ids that are absent, empty, too long or of another form than the provider takes."""
    terms = case.contract.closure
    for side, messages in (
        (REQUEST, case.suspects(_is_odd, terms.id_max_length, terms.id_pattern, _needs_ids(case))),
        (RESPONSE, enumerate(case.decoded.messages(RESPONSE))),
    ):
        for n, message in messages:
            for k, name, value in _ids(message):
                yield from _id_form(case, NodeRef(side, n, k), name, value)
    if enforced_exactly(case, ID_FORMAT, "name-missing"):
        yield from _nameless(case)
    yield from _check_names(case)


def _nameless(case: RuleContext) -> Iterator[Finding]:
    """Results without the name of their function, where that pairs them."""
    for n, message in case.suspects(_has_nameless):
        for k, result in message.tool_results():
            if not result.name and not result.is_server:
                text = "the tool result does not name its function"
                yield case.at(ID_FORMAT, NodeRef(REQUEST, n, k), text, when="name-missing")


def _check_names(case: RuleContext) -> Iterator[Finding]:
    """Results that name another function than the call which they answer, where names pair them too."""
    able = protocols.get(case.request.protocol).capabilities if case.request else None
    if able is None or (able.tools.call_ids and not able.tools.ids_optional):
        return
    for line in case.lines:
        for ref in line.results if line.call and line.name and not line.is_server else ():
            result = case.part(ref)
            name = result.name if isinstance(result, ToolResultIR) else None
            if name and name != line.name and ref.side == REQUEST:
                text = f"the tool result names {quote(name)}, but its tool call calls {quote(line.name)}"
                values = {"name": line.name or "", "found": name}
                finding = case.at(weaker(MISMATCH), ref, text, name="name", when="name", values=values)
                finding = finding if enforced_exactly(case, MISMATCH, "name") else as_unproved(finding)
                yield with_related(finding, [case.pointer(line.call, "name")] if line.call else [])


@asked_of(ToolResultIR)
def _has_nameless(message: Message) -> bool:
    return any(not result.name for _, result in message.tool_results())


def _ids(message: Message) -> list[tuple[int, str, str | None]]:
    """(part index, field, id) of every call and every result."""
    found = list[tuple[int, str, str | None]]()
    for k, part in enumerate(message.parts):
        if isinstance(part, ToolCallIR) and not part.is_server:
            found.append((k, "id", part.id))
        elif isinstance(part, ToolResultIR) and not part.is_server:
            found.append((k, "tool_call_id", part.tool_call_id))
    return found


@asked_of(ToolCallIR, ToolResultIR)
def _is_odd(message: Message, length: int | None, pattern: str, needs_ids: bool) -> bool:
    """Some id is absent although the protocol needs it, or not of the form that is wanted."""
    for _, _, value in _ids(message):
        if not value:
            if needs_ids:
                return True
        elif _is_too_long(value, length) or _is_of_other_form(value, pattern):
            return True
    return False


def _is_too_long(value: str, length: int | None) -> bool:
    return length is not None and len(value) > length


@lru_cache(maxsize=1024)
def _is_of_other_form(value: str, pattern: str) -> bool:
    return bool(pattern) and not re.fullmatch(pattern, value)


def _needs_ids(case: RuleContext) -> bool:
    protocol = case.decoded.protocol
    able = protocols.get(protocol).capabilities.tools if protocol and protocol != protocols.TEXT else None
    return able is None or (able.call_ids and not able.ids_optional)


def _has_no_ids(case: RuleContext, ref: NodeRef) -> bool:
    """Call and result are paired by their names: so protocols without ids have it, and the deprecated single call."""
    if not _needs_ids(case):
        return True
    part = case.part(ref)
    return case.message(ref).role == LEGACY_ROLE or (
        isinstance(part, ToolCallIR) and part.format == "openai-function-call"
    )


def _id_form(case: RuleContext, ref: NodeRef, name: str, value: str | None) -> Iterator[Finding]:
    terms = case.contract.closure
    what, which = ("the call", "") if name == "id" else ("the result", "result-")
    if not value and (_has_no_ids(case, ref) or is_misread(case, ref, "id")):
        return
    if not value:
        rule = ID_FORMAT if ref.side == REQUEST else weaker(ID_FORMAT)
        message = f"{what} has {'no' if value is None else 'an empty'} {name}"
        when = next((w for w in (f"{which}missing", "missing") if enforced_exactly(case, ID_FORMAT, w)), "missing")
        yield case.at(rule, ref, message, name=name, when=when)
    elif ref.side == RESPONSE:  # whoever issued it takes it back
        return
    elif _is_too_long(value, terms.id_max_length):
        message = f"the id of {what} has {len(value)} characters, at most {terms.id_max_length} are accepted"
        sizes = {"limit": str(terms.id_max_length), "length": str(len(value))}
        yield case.at(ID_FORMAT, ref, message, name=name, evidence=quote(value), when=f"{which}too-long", values=sizes)
    elif _is_of_other_form(value, terms.id_pattern):
        message = f"the id of {what} does not match {terms.id_pattern}"
        form = {"pattern": terms.id_pattern}
        yield case.at(ID_FORMAT, ref, message, name=name, evidence=quote(value), when=f"{which}pattern", values=form)
