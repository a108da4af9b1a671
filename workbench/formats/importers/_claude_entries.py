"""Reads the lines of a Claude Code session into conversation entries.

Unknown entry types are kept as links of the tree (they have a place in it) without content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.errors import LocalProtocolError
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._messages_transcript import HistoryEntry
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import dumps

NOTHING_SAID = HistoryEntry("user")
SYNTHETIC = "<synthetic>"
SAYING = ("user", "assistant")
BOOKKEEPING = frozenset(
    {"summary", "system", "progress", "attachment", "file-history-snapshot", "queue-operation", "result", "mode"}
    | {
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "last-prompt",
        "permission-mode",
        "tag",
    }
    | {"pr-link", "worktree-state", "content-replacement", "speculation-accept", "task-summary", "bridge-session"}
    | {"attribution-snapshot", "hook", "started", "rate_limit_event", "stream_event", "tool_progress", "relocated"}
)
"""Entry types for the client's own notes; no request contains them."""

REASONING = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class ClaudeEntry:
    """One line.

    Attributes:
        position: line number, or index in the container.
        parent: uuid of the previous entry of the conversation; None at a root.
        resumes: on the first entry after a compaction, uuid of the last entry before it, or an unused uuid if not
            given; None on other entries.
        chain: id of the sub-agent, "?" if it has none; empty for the main conversation.
        kind: ``"user"``, ``"assistant"``, ``"boundary"`` (a new history starts) or ``"other"``.
        content: content added to the history.
        calls: ids of its tool calls. results: ids of the calls that its results answer.
        is_reasoning: it contains only reasoning.
        turn: id of the model turn that this block belongs to.
        envelope: an assistant message without its content.
        error: text of an API error that the client shows as a message; None on other entries.
    """

    position: int
    uuid: str
    parent: str | None
    chain: str
    kind: str
    time: float | None = None
    resumes: str | None = None
    content: HistoryEntry = NOTHING_SAID
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    is_reasoning: bool = False
    turn: str = ""
    envelope: dict[str, Any] | None = None
    error: str | None = None
    version: str = ""


def entries_of(values: Iterable[tuple[int, JsonValue]], damage: ImportDamage) -> Iterator[ClaudeEntry]:
    """Entries with a place in a conversation, in file order; repeated entries count once.

    If no entry of a chain names a parent (older clients, exports of web sessions, merged logs), each entry follows the
    previous one.
    """
    placed_values = [(position, value) for position, value in values if _is_placed(position, value, damage)]
    linked = {_thread(value) for _, value in placed_values if _text(value.get("parentUuid"))}
    seen: set[str] = set()
    last: dict[tuple[str, str], str] = {}
    for position, value in placed_values:
        chain, thread = _chain(value), _thread(value)
        uuid = _text(value.get("uuid")) or f"entry {position}"
        if uuid in seen:
            continue
        named = "uuid" in value and thread in linked
        before = None if value.get("isCompactSummary") is True else last.get(thread)
        parent = _text(value.get("parentUuid")) or None if named else before
        try:
            entry = _entry(position, uuid, parent, chain, value)
        except LocalProtocolError as error:
            damage.add(f"line {position}: {error.what}")
            continue
        if entry.kind in SAYING and not _is_all_said(value):
            damage.add(f"line {position}: a content block that is not an object")
        seen.add(uuid)
        last[thread] = uuid
        yield entry


def _is_placed(position: int, value: JsonValue, damage: ImportDamage) -> bool:
    if not isinstance(value, dict):
        damage.add(f"line {position}: not an object")
        return False
    kind = value.get("type")
    if kind in SAYING and not isinstance(value.get("message"), dict):
        damage.add(f"line {position}: an entry of type {kind!r} without a message")
    elif kind not in SAYING and not (isinstance(kind, str) and kind in BOOKKEEPING):
        damage.unknown("an entry", kind)
    return _has_place(value)


def _is_all_said(value: dict[str, JsonValue]) -> bool:
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return not isinstance(content, list) or all(isinstance(block, dict) for block in content)


def _has_place(value: dict[str, JsonValue]) -> bool:
    return bool(_text(value.get("uuid"))) or value.get("type") in SAYING


def _thread(value: dict[str, JsonValue]) -> tuple[str, str]:
    """Session and conversation of an entry, for files in plain order."""
    return _text(value.get("sessionId")), _chain(value)


def _chain(value: dict[str, JsonValue]) -> str:
    return (_text(value.get("agentId")) or "?") if value.get("isSidechain") is True else ""


def _entry(position: int, uuid: str, parent: str | None, chain: str, value: dict[str, JsonValue]) -> ClaudeEntry:
    kind, message = value.get("type"), value.get("message")
    time, version = epoch(value.get("timestamp")), _text(value.get("version"))
    if kind == "system" and value.get("subtype") == "compact_boundary":
        before = _text(value.get("logicalParentUuid")) or f"before {uuid}"
        return ClaudeEntry(position, uuid, parent, chain, "boundary", time, resumes=before, version=version)
    if kind not in SAYING or not isinstance(message, dict) or value.get("isVisibleInTranscriptOnly") is True:
        return ClaudeEntry(position, uuid, parent, chain, "other", time, version=version)
    blocks = _blocks(message.get("content"))
    entry = ClaudeEntry(
        position,
        uuid,
        parent,
        chain,
        str(kind),
        time,
        content=_history_entry(str(kind), message.get("content"), blocks),
        calls=tuple(_text(b.get("id")) for b in blocks if b.get("type") == "tool_use"),
        results=tuple(_text(b.get("tool_use_id")) for b in blocks if _is_result(b)) if kind == "user" else (),
        is_reasoning=all(b.get("type") in REASONING for b in blocks),
        resumes=f"before {uuid}" if value.get("isCompactSummary") is True and parent is None else None,
        version=version,
    )
    return _with_turn(entry, value, message, blocks) if kind == "assistant" else entry


def _with_turn(
    entry: ClaudeEntry, value: dict[str, JsonValue], message: dict[str, JsonValue], blocks: list[dict[str, JsonValue]]
) -> ClaudeEntry:
    is_error = value.get("isApiErrorMessage") is True and message.get("model") == SYNTHETIC
    return replace(
        entry,
        turn=_text(message.get("id")) or _text(value.get("requestId")) or entry.uuid,
        envelope={k: v for k, v in message.items() if k != "content"},
        error="".join(_text(b.get("text")) for b in blocks) if is_error else None,
    )


def _blocks(content: JsonValue) -> list[dict[str, JsonValue]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _history_entry(role: str, content: JsonValue, blocks: list[dict[str, JsonValue]]) -> HistoryEntry:
    if isinstance(content, str) and role == "user":
        return HistoryEntry(role, text=dumps(content) if content else b"")
    is_first = _is_result if role == "user" else lambda block: False
    results = tuple(dumps(b) for b in blocks if is_first(b))
    return HistoryEntry(role, results, tuple(dumps(b) for b in blocks if not is_first(b)))


def _is_result(block: dict[str, JsonValue]) -> bool:
    return block.get("type") == "tool_result"


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
