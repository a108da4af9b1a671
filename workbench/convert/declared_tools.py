"""Restores calls to the form in which the client declared their tools.

A free-text tool that was declared as a function (its target knows no other) is called with one string in an object; a
tool of a namespace is called by its name alone. Their calls get the declared form back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.convert._parts import INPUT
from workbench.ir import NOTHING, ToolCallIR, ToolDef
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.wire import dumps

_SPACE = "namespace"


@dataclass(frozen=True, slots=True)
class DeclaredTools:
    """Declared tools whose calls need a change.

    Attributes:
        free_text: names of tools that take free text.
        namespaces: tool name → its namespace.
    """

    free_text: frozenset[str] = frozenset()
    namespaces: Mapping[str, str] = field(default=NOTHING)

    def is_free_text(self, name: str | None) -> bool:
        """True if calls of this tool hold free text."""
        return name in self.free_text

    def restore_free_text(self, call: ToolCallIR) -> ToolCallIR:
        """A call with its free text; arguments that are not an object with only that text become the text."""
        if not self.is_free_text(call.name) or call.format.endswith("custom"):
            return call
        arguments = call.input
        text = arguments.get(INPUT) if isinstance(arguments, dict) and len(arguments) == 1 else arguments
        if not isinstance(text, str):
            text = call.raw if call.raw is not None else dumps(arguments).decode("utf-8", "surrogatepass")
        return replace(call, input=text, raw=None, format="custom", error=None)

    def restore_namespace(self, call: ToolCallIR) -> ToolCallIR:
        """A call with the namespace of its tool."""
        space = self.namespaces.get(call.name or "")
        return call if space is None else replace(call, extra={**call.extra, _SPACE: space})


NO_TOOLS = DeclaredTools()


def read_declared_tools(tools: Iterable[ToolDef]) -> DeclaredTools:
    """Read the tools of a request. Tools of a namespace are nested inside it (Responses)."""
    every = tuple(tools)
    spaces = {tool.pointer: tool.name for tool in every if tool.extra.get("type") == _SPACE and tool.name}
    inside = ((tool.name, spaces.get(tool.pointer.rpartition("/tools/")[0])) for tool in every)
    return DeclaredTools(
        frozenset(tool.name for tool in every if tool.kind == "custom" and tool.name),
        {name: space for name, space in inside if name and space},
    )
