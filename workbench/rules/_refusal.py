"""What a provider would answer, with the variable parts of its message filled in where they are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from workbench.chain.terms import Placement
from workbench.ir import Message, ModelRequest, Part
from workbench.rules._contract import Contract

UNKNOWN = "…"

_VARIABLE = re.compile(r"\{(\w+)\}")
_INDEX = {
    "message": re.compile(r"^/messages/(\d+)"),
    "part": re.compile(r"/content/(\d+)"),
    "call": re.compile(r"/tool_calls/(\d+)"),
    "tool": re.compile(r"^/tools/(\d+)"),
}


def filled(template: str, pointer: str, request: ModelRequest | None, contract: Contract, part: Part | None) -> str:
    """The template with indices, ids and the model of this finding; what is not known becomes an ellipsis."""
    if "{" not in template:
        return template
    known = _indices(pointer, request, contract)
    for name in ("id", "tool_call_id"):
        call_id = getattr(part, name, None)
        if call_id:
            known |= {"id": call_id, "ids": call_id}
    if request and request.model:
        known["model"] = request.model
    return _VARIABLE.sub(lambda found: known.get(found[1], UNKNOWN), template)


def _indices(pointer: str, request: ModelRequest | None, contract: Contract) -> dict[str, str]:
    found = {name: match[1] for name, pattern in _INDEX.items() if (match := pattern.search(pointer))}
    if request and "message" in found and contract.closure.placement is Placement.NEXT_MESSAGE:
        found |= _merged(request.messages, int(found["message"]), found)
    return found


def _merged(messages: Sequence[Message], index: int, found: Mapping[str, str]) -> dict[str, str]:
    """Indices as such a provider counts: neighbours of one role are one message (recorded, anthropic SDK snapshots)."""
    if index >= len(messages):
        return {}
    first = index
    while first and messages[first - 1].role == messages[index].role:
        first -= 1
    turns = sum(n == 0 or m.role != messages[n - 1].role for n, m in enumerate(messages[: first + 1]))
    part = int(found.get("part", 0)) + sum(len(m.parts) for m in messages[first:index])
    return {"message": str(turns - 1), "part": str(part)}
