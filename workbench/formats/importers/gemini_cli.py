"""Importer for Gemini CLI chats (``~/.gemini/tmp/…/chats/session-*.json`` and ``.jsonl``).

Reads messages of a Gemini CLI chat in the form of the Gemini API.
Thoughts are those that the client shows; it sends none back. Thought signatures are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers._files import ImportDamage, first_objects, objects
from workbench.formats.importers._http import epoch
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    extend_history,
    reconstructed_exchange,
)
from workbench.formats.importers._values import as_list, mapping, mappings, rest, text, token_count
from workbench.ir import JsonValue
from workbench.wire import State, dumps, loads

NAME = "gemini-cli"
TITLE = "Gemini CLI chat"
LACKS = ("system", "tools", "parameters", "headers", "streaming", "thought signatures")
_PROTOCOL = "gemini"

_DOCUMENT = regex.compile(rb'\s*\{\s*"sessionId"\s*:\s*"[^"]{0,200}"\s*,\s*"projectHash"\s*:')

_NOTICES = ("info", "error", "warning")
"""Message types that the client shows and does not send."""


def sniff(head: bytes) -> float:
    """The chat starts with its ids."""
    first = first_objects(head, 1)
    is_line = bool(first) and "sessionId" in first[0] and not {"projectHash", "startTime"}.isdisjoint(first[0])
    return 0.95 if _DOCUMENT.match(head) or (is_line and "type" not in first[0] and "uuid" not in first[0]) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per response, and one for the next request. Raises UnreadableInput if there is no message."""
    damage = ImportDamage()
    about, messages = messages_of(_values(data, damage), damage)
    turns = list(_turns(about, messages, damage))
    if not turns:
        raise damage.refuse("the chat has no messages")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _values(data: bytes, damage: ImportDamage) -> Iterable[dict[str, JsonValue]]:
    """The document, or else every line."""
    try:
        value = loads(data)
    except WireError:
        return (line.value for line in objects(data, damage))
    return [value] if isinstance(value, dict) else []


def _turns(
    about: dict[str, JsonValue], messages: list[dict[str, JsonValue]], damage: ImportDamage
) -> Iterator[TranscriptTurn]:
    history: SharedHistory | None = None
    model: str | None = None
    beside: dict[str, JsonValue] = {"chat": about} if about else {}
    is_open = False
    for number, message in enumerate(messages, 1):
        id = text(message.get("id")) or f"message {number}"
        if message.get("type") == "gemini":
            thoughts, answer = model_parts(message, damage)
            model = text(message.get("model")) or model
            fields = unsent_fields(message)
            yield _answered_turn(
                id, message, history, model, {**beside, **({"message": fields} if fields else {})}, thoughts + answer
            )
            beside = {}
            history = extend_history(history, _content("model", answer))
            result_parts = results(message, damage)
            history, is_open = extend_history(history, _content("user", result_parts)), bool(result_parts)
        elif message.get("type") == "user":
            parts = parts_of(message.get("content"), damage)
            history, is_open = extend_history(history, _content("user", parts)), is_open or bool(parts)
        else:
            beside[id] = message
            if message.get("type") not in _NOTICES:
                damage.unknown("a message", message.get("type"))
    if is_open and messages:
        note = "the chat ends here; this next request was not sent"
        like = reconstructed_exchange(
            "end", lacks=LACKS, note=note, client="gemini-cli", state=State.INCOMPLETE, meta=beside
        )
        yield TranscriptTurn(like, _PROTOCOL, history, model)


def _content(role: str, parts: Parts) -> bytes | None:
    return dumps({"role": role, "parts": parts}) if parts else None


def _answered_turn(
    id: str,
    message: dict[str, JsonValue],
    history: SharedHistory | None,
    model: str | None,
    beside: dict[str, JsonValue],
    parts: Parts,
) -> TranscriptTurn:
    like = reconstructed_exchange(
        id, lacks=LACKS, started_at=epoch(message.get("timestamp")), client="gemini-cli", meta=beside
    )
    body: dict[str, JsonValue] = {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]}
    usage = usage_metadata(message)
    body |= ({"usageMetadata": usage} if usage else {}) | ({"modelVersion": model} if model else {})
    return TranscriptTurn(like, _PROTOCOL, history, model, response=dumps(body))


Parts = list[dict[str, JsonValue]]

