"""Changed replays of reasoning, in every carrier: missing, empty, altered.

Gets a call with reasoning: by default, or requested in every way that a protocol has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench import protocols
from workbench.edits import apply_changes, with_body
from workbench.edits.variants import VariedRequest, drop_reasoning
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.ir import NOTHING, Carrier, JsonValue, Part, Reasoning
from workbench.lazy_dataclass import dataclass, replace
from workbench.probes._drive import DriveSteps, PlayedConversation, drive
from workbench.probes._script import Subject
from workbench.probes._tools import ADD, Toolbox
from workbench.send.loop import Limits
from workbench.wire import HttpRequest, Insert

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

    Its loop keeps all reasoning, with every contract.
    """
    conversations: list[PlayedConversation] = []
    for way in thinking_requests(subject):
        conversations.append((yield from _ask(subject, words, way)))
        if conversations[-1].calls and conversations[-1].reasoning(0):
            return conversations[-1]
    return next((one for one in conversations if one.calls), conversations[-1])


def thinking_requests(subject: Subject) -> Iterator[ThinkingRequest]:
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
    return (
        yield from drive(
            asking, request, "a tool call while thinking is on", Toolbox(subject.nonce).run, limits=Limits(1)
        )
    )


VARIANTS = ("missing", "empty", "altered")
"""The changes."""


def replay_variants(request: HttpRequest, protocol: str) -> Mapping[str, HttpRequest | None]:
    """The request with its reasoning changed in every way; None if it cannot be encoded."""
    try:
        missing = next(iter(drop_reasoning(VariedRequest.alone(request, protocol)))).request
    except LocalProtocolError:
        missing = None
    empty, altered = (rewrite_parts(request, protocol, change) for change in (_empty, _alter))
    return {"missing": missing, "empty": empty, "altered": altered}


def rewrite_parts(request: HttpRequest, protocol: str, change: Callable[[Part], Part]) -> HttpRequest | None:
    """The request with changed parts; None if they cannot be encoded, or nothing changes."""
    adapter, text = protocols.get(protocol), request.body.raw
    try:
        decoded = adapter.decode_request(text)
        messages = tuple(replace(m, parts=tuple(map(change, m.parts))) for m in decoded.messages)
        if messages == decoded.messages:
            return None
        return with_body(request, adapter.encode_request(replace(decoded, messages=messages), text), text)
    except (LocalProtocolError, WireError, ProtocolMismatch):
        return None


def _empty(part: Part) -> Part:
    return replace(part, text="") if isinstance(part, Reasoning) and part.text else part


def _alter(part: Part) -> Part:
    """Cut a text in half, or an opaque proof if there is no text."""
    if not isinstance(part, Reasoning):
        return part
    if part.text:
        return replace(part, text=part.text[: len(part.text) // 2])
    return replace(part, data=_half(part.data), signature=_half(part.signature))


def _half(proof: JsonValue) -> JsonValue:
    return proof[: len(proof) // 2 // 4 * 4] if isinstance(proof, str) else proof
