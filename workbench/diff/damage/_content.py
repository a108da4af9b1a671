"""Damage to content, between two protocols or between a stream and one body."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.diff.content import ContentLoss, content_losses
from workbench.diff.damage._grouping import Offsets, group_changes
from workbench.diff.damage._texts import text_change
from workbench.diff.damage._values import ValueChange
from workbench.diff.damage.kinds import Damage, DamageKind
from workbench.ir import ModelRequest, Text
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange

_LINKS = ("id", "tool_call_id")


def content_damages(side: str, before: DecodedExchange, after: DecodedExchange) -> list[Damage]:
    """Content that is missing, changed or new on one side."""
    olds, news = before.messages(side), after.messages(side)
    losses = list(content_losses(side, olds, news))
    is_mapped = _is_mapped(losses)
    found = [_change(before, after, side, loss, is_mapped=is_mapped) for loss in losses]
    for more in content_losses(side, news, olds):
        if not more.field and more.after is None:
            at = _pointer(after, side, more.before.message, more.before.part)
            found.append(ValueChange(DamageKind.FIELD_ADDED, "", at, None, more.old, f"a {more.what}"))
    if side == REQUEST and before.request and after.request:
        found += _request_changes(before.request, after.request)
    if side == RESPONSE and before.response and after.response:
        found += _ending_changes(before, after)
    return group_changes(side, found, _DecodedOffsets(before, after, side))


class _DecodedOffsets:
    """Offsets of pointers in two decoded exchanges."""

    def __init__(self, before: DecodedExchange, after: DecodedExchange, side: str) -> None:
        self._sides, self._side = (before, after), side

    def offsets(self, change: ValueChange) -> Offsets:
        """First bytes of the values concerned."""
        found = (
            decoded.place(self._side, pointer).span if pointer else None
            for decoded, pointer in zip(self._sides, (change.was, change.at), strict=True)
        )
        was, at = (span[0] if span else None for span in found)
        return was, at


def _change(
    before: DecodedExchange, after: DecodedExchange, side: str, loss: ContentLoss, *, is_mapped: bool
) -> ValueChange:
    was = _pointer(before, side, loss.before.message, loss.before.part, loss.field)
    what = f"the {loss.field} of a {loss.what}" if loss.field and loss.field != loss.what else f"a {loss.what}"
    if loss.after is None:
        return ValueChange(DamageKind.FIELD_DROPPED, was, was, loss.old, None, what)
    at = _pointer(after, side, loss.after.message, loss.after.part, loss.field)
    if is_mapped and loss.field in _LINKS:
        return ValueChange(DamageKind.IDS_MAPPED, was, at, loss.old, loss.new, "renamed one for one", True)
    if loss.new is None:
        kind = DamageKind.VALUE_CHANGED if loss.what == "text" else DamageKind.FIELD_DROPPED
        return ValueChange(kind, was, at, loss.old, None, what)
    if isinstance(loss.old, str) and isinstance(loss.new, str):
        kind, words = text_change(loss.old, loss.new)
        return ValueChange(kind, was, at, loss.old, loss.new, f"{what}: {words}" if words else what)
    return ValueChange(DamageKind.VALUE_CHANGED, was, at, loss.old, loss.new, what)


def _pointer(decoded: DecodedExchange, side: str, message: int, part: int, name: str = "") -> str:
    found = decoded.messages(side)[message]
    return found.absolute(found.parts[part], name or None)


def _is_mapped(losses: list[ContentLoss]) -> bool:
    """True if ids were replaced one for one."""
    pairs = {(loss.old, loss.new) for loss in losses if loss.field in _LINKS and loss.new is not None}
    return all(len({pair[n] for pair in pairs}) == len(pairs) for n in (0, 1))


def _request_changes(old: ModelRequest, new: ModelRequest) -> Iterator[ValueChange]:
    """Changes of tools, instructions and boolean parameters."""
    names = {tool.name for tool in new.tools}
    for tool in old.tools:
        if tool.name not in names:
            yield ValueChange(
                DamageKind.FIELD_DROPPED, tool.pointer, tool.pointer, tool.name, None, f"the tool {tool.name}"
            )
    words = ["".join("".join(p.text for p in parts if isinstance(p, Text)).split()) for parts in _systems(old, new)]
    if words[0] != words[1] and words[0] not in words[1]:
        yield ValueChange(
            DamageKind.FIELD_DROPPED if not words[1] else DamageKind.VALUE_CHANGED, "", "", words="the instructions"
        )
    for name in ("stream", "parallel", "thinking"):
        a, b = getattr(old, name), getattr(new, name)
        if a != b and a is not None:
            yield ValueChange(DamageKind.VALUE_CHANGED, "", "", a, b, f"{name!r}: {a} became {b}")


def _systems(old: ModelRequest, new: ModelRequest) -> Iterator[tuple[object, ...]]:
    """The instructions of both requests: system parameter and system messages."""
    for request in (old, new):
        messages = (p for m in request.messages if m.role in ("system", "developer") for p in m.parts)
        yield (*request.system, *messages)


def _ending_changes(before: DecodedExchange, after: DecodedExchange) -> Iterator[ValueChange]:
    """Changes of the finish reason and the usage."""
    old, new = before.response, after.response
    assert old and new
    if old.is_complete and not new.is_complete:
        yield ValueChange(DamageKind.TRUNCATED, "", "", words="the response has no end")
    elif old.stop and old.stop != new.stop:
        words = f"finish reason {old.stop} became {new.stop or 'none'}"
        yield ValueChange(
            DamageKind.VALUE_CHANGED if new.stop else DamageKind.FIELD_DROPPED, "", "", old.stop, new.stop, words
        )
    if old.usage and not new.usage:
        yield ValueChange(DamageKind.FIELD_DROPPED, "", "", words="the usage")
