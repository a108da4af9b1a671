"""Importer for messages between Claude Code and the Claude Agent SDK (``--output-format stream-json``).

One message a line, or a list in JSON or YAML; each alone or under a key next to its direction (``{"direction": "recv",
"message": {…}}``). Facts: Claude Agent SDK docs, "SDKMessage" and "Control protocol".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.config import safeyaml
from workbench.formats.importers._claude_entries import entries_of
from workbench.formats.importers._claude_turns import URL, turns_of
from workbench.formats.importers._files import ImportDamage, first_objects, is_json, objects
from workbench.formats.importers._messages_transcript import MessagesSession
from workbench.formats.importers._values import mapping
from workbench.ir import JsonValue
from workbench.wire import loads

NAME = "claude-agent"
TITLE = "Claude Agent SDK messages"

_KINDS = frozenset({"system", "user", "assistant", "result", "stream_event"})
_CONTROL = frozenset({"control_request", "control_response", "control_cancel_request", "keep_alive"})
_TYPE = regex.compile(rb'["\']?type["\']?\s*:\s*["\']?(?:system|user|assistant|control_request)\b')
_MARK = regex.compile(
    rb'["\']?(?:parent_tool_use_id["\']?\s*:\s*(?:null|["\']?toolu_|~)|subtype["\']?\s*:\s*["\']?(?:init|initialize)\b)'
)
_SESSION = regex.compile(rb'["\']?session_id["\']?\s*:')


def sniff(head: bytes) -> float:
    """Messages with the SDK's marks, one a line or in a list."""
    first = first_objects(head)
    if len(first) > 1 or any(_is_message(value) for value in first):
        return 0.93 if 2 * sum(_is_message(value) for value in first) > len(first) else 0.0
    return 0.92 if all(pattern.search(head) for pattern in (_TYPE, _MARK, _SESSION)) else 0.0


def read(data: bytes, name: str) -> MessagesSession:
    """One exchange per model turn, sub-agents included.

    Raises:
        UnreadableInput: no message of a conversation.
        WireError: a container that is neither JSON nor YAML.
    """
    damage = ImportDamage()
    turns = turns_of(list(entries_of(_with_threads(_messages(data, name, damage)), damage)), damage)
    if not turns:
        raise damage.refuse("the file contains no conversation message")
    return MessagesSession(name, turns, url=URL, damage=damage.as_lines(), title=TITLE)


def _messages(data: bytes, name: str, damage: ImportDamage) -> Iterator[tuple[int, dict[str, JsonValue]]]:
    """(position, message) of every message, without its wrapper."""
    if any(_is_message(value) for value in first_objects(data)):
        pairs: Iterable[tuple[int, JsonValue]] = ((line.number, line.value) for line in objects(data, damage))
    else:
        values = [loads(data)] if is_json(data) else safeyaml.load_all(data, name=name)
        pairs = enumerate((item for value in values for item in _message_list(value)), 1)
    for position, value in pairs:
        message = _inside(value)
        if message is None:
            damage.add(f"message {position}: not an SDK message")
        elif message.get("type") not in _CONTROL:
            yield position, message


def _message_list(value: JsonValue) -> list[JsonValue]:
    """The list of messages that a document is or contains."""
    lists = [value, *mapping(value).values()]
    return next((one for one in lists if isinstance(one, list) and any(_inside(item) for item in one)), [])


def _inside(value: JsonValue) -> dict[str, JsonValue] | None:
    """A message, or the message that a mapping contains."""
    if not isinstance(value, dict):
        return None
    if _is_message(value):
        return value
    return next((member for member in value.values() if isinstance(member, dict) and _is_message(member)), None)


def _is_message(value: dict[str, JsonValue]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str) or "sessionId" in value:
        return False
    return kind in _CONTROL or (kind in _KINDS and ("session_id" in value or "parent_tool_use_id" in value))


def _with_threads(messages: Iterable[tuple[int, dict[str, JsonValue]]]) -> Iterator[tuple[int, JsonValue]]:
    """Messages with the thread names of a session file: the SDK names the session at its start only.

    Content sent before the first response belongs to a session with a separate name.
    """
    pairs = list(messages)
    session = next((m.get("session_id") for _, m in pairs if _is_start(m)), "")
    for position, message in pairs:
        if _is_start(message):
            session = message.get("session_id")
        caller = message.get("parent_tool_use_id")
        side = {"isSidechain": True, "agentId": caller} if isinstance(caller, str) and caller else {}
        yield position, {**message, "sessionId": session, **side}


def _is_start(message: dict[str, JsonValue]) -> bool:
    return message.get("type") == "system" and message.get("subtype") == "init"
