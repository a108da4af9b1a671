"""Differences between what the usual clients build from the same bytes, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from workbench import protocols
from workbench.ir import JsonValue, ToolCallIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols.clients.buffers import (
    CALL,
    MADE_UP,
    REASONING,
    TEXT,
    BuiltAnswer,
    ClientError,
    PartBuffer,
    Policy,
    chunks,
    run,
)
from workbench.protocols.clients.steps import calls_of, our_answer

if TYPE_CHECKING:
    from workbench.protocols.decode import DecodedExchange

MOST = 4
"""Differences of one client that are named."""
MOST_CALLS = 500
"""Calls of one answer beyond which nothing is compared: clients look for the call of a delta among all of them."""
QUOTE_LENGTH = 48
"""Characters of a value that are quoted."""


@dataclass(frozen=True, slots=True)
class ClientDifference:
    """One field of one part that a client has otherwise.

    Attributes:
        part: in words: ``call 2``, ``text``, ``reasoning_content``.
        event: the block of the stream at which the two depart; None where no block shows it.
        words: what the client has, as the end of a sentence that begins with its name. Untrusted text is in it.
        is_lost_call: the client has no such tool call.
    """

    part: str
    event: int | None
    words: str
    is_lost_call: bool = False


@dataclass(frozen=True, slots=True)
class ClientGroup:
    """Clients that build the same.

    Attributes:
        policies: their names.
        packages: what each was written after.
        differences: from what we read, in order of parts; empty where they agree with it.
        stopped: where they raise.
        notes: what else they did.
    """

    policies: tuple[str, ...]
    packages: tuple[str, ...]
    differences: tuple[ClientDifference, ...] = ()
    stopped: ClientError | None = None
    notes: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """True if these clients build the same message as our adapter."""
        return not self.differences and self.stopped is None

    @property
    def is_seen(self) -> bool:
        """The user or a tool gets something else: the difference is in a text or a call, not in reasoning alone."""
        return self.stopped is not None or any(d.part.startswith((TEXT, CALL)) for d in self.differences)

    @property
    def event(self) -> int | None:
        """The first block at which they depart; None where it is the end of the stream, or none."""
        events = [d.event for d in self.differences if d.event is not None]
        if self.stopped is not None:
            return self.stopped.event if self.stopped.event is not None else None
        return min(events, default=None)

    @property
    def words(self) -> str:
        """Description of what they build; empty if they agree."""
        if self.stopped is not None:
            where = "at the end of the stream" if self.stopped.event is None else f"at event {self.stopped.event}"
            verb = "raises" if len(self.policies) == 1 else "raise"
            return f"{verb} {self.stopped.kind} {where}: {self.stopped.words}"
        more = f"; and {len(self.differences) - MOST} more" if len(self.differences) > MOST else ""
        return "; ".join(d.words for d in self.differences[:MOST]) + more


@cache
def policies(protocol: str) -> tuple[type[Policy], ...]:
    """The known clients of a protocol; none for most."""
    return protocols.get(protocol).client_policies() if protocol in protocols.protocols() else ()


def where_they_differ(decoded: DecodedExchange) -> tuple[ClientGroup, ...]:
    """Groups of clients that build the same from a stream, those that agree with us first.

    Empty where the answer is no stream, still arrives, was not decoded, or is of a protocol without known clients.
    """
    by_answer: dict[JsonValue, list[ClientGroup]] = {}
    for alone in one_by_one(decoded):
        by_answer.setdefault((alone.stopped, alone.differences, alone.notes), []).append(alone)
    groups = (
        replace(
            who[0],
            policies=tuple(name for alone in who for name in alone.policies),
            packages=tuple(name for alone in who for name in alone.packages),
        )
        for who in by_answer.values()
    )
    return tuple(sorted(_merge_agreeing(tuple(groups)), key=lambda g: not g.agrees))


def one_by_one(decoded: DecodedExchange) -> Iterator[ClientGroup]:
    """Every client alone, for who wants to stop in between: of a long stream each takes a while."""
    known = policies(decoded.protocol or "")
    if not decoded.events or decoded.answer is None or not known:
        return
    if sum(isinstance(part, ToolCallIR) for m in decoded.answer.messages for part in m.parts) > MOST_CALLS:
        return
    blocks = chunks(decoded.events)
    if any(mark in block.data for mark in protocols.traits(decoded.protocol).partial_markers for block in blocks):
        return
    read = (
        our_answer(decoded.answer, blocks)
        if protocols.traits(decoded.protocol).clients_build_all
        else calls_of(decoded.answer, blocks)
    )
    for policy in known:
        answer = run(policy(), blocks)
        found = () if answer.stopped else tuple(_differences(read, answer))
        yield ClientGroup((policy.name,), (policy.package,), found, answer.stopped, answer.notes)


def _merge_agreeing(groups: Sequence[ClientGroup]) -> Iterator[ClientGroup]:
    """All clients that agree with the IR form one group, even if their notes differ."""
    agreeing = [g for g in groups if g.agrees]
    if agreeing:
        notes = tuple(dict.fromkeys(n for g in agreeing for n in g.notes))
        names = tuple(p for g in agreeing for p in g.policies)
        yield ClientGroup(names, tuple(p for g in agreeing for p in g.packages), notes=notes)
    yield from (g for g in groups if not g.agrees)


def _differences(read: BuiltAnswer, built_answer: BuiltAnswer) -> Iterator[ClientDifference]:
    for n in range(max(len(read.messages), len(built_answer.messages))):
        of = f" of choice {n + 1}" if n else ""
        mine = _by_place(read.messages[n] if n < len(read.messages) else ())
        theirs = _by_place(built_answer.messages[n] if n < len(built_answer.messages) else ())
        for place in dict.fromkeys((*mine, *theirs)):
            yield from _of_part(f"{place}{of}", mine.get(place), theirs.get(place), mine)


def _by_place(parts: Sequence[PartBuffer]) -> dict[str, PartBuffer]:
    """Parts by their name in words. Parts that are neither speech nor a call are not compared."""
    placed: dict[str, PartBuffer] = {}
    counts: dict[str, int] = {}
    for part in parts:
        if part.kind not in (TEXT, REASONING, CALL):
            continue
        noun = part.name if part.kind == REASONING else part.kind
        counts[noun] = counts.get(noun, 0) + 1
        is_only = part.kind != CALL and counts[noun] == 1
        placed[noun if is_only else f"{noun} {counts[noun]}"] = part
    return placed


def _of_part(
    place: str, mine: PartBuffer | None, theirs: PartBuffer | None, all_mine: dict[str, PartBuffer]
) -> Iterator[ClientDifference]:
    if theirs is None and mine is not None:
        yield ClientDifference(place, _first(mine), f"{_whole(place, mine)} is missing", mine.kind == CALL)
    elif mine is None and theirs is not None:
        yield ClientDifference(place, _first(theirs), f"has a different part, {_whole(place, theirs)}")
    elif mine is not None and theirs is not None:
        my_fields, their_fields = mine.says(), theirs.says()
        for field in my_fields:
            if my_fields[field] != their_fields.get(field):
                event = _departure(mine, theirs, field)
                yield ClientDifference(place, event, _field_words(place, field, mine, theirs, all_mine))


def _whole(place: str, part: PartBuffer) -> str:
    if part.kind != CALL:
        return f"{place} ({len(part.text('text') or ''):,} characters)"
    return f"{place} {_quote(part.text('name'))} with arguments {_quote(part.arguments())}"


def _field_words(place: str, field: str, mine: PartBuffer, theirs: PartBuffer, all_mine: dict[str, PartBuffer]) -> str:
    their_value, my_value = theirs.says().get(field), mine.says()[field]
    if their_value == MADE_UP:
        return f"invents an id for {place}, which was received with {_quote(my_value) if my_value else 'none'}"
    if field in ("text", "signature", "data"):
        return _speech_words(place, field, str(their_value or ""), str(my_value or ""))
    label = f"{place}" if field == "name" else f"{place} {_quote(mine.text('name'))}"
    words = f"{label}: {field} {_quote(their_value)}, sent as {_quote(my_value)}"
    others = [p for p in all_mine.values() if p is not mine and p.kind == CALL]
    event_numbers = set(theirs.events(field)) - set(mine.events(field))
    if field == "arguments" and any(event_numbers & set(other.events(field)) for other in others):
        return f"{words}: the arguments of several calls were joined"
    if theirs.value is not None and mine.value is None:
        return f"{words}: truncated arguments were completed"
    return words


def _speech_words(place: str, field: str, their_text: str, text: str) -> str:
    noun = place if field == "text" else f"{field} of {place}"
    if not their_text:
        return f"has no {noun} ({len(text):,} characters)"
    if their_text and text.endswith(their_text):
        return f"has only the last {len(their_text):,} of {len(text):,} characters of {noun}"
    return f"has {noun} {_quote(their_text)} instead of {_quote(text)}"


def _quote(value: JsonValue) -> str:
    if value is None:
        return "(none)"
    text = str(value)
    if not text:
        return "(empty)"
    return (
        f"`{text}`" if len(text) <= QUOTE_LENGTH else f"`{text[: QUOTE_LENGTH * 2 // 3]}…{text[-QUOTE_LENGTH // 3 :]}`"
    )


def _first(part: PartBuffer) -> int | None:
    events = [p.event for pieces in part.strings.values() for p in pieces if p.event >= 0]
    return min(events, default=None)


def _departure(mine: PartBuffer, theirs: PartBuffer, field: str) -> int | None:
    """The block at which a field begins to be another: one that only one of the two took; else the last one."""
    a, b = mine.events(field), [e for e in theirs.events(field) if e >= 0]
    added, left_out = sorted(set(b) - set(a)), sorted(set(a) - set(b))
    if added:
        return added[0]
    if left_out and b and b[0] > left_out[0]:  # what came first was replaced by what came next
        return next(e for e in a if e > left_out[0])
    shared = [*left_out, *a[-1:], *b[-1:]]
    return shared[0] if shared else _first(mine)
