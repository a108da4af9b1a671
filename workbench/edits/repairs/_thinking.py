"""Switching thinking off for one request, in the provider's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from workbench.convert import FieldPlaces
from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.ir import JsonValue
from workbench.provenance import escape
from workbench.wire import Change, Insert, Replace

TITLE = "switch off thinking for this request"


def switch_off(fault: Fault) -> Iterator[tuple[Change, ...]]:
    """Changes that switch thinking off, the likeliest first: the switch in the request, else the provider's own.

    The provider's switch is the contract's (``reasoning.switch``), else that of the protocol.
    """
    if fault.request.thinking == "off":
        return
    place = FieldPlaces(fault.text).of("thinking")
    switch, parent = fault.value(place), place.removesuffix("/type")
    if isinstance(switch, str) and parent != place:
        yield (Replace(parent, {"type": "disabled"}),)  # a budget makes no sense once thinking is off
    elif isinstance(switch, bool):
        yield (Replace(place, False),)
    body = fault.body if isinstance(fault.body, dict) else {}
    own = _provider_switch(fault)
    if own:
        yield tuple(
            change for key, value in own.items() for change in _set_member(f"/{escape(key)}", value, body.get(key))
        )


def _provider_switch(fault: Fault) -> Mapping[str, JsonValue]:
    """Members of a body that switch thinking off; {} if none are known."""
    switch = fault.contract.term("reasoning.switch")
    if isinstance(switch, dict):
        return cast("dict[str, JsonValue]", switch.get("off") or {})
    return shape.thinking_off(fault.adapter) if fault.adapter.traits.has_one_switch else {}


def _set_member(at: str, value: JsonValue, old: JsonValue) -> Iterator[Change]:
    """Set a member, merged with an object that is already there."""
    if old is None:
        yield Insert(at, value)
    elif isinstance(old, dict) and isinstance(value, dict) and "type" not in value:
        for key, inner in value.items():
            yield from _set_member(f"{at}/{escape(key)}", inner, old.get(key))
    elif old != value:
        yield Replace(at, value)
