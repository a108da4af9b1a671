"""The arguments view of ``show``: how the arguments of each tool call were read, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.cli._output import cut
from workbench.protocols import REQUEST, RESPONSE

if TYPE_CHECKING:
    from workbench.ir import JsonValue, ToolCallIR
    from workbench.rules import Detail
    from workbench.toolcalls.arguments import LadderStep

_CODES = ("openai-custom",)
"""Call formats with free text as input."""


def rows(detail: Detail) -> Iterator[tuple[str, str, ToolCallIR, tuple[LadderStep, ...]]]:
    """(side, pointer, call, steps) of each tool call, those of the history first."""
    from workbench.toolcalls.arguments import steps

    request = detail.decoded.request
    tools = {tool.name: tool for tool in request.tools} if request else {}
    for side in (REQUEST, RESPONSE):
        for message in detail.decoded.messages(side):
            for _, call in message.tool_calls():
                if call.format not in _CODES:
                    yield side, message.absolute(call), call, steps(call, tools.get(call.name))


def as_json(detail: Detail) -> dict[str, JsonValue]:
    """``{"calls": […]}``."""
    return {
        "calls": [
            {
                "side": side,
                "pointer": pointer,
                "tool": call.name,
                "id": call.id,
                "steps": [{"rung": s.rung.value, "before": s.before, "after": s.after, "note": s.note} for s in steps],
            }
            for side, pointer, call, steps in rows(detail)
        ]
    }


def as_text(detail: Detail) -> Iterator[str]:
    """Lines: each tool call, and its steps with the value before and after."""
    empty = True
    for side, pointer, call, steps in rows(detail):
        empty = False
        yield f"  {side} {pointer}  {cut(call.name or 'no name', 60)} {cut(call.id or '', 60)}".rstrip()
        for step in steps:
            yield f"    {step.rung.value:<10} {step.note}".rstrip()
            if step.before != step.after or step.rung.value == "strict":
                yield f"      before   {_quote(step.before)}"
                yield f"      after    {_quote(step.after)}"
    if empty:
        yield "  no calls"


def _quote(value: JsonValue) -> str:
    return cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
