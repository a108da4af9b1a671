"""Orders the entries of a pi session as they were sent.

Version 1 is a plain sequence; from version 2 every entry names its parent: the file is a tree, and its live branch ends
in the newest entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from workbench.formats.importers._lines import ImportDamage, Line
from workbench.formats.importers._pi_messages import PiAnswer, answer_in, client_message, no_result, result_id, summary
from workbench.formats.importers._transcript import SharedHistory, extend_history
from workbench.formats.importers._values import mapping, text
from workbench.ir import JsonValue, Message, ToolCallIR
from workbench.lazy_dataclass import dataclass

MAX_KEPT = 2_000_000
"""Limit of entries that all compactions of a file keep together: a hostile file keeps everything repeatedly."""


KINDS = frozenset(
    {"session", "message", "compaction", "branch_summary", "custom", "custom_message", "label", "session_info"}
    | {"model_change", "thinking_level_change", "active_tools_change", "leaf"}
)
"""Known entry types: messages, summaries, and the client's own notes."""

ROLES = frozenset(
    {"user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", "hookMessage"}
)


class ResultIds(NamedTuple):
    """Ids of calls that have a result, as a linked list, newest first."""

    id: str | None
    before: ResultIds | None


class RequestState(NamedTuple):
    """Content of the next request so far.

    Attributes:
        heard: its messages.
        asked: the last assistant message, which may have calls without result.
        answered: the results after it.
    """

    history: SharedHistory | None = None
    asked: PiAnswer | None = None
    answered: ResultIds | None = None


EMPTY_REQUEST = RequestState()


@dataclass(eq=False, slots=True)
class PiEntry:
    """One line.

    Attributes:
        branch: name of an abandoned branch; empty if it leads to the newest entry.
        before: the messages that a response was given to.
        told: content of a request after this entry.
        is_told: it is a client message that is sent.
    """

    number: int
    value: dict[str, JsonValue]
    parent: PiEntry | None = None
    children: int = 0
    branch: str = ""
    before: SharedHistory | None = None
    state: RequestState = EMPTY_REQUEST
    answer: PiAnswer | None = None
    is_sent: bool = False

    @property
    def is_unknown(self) -> bool:
        """True for an unknown entry type, which may have been sent."""
        kind = text(self.value.get("type"))
        role = text(mapping(self.value.get("message")).get("role"))
        return kind not in KINDS or (kind == "message" and role not in ROLES)

    @property
    def after(self) -> SharedHistory | None:
        """Messages of a request after this entry."""
        return self.state.history


def link_entries(lines: Iterable[Line], damage: ImportDamage) -> list[PiEntry]:
    """All entries with their histories; the first is the session line."""
    entries = [PiEntry(line.number, line.value) for line in lines]
    _link(entries)
    _name_branches(entries)
    by_id = {text(e.value.get("id")): e for e in entries if e.value.get("type") != "session"}
    budget = [MAX_KEPT]
    for entry in entries:
        _set_state(entry, entries, by_id, budget)
    if budget[0] <= 0:
        damage.add(f"the compactions keep more than {MAX_KEPT:,} entries in total; the rest is left out")
    return entries


def _link(entries: Sequence[PiEntry]) -> None:
    """Link parents; a parent must be earlier in the file, so there are no cycles."""
    seen: dict[str, PiEntry] = {}
    last: PiEntry | None = None
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


def _name_branches(entries: Sequence[PiEntry]) -> None:
    live: set[int] = set()
    entry: PiEntry | None = entries[-1] if entries else None
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


def _set_state(entry: PiEntry, entries: Sequence[PiEntry], by_id: dict[str, PiEntry], budget: list[int]) -> None:
    """Add the entry to the history of its parent."""
    before = entry.parent.state if entry.parent else EMPTY_REQUEST
    entry.before, entry.state = before.history, before
    message = mapping(entry.value.get("message"))
    if entry.value.get("type") == "compaction":
        entry.state = _after_compaction(entry, entries, by_id, budget)
    elif entry.value.get("type") == "message" and message.get("role") == "assistant":
        entry.answer = answer_in(message)
        entry.before = _with_all_results(before)
        entry.state = _after(before, entry)
    else:
        entry.is_sent = client_message(entry.value) is not None
        entry.state = _after(before, entry)


def _after(before: RequestState, entry: PiEntry) -> RequestState:
    """Content of a request with one more entry."""
    if entry.answer:
        heard = _with_all_results(before)
        said = Message("assistant", entry.answer.parts)
        return (
            RequestState(heard) if entry.answer.is_broken else RequestState(extend_history(heard, said), entry.answer)
        )
    told = client_message(entry.value) if entry.is_sent else None
    if told is None:
        return before
    if told.role == "tool":
        answered = ResultIds(result_id(entry.value), before.answered)
        return before._replace(history=extend_history(before.history, told), answered=answered)
    return RequestState(extend_history(_with_all_results(before), told))


def _with_all_results(told: RequestState) -> SharedHistory | None:
    """The history with a result for every call: the client leaves no call open."""
    if not told.asked:
        return told.history
    answered, node = set[str | None](), told.answered
    while node:
        answered.add(node.id)
        node = node.before
    heard = told.history
    for call in told.asked.parts:
        if isinstance(call, ToolCallIR) and call.id not in answered:
            heard = extend_history(heard, no_result(call))
    return heard


def _after_compaction(
    entry: PiEntry, entries: Sequence[PiEntry], by_id: dict[str, PiEntry], budget: list[int]
) -> RequestState:
    """The summary, and the entries kept from the named one on, as the client rebuilds the history.

    Args:
        budget: number of entries that may still be repeated.
    """
    first = by_id.get(text(entry.value.get("firstKeptEntryId")))
    index = entry.value.get("firstKeptEntryIndex")
    if isinstance(index, int) and 0 <= index < len(entries):
        first = entries[index]
    kept: list[PiEntry] = []
    node = entry.parent
    while node and first and node.number >= first.number and budget[0] > 0:
        budget[0] -= 1
        kept.append(node)
        node = node.parent
    told = RequestState(extend_history(None, summary(entry.value)))
    for one in reversed(kept if first else []):
        told = _after(told, one)
    return told
