"""Repairs of parameters: refused ones are removed or changed, required ones added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.contracts import dotted_path
from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs import _thinking
from workbench.edits.repairs._search import Proposer
from workbench.ir import ModelRequest
from workbench.lazy_dataclass import replace
from workbench.rules import quote
from workbench.wire import Insert, Remove, Replace

_ROLES = {"developer": "system", "system": "user", "tool": "user"}


def unsupported(fault: Fault) -> Iterator[Proposal]:
    """Set the nearest accepted value, else remove the parameter, or what it conflicts with."""
    at = fault.finding.pointer
    path, value = dotted_path(at), fault.value(at)
    if at.endswith("/role"):
        other = _ROLES.get(str(value))
        if other:
            yield Proposal(f"set the message's role to {quote(other)}", (Replace(at, other),))
        return
    limit = fault.finding.values.get("limit", "")
    if limit.lstrip("-").isdecimal() and isinstance(value, int | float):
        yield Proposal(f"set {path} to {limit}", (Replace(at, int(limit)),), RepairCost.MODE)
    yield Proposal(f"remove {path}", (Remove(at),), RepairCost.MODE)
    parent = at.rpartition("/")[0]
    if parent.count("/") == 1:
        yield Proposal(f"remove {dotted_path(parent)}", (Remove(parent),), RepairCost.MODE)
    for changes in _thinking.switch_off(fault):
        yield Proposal(_thinking.TITLE, changes, RepairCost.MODE)


def missing(fault: Fault) -> Iterator[Proposal]:
    """Add a required parameter, with the value that conversions use."""
    at = fault.finding.pointer
    bare = fault.adapter.write_request(ModelRequest(fault.adapter.name, None, ()))
    for name, value in fault.adapter.capabilities.request.required.items():
        sample = replace(ModelRequest(fault.adapter.name, None, ()), params={name: value})
        body = fault.adapter.write_request(sample)
        key = at.rpartition("/")[2]
        if key in body and key not in bare and fault.value(at) is None:
            yield Proposal(f"set {dotted_path(at)} to {body[key]}", (Insert(at, body[key]),), RepairCost.STAND_IN)


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {
    "params.unsupported": (unsupported,),
    "params.missing": (missing,),
}
