"""Gets a call with reasoning: by default, or requested in every way that a protocol has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.edits import apply_changes
from workbench.ir import NOTHING, Carrier, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.probes._drive import DriveSteps, PlayedConversation, drive
from workbench.probes._subject import Subject
from workbench.probes._tools import ADD, Toolbox
from workbench.send.loop import Limits
from workbench.wire import Insert

LEAST_BUDGET = 1024
"""Token budget for thinking, if a protocol requires one."""

SEALED = {"include": ["reasoning.encrypted_content"], "store": False}
"""Members that request reasoning for the client to keep, which the server would keep otherwise."""

MOST_WAYS = 3
"""Most requests that are needed."""


@dataclass(frozen=True, slots=True)
class ThinkingRequest:
    """One way to request reasoning."""

    thinking: str | None = None
    params: Mapping[str, JsonValue] = NOTHING
    is_sealed: bool = False


def thinking(subject: Subject, words: str) -> DriveSteps:
    """The first answer with a call and reasoning; else the first with a call; else the last.

    Its loop keeps all reasoning, whatever the contract says.
    """
    tried: list[PlayedConversation] = []
    for way in ways(subject):
        tried.append((yield from _ask(subject, words, way)))
        if tried[-1].calls and tried[-1].reasoning(0):
            return tried[-1]
    return next((one for one in tried if one.calls), tried[-1])


def ways(subject: Subject) -> Iterator[ThinkingRequest]:
    """The ways of the protocol, at most ``MOST_WAYS``."""
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


def _ask(subject: Subject, words: str, way: ThinkingRequest) -> DriveSteps:
    request = replace(subject, thinking=way.thinking).request(words, (ADD,), params=way.params)
    if way.is_sealed:
        request = apply_changes(request, request.body.raw, [Insert(f"/{key}", value) for key, value in SEALED.items()])
    asking = replace(subject, target=replace(subject.target, contract="generic"))
    return (yield from drive(asking, request, "a call while thinking", Toolbox(subject.nonce).run, limits=Limits(1)))
