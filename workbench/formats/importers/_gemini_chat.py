"""Reads messages of a Gemini CLI chat in the form of the Gemini API.

Thoughts are those that the client shows; it sends none back. Thought signatures are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.formats.importers._lines import ImportDamage
from workbench.formats.importers._values import as_list, count, mapping, mappings, rest, text
from workbench.ir import JsonValue

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


def _by_id(held: JsonValue, damage: ImportDamage) -> dict[str, dict[str, JsonValue]]:
    messages = damage.objects(held, "a message")
    return {text(m.get("id")) or f"message {n}": m for n, m in enumerate(messages, 1)}


def _rewind(messages: dict[str, dict[str, JsonValue]], id: str) -> None:
    """Drop a message and all after it."""
    while id in messages:
        messages.popitem()


def parts_of(content: JsonValue, damage: ImportDamage) -> Parts:
    """Parts of a content: a string, a part, or a list of both."""
    held = content if isinstance(content, list) else [content]
    for part in held:
        if part is not None and not isinstance(part, str | dict):
            damage.leave_out("a part that is neither text nor an object")
    return [{"text": p} if isinstance(p, str) else p for p in held if p and isinstance(p, str | dict)]


def model_parts(message: dict[str, JsonValue], damage: ImportDamage) -> tuple[Parts, Parts]:
    """(thoughts, text and calls) of a message of type "gemini"."""
    thoughts = [
        {"text": _thought_text(t), "thought": True} for t in damage.objects(message.get("thoughts"), "a thought")
    ]
    for thought in mappings(message.get("thoughts")):
        if not (text(thought.get("subject")) or text(thought.get("description"))):
            damage.leave_out("a thought without subject or description")
    return thoughts, [*parts_of(message.get("content"), damage), *_calls(message, damage)]


def _thought_text(thought: dict[str, JsonValue]) -> str:
    subject, description = text(thought.get("subject")), text(thought.get("description"))
    return f"**{subject}**\n{description}" if subject else description


def _calls(message: dict[str, JsonValue], damage: ImportDamage) -> Iterator[dict[str, JsonValue]]:
    for call in damage.objects(message.get("toolCalls"), "a call"):
        known = {"id": text(call.get("id")), "name": text(call.get("name"))}
        args = call.get("args")
        yield {"functionCall": {k: v for k, v in known.items() if v} | {"args": {} if args is None else args}}


def results(message: dict[str, JsonValue], damage: ImportDamage) -> Parts:
    """Results that the client returns for the calls of a message; a call may have no result."""
    made: Parts = []
    for call in mappings(message.get("toolCalls")):
        held = call.get("result")
        if isinstance(held, str):
            about = {k: call[k] for k in ("id", "name") if isinstance(call.get(k), str)}
            made.append({"functionResponse": {**about, "response": {"output": held}}})
        else:
            parts = as_list(held) or [held]
            made += [p for p in parts if isinstance(p, dict) and p]
            if any(p is not None and not isinstance(p, dict) for p in parts):
                damage.leave_out("a part of a result that is not an object")
    return made


def unsent_fields(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Fields of a message that are not sent."""
    kept = rest(message, "type", "content", "thoughts", "tokens", "toolCalls", "timestamp", "model")
    calls = [rest(call, "args", "result", "name") for call in mappings(message.get("toolCalls"))]
    return {**kept, **({"toolCalls": calls} if calls else {})}


def usage(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Token counts under the API's names."""
    tokens = mapping(message.get("tokens"))
    made = {name: count(tokens.get(key)) for key, name in _COUNTS.items()}
    return {name: number for name, number in made.items() if number is not None}
