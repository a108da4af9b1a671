"""``tool_choice`` and the response to it: whether the model was held to the choice."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.ir import Message, ToolCallIR, ToolChoice
from workbench.protocols import RESPONSE
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote
from workbench.rules.choice import is_forced, mode_of, named_tools

IGNORED = Rule(
    "call.choice-ignored",
    Severity.WARNING,
    "The response does not follow the tool_choice of the request.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)

RULES = (IGNORED,)


def check(case: RuleContext) -> Iterator[Finding]:
    """Each choice of a complete response that breaks the choice of tools in its request."""
    request, answer = case.request, case.response
    if request is None or answer is None or request.tool_choice is None or case.decoded.exchange.is_transcript:
        return
    if answer.error or not answer.is_complete or answer.stop not in ("stop", "tool_calls") or not case.tools:
        return
    for messages in answer.choices:
        fault = _fault(request.tool_choice, _calls(messages))
        if fault:
            yield case.finding(IGNORED, RESPONSE, messages[0].pointer, fault)


def _calls(messages: tuple[Message, ...]) -> list[ToolCallIR]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolCallIR)]


def _fault(choice: ToolChoice, calls: list[ToolCallIR]) -> str:
    """What is wrong with the calls of one answer; empty if they follow the choice. Server tools count as calls."""
    kind, names = mode_of(choice.value) or choice.mode, tuple(dict.fromkeys(named_tools(choice)))
    if is_forced(choice) and not calls:
        which = f" of {', '.join(map(quote, names))}" if names else ""
        return f"tool_choice {quote(kind)} forces a call{which}, but the response has no call"
    mine = [call for call in calls if not call.is_server]
    if choice.mode == "none" and mine:
        return f"tool_choice 'none' forbids calls, but the response calls {quote(mine[0].name or '')}"
    if is_forced(choice) and names and mine and not any(call.name in names for call in mine):
        return f"tool_choice names {', '.join(map(quote, names))}, but the response calls {quote(mine[0].name or '')}"
    return ""
