"""Repairs of a tool choice that the provider does not support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs import _thinking
from workbench.edits.repairs._search import Proposer
from workbench.ir import JsonValue
from workbench.rules import quote
from workbench.wire import Change, Remove, Replace

_SAME = {"any": ("required", "ANY"), "required": ("any",)}
"""Synonyms: a tool must be called."""


def unsupported(fault: Fault) -> Iterator[Proposal]:
    """Use the provider's word for the same choice; else any tool, or let the model choose."""
    at = fault.finding.pointer
    value = fault.value(at)
    word = value if isinstance(value, str) else value.get("type") if isinstance(value, dict) else None
    for other in _SAME.get(word or "", ()):
        new = other if isinstance(value, str) else {**value, "type": other}
        yield Proposal(f"use {quote(other)} instead of {quote(word)}", (Replace(at, new),))
    forces = isinstance(value, dict) and word in ("tool", "function")
    any_tool = _encoded_choice(fault, at, "any") if forces else None
    if any_tool is not None:
        title = "let the model call any tool, and name the tool in the prompt"
        yield Proposal(title, (Replace(at, any_tool),), RepairCost.MODE)
    yield from auto(fault)
    yield Proposal("remove the tool choice", (Remove(at),), RepairCost.MODE)


def conflict(fault: Fault) -> Iterator[Proposal]:
    """Let the model choose, or switch thinking off."""
    yield from auto(fault)
    for changes in _thinking.switch_off(fault):
        yield Proposal(f"{_thinking.TITLE}, and keep the forced tool", changes, RepairCost.MODE)


def auto(fault: Fault) -> Iterator[Proposal]:
    """Let the model choose whether to call a tool, and which."""
    at = fault.finding.pointer
    value = fault.value(at)
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        changes: list[Change] = [Replace(f"{at}/type", "auto")]
        changes += [Remove(f"{at}/{key}") for key in value if key in ("name", "function", "custom")]
        yield Proposal("let the model choose (auto)", tuple(changes), RepairCost.MODE)
    auto_choice = _encoded_choice(fault, at, "auto")
    if auto_choice is not None:
        yield Proposal("let the model choose (auto)", (Replace(at, auto_choice),), RepairCost.MODE)


def _encoded_choice(fault: Fault, at: str, mode: str) -> JsonValue:
    """A choice as this protocol writes it at a pointer; None if it has no such choice."""
    body: JsonValue = shape.choice(fault.adapter, mode)
    for step in at.split("/")[1:]:
        body = body.get(step) if isinstance(body, dict) else None
    return body


def without_tools(fault: Fault) -> Iterator[Proposal]:
    """Remove a choice without tools."""
    yield Proposal("remove the tool choice: the request declares no tools", (Remove(fault.finding.pointer),))


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "choice.unsupported": (unsupported,),
    "choice.thinking-conflict": (conflict,),
    "choice.without-tools": (without_tools,),
}
