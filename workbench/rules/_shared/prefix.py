"""The prompt of a request as a provider's cache sees it, and where it diverges from that of an earlier request.

Caches read a prompt from its beginning: tools, then the system text, then the messages. Everything after the first
difference is read again, even if most of it is the same. Cache breakpoints are not part of the prompt.
"""

from __future__ import annotations

import json

from workbench import regex
from workbench.chain import without_marks
from workbench.ir import JsonValue, Message
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange, HistoryPrefix, text_of
from workbench.provenance import escape
from workbench.rules._shared.body_values import values_at
from workbench.wire import loads, string_slice_span

DEEPEST = 100
"""Depth of a pointer up to which values are compared one by one; deeper values are compared as a whole."""

TOOLS, SYSTEM, MESSAGES = "tools", "system", "messages"

_PLACES = {
    TOOLS: ("/tools", "/functions", "/toolConfig/tools"),
    SYSTEM: ("/system", "/instructions", "/systemInstruction"),
}
_MARKS = ("cache_control", "cachePoint")
_TIME = regex.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\b\d{10,}\b|\b(?:19|20)\d\d\b|[0-9a-f]{8}-[0-9a-f]{4}-")


@dataclass(frozen=True, slots=True)
class Break:
    """First place where the prompt of a request differs from that of an earlier one.

    Attributes:
        part: ``"tools"``, ``"system"`` or ``"messages"``.
        pointer: JSON pointer of the difference, in the later request.
        span: its byte range there, from the character that contains the first differing byte.
        byte: offset of the first differing byte; None if there is no span.
        why: what happened to it, in words.
        was, now: the differing text in both; empty if there is none.
        reread_bytes: number of bytes after the difference that both requests have.
    """

    part: str
    pointer: str
    span: tuple[int, int] | None
    byte: int | None
    why: str
    was: str
    now: str
    reread_bytes: int


@dataclass(frozen=True, slots=True)
class _Spot:
    """A difference inside a JSON value: where it is in the later one, and the character, where both are strings.

    Attributes:
        at_end: the later one ends there, and the earlier one continues.
    """

    pointer: str
    was: JsonValue = None
    now: JsonValue = None
    char: int | None = None
    at_end: bool = False


def first_break(old: DecodedExchange, new: DecodedExchange) -> Break | None:
    """The first difference within the prompt of ``old``; None if ``new`` only continues it, or ends earlier."""
    for part in (TOOLS, SYSTEM):
        was, now = getattr(old.request, part), getattr(new.request, part)
        if was is now or repr(was) == repr(now):
            continue  # with the order of keys, which the bytes of a prompt have too
        before, after = _segment(old, part), _segment(new, part)
        spot = _differs(before[1], after[1], after[0])
        if spot:
            why = _of_tools(old, new) if part == TOOLS else _of_text(spot, "the system prompt")
            return _break_at(old, new, part, spot, why, 0)
    old_messages, new_messages = old.messages(REQUEST), new.messages(REQUEST)
    if (
        isinstance(old_messages, HistoryPrefix)
        and isinstance(new_messages, HistoryPrefix)
        and old_messages.history is new_messages.history
    ):
        return None  # one is the beginning of the other
    for n, (one, other) in enumerate(zip(old_messages, new_messages, strict=False)):
        if one is other or one == other or without_marks(one) == without_marks(other):
            continue
        spot = _differs(_value(old, one.pointer), _value(new, other.pointer), other.pointer)
        if spot:
            return _break_at(old, new, MESSAGES, spot, _of_messages(old, new, n, spot), n)
    return None


def _segment(decoded: DecodedExchange, part: str) -> tuple[str, JsonValue]:
    """(pointer, value) of the tools or the system text."""
    return next((found for place in _PLACES[part] for found in values_at(decoded, place)), (_PLACES[part][0], None))


def _value(decoded: DecodedExchange, pointer: str) -> JsonValue:
    span = decoded.place(REQUEST, pointer).span
    return loads(decoded.request_text[slice(*span)]) if span else None


def _differs(old: JsonValue, new: JsonValue, pointer: str) -> _Spot | None:
    """The first difference in the order of the later text."""
    old, new = _plain(old), _plain(new)
    if pointer.count("/") > DEEPEST:
        return _Spot(pointer, old, new) if old != new else None
    if isinstance(old, str) and isinstance(new, str):
        if old == new:
            return None
        pairs = enumerate(zip(old, new, strict=False))
        at = next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))
        return _Spot(pointer, old, new, at)
    if isinstance(old, list) and isinstance(new, list):
        inner = (_differs(a, b, f"{pointer}/{n}") for n, (a, b) in enumerate(zip(old, new, strict=False)))
        found = next((spot for spot in inner if spot), None)
        if found or len(old) == len(new):
            return found
        return _Spot(f"{pointer}/{len(old)}" if len(new) > len(old) else pointer, old, new, at_end=len(new) < len(old))
    if isinstance(old, dict) and isinstance(new, dict):
        return _in_object(old, new, pointer)
    return _Spot(pointer, old, new) if old != new or isinstance(old, bool) is not isinstance(new, bool) else None


def _in_object(old: dict[str, JsonValue], new: dict[str, JsonValue], pointer: str) -> _Spot | None:
    for (was, a), (now, b) in zip(old.items(), new.items(), strict=False):
        if was != now:
            return _Spot(f"{pointer}/{escape(now)}", was, now)
        found = _differs(a, b, f"{pointer}/{escape(now)}")
        if found:
            return found
    if len(old) == len(new):
        return None
    added = list(new)[len(old) :]
    spot = f"{pointer}/{escape(added[0])}" if added else pointer
    return _Spot(spot, list(old)[len(new) :], added, at_end=not added)


