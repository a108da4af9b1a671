"""What a backend does not take goes, and what a gateway damaged comes back as it was sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.chain.cache_marks import marks
from workbench.contracts.refusal import dotted
from workbench.edits import HEADERS, SetHeader
from workbench.edits.fault import Fault
from workbench.edits.proposal import Loss, Proposal, difference, read_at
from workbench.edits.repairs._search import Propose
from workbench.rules.wording import quote
from workbench.wire.patch import Insert, Remove, Replace


def unknown_field(fault: Fault) -> Iterator[Proposal]:
    """The field goes: here, and wherever else messages have it."""
    at = fault.finding.pointer
    yield Proposal(f"drop {dotted(at)}", (Remove(at),), Loss.DROPPED)
    key = at.rpartition("/")[2]
    if fault.number is not None:
        places = [f"{m.pointer}/{key}" for m in fault.messages]
        there = [place for place in places if fault.value(place) is not None]
        if len(there) > 1:
            yield Proposal(f"drop {quote(key)} from every message", tuple(map(Remove, there)), Loss.DROPPED)


def cache_limit(fault: Fault) -> Iterator[Proposal]:
    """The oldest marks in the messages go: the last one covers everything before it."""
    most = fault.contract.term("gateway.max-cache-marks")
    found = marks(fault.case.decoded)
    if not isinstance(most, int) or len(found) <= most:
        return
    surplus = len(found) - most
    spare = [p for p in found[:-1] if fault.number_at(p) is not None] or found
    for gone in (spare[:surplus], found[most:]):
        title = f"drop the oldest {surplus} cache marks" if surplus > 1 else "drop the oldest cache mark"
        yield Proposal(title, tuple(Remove(_held(p)) for p in gone))


def _held(pointer: str) -> str:
    """The mark, which is a member of what it marks, or an element of its own."""
    return pointer.rpartition("/")[0] if pointer.endswith("/cachePoint") else pointer


def beta(fault: Fault) -> Iterator[Proposal]:
    """The value goes from the header, or from the body."""
    at, name = fault.finding.pointer, fault.finding.values.get("name", "")
    if not at.startswith(HEADERS):
        yield Proposal(f"drop {dotted(at)}", (Remove(at),), Loss.DROPPED)
        return
    header = at.removeprefix(HEADERS)
    http = fault.case.decoded.exchange.request
    held = [v.strip() for value in (http.headers.all(header) if http else ()) for v in value.split(",")]
    for gone in ({name}, set(held)):
        left = ",".join(v for v in held if v and v not in gone)
        title = f"drop {quote(name)} from the header {header}" if gone == {name} else f"drop the header {header}"
        yield Proposal(title, (SetHeader(header, left or None),), Loss.DROPPED)


def damaged(fault: Fault) -> Iterator[Proposal]:
    """What the place before the gateway sent: at this pointer, or all of it."""
    outer, at = fault.case.hops.outer, fault.finding.pointer
    if outer is None or outer.protocol != fault.request.protocol or fault.body is None:
        return
    value, there = read_at(outer.request_index, at), fault.case.decoded.request_index.span(at) is not None
    if value is not None and fault.finding.rule.startswith("gateway."):
        title = f"put back what exchange {outer.index + 1} holds at {at}"
        yield Proposal(title, (Replace(at, value) if there else Insert(at, value),))
    whole = tuple(difference("", fault.body, read_at(outer.request_index, "")))
    yield Proposal(f"send on what came in with exchange {outer.index + 1}", whole)


REPAIRS: Mapping[str, tuple[Propose, ...]] = {
    "gateway.unknown-field": (unknown_field,),
    "gateway.cache-limit": (cache_limit,),
    "gateway.beta-header": (beta,),
    "": (damaged,),
}
