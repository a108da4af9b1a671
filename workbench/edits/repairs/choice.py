"""A choice of tools that this provider lets anybody make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.edits.proposal import Loss, Proposal
from workbench.edits.repairs import _thinking
from workbench.edits.repairs._search import Propose
from workbench.ir import JsonValue
from workbench.rules.wording import quote
from workbench.wire.patch import Change, Remove, Replace

_SAME = {"any": ("required", "ANY"), "required": ("any",)}
"""Words for one thing: some tool has to be called."""


def unsupported(fault: Fault) -> Iterator[Proposal]:
    """The word that is taken for the same; else some tool, or the model chooses."""
    at = fault.finding.pointer
    value = fault.value(at)
    word = value if isinstance(value, str) else value.get("type") if isinstance(value, dict) else None
    for other in _SAME.get(word or "", ()):
        made = other if isinstance(value, str) else {**value, "type": other}
        yield Proposal(f"say {quote(other)} in place of {quote(word)}", (Replace(at, made),))
    forces = isinstance(value, dict) and word in ("tool", "function")
    any_tool = _written(fault, at, "any") if forces else None
    if any_tool is not None:
        title = "let the model call any tool, and name the tool in the prompt"
        yield Proposal(title, (Replace(at, any_tool),), Loss.MODE)
    yield from auto(fault)
    yield Proposal("drop the choice of tools", (Remove(at),), Loss.MODE)


def conflict(fault: Fault) -> Iterator[Proposal]:
    """The model chooses; or it does not think."""
    yield from auto(fault)
    for changes in _thinking.off(fault):
        yield Proposal(f"{_thinking.TITLE}, and keep the forced tool", changes, Loss.MODE)


def auto(fault: Fault) -> Iterator[Proposal]:
    """The model chooses whether to call a tool, and which."""
    at = fault.finding.pointer
    value = fault.value(at)
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        changes: list[Change] = [Replace(f"{at}/type", "auto")]
        changes += [Remove(f"{at}/{key}") for key in value if key in ("name", "function", "custom")]
        yield Proposal("let the model choose (auto)", tuple(changes), Loss.MODE)
    written = _written(fault, at, "auto")
    if written is not None:
        yield Proposal("let the model choose (auto)", (Replace(at, written),), Loss.MODE)


def _written(fault: Fault, at: str, mode: str) -> JsonValue:
    """A choice as this protocol writes it at a pointer, None where it cannot be said."""
    body: JsonValue = shape.choice(fault.adapter, mode)
    for step in at.split("/")[1:]:
        body = body.get(step) if isinstance(body, dict) else None
    return body


def without_tools(fault: Fault) -> Iterator[Proposal]:
    """A choice among nothing goes."""
    yield Proposal("drop the choice: there are no tools", (Remove(fault.finding.pointer),))


REPAIRS: Mapping[str, tuple[Propose, ...]] = {
    "choice.unsupported": (unsupported,),
    "choice.thinking-conflict": (conflict,),
    "choice.without-tools": (without_tools,),
}