def _plain(value: JsonValue) -> JsonValue:
    """Without cache marks; a list of one text is the text."""
    if isinstance(value, dict):
        return {k: v for k, v in value.items() if k not in _MARKS}
    if isinstance(value, list):
        items = [item for item in value if not (isinstance(item, dict) and "cachePoint" in item)]
        only = items[0] if len(items) == 1 and isinstance(items[0], dict) else {}
        if only.get("type") == "text" and "text" in only and set(only) <= {"type", "text", *_MARKS}:
            return only["text"]
        return items
    return value


def _break_at(old: DecodedExchange, new: DecodedExchange, part: str, spot: _Spot, why: str, number: int) -> Break:
    pointer, span = _place(new, spot)
    start = spot.char or 0
    was, now = (v[start : start + 60] if isinstance(v, str) else "" for v in (spot.was, spot.now))
    rests = [_rest(decoded, part, number, spot, side) for decoded, side in ((old, spot.was), (new, spot.now))]
    byte = span[0] + _shared_bytes(was[:1], now[:1], new.request_text[span[0]]) if span else None
    return Break(part, pointer, span, byte, why, was, now, min(rests))


def _shared_bytes(was: str, now: str, first: int) -> int:
    """Bytes that the first characters have in common, as they are written: in UTF-8, or escaped."""
    if first == ord("\\"):
        one, other = (json.dumps(char)[1:-1].encode() for char in (was, now))
    else:
        one, other = (char.encode("utf-8", "surrogatepass") for char in (was, now))
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _place(new: DecodedExchange, spot: _Spot) -> tuple[str, tuple[int, int] | None]:
    """The pointer that is really there, and its bytes from the first that differs."""
    pointer = spot.pointer
    if spot.char is not None and isinstance(_value(new, pointer), list):
        pointer += "/0/text"
    span = new.place(REQUEST, pointer).span
    while span is None and pointer:
        pointer = pointer.rpartition("/")[0]
        span = new.place(REQUEST, pointer).span
    if span and spot.char is not None and new.request_text[span[0] : span[0] + 1] == b'"':
        first = string_slice_span(new.request_text, span, spot.char, len(str(spot.now)))
        return pointer, (min(first[0], span[1] - 1), span[1])
    return pointer, (span[1] - 1, span[1]) if span and spot.at_end and pointer == spot.pointer else span


def _rest(decoded: DecodedExchange, part: str, number: int, spot: _Spot, side: JsonValue) -> int:
    """Bytes of the prompt behind the difference."""
    parts = (TOOLS, SYSTEM, MESSAGES)
    sizes = {name: _size(decoded, _segment(decoded, name)[0]) for name in (TOOLS, SYSTEM)}
    sizes[MESSAGES] = _size_from(decoded, number)
    behind, own = sum(sizes[name] for name in parts[parts.index(part) + 1 :]), sizes[part]
    return behind + own - min(_before(spot, side), own)


def _size_from(decoded: DecodedExchange, number: int) -> int:
    """Bytes of the messages from one on."""
    messages = decoded.messages(REQUEST)
    if number == 0 and isinstance(messages, HistoryPrefix):
        return messages.size
    texts = [(message, text_of(message)) for message in messages[number:]]
    return sum(_size(decoded, message.pointer) if text is None else len(text) for message, text in texts)


def _before(spot: _Spot, side: JsonValue) -> int:
    """Bytes in front of the difference in its own string: what comes before that in its node is little."""
    return len(str(side)[: spot.char].encode("utf-8", "replace")) if spot.char else 0


def _size(decoded: DecodedExchange, pointer: str) -> int:
    span = decoded.place(REQUEST, pointer).span
    return span[1] - span[0] if span else 0


def _of_tools(old: DecodedExchange, new: DecodedExchange) -> str:
    before, after = ([tool.name or "" for tool in d.request.tools] if d.request else [] for d in (old, new))
    if before == after:
        return "a tool definition changed"
    if sorted(before) == sorted(after):
        return "the tools are in a different order"
    added, dropped = [n for n in after if n not in before], [n for n in before if n not in after]
    changed = [f"{len(added)} more"] * bool(added) + [f"{len(dropped)} fewer"] * bool(dropped)
    return f"the list of tools changed: {', '.join(changed) or 'names are repeated'}"


def _of_text(spot: _Spot, what: str) -> str:
    if spot.char is None:
        return f"{what} changed"
    around = (str(text)[max(0, spot.char - 24) : spot.char + 24] for text in (spot.was, spot.now))
    if all(_TIME.search(text) for text in around):
        return f"{what} contains a time or a number that changes with every request"
    return f"{what} changed"


def _of_messages(old: DecodedExchange, new: DecodedExchange, number: int, spot: _Spot) -> str:
    before, after = old.messages(REQUEST), new.messages(REQUEST)
    if after[number].role in ("system", "developer"):
        return _of_text(spot, "a system message")
    left_out = _distance(after[number], before[number + 1 :])
    if left_out:
        return f"{left_out} earlier message{'s' * (left_out > 1)} removed"
    put_in = _distance(before[number], after[number + 1 :])
    if put_in:
        return f"{put_in} message{'s' * (put_in > 1)} inserted between earlier ones"
    if _without_reasoning(before[number]) == _without_reasoning(after[number]):
        return "the reasoning of an earlier response was removed or changed"
    return _of_text(spot, f"an earlier message of role {after[number].role[:20]!r}")


def _distance(message: Message, others: tuple[Message, ...]) -> int:
    """Number of messages to the same message, from one; 0 if there is none."""
    return next((n for n, other in enumerate(others, 1) if other == message), 0)


def _without_reasoning(message: Message) -> tuple[object, ...]:
    reasoning = {n for n, _ in message.reasoning()}
    return tuple(part for n, part in enumerate(message.parts) if n not in reasoning)
