"""Importer for Qwen Code chats (``~/.qwen/projects/…/chats/*.jsonl``): Gemini parts in a tree of entries.

The model usually uses Chat Completions, so the exchanges are written in that protocol.

Reads Gemini parts of a Qwen Code chat into the IR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.formats.importers._files import ImportDamage, Line, first_objects, objects
from workbench.formats.importers._http import epoch
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    answer_of,
    extend_history,
    reconstructed_exchange,
)
from workbench.formats.importers._values import mapping, mappings, rest, text, token_count
from workbench.ir import (
    Carrier,
    JsonValue,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
    Usage,
)
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import State, dumps

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
        raise damage.refuse("the chat has no messages")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _turns(lines: list[Line], damage: ImportDamage) -> Iterator[TranscriptTurn]:
    places: dict[str, _QwenPosition] = {}
    last: _QwenPosition | None = None
    beside: dict[str, JsonValue] = {}
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
            yield _answered_turn(line, message, before.heard, model, branch, beside)
            beside = {}
            calls = tuple(p for p in message.parts if isinstance(p, ToolCallIR))
            here = _QwenPosition(line, extend_history(before.heard, message), calls, model)
        elif message.parts:
            here = replace(here, heard=extend_history(before.heard, message))
        unsent = rest(value, *_KNOWN) if message.parts else value
        if role != "assistant" and unsent:
            beside[f"line {line.number}"] = unsent
        compressed = mapping(value.get("systemPayload")).get("compressedHistory")
        if isinstance(compressed, list):
            here = _compressed_history(here, compressed, damage)
        last = places[text(value.get("uuid")) or f"line {line.number}"] = here
    if last and last.heard and _is_asking(last.heard):
        yield _open_end(last, beside)


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
    so_far: SharedHistory | None = None
    calls: tuple[ToolCallIR, ...] = ()
    for number, content in enumerate(damage.objects(history, "a message of a compressed history")):
        kind = "assistant" if content.get("role") == "model" else "user"
        message = message_of({"type": kind, "message": content}, number, calls, damage)[1]
        calls = tuple(p for p in message.parts if isinstance(p, ToolCallIR)) or calls
        so_far = extend_history(so_far, message)
    return replace(here, heard=so_far, calls=calls)


def _is_asking(history: SharedHistory) -> bool:
    return isinstance(history.message, Message) and history.message.role != "assistant"


def _answered_turn(
    line: Line,
    message: Message,
    history: SharedHistory | None,
    model: str | None,
    branch: str,
    beside: dict[str, JsonValue],
) -> TranscriptTurn:
    value = line.value
    meta: dict[str, JsonValue] = {"entry": rest(value, "message", "uuid", "parentUuid", "timestamp", "usageMetadata")}
    like = reconstructed_exchange(
        text(value.get("uuid")) or f"line {line.number}",
        lacks=LACKS,
        note="written as Chat Completions, the protocol that this client usually uses",
        started_at=epoch(value.get("timestamp")),
        client=f"qwen-code {text(value.get('version'))}".strip(),
        branch=branch,
        meta=meta | ({"beside": beside} if beside else {}),
    )
    calls = any(isinstance(p, ToolCallIR) for p in message.parts)
    answer = answer_of(
        _PROTOCOL,
        message.parts,
        model=model,
        stop="tool_calls" if calls else "stop",
        usage=usage_of(mapping(value.get("usageMetadata"))),
    )
    return TranscriptTurn(like, _PROTOCOL, history, model, answer=answer)


def _open_end(last: _QwenPosition, beside: dict[str, JsonValue]) -> TranscriptTurn:
    note = "the chat ends here; this next request was not sent"
    meta = {"beside": beside} if beside else {}
    like = reconstructed_exchange("end", lacks=LACKS, note=note, client="qwen-code", state=State.INCOMPLETE, meta=meta)
    return TranscriptTurn(like, _PROTOCOL, last.heard, last.model)


def message_of(
    value: dict[str, JsonValue], number: int, calls: Sequence[ToolCallIR], damage: ImportDamage
) -> tuple[str, Message]:
    """(role, message) of an entry; the message is None without parts.

    Args:
        number: line number, for ids of calls without one.
        calls: calls of the previous response, for ids of results without one.
    """
    kind = value.get("type")
    parts = list(damage.objects(mapping(value.get("message")).get("parts"), "a part"))
    if kind == "assistant":
        return "assistant", Message("assistant", tuple(_model_parts(parts, number)))
    if kind == "user" or kind == "tool_result":
        results = [p for p in parts if isinstance(p.get("functionResponse"), dict)]
        if results:
            if len(results) < len(parts):
                damage.leave_out("a part next to tool results, which is not supported")
            return "tool", Message("tool", tuple(_results(results, calls)))
        return "user", Message("user", tuple(_part(p) for p in parts))
    if parts or kind != "system":
        damage.unknown("an entry", kind)
    return "", Message("system", ())


def _model_parts(parts: Sequence[dict[str, JsonValue]], number: int) -> Iterator[Part]:
    for n, part in enumerate(parts):
        if part.get("thought") is True:
            yield Reasoning(Carrier.REASONING_CONTENT, text(part.get("text")))
        elif isinstance(part.get("functionCall"), dict):
            call = part["functionCall"]
            args = call.get("args")
            id = text(call.get("id")) or f"call_{number}_{n}"
            yield ToolCallIR(id, text(call.get("name")) or None, {} if args is None else args, "function")
        else:
            yield _part(part)


def _part(part: dict[str, JsonValue]) -> Part:
    if isinstance(part.get("text"), str):
        return Text(part["text"])
    inline = mapping(part.get("inlineData"))
    if text(inline.get("data")):
        kind = text(inline.get("mimeType"))
        family = kind.partition("/")[0]
        name = family if family in ("image", "audio", "video") else "document"
        return Media(name, kind or None, data=text(inline["data"]))
    return Opaque(next(iter(part), "empty"), part)


def _results(parts: Sequence[dict[str, JsonValue]], calls: Sequence[ToolCallIR]) -> Iterator[Part]:
    """Tool results; one without id answers the first unanswered call of its name."""
    open_calls = [(c.id, c.name) for c in calls]
    for part in parts:
        response = part["functionResponse"]
        id, name = text(response.get("id")) or None, text(response.get("name")) or None
        found = next((c for c in open_calls[:1000] if (c[0] == id if id else c[1] == name)), None)
        if found:
            open_calls.remove(found)
        inner = tuple(_part(p) for p in mappings(response.get("parts")))
        output = _result_text(response.get("response"))
        yield ToolResultIR(id or (found[0] if found else None), (*output, *inner), name=name)


def _result_text(response: JsonValue) -> tuple[Part, ...]:
    """Text that the client sends: the value under ``output`` or ``error``, else JSON of the whole."""
    members = mapping(response)
    for key in ("output", "error"):
        if isinstance(members.get(key), str):
            return (Text(members[key]),) if members[key] else ()
    if isinstance(response, str):
        return (Text(response),) if response else ()
    return () if response is None else (Text(dumps(response).decode("utf-8", "replace")),)


def usage_of(metadata: dict[str, JsonValue]) -> Usage | None:
    """Token counts, made disjoint."""
    if not metadata:
        return None
    names = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount")
    prompt_tokens, output_tokens, cached, reasoning_tokens = (token_count(metadata.get(n)) for n in names)
    fresh = None if prompt_tokens is None else max(prompt_tokens - (cached or 0), 0)
    return Usage(fresh, output_tokens, cached, None, reasoning_tokens, raw=metadata)
