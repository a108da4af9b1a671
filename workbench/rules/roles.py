"""Order of roles that chat templates require, and the places where a system message may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import JsonValue, Message, ToolCallIR, ToolResultIR
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import by_term, of_role, quote

WARNING = Severity.WARNING

ROLE_ORDER = Rule(
    "content.role-order", WARNING, "Roles do not alternate as the template requires.", breaks=Breaks.REQUEST
)
SYSTEM_POSITION = Rule(
    "content.system-position", WARNING, "A system message is not at the start.", breaks=Breaks.REQUEST
)

RULES = (ROLE_ORDER, SYSTEM_POSITION)

INSTRUCTING = ("system", "developer")
"""Roles that take no turn."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the roles of the request, where the contract says in which order they come."""
    order = case.contract.term("content.role-order")
    if order == "alternate":
        yield from _turns(case)
    elif isinstance(order, Mapping):
        yield from _followers(case, order)
    elif order in ("calls-after-user", "calls-not-first"):
        yield from _calls(case, may_follow_model=order == "calls-not-first")
    if case.contract.term("content.user-required"):
        yield from _no_user(case)
    place = case.contract.term("content.system-position")
    if place in ("first", "before-assistant-or-last", "top-level"):
        yield from _system(case, place)


def _turns(case: RuleContext) -> Iterator[Finding]:
    """User and assistant by turns, the user first. Calls and their results take no turn."""
    answering = case.contract.closure.call_role
    expected, before = "user", ""
    for number, message in enumerate(case.messages):
        role = "assistant" if message.role == answering else message.role
        if role in ("user", "assistant") and not any(map(_is_exchange, message.parts)):
            if role != expected:
                text = f"a message {of_role(message.role)} " + (
                    f"after one {of_role(before)}" if before else "at the beginning"
                )
                text += ": user and assistant must alternate"
                values = {"role": message.role, "found": message.role, "before": before or message.role}
                values["previous"] = str(number - 1)
                yield by_term(case, ROLE_ORDER, "content.role-order", message.pointer, text, values=values)
            expected = "assistant" if role == "user" else "user"
        before = message.role


def _followers(case: RuleContext, order: Mapping[str, JsonValue]) -> Iterator[Finding]:
    """Each role right behind one that it may follow. Roles that the contract does not list are not judged."""
    for number, (one, other) in enumerate(pairwise(case.messages)):
        allowed = order.get(one.role)
        if isinstance(allowed, list) and other.role not in allowed:
            text = f"a message of role {quote(other.role)} must not follow one of role {quote(one.role)}"
            values = {"role": other.role, "found": other.role, "before": one.role, "previous": str(number)}
            yield by_term(case, ROLE_ORDER, "content.role-order", other.pointer, text, values=values)


def _no_user(case: RuleContext) -> Iterator[Finding]:
    """A conversation in which no user speaks."""
    messages = case.messages
    if messages and not any(message.role == "user" for message in messages):
        text = "the request has no message of role 'user'"
        yield by_term(case, ROLE_ORDER, "content.user-required", messages[0].pointer, text, when="no-user")


def _calls(case: RuleContext, *, may_follow_model: bool) -> Iterator[Finding]:
    """Calls follow a turn of the user or results: not the beginning and, unless they may, no other turn of the model.

    Turns of the model at the beginning count as one: the last of them is at the beginning, too.
    """
    answering, before = case.contract.closure.call_role, ""
    is_beginning = True
    for message in case.messages:
        is_beginning = is_beginning and message.role in (answering, *INSTRUCTING)
        is_refused = is_beginning or (before == answering and not may_follow_model)
        if message.role == answering and is_refused and any(message.tool_calls()):
            place = "in the first turn of the history" if is_beginning else "directly after another model turn"
            text = f"tool calls {place}: they must follow a user message or tool results"
            values = {"role": message.role, "found": message.role, "before": before or message.role}
            where, when = message.pointer, "call-after-model"
            yield by_term(case, ROLE_ORDER, "content.role-order", where, text, when=when, values=values)
        before = before if message.role in INSTRUCTING else message.role


def _is_exchange(part: object) -> bool:
    return isinstance(part, ToolCallIR | ToolResultIR)


def _system(case: RuleContext, place: str) -> Iterator[Finding]:
    messages = case.messages
    when = "no-system-role" if place == "top-level" else "position"
    for n, _ in case.suspects(_is_system):
        what = _why_misplaced(case, place, n, messages)
        if what:
            values = {"role": messages[n].role, "found": messages[n].role}
            pointer = messages[n].pointer
            yield by_term(case, SYSTEM_POSITION, "content.system-position", pointer, what, when=when, values=values)


def _why_misplaced(case: RuleContext, place: str, number: int, messages: tuple[Message, ...]) -> str:
    """Why a system message may not be where it is, "" where it may."""
    if place == "top-level":
        return "a system message is among the messages; in this protocol, system text belongs in a top-level field"
    if place == "first":
        return "a system message is not the first message of the request" if number else ""
    if number + 1 == len(messages):
        return ""
    follower = messages[number + 1].role
    if follower in ("system", case.contract.closure.call_role):
        return ""
    return f"a message of role {quote(follower)} follows a system message: only an assistant message may follow it"


def _is_system(message: Message) -> bool:
    return message.role == "system"
