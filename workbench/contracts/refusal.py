"""The response with which a provider would refuse a request, with known values in the variable parts of its message."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

from workbench import regex
from workbench.contracts.contract import Contract
from workbench.ir import Part
from workbench.protocols import DecodedExchange, fact

UNKNOWN = "…"

_VARIABLE = regex.compile(r"\{(\w+)\}")
_INDEX = {
    "message": regex.compile(r"^/(?:messages|contents|input)/(\d+)"),
    "part": regex.compile(r"/(?:content|parts)/(\d+)"),
    "item": regex.compile(r"/(?:output|content/\d+/content)/(\d+)"),
    "call": regex.compile(r"/tool_calls/(\d+)"),
    "tool": regex.compile(r"^/tools/(\d+)"),
    "function": regex.compile(r"/(?:functionDeclarations|function_declarations)/(\d+)"),
}


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with what its variables stand for; what is not known becomes an ellipsis."""
    if "{" not in template:
        return template
    return _VARIABLE.sub(lambda found: values.get(found[1], UNKNOWN), template)


def known_values(
    pointer: str, decoded: DecodedExchange, contract: Contract, part: Part | None, span: tuple[int, int] | None = None
) -> dict[str, str]:
    """Values that every finding has: its indices and path, end of its bytes, the id of its part, role and model."""
    known = _indices(pointer, decoded, contract) | _place(decoded, span)
    if pointer:
        known |= {"path": dotted_path(pointer), "field": dotted_path("/" + pointer.rpartition("/")[2])}
    for name in ("id", "tool_call_id"):
        call_id = getattr(part, name, None)
        if call_id:
            known |= {"id": call_id, "ids": call_id}
    if decoded.request and decoded.request.model:
        known["model"] = decoded.request.model
    index = _INDEX["message"].search(pointer)
    if decoded.request and index and int(index[1]) < len(decoded.request.messages):
        known["role"] = decoded.request.messages[int(index[1])].role
    return known


def _place(decoded: DecodedExchange, span: tuple[int, int] | None) -> dict[str, str]:
    """Line and column (from one) where a parser is when it has read a value."""
    if span is None:
        return {}
    ends = fact(decoded, _line_ends)
    line = bisect_left(ends, span[1])
    return {"line": str(line + 1), "column": str(span[1] - (ends[line - 1] + 1 if line else 0))}


def _line_ends(decoded: DecodedExchange) -> list[int]:
    return [found.start() for found in re.finditer(rb"\n", decoded.request_text)]


def dotted_path(pointer: str) -> str:
    """A pointer as providers write it in their messages: ``messages[0].tool_calls[1].id``."""
    steps = (step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))
    return "".join(f"[{step}]" if step.isdecimal() else f".{step}" for step in steps).removeprefix(".")


def _indices(pointer: str, decoded: DecodedExchange, contract: Contract) -> dict[str, str]:
    found = {name: match[1] for name, pattern in _INDEX.items() if (match := pattern.search(pointer))}
    index = int(found.get("message", -1))
    if contract.term("content.merges-same-role") and 0 <= index < len(decoded.turns):
        turn, before = decoded.turns[index]
        found |= {"message": str(turn), "part": str(before + int(found.get("part", 0)))}
    return found
