"""Ids of calls and results: there, and of a form that the provider takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.chain.closure import NodeRef
from workbench.decode import REQUEST, RESPONSE
from workbench.ir import ToolCallIR, ToolResultIR
from workbench.rules._case import Case, Rule
from workbench.rules._finding import Finding, Severity
from workbench.rules._words import LEGACY_ROLE, quote, weaker

ID_FORMAT = Rule(
    "closure.id-format", Severity.ERROR, "An id is empty, missing, too long or uses a form the provider refuses."
)

RULES = (ID_FORMAT,)


def check(case: Case) -> Iterator[Finding]:
    """Ids that are absent, empty, too long or of another form than the provider takes."""
    for side in (REQUEST, RESPONSE):
        for n, message in enumerate(case.decoded.messages(side)):
            for k, part in enumerate(message.parts):
                if isinstance(part, ToolCallIR) and not part.is_server:
                    yield from _id_form(case, NodeRef(side, n, k), "id", part.id)
                elif isinstance(part, ToolResultIR) and not part.is_server:
                    yield from _id_form(case, NodeRef(side, n, k), "tool_call_id", part.tool_call_id)


def _has_no_ids(case: Case, ref: NodeRef) -> bool:
    """The deprecated single call of a message: call and result are paired by their names."""
    part = case.part(ref)
    return case.message(ref).role == LEGACY_ROLE or (
        isinstance(part, ToolCallIR) and part.format == "openai-function-call"
    )


def _id_form(case: Case, ref: NodeRef, name: str, value: str | None) -> Iterator[Finding]:
    terms = case.contract.closure
    what, which = ("the call", "") if name == "id" else ("the result", "result-")
    if not value and _has_no_ids(case, ref):
        return
    if not value:
        rule = ID_FORMAT if ref.side == REQUEST else weaker(ID_FORMAT)
        message = f"{what} has {'no' if value is None else 'an empty'} {name}"
        yield case.at(rule, ref, message, name=name, when="missing")
    elif ref.side == RESPONSE:  # whoever issued it takes it back
        return
    elif terms.id_max_length is not None and len(value) > terms.id_max_length:
        message = f"the id of {what} has {len(value)} characters, at most {terms.id_max_length} are taken"
        yield case.at(ID_FORMAT, ref, message, name=name, evidence=quote(value), when=f"{which}too-long")
    elif terms.id_pattern and not re.fullmatch(terms.id_pattern, value):
        message = f"the id of {what} does not match {terms.id_pattern}"
        yield case.at(ID_FORMAT, ref, message, name=name, evidence=quote(value), when=f"{which}pattern")
