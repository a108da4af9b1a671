"""Calls as the client knows them that declared their tools.

A tool with free text that was declared as a function (its target knows no other) is called with one string in an
object; a tool of a namespace is called by its name alone. Their calls become again what the client declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from workbench.convert._parts import INPUT
from workbench.ir import NOTHING, ToolCallIR, ToolDef
from workbench.wire.jsontext import dumps

_SPACE = "namespace"


@dataclass(frozen=True, slots=True)
class Declared:
    """What a client declared.

    Attributes:
        free: names of tools that take free text.
        spaces: name of a tool → the namespace that it is in.
    """

    free: frozenset[str] = frozenset()
    spaces: Mapping[str, str] = field(default=NOTHING)

    def is_free(self, name: str | None) -> bool:
        """Calls of this tool hold free text."""
        return name in self.free

    def given(self, call: ToolCallIR) -> ToolCallIR:
        """A call with the free text that it is for; what is no object with that text alone is the text."""
        if not self.is_free(call.name) or call.format.endswith("custom"):
            return call
        held = call.input
        text = held.get(INPUT) if isinstance(held, dict) and len(held) == 1 else held
        if not isinstance(text, str):
            text = call.raw if call.raw is not None else dumps(held).decode("utf-8", "surrogatepass")
        return replace(call, input=text, raw=None, format="custom", error=None)

    def placed(self, call: ToolCallIR) -> ToolCallIR:
        """A call with the namespace of its tool."""
        space = self.spaces.get(call.name or "")
        return call if space is None else replace(call, extra={**call.extra, _SPACE: space})


NONE = Declared()


def declared(tools: Iterable[ToolDef]) -> Declared:
    """What the tools of a request say. Those of a namespace stand inside it (Responses)."""
    held = tuple(tools)
    spaces = {tool.pointer: tool.name for tool in held if tool.extra.get("type") == _SPACE and tool.name}
    inside = ((tool.name, spaces.get(tool.pointer.rpartition("/tools/")[0])) for tool in held)
    return Declared(
        frozenset(tool.name for tool in held if tool.kind == "custom" and tool.name),
        {name: space for name, space in inside if name and space},
    )