_COUNTS = {
    "input": "promptTokenCount",
    "output": "candidatesTokenCount",
    "cached": "cachedContentTokenCount",
    "thoughts": "thoughtsTokenCount",
    "tool": "toolUsePromptTokenCount",
    "total": "totalTokenCount",
}


def messages_of(
    values: Iterable[dict[str, JsonValue]], damage: ImportDamage
) -> tuple[dict[str, JsonValue], list[dict[str, JsonValue]]]:
    """(chat metadata, messages) of a document, or of lines that record changes in order."""
    about: dict[str, JsonValue] = {}
    messages: dict[str, dict[str, JsonValue]] = {}
    for number, value in enumerate(values, 1):
        if isinstance(value.get("$set"), dict):
            changed = value["$set"]
            about |= rest(changed, "messages")
            messages = _by_id(changed["messages"], damage) if "messages" in changed else messages
        elif "$rewindTo" in value:
            _rewind(messages, text(value["$rewindTo"]))
        elif isinstance(value.get("messages"), list) or (number == 1 and "type" not in value):
            about |= rest(value, "messages")
            messages |= _by_id(value.get("messages"), damage)
        else:
            messages[text(value.get("id")) or f"line {number}"] = value
    return about, list(messages.values())


def _by_id(value: JsonValue, damage: ImportDamage) -> dict[str, dict[str, JsonValue]]:
    messages = damage.objects(value, "a message")
    return {text(m.get("id")) or f"message {n}": m for n, m in enumerate(messages, 1)}


def _rewind(messages: dict[str, dict[str, JsonValue]], id: str) -> None:
    """Drop a message and all after it."""
    while id in messages:
        messages.popitem()


def parts_of(content: JsonValue, damage: ImportDamage) -> Parts:
    """Parts of a content: a string, a part, or a list of both."""
    items = content if isinstance(content, list) else [content]
    for part in items:
        if part is not None and not isinstance(part, str | dict):
            damage.leave_out("a part that is neither text nor an object")
    return [{"text": p} if isinstance(p, str) else p for p in items if p and isinstance(p, str | dict)]


def model_parts(message: dict[str, JsonValue], damage: ImportDamage) -> tuple[Parts, Parts]:
    """(thoughts, text and calls) of a message of type "gemini"."""
    thoughts = [
        {"text": _thought_text(t), "thought": True} for t in damage.objects(message.get("thoughts"), "a thought")
    ]
    for thought in mappings(message.get("thoughts")):
        if not (text(thought.get("subject")) or text(thought.get("description"))):
            damage.leave_out("a thought without subject or description")
    return thoughts, [*parts_of(message.get("content"), damage), *_calls(message, damage)]


def _thought_text(value: dict[str, JsonValue]) -> str:
    subject, description = text(value.get("subject")), text(value.get("description"))
    return f"**{subject}**\n{description}" if subject else description


def _calls(message: dict[str, JsonValue], damage: ImportDamage) -> Iterator[dict[str, JsonValue]]:
    for call in damage.objects(message.get("toolCalls"), "a call"):
        known = {"id": text(call.get("id")), "name": text(call.get("name"))}
        args = call.get("args")
        yield {"functionCall": {k: v for k, v in known.items() if v} | {"args": {} if args is None else args}}


def results(message: dict[str, JsonValue], damage: ImportDamage) -> Parts:
    """Results that the client returns for the calls of a message; a call may have no result."""
    response_parts: Parts = []
    for call in mappings(message.get("toolCalls")):
        result = call.get("result")
        if isinstance(result, str):
            about = {k: call[k] for k in ("id", "name") if isinstance(call.get(k), str)}
            response_parts.append({"functionResponse": {**about, "response": {"output": result}}})
        else:
            parts = as_list(result) or [result]
            response_parts += [p for p in parts if isinstance(p, dict) and p]
            if any(p is not None and not isinstance(p, dict) for p in parts):
                damage.leave_out("a part of a result that is not an object")
    return response_parts


def unsent_fields(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Fields of a message that are not sent."""
    fields = rest(message, "type", "content", "thoughts", "tokens", "toolCalls", "timestamp", "model")
    calls = [rest(call, "args", "result", "name") for call in mappings(message.get("toolCalls"))]
    return {**fields, **({"toolCalls": calls} if calls else {})}


def usage_metadata(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Token counts under the API's names."""
    tokens = mapping(message.get("tokens"))
    counts = {name: token_count(tokens.get(key)) for key, name in _COUNTS.items()}
    return {name: number for name, number in counts.items() if number is not None}
