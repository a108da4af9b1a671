"""The model calls tools that were declared."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Message, ModelRequest, NodeRef, Opaque, ToolCallIR
from workbench.protocols import RESPONSE, asked_of, where
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import has_stray_deltas, quote, weaker

UNKNOWN_TOOL = Rule(
    "call.unknown-tool", Severity.ERROR, "The called name is not among the declared tools.", breaks=Breaks.CONVERSATION
)

RULES = (UNKNOWN_TOOL,)

_TOOLSETS = ("computerUse", "computer_use")
"""Tools of a provider that bring functions of their own, which the client runs: ``click_at``, ``open_web_browser`` …

https://ai.google.dev/gemini-api/docs/computer-use
"""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the names of the calls that the model has just made."""
    if case.request is None or case.decoded.exchange.is_transcript:
        return
    for n, message in enumerate(case.decoded.messages(RESPONSE)):
        for k, call in message.tool_calls():
            is_known = call.name in case.tools or (not call.name and has_stray_deltas(case))
            if not is_known and not _may_come_from_elsewhere(case.request, call):
                yield _unknown(case, NodeRef(RESPONSE, n, k), call)
            elif _is_of_other_kind(case, call):
                yield _other_kind(case, NodeRef(RESPONSE, n, k), call)


def _unknown(case: RuleContext, ref: NodeRef, call: ToolCallIR) -> Finding:
    if not call.name:
        return case.at(UNKNOWN_TOOL, ref, "a call without a tool name", name="name")
    rule = (
        UNKNOWN_TOOL if case.tools else weaker(UNKNOWN_TOOL)
    )  # no model calls out of nowhere: the tools were left out
    message = f"no tool named {quote(call.name)} is declared"
    return case.at(rule, ref, message, name="name", evidence=_declared_words(call.name, sorted(case.tools)))


def _is_of_other_kind(case: RuleContext, call: ToolCallIR) -> bool:
    """A tool for free text is called as a function, or the reverse: clients look for it among the others."""
    declared = case.tools.get(call.name or "")
    return declared is not None and (declared.kind == "custom") is not call.format.endswith("custom")


def _other_kind(case: RuleContext, ref: NodeRef, call: ToolCallIR) -> Finding:
    forms = ("a custom tool (free text)", "a function")
    one, other = forms if call.format.endswith("custom") else forms[::-1]
    message = f"{quote(call.name or '')} is called as {one}, but it is declared as {other}"
    return case.at(UNKNOWN_TOOL, ref, message, name="name")


def _declared_words(name: str, known: list[str]) -> str:
    if not known:
        return "no tool is declared"
    from difflib import get_close_matches

    near = get_close_matches(name[:200], known, n=1)
    names = ", ".join(quote(k, 60) for k in known[:8]) + (" …" if len(known) > 8 else "")
    return f"declared: {names}" + (f"; nearest: {quote(near[0], 60)}" if near else "")


def _may_come_from_elsewhere(request: ModelRequest, call: ToolCallIR) -> bool:
    """Tools that a declaration holds without their names, or that arrive in the middle of the conversation."""
    if "toolset_name" in call.extra or request.previous_id:
        return True
    if any(tool.kind == "server" and tool.name in _TOOLSETS for tool in request.tools):
        return True
    if any((call.name or "").startswith(f"{server}_") for server in _named_servers(request)):
        return True
    return any(True for _ in where(request.messages, _adds_tools))


@asked_of(Opaque)
def _adds_tools(message: Message) -> bool:
    return any(isinstance(part, Opaque) and part.type == "tool_addition" for part in message.parts)


def _named_servers(request: ModelRequest) -> Iterator[str]:
    """MCP servers whose tools the provider lists and runs itself, each under the name of its server.

    Recorded, googleapis/js-genai, 2026-02-16: ``weather_server_get_weather`` of ``mcpServers``.
    """
    for tool in request.tools:
        servers = tool.extra.get(tool.name or "") if tool.name in ("mcpServers", "mcp_servers") else None
        for server in servers if isinstance(servers, list) else ():
            if isinstance(server, dict) and isinstance(server.get("name"), str) and server["name"]:
                yield server["name"]
