"""Risk of tools: read-only, repeatable writes, or irreversible effects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from workbench import regex
from workbench.errors import UsageError
from workbench.ir import NOTHING, JsonValue, ToolDef
from workbench.lazy_dataclass import dataclass


class Risk(StrEnum):
    """Risk classes, lowest first."""

    READ_ONLY = "read-only"
    IDEMPOTENT = "idempotent-write"
    DESTRUCTIVE = "destructive"


RISKS = tuple(Risk)

_READS = frozenset(
    (
        *("read", "get", "list", "search", "find", "show", "view", "fetch", "query", "look", "lookup", "grep", "glob"),
        *("ls", "cat", "head", "tail", "stat", "describe", "count", "check", "inspect", "status", "diff", "echo"),
    )
)
_WRITES_AGAIN = frozenset(("set", "put", "upsert", "ensure", "mark", "tag", "label", "subscribe", "todo"))
_WORDS = regex.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


@dataclass(frozen=True, slots=True)
class RatedTool:
    """A tool with its annotations.

    Attributes:
        annotations: of MCP: ``readOnlyHint``, ``destructiveHint``, ``idempotentHint``.
        risk: given by the user; None if not given.
    """

    name: str
    annotations: Mapping[str, JsonValue] = NOTHING
    risk: Risk | None = None


@dataclass(frozen=True, slots=True)
class ToolRisk:
    """A tool, its risk, and how that is known."""

    name: str
    risk: Risk
    why: str


def tool_risk(tool: RatedTool) -> ToolRisk:
    """Risk of a tool: given by the user, else by its annotations, else by its name; the highest if unknown."""
    if tool.risk:
        return ToolRisk(tool.name, tool.risk, "given by the user")
    hints = tool.annotations
    if hints.get("readOnlyHint") is True:
        return ToolRisk(tool.name, Risk.READ_ONLY, "readOnlyHint (claimed by the tool itself)")
    if hints.get("destructiveHint") is True:
        return ToolRisk(tool.name, Risk.DESTRUCTIVE, "destructiveHint")
    if hints.get("idempotentHint") is True and hints.get("destructiveHint") is False:
        return ToolRisk(tool.name, Risk.IDEMPOTENT, "idempotentHint (claimed by the tool itself)")
    if hints.get("readOnlyHint") is not False:
        first = next(iter(_WORDS.findall(tool.name.rpartition("__")[2] or tool.name)), "").lower()
        if first in _READS:
            return ToolRisk(tool.name, Risk.READ_ONLY, f"its name begins with {first!r} (no annotations)")
        if first in _WRITES_AGAIN:
            return ToolRisk(tool.name, Risk.IDEMPOTENT, f"its name begins with {first!r} (no annotations)")
    return ToolRisk(tool.name, Risk.DESTRUCTIVE, "nothing indicates that it is harmless")


def of_request(tools: Iterable[ToolDef], given: Mapping[str, str] = NOTHING) -> tuple[ToolRisk, ...]:
    """Risks of the tools that a request declares.

    Args:
        given: name → risk, from the user.
    """
    named = (tool for tool in tools if tool.name)
    return tuple(
        tool_risk(
            RatedTool(t.name or "", annotations_of(t.extra), Risk(given[t.name or ""]) if t.name in given else None)
        )
        for t in named
    )


def annotations_of(held: JsonValue) -> Mapping[str, JsonValue]:
    """The annotations of a declaration; empty if it has none."""
    found = held.get("annotations") if isinstance(held, Mapping) else None
    return found if isinstance(found, Mapping) else NOTHING


def tools_of(value: JsonValue) -> tuple[RatedTool, ...]:
    """Tools from a list written by a user or a server.

    Args:
        value: result or response of MCP's ``tools/list``; a list of tools or names; or ``{name: risk}``.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(value, dict):
        inner = value.get("result", value)
        if isinstance(inner, dict) and isinstance(inner.get("tools"), list):
            return tools_of(inner["tools"])
        if all(isinstance(risk, str) for risk in value.values()):
            return tuple(RatedTool(str(name), risk=risk_of(risk)) for name, risk in value.items())
    if isinstance(value, list):
        return tuple(_tool(each) for each in value)
    raise UsageError("not a list of tools", hint="MCP's tools/list, a list of names, or {name: risk}")


def _tool(value: JsonValue) -> RatedTool:
    if isinstance(value, str):
        return RatedTool(value)
    name = value.get("name") if isinstance(value, dict) else None
    if name is None and isinstance(value, dict) and isinstance(value.get("function"), dict):
        name = value["function"].get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("a tool without a name", hint='[{"name": "read_file", "annotations": {"readOnlyHint": true}}]')
    told = value.get("risk")
    return RatedTool(name, annotations_of(value), risk_of(told) if isinstance(told, str) else None)


def risk_of(text: str) -> Risk:
    """The risk of that name. Raises UsageError."""
    if text not in RISKS:
        raise UsageError(f"no risk named {text!r:.60}", hint=f"known: {', '.join(RISKS)}")
    return Risk(text)


def names(tools: Sequence[ToolRisk], most: Risk) -> frozenset[str]:
    """Names of tools with at most this risk."""
    return frozenset(tool.name for tool in tools if RISKS.index(tool.risk) <= RISKS.index(most))
