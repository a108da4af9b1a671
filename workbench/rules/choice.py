"""``tool_choice``: the tool that the model has to call, and whether this provider accepts the choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import JsonValue, ModelRequest, ToolChoice
from workbench.protocols import REQUEST
from workbench.rules._shared.body_values import values_at
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.reasoning import is_off
from workbench.rules._shared.wording import as_unproved, by_term, enforced_exactly, from_anomalies, quote

WARNING = Severity.WARNING

UNSUPPORTED = Rule(
    "choice.unsupported", WARNING, "The provider does not accept this tool_choice value.", breaks=Breaks.REQUEST
)
CONFLICT = Rule(
    "choice.thinking-conflict", WARNING, "A tool call is forced while thinking is on.", breaks=Breaks.REQUEST
)
WITHOUT_TOOLS = Rule(
    "choice.without-tools", WARNING, "The request has tool_choice but no tools.", breaks=Breaks.REQUEST
)

RULES = (UNSUPPORTED, CONFLICT, WITHOUT_TOOLS)

_PLACES = (
    *("/tool_choice", "/function_call", "/toolConfig/functionCallingConfig", "/toolConfig/toolChoice"),
    "/generation_config/tool_choice",
)
_PARALLEL = "/parallel_tool_calls"
_FORCING = ("any", "required", "tool", "function", "custom")
_KINDS = ("auto", "none", *_FORCING, "allowed_tools", "validated")
"""The words of ``choice.values``. What else a choice may name (hosted tools) is not judged by that term."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the choice of tools in the request."""
    request = case.request
    if request is None or case.decoded.exchange.is_transcript:
        return
    choice = request.tool_choice
    if choice is not None:
        at = next((pointer for place in _PLACES for pointer, _ in values_at(case.decoded, place)), "")
        yield from _value(case, choice, at)
        yield from _check_named(case, choice, at)
        yield from _thinking(case, choice, at)
    yield from _without_tools(case, request)


def _value(case: RuleContext, choice: ToolChoice, at: str) -> Iterator[Finding]:
    """A kind that the contract does not list, or no value of this protocol at all."""
    kind, known = mode_of(choice.value), case.contract.term("choice.values")
    found = {"found": kind or str(choice.value), "name": choice.name or ""}
    if known and kind in _KINDS and kind not in known:
        text = f"tool_choice {quote(kind)} is not supported by {case.contract.title}; use {', '.join(known) or 'none'}"
        yield by_term(case, UNSUPPORTED, "choice.values", at, text, when="value", values=found)
    elif known and (kind not in _KINDS) and any(from_anomalies(case, UNSUPPORTED)):
        text = f"tool_choice {quote(choice.value)} is not a value of this protocol"
        yield by_term(case, UNSUPPORTED, "choice.values", at, text, when="value", values=found)
    else:
        yield from from_anomalies(case, UNSUPPORTED, "value")
    if kind in ("tool", "function") and not any(named_tools(choice)) and enforced_exactly(case, UNSUPPORTED, "unnamed"):
        text = f"tool_choice {quote(kind)} names no tool"
        yield case.finding(UNSUPPORTED, REQUEST, at, text, when="unnamed", values=found)
    if enforced_exactly(case, UNSUPPORTED, "model") and is_forced(choice):
        text = f"tool_choice {quote(kind)} forces a tool call, which this model does not support"
        yield case.finding(UNSUPPORTED, REQUEST, at, text, when="model", values=found)


def mode_of(value: JsonValue) -> str:
    """The word of a choice in wire form; "" where it has none."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return ""
    for key in ("type", "mode"):
        if isinstance(value.get(key), str):
            return str(value[key]).lower()
    if isinstance(value.get("name"), str):
        return "function"  # the deprecated function_call
    return next((key for key in ("auto", "any", "tool") if key in value), "")


def is_forced(choice: ToolChoice) -> bool:
    """The model has to call something."""
    if choice.mode == "other" and isinstance(choice.value, Mapping):
        inner = choice.value.get("allowed_tools", choice.value)
        mode = inner.get("mode") if isinstance(inner, Mapping) else None
        return isinstance(mode, str) and mode.lower() in ("required", "any")
    return choice.mode in ("any", "tool")


def _check_named(case: RuleContext, choice: ToolChoice, at: str) -> Iterator[Finding]:
    """Tools that are chosen and not declared."""
    request = case.request
    if not case.tools or request is None or any(tool.name is None or "type" in tool.extra for tool in request.tools):
        return  # tools of the provider bring names of their own
    for name in dict.fromkeys(named_tools(choice)):
        if name not in case.tools:
            text = f"tool_choice names {quote(name)}, which is not among the tools"
            found = {"name": name, "found": mode_of(choice.value) if choice.name else name}
            finding = case.finding(UNSUPPORTED, REQUEST, at, text, when="unknown-tool", values=found)
            yield finding if enforced_exactly(case, UNSUPPORTED, "unknown-tool") else as_unproved(finding)


def named_tools(choice: ToolChoice) -> Iterator[str]:
    """Names of the tools that a choice names: the one to call, or those that are allowed."""
    if choice.name:
        yield choice.name
    if not isinstance(choice.value, Mapping):
        return
    allowed = choice.value.get("allowed_tools", choice.value)
    listed = allowed.get("tools") if isinstance(allowed, Mapping) else None
    for tool in listed if isinstance(listed, list) else ():
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            yield inner["name"]
    names = choice.value.get("allowedFunctionNames", choice.value.get("allowed_function_names"))
    yield from (name for name in (names if isinstance(names, list) else ()) if isinstance(name, str))


def _thinking(case: RuleContext, choice: ToolChoice, at: str) -> Iterator[Finding]:
    term, thinking = case.contract.term("choice.forced-with-thinking"), case.request.thinking if case.request else None
    is_on = thinking == "on" if term == "refused-when-manual" else not is_off(case)
    is_meant = choice.mode == "tool" if term == "refused-when-named" else is_forced(choice)
    if not str(term).startswith("refused") or not is_on or not is_meant:
        return
    by_default = "" if thinking else ", the default of this model"
    kind, when = mode_of(choice.value), "named" if choice.mode == "tool" else "required"
    text = f"tool_choice {quote(kind)} forces a tool call while thinking is on{by_default}"
    found = {"found": kind, "name": choice.name or ""}
    finding = case.finding(CONFLICT, REQUEST, at, text, when=when, values=found)
    yield finding if finding.check else by_term(case, CONFLICT, "choice.forced-with-thinking", at, text)


def _without_tools(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    """A choice among nothing. What a server remembers may hold the tools."""
    if request.tools or request.previous_id:
        return
    whens = [("parallel", _PARALLEL)] if enforced_exactly(case, WITHOUT_TOOLS, "parallel") else []
    needs = case.contract.term("choice.needs-tools")
    if needs or enforced_exactly(case, WITHOUT_TOOLS, ""):
        whens = [*(("", place) for place in _PLACES), *whens]
    for when, place in whens:
        for pointer, value in values_at(case.decoded, place):
            if needs == "unless-none" and value in (None, "none"):
                continue
            text = f"{place[1:].rpartition('/')[2]} without tools"
            found = {"found": mode_of(value) or str(value)}
            yield by_term(case, WITHOUT_TOOLS, "choice.needs-tools", pointer, text, when=when, values=found)
