"""Repairs of gateway damage: remove what a backend refuses, restore what a gateway changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.chain import marks
from workbench.contracts import dotted_path
from workbench.edits import HEADERS, SetHeader
from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost, changes_between, read_at
from workbench.edits.repairs._search import Proposer
from workbench.rules import quote
from workbench.wire import Insert, Remove, Replace


def unknown_field(fault: Fault) -> Iterator[Proposal]:
    """Remove the field: here, and in every other message that has it."""
    at = fault.finding.pointer
    yield Proposal(f"remove {dotted_path(at)}", (Remove(at),), RepairCost.DROPPED)
    key = at.rpartition("/")[2]
    if fault.number is not None:
        places = [f"{m.pointer}/{key}" for m in fault.messages]
        there = [place for place in places if fault.value(place) is not None]
        if len(there) > 1:
            yield Proposal(f"remove {quote(key)} from every message", tuple(map(Remove, there)), RepairCost.DROPPED)


def cache_limit(fault: Fault) -> Iterator[Proposal]:
    """Remove the oldest cache marks in the messages: the last one covers everything before it."""
    most = fault.contract.term("gateway.max-cache-marks")
    found = marks(fault.case.decoded)
    if not isinstance(most, int) or len(found) <= most:
        return
    surplus = len(found) - most
    spare = [p for p in found[:-1] if fault.number_at(p) is not None] or found
    for surplus_marks in (spare[:surplus], found[most:]):
        title = (
            f"remove the oldest {surplus} cache breakpoints" if surplus > 1 else "remove the oldest cache breakpoint"
        )
        yield Proposal(title, tuple(Remove(_mark_pointer(p)) for p in surplus_marks))


def _mark_pointer(pointer: str) -> str:
    """Pointer of the mark: a member of the marked part, or an element of its own."""
    return pointer.rpartition("/")[0] if pointer.endswith("/cachePoint") else pointer


def beta_header(fault: Fault) -> Iterator[Proposal]:
    """Remove the value from the header, or from the body."""
    at, name = fault.finding.pointer, fault.finding.values.get("name", "")
    if not at.startswith(HEADERS):
        yield Proposal(f"remove {dotted_path(at)}", (Remove(at),), RepairCost.DROPPED)
        return
    header = at.removeprefix(HEADERS)
    http = fault.case.decoded.exchange.request
    flags = [v.strip() for value in (http.headers.all(header) if http else ()) for v in value.split(",")]
    for surplus in ({name}, set(flags)):
        rest = ",".join(v for v in flags if v and v not in surplus)
        title = f"remove {quote(name)} from the header {header}" if surplus == {name} else f"remove the header {header}"
        yield Proposal(title, (SetHeader(header, rest or None),), RepairCost.DROPPED)


def restore_damaged(fault: Fault) -> Iterator[Proposal]:
    """Restore the value that was sent to the gateway: at this pointer, or the whole body."""
    outer, at = fault.case.hops.outer, fault.finding.pointer
    if outer is None or outer.protocol != fault.request.protocol or fault.body is None:
        return
    value, there = read_at(outer.request_index, at), fault.case.decoded.request_index.span(at) is not None
    if value is not None and fault.finding.rule.startswith("gateway."):
        title = f"restore {at} from exchange {outer.index + 1}"
        yield Proposal(title, (Replace(at, value) if there else Insert(at, value),))
    whole = changes_between(fault.body, read_at(outer.request_index, ""))
    yield Proposal(f"restore the whole request from exchange {outer.index + 1}", whole)


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "gateway.unknown-field": (unknown_field,),
    "gateway.cache-limit": (cache_limit,),
    "gateway.beta-header": (beta_header,),
    "": (restore_damaged,),
}
