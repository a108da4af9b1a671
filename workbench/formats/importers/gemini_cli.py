"""Importer for Gemini CLI chats (``~/.gemini/tmp/…/chats/session-*.json`` and ``.jsonl``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.errors import WireError
from workbench.formats.importers import _gemini_chat as chat
from workbench.formats.importers._http import epoch
from workbench.formats.importers._lines import ImportDamage, first_objects, objects
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    extend_history,
    reconstructed_exchange,
)
from workbench.formats.importers._values import text
from workbench.ir import JsonValue
from workbench.wire import State, dumps, loads

NAME = "gemini-cli"
TITLE = "Gemini CLI chat"
LACKS = ("system", "tools", "parameters", "headers", "streaming", "thought signatures")
_PROTOCOL = "gemini"

_DOCUMENT = regex.compile(rb'\s*\{\s*"sessionId"\s*:\s*"[^"]{0,200}"\s*,\s*"projectHash"\s*:')

_SHOWN = ("info", "error", "warning")
"""Message types that the client shows and does not send."""


def sniff(head: bytes) -> float:
    """The chat starts with its ids."""
    first = first_objects(head, 1)
    is_line = bool(first) and "sessionId" in first[0] and not {"projectHash", "startTime"}.isdisjoint(first[0])
    return 0.95 if _DOCUMENT.match(head) or (is_line and "type" not in first[0] and "uuid" not in first[0]) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per response, and one for the next request. Raises UnreadableInput if there is no message."""
    damage = ImportDamage()
    about, messages = chat.messages_of(_values(data, damage), damage)
    turns = list(_turns(about, messages, damage))
    if not turns:
        raise damage.refuse("the chat has no message")
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
    heard: SharedHistory | None = None
    model: str | None = None
    kept: dict[str, JsonValue] = {"chat": about} if about else {}
    is_open = False
    for number, message in enumerate(messages, 1):
        id = text(message.get("id")) or f"message {number}"
        if message.get("type") == "gemini":
            thoughts, said = chat.model_parts(message, damage)
            model = text(message.get("model")) or model
            held = chat.unsent_fields(message)
            yield _answered_turn(
                id, message, heard, model, {**kept, **({"message": held} if held else {})}, thoughts + said
            )
            kept = {}
            heard = extend_history(heard, _content("model", said))
            given = chat.results(message, damage)
            heard, is_open = extend_history(heard, _content("user", given)), bool(given)
        elif message.get("type") == "user":
            parts = chat.parts_of(message.get("content"), damage)
            heard, is_open = extend_history(heard, _content("user", parts)), is_open or bool(parts)
        else:
            kept[id] = message
            if message.get("type") not in _SHOWN:
                damage.unknown("a message", message.get("type"))
    if is_open and messages:
        note = "the chat ends here: the next request, not sent"
        like = reconstructed_exchange(
            "end", lacks=LACKS, note=note, client="gemini-cli", state=State.INCOMPLETE, meta=kept
        )
        yield TranscriptTurn(like, _PROTOCOL, heard, model)


def _content(role: str, parts: chat.Parts) -> bytes | None:
    return dumps({"role": role, "parts": parts}) if parts else None


def _answered_turn(
    id: str,
    message: dict[str, JsonValue],
    heard: SharedHistory | None,
    model: str | None,
    kept: dict[str, JsonValue],
    parts: chat.Parts,
) -> TranscriptTurn:
    like = reconstructed_exchange(
        id, lacks=LACKS, started_at=epoch(message.get("timestamp")), client="gemini-cli", meta=kept
    )
    body: dict[str, JsonValue] = {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]}
    usage = chat.usage(message)
    body |= ({"usageMetadata": usage} if usage else {}) | ({"modelVersion": model} if model else {})
    return TranscriptTurn(like, _PROTOCOL, heard, model, response=dumps(body))
