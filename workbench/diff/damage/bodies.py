"""Changes that a gateway made to a body of one protocol, for rules and people to judge.

Damage to content, between two protocols or between a stream and one body.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.diff.content import ContentLoss, content_losses
from workbench.diff.damage._grouping import Offsets, TextOffsets, group_changes
from workbench.diff.damage._spelling import spelling_changes
from workbench.diff.damage._texts import text_change, value_words
from workbench.diff.damage._values import Fingerprints, ValueChange, value_changes
from workbench.diff.damage.kinds import Damage, DamageKind
from workbench.errors import WireError
from workbench.ir import JsonValue, ModelRequest, Text
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.provenance import escape
from workbench.wire import JsonIndex, loads

__all__ = ["CONVERSATION", "SPELLING", "ValueChange", "body_damages", "changes_of", "is_inside"]

CONVERSATION = frozenset(
    {
        *("messages", "input", "contents", "system", "tools", "instructions", "systemInstruction", "toolConfig"),
        *("choices", "content", "output", "candidates", "message"),
    }
)
"""Members with the conversation and the tools."""

SPELLING = frozenset(
    {DamageKind.KEY_ORDER, DamageKind.NUMBER_SPELLING, DamageKind.ESCAPES, DamageKind.WHITESPACE, DamageKind.RESPELLED}
)
"""Kinds that keep the value and change its bytes."""


def is_inside(change: ValueChange) -> bool:
    """True for a change in the conversation, its instructions or its tools; False for other parameters."""
    return (change.was or change.at).split("/")[1:2] != [] and (change.was or change.at).split("/")[1] in CONVERSATION


def body_damages(side: str, before: bytes, after: bytes) -> list[Damage]:
    """Damages between two bodies (content-decoded), one for each kind and place; [] for equal bytes."""
    if before == after:
        return []
    return group_changes(side, changes_of(before, after), TextOffsets(before, after))


def changes_of(before: bytes, after: bytes) -> list[ValueChange]:
    """The same place by place; one change for each kind of spelling.

    A body that is no JSON before or after is one change of the whole.
    """
    if before == after:
        return []
    old, new = _read(before), _read(after)
    if old is None or new is None:
        return [_unparsed_change(before, after, is_old=old is not None, is_new=new is not None)]
    prints = Fingerprints(old.value, new.value)
    wrapped = _wrapping_change(old.value, new.value, prints)
    if wrapped is not None:
        return [wrapped]
    found = [*value_changes(old.value, new.value, prints), *_lost_keys(before, after)]
    found += _spelling_changes(before, after)
    return found or [ValueChange(DamageKind.RESPELLED, "", "", words="different bytes", is_same_meaning=True)]


class _ParsedBody:
    """A parsed body, so that the value None differs from no value."""

    def __init__(self, value: JsonValue) -> None:
        self.value = value


def _read(text: bytes) -> _ParsedBody | None:
    try:
        return _ParsedBody(loads(text))
    except WireError:
        return None


def _unparsed_change(before: bytes, after: bytes, *, is_old: bool, is_new: bool) -> ValueChange:
    """Change of a body if at least one side is not JSON."""
    if not before:
        return ValueChange(DamageKind.FIELD_ADDED, "", "", words="a body was added")
    if before.startswith(after):
        return ValueChange(DamageKind.TRUNCATED, "", "", words=f"{len(before):,} bytes became {len(after):,}")
    if before.split() == after.split():
        return ValueChange(DamageKind.WHITESPACE, "", "", is_same_meaning=not is_old and not is_new)
    if is_old != is_new:
        words = "the body was JSON before and is not now" if is_old else "the body was not JSON before and is now"
        return ValueChange(DamageKind.RESHAPED, "", "", words=words)
    return ValueChange(DamageKind.VALUE_CHANGED, "", "", words="the body is not JSON")


def _wrapping_change(old: JsonValue, new: JsonValue, prints: Fingerprints) -> ValueChange | None:
    """Change if the whole body became a member of another one, or one member became the whole body."""
    if type(old) is not type(new) and not (isinstance(old, dict) and isinstance(new, dict)):
        return ValueChange(DamageKind.RESHAPED, "", "", words=f"{value_words(old)} became {value_words(new)}")
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    for key, value in new.items():
        if isinstance(value, dict) and value and prints.key(value) == prints.key(old):
            return ValueChange(
                DamageKind.RESHAPED, "", f"/{escape(key)}", words=f"the whole body became field {key!r} of an object"
            )
    for key, value in old.items():
        if isinstance(value, dict) and value and prints.key(value) == prints.key(new):
            return ValueChange(DamageKind.RESHAPED, f"/{escape(key)}", "", words=f"field {key!r} became the whole body")
    return None


def _lost_keys(before: bytes, after: bytes) -> Iterator[ValueChange]:
    """Changes for keys that were duplicate in an object and are no longer."""
    olds = JsonIndex(before).duplicates()
    news = set(JsonIndex(after).duplicates()) if olds else set()
    for pointer in olds:
        if pointer not in news:
            yield ValueChange(
                DamageKind.DUPLICATES_LOST,
                pointer,
                pointer,
                words="only the last of the duplicate keys was kept",
                is_same_meaning=True,
            )


def _spelling_changes(before: bytes, after: bytes) -> Iterator[ValueChange]:
    texts = TextOffsets(before, after)
    for found in spelling_changes(before, after):
        was, at = texts.old.pointer_at(found.was), texts.new.pointer_at(found.at)
        spans = (found.was, found.at)
        yield ValueChange(found.kind, was, at, None, None, found.words, True, places=found.places, bytes=spans)


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
        return ValueChange(DamageKind.IDS_MAPPED, was, at, loss.old, loss.new, "renamed consistently", True)
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
            DamageKind.FIELD_DROPPED if not words[1] else DamageKind.VALUE_CHANGED,
            "",
            "",
            words="the system instructions",
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
        yield ValueChange(DamageKind.TRUNCATED, "", "", words="the response is incomplete")
    elif old.stop and old.stop != new.stop:
        words = f"finish reason {old.stop} became {new.stop or 'none'}"
        yield ValueChange(
            DamageKind.VALUE_CHANGED if new.stop else DamageKind.FIELD_DROPPED, "", "", old.stop, new.stop, words
        )
    if old.usage and not new.usage:
        yield ValueChange(DamageKind.FIELD_DROPPED, "", "", words="the usage")
