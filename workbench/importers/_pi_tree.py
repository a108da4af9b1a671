"""Entries of a pi session in the order they were sent.

Version 1 is a plain sequence; from version 2 on every entry names its parent, and the file is a tree whose live branch
ends in the newest entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.importers._lines import Line
from workbench.importers._pi_messages import Answer, answer_in, no_result, result_id, summary, told_by_client
from workbench.importers._transcript import Heard, hear
from workbench.importers._values import mapping, text
from workbench.ir import JsonValue, Message, ToolCallIR

MAX_KEPT = 2_000_000
"""Entries that all compactions of a file may keep together: a hostile one keeps everything, again and again."""


@dataclass(eq=False, slots=True)
class Entry:
    """One line.

    Attributes:
        branch: "" where it leads to the newest entry, else the name of an abandoned branch.
        after: what a request says that follows it.
        asked: the entry whose answer may have calls without result.
        is_told: it is a message of the client's that is sent.
    """

    number: int
    value: dict[str, JsonValue]
    parent: Entry | None = None
    children: int = 0
    branch: str = ""
    before: Heard | None = None
    after: Heard | None = None
    asked: Entry | None = None
    answer: Answer | None = None
    is_told: bool = False


def linked(lines: Iterable[Line]) -> list[Entry]:
    """Every entry with its history; the line of the session itself is the first."""
    entries = [Entry(line.number, line.value) for line in lines]
    _link(entries)
    _name_branches(entries)
    by_id = {text(e.value.get("id")): e for e in entries if e.value.get("type") != "session"}
    budget = [MAX_KEPT]
    for entry in entries:
        _tell(entry, entries, by_id, budget)
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
    parent, value = entry.parent, entry.value
    entry.before = entry.after = parent.after if parent else None
    entry.asked = parent.asked if parent else None
    if value.get("type") == "compaction":
        entry.after, entry.asked = _compacted(entry, entries, by_id, budget), None
        return
    message = mapping(value.get("message"))
    if value.get("type") == "message" and message.get("role") == "assistant":
        entry.before = _closed(entry)
        entry.answer = answer_in(message)
        entry.after, entry.asked = entry.before, None
        if not entry.answer.is_broken:
            entry.after, entry.asked = hear(entry.before, _as_message(entry.answer)), entry
        return
    told = told_by_client(value)
    entry.is_told = told is not None
    if told and told.role != "tool":
        entry.after, entry.asked = _closed(entry), None
    entry.after = hear(entry.after, told)


def _as_message(answer: Answer) -> Message:
    return Message("assistant", answer.parts)


def _closed(entry: Entry) -> Heard | None:
    """The history with an answer to every call: a client does not leave one open."""
    asked, node, answered = entry.asked, entry.parent, set[str | None]()
    if not asked or not asked.answer:
        return entry.before
    while node and node is not asked:
        answered.add(result_id(node.value))
        node = node.parent
    heard = entry.before
    for call in asked.answer.parts:
        if isinstance(call, ToolCallIR) and call.id not in answered:
            heard = hear(heard, no_result(call))
    return heard


def _compacted(entry: Entry, entries: Sequence[Entry], by_id: dict[str, Entry], budget: list[int]) -> Heard | None:
    """The summary, and what is kept from the named entry on. ``budget``: entries that may still be repeated."""
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
    heard = hear(None, summary(entry.value))
    for node in reversed(kept if first else []):
        if node.answer and not node.answer.is_broken:
            heard = hear(heard, _as_message(node.answer))
        elif node.is_told:
            heard = hear(heard, told_by_client(node.value))
    return heard
