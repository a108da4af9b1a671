"""Thinking switched off for one request, in the words of who is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from workbench.convert.places import FieldPlaces
from workbench.edits import shape
from workbench.edits.fault import Fault
from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.wire.patch import Change, Insert, Replace

TITLE = "switch thinking off for this request"


def off(fault: Fault) -> Iterator[tuple[Change, ...]]:
    """The ways to say it, the likeliest first: the switch that the request has, else the provider's own.

    The provider's own is the contract's (``reasoning.switch``), else the one of the protocol.
    """
    if fault.request.thinking == "off":
        return
    place = FieldPlaces(fault.text).of("thinking")
    held, parent = fault.value(place), place.removesuffix("/type")
    if isinstance(held, str) and parent != place:
        yield (Replace(parent, {"type": "disabled"}),)  # a budget beside it means nothing to what is off
    elif isinstance(held, bool):
        yield (Replace(place, False),)
    body = fault.body if isinstance(fault.body, dict) else {}
    own = _own(fault)
    if own:
        yield tuple(change for key, value in own.items() for change in _said(f"/{escape(key)}", value, body.get(key)))


def _own(fault: Fault) -> Mapping[str, JsonValue]:
    """Members of a body that say it; {} where nothing is known to."""
    switch = fault.contract.term("reasoning.switch")
    if isinstance(switch, dict):
        return cast("dict[str, JsonValue]", switch.get("off") or {})
    return shape.thinking_off(fault.adapter) if fault.adapter.traits.has_one_switch else {}


def _said(at: str, value: JsonValue, held: JsonValue) -> Iterator[Change]:
    """A member put where it belongs, beside what is there."""
    if held is None:
        yield Insert(at, value)
    elif isinstance(held, dict) and isinstance(value, dict) and "type" not in value:
        for key, inner in value.items():
            yield from _said(f"{at}/{escape(key)}", inner, held.get(key))
    elif held != value:
        yield Replace(at, value)
