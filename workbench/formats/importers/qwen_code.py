"""Importer for Qwen Code chats (``~/.qwen/projects/…/chats/*.jsonl``): Gemini parts in a tree of entries.

The model usually speaks Chat Completions, so the exchanges are written in that protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from workbench.formats.importers._http import epoch
from workbench.formats.importers._lines import ImportDamage, Line, first_objects, objects
from workbench.formats.importers._qwen_parts import message_of, usage_of
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    answer_of,
    extend_history,
    reconstructed_exchange,
)
from workbench.formats.importers._values import mapping, rest, text
from workbench.ir import JsonValue, Message, ToolCallIR
from workbench.lazy_dataclass import dataclass
from workbench.wire import State

NAME = "qwen-code"
TITLE = "Qwen Code chat"
LACKS = ("system", "tools", "parameters", "headers", "streaming")
_PROTOCOL = "openai-chat"
_KNOWN = ("uuid", "parentUuid", "timestamp", "type", "message", "model", "usageMetadata", "sessionId", "version")


@dataclass(frozen=True, slots=True)
class _QwenPosition:
    """State of the conversation after an entry; ``calls`` are those of the last response."""

    line: Line
    heard: SharedHistory | None = None
    calls: tuple[ToolCallIR, ...] = ()
    model: str | None = None
    parent: str | None = None


def sniff(head: bytes) -> float:
    """Entries of a tree with messages made of parts."""
    first = first_objects(head)
    entries = [v for v in first if "parentUuid" in v and "uuid" in v]
    if any(isinstance(mapping(v.get("message")).get("parts"), list) for v in entries):
        return 0.95
    only_system = bool(first) and len(entries) == len(first) and all(v.get("type") == "system" for v in first)
    return 0.4 if only_system and any("systemPayload" in v for v in first) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per response, and one for the next request. Raises UnreadableInput if there is no message."""
    damage = ImportDamage()
    turns = list(_turns(list(objects(data, damage)), damage))
    if not turns:
        raise damage.refuse("the chat has no message")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _turns(lines: list[Line], damage: ImportDamage) -> Iterator[TranscriptTurn]:
    places: dict[str, _QwenPosition] = {}
    last: _QwenPosition | None = None
    kept: dict[str, JsonValue] = {}
    live = _live(lines)
    for line in lines:
        value = line.value
        parent = text(value.get("parentUuid"))
        before = places.get(parent) or (last if "uuid" not in value or parent else None) or _QwenPosition(line)
        role, message = message_of(value, line.number, before.calls, damage)
        branch = "" if text(value.get("uuid")) in live or not live else "abandoned"
        here = replace(before, line=line)
        if role == "assistant":
            model = text(value.get("model")) or before.model
            yield _answered_turn(line, message, before.heard, model, branch, kept)
            kept = {}
            calls = tuple(p for p in message.parts if isinstance(p, ToolCallIR))
            here = _QwenPosition(line, extend_history(before.heard, message), calls, model)
        elif message.parts:
            here = replace(here, heard=extend_history(before.heard, message))
        held = rest(value, *_KNOWN) if message.parts else value
        if role != "assistant" and held:
            kept[f"line {line.number}"] = held
        compressed = mapping(value.get("systemPayload")).get("compressedHistory")
        if isinstance(compressed, list):
            here = _compressed_history(here, compressed, damage)
        last = places[text(value.get("uuid")) or f"line {line.number}"] = here
    if last and last.heard and _is_asking(last.heard):
        yield _open_end(last, kept)


def _live(lines: Iterable[Line]) -> set[str]:
    """Entries that lead to the newest one."""
    parents = {text(v.value.get("uuid")): text(v.value.get("parentUuid")) for v in lines if v.value.get("uuid")}
    live: set[str] = set()
    uuid = next(reversed(parents), "")
    while uuid and uuid not in live:
        live.add(uuid)
        uuid = parents.get(uuid, "")
    return live


def _compressed_history(here: _QwenPosition, history: list[JsonValue], damage: ImportDamage) -> _QwenPosition:
    """Start a new history with the client's compressed messages."""
    heard: SharedHistory | None = None
    calls: tuple[ToolCallIR, ...] = ()
    for number, content in enumerate(damage.objects(history, "a message of a compressed history")):
        kind = "assistant" if content.get("role") == "model" else "user"
        message = message_of({"type": kind, "message": content}, number, calls, damage)[1]
        calls = tuple(p for p in message.parts if isinstance(p, ToolCallIR)) or calls
        heard = extend_history(heard, message)
    return replace(here, heard=heard, calls=calls)


def _is_asking(heard: SharedHistory) -> bool:
    return isinstance(heard.message, Message) and heard.message.role != "assistant"


def _answered_turn(
    line: Line,
    message: Message,
    heard: SharedHistory | None,
    model: str | None,
    branch: str,
    kept: dict[str, JsonValue],
) -> TranscriptTurn:
    value = line.value
    meta: dict[str, JsonValue] = {"entry": rest(value, "message", "uuid", "parentUuid", "timestamp", "usageMetadata")}
    like = reconstructed_exchange(
        text(value.get("uuid")) or f"line {line.number}",
        lacks=LACKS,
        note="written as Chat Completions, the protocol this client usually uses",
        started_at=epoch(value.get("timestamp")),
        client=f"qwen-code {text(value.get('version'))}".strip(),
        branch=branch,
        meta=meta | ({"beside": kept} if kept else {}),
    )
    calls = any(isinstance(p, ToolCallIR) for p in message.parts)
    said = answer_of(
        _PROTOCOL,
        message.parts,
        model=model,
        stop="tool_calls" if calls else "stop",
        usage=usage_of(mapping(value.get("usageMetadata"))),
    )
    return TranscriptTurn(like, _PROTOCOL, heard, model, answer=said)


def _open_end(last: _QwenPosition, kept: dict[str, JsonValue]) -> TranscriptTurn:
    note = "the chat ends here: the next request, not sent"
    meta = {"beside": kept} if kept else {}
    like = reconstructed_exchange("end", lacks=LACKS, note=note, client="qwen-code", state=State.INCOMPLETE, meta=meta)
    return TranscriptTurn(like, _PROTOCOL, last.heard, last.model)
