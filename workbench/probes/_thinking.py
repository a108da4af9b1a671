"""Getting a call that comes with reasoning: unasked, or asked for in every way that a protocol has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.edits import apply_changes
from workbench.ir import NOTHING, Carrier, JsonValue
from workbench.probes._drive import DriveSteps, PlayedConversation, drive
from workbench.probes._subject import Subject
from workbench.probes._tools import ADD, Toolbox
from workbench.send.loop import Limits
from workbench.wire import Insert

LEAST_BUDGET = 1024
"""Tokens of thought, where a protocol asks for a number."""

SEALED = {"include": ["reasoning.encrypted_content"], "store": False}
"""What asks for reasoning that the client keeps, where the server would keep it otherwise."""

MOST_WAYS = 3
"""Requests that it takes at most."""


@dataclass(frozen=True, slots=True)
class ThinkingRequest:
    """One way to ask for reasoning."""

    thinking: str | None = None
    params: Mapping[str, JsonValue] = NOTHING
    is_sealed: bool = False


def thinking(subject: Subject, words: str) -> DriveSteps:
    """The first answer with a call of ``probe_add`` that brings reasoning; else the first with a call; else the last.

    Its loop leaves no reasoning out, whatever the contract says of the endpoint.
    """
    tried: list[PlayedConversation] = []
    for way in ways(subject):
        tried.append((yield from _asked(subject, words, way)))
        if tried[-1].calls and tried[-1].reasoning(0):
            return tried[-1]
    return next((one for one in tried if one.calls), tried[-1])


def ways(subject: Subject) -> Iterator[ThinkingRequest]:
    """Those that the protocol has, at most ``MOST_WAYS``."""
    able = subject.adapter.capabilities
    is_sealed = Carrier.ENCRYPTED_ITEM in able.reasoning.carriers
    if is_sealed:
        yield ThinkingRequest(subject.thinking, is_sealed=True)
    yield ThinkingRequest(subject.thinking)
    if "adaptive" in able.reasoning.switches:
        yield ThinkingRequest("adaptive")
    if "on" in able.reasoning.switches:
        yield ThinkingRequest("on", {"thinking_budget": LEAST_BUDGET} if able.reasoning.budget_required else NOTHING)
    elif "effort" in able.request.params:
        yield ThinkingRequest(None, {"effort": "medium"}, is_sealed)


def _asked(subject: Subject, words: str, way: ThinkingRequest) -> DriveSteps:
    request = replace(subject, thinking=way.thinking).request(words, (ADD,), params=way.params)
    if way.is_sealed:
        request = apply_changes(request, request.body.raw, [Insert(f"/{key}", value) for key, value in SEALED.items()])
    asking = replace(subject, target=replace(subject.target, contract="generic"))
    return (yield from drive(asking, request, "a call while thinking", Toolbox(subject.nonce).run, limits=Limits(1)))
