"""Entries of a pi session in the order they were sent.

Version 1 is a plain sequence; from version 2 on every entry names its parent, and the file is a tree whose live branch
ends in the newest entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.formats.importers._lines import Damage, Line
from workbench.formats.importers._pi_messages import Answer, answer_in, no_result, result_id, summary, told_by_client
from workbench.formats.importers._transcript import Heard, hear
from workbench.formats.importers._values import mapping, text
from workbench.ir import JsonValue, Message, ToolCallIR

MAX_KEPT = 2_000_000
"""Entries that all compactions of a file may keep together: a hostile one keeps everything, again and again."""


KINDS = frozenset(
    {"session", "message", "compaction", "branch_summary", "custom", "custom_message", "label", "session_info"}
    | {"model_change", "thinking_level_change", "active_tools_change", "leaf"}
)
"""Types of entries: what was said, what stands for it, and what the client notes for itself."""

ROLES = frozenset(
    {"user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", "hookMessage"}
)


class Answered(NamedTuple):
    """Ids of calls that have a result, the newest first."""

    id: str | None
    before: Answered | None


class Told(NamedTuple):
    """What a request says so far.

    Attributes:
        heard: its messages.
        asked: the answer at its end that may have calls without result.
        answered: the results behind that answer.
    """

    heard: Heard | None = None
    asked: Answer | None = None
    answered: Answered | None = None


NOTHING_TOLD = Told()


@dataclass(eq=False, slots=True)
class Entry:
    """One line.

    Attributes:
        branch: "" where it leads to the newest entry, else the name of an abandoned branch.
        before: the messages that an answer was given to.
        told: what a request says that follows it.
        is_told: it is a message of the client's that is sent.
    """

    number: int
    value: dict[str, JsonValue]
    parent: Entry | None = None
    children: int = 0
    branch: str = ""
    before: Heard | None = None
    told: Told = NOTHING_TOLD
    answer: Answer | None = None
    is_told: bool = False

    @property
    def is_unknown(self) -> bool:
        """Nobody here knows what it is, so that it may be something that was sent."""
        kind = text(self.value.get("type"))
        role = text(mapping(self.value.get("message")).get("role"))
        return kind not in KINDS or (kind == "message" and role not in ROLES)

    @property
    def after(self) -> Heard | None:
        """The messages of a request that follows it."""
        return self.told.heard


def linked(lines: Iterable[Line], damage: Damage) -> list[Entry]:
    """Every entry with its history; the line of the session itself is the first."""
    entries = [Entry(line.number, line.value) for line in lines]
    _link(entries)
    _name_branches(entries)
    by_id = {text(e.value.get("id")): e for e in entries if e.value.get("type") != "session"}
    budget = [MAX_KEPT]
    for entry in entries:
        _tell(entry, entries, by_id, budget)
    if budget[0] <= 0:
        damage.add(f"the compactions keep more than {MAX_KEPT:,} entries together: the rest is left out")
    return entries


def _link(entries: Sequence[Entry]) -> None:
    """Parents are entries that stand before: so there are no circles."""
    seen: dict[str, Entry] = {}
    last: Entry | None = None
    for entry in entries:
        if entry.value.get("type") == "session":
            continue
        parent = entry.value.get("parentId")
        entry.parent = seen.get(text(parent)) if "parentId" in entry.value else last
        if entry.parent is None and isinstance(parent, str):
            entry.parent = last  # the line that was named is not there any more
        if entry.parent:
            entry.parent.children += 1
        seen.setdefault(text(entry.value.get("id")), entry)
        last = entry


def _name_branches(entries: Sequence[Entry]) -> None:
    live: set[int] = set()
    entry: Entry | None = entries[-1] if entries else None
    while entry:
        live.add(entry.number)
        entry = entry.parent
    count = 0
    for entry in entries:
        if entry.number in live or entry.value.get("type") == "session":
            continue
        entry.branch = entry.parent.branch if entry.parent else ""
        if not entry.branch:
            count += 1
            entry.branch = f"abandoned {count}"


def _tell(entry: Entry, entries: Sequence[Entry], by_id: dict[str, Entry], budget: list[int]) -> None:
    """What entry adds to the history of its parent."""
    before = entry.parent.told if entry.parent else NOTHING_TOLD
    entry.before, entry.told = before.heard, before
    message = mapping(entry.value.get("message"))
    if entry.value.get("type") == "compaction":
        entry.told = _compacted(entry, entries, by_id, budget)
    elif entry.value.get("type") == "message" and message.get("role") == "assistant":
        entry.answer = answer_in(message)
        entry.before = _closed(before)
        entry.told = _after(before, entry)
    else:
        entry.is_told = told_by_client(entry.value) is not None
        entry.told = _after(before, entry)


def _after(before: Told, entry: Entry) -> Told:
    """What a request says with one more entry."""
    if entry.answer:
        heard = _closed(before)
        said = Message("assistant", entry.answer.parts)
        return Told(heard) if entry.answer.is_broken else Told(hear(heard, said), entry.answer)
    told = told_by_client(entry.value) if entry.is_told else None
    if told is None:
        return before
    if told.role == "tool":
        answered = Answered(result_id(entry.value), before.answered)
        return before._replace(heard=hear(before.heard, told), answered=answered)
    return Told(hear(_closed(before), told))


def _closed(told: Told) -> Heard | None:
    """The history with an answer to every call: a client does not leave one open."""
    if not told.asked:
        return told.heard
    answered, node = set[str | None](), told.answered
    while node:
        answered.add(node.id)
        node = node.before
    heard = told.heard
    for call in told.asked.parts:
        if isinstance(call, ToolCallIR) and call.id not in answered:
            heard = hear(heard, no_result(call))
    return heard


def _compacted(entry: Entry, entries: Sequence[Entry], by_id: dict[str, Entry], budget: list[int]) -> Told:
    """The summary, and what is kept from the named entry on, as the client puts it together anew.

    Args:
        budget: entries that may still be repeated.
    """
    first = by_id.get(text(entry.value.get("firstKeptEntryId")))
    index = entry.value.get("firstKeptEntryIndex")
    if isinstance(index, int) and 0 <= index < len(entries):
        first = entries[index]
    kept: list[Entry] = []
    node = entry.parent
    while node and first and node.number >= first.number and budget[0] > 0:
        budget[0] -= 1
        kept.append(node)
        node = node.parent
    told = Told(hear(None, summary(entry.value)))
    for one in reversed(kept if first else []):
        told = _after(told, one)
    return told
