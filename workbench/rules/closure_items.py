"""Ids that no client's result names: those of items, and of the calls that the provider runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench import regex
from workbench.contracts import Breaks, Finding
from workbench.ir import Message, NodeRef, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, asked_of
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.nodes import item_id, item_kind
from workbench.rules._shared.wording import as_unproved, enforced_exactly, quote, weaker
from workbench.rules.closure import DUPLICATE_ID, MISSING, ORPHAN
from workbench.rules.closure_ids import ID_FORMAT

RULES = ()

REFERRING = ("item_reference", "local_shell_call_output")
"""Items whose id is that of another item (of the second: ``ResponseInputItem.LocalShellCallOutput`` of the SDK)."""

_PLAIN = regex.compile(r"[A-Za-z0-9_-]+")


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on ids of a form, or used twice, where the provider is known to refuse exactly that."""
    if case.request is None:
        return
    if case.request.itemized:
        yield from _items(case)
        yield from _repeat_items(case)
    pattern = case.contract.term("closure.server-id-pattern")
    if pattern and enforced_exactly(case, ID_FORMAT, "server-pattern"):
        yield from _server_calls(case, str(pattern))
    if enforced_exactly(case, ORPHAN, "server"):
        yield from _server_results(case)
    if enforced_exactly(case, MISSING, "server"):
        yield from _open_server_calls(case)


def _items(case: RuleContext) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for n, message in case.suspects(_has_id):
        name, kind = item_id(message), item_kind(message)
        prefix = _prefix(case, kind)
        values = {"id": name, "prefix": prefix}
        if name and name in seen and kind not in REFERRING and enforced_exactly(case, DUPLICATE_ID, "item"):
            text = f"the item id {quote(name, 60)} is already used by item {seen[name] + 1}"
            yield _on_id(case, DUPLICATE_ID, message, text, "item", values)
        seen.setdefault(name, n)
        if not _PLAIN.fullmatch(name) and enforced_exactly(case, ID_FORMAT, "item-pattern"):
            text = f"the id {quote(name, 60)} of this item contains characters other than letters, digits, _ and -"
            yield _on_id(case, ID_FORMAT, message, text, "item-pattern", values)
        elif prefix and not name.startswith(prefix) and enforced_exactly(case, ID_FORMAT, "item-prefix"):
            text = f"the id of this {kind} is {quote(name, 60)}: it must begin with {quote(prefix)}"
            yield _on_id(case, ID_FORMAT, message, text, "item-prefix", values)


def _repeat_items(case: RuleContext) -> Iterator[Finding]:
    """Items of the response that the request continues: those that no contract tells the server to refuse.

    Balancers that keep a history of their own send them again, or a call alone, without the id of its item
    (codex-lb pull request 651, CLIProxyAPI issue 3569).
    """
    request = case.request
    answer = case.earlier.answer(request.previous_id) if request and request.previous_id else ()
    ids = {name for message in answer if (name := item_id(message))}
    calls = {call.id for message in answer for _, call in message.tool_calls() if call.id}
    if not (ids or calls):
        return
    is_told = enforced_exactly(case, DUPLICATE_ID, "item") is not None  # of the ids of items
    for _, message in case.suspects(_is_item):
        name = item_id(message)
        again = [call.id for _, call in message.tool_calls() if call.id in calls]
        if item_kind(message) in REFERRING or (name and is_told) or not (again or name in ids):
            continue
        what, key = (
            (f"tool call {quote(again[0] or '', 60)}", "call_id") if again else (f"item {quote(name, 60)}", "id")
        )
        text = f"the {what} is sent again, although the request continues the response that contains it: a server that"
        text += " kept the response has it twice"
        yield as_unproved(case.finding(weaker(DUPLICATE_ID), REQUEST, f"{message.pointer}/{key}", text))


@asked_of(ToolCallIR)
def _has_call(message: Message) -> bool:
    return bool(message.tool_calls())


def _is_item(message: Message) -> bool:
    return _has_id(message) or _has_call(message)


def _on_id(case: RuleContext, rule: Rule, message: Message, text: str, when: str, values: dict[str, str]) -> Finding:
    """A finding that only a provider has which refuses it: no result names an item."""
    found = case.finding(rule, REQUEST, f"{message.pointer}/id", text, when=when, values=values)
    return replace(found, breaks=Breaks.REQUEST)


def _prefix(case: RuleContext, kind: str) -> str:
    prefixes = case.contract.term("closure.item-prefixes")
    return str(prefixes.get(kind, "")) if isinstance(prefixes, dict) else ""


def _has_id(message: Message) -> bool:
    return bool(item_id(message))


def _server_calls(case: RuleContext, pattern: str) -> Iterator[Finding]:
    for n, message in case.suspects(_has_server_call):
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCallIR) and part.is_server and part.id and not re.fullmatch(pattern, part.id):
                text = f"the id {quote(part.id, 60)} of a server-side tool call does not match {pattern}"
                yield case.at(ID_FORMAT, NodeRef(REQUEST, n, k), text, name="id", when="server-pattern")


@asked_of(ToolCallIR)
def _has_server_call(message: Message) -> bool:
    return any([isinstance(p, ToolCallIR) and p.is_server for p in message.parts])


def _server_results(case: RuleContext) -> Iterator[Finding]:
    """Results of calls that the provider ran, without the call before them."""
    call_ids: set[str | None] = set()
    for n, message in case.suspects(_has_server_part):
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCallIR) and part.is_server:
                call_ids.add(part.id)
            elif isinstance(part, ToolResultIR) and part.is_server and part.tool_call_id not in call_ids:
                kind = str(part.extra.get("type", "result"))
                text = f"a {kind} for {quote(part.tool_call_id, 60)}, but no earlier server-side tool call has this id"
                found = case.at(ORPHAN, NodeRef(REQUEST, n, k), text, when="server", values={"block": kind})
                yield replace(found, breaks=Breaks.REQUEST)


def _open_server_calls(case: RuleContext) -> Iterator[Finding]:
    """Calls that the provider ran, without their result in the same turn, and with text of the user behind it.

    A turn that paused is sent back with its open call as the last one, and code that the provider runs waits for the
    results of the client's tools that it calls.
    """
    messages = case.messages
    for n, message in case.suspects(_has_server_call):
        following = messages[n + 1 :]
        is_waiting = any(isinstance(p, ToolResultIR) for m in following[:1] for p in m.parts) or not following
        answered = {
            p.tool_call_id for m in messages[n:] for p in m.parts if isinstance(p, ToolResultIR) and p.is_server
        }
        for k, part in enumerate(message.parts):
            if isinstance(part, ToolCallIR) and part.is_server and part.id not in answered and not is_waiting:
                call = f"{quote(part.id or '', 60)} of {quote(part.name, 60)}"
                text = f"the server-side call {call} has no result in its turn"
                values = {"name": part.name or "", "id": part.id or ""}
                found = case.at(MISSING, NodeRef(REQUEST, n, k), text, when="server", values=values)
                yield replace(found, breaks=Breaks.REQUEST)


@asked_of(ToolCallIR, ToolResultIR)
def _has_server_part(message: Message) -> bool:
    return any([isinstance(p, ToolCallIR | ToolResultIR) and p.is_server for p in message.parts])
