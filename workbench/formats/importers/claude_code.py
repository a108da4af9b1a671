"""Importer for Claude Code sessions: ``~/.claude/projects/…/*.jsonl``, or a web session's ``{"loglines": […]}``."""

from __future__ import annotations

from collections.abc import Iterable

from workbench import regex
from workbench.errors import UnreadableInput
from workbench.formats.importers._claude_entries import entries_of
from workbench.formats.importers._claude_turns import URL, turns_of
from workbench.formats.importers._files import ImportDamage, first_objects, objects
from workbench.formats.importers._messages_transcript import MessagesSession
from workbench.ir import JsonValue
from workbench.wire import loads

NAME = "claude-code"
TITLE = "Claude Code session"

_LOGLINES = regex.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"loglines"\s*:\s*\[')
_LONG_LINE = regex.compile(
    rb'\s*\{[^\n]{0,1000}"(?:parentUuid|sessionId)"\s*:[^\n]{0,2000}"type"\s*:\s*"(?:user|assistant)"'
)
_MARKS = frozenset({"parentUuid", "leafUuid", "messageId", "sessionId"})


def sniff(head: bytes) -> float:
    """Lines with a type and its marks; conversation lines have a ``message`` with ``content``."""
    if _LOGLINES.match(head):
        return 0.95
    first = first_objects(head)
    if not first:
        return 0.9 if _LONG_LINE.match(head) else 0.0
    known = [v for v in first if isinstance(v.get("type"), str) and not _MARKS.isdisjoint(v)]
    foreign = any(isinstance(v.get("message"), dict) and "content" not in v["message"] for v in known)
    return 0.95 if 2 * len(known) > len(first) and not foreign else 0.0


def read(data: bytes, name: str) -> MessagesSession:
    """One exchange per model turn, sub-agents and abandoned branches included.

    Raises:
        UnreadableInput: no line belongs to a conversation.
        WireError: a container that is not JSON.
    """
    damage = ImportDamage()
    turns = turns_of(list(entries_of(_values(data, damage), damage)), damage)
    if not turns:
        raise damage.refuse("the file contains no conversation entry")
    return MessagesSession(name, turns, url=URL, damage=damage.as_lines(), title=TITLE)


def _values(data: bytes, damage: ImportDamage) -> Iterable[tuple[int, JsonValue]]:
    if not _LOGLINES.match(data):
        return ((line.number, line.value) for line in objects(data, damage))
    lines = loads(data)["loglines"]
    if not isinstance(lines, list):
        raise UnreadableInput("/loglines is not a list")
    return enumerate(lines, 1)
